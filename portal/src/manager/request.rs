//! Calls to the ads engine with the role of the signed-in person.

use ads::resources::accounts;
use ads_delivery::find_operation;
use ads_engine::{AccountContext, AdsCaller, AdsRecord, AdsRequest, AdsRole, CONSOLE_APP_ID, ParsedParams};
use base::{Error, Time, UserId, Vocabulary};
use serde_json::Value;
use store::Tx;

use super::labels::role_label;

const STATS_JOBS_PATH: &str = "/12/stats/jobs/accounts/{}";

#[derive(Clone)]
pub(super) struct ManagerRequest {
    pub(super) user: UserId,
    pub(super) cursor_key: [u8; 32],
    pub(super) site_url: &'static str,
    pub(super) now: Time,
    pub(super) client_address: String,
}

pub(super) struct ManagerAccount {
    pub(super) request: ManagerRequest,
    pub(super) record: AdsRecord,
    pub(super) role: AdsRole,
    pub(super) accounts: Vec<pages::manager::AdsAccountSummary>,
}

pub(super) fn list_user_accounts(
    tx: &mut Tx<'_>,
    user: UserId,
) -> Result<Vec<(AdsRecord, AdsRole, pages::manager::AdsAccountSummary)>, Error> {
    let mut all = Vec::new();
    for access in store::ads::list_access_by_user(tx, user)? {
        let account = accounts::find(tx, access.account_id)?.filter(|account| !account.deleted);
        let (Some(account), Some(known)) = (account, AdsRole::parse(&access.role)) else {
            continue;
        };
        let shown = pages::manager::AdsAccountSummary {
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

impl ManagerAccount {
    pub(super) fn open(tx: &mut Tx<'_>, request: &ManagerRequest, account: &str) -> Result<Option<Self>, Error> {
        let all = list_user_accounts(tx, request.user)?;
        let accounts = all.iter().map(|(_, _, shown)| shown.clone()).collect();
        let found = all.into_iter().find(|(_, _, shown)| shown.id == account);
        Ok(found.map(|(account, role, _)| Self { request: request.clone(), record: account, role, accounts }))
    }

    pub(super) fn page_path(&self, rest: &str) -> String {
        format!("/ads/{}{rest}", self.record.formatted_id())
    }

    /// Whether the role may call the operation, and it exists.
    pub(super) fn may_call(&self, method: &str, path: &str) -> bool {
        let sandbox = self.record.flag("sandbox");
        find_operation(method, path)
            .is_some_and(|known| known.required_role.allows_role(self.role) && (sandbox || !known.sandbox_only))
    }

    /// Calls an API operation as the person; `ids` are those in the path after the account's, in order.
    pub(super) fn call_api(
        &self,
        tx: &mut Tx<'_>,
        method: &str,
        path: &str,
        ids: &[&str],
        pairs: &[(&str, String)],
    ) -> Result<Value, Error> {
        self.send_request(tx, (method, path), ids, pairs, None)
    }

    pub(super) fn call_api_json(
        &self,
        tx: &mut Tx<'_>,
        method: &str,
        path: &str,
        ids: &[&str],
        json: Value,
    ) -> Result<Value, Error> {
        self.send_request(tx, (method, path), ids, &[], Some(json))
    }

    fn send_request(
        &self,
        tx: &mut Tx<'_>,
        (method, path): (&str, &str),
        ids: &[&str],
        pairs: &[(&str, String)],
        json: Option<Value>,
    ) -> Result<Value, Error> {
        let request = self.build_request((method, path), ids, pairs, json)?;
        let answered = ads_engine::dispatch_request(tx, &request)?;
        Ok(serde_json::from_str(&answered.body)
            .map_err(base::Fault::context("failed to parse a response of the ads engine"))?)
    }

    /// Runs a statistics job synchronously.
    pub(super) fn run_stats_job(&self, tx: &mut Tx<'_>, pairs: &[(&str, String)]) -> Result<Value, Error> {
        let request = self.build_request(("POST", STATS_JOBS_PATH), &[], pairs, None)?;
        let params = ParsedParams::parse(&request);
        let mut records = AccountContext::new(tx, request.caller);
        records.open_account((&accounts::ACCOUNT, self.record.id), request.operation.required_role, false, false)?;
        ads_delivery::analytics::compute_job_stats(&mut records, &params)
    }

    fn build_request(
        &self,
        (method, path): (&str, &str),
        ids: &[&str],
        pairs: &[(&str, String)],
        json: Option<Value>,
    ) -> Result<AdsRequest, Error> {
        let known = find_operation(method, path);
        let known = known.ok_or_else(|| base::Fault::new(format!("unknown operation {method} {path}")))?;
        let account = self.record.formatted_id();
        let ids: Vec<&str> = std::iter::once(account.as_str()).chain(ids.iter().copied()).collect();
        let caller = AdsCaller {
            user: self.request.user,
            app: Some(CONSOLE_APP_ID),
            speech: Vocabulary::Post,
            sandbox: self.record.flag("sandbox"),
        };
        Ok(AdsRequest {
            cursor_key: self.request.cursor_key,
            site_url: self.request.site_url,
            ..AdsRequest::new_without_app(known, caller, &ids, pairs, json)
        })
    }

    pub(super) fn get_entity(&self, tx: &mut Tx<'_>, path: &str, id: &str) -> Result<Value, Error> {
        let found = self.call_api(tx, "GET", path, &[id], &[])?;
        Ok(found.get("data").cloned().unwrap_or_default())
    }

    /// Empty if the role may not see the list.
    pub(super) fn list_entities(
        &self,
        tx: &mut Tx<'_>,
        path: &str,
        pairs: &[(&str, String)],
    ) -> Result<EntityListPage, Error> {
        if !self.may_call("GET", path) {
            return Ok(EntityListPage::default());
        }
        let found = self.call_api(tx, "GET", path, &[], pairs)?;
        Ok(EntityListPage::from_response(&found))
    }
}

#[derive(Default)]
pub(super) struct EntityListPage {
    pub(super) rows: Vec<Value>,
    pub(super) next: Option<String>,
}

impl EntityListPage {
    pub(super) fn from_response(answer: &Value) -> Self {
        let rows = answer.get("data").and_then(Value::as_array);
        let next = answer.get("next_cursor").and_then(Value::as_str);
        Self { rows: rows.cloned().unwrap_or_default(), next: next.map(str::to_owned) }
    }
}

/// Empty if the member is not a string.
pub(super) fn json_text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn json_int(value: &Value, name: &str) -> Option<i64> {
    value.get(name).and_then(Value::as_i64)
}

/// Empty if the member is not an array.
pub(super) fn json_array<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    let items = value.get(name).and_then(Value::as_array);
    items.map(Vec::as_slice).unwrap_or_default()
}
