//! OAuth 2.0: tokens for codes and for refresh tokens, and giving them up (contract §2.5).

use base::{Error, Refusal, Secret, VocabularyWord};
use http::header::{CACHE_CONTROL, HeaderValue};
use network::oauth2_flow::{
    self, ClientCredentials, CodeExchangeRequest, IssuedTokens, authenticate_client, exchange_code,
};
use serde_json::{Map, Value, json};

use super::basic::{Basic, basic};
use crate::call::{Call, Reply};
use crate::endpoint::Pending;

/// `POST /2/oauth2/token`.
pub(crate) fn issue(call: Call) -> Pending {
    Box::pin(async move {
        let (came, rules) = (credentials(&call)?, call.home.rules.clone());
        let granted = match told(&call, "grant_type").as_deref() {
            Some("authorization_code") => {
                let exchange = CodeExchangeRequest {
                    code: told(&call, "code"),
                    redirect_uri: told(&call, "redirect_uri"),
                    code_verifier: told(&call, "code_verifier"),
                };
                call.write(move |tx| {
                    let client = authenticate_client(tx, &came)?;
                    exchange_code(tx, &rules, &client, &exchange)
                })
                .await?
            }
            Some("refresh_token") => {
                let (token, scope) = (told(&call, "refresh_token"), told(&call, "scope"));
                call.write(move |tx| {
                    let client = authenticate_client(tx, &came)?;
                    oauth2_flow::refresh_tokens(
                        tx,
                        &rules,
                        &client,
                        token.as_deref(),
                        scope.as_deref(),
                    )
                })
                .await?
            }
            Some(_) => return Err(unsupported().into()),
            None => return Err(missing("grant_type").into()),
        };
        say(&call, &granted.into_result()?)
    })
}

/// `POST /2/oauth2/revoke`.
pub(crate) fn revoke(call: Call) -> Pending {
    Box::pin(async move {
        let (came, token) = (credentials(&call)?, told(&call, "token"));
        call.write(move |tx| {
            let client = authenticate_client(tx, &came)?;
            oauth2_flow::revoke_token(tx, &client, token.as_deref())
        })
        .await?;
        Ok(unkept(call.say_whole(&json!({ "revoked": true }))?))
    })
}

fn say(call: &Call, granted: &IssuedTokens) -> Result<Reply, Error> {
    let mut body = Map::new();
    body.insert("token_type".to_owned(), "bearer".into());
    body.insert("expires_in".to_owned(), granted.expires_in.into());
    body.insert(
        "access_token".to_owned(),
        granted.access.expose_secret().into(),
    );
    body.insert("scope".to_owned(), granted.scopes.to_string().into());
    if let Some(refresh) = &granted.refresh {
        body.insert("refresh_token".to_owned(), refresh.expose_secret().into());
    }
    Ok(unkept(call.say_whole(&Value::Object(body))?))
}

/// Tokens are kept by nobody on the way.
fn unkept(reply: Reply) -> Reply {
    reply.header(CACHE_CONTROL, HeaderValue::from_static("no-store"))
}

/// A member of the form, or of a JSON body: released clients send either (clients of both kinds).
fn told(call: &Call, name: &'static str) -> Option<String> {
    let told = call.body().text_if(VocabularyWord::same_in_both(name));
    told.filter(|text| !text.is_empty()).map(str::to_owned)
}

fn credentials(call: &Call) -> Result<ClientCredentials, Error> {
    let basic = match basic(&call.head().headers) {
        Basic::Absent => None,
        Basic::Pair(id, secret) => Some((id, Secret::new(secret))),
        Basic::Garbled => {
            let description = "Missing valid authorization header".into();
            return Err(Refusal::OAuth2 {
                error: "unauthorized_client",
                description,
            }
            .into());
        }
    };
    let id = told(call, "client_id");
    let secret = told(call, "client_secret").map(Secret::new);
    Ok(ClientCredentials {
        basic,
        id,
        secret,
        address: call.address(),
    })
}

fn unsupported() -> Refusal {
    let description = "Value passed for the grant type was invalid.".into();
    Refusal::OAuth2 {
        error: "unsupported_grant_type",
        description,
    }
}

fn missing(parameter: &str) -> Refusal {
    let description = format!("Missing required parameter [{parameter}].").into();
    Refusal::OAuth2 {
        error: "invalid_request",
        description,
    }
}
