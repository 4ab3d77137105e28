//! Kinds of values that only the Ads API has, and how it reads values.

use base::refusal::AdsProblem;
use base::{AccountTimeZone, Time};
use schema::{CustomKind, IdFormat, Kind, RawParam, ReadingRules, ValueKind, Violation, ViolationKind, parse_flag};
pub use schema::{format_time, parse_time};
use serde_json::{Value, json};

use crate::account_context::unknown_record;
use crate::declaration::Resource;

/// The id of any account.
#[derive(Debug)]
pub struct AnyAccountId;

/// A media key: `3_1234`.
#[derive(Debug)]
pub struct MediaKeyText;

/// A card URI, `card://1234`, stored as the number.
#[derive(Debug)]
pub struct CardUriText;

/// JSON validated and normalized by a function.
#[derive(Debug)]
pub struct JsonShape {
    normalize: fn(&Value) -> Result<Value, AdsProblem>,
    /// The JSON Schema; that of any value by default.
    schema: fn() -> Value,
}

impl JsonShape {
    pub const fn new(normalize: fn(&Value) -> Result<Value, AdsProblem>) -> Self {
        Self { normalize, schema: || json!({}) }
    }

    #[must_use]
    pub const fn with_schema(self, schema: fn() -> Value) -> Self {
        Self { schema, ..self }
    }
}

/// The id of a record of the same account.
impl CustomKind for Resource {
    fn read_text(&self, text: &str) -> Result<Value, ViolationKind> {
        // An id that cannot exist is reported as not found, not as invalid.
        self.id_format.parse(text).map(Value::from).ok_or(ViolationKind::IllegalId)
    }

    fn render(&self, stored: &Value) -> Option<Value> {
        stored.as_i64().map(|id| self.id_format.format(id).into())
    }

    fn is_number(&self) -> bool {
        true
    }

    fn describe_expected(&self, limit: Option<usize>) -> String {
        let one = || format!("the id of {}", self.label_with_article());
        limit.map_or_else(one, |limit| format!("at most {limit} ids of {}", self.label_with_article()))
    }
}

impl CustomKind for AnyAccountId {
    fn read_text(&self, text: &str) -> Result<Value, ViolationKind> {
        IdFormat::Short.parse(text).map(Value::from).ok_or(ViolationKind::IllegalId)
    }

    fn render(&self, stored: &Value) -> Option<Value> {
        stored.as_i64().map(|id| IdFormat::Short.format(id).into())
    }

    fn is_number(&self) -> bool {
        true
    }

    fn describe_expected(&self, _limit: Option<usize>) -> String {
        "the id of an account".to_owned()
    }
}

impl CustomKind for MediaKeyText {
    fn read_text(&self, text: &str) -> Result<Value, ViolationKind> {
        is_media_key(text).then(|| text.into()).ok_or(ViolationKind::Malformed)
    }

    fn describe_expected(&self, limit: Option<usize>) -> String {
        limit.map_or_else(|| "a media key".to_owned(), |limit| format!("at most {limit} media keys"))
    }
}

impl CustomKind for CardUriText {
    fn read_text(&self, text: &str) -> Result<Value, ViolationKind> {
        let id = text.strip_prefix("card://").and_then(parse_long_id);
        id.map(Value::from).ok_or(ViolationKind::Malformed)
    }

    fn render(&self, stored: &Value) -> Option<Value> {
        stored.as_i64().map(|id| format!("card://{id}").into())
    }

    fn is_number(&self) -> bool {
        true
    }

    fn describe_expected(&self, limit: Option<usize>) -> String {
        limit.map_or_else(|| "a card URI".to_owned(), |limit| format!("at most {limit} card URIs"))
    }
}

impl CustomKind for JsonShape {
    fn describe_expected(&self, _limit: Option<usize>) -> String {
        "JSON".to_owned()
    }

    fn schema(&self) -> Value {
        (self.schema)()
    }
}

const READING: ReadingRules =
    ReadingRules { parse_bool: parse_flag, parse_time, accepts_plus_sign: false, is_lenient: true };

