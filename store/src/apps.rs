//! Registered apps and their credentials.

use base::{AppId, Entitlement, Fault, Secret, Time, UserId};

use crate::Tx;
use crate::credential_versions::CredentialKey;
use crate::db::{insert, row, select, stored_enum, stored_name_enum, table, update};

stored_enum! {
    pub enum AppStatus {
        Active = 0,
        Suspended = 1,
        Deleted = 2,
    }
}

stored_name_enum! {
    /// The OAuth 1.0a access level; each includes the previous ones.
    pub enum Permission {
        Read = "read",
        Write = "write",
        Messages = "messages",
    }
}

stored_name_enum! {
    pub enum OAuthClientKind {
        /// Confidential.
        Web = "web",
        /// A bot; confidential.
        Automated = "automated",
        /// Public.
        Native = "native",
        /// Public.
        SinglePage = "single-page",
    }
}

stored_name_enum! {
    pub enum AccessLevel {
        /// Pay per use.
        SelfServe = "self-serve",
        Enterprise = "enterprise",
    }
}

impl OAuthClientKind {
    /// Whether the client has a secret.
    pub const fn is_confidential(self) -> bool {
        matches!(self, Self::Web | Self::Automated)
    }
}

impl AccessLevel {
    /// Default entitlements of the tier. Operators can add others, such as the full archive, per app.
    pub const fn default_entitlements(self) -> &'static [Entitlement] {
        match self {
            Self::SelfServe => &[Entitlement::Blocks, Entitlement::FollowsAndLikes, Entitlement::Ads],
            // Conversion reporting, by which advertisers are charged, is granted per app.
            Self::Enterprise => {
                &[Entitlement::FullArchive, Entitlement::Blocks, Entitlement::FollowsAndLikes, Entitlement::Ads]
            }
        }
    }
}

table! {
    #[derive(Clone, Debug)]
    pub struct App in "app" {
        pub id: AppId,
        pub owner_id: UserId,
        pub name: String,
        pub description: String,
        pub website_url: String,
        pub created_at: Time,
        pub state: AppStatus,
        /// OAuth 1.0a consumer key, and user name of app-only requests.
        pub api_key: String,
        pub client_id: String,
        /// SHA-256; none for public clients.
        pub client_secret_digest: Option<Vec<u8>>,
        pub kind: OAuthClientKind,
        pub permission: Permission,
        pub request_email: bool,
        pub sign_in: bool,
        pub access_level: AccessLevel,
        /// Space-separated.
        pub entitlements: String,
        /// One per line.
        pub callback_urls: String,
        /// `posts`, `tweets` or empty.
        pub vocabulary: String,
    }
    transient {
        /// Decrypted after reading.
        pub api_secret: Secret,
    }
}

fn decrypt_secret(tx: &Tx<'_>, found: Option<(App, Vec<u8>)>) -> Result<Option<App>, Fault> {
    let Some((mut app, encrypted)) = found else {
        return Ok(None);
    };
    app.api_secret = tx.decrypt(&secret_encryption_context(app.id), &encrypted)?;
    Ok(Some(app))
}

fn secret_encryption_context(id: AppId) -> String {
    format!("app.api_secret:{id}")
}

fn bearer_encryption_context(id: AppId) -> String {
    format!("app.bearer:{id}")
}

/// In whatever state; so are the other `find_*`.
pub fn find_by_id(tx: &mut Tx<'_>, id: AppId) -> Result<Option<App>, Fault> {
    let found = tx.query_row(select!(App + "api_secret", "WHERE id = $1"), &[id.into()])?;
    decrypt_secret(tx, found)
}

/// In whatever state and no particular order.
pub fn names_by_ids(tx: &mut Tx<'_>, ids: &[AppId]) -> Result<Vec<(AppId, String)>, Fault> {
    let sql = "SELECT id, name FROM app WHERE id = $1";
    tx.query_by_ids(sql, ids, &[])
}

pub fn find_by_api_key(tx: &mut Tx<'_>, api_key: &str) -> Result<Option<App>, Fault> {
    let sql = select!(App + "api_secret", "WHERE api_key = $1");
    let found = tx.query_row(sql, &[api_key.into()])?;
    decrypt_secret(tx, found)
}

