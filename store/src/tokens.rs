//! OAuth 1.0a access tokens, and OAuth 2.0 access and refresh tokens.

use base::{AppId, Fault, Secret, Time, UserId};

use crate::Tx;
use crate::credential_versions::CredentialKey;
use crate::db::{insert, select, table};

table! {
    #[derive(Clone, Debug)]
    pub struct OAuth1Token in "oauth1_token" {
        /// Identifies the token in logs and lists.
        pub id: i64,
        pub app_id: AppId,
        pub user_id: UserId,
        /// `read`, `write` or `messages`.
        pub permission: String,
        pub created_at: Time,
    }
    read_only {
        pub revoked_at: Option<Time>,
    }
    transient {
        /// `<user id>-<random>`. Decrypted after reading, as is the secret.
        pub token: Secret,
        pub secret: Secret,
    }
}

table! {
    /// An OAuth 2.0 token; only its digest is stored.
    #[derive(Clone, Debug)]
    pub struct OAuth2Token in "oauth2_token" {
        /// Identifies the token in logs and lists.
        pub id: i64,
        /// `access` or `refresh`.
        pub kind: String,
        /// Shared by all tokens of one authorization.
        pub family: i64,
        pub app_id: AppId,
        pub user_id: UserId,
        /// Space-separated.
        pub scopes: String,
        pub created_at: Time,
        /// None if it does not expire.
        pub expires_at: Option<Time>,
    }
    read_only {
        pub revoked_at: Option<Time>,
    }
}

fn token_encryption_context(id: i64) -> String {
    format!("oauth1_token.token:{id}")
}

fn secret_encryption_context(id: i64) -> String {
    format!("oauth1_token.secret:{id}")
}

type EncryptedOAuth1Token = (OAuth1Token, Vec<u8>, Vec<u8>);

fn decrypt_oauth1(tx: &Tx<'_>, found: Option<EncryptedOAuth1Token>) -> Result<Option<OAuth1Token>, Fault> {
    let Some((mut token, text, secret)) = found else {
        return Ok(None);
    };
    token.token = tx.decrypt(&token_encryption_context(token.id), &text)?;
    token.secret = tx.decrypt(&secret_encryption_context(token.id), &secret)?;
    Ok(Some(token))
}

