//! The audit log.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use base::{Error, UserId};
use network::audit::{self, AuditEntry, AuditFilter};
use network::user_roles::UserRole;
use pages::{AdminAuditPage, AuditFact, AuditItem};
use portal::{BrowserVisit, PageExit, PageQuery, build_pager, cut_page};
use serde_json::Value;
use store::Tx;
use web::request_context::{HttpReply, RequestContext};

use super::actions::find_username;
use super::{ACCOUNTS_PATH, AUDIT_PATH};
use crate::access::require_staff;

const PAGE_SIZE: i64 = 100;

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    require_staff(&call, &visit, UserRole::Admin)?;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let before: Option<i64> = query.get("before").and_then(|text| text.parse().ok());
    let filter = AuditFilter { before, ..AuditFilter::default() };
    let load = move |tx: &mut Tx<'_>| {
        let mut found = audit::list(tx, filter, PAGE_SIZE + 1)?;
        let next = cut_page(&mut found, PAGE_SIZE, |entry| entry.seq);
        let mut names = Usernames::new();
        let items = found.into_iter().map(|entry| load_item(tx, &mut names, entry));
        Ok::<_, Error>((items.collect::<Result<Vec<_>, Error>>()?, next))
    };
    let (entries, next) = call.read(load).await?;
    let page = AdminAuditPage {
        frame: visit.page_frame(&call),
        entries,
        pager: build_pager(AUDIT_PATH, "before", before.is_none(), next),
    };
    Ok(visit.render_page(&call, &page)?)
}

/// Usernames by id, since most entries of a page are about a few accounts.
type Usernames = HashMap<UserId, String>;

fn load_item(tx: &mut Tx<'_>, names: &mut Usernames, entry: AuditEntry) -> Result<AuditItem, Error> {
    let actor = match entry.actor {
        Some(user) => Some(load_account(tx, names, "by", user)?),
        None => entry.operator.then(|| plain_fact("by", "an operator")),
    };
    let mut facts = Vec::new();
    let detail: Value = serde_json::from_str(&entry.detail).unwrap_or_default();
    for (name, value) in detail.as_object().into_iter().flatten() {
        let user = value.as_str().and_then(UserId::parse).filter(|_| name == "user");
        facts.push(match user {
            Some(user) => load_account(tx, names, name, user)?,
            None => plain_fact(&name.replace('_', " "), &describe_value(value)),
        });
    }
    Ok(AuditItem { at: entry.at, kind: entry.kind, actor, facts })
}

fn load_account(tx: &mut Tx<'_>, names: &mut Usernames, name: &str, user: UserId) -> Result<AuditFact, Error> {
    let username = match names.entry(user) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(unknown) => unknown.insert(find_username(tx, user)?),
    };
    Ok(AuditFact {
        name: name.to_owned(),
        value: format!("@{username}"),
        path: Some(format!("{ACCOUNTS_PATH}?username={username}")),
    })
}

fn plain_fact(name: &str, value: &str) -> AuditFact {
    AuditFact { name: name.to_owned(), value: value.to_owned(), path: None }
}

fn describe_value(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(describe_value).collect::<Vec<_>>().join(", "),
        Value::Object(members) => {
            let parts = members.iter().map(|(name, value)| format!("{name}: {}", describe_value(value)));
            parts.collect::<Vec<_>>().join(", ")
        }
        Value::Number(_) => value.to_string(),
    }
}
