//! The OpenAPI document, generated from the declared operations.

use base::{Scope, Vocabulary};
use schema::json_schema::{array_schema, closed_object_schema, parameter_schema};
use schema::{Parameter, ParameterLocation};
use serde_json::{Map, Value, json};
use view::ObjectKind;

use crate::endpoint::{BodySpec, Endpoint, ErrorFormat, FieldNames, RateWindow};
use crate::router::spell_path;

mod ads;
mod objects;

use objects::{object_schema, schema_name};

/// Covers the built operations, or every declared one if `all`. Uses the posts vocabulary; `x-alias` lists
/// alternatives.
pub fn document(endpoints: &[&[Endpoint]], all: bool) -> Value {
    let shown = endpoints.iter().copied().flatten();
    // Pages are not part of the API.
    let shown = shown.filter(|endpoint| endpoint.error_format != ErrorFormat::Page);
    build_document(shown.filter(|endpoint| endpoint.handler.is_some() || all).collect())
}

/// Covers the Ads API only.
pub fn ads_document(endpoints: &[&[Endpoint]]) -> Value {
    let shown = endpoints.iter().copied().flatten();
    build_document(
        shown.filter(|endpoint| endpoint.error_format == ErrorFormat::Ads && endpoint.handler.is_some()).collect(),
    )
}

fn build_document(endpoints: Vec<&Endpoint>) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in &endpoints {
        let item = paths.entry(spell_path(endpoint.path, Vocabulary::Post)).or_insert_with(|| json!({}));
        if let Some(item) = item.as_object_mut() {
            item.insert(endpoint.method.to_lowercase(), operation_object(endpoint));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Locum",
            "description": "A social platform server.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT" },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": {
            "schemas": component_schemas(&endpoints),
            "responses": error_responses(),
            "securitySchemes": security_schemes(),
        },
    })
}

fn operation_object(endpoint: &Endpoint) -> Value {
    let mut object = Map::new();
    object.insert("operationId".into(), endpoint.id.into());
    object.insert("summary".into(), endpoint.summary.into());
    if endpoint.is_deprecated {
        object.insert("deprecated".into(), true.into());
    }
    let in_body = endpoint.ads.is_some_and(ads_engine::AdsOperation::takes_json);
    let params = endpoint.parameters().filter(|param| param.location == ParameterLocation::Path || !in_body);
    let params: Vec<_> = params.map(parameter_object).collect();
    if !params.is_empty() {
        object.insert("parameters".into(), params.into());
    }
    let body = match endpoint.ads {
        Some(declared) => ads::json_body(declared),
        None => request_body(endpoint.body),
    };
    if let Some(body) = body {
        object.insert("requestBody".into(), body);
    }
    object.insert("responses".into(), responses_object(endpoint));
    object.insert("security".into(), security_requirements(endpoint));
    if let Some(needed) = endpoint.required_entitlement {
        object.insert("x-entitlement".into(), needed.name().into());
    }
    let windows = |windows: &[RateWindow]| windows.iter().copied().map(window_json).collect::<Vec<_>>();
    let (app, user) = (windows(endpoint.limits.app), windows(endpoint.limits.user));
    let mut limits = json!({ "app": app, "user": user });
    if let Some(shared) = endpoint.limits.shared {
        let RateWindow { calls, seconds } = shared.window;
        let shared = json!({ "name": shared.name, "calls": calls, "seconds": seconds });
        limits = json!({ "app": app, "user": user, "shared": shared });
    }
    object.insert("x-rate-limits".into(), limits);
    let aliases = path_aliases(endpoint);
    if !aliases.is_empty() {
        object.insert("x-alias".into(), aliases.into());
    }
    if endpoint.handler.is_none() {
        object.insert("x-status".into(), "planned".into());
    }
    object.into()
}

fn window_json(window: RateWindow) -> Value {
    json!({ "calls": window.calls, "seconds": window.seconds })
}

