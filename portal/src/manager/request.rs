//! Calls to the ads engine with the role of the signed-in person.

use ads::resources::accounts;
use ads::resources::promotable_users::{self, PROMOTABLE_USER};
use ads_delivery::find_operation;
use ads_engine::dispatch::run_operation;
use ads_engine::{
    AccountContext, AccountTimeZone, AdsCaller, AdsRecord, AdsRequest, AdsRole, CONSOLE_APP_ID, OperationData,
    OperationOutput, ParsedParams, RecordView, RequiredRole, Resource, ResourceVerb, SharedEvaluator,
};
use base::percent::encode;
use base::{Error, Fault, SiteLinks, Time, UserId, Vocabulary};
use pages::manager::{AdsAccountSummary, NavLink};
use serde_json::Value;
use store::Tx;

use super::labels::role_label;
use crate::site::forms::PageQuery;

#[derive(Clone)]
pub(super) struct ManagerRequest {
    pub(super) user: UserId,
    pub(super) cursor_key: [u8; 32],
    pub(super) site: SiteLinks,
    pub(super) evaluator: SharedEvaluator,
    pub(super) now: Time,
    pub(super) client_address: String,
    pub(super) query: PageQuery,
    /// Of statistics: 7, 14 or 28.
    pub(super) days: i64,
}

impl ManagerRequest {
    /// With a question mark, or empty: leads back to the same part of a list, without what the last form has done.
    pub(super) fn list_query(&self) -> String {
        let pairs = self.query.pairs().filter(|(name, _)| !matches!(*name, "done" | "undo"));
        let pairs = pairs.map(|(name, value)| format!("{}={}", encode(name), encode(value)));
        let joined = pairs.collect::<Vec<_>>().join("&");
        if joined.is_empty() { joined } else { format!("?{joined}") }
    }
}

pub(super) struct ManagerAccount {
    pub(super) request: ManagerRequest,
    pub(super) record: AdsRecord,
    pub(super) role: AdsRole,
    /// Whether the person may publish as the account's user.
    pub(super) may_compose: bool,
    pub(super) accounts: Vec<AdsAccountSummary>,
    pub(super) zone: AccountTimeZone,
}

pub(super) fn list_user_accounts(
    tx: &mut Tx<'_>,
    user: UserId,
) -> Result<Vec<(AdsRecord, AdsRole, AdsAccountSummary)>, Error> {
    let mut all = Vec::new();
    for access in store::ads::list_access_by_user(tx, user)? {
        let account = accounts::find(tx, access.account_id)?.filter(|account| !account.deleted);
        let (Some(account), Some(known)) = (account, AdsRole::parse(&access.role)) else {
            continue;
        };
        let shown = AdsAccountSummary {
            id: account.formatted_id(),
            name: account.text("name").to_owned(),
            role: role_label(known).to_owned(),
            sandbox: account.flag("sandbox"),
            path: format!("/ads/{}", account.formatted_id()),
        };
        all.push((account, known, shown));
    }
    all.sort_by_cached_key(|(_, _, shown)| (shown.sandbox, shown.name.to_lowercase()));
    Ok(all)
}

/// Method and path of a resource's operation.
fn verb_address(verb: ResourceVerb, resource: &Resource) -> (&'static str, String) {
    let one = format!("{}/{{}}", resource.path);
    match verb {
        ResourceVerb::List => ("GET", resource.path.to_owned()),
        ResourceVerb::Create => ("POST", resource.path.to_owned()),
        ResourceVerb::Get => ("GET", one),
        ResourceVerb::Update => ("PUT", one),
        ResourceVerb::Delete => ("DELETE", one),
    }
}

impl ManagerAccount {
    pub(super) fn open(tx: &mut Tx<'_>, request: &ManagerRequest, account: &str) -> Result<Option<Self>, Error> {
        let all = list_user_accounts(tx, request.user)?;
        let accounts = all.iter().map(|(_, _, shown)| shown.clone()).collect();
        let Some((account, role, _)) = all.into_iter().find(|(_, _, shown)| shown.id == account) else {
            return Ok(None);
        };
        let access = store::ads::find_access(tx, request.user, account.id)?;
        let mut ctx = Self {
            request: request.clone(),
            zone: AccountTimeZone::from_name(account.text("timezone")),
            record: account,
            role,
            may_compose: role.may_compose_posts() && access.is_some_and(|access| access.can_compose),
            accounts,
        };
        if !ctx.may_compose {
            ctx.may_compose = ctx.own_user(tx)? == Some(request.user);
        }
        Ok(Some(ctx))
    }

    /// In the account's time zone; a dash for no time.
    pub(super) fn format_time(&self, at: Option<Time>) -> String {
        at.map_or_else(|| "–".to_owned(), |at| self.zone.format_time(at))
    }

    pub(super) fn page_path(&self, rest: &str) -> String {
        format!("/ads/{}{rest}", self.record.formatted_id())
    }

    /// Labels and paths below the account.
    pub(super) fn trail(&self, steps: &[(&str, &str)]) -> Vec<NavLink> {
        steps.iter().map(|(text, rest)| NavLink::new(*text, self.page_path(rest))).collect()
    }

    /// Whether the role may call the operation, and it exists.
    pub(super) fn may_call(&self, method: &str, path: &str) -> bool {
        let sandbox = self.record.flag("sandbox");
        find_operation(method, path).is_some_and(|known| {
            let may = known.required_role.allows_role(self.role) && (sandbox || !known.sandbox_only);
            may && (self.may_compose || known.required_role != RequiredRole::PostWriter)
        })
    }

    pub(super) fn may(&self, verb: ResourceVerb, resource: &Resource) -> bool {
        let (method, path) = verb_address(verb, resource);
        self.may_call(method, &path)
    }

