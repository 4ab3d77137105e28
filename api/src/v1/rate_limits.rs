//! The caller's rate limits.

use std::collections::BTreeMap;

use base::{Credential, Error, Vocabulary};
use identity::apps::Caller;
use serde_json::{Map, Value, json};
use web::endpoint::Endpoint;
use web::request_context::{HttpReply, RequestContext};
use web::router::spell_path;

/// `GET /1.1/application/rate_limit_status.json`: the windows of 15 minutes, by family (the first part of the path). Does
/// not count as a call of what it lists.
pub(crate) async fn show_status(call: RequestContext) -> Result<HttpReply, Error> {
    let caller = call.require_caller()?;
    let families = call.raw_param("resources").split(',').map(str::trim).filter(|family| !family.is_empty());
    let families: Vec<&str> = families.collect();
    let mut resources: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for (number, endpoint) in call.state.endpoints.iter().enumerate() {
        let Some((family, name)) = resource_name(endpoint) else { continue };
        if !families.is_empty() && !families.contains(&family.as_str()) {
            continue;
        }
        if let Some(status) = window_status(&call, caller, endpoint, number) {
            resources.entry(family).or_default().insert(name, status);
        }
    }
    let context = rate_limit_context(&call, caller).await?;
    call.respond_json(&json!({ "rate_limit_context": context, "resources": resources }))
}

/// The caller's OAuth 1.0a token; the app's key for other credentials.
async fn rate_limit_context(call: &RequestContext, caller: &Caller) -> Result<Value, Error> {
    let (app, user, permission) = (caller.app_id, caller.user, caller.permission);
    let signed_by = user.filter(|_| caller.credential == Credential::OAuth1);
    call.read(move |tx| {
        if let Some(user) = signed_by
            && let Some(token) = store::tokens::find_live_oauth1(tx, app, user, permission.name())?
        {
            return Ok(json!({ "access_token": token.token.expose_secret() }));
        }
        Ok(json!({ "application": identity::apps::find(tx, app)?.api_key }))
    })
    .await
}

/// None if the operation refuses such credentials.
fn window_status(call: &RequestContext, caller: &Caller, endpoint: &Endpoint, number: usize) -> Option<Value> {
    if !endpoint.permit.accepts(caller.credential) {
        return None;
    }
    let window = call.state.caller_rate_limit(caller, number)?.common?;
    Some(json!({ "limit": window.limit, "remaining": window.remaining, "reset": window.reset }))
}

/// The family, and a name such as `/users/show`, `/users/:id` or `/users/:id/following&POST`; `None` for what is not part
/// of the v1.1 and v2 APIs.
fn resource_name(endpoint: &Endpoint) -> Option<(String, String)> {
    let path = spell_path(endpoint.path, Vocabulary::Tweet);
    let path = path.strip_prefix("/2/").or_else(|| path.strip_prefix("/1.1/"))?;
    let path = path.strip_suffix(".json").unwrap_or(path);
    let family = path.split('/').next()?.to_owned();
    let segments = path.split('/').map(|segment| match segment.strip_prefix('{') {
        Some(name) => format!(":{}", name.trim_end_matches('}')),
        None => segment.to_owned(),
    });
    let mut name = segments.fold(String::new(), |name, segment| format!("{name}/{segment}"));
    if endpoint.method != "GET" {
        name.push('&');
        name.push_str(endpoint.method);
    }
    Some((family, name))
}
