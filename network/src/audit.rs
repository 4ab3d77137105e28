//! The record of what was done to accounts and apps: who, what, from where. It is written in the
//! transaction of the act itself, so that neither is there without the other.

use base::{AppId, Fault, Refusal, UserId};
use serde_json::Value;
use store::{Tx, audit};

pub use store::audit::{AuditEntry, AuditFilter, list, list_after, prune};

/// What was done. Only the kinds that stand here are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditAction(&'static str);

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        impl AuditAction {
            $($(#[$doc])* pub const $name: Self = Self($text);)*

            /// Every one of them.
            pub const ALL: &[Self] = &[$(Self::$name),*];
        }
    };
}

kinds! {
    /// Someone signed in.
    SIGN_IN_OK = "sign_in.ok";
    /// Someone gave a wrong password or an unknown name.
    SIGN_IN_FAILED = "sign_in.failed";
    /// Someone tried too often; written once until it is allowed again.
    SIGN_IN_THROTTLED = "sign_in.throttled";
    /// Someone signed out.
    SIGN_OUT = "sign_out";
    /// Sessions were ended from another one.
    SESSION_REVOKE = "session.revoke";
    /// A session was given another id.
    SESSION_RENEW = "session.renew";
    /// An operator set a password.
    PASSWORD_SET = "password.set";
    /// A user set a new password, knowing the old one.
    PASSWORD_CHANGE = "password.change";
    /// Someone asked for a link to set a new password.
    PASSWORD_RESET_ASKED = "password.reset_asked";
    /// A new password was set by such a link.
    PASSWORD_RESET = "password.reset";
    /// A user asked to change the address.
    EMAIL_CHANGE = "email.change";
    /// A user took that back.
    EMAIL_CANCEL = "email.cancel";
    /// An address was confirmed.
    EMAIL_CONFIRM = "email.confirm";
    /// Someone was invited.
    USER_INVITE = "user.invite";
    /// Someone joined.
    USER_JOIN = "user.join";
    /// An operator made an account.
    USER_CREATE = "user.create";
    /// An operator set a verification mark.
    USER_VERIFY = "user.verify";
    /// A profile was edited or marked.
    USER_UPDATE = "user.update";
    /// An account was suspended.
    USER_SUSPEND = "user.suspend";
    /// An account was restored.
    USER_RESTORE = "user.restore";
    /// An account was deleted.
    USER_DELETE = "user.delete";
    /// An account was marked as withheld somewhere, or no longer.
    USER_WITHHOLD = "user.withhold";
    /// A post was marked as withheld somewhere, or no longer.
    POST_WITHHOLD = "post.withhold";
    /// An app was registered.
    APP_CREATE = "app.create";
    /// An app was changed.
    APP_UPDATE = "app.update";
    /// A credential of an app was made anew.
    APP_ROTATE = "app.rotate";
    /// An app was deleted.
    APP_DELETE = "app.delete";
    /// An operator made a token of a user.
    TOKEN_MINT = "token.mint";
    /// An operator let a token end.
    TOKEN_EXPIRE = "token.expire";
    /// The owner of an app got an access token of one's own for it.
    TOKEN_OWN = "token.own";
    /// A refresh token came a second time: its whole family was ended.
    TOKEN_REUSE = "token.reuse";
    /// A token was revoked: by its app, by whoever it acts for, or by an operator.
    TOKEN_REVOKE = "token.revoke";
    /// A user let an app in.
    GRANT_APPROVE = "grant.approve";
    /// A user did not let an app in.
    GRANT_DENY = "grant.deny";
    /// A user ended what an app may do.
    GRANT_REVOKE = "grant.revoke";
    /// An operator took posts and people in from elsewhere.
    DATA_IMPORT = "data.import";
    /// An operator wrote everything out.
    DATA_EXPORT = "data.export";
    /// Someone was given a role on an advertising account.
    ADS_ROLE_GIVE = "ads_role.give";
    /// Someone's role on an advertising account was taken away.
    ADS_ROLE_TAKE = "ads_role.take";
    /// An operator made a copy of the database.
    DATA_BACKUP = "data.backup";
    /// A new master key took the place of the one before.
    KEY_ROTATE = "key.rotate";
    /// Every stored secret was sealed anew with the current master key.
    KEY_REWRAP = "key.rewrap";
}

impl AuditAction {
    /// As stored.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

/// Who acts, and from where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditActor {
    /// The user; none: an operator, or nobody who is known.
    pub user: Option<UserId>,
    /// Whether it is an operator, at the command line.
    pub operator: bool,
    /// The address, or empty.
    pub address: String,
}

impl AuditActor {
    /// A user.
    pub fn user(user: UserId, address: &str) -> Self {
        Self {
            user: Some(user),
            address: address.to_owned(),
            ..Self::default()
        }
    }

    /// The user; refused where nobody is known.
    pub fn require_user(&self) -> Result<UserId, Refusal> {
        self.user.ok_or_else(|| Refusal::invalid_value("user", ""))
    }

    /// Nobody who is known.
    pub fn anonymous(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            ..Self::default()
        }
    }

    /// Whoever administers the platform.
    pub fn operator() -> Self {
        Self {
            operator: true,
            ..Self::default()
        }
    }
}

/// Adds an entry; `detail` is `null` when there is nothing more to say.
pub fn append(
    tx: &mut Tx<'_>,
    by: &AuditActor,
    kind: AuditAction,
    app: Option<AppId>,
    detail: &Value,
) -> Result<(), Fault> {
    let detail = if detail.is_null() {
        String::new()
    } else {
        detail.to_string()
    };
    let new = audit::NewAuditEntry {
        kind: kind.name(),
        actor: by.user,
        operator: by.operator,
        app,
        address: &by.address,
        detail: &detail,
    };
    audit::append(tx, &new)
}
