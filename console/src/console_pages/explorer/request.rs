//! The request that a form describes. Everything that was entered is percent-encoded, JSON or a form, so that no text
//! reaches a header.

use base::Vocabulary;
use base::percent::encode;
use portal::PageQuery;
use serde_json::{Map, Value};
use web::endpoint::Endpoint;
use web::request_context::SANDBOX_PREFIX;
use web::router::spell_path;

use super::fields::{BodyKind, FieldPlace, OperationField, body_kind, json_value};

/// Of all fields together.
const MAX_FORM_BYTES: usize = 200_000;
/// Of the path with the query, below what the listener accepts.
const MAX_TARGET_BYTES: usize = 8_000;

pub(super) struct ApiRequest {
    pub(super) method: &'static str,
    /// The path and the query.
    pub(super) target: String,
    pub(super) body: String,
    /// None without a body.
    pub(super) content_type: Option<&'static str>,
}

impl ApiRequest {
    pub(super) fn path_and_query(&self) -> (&str, &str) {
        self.target.split_once('?').unwrap_or((&self.target, ""))
    }
}

/// The form name of the field that is wrong, or empty, and what is wrong with it.
pub(super) type FieldProblem = (String, String);

pub(super) fn build_request(
    endpoint: &'static Endpoint,
    fields: &[OperationField],
    vocabulary: Vocabulary,
    form: &PageQuery,
) -> Result<ApiRequest, FieldProblem> {
    if form.pairs().map(|(_, value)| value.len()).sum::<usize>() > MAX_FORM_BYTES {
        return Err((String::new(), format!("The fields are longer than {MAX_FORM_BYTES} bytes together.")));
    }
    let prefix = if is_sandbox_call(endpoint, form) { SANDBOX_PREFIX } else { "" };
    let mut path = format!("{prefix}{}", spell_path(endpoint.path, vocabulary));
    let mut query: Vec<String> = Vec::new();
    let mut members: Vec<(&'static str, Value, &str)> = Vec::new();
    for field in fields {
        let form_name = field.form_name();
        let value = form.get(&form_name);
        let name = field.wire_name(vocabulary);
        match (field.place, value) {
            (FieldPlace::Path, None) => return Err((form_name, "Enter a value: it is a part of the path.".to_owned())),
            (FieldPlace::Path, Some(value)) => {
                path = path.replace(&format!("{{{}}}", field.parameter.name.post), &encode(value));
            }
            (_, None) => {}
            (FieldPlace::Query, Some(value)) => query.push(format!("{}={}", encode(name), encode(value))),
            (FieldPlace::Body, Some(value)) => members.push((name, json_value(field.parameter.kind, value), value)),
        }
    }
    let target = if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) };
    if target.len() > MAX_TARGET_BYTES {
        return Err((String::new(), format!("The address is longer than {MAX_TARGET_BYTES} bytes.")));
    }
    let (body, content_type) = build_body(endpoint, members, form.get("json"));
    Ok(ApiRequest { method: endpoint.method, target, body, content_type })
}

/// Some operations of the Ads API exist in its sandbox only.
pub(super) fn is_sandbox_call(endpoint: &Endpoint, form: &PageQuery) -> bool {
    endpoint.ads.is_some_and(|operation| operation.sandbox_only || form.get("sandbox").is_some())
}

fn build_body(
    endpoint: &Endpoint,
    members: Vec<(&'static str, Value, &str)>,
    json: Option<&str>,
) -> (String, Option<&'static str>) {
    match body_kind(endpoint) {
        BodyKind::None => (String::new(), None),
        BodyKind::Form => {
            let pairs: Vec<String> =
                members.iter().map(|(name, _, text)| format!("{}={}", encode(name), encode(text))).collect();
            (pairs.join("&"), Some("application/x-www-form-urlencoded"))
        }
        BodyKind::Json => {
            let object: Map<String, Value> =
                members.into_iter().map(|(name, value, _)| (name.to_owned(), value)).collect();
            let body = match json {
                // Sent as it is, so that the refusal of a malformed body can be seen.
                Some(json) => json.to_owned(),
                None if object.is_empty() => String::new(),
                None => Value::Object(object).to_string(),
            };
            let content_type = (!body.is_empty()).then_some("application/json");
            (body, content_type)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::operation_fields;
    use super::*;
    use web::endpoint::{BodySpec, Kind, Parameter};

    static FIND: Endpoint = Endpoint::new("find", "GET", "/2/<posts>/{id}").params(&[&[
        Parameter::path("id", Kind::text(0, 64), "The id."),
        Parameter::query("max_results", Kind::text(0, 64), "How many."),
    ]]);
    static CREATE: Endpoint = Endpoint::new("create", "POST", "/2/<posts>").body(BodySpec::Json(&[
        Parameter::member("text", Kind::text(0, 9)),
        Parameter::member("nullcast", Kind::BOOL),
    ]));

    fn form(pairs: &[(&str, &str)]) -> PageQuery {
        let pairs: Vec<_> = pairs.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
        PageQuery::parse(&pairs.join("&")).unwrap()
    }

    fn build(endpoint: &'static Endpoint, pairs: &[(&str, &str)]) -> Result<ApiRequest, FieldProblem> {
        build_request(endpoint, &operation_fields(endpoint), Vocabulary::Tweet, &form(pairs))
    }

    #[test]
    fn entered_texts_cannot_leave_their_place_in_the_address() {
        let request =
            build(&FIND, &[("path.id", "1\r\nhost: evil/../x?y#z"), ("query.max_results", "5&a=b\r\n")]).unwrap();
        assert_eq!(request.target, "/2/tweets/1%0D%0Ahost%3A%20evil%2F..%2Fx%3Fy%23z?max_results=5%26a%3Db%0D%0A");
    }

    #[test]
    fn a_missing_part_of_the_path_is_named() {
        let problem = build(&FIND, &[]).err().unwrap();
        assert_eq!(problem.0, "path.id");
    }

    #[test]
    fn oversize_input_is_refused() {
        let long = "x".repeat(MAX_TARGET_BYTES);
        assert!(build(&FIND, &[("path.id", &long)]).is_err());
        assert!(build(&CREATE, &[("body.text", &"x".repeat(MAX_FORM_BYTES + 1))]).is_err());
    }

    #[test]
    fn fields_become_a_json_body_unless_one_is_given() {
        let request = build(&CREATE, &[("body.text", "hi"), ("body.nullcast", "true")]).unwrap();
        assert_eq!(request.body, r#"{"nullcast":true,"text":"hi"}"#);
        assert_eq!(request.content_type, Some("application/json"));
        let raw = build(&CREATE, &[("body.text", "hi"), ("json", "{broken")]).unwrap();
        assert_eq!(raw.body, "{broken");
        assert_eq!(build(&CREATE, &[]).unwrap().content_type, None);
    }
}
