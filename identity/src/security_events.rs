//! What happened to an account's credentials and sessions, for its owner: the part of the audit log that concerns it.

use std::collections::BTreeMap;

use base::{AppId, Fault, Time, UserId};
use serde_json::Value;
use store::Tx;

use crate::sessions::PASSKEY_METHOD;
use network::audit::AuditAction;

/// Of one account.
const MAX_LISTED: i64 = 100;

const ACTIONS: &[AuditAction] = &[
    AuditAction::SIGN_IN_OK,
    AuditAction::SIGN_IN_FAILED,
    AuditAction::SIGN_IN_THROTTLED,
    AuditAction::SIGN_OUT,
    AuditAction::SESSION_REVOKE,
    AuditAction::PASSWORD_SET,
    AuditAction::PASSWORD_CHANGE,
    AuditAction::PASSWORD_RESET_ASKED,
    AuditAction::PASSWORD_RESET,
    AuditAction::EMAIL_CHANGE,
    AuditAction::EMAIL_CANCEL,
    AuditAction::EMAIL_CONFIRM,
    AuditAction::USER_JOIN,
    AuditAction::TWO_FACTOR_ENABLE,
    AuditAction::TWO_FACTOR_DISABLE,
    AuditAction::TWO_FACTOR_FAILED,
    AuditAction::RECOVERY_CODE_USE,
    AuditAction::RECOVERY_CODES_REPLACE,
    AuditAction::PASSKEY_ADD,
    AuditAction::PASSKEY_REMOVE,
    AuditAction::GRANT_APPROVE,
    AuditAction::GRANT_REVOKE,
    AuditAction::TOKEN_MINT,
    AuditAction::TOKEN_OWN,
    AuditAction::TOKEN_REUSE,
    AuditAction::TOKEN_REVOKE,
];

#[derive(Clone, Debug)]
pub struct SecurityEvent {
    pub at: Time,
    pub action: AuditAction,
    /// Whether an operator of the server did it.
    pub by_operator: bool,
    /// The client's address, or empty.
    pub address: String,
    /// Whether somebody signed in with a passkey.
    pub by_passkey: bool,
    /// The browser that signed in, or empty.
    pub user_agent: String,
    pub app_name: Option<String>,
}

/// Newest first, at most 100.
pub fn list(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<SecurityEvent>, Fault> {
    let kinds: Vec<&str> = ACTIONS.iter().map(|action| action.name()).collect();
    let mut names: BTreeMap<AppId, Option<String>> = BTreeMap::new();
    let mut events = Vec::new();
    for entry in store::audit::list_concerning(tx, user, &kinds, MAX_LISTED)? {
        let Some(action) = ACTIONS.iter().find(|action| action.name() == entry.kind) else {
            continue;
        };
        if let Some(app) = entry.app
            && !names.contains_key(&app)
        {
            names.insert(app, store::apps::find_by_id(tx, app)?.map(|app| app.name));
        }
        let detail: Value = serde_json::from_str(&entry.detail).unwrap_or_default();
        events.push(SecurityEvent {
            at: entry.at,
            action: *action,
            by_operator: entry.operator,
            address: entry.address,
            by_passkey: detail.get("method").and_then(Value::as_str) == Some(PASSKEY_METHOD),
            user_agent: detail.get("user_agent").and_then(Value::as_str).unwrap_or_default().to_owned(),
            app_name: entry.app.and_then(|app| names.get(&app).cloned().flatten()),
        });
    }
    Ok(events)
}
