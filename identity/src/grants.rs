//! Grants of users to apps, and their revocation.
//!
//! A grant is also the lock of a user's flows with an app: issuing and revoking tokens locks it first, so that no
//! token is issued concurrently with a revocation.

use base::{AppId, Error, Fault, Refusal, Scopes, Time, UserId};
use serde_json::json;
use store::apps::{App, AppStatus};
use store::grants::{self, AppGrant};
use store::{Tx, authorization_codes, event_log, request_tokens, tokens};

use network::activity;
use network::audit::{self, AuditAction, AuditActor};
use network::permissions::{Permission, parse_stored_scopes};

/// The result of an operation whose refusal must be committed, such as a counted attempt or a revoked token family. An
/// error would roll the transaction back, so the refusal is returned as a value, and becomes an error after the commit
/// by [`GrantOutcome::into_result`].
#[derive(Clone, Debug)]
#[must_use]
pub enum GrantOutcome<T> {
    Done(T),
    /// Refused, with changes to commit.
    Refused(Refusal),
}

impl<T> GrantOutcome<T> {
    /// To be called after the commit.
    pub fn into_result(self) -> Result<T, Error> {
        match self {
            Self::Done(answer) => Ok(answer),
            Self::Refused(refusal) => Err(refusal.into()),
        }
    }
}

#[derive(Clone, Debug)]
pub struct ConnectedApp {
    pub app: App,
    /// The widest approved OAuth 1.0a permission.
    pub permission: Option<Permission>,
    pub scopes: Scopes,
    /// Whether the app reads the confirmed email address with OAuth 1.0a.
    pub reads_email: bool,
    pub created_at: Time,
    pub approved_at: Time,
    /// When a token was last issued.
    pub used_at: Time,
}

fn parse_permission(stored: &AppGrant) -> Result<Option<Permission>, Fault> {
    let text = Some(&stored.permission).filter(|text| !text.is_empty());
    text.map(|text| text.parse()).transpose()
}

fn parse_granted_scopes(stored: &AppGrant) -> Result<Scopes, Fault> {
    parse_stored_scopes(&stored.scopes)
}

/// What a user approves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Approval {
    pub level: Option<Permission>,
    pub scopes: Scopes,
    /// Whether the page said that the app reads the email address; none if no page did either.
    pub email: Option<bool>,
}

/// Records an approval and locks the grant. Earlier permissions and scopes stay valid.
pub(crate) fn record_approval(
    tx: &mut Tx<'_>,
    actor: &AuditActor,
    user: UserId,
    app: AppId,
    approval: Approval,
) -> Result<(), Fault> {
    let Approval { level, scopes, email } = approval;
    let detail = json!({"permission": level.map(Permission::name), "scopes": scopes.to_string(), "email": email});
    audit::append(tx, actor, AuditAction::GRANT_APPROVE, Some(app), &detail)?;
    grants::lock_or_insert(tx, user, app)?;
    let before = grants::find(tx, user, app)?.ok_or_else(|| Fault::new("a grant that was just inserted is missing"))?;
    let level = level.max(parse_permission(&before)?);
    let scopes = scopes.iter().fold(parse_granted_scopes(&before)?, Scopes::with_scope);
    let permission = level.map_or("", Permission::name).to_owned();
    let email = email.unwrap_or(before.email);
    grants::update(tx, &AppGrant { permission, scopes: scopes.to_string(), email, ..before })?;
    event_log::append(tx, "oauth.approve", user.get(), app.get(), "")
}

/// Whether the app reads the user's email address with an OAuth 1.0a token. Its owner, and an operator, who issue tokens
/// without a page, agree by issuing them.
pub(crate) fn may_read_email(tx: &mut Tx<'_>, app: &App, user: UserId) -> Result<bool, Fault> {
    if !app.request_email || app.owner_id == user {
        return Ok(app.request_email);
    }
    Ok(grants::find(tx, user, app.id)?.is_none_or(|grant| grant.email))
}

