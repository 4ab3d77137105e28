//! The short form of assertions: `POST /2/tweets status=201 count>=3 response.data.id exists`.

use std::fmt;

use serde_json::Value;

use super::assertion::{BodyCondition, CountComparison};
use super::{BodyCheck, CountCheck, JsonPath, RequestAssertion, RequestFilter, StatusFilter};

const MAX_LENGTH: usize = 4_000;
const TERMS: &str = "status, operation, app, user, label, fault, text or count with a value, \
                     or request.PATH or response.PATH with `=VALUE`, `!=VALUE`, `exists` or `missing`";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssertionSyntaxError {
    /// In characters, from 1.
    pub position: usize,
    pub expected: String,
}

impl fmt::Display for AssertionSyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "position {}: expected {}", self.position, self.expected)
    }
}

/// A word and where it begins, in bytes.
#[derive(Clone, Debug)]
struct Word {
    at: usize,
    text: String,
}

/// A path or a method may lead; terms follow in any order.
pub fn parse_assertion(expression: &str) -> Result<RequestAssertion, AssertionSyntaxError> {
    parse(expression).map_err(|(at, expected)| {
        let before = expression.get(..at).unwrap_or(expression);
        AssertionSyntaxError { position: before.chars().count().saturating_add(1), expected }
    })
}

type Problem = (usize, String);

fn parse(expression: &str) -> Result<RequestAssertion, Problem> {
    if expression.len() > MAX_LENGTH {
        return Err((MAX_LENGTH, format!("at most {MAX_LENGTH} bytes")));
    }
    let words = split_words(expression)?;
    let mut assertion = RequestAssertion {
        filter: RequestFilter::default(),
        request_checks: Vec::new(),
        response_checks: Vec::new(),
        counts: Vec::new(),
    };
    if words.is_empty() {
        return Err((0, format!("a route such as `GET /2/users/me`, or {TERMS}")));
    }
    let mut words = words.into_iter().peekable();
    if let Some(method) = words.next_if(|word| is_method(&word.text)) {
        assertion.filter.method = Some(method.text);
    }
    if let Some(path) = words.next_if(|word| word.text.starts_with('/')) {
        assertion.filter.path = Some(path.text);
    }
    while let Some(word) = words.next() {
        let condition = words.next_if(|next| matches!(next.text.as_str(), "exists" | "missing"));
        parse_term(&word, condition.as_ref(), &mut assertion)?;
    }
    Ok(assertion)
}

fn is_method(word: &str) -> bool {
    matches!(word, "GET" | "POST" | "PUT" | "DELETE" | "PATCH" | "HEAD" | "OPTIONS")
}

/// At spaces outside of quotation marks.
fn split_words(expression: &str) -> Result<Vec<Word>, Problem> {
    let mut words: Vec<Word> = Vec::new();
    let (mut in_word, mut quote) = (false, None);
    let mut is_escaped = false;
    for (at, letter) in expression.char_indices() {
        if quote.is_none() && letter.is_whitespace() {
            in_word = false;
            continue;
        }
        if !in_word {
            words.push(Word { at, text: String::new() });
            in_word = true;
        }
        if letter == '"' && !is_escaped {
            quote = if quote.is_some() { None } else { Some(at) };
        }
        is_escaped = letter == '\\' && !is_escaped && quote.is_some();
        if let Some(word) = words.last_mut() {
            word.text.push(letter);
        }
    }
    match quote {
        Some(at) => Err((at, "a closing quotation mark".to_owned())),
        None => Ok(words),
    }
}

fn parse_term(word: &Word, condition: Option<&Word>, assertion: &mut RequestAssertion) -> Result<(), Problem> {
    let end = word.text.find(['=', '!', '<', '>']).unwrap_or(word.text.len());
    let (name, rest) = word.text.split_at_checked(end).unwrap_or((&word.text, ""));
    let place = word.at.saturating_add(end);
    for (prefix, of_request) in [("request", true), ("response", false)] {
        if let Some(path) = name.strip_prefix(prefix).filter(|path| path.starts_with(['.', '[']) || path.is_empty()) {
            let start = word.at.saturating_add(prefix.len());
            let check = parse_body_check((start, path), (place, rest), condition)?;
            let checks = if of_request { &mut assertion.request_checks } else { &mut assertion.response_checks };
            checks.push(check);
            return Ok(());
        }
    }
    if let Some(condition) = condition {
        return Err((condition.at, format!("{TERMS}; `{}` follows request.PATH or response.PATH", condition.text)));
    }
    if name == "count" {
        assertion.counts.push(parse_count(place, rest)?);
        return Ok(());
    }
    parse_filter_term(name, word.at, (place, rest), &mut assertion.filter)
}

