//! Registered apps and their credentials.

use base::{AppId, Fault, Secret, Time, UserId};

use crate::Tx;
use crate::db::SqlRow;
use crate::db::stored_enum;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppStatus {
    Active,
    Suspended,
    Deleted,
}

stored_enum!(AppStatus "app state" { Active = 0, Suspended = 1, Deleted = 2 });

#[derive(Clone, Debug)]
pub struct App {
    pub id: AppId,
    pub owner_id: UserId,
    pub name: String,
    pub description: String,
    pub website_url: String,
    pub created_at: Time,
    pub state: AppStatus,
    /// OAuth 1.0a consumer key, and user name of app-only requests.
    pub api_key: String,
    pub api_secret: Secret,
    pub client_id: String,
    /// SHA-256; none for public clients.
    pub client_secret_digest: Option<Vec<u8>>,
    /// `web`, `automated`, `native` or `single-page`.
    pub kind: String,
    /// `read`, `write` or `messages`.
    pub permission: String,
    pub request_email: bool,
    pub sign_in: bool,
    /// `self-serve` or `enterprise`.
    pub access_level: String,
    /// Space-separated.
    pub entitlements: String,
    /// One per line.
    pub callback_urls: String,
    /// `posts`, `tweets` or empty.
    pub vocabulary: String,
}

macro_rules! columns {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "id, owner_id, name, description, website_url, created_at, state, api_key, api_secret, \
             client_id, client_secret_digest, kind, permission, request_email, sign_in, \
             access_level, entitlements, callback_urls, vocabulary",
            $after
        )
    };
}

/// The second value is the encrypted API secret.
fn app_from_row(row: &SqlRow<'_, '_>) -> Result<(App, Vec<u8>), Fault> {
    let app = App {
        id: row.id(0)?,
        owner_id: row.id(1)?,
        name: row.text(2)?,
        description: row.text(3)?,
        website_url: row.text(4)?,
        created_at: row.time(5)?,
        state: AppStatus::from_number(row.int(6)?)?,
        api_key: row.text(7)?,
        api_secret: Secret::new(""),
        client_id: row.text(9)?,
        client_secret_digest: row.opt_bytes(10)?,
        kind: row.text(11)?,
        permission: row.text(12)?,
        request_email: row.bool(13)?,
        sign_in: row.bool(14)?,
        access_level: row.text(15)?,
        entitlements: row.text(16)?,
        callback_urls: row.text(17)?,
        vocabulary: row.text(18)?,
    };
    Ok((app, row.bytes(8)?))
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
    let found = tx.query_row(columns!("SELECT ", " FROM app WHERE id = $1"), &[id.into()], app_from_row)?;
    decrypt_secret(tx, found)
}

/// In whatever state and no particular order.
pub fn names_by_ids(tx: &mut Tx<'_>, ids: &[AppId]) -> Result<Vec<(AppId, String)>, Fault> {
    let sql = "SELECT id, name FROM app WHERE id = $1";
    tx.query_by_ids(sql, ids, &[], |row| Ok((row.id(0)?, row.text(1)?)))
}

pub fn find_by_api_key(tx: &mut Tx<'_>, api_key: &str) -> Result<Option<App>, Fault> {
    let sql = columns!("SELECT ", " FROM app WHERE api_key = $1");
    let found = tx.query_row(sql, &[api_key.into()], app_from_row)?;
    decrypt_secret(tx, found)
}

pub fn find_by_client_id(tx: &mut Tx<'_>, client_id: &str) -> Result<Option<App>, Fault> {
    let sql = columns!("SELECT ", " FROM app WHERE client_id = $1");
    let found = tx.query_row(sql, &[client_id.into()], app_from_row)?;
    decrypt_secret(tx, found)
}