/// Revoked tokens included.
pub fn find_oauth1(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<Option<OAuth1Token>, Fault> {
    let sql = select!(OAuth1Token + "token, secret", "WHERE digest = $1");
    let found = tx.query_row(sql, &[digest.into()])?;
    decrypt_oauth1(tx, found)
}

/// The token that is not revoked.
pub fn find_live_oauth1(
    tx: &mut Tx<'_>,
    app: AppId,
    user: UserId,
    permission: &str,
) -> Result<Option<OAuth1Token>, Fault> {
    let sql = select!(
        OAuth1Token + "token, secret",
        "WHERE app_id = $1 AND user_id = $2 AND permission = $3 AND revoked_at IS NULL"
    );
    let found = tx.query_row(sql, &[app.into(), user.into(), permission.into()])?;
    decrypt_oauth1(tx, found)
}

pub fn insert_oauth1(tx: &mut Tx<'_>, token: &OAuth1Token) -> Result<(), Fault> {
    let text = tx.encrypt(&token_encryption_context(token.id), token.token.expose_secret())?;
    let secret = tx.encrypt(&secret_encryption_context(token.id), token.secret.expose_secret())?;
    let digest = token.token.digest();
    insert!(tx, OAuth1Token, token, digest = &digest, token = &text, secret = &secret)
}

/// Returns false if the token was not active.
pub fn revoke_oauth1(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<bool, Fault> {
    tx.invalidate_credentials(CredentialKey::from_digest(digest))?;
    let sql = "UPDATE oauth1_token SET revoked_at = $1 WHERE digest = $2 AND revoked_at IS NULL";
    Ok(tx.execute(sql, &[tx.now().into(), digest.into()])? > 0)
}

/// Revoked and expired tokens included.
pub fn find_oauth2(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<Option<OAuth2Token>, Fault> {
    let sql = select!(OAuth2Token, "WHERE digest = $1");
    tx.query_row(sql, &[digest.into()])
}

pub fn insert_oauth2(tx: &mut Tx<'_>, token: &OAuth2Token, digest: &[u8; 32]) -> Result<(), Fault> {
    insert!(tx, OAuth2Token, token, digest = digest)
}

/// Revokes all OAuth 2.0 tokens of one authorization; returns how many were not yet revoked.
pub fn revoke_family(tx: &mut Tx<'_>, family: i64) -> Result<u64, Fault> {
    tx.invalidate_credentials(CredentialKey::TokenFamily(family))?;
    let sql = "UPDATE oauth2_token SET revoked_at = $1 WHERE family = $2 AND revoked_at IS NULL";
    tx.execute(sql, &[tx.now().into(), family.into()])
}

/// Gives an OAuth 1.0a token another text, with the same secret.
pub fn replace_oauth1_text(tx: &mut Tx<'_>, token: &OAuth1Token, text: &Secret) -> Result<(), Fault> {
    let (old, new) = (token.token.digest(), text.digest());
    tx.invalidate_credentials(CredentialKey::from_digest(&old))?;
    let encrypted = tx.encrypt(&token_encryption_context(token.id), text.expose_secret())?;
    let sql = "UPDATE oauth1_token SET digest = $1, token = $2 WHERE digest = $3";
    tx.execute_later(sql, &[(&new).into(), (&encrypted).into(), (&old).into()])
}

/// Gives an OAuth 2.0 token another text.
pub fn replace_oauth2_digest(tx: &mut Tx<'_>, old: &[u8; 32], new: &[u8; 32]) -> Result<(), Fault> {
    tx.invalidate_credentials(CredentialKey::from_digest(old))?;
    tx.execute_later("UPDATE oauth2_token SET digest = $1 WHERE digest = $2", &[new.into(), old.into()])
}

/// Makes an OAuth 2.0 token expire now; returns false if there is none.
pub fn expire_oauth2(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<bool, Fault> {
    tx.invalidate_credentials(CredentialKey::from_digest(digest))?;
    let sql = "UPDATE oauth2_token SET expires_at = $1 WHERE digest = $2";
    Ok(tx.execute(sql, &[tx.now().into(), digest.into()])? > 0)
}

/// Revokes one OAuth 2.0 token but not its family; returns false if it was already revoked.
pub fn revoke_oauth2(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<bool, Fault> {
    tx.invalidate_credentials(CredentialKey::from_digest(digest))?;
    let sql = "UPDATE oauth2_token SET revoked_at = $1 WHERE digest = $2 AND revoked_at IS NULL";
    Ok(tx.execute(sql, &[tx.now().into(), digest.into()])? > 0)
}

/// Revokes a refresh token on use; returns false if it was already revoked. Leaves the credential cache valid, since
/// refresh tokens do not authenticate requests.
pub fn consume_refresh_token(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<bool, Fault> {
    let sql = "UPDATE oauth2_token SET revoked_at = $1 WHERE digest = $2 AND kind = 'refresh' AND revoked_at IS NULL";
    Ok(tx.execute(sql, &[tx.now().into(), digest.into()])? > 0)
}

/// Revokes all of an app's tokens for a user; returns how many were not yet revoked.
pub fn revoke_app_access(tx: &mut Tx<'_>, user: UserId, app: AppId) -> Result<u64, Fault> {
    tx.invalidate_credentials(CredentialKey::User(user))?;
    let args = [tx.now().into(), user.into(), app.into()];
    let oauth1 = "UPDATE oauth1_token SET revoked_at = $1 WHERE user_id = $2 AND app_id = $3 AND revoked_at IS NULL";
    let oauth2 = "UPDATE oauth2_token SET revoked_at = $1 WHERE user_id = $2 AND app_id = $3 AND revoked_at IS NULL";
    Ok(tx.execute(oauth1, &args)? + tx.execute(oauth2, &args)?)
}

/// Makes an app's OAuth 2.0 access tokens for a user expire now; returns how many were active.
pub fn expire_app_access(tx: &mut Tx<'_>, user: UserId, app: AppId) -> Result<u64, Fault> {
    tx.invalidate_credentials(CredentialKey::User(user))?;
    let sql = "UPDATE oauth2_token SET expires_at = $1 WHERE user_id = $2 AND app_id = $3 AND kind = 'access' \
               AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1)";
    tx.execute(sql, &[tx.now().into(), user.into(), app.into()])
}

/// The tokens of one authorization, in the order of their issue.
pub fn list_family(tx: &mut Tx<'_>, family: i64, limit: i64) -> Result<Vec<OAuth2Token>, Fault> {
    let sql = select!(OAuth2Token, "WHERE family = $1 ORDER BY id LIMIT $2");
    tx.query_rows(sql, &[family.into(), limit.into()])
}

/// The users with a token of an app that is not revoked, by id.
pub fn list_users_of_app(tx: &mut Tx<'_>, app: AppId, limit: i64) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT user_id FROM oauth1_token WHERE app_id = $1 AND revoked_at IS NULL UNION \
               SELECT user_id FROM oauth2_token WHERE app_id = $1 AND revoked_at IS NULL ORDER BY 1 LIMIT $2";
    tx.query_rows(sql, &[app.into(), limit.into()])
}

/// Permissions of the OAuth 1.0a tokens that are not revoked.
pub fn live_permissions(tx: &mut Tx<'_>, app: AppId, user: UserId) -> Result<Vec<String>, Fault> {
    let sql = "SELECT permission FROM oauth1_token WHERE app_id = $1 AND user_id = $2 AND revoked_at IS NULL";
    tx.query_rows(sql, &[app.into(), user.into()])
}

/// Scopes (space-separated) of each active OAuth 2.0 token, including refresh tokens.
pub fn live_scopes(tx: &mut Tx<'_>, app: AppId, user: UserId) -> Result<Vec<String>, Fault> {
    let sql = "SELECT scopes FROM oauth2_token WHERE user_id = $1 AND app_id = $2 \
               AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)";
    let args = [user.into(), app.into(), tx.now().into()];
    tx.query_rows(sql, &args)
}

/// Apps with active tokens of a user who granted them nothing, because an operator issued the tokens; with the times of
/// the first and the last token.
pub fn list_apps_without_grant(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<(AppId, Time, Time)>, Fault> {
    let sql = "SELECT app_id, MIN(created_at), MAX(created_at) FROM \
               (SELECT app_id, created_at FROM oauth1_token WHERE user_id = $1 AND revoked_at IS NULL \
               UNION ALL SELECT app_id, created_at FROM oauth2_token WHERE user_id = $1 AND revoked_at IS NULL \
               AND (expires_at IS NULL OR expires_at > $2)) AS token \
               WHERE NOT EXISTS (SELECT 1 FROM app_grant WHERE user_id = $1 AND app_grant.app_id = token.app_id) \
               GROUP BY app_id ORDER BY MIN(created_at), app_id";
    tx.query_rows(sql, &[user.into(), tx.now().into()])
}

/// Deletes at most `limit` OAuth 2.0 tokens that expired before a time; returns how many.
pub fn prune_oauth2(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM oauth2_token WHERE digest IN \
               (SELECT digest FROM oauth2_token WHERE expires_at < $1 LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()])
}

/// Deletes at most `limit` tokens of each kind that were revoked before a time and do not expire; returns how many.
pub fn prune_revoked(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let args = [before.into(), limit.into()];
    let oauth1 = "DELETE FROM oauth1_token WHERE digest IN \
                  (SELECT digest FROM oauth1_token WHERE revoked_at < $1 LIMIT $2)";
    let oauth2 = "DELETE FROM oauth2_token WHERE digest IN (SELECT digest FROM oauth2_token \
                  WHERE revoked_at < $1 AND expires_at IS NULL LIMIT $2)";
    Ok(tx.execute(oauth1, &args)? + tx.execute(oauth2, &args)?)
}
