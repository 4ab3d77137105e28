//! Assertions as JSON objects, or in their short form.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::assertion::{BodyCondition, CountComparison};
use super::{BodyCheck, CountCheck, JsonPath, RequestAssertion, RequestFilter, parse_assertion};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AssertionDocument {
    #[serde(default, rename = "match")]
    filter: FilterDocument,
    #[serde(default)]
    count: Option<CountDocument>,
    #[serde(default)]
    request: Vec<BodyDocument>,
    #[serde(default)]
    response: Vec<BodyDocument>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FilterDocument {
    method: Option<String>,
    path: Option<String>,
    route: Option<String>,
    operation: Option<String>,
    status: Option<Value>,
    app: Option<String>,
    user: Option<String>,
    label: Option<String>,
    fault: Option<String>,
    text: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum CountDocument {
    Exactly(usize),
    Comparisons(BTreeMap<String, usize>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyDocument {
    path: String,
    #[serde(default)]
    equals: Option<Value>,
    #[serde(default)]
    differs: Option<Value>,
    #[serde(default)]
    exists: Option<bool>,
}

/// Reads a text as the short form and an object as the long one; the error says what is accepted.
pub fn read_assertion(value: &Value) -> Result<RequestAssertion, String> {
    if let Some(text) = value.as_str() {
        return parse_assertion(text).map_err(|error| error.to_string());
    }
    let document: AssertionDocument =
        serde_json::from_value(value.clone()).map_err(|error| format!("{error}; a check is a text or an object"))?;
    Ok(RequestAssertion {
        filter: read_filter(document.filter)?,
        request_checks: read_body_checks(document.request)?,
        response_checks: read_body_checks(document.response)?,
        counts: read_counts(document.count)?,
    })
}

fn read_filter(document: FilterDocument) -> Result<RequestFilter, String> {
    let FilterDocument { method, path, route, operation, status, app, user, label, fault, text } = document;
    let status = match status {
        None => None,
        Some(Value::String(text)) => Some(text.parse().map_err(|accepted| format!("status: expected {accepted}"))?),
        Some(other) => Some(other.to_string().parse().map_err(|accepted| format!("status: expected {accepted}"))?),
    };
    let filter = RequestFilter {
        method,
        path,
        operation,
        status,
        app,
        user,
        label,
        injected_fault: fault,
        text,
        ..RequestFilter::default()
    };
    Ok(match route {
        Some(route) => filter.with_route(&route),
        None => filter,
    })
}

fn read_counts(document: Option<CountDocument>) -> Result<Vec<CountCheck>, String> {
    let all = match document {
        None => return Ok(Vec::new()),
        Some(CountDocument::Exactly(number)) => {
            return Ok(vec![CountCheck { comparison: CountComparison::Equal, number }]);
        }
        Some(CountDocument::Comparisons(all)) => all,
    };
    let checks = all.into_iter().map(|(name, number)| {
        let comparison = match name.as_str() {
            "equals" => CountComparison::Equal,
            "at_least" => CountComparison::AtLeast,
            "at_most" => CountComparison::AtMost,
            _ => return Err(format!("count: {name}: expected a number, or equals, at_least or at_most")),
        };
        Ok(CountCheck { comparison, number })
    });
    checks.collect()
}

fn read_body_checks(documents: Vec<BodyDocument>) -> Result<Vec<BodyCheck>, String> {
    let checks = documents.into_iter().map(|document| {
        let path = JsonPath::parse(&document.path).map_err(|(at, expected)| {
            format!("path {}: position {}: expected {expected}", document.path, at.saturating_add(1))
        })?;
        let condition = match (document.equals, document.differs, document.exists) {
            (Some(value), None, None) => BodyCondition::Equals(value),
            (None, Some(value), None) => BodyCondition::Differs(value),
            (None, None, Some(false)) => BodyCondition::Missing,
            (None, None, _) => BodyCondition::Exists,
            _ => return Err(format!("path {}: expected one of equals, differs and exists", document.path)),
        };
        Ok(BodyCheck { path, condition })
    });
    checks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn object_means_the_same_as_the_short_form() {
        let object = json!({
            "match": {"route": "POST /2/tweets", "status": "4xx", "label": "ci"},
            "count": {"at_least": 2},
            "request": [{"path": "text", "equals": "hello"}],
            "response": [{"path": "errors", "exists": true}, {"path": "data", "exists": false}],
        });
        let short = "POST /2/tweets status=4xx label=ci count>=2 request.text=hello response.errors exists \
                     response.data missing";
        let (object, short) = (read_assertion(&object).unwrap(), read_assertion(&json!(short)).unwrap());
        assert_eq!((object.filter, object.counts), (short.filter, short.counts));
        assert_eq!(object.response_checks[1].condition, short.response_checks[1].condition);
    }

    #[test]
    fn wrong_object_says_what_is_accepted() {
        let cases = [
            (json!({"matches": {}}), "expected one of `match`"),
            (json!({"match": {"size": 1}}), "expected one of `method`"),
            (json!({"count": {"more": 1}}), "at_least"),
            (json!({"match": {"status": "abc"}}), "4xx"),
            (json!({"request": [{"path": "a", "equals": 1, "exists": true}]}), "one of equals"),
            (json!(7), "a text or an object"),
            (json!("status=1"), "position 8"),
        ];
        for (value, words) in cases {
            let error = read_assertion(&value).unwrap_err();
            assert!(error.contains(words), "{value}: {error}");
        }
    }
}