pub fn find_by_client_id(tx: &mut Tx<'_>, client_id: &str) -> Result<Option<App>, Fault> {
    let sql = select!(App + "api_secret", "WHERE client_id = $1");
    let found = tx.query_row(sql, &[client_id.into()])?;
    decrypt_secret(tx, found)
}

pub fn find_by_bearer(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<Option<App>, Fault> {
    let sql = select!(App + "api_secret", "WHERE bearer_digest = $1");
    let found = tx.query_row(sql, &[digest.into()])?;
    decrypt_secret(tx, found)
}

row! {
    /// What people see of an app in lists of others.
    #[derive(Clone, Debug)]
    pub struct AppName from "app" {
        pub owner_id: UserId,
        pub name: String,
    }
}

/// Active apps of everybody but one owner, oldest first.
pub fn list_names_of_others(tx: &mut Tx<'_>, owner: UserId, limit: i64) -> Result<Vec<AppName>, Fault> {
    tx.query_rows(
        select!(AppName, "WHERE owner_id <> $1 AND state = 0 ORDER BY id LIMIT $2"),
        &[owner.into(), limit.into()],
    )
}

/// Apps that are not deleted after an id, oldest first; of one owner or of all.
pub fn list(tx: &mut Tx<'_>, owner: Option<UserId>, after: AppId, limit: i64) -> Result<Vec<App>, Fault> {
    let sql =
        select!(App + "api_secret", "WHERE (owner_id = $1 OR $1 = 0) AND id > $2 AND state < 2 ORDER BY id LIMIT $3");
    let owner = owner.map_or(0, UserId::get);
    let found = tx.query_rows(sql, &[owner.into(), after.into(), limit.into()])?;
    found.into_iter().filter_map(|pair| decrypt_secret(tx, Some(pair)).transpose()).collect()
}

/// Locks an app until the end of the transaction. A no-op on SQLite, which has a single writer.
pub fn lock(tx: &mut Tx<'_>, id: AppId) -> Result<(), Fault> {
    tx.lock_row("SELECT id FROM app WHERE id = $1 FOR UPDATE", &[id.into()])
}

pub fn insert(tx: &mut Tx<'_>, app: &App) -> Result<(), Fault> {
    let secret = tx.encrypt(&secret_encryption_context(app.id), app.api_secret.expose_secret())?;
    insert!(tx, App, app, api_secret = &secret)
}

/// Stores every mutable field.
pub fn update(tx: &mut Tx<'_>, app: &App) -> Result<(), Fault> {
    tx.invalidate_credentials(CredentialKey::App(app.id))?;
    let secret = tx.encrypt(&secret_encryption_context(app.id), app.api_secret.expose_secret())?;
    update!(
        tx, "app",
        app: [
            name, description, website_url, state, api_key, client_secret_digest, kind, permission, request_email,
            sign_in, access_level, entitlements, callback_urls, vocabulary
        ],
        [api_secret = &secret],
        id = app.id
    )
}

pub fn bearer_token(tx: &mut Tx<'_>, id: AppId) -> Result<Option<Secret>, Fault> {
    let sql = "SELECT bearer FROM app WHERE id = $1";
    let encrypted = tx.query_row::<Option<Vec<u8>>>(sql, &[id.into()])?.flatten();
    encrypted.map(|encrypted| tx.decrypt(&bearer_encryption_context(id), &encrypted)).transpose()
}

pub fn set_bearer_token(tx: &mut Tx<'_>, id: AppId, bearer: Option<&Secret>) -> Result<(), Fault> {
    tx.invalidate_credentials(CredentialKey::App(id))?;
    let encrypted = match bearer {
        Some(bearer) => Some(tx.encrypt(&bearer_encryption_context(id), bearer.expose_secret())?),
        None => None,
    };
    let digest = bearer.map(|bearer| bearer.digest().to_vec());
    let sql = "UPDATE app SET bearer = $1, bearer_digest = $2 WHERE id = $3";
    tx.execute_later(sql, &[encrypted.as_ref().into(), digest.as_ref().into(), id.into()])
}

/// Replaces the names that an app's clients give themselves.
pub fn replace_client_names(tx: &mut Tx<'_>, id: AppId, api_key: &str, client_id: &str) -> Result<(), Fault> {
    tx.invalidate_credentials(CredentialKey::App(id))?;
    let sql = "UPDATE app SET api_key = $1, client_id = $2 WHERE id = $3";
    tx.execute_later(sql, &[api_key.into(), client_id.into(), id.into()])
}
