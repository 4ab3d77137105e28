//! `locum token`.

use std::time::Duration;

use base::refusal::RefusalKind;
use base::{Error, Refusal, Scopes};
use clap::{Args, Subcommand};
use identity::tokens::{self, InspectedToken, TokenState};
use network::audit::AuditAction;
use serde_json::{Value, json};
use store::Tx;

use super::request::LocalInputs;
use super::{apps::parse_word, audit, find};
use crate::Instance;
use crate::command_error::CommandError;

#[derive(Clone, Debug, Subcommand)]
pub enum TokenCommand {
    /// Create a user's token for an app and print it once
    Mint(MintTokenArgs),
    /// Describe a token and whether it is valid
    Inspect {
        /// The token, or - to read it from stdin
        token: String,
    },
    /// Expire an OAuth 2.0 token now, or all access tokens of an app for a user
    Expire(ExpireTokenArgs),
    /// Show the tokens of one authorization: when each was issued, used and revoked
    Family {
        /// A token of the authorization, or - to read it from stdin
        token: String,
    },
    /// Revoke a token and its refresh token family
    Revoke {
        /// The token, or - to read it from stdin
        token: String,
    },
}

#[derive(Args, Clone, Debug)]
pub struct ExpireTokenArgs {
    /// The token, or - to read it from stdin
    #[arg(required_unless_present = "app", conflicts_with_all = ["app", "user"])]
    token: Option<String>,
    /// The app whose access tokens expire: id, API key, client id or name
    #[arg(long, requires = "user")]
    app: Option<String>,
    /// The user whose access tokens expire: @username or id
    #[arg(long, requires = "app")]
    user: Option<String>,
}

#[derive(Args, Clone, Debug)]
pub struct MintTokenArgs {
    /// The app: id, API key, client id or name
    #[arg(long)]
    app: String,
    /// The user: @username or id
    #[arg(long)]
    user: String,
    /// Create an OAuth 1.0a token and secret instead of an OAuth 2.0 token
    #[arg(long)]
    oauth1: bool,
    /// The permission of an OAuth 1.0a token: read, write or messages [default: the app's permission]
    #[arg(long, requires = "oauth1")]
    permission: Option<String>,
    /// The scopes of an OAuth 2.0 token, separated by spaces or commas [default: all]
    #[arg(long, conflicts_with = "oauth1")]
    scopes: Option<String>,
    /// The lifetime of an OAuth 2.0 token: 2h, 30d, or never [default: `auth.oauth2_access_ttl` of the
    /// configuration]
    #[arg(long, conflicts_with = "oauth1")]
    ttl: Option<String>,
}

impl TokenCommand {
    pub(super) fn read_token(&mut self, inputs: &mut LocalInputs) -> Result<(), CommandError> {
        match self {
            Self::Mint(_) => Ok(()),
            Self::Inspect { token } | Self::Family { token } | Self::Revoke { token } => {
                read_stdin_token(token, inputs)
            }
            Self::Expire(args) => args.token.as_mut().map_or(Ok(()), |token| read_stdin_token(token, inputs)),
        }
    }
}

fn read_stdin_token(token: &mut String, inputs: &mut LocalInputs) -> Result<(), CommandError> {
    if token == "-" {
        inputs.read_stdin_line()?.trim_end().clone_into(token);
    }
    Ok(())
}

pub(super) async fn execute(instance: &Instance, command: TokenCommand) -> Result<Value, Error> {
    let store = &instance.store;
    match command {
        TokenCommand::Mint(mint) => {
            let ttl = token_lifetime(&mint, instance.settings.auth.oauth2_access_ttl.0)?;
            instance.write(move |tx| mint_token(tx, &mint, ttl)).await
        }
        TokenCommand::Inspect { token } => store.read(move |tx| inspect_token(tx, &token)).await,
        TokenCommand::Expire(args) => instance.write(move |tx| expire_tokens(tx, &args)).await,
        TokenCommand::Family { token } => store.read(move |tx| show_family(tx, &token)).await,
        TokenCommand::Revoke { token } => {
            let revoked = instance.write(move |tx| tokens::revoke(tx, &token));
            revoked.await.map(|()| json!({"revoked": true}))
        }
    }
}

fn expire_tokens(tx: &mut Tx<'_>, args: &ExpireTokenArgs) -> Result<Value, Error> {
    if let Some(token) = &args.token {
        find_token(tx, token)?;
        record_audit(tx, AuditAction::TOKEN_EXPIRE, token)?;
        tokens::expire(tx, token)?;
        return Ok(json!({"expired": true}));
    }
    let app = find::app(tx, args.app.as_deref().unwrap_or_default())?;
    let user = find::user(tx, args.user.as_deref().unwrap_or_default())?;
    let expired = tokens::expire_app_access(tx, app.id, user.id)?;
    if expired == 0 {
        let message = format!("@{} has no active OAuth 2.0 access token of [{}]", user.username, app.name);
        return Err(Refusal::named_reason(RefusalKind::Conflict, "user", &user.username, message).into());
    }
    let detail = json!({"user": user.id.to_string(), "tokens": expired});
    audit::record(tx, AuditAction::TOKEN_EXPIRE, Some(app.id), &detail)?;
    Ok(json!({"expired": true, "app": app.name, "username": user.username, "access_tokens": expired}))
}