pub fn find_by_bearer(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<Option<App>, Fault> {
    let sql = columns!("SELECT ", " FROM app WHERE bearer_digest = $1");
    let found = tx.query_row(sql, &[digest.into()], app_from_row)?;
    decrypt_secret(tx, found)
}

/// Apps that are not deleted after an id, oldest first; of one owner or of all.
pub fn list(tx: &mut Tx<'_>, owner: Option<UserId>, after: AppId, limit: i64) -> Result<Vec<App>, Fault> {
    let sql =
        columns!("SELECT ", " FROM app WHERE (owner_id = $1 OR $1 = 0) AND id > $2 AND state < 2 ORDER BY id LIMIT $3");
    let owner = owner.map_or(0, UserId::get);
    let found = tx.query_rows(sql, &[owner.into(), after.into(), limit.into()], app_from_row)?;
    found.into_iter().filter_map(|pair| decrypt_secret(tx, Some(pair)).transpose()).collect()
}

/// Locks an app until the end of the transaction. A no-op on SQLite, which has a single writer.
pub fn lock(tx: &mut Tx<'_>, id: AppId) -> Result<(), Fault> {
    tx.lock_row("SELECT id FROM app WHERE id = $1 FOR UPDATE", &[id.into()])
}

pub fn insert(tx: &mut Tx<'_>, app: &App) -> Result<(), Fault> {
    let secret = tx.encrypt(&secret_encryption_context(app.id), app.api_secret.expose_secret())?;
    let sql = "INSERT INTO app (id, owner_id, name, description, website_url, created_at, state, \
               api_key, api_secret, client_id, client_secret_digest, kind, permission, \
               request_email, sign_in, access_level, entitlements, callback_urls, vocabulary) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)";
    let args = [
        app.id.into(),
        app.owner_id.into(),
        (&app.name).into(),
        (&app.description).into(),
        (&app.website_url).into(),
        app.created_at.into(),
        app.state.to_number().into(),
        (&app.api_key).into(),
        (&secret).into(),
        (&app.client_id).into(),
        app.client_secret_digest.as_ref().into(),
        (&app.kind).into(),
        (&app.permission).into(),
        app.request_email.into(),
        app.sign_in.into(),
        (&app.access_level).into(),
        (&app.entitlements).into(),
        (&app.callback_urls).into(),
        (&app.vocabulary).into(),
    ];
    tx.execute(sql, &args).map(|_| ())
}

/// Stores every mutable field.
pub fn update(tx: &mut Tx<'_>, app: &App) -> Result<(), Fault> {
    tx.mark_credentials_changed();
    let secret = tx.encrypt(&secret_encryption_context(app.id), app.api_secret.expose_secret())?;
    let sql = "UPDATE app SET name = $1, description = $2, website_url = $3, state = $4, \
               api_key = $5, api_secret = $6, client_secret_digest = $7, kind = $8, \
               permission = $9, request_email = $10, sign_in = $11, access_level = $12, \
               entitlements = $13, callback_urls = $14, vocabulary = $15 WHERE id = $16";
    let args = [
        (&app.name).into(),
        (&app.description).into(),
        (&app.website_url).into(),
        app.state.to_number().into(),
        (&app.api_key).into(),
        (&secret).into(),
        app.client_secret_digest.as_ref().into(),
        (&app.kind).into(),
        (&app.permission).into(),
        app.request_email.into(),
        app.sign_in.into(),
        (&app.access_level).into(),
        (&app.entitlements).into(),
        (&app.callback_urls).into(),
        (&app.vocabulary).into(),
        app.id.into(),
    ];
    tx.execute(sql, &args).map(|_| ())
}

pub fn bearer_token(tx: &mut Tx<'_>, id: AppId) -> Result<Option<Secret>, Fault> {
    let sql = "SELECT bearer FROM app WHERE id = $1";
    let encrypted = tx.query_row(sql, &[id.into()], |row| row.opt_bytes(0))?.flatten();
    encrypted.map(|encrypted| tx.decrypt(&bearer_encryption_context(id), &encrypted)).transpose()
}

pub fn set_bearer_token(tx: &mut Tx<'_>, id: AppId, bearer: Option<&Secret>) -> Result<(), Fault> {
    tx.mark_credentials_changed();
    let encrypted = match bearer {
        Some(bearer) => Some(tx.encrypt(&bearer_encryption_context(id), bearer.expose_secret())?),
        None => None,
    };
    let digest = bearer.map(|bearer| bearer.digest().to_vec());
    let sql = "UPDATE app SET bearer = $1, bearer_digest = $2 WHERE id = $3";
    tx.execute(sql, &[encrypted.as_ref().into(), digest.as_ref().into(), id.into()]).map(|_| ())
}
