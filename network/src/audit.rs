//! The audit trail of accounts and apps. Entries are written in the transaction of the action itself.

use base::{AppId, Fault, Refusal, UserId};
use serde_json::{Value, json};
use store::{Tx, audit};

pub use store::audit::{AuditEntry, AuditFilter, list, list_after, prune};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditAction(&'static str);

macro_rules! audit_actions {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        impl AuditAction {
            $($(#[$doc])* pub const $name: Self = Self($text);)*

            pub const ALL: &[Self] = &[$(Self::$name),*];
        }
    };
}

audit_actions! {
    SIGN_IN_OK = "sign_in.ok";
    SIGN_IN_FAILED = "sign_in.failed";
    /// Too many attempts; written once until the next allowed attempt.
    SIGN_IN_THROTTLED = "sign_in.throttled";
    SIGN_OUT = "sign_out";
    /// Sessions were ended from another session.
    SESSION_REVOKE = "session.revoke";
    /// A session got a new id.
    SESSION_RENEW = "session.renew";
    /// By an operator.
    PASSWORD_SET = "password.set";
    /// By the user, with the old password.
    PASSWORD_CHANGE = "password.change";
    /// A reset link was requested.
    PASSWORD_RESET_ASKED = "password.reset_asked";
    /// By a reset link.
    PASSWORD_RESET = "password.reset";
    /// By the user, with the first code.
    TWO_FACTOR_ENABLE = "two_factor.enable";
    /// By the user or an operator.
    TWO_FACTOR_DISABLE = "two_factor.disable";
    /// A wrong code was entered.
    TWO_FACTOR_FAILED = "two_factor.failed";
    RECOVERY_CODE_USE = "recovery_code.use";
    /// The user got new recovery codes.
    RECOVERY_CODES_REPLACE = "recovery_codes.replace";
    PASSKEY_ADD = "passkey.add";
    /// By the user or an operator.
    PASSKEY_REMOVE = "passkey.remove";
    /// A change of address was requested.
    EMAIL_CHANGE = "email.change";
    /// The user cancelled a change of address.
    EMAIL_CANCEL = "email.cancel";
    EMAIL_CONFIRM = "email.confirm";
    USER_INVITE = "user.invite";
    /// Someone registered.
    USER_JOIN = "user.join";
    /// By an operator.
    USER_CREATE = "user.create";
    /// By an operator.
    USER_VERIFY = "user.verify";
    /// A profile was edited or marked.
    USER_UPDATE = "user.update";
    USER_SUSPEND = "user.suspend";
    USER_RESTORE = "user.restore";
    USER_DELETE = "user.delete";
    /// The data of a deleted account was erased.
    USER_ERASE = "user.erase";
    /// An account was withheld somewhere, or no longer.
    USER_WITHHOLD = "user.withhold";
    /// A post was withheld somewhere, or no longer.
    POST_WITHHOLD = "post.withhold";
    MODERATION_ACT = "moderation.act";
    /// An action was undone, or has ended.
    MODERATION_LIFT = "moderation.lift";
    MODERATION_APPEAL = "moderation.appeal";
    /// An appeal was decided.
    MODERATION_DECIDE = "moderation.decide";
    /// A report was closed without an action.
    REPORT_DISMISS = "report.dismiss";
    ROLE_GRANT = "role.grant";
    ROLE_REVOKE = "role.revoke";
    /// A link was made that makes its user the first owner.
    ROLE_SETUP = "role.setup";
    /// A setting of the site was changed, or a term blocked.
    SITE_UPDATE = "site.update";
    /// An application for an account was accepted or refused.
    REGISTRATION_DECIDE = "registration.decide";
    APP_CREATE = "app.create";
    APP_UPDATE = "app.update";
    /// A credential of an app was replaced.
    APP_ROTATE = "app.rotate";
    APP_DELETE = "app.delete";
    /// An operator created a token for a user.
    TOKEN_MINT = "token.mint";
    /// An operator made a token expire.
    TOKEN_EXPIRE = "token.expire";
    /// The owner of an app created their own access token for it.
    TOKEN_OWN = "token.own";
    /// A refresh token was used twice: its whole family was revoked.
    TOKEN_REUSE = "token.reuse";
    /// By the app, the user or an operator.
    TOKEN_REVOKE = "token.revoke";
    GRANT_APPROVE = "grant.approve";
    GRANT_DENY = "grant.deny";
    GRANT_REVOKE = "grant.revoke";
    DATA_IMPORT = "data.import";
    DATA_EXPORT = "data.export";
    ADS_ROLE_GIVE = "ads_role.give";
    ADS_ROLE_TAKE = "ads_role.take";
    DATA_BACKUP = "data.backup";
    KEY_ROTATE = "key.rotate";
    /// All stored secrets were encrypted with the current master key.
    KEY_REWRAP = "key.rewrap";
    /// A command changed something that has no entry of its own.
    COMMAND_RUN = "command.run";
}

impl AuditAction {
    pub const fn name(self) -> &'static str {
        self.0
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditActor {
    /// None for an operator or an unknown user.
    pub user: Option<UserId>,
    /// Whether it is an operator at the command line.
    pub operator: bool,
    /// The client's address, or empty.
    pub address: String,
}

impl AuditActor {
    pub fn user(user: UserId, address: &str) -> Self {
        Self { user: Some(user), address: address.to_owned(), ..Self::default() }
    }

    /// Refuses actors without a user.
    pub fn require_user(&self) -> Result<UserId, Refusal> {
        self.user.ok_or_else(|| Refusal::invalid_value("user", ""))
    }

    pub fn anonymous(address: &str) -> Self {
        Self { address: address.to_owned(), ..Self::default() }
    }

    pub fn operator() -> Self {
        Self { operator: true, ..Self::default() }
    }
}

/// `detail` is `null` if there are no further facts. A member `user` is the account that the entry concerns.
pub fn append(
    tx: &mut Tx<'_>,
    actor: &AuditActor,
    kind: AuditAction,
    app: Option<AppId>,
    detail: &Value,
) -> Result<(), Fault> {
    let subject = detail.get("user").and_then(Value::as_str).and_then(UserId::parse);
    let detail = if detail.is_null() { String::new() } else { detail.to_string() };
    let new = audit::NewAuditEntry {
        kind: kind.name(),
        actor: actor.user,
        operator: actor.operator,
        app,
        subject,
        address: &actor.address,
        detail: &detail,
    };
    audit::append(tx, &new)
}

/// The audit detail of an action on a user.
pub fn user_detail(user: UserId) -> Value {
    json!({"user": user.to_string()})
}