/// Reads a value into its stored form.
pub fn parse_value(kind: Kind, name: &str, raw: RawParam<'_>) -> Result<Value, AdsProblem> {
    if let Some(JsonShape { normalize, .. }) = kind.downcast() {
        return match raw {
            RawParam::Json(value) => normalize(value),
            RawParam::Text(_) => Err(invalid_value(kind, name, raw)),
        };
    }
    let value = schema::read(kind, raw, &READING).map_err(|violations| match violations.first() {
        Some(Violation { text, kind: ViolationKind::IllegalId }) => illegal_id(name, text),
        _ => invalid_value(kind, name, raw),
    })?;
    if let Some(resource) = kind.downcast::<Resource>().filter(|_| value == IdFormat::UNKNOWN) {
        return Err(unknown_record(resource, name.to_owned(), &raw.display_text()));
    }
    if is_blank(kind, &value) { Err(invalid_value(kind, name, raw)) } else { Ok(value) }
}

/// Whether a text that may not be empty is nothing but whitespace.
fn is_blank(kind: Kind, value: &Value) -> bool {
    matches!(kind.value, ValueKind::Text(1.., _)) && value.as_str().is_some_and(|text| text.trim().is_empty())
}

pub fn parse_record_id(format: IdFormat, name: &str, text: &str) -> Result<i64, AdsProblem> {
    format.parse(text).ok_or_else(|| illegal_id(name, text))
}

fn illegal_id(name: &str, text: &str) -> AdsProblem {
    let message = format!("{text:?} contains a character that ids do not have, for {name}");
    let shown: String = text.chars().take(100).collect();
    AdsProblem::invalid_parameter(name.to_owned(), shown, message).with_code("INVALID_ID_ILLEGAL_CHARACTERS")
}

fn invalid_value(kind: Kind, name: &str, raw: RawParam<'_>) -> AdsProblem {
    let (value, expected) = (raw.display_text(), describe_expected(kind));
    let message = format!("Expected {expected}, got \"{value}\" for {name}");
    AdsProblem::invalid_parameter(name.to_owned(), value, message)
}

/// The expected value, for error messages.
fn describe_expected(kind: Kind) -> String {
    match (kind.value, kind.list) {
        (ValueKind::Text(_, length), Some((_, count))) => {
            format!("at most {count} values of at most {length} characters")
        }
        (ValueKind::Text(min, max), None) => format!("String of length {min}..{max}"),
        (ValueKind::Int(min, max), _) => format!("Integer in {min}..{max}"),
        (ValueKind::Id | ValueKind::Long, Some((_, limit))) => format!("at most {limit} Longs"),
        (ValueKind::Id | ValueKind::Long, None) => "Long".to_owned(),
        (ValueKind::OneOf(words), _) => format!("one of {}", words.join(", ")),
        (ValueKind::Word(words), _) => {
            let words: Vec<&str> = words.iter().map(|word| word.post).collect();
            format!("one of {}", words.join(", "))
        }
        (ValueKind::Bool, _) => "Boolean".to_owned(),
        (ValueKind::Url, _) => "an absolute URL".to_owned(),
        (ValueKind::Money, _) => "a positive amount in micros".to_owned(),
        (ValueKind::Time, _) => "a time in ISO 8601".to_owned(),
        (ValueKind::Custom(kind), list) => kind.describe_expected(list.map(|(_, limit)| limit)),
        (ValueKind::Json | ValueKind::Object(_), _) => "JSON".to_owned(),
        (ValueKind::Pattern(pattern), _) => pattern.regex.to_owned(),
    }
}

/// As [`parse_time`]; a date alone is its midnight in the zone.
pub fn parse_time_in_zone(zone: &AccountTimeZone, text: &str) -> Option<Time> {
    if text.contains(['T', 't', ' ']) { parse_time(text) } else { zone.midnight_of_date(text) }
}

fn parse_long_id(text: &str) -> Option<i64> {
    base::Id::<()>::parse(text).map(base::Id::get)
}

fn is_media_key(text: &str) -> bool {
    text.split_once('_')
        .is_some_and(|(kind, id)| kind.len() <= 2 && parse_long_id(kind).is_some() && parse_long_id(id).is_some())
}
