//! Connected apps: what a user has granted to each, and taking it back.
//!
//! A grant is also where all flows of one user and one app meet: whoever gives out or revokes
//! their tokens holds it first, so that no token is given out beside a revocation.

use base::{AppId, Error, Fault, Refusal, Scopes, Time, UserId};
use serde_json::json;
use store::apps::{App, AppStatus};
use store::grants::{self, AppGrant as Stored};
use store::{Tx, authorization_codes, event_log, request_tokens, tokens};

use crate::activity;
use crate::apps::Permission;
use crate::audit::{self, AuditAction, AuditActor};

/// How a verb ended whose refusal leaves a trace: a try that is counted, a family of tokens that
/// is revoked. What a piece of work answers with an error is undone; so such a refusal is an
/// answer, is committed, and becomes an error afterwards, by [`Outcome::into_result`].
#[derive(Clone, Debug)]
#[must_use]
pub enum GrantOutcome<T> {
    /// It was done.
    Done(T),
    /// It was refused, and that has been noted.
    Refused(Refusal),
}

impl<T> GrantOutcome<T> {
    /// The answer or the refusal, once the transaction has been committed.
    pub fn into_result(self) -> Result<T, Error> {
        match self {
            Self::Done(answer) => Ok(answer),
            Self::Refused(refusal) => Err(refusal.into()),
        }
    }
}

/// What a user has granted to an app.
#[derive(Clone, Debug)]
pub struct ConnectedApp {
    /// The app.
    pub app: App,
    /// The widest OAuth 1.0a level that was approved, if any was.
    pub permission: Option<Permission>,
    /// Every OAuth 2.0 scope that was approved.
    pub scopes: Scopes,
    /// When the user approved first.
    pub created_at: Time,
    /// When the user approved last.
    pub approved_at: Time,
    /// When a token was last given out.
    pub used_at: Time,
}

fn parse_permission(stored: &Stored) -> Result<Option<Permission>, Fault> {
    let text = Some(&stored.permission).filter(|text| !text.is_empty());
    text.map(|text| text.parse()).transpose()
}

fn parse_granted_scopes(stored: &Stored) -> Result<Scopes, Fault> {
    parse_stored_scopes(&stored.scopes)
}

/// Scopes as they were stored.
pub(crate) fn parse_stored_scopes(text: &str) -> Result<Scopes, Fault> {
    Scopes::parse(text).map_err(|name| Fault::new(format!("the scope {name:?} is stored")))
}

/// Records an approval and holds the grant. What was granted before stays granted.
pub(crate) fn record_approval(
    tx: &mut Tx<'_>,
    by: &AuditActor,
    user: UserId,
    app: AppId,
    level: Option<Permission>,
    asked: Scopes,
) -> Result<(), Fault> {
    let detail = json!({"permission": level.map(Permission::name), "scopes": asked.to_string()});
    audit::append(tx, by, AuditAction::GRANT_APPROVE, Some(app), &detail)?;
    grants::lock_or_insert(tx, user, app)?;
    let before = grants::find(tx, user, app)?.ok_or_else(|| Fault::new("a grant that was just made is not there"))?;
    let level = level.max(parse_permission(&before)?);
    let asked = asked.iter().fold(parse_granted_scopes(&before)?, Scopes::with_scope);
    let level = level.map_or("", Permission::name);
    grants::set_scopes(tx, user, app, level, &asked.to_string())?;
    event_log::append(tx, "oauth.approve", user.get(), app.get(), "")
}

/// The OAuth 1.0a level that a user has granted to an app.
pub(crate) fn granted_permission(tx: &mut Tx<'_>, user: UserId, app: AppId) -> Result<Option<Permission>, Fault> {
    let stored = grants::find(tx, user, app)?;
    Ok(stored.as_ref().map(parse_permission).transpose()?.flatten())
}

/// The apps that a user has let act for them, in the order of first approval.
pub fn list(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<ConnectedApp>, Error> {
    let mut all = Vec::new();
    for stored in grants::list(tx, user)? {
        let app = store::apps::find_by_id(tx, stored.app_id)?;
        let Some(app) = app.filter(|app| app.state != AppStatus::Deleted) else {
            continue;
        };
        all.push(ConnectedApp {
            app,
            permission: parse_permission(&stored)?,
            scopes: parse_granted_scopes(&stored)?,
            created_at: stored.created_at,
            approved_at: stored.approved_at,
            used_at: stored.used_at,
        });
    }
    Ok(all)
}

/// Takes back what a user has granted to an app: all its tokens for the user are dead with the
/// commit, and what it has not exchanged yet leads to none.
pub fn revoke(tx: &mut Tx<'_>, by: &AuditActor, app: AppId) -> Result<(), Error> {
    let user = by.require_user()?;
    let granted = grants::delete(tx, user, app)?;
    request_tokens::revoke_approved(tx, user, app)?;
    authorization_codes::revoke(tx, user, app)?;
    let live = tokens::revoke_app_access(tx, user, app)?;
    if !granted && live == 0 {
        return Err(Refusal::invalid_value("app_id", app).into());
    }
    let detail = json!({"tokens": live});
    audit::append(tx, by, AuditAction::GRANT_REVOKE, Some(app), &detail)?;
    // Who receives the account's activity is told that it ends.
    let webhooks = activity::end_unauthorized_subscriptions(tx, user, Some(app))?;
    let webhooks: Vec<String> = webhooks.iter().map(i64::to_string).collect();
    let body = json!({ "webhook_ids": webhooks }).to_string();
    event_log::append(tx, "oauth.revoke", user.get(), app.get(), &body)?;
    // The word by which other nodes know that credentials have changed.
    Ok(event_log::append(tx, "token.revoke", user.get(), app.get(), "")?)
}