fn path_aliases(endpoint: &Endpoint) -> Vec<String> {
    let shown = spell_path(endpoint.path, Vocabulary::Post);
    let mut spellings = Vec::new();
    for path in std::iter::once(&endpoint.path).chain(endpoint.aliases) {
        for vocabulary in [Vocabulary::Post, Vocabulary::Tweet] {
            let spelling = spell_path(path, vocabulary);
            if spelling != shown && !spellings.contains(&spelling) {
                spellings.push(spelling);
            }
        }
    }
    spellings
}

fn parameter_object(param: &Parameter) -> Value {
    let mut object = Map::new();
    object.insert("name".into(), param.name.post.into());
    let is_in_path = param.location == ParameterLocation::Path;
    object.insert("in".into(), if is_in_path { "path" } else { "query" }.into());
    object.insert("required".into(), param.is_required().into());
    if !param.summary.is_empty() {
        object.insert("description".into(), param.summary.into());
    }
    let aliases: Vec<_> = if is_in_path { param.aliases.to_vec() } else { param.names().skip(1).collect() };
    if !aliases.is_empty() {
        object.insert("x-alias".into(), aliases.into());
    }
    let schema = parameter_schema(param);
    if schema.get("type").is_some_and(|kind| kind == "array") {
        object.insert("style".into(), "form".into());
        object.insert("explode".into(), false.into());
    }
    object.insert("schema".into(), schema);
    object.into()
}

fn request_body(body: BodySpec) -> Option<Value> {
    let (types, members): (&[&str], _) = match body {
        BodySpec::None | BodySpec::Raw => return None,
        BodySpec::Json(members) => (&["application/json"], members),
        BodySpec::Form(members) => (&["application/x-www-form-urlencoded"], members),
        BodySpec::Multipart(members) => (&["application/json", "multipart/form-data"], members),
    };
    let schema = closed_object_schema(members);
    let content: Map<_, _> = types.iter().map(|of| ((*of).to_owned(), json!({ "schema": schema }))).collect();
    let required = members.iter().any(Parameter::is_required);
    Some(json!({ "required": required, "content": content }))
}

fn responses_object(endpoint: &Endpoint) -> Value {
    let success = json!({ "description": "Success.", "content": success_content(endpoint) });
    let refusal = match endpoint.error_format {
        ErrorFormat::V2 => "Problem",
        ErrorFormat::Legacy => "Legacy",
        ErrorFormat::OAuth2 => "OAuth2",
        ErrorFormat::Ads => "Ads",
        ErrorFormat::Page => "Page",
    };
    let refusal = json!({ "$ref": format!("#/components/responses/{refusal}") });
    let status = endpoint.success_status.to_string();
    Map::from_iter([(status, success), ("default".into(), refusal)]).into()
}

fn success_content(endpoint: &Endpoint) -> Value {
    if let Some(declared) = endpoint.ads {
        return ads::success_content(declared);
    }
    let signed_form = endpoint.path.starts_with("/oauth/");
    if signed_form || endpoint.error_format == ErrorFormat::Page {
        return json!({ "text/html": { "schema": { "type": "string" } } });
    }
    let Some(object) = main_object(endpoint).filter(|_| endpoint.handler.is_some()) else {
        return json!({ "application/json": { "schema": { "type": "object" } } });
    };
    let reference = json!({ "$ref": format!("#/components/schemas/{}", schema_name(object)) });
    let data =
        if returns_single_object(endpoint, object) { reference } else { array_schema(&reference, 0, usize::MAX) };
    let errors = array_schema(&json!({ "$ref": "#/components/schemas/Problem" }), 1, usize::MAX);
    json!({ "application/json": { "schema": {
        "type": "object",
        "properties": {
            "data": data,
            "includes": { "type": "object" },
            "meta": { "type": "object" },
            "errors": errors,
        },
    } } })
}

/// The object of a lookup: the first whose fields the caller may select.
fn main_object(endpoint: &Endpoint) -> Option<ObjectKind> {
    let fields = endpoint.parameters().find_map(|param| param.kind.downcast());
    fields.filter(|_| endpoint.method == "GET").map(|FieldNames(object)| *object)
}