/// Names tokens by their ids in the log, never by their texts.
fn show_family(tx: &mut Tx<'_>, token: &str) -> Result<Value, Error> {
    find_token(tx, token)?;
    let family = tokens::list_family(tx, token)?;
    let rows = family.iter().map(|one| {
        let is_used = one.state == TokenState::Used;
        let ended_at = one.token.revoked_at.map(|at| at.to_string());
        json!({
            "id": one.token.id.to_string(),
            "generation": one.generation,
            "kind": one.token.kind,
            "state": one.state.name(),
            "issued_at": one.token.created_at.to_string(),
            "expires_at": one.token.expires_at.map(|at| at.to_string()),
            "used_at": ended_at.as_ref().filter(|_| is_used),
            "revoked_at": ended_at.as_ref().filter(|_| !is_used),
            "given": one.is_given,
        })
    });
    let rows: Vec<Value> = rows.collect();
    let first = family.first().map(|one| &one.token);
    Ok(json!({
        "family": first.map(|token| token.family.to_string()),
        "app_id": first.map(|token| token.app_id.to_string()),
        "user_id": first.map(|token| token.user_id.to_string()),
        "tokens": rows,
    }))
}

/// Records the token's owner, never its text.
fn record_audit(tx: &mut Tx<'_>, kind: AuditAction, token: &str) -> Result<(), Error> {
    let (app, user) = match tokens::inspect(tx, token)? {
        Some(InspectedToken::Bearer(app)) => (Some(app), None),
        Some(InspectedToken::OAuth1(token)) => (Some(token.app_id), Some(token.user_id)),
        Some(InspectedToken::OAuth2(token)) => (Some(token.app_id), Some(token.user_id)),
        None => (None, None),
    };
    let detail = json!({"user": user.map(|user| user.to_string())});
    Ok(audit::record(tx, kind, app, &detail)?)
}

fn token_lifetime(mint: &MintTokenArgs, usual: Duration) -> Result<Option<i64>, Error> {
    let span = match mint.ttl.as_deref() {
        None => usual,
        Some("never") => return Ok(None),
        Some(text) => crate::config::parse_duration(text).ok_or_else(|| {
            Refusal::invalid_parameter("ttl", text, format!("[{text}] is not a duration such as 2h, 30d or never"))
        })?,
    };
    Ok(Some(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
}

fn mint_token(tx: &mut Tx<'_>, mint: &MintTokenArgs, ttl: Option<i64>) -> Result<Value, Error> {
    let app = find::app(tx, &mint.app)?;
    let user = find::user(tx, &mint.user)?;
    let mut value = json!({"app": app.name, "user_id": user.id.to_string(), "username": user.username});
    let shown = if mint.oauth1 {
        let permission = match &mint.permission {
            Some(word) => parse_word("permission", word)?,
            None => app.permission,
        };
        let (token, secret) = tokens::mint_oauth1(tx, app.id, user.id, permission)?;
        vec![
            ("permission", permission.name().to_owned()),
            ("access_token", token.expose_secret().to_owned()),
            ("access_token_secret", secret.expose_secret().to_owned()),
        ]
    } else {
        let scopes = parse_scopes(mint.scopes.as_deref())?;
        let token = tokens::mint_oauth2(tx, app.id, user.id, scopes, ttl)?;
        let until = ttl.map_or("never".to_owned(), |ttl| tx.now().plus_ms(ttl).to_string());
        vec![("scopes", scopes.to_string()), ("expires_at", until), ("token", token.expose_secret().to_owned())]
    };
    let kind = if mint.oauth1 { "oauth1" } else { "oauth2" };
    let detail = json!({"user": user.id.to_string(), "kind": kind});
    audit::record(tx, AuditAction::TOKEN_MINT, Some(app.id), &detail)?;
    if let Some(map) = value.as_object_mut() {
        let shown = shown.into_iter().map(|(name, text)| (name.to_owned(), Value::String(text)));
        map.extend(shown);
    }
    Ok(value)
}

fn parse_scopes(text: Option<&str>) -> Result<Scopes, Refusal> {
    let Some(text) = text else {
        return Ok(tokens::all_scopes());
    };
    Scopes::parse(&text.replace(',', " "))
        .map_err(|name| Refusal::invalid_parameter("scopes", &name, format!("unknown scope [{name}]")))
}

fn find_token(tx: &mut Tx<'_>, token: &str) -> Result<InspectedToken, Error> {
    tokens::inspect(tx, token)?.ok_or_else(|| find::not_found("token", "…"))
}

fn inspect_token(tx: &mut Tx<'_>, token: &str) -> Result<Value, Error> {
    let now = tx.now();
    Ok(match find_token(tx, token)? {
        InspectedToken::Bearer(app) => {
            json!({"kind": "OAuth 2.0 app-only bearer", "app_id": app.to_string(), "valid": true})
        }
        InspectedToken::OAuth1(token) => json!({
            "kind": "OAuth 1.0a access token",
            "app_id": token.app_id.to_string(),
            "user_id": token.user_id.to_string(),
            "permission": token.permission,
            "created_at": token.created_at.to_string(),
            "revoked_at": token.revoked_at.map(|at| at.to_string()),
            "valid": token.revoked_at.is_none(),
        }),
        InspectedToken::OAuth2(token) => json!({
            "kind": format!("OAuth 2.0 {} token", token.kind),
            "app_id": token.app_id.to_string(),
            "user_id": token.user_id.to_string(),
            "scopes": token.scopes,
            "created_at": token.created_at.to_string(),
            "expires_at": token.expires_at.map(|at| at.to_string()),
            "revoked_at": token.revoked_at.map(|at| at.to_string()),
            "valid": token.revoked_at.is_none() && token.expires_at.is_none_or(|at| at > now),
        }),
    })
}