fn parse_filter_term(
    name: &str,
    name_at: usize,
    (place, rest): (usize, &str),
    filter: &mut RequestFilter,
) -> Result<(), Problem> {
    const NAMES: [&str; 7] = ["status", "operation", "app", "user", "label", "fault", "text"];
    if !NAMES.contains(&name) {
        return Err((name_at, TERMS.to_owned()));
    }
    let value = rest.strip_prefix("==").or_else(|| rest.strip_prefix('='));
    let value = value.filter(|value| !value.is_empty()).ok_or_else(|| (place, format!("`=` and a value of {name}")))?;
    let at = place.saturating_add(rest.len().saturating_sub(value.len()));
    let text = unquote(value, at)?;
    match name {
        "status" => {
            let status: StatusFilter = text.parse().map_err(|expected: &str| (at, expected.to_owned()))?;
            filter.status = Some(status);
        }
        "operation" => filter.operation = Some(text),
        "app" => filter.app = Some(text),
        "user" => filter.user = Some(text),
        "label" => filter.label = Some(text),
        "fault" => filter.injected_fault = Some(text),
        _ => filter.text = Some(text),
    }
    Ok(())
}

fn parse_count(place: usize, rest: &str) -> Result<CountCheck, Problem> {
    let sign = CountComparison::SIGNS.iter().find_map(|(sign, comparison)| {
        rest.strip_prefix(sign).map(|number| (*comparison, number, place.saturating_add(sign.len())))
    });
    let expected = || "a comparison: `count>=3`, `count<=3`, `count=3`, `count!=0`, `count>2` or `count<4`".to_owned();
    let (comparison, number, at) = sign.ok_or_else(|| (place, expected()))?;
    let number = number.parse().map_err(|_| (at, "a whole number".to_owned()))?;
    Ok(CountCheck { comparison, number })
}

fn parse_body_check(
    (start, path): (usize, &str),
    (place, rest): (usize, &str),
    condition: Option<&Word>,
) -> Result<BodyCheck, Problem> {
    let path = JsonPath::parse(&format!("${path}"));
    // The dollar sign is not in the expression.
    let path = path.map_err(|(at, expected)| (start.saturating_add(at).saturating_sub(1), expected.to_owned()))?;
    let condition = match condition.map(|word| word.text.as_str()) {
        Some("exists") if rest.is_empty() => BodyCondition::Exists,
        Some("missing") if rest.is_empty() => BodyCondition::Missing,
        _ => {
            let (differs, value) = match rest.strip_prefix("!=") {
                Some(value) => (true, Some(value)),
                None => (false, rest.strip_prefix("==").or_else(|| rest.strip_prefix('='))),
            };
            let value = value.filter(|value| !value.is_empty());
            let value = value.ok_or_else(|| (place, "`=VALUE`, `!=VALUE`, ` exists` or ` missing`".to_owned()))?;
            let at = place.saturating_add(rest.len().saturating_sub(value.len()));
            let value = parse_value(value, at)?;
            if differs { BodyCondition::Differs(value) } else { BodyCondition::Equals(value) }
        }
    };
    Ok(BodyCheck { path, condition })
}

/// JSON, or a text without quotation marks.
fn parse_value(text: &str, at: usize) -> Result<Value, Problem> {
    if text.starts_with('"') {
        return unquote(text, at).map(Value::String);
    }
    Ok(serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())))
}

fn unquote(text: &str, at: usize) -> Result<String, Problem> {
    if !text.starts_with('"') {
        return Ok(text.to_owned());
    }
    serde_json::from_str(text).map_err(|_| (at, "a text in quotation marks, as in JSON".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn short_form_reads_route_filters_bodies_and_counts() {
        let parsed = parse_assertion(
            r#"POST /2/tweets status=201 label=run-1 request.text="two words" response.data.id exists count>=3 count<9"#,
        );
        let parsed = parsed.unwrap();
        assert_eq!(parsed.filter.method.as_deref(), Some("POST"));
        assert_eq!(parsed.filter.path.as_deref(), Some("/2/tweets"));
        assert_eq!(parsed.filter.status, Some(StatusFilter::Exactly(201)));
        assert_eq!(parsed.filter.label.as_deref(), Some("run-1"));
        assert_eq!(parsed.request_checks[0].condition, BodyCondition::Equals(json!("two words")));
        assert_eq!(parsed.response_checks[0].condition, BodyCondition::Exists);
        assert_eq!(parsed.counts.len(), 2);
        assert_eq!(parsed.counts[1], CountCheck { comparison: CountComparison::Fewer, number: 9 });
        let numbers = parse_assertion("response.errors[0].code=88").unwrap();
        assert_eq!(numbers.response_checks[0].condition, BodyCondition::Equals(json!(88)));
    }

    #[test]
    fn wrong_expression_says_where_and_what_is_accepted() {
        let cases = [
            ("", 1, "a route"),
            ("GET /2/users/me status=9xx", 24, "a class such as 4xx"),
            ("GET /2/users/me size=3", 17, "status, operation"),
            ("GET /2/users/me count>>3", 23, "a whole number"),
            ("GET /2/users/me count", 22, "a comparison"),
            ("status=200 response.data[x] exists", 25, "an index"),
            ("label=\"open", 7, "a closing quotation mark"),
            ("status=200 exists", 12, "follows request.PATH"),
            ("response.data.id", 17, "exists"),
            ("get /2/users/me", 1, "status, operation"),
        ];
        for (expression, position, expected) in cases {
            let error = parse_assertion(expression).unwrap_err();
            assert_eq!(error.position, position, "{expression}: {error}");
            assert!(error.expected.contains(expected), "{expression}: {error}");
        }
    }
}