/// Whether a response, or a line of a stream, carries one object.
fn returns_single_object(endpoint: &Endpoint, object: ObjectKind) -> bool {
    let path = endpoint.path;
    let has_single_path = path.ends_with('}') || path.ends_with("/me") || path.contains("/stream");
    let is_single_kind = object == ObjectKind::USAGE || object == ObjectKind::RULES_COUNT;
    is_single_kind || object != ObjectKind::TREND && has_single_path
}

fn security_requirements(endpoint: &Endpoint) -> Value {
    let permit = endpoint.permit;
    let scopes: Vec<_> = permit.scopes.iter().map(Scope::name).collect();
    let kinds = [
        (permit.oauth1, json!({ "UserToken": [] })),
        (permit.app, json!({ "BearerToken": [] })),
        (permit.oauth2, json!({ "OAuth2UserToken": scopes })),
        (permit.open, json!({})),
    ];
    kinds.into_iter().filter(|(accepted, _)| *accepted).map(|(_, kind)| kind).collect()
}

fn security_schemes() -> Value {
    let scopes: Map<_, _> = Scope::ALL.iter().map(|scope| (scope.name().to_owned(), scope.name().into())).collect();
    json!({
        "UserToken": { "type": "http", "scheme": "OAuth" },
        "BearerToken": { "type": "http", "scheme": "bearer" },
        "OAuth2UserToken": { "type": "oauth2", "flows": { "authorizationCode": {
            "authorizationUrl": "/i/oauth2/authorize",
            "tokenUrl": "/2/oauth2/token",
            "refreshUrl": "/2/oauth2/token",
            "scopes": scopes,
        } } },
    })
}

fn error_responses() -> Value {
    let of = |kind: &str, schema: &str| {
        let schema = json!({ "$ref": format!("#/components/schemas/{schema}") });
        json!({ "description": "An error.", "content": { kind: { "schema": schema } } })
    };
    json!({
        "Problem": of("application/problem+json", "Problem"),
        "Legacy": of("application/json", "LegacyErrors"),
        "OAuth2": of("application/json", "OAuth2Error"),
        "Ads": of("application/json", "AdsErrors"),
        "Page": {
            "description": "An error, as an HTML page.",
            "content": { "text/html": { "schema": { "type": "string" } } },
        },
    })
}

fn component_schemas(endpoints: &[&Endpoint]) -> Value {
    let mut schemas = error_schemas();
    let all = endpoints.iter().copied();
    for object in all.clone().filter_map(main_object) {
        schemas.entry(schema_name(object)).or_insert_with(|| object_schema(object));
    }
    let declared = all.filter_map(|endpoint| endpoint.ads);
    for resource in declared.filter_map(ads::response_resource) {
        schemas.entry(ads::resource_schema_name(resource)).or_insert_with(|| ads::resource_schema(resource));
    }
    schemas.into()
}

fn error_schemas() -> Map<String, Value> {
    let text = || json!({ "type": "string" });
    let coded = json!({ "type": "object", "properties": {
        "code": { "type": "integer" }, "message": text(),
    } });
    let named = json!({ "type": "object", "properties": {
        "code": text(), "message": text(), "parameter": text(),
    } });
    let problem = json!({
        "type": "object",
        "description": "RFC 7807; some problems have additional members.",
        "required": ["title", "type"],
        "properties": {
            "title": text(),
            "type": text(),
            "status": { "type": "integer" },
            "detail": text(),
            "errors": { "type": "array", "items": { "type": "object" } },
        },
    });
    let list = |of: Value| json!({ "type": "array", "items": of });
    Map::from_iter([
        ("Problem".into(), problem),
        ("LegacyErrors".into(), properties_schema(json!({ "errors": list(coded) }))),
        ("OAuth2Error".into(), properties_schema(json!({ "error": text(), "error_description": text() }))),
        ("AdsErrors".into(), properties_schema(json!({ "errors": list(named), "request": { "type": "object" } }))),
    ])
}

fn properties_schema(properties: Value) -> Value {
    let schema = [("type".into(), "object".into()), ("properties".into(), properties)];
    Map::from_iter(schema).into()
}