pub(crate) fn granted_permission(tx: &mut Tx<'_>, user: UserId, app: AppId) -> Result<Option<Permission>, Fault> {
    let stored = grants::find(tx, user, app)?;
    Ok(stored.as_ref().map(parse_permission).transpose()?.flatten())
}

/// In the order of first approval; then the apps for which an operator issued tokens.
pub fn list(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<ConnectedApp>, Error> {
    let mut all = Vec::new();
    for stored in grants::list(tx, user)? {
        let Some(app) = find_existing_app(tx, stored.app_id)? else { continue };
        all.push(ConnectedApp {
            reads_email: may_read_email(tx, &app, user)?,
            app,
            permission: parse_permission(&stored)?,
            scopes: parse_granted_scopes(&stored)?,
            created_at: stored.created_at,
            approved_at: stored.approved_at,
            used_at: stored.used_at,
        });
    }
    for (app, created_at, used_at) in tokens::list_apps_without_grant(tx, user)? {
        let Some(app) = find_existing_app(tx, app)? else { continue };
        let levels = tokens::live_permissions(tx, app.id, user)?;
        let levels = levels.iter().map(|level| level.parse()).collect::<Result<Vec<Permission>, _>>()?;
        let mut scopes = Scopes::NONE;
        for token in tokens::live_scopes(tx, app.id, user)? {
            scopes = parse_stored_scopes(&token)?.iter().fold(scopes, Scopes::with_scope);
        }
        let permission = levels.into_iter().max();
        let reads_email = app.request_email;
        all.push(ConnectedApp { app, permission, scopes, reads_email, created_at, approved_at: created_at, used_at });
    }
    Ok(all)
}

fn find_existing_app(tx: &mut Tx<'_>, id: AppId) -> Result<Option<App>, Fault> {
    Ok(store::apps::find_by_id(tx, id)?.filter(|app| app.state != AppStatus::Deleted))
}

/// Revokes all of an app's tokens for the user, and approvals it has not exchanged yet.
pub fn revoke(tx: &mut Tx<'_>, actor: &AuditActor, app: AppId) -> Result<(), Error> {
    if disconnect(tx, actor, actor.require_user()?, app)? {
        return Ok(());
    }
    Err(Refusal::invalid_value("app_id", app).into())
}

/// Revokes the tokens and approvals of all apps.
pub fn revoke_all(tx: &mut Tx<'_>, actor: &AuditActor, user: UserId) -> Result<(), Fault> {
    for granted in grants::list(tx, user)? {
        disconnect(tx, actor, user, granted.app_id)?;
    }
    // Tokens that were issued without an approval.
    store::sessions::revoke_user_tokens(tx, user)?;
    crate::tokens::record_revocation(tx, user, None)
}

/// Returns false if there is nothing to revoke.
fn disconnect(tx: &mut Tx<'_>, actor: &AuditActor, user: UserId, app: AppId) -> Result<bool, Fault> {
    let granted = grants::delete(tx, user, app)?;
    request_tokens::revoke_approved(tx, user, app)?;
    authorization_codes::revoke(tx, user, app)?;
    let revoked_count = tokens::revoke_app_access(tx, user, app)?;
    if !granted && revoked_count == 0 {
        return Ok(false);
    }
    let detail = json!({"tokens": revoked_count});
    audit::append(tx, actor, AuditAction::GRANT_REVOKE, Some(app), &detail)?;
    // Webhooks that receive the account's activity are notified of the revocation.
    let webhooks = activity::end_unauthorized_subscriptions(tx, user, Some(app))?;
    let webhooks: Vec<String> = webhooks.iter().map(i64::to_string).collect();
    let body = json!({ "webhook_ids": webhooks }).to_string();
    event_log::append(tx, "oauth.revoke", user.get(), app.get(), &body)?;
    event_log::append(tx, "token.revoke", user.get(), app.get(), "")?;
    Ok(true)
}