    /// `None` if the role may not call the operation that the link leads to.
    pub(super) fn permitted_link(
        &self,
        verb: ResourceVerb,
        resource: &Resource,
        text: &str,
        rest: &str,
    ) -> Option<NavLink> {
        self.may(verb, resource).then(|| NavLink::new(text, self.page_path(rest)))
    }

    /// Links to edit and delete what is at this path, if the role may.
    pub(super) fn change_links(&self, resource: &Resource, here: &str) -> Vec<NavLink> {
        let edit = self.permitted_link(ResourceVerb::Update, resource, "Edit", &format!("{here}/edit"));
        let delete = self.permitted_link(ResourceVerb::Delete, resource, "Delete", &format!("{here}/delete"));
        edit.into_iter().chain(delete.map(|link| link.with_kind("danger-quiet"))).collect()
    }

    const fn caller(&self, sandbox: bool) -> AdsCaller {
        AdsCaller { user: self.request.user, app: Some(CONSOLE_APP_ID), vocabulary: Vocabulary::Post, sandbox }
    }

    /// Calls an API operation as the person; `ids` are those in the path after the account's, in order.
    pub(super) fn call(
        &self,
        tx: &mut Tx<'_>,
        (method, path): (&str, &str),
        ids: &[&str],
        params: Value,
    ) -> Result<OperationOutput, Error> {
        let operation = find_operation(method, path);
        let operation = operation.ok_or_else(|| Fault::new(format!("unknown operation {method} {path}")))?;
        let account = self.record.formatted_id();
        let ids: Vec<&str> = std::iter::once(account.as_str()).chain(ids.iter().copied()).collect();
        let request = AdsRequest {
            cursor_key: self.request.cursor_key,
            site: self.request.site,
            evaluator: Some(self.request.evaluator.clone()),
            ..AdsRequest::new_without_app(operation, self.caller(self.record.flag("sandbox")), &ids, params)
        };
        run_operation(tx, &request, &ParsedParams::parse(&request))
    }

    pub(super) fn get(&self, tx: &mut Tx<'_>, resource: &Resource, id: &str) -> Result<RecordView, Error> {
        let (method, path) = verb_address(ResourceVerb::Get, resource);
        match self.call(tx, (method, &path), &[id], Value::Null)?.data {
            OperationData::Record(record) => Ok(*record),
            _ => Err(Fault::new(format!("{path} does not return a record")).into()),
        }
    }

    /// Empty if the role may not see the list.
    pub(super) fn list(&self, tx: &mut Tx<'_>, resource: &Resource, params: Value) -> Result<RecordPage, Error> {
        self.list_operation(tx, resource.path, &[], params)
    }

    /// Like [`Self::list`], for operations that belong to no resource.
    pub(super) fn list_operation(
        &self,
        tx: &mut Tx<'_>,
        path: &str,
        ids: &[&str],
        params: Value,
    ) -> Result<RecordPage, Error> {
        if !self.may_call("GET", path) {
            return Ok(RecordPage::default());
        }
        let output = self.call(tx, ("GET", path), ids, params)?;
        match output.data {
            OperationData::Records(rows) => Ok(RecordPage { rows, next: output.next_cursor.flatten() }),
            _ => Err(Fault::new(format!("{path} does not return records")).into()),
        }
    }

    /// The items of an operation that returns other data than records; empty if the role may not call it.
    pub(super) fn list_values(
        &self,
        tx: &mut Tx<'_>,
        path: &str,
        ids: &[&str],
        params: Value,
    ) -> Result<Vec<Value>, Error> {
        Ok(self.list_value_page(tx, path, ids, params)?.0)
    }

    /// As [`Self::list_values`], with the cursor of the next page.
    pub(super) fn list_value_page(
        &self,
        tx: &mut Tx<'_>,
        path: &str,
        ids: &[&str],
        params: Value,
    ) -> Result<(Vec<Value>, Option<String>), Error> {
        if !self.may_call("GET", path) {
            return Ok((Vec::new(), None));
        }
        let output = self.call(tx, ("GET", path), ids, params)?;
        match output.data {
            OperationData::Value(Value::Array(items)) => Ok((items, output.next_cursor.flatten())),
            _ => Err(Fault::new(format!("{path} does not return an array")).into()),
        }
    }

    /// For work of the engine that is not an operation.
    pub(super) fn open_context<'t, 'c>(
        &self,
        tx: &'t mut Tx<'c>,
        required_role: RequiredRole,
        writes: bool,
    ) -> Result<AccountContext<'t, 'c>, Error> {
        let mut ctx = AccountContext::new(tx, AdsCaller { app: None, ..self.caller(self.record.flag("sandbox")) });
        ctx.cursor_key = self.request.cursor_key;
        ctx.site = self.request.site;
        ctx.evaluator = Some(self.request.evaluator.clone());
        ctx.open_account((&accounts::ACCOUNT, self.record.id), required_role, writes, false)?;
        Ok(ctx)
    }

    /// The user in whose name posts are published.
    pub(super) fn own_user(&self, tx: &mut Tx<'_>) -> Result<Option<UserId>, Error> {
        if !self.may(ResourceVerb::List, &PROMOTABLE_USER) {
            return Ok(None);
        }
        promotable_users::find_own_user(&mut self.open_context(tx, RequiredRole::Member, false)?)
    }
}

#[derive(Default)]
pub(super) struct RecordPage {
    pub(super) rows: Vec<RecordView>,
    pub(super) next: Option<String>,
}

/// Empty if the member is not a string.
pub(super) fn json_text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Empty if the member is not an array.
pub(super) fn json_array<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    let items = value.get(name).and_then(Value::as_array);
    items.map(Vec::as_slice).unwrap_or_default()
}
