//! Registered applications and their keys.

use base::{AppId, Fault, Secret, Time, UserId};

use crate::Tx;
use crate::db::SqlRow;

/// Whether an app may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppStatus {
    /// It may.
    Active,
    /// An operator has suspended it.
    Suspended,
    /// It was deleted.
    Deleted,
}

impl AppStatus {
    const ALL: [Self; 3] = [Self::Active, Self::Suspended, Self::Deleted];

    fn to_number(self) -> i64 {
        match self {
            Self::Active => 0,
            Self::Suspended => 1,
            Self::Deleted => 2,
        }
    }

    fn from_number(number: i64) -> Result<Self, Fault> {
        let known = Self::ALL.into_iter().find(|state| state.to_number() == number);
        known.ok_or_else(|| Fault::new(format!("an app in state {number}")))
    }
}

/// An app as stored, with its consumer secret.
#[derive(Clone, Debug)]
pub struct App {
    /// Snowflake id.
    pub id: AppId,
    /// Who registered it.
    pub owner_id: UserId,
    /// Its name, shown to people.
    pub name: String,
    /// What it says it does.
    pub description: String,
    /// Its website.
    pub website_url: String,
    /// When it was registered.
    pub created_at: Time,
    /// Whether it may be used.
    pub state: AppStatus,
    /// API key: OAuth 1.0a consumer key and user name of app-only requests.
    pub api_key: String,
    /// API key secret.
    pub api_secret: Secret,
    /// OAuth 2.0 client id.
    pub client_id: String,
    /// SHA-256 of the OAuth 2.0 client secret; none for public clients.
    pub client_secret_digest: Option<Vec<u8>>,
    /// `web`, `automated`, `native` or `single-page`.
    pub kind: String,
    /// `read`, `write` or `messages`.
    pub permission: String,
    /// May ask for the user's email address.
    pub request_email: bool,
    /// May use sign-in with the service.
    pub sign_in: bool,
    /// `self-serve` or `enterprise`.
    pub access_level: String,
    /// Named entitlements, space-separated.
    pub entitlements: String,
    /// Registered callback URLs, one a line.
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

/// The app, and its secret still encrypted.
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
    let Some((mut app, sealed)) = found else {
        return Ok(None);
    };
    app.api_secret = tx.decrypt(&secret_encryption_context(app.id), &sealed)?;
    Ok(Some(app))
}

fn secret_encryption_context(id: AppId) -> String {
    format!("app.api_secret:{id}")
}

fn bearer_encryption_context(id: AppId) -> String {
    format!("app.bearer:{id}")
}

/// The app with an id, in whatever state.
pub fn find_by_id(tx: &mut Tx<'_>, id: AppId) -> Result<Option<App>, Fault> {
    let found = tx.query_row(
        columns!("SELECT ", " FROM app WHERE id = $1"),
        &[id.into()],
        app_from_row,
    )?;
    decrypt_secret(tx, found)
}

/// The names of these apps, in whatever state and no particular order.
pub fn names_by_ids(tx: &mut Tx<'_>, ids: &[AppId]) -> Result<Vec<(AppId, String)>, Fault> {
    let keys: Vec<_> = ids.iter().map(|id| id.get()).collect();
    let sql = "SELECT id, name FROM app WHERE id = $1";
    tx.query_by_keys(sql, &keys, &[], |row| Ok((row.id(0)?, row.text(1)?)))
}

/// The app with an API key, in whatever state.
pub fn find_by_api_key(tx: &mut Tx<'_>, api_key: &str) -> Result<Option<App>, Fault> {
    let sql = columns!("SELECT ", " FROM app WHERE api_key = $1");
    let found = tx.query_row(sql, &[api_key.into()], app_from_row)?;
    decrypt_secret(tx, found)
}

/// The app with an OAuth 2.0 client id, in whatever state.
pub fn find_by_client_id(tx: &mut Tx<'_>, client_id: &str) -> Result<Option<App>, Fault> {
    let sql = columns!("SELECT ", " FROM app WHERE client_id = $1");
    let found = tx.query_row(sql, &[client_id.into()], app_from_row)?;
    decrypt_secret(tx, found)
}

/// The app that an app-only bearer token belongs to, in whatever state.
pub fn find_by_bearer(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<Option<App>, Fault> {
    let sql = columns!("SELECT ", " FROM app WHERE bearer_digest = $1");
    let found = tx.query_row(sql, &[digest.into()], app_from_row)?;
    decrypt_secret(tx, found)
}

/// The apps after an id, oldest first; of one owner or of all.
pub fn list(tx: &mut Tx<'_>, owner: Option<UserId>, after: AppId, limit: i64) -> Result<Vec<App>, Fault> {
    let sql = columns!(
        "SELECT ",
        " FROM app WHERE (owner_id = $1 OR $1 = 0) AND id > $2 AND state < 2 ORDER BY id LIMIT $3"
    );
    let owner = owner.map_or(0, UserId::get);
    let found = tx.query_rows(sql, &[owner.into(), after.into(), limit.into()], app_from_row)?;
    found
        .into_iter()
        .filter_map(|pair| decrypt_secret(tx, Some(pair)).transpose())
        .collect()
}

/// Makes other work that locks the same app, or changes it, wait for this transaction's end. A
/// SQLite file has one writer, so there it waits already.
pub fn lock(tx: &mut Tx<'_>, id: AppId) -> Result<(), Fault> {
    if tx.is_shared() {
        let sql = "SELECT id FROM app WHERE id = $1 FOR UPDATE";
        tx.query_row(sql, &[id.into()], |_| Ok(()))?;
    }
    Ok(())
}

/// Registers an app.
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

/// Stores everything of an app that can change.
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

/// The app's live app-only bearer token.
pub fn bearer_token(tx: &mut Tx<'_>, id: AppId) -> Result<Option<Secret>, Fault> {
    let sql = "SELECT bearer FROM app WHERE id = $1";
    let sealed = tx.query_row(sql, &[id.into()], |row| row.opt_bytes(0))?.flatten();
    sealed
        .map(|sealed| tx.decrypt(&bearer_encryption_context(id), &sealed))
        .transpose()
}

/// Sets or, with none, forgets the app's app-only bearer token.
pub fn set_bearer_token(tx: &mut Tx<'_>, id: AppId, bearer: Option<&Secret>) -> Result<(), Fault> {
    tx.mark_credentials_changed();
    let sealed = match bearer {
        Some(bearer) => Some(tx.encrypt(&bearer_encryption_context(id), bearer.expose_secret())?),
        None => None,
    };
    let digest = bearer.map(|bearer| bearer.digest().to_vec());
    let sql = "UPDATE app SET bearer = $1, bearer_digest = $2 WHERE id = $3";
    tx.execute(sql, &[sealed.as_ref().into(), digest.as_ref().into(), id.into()])
        .map(|_| ())
}
