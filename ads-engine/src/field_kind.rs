//! Types of values: parsing, storage, echo and rendering.

use std::borrow::Cow;

use base::refusal::AdsProblem;
use base::{Time, Vocabulary, VocabularyWord};
use serde_json::{Number, Value};

use crate::declaration::Resource;

#[derive(Clone, Copy, Debug)]
pub enum FieldKind {
    /// The minimum and maximum length in characters.
    Text(usize, usize),
    /// An absolute URL, `https` or `http`.
    Url,
    Bool,
    /// The minimum and maximum.
    Int(i64, i64),
    /// A positive amount in millionths of the currency's unit.
    Money,
    OneOf(&'static [&'static str]),
    /// A word that vocabularies spell differently.
    Word(&'static [VocabularyWord]),
    SomeOf(&'static [&'static str]),
    /// The maximum number of texts, and the maximum length of each in characters.
    Texts(usize, usize),
    /// A record of this resource; true if deleting it hides this one.
    Reference(&'static Resource, bool),
    /// The maximum number of ids.
    Ids(&'static Resource, usize),
    /// Any account.
    Account,
    /// Echoed as text.
    User,
    /// An id echoed as a number.
    Long,
    /// The maximum number of ids, echoed as numbers.
    Longs(usize),
    Time,
    /// A media key: `3_1234`.
    MediaKey,
    /// The maximum number of media keys.
    MediaKeys(usize),
    /// The maximum number of card URIs: `card://1234`.
    CardUris(usize),
    /// JSON validated and normalized by this function.
    Shape(fn(&Value) -> Result<Value, AdsProblem>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdFormat {
    /// Base 36 from a sequence of the resource.
    Short,
    /// A decimal snowflake id.
    Long,
    /// Twelve characters in base 36.
    Twelve,
}

/// A raw value: text, possibly repeated, or JSON.
#[derive(Clone, Copy, Debug)]
pub enum RawParam<'a> {
    Text(&'a [String]),
    Json(&'a Value),
}

impl RawParam<'_> {
    pub fn is_empty(self) -> bool {
        match self {
            Self::Text(texts) => texts.iter().all(String::is_empty),
            Self::Json(value) => match value {
                Value::Null => true,
                Value::String(text) => text.is_empty(),
                _ => false,
            },
        }
    }

    /// The value as one text, if it is a single value.
    fn as_single_text(self) -> Option<String> {
        match self {
            Self::Text(texts) => texts.last().cloned(),
            Self::Json(Value::String(text)) => Some(text.clone()),
            Self::Json(Value::Number(number)) => Some(number.to_string()),
            Self::Json(Value::Bool(flag)) => Some(flag.to_string()),
            Self::Json(_) => None,
        }
    }

    /// The value as a list of texts: comma-separated, repeated, or an array.
    fn split_texts(self) -> Option<Vec<String>> {
        let split = |text: &str| -> Vec<String> {
            let parts = text.split(',').map(str::trim);
            parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        match self {
            Self::Text(texts) => Some(texts.iter().flat_map(|text| split(text)).collect()),
            Self::Json(Value::Array(items)) => items.iter().map(|item| RawParam::Json(item).as_single_text()).collect(),
            Self::Json(_) => self.as_single_text().map(|text| split(&text)),
        }
    }

    /// The value as shown in error messages.
    pub fn display_text(self) -> String {
        let text = match self {
            Self::Text(texts) => texts.join(","),
            Self::Json(Value::String(text)) => text.clone(),
            Self::Json(value) => value.to_string(),
        };
        text.chars().take(100).collect()
    }
}

impl FieldKind {
    /// The expected value, for error messages.
    fn describe_expected(self) -> String {
        match self {
            Self::Text(least, limit) => format!("String of length {least}..{limit}"),
            Self::Url => "an absolute URL".to_owned(),
            Self::Bool => "Boolean".to_owned(),
            Self::Int(least, limit) => format!("Integer in {least}..{limit}"),
            Self::Money => "a positive amount in micros".to_owned(),
            Self::OneOf(words) | Self::SomeOf(words) => format!("one of {}", words.join(", ")),
            Self::Word(words) => {
                let words: Vec<&str> = words.iter().map(|word| word.post).collect();
                format!("one of {}", words.join(", "))
            }
            Self::Texts(count, length) => {
                format!("at most {count} values of at most {length} characters")
            }
            Self::Reference(of, _) => format!("the id of a {}", of.label),
            Self::Ids(of, limit) => format!("at most {limit} ids of a {}", of.label),
            Self::Account => "the id of an account".to_owned(),
            Self::User | Self::Long => "Long".to_owned(),
            Self::Longs(limit) => format!("at most {limit} Longs"),
            Self::Time => "a time in ISO 8601".to_owned(),
            Self::MediaKey => "a media key".to_owned(),
            Self::MediaKeys(limit) => format!("at most {limit} media keys"),
            Self::CardUris(limit) => format!("at most {limit} card URIs"),
            Self::Shape(_) => "JSON".to_owned(),
        }
    }

    pub const fn is_list(self) -> bool {
        matches!(
            self,
            Self::SomeOf(_) | Self::Texts(..) | Self::Ids(..) | Self::Longs(_) | Self::MediaKeys(_) | Self::CardUris(_)
        )
    }

    /// Whether the value is stored as a number and can be indexed.
    pub const fn is_number(self) -> bool {
        matches!(
            self,
            Self::Bool
                | Self::Int(..)
                | Self::Money
                | Self::Reference(..)
                | Self::Account
                | Self::User
                | Self::Long
                | Self::Time
        )
    }

    /// Parses a value into its stored form.
    pub fn parse_value(self, name: &str, raw: RawParam<'_>) -> Result<Value, AdsProblem> {
        let wrong = || self.invalid_value(name, raw);
        if let Self::Shape(shape) = self {
            return match raw {
                RawParam::Json(value) => shape(value),
                RawParam::Text(_) => Err(wrong()),
            };
        }
        if self.is_list() {
            let texts = raw.split_texts().ok_or_else(wrong)?;
            return self.parse_list(name, &texts, raw);
        }
        let text = raw.as_single_text().ok_or_else(wrong)?;
        match self {
            // An id that cannot exist is reported as not found, not as invalid.
            Self::Reference(of, _) => of.id_format.parse(name, &text).map(Value::from),
            Self::Account => IdFormat::Short.parse(name, &text).map(Value::from),
            _ => self.parse_one(&text).ok_or_else(wrong),
        }
    }

    fn invalid_value(self, name: &str, raw: RawParam<'_>) -> AdsProblem {
        let (value, expected) = (raw.display_text(), self.describe_expected());
        let message = format!("Expected {expected}, got \"{value}\" for {name}");
        AdsProblem::invalid_parameter(name.to_owned(), value, message)
    }

    fn parse_one(self, text: &str) -> Option<Value> {
        // No database engine stores NUL in a text.
        if text.contains('\0') {
            return None;
        }
        let whole = || text.parse::<i64>().ok().filter(|_| !text.starts_with('+'));
        match self {
            Self::Text(least, limit) => {
                let length = text.chars().count();
                (least..=limit).contains(&length).then(|| text.into())
            }
            Self::Url => is_url(text).then(|| text.into()),
            Self::Bool => parse_flag(text).map(|flag| i64::from(flag).into()),
            Self::Int(least, limit) => whole().filter(|number| (least..=limit).contains(number)).map(Value::from),
            Self::Money => whole().filter(|number| *number > 0).map(Value::from),
            Self::OneOf(words) | Self::SomeOf(words) => {
                words.iter().find(|word| word.eq_ignore_ascii_case(text)).map(|word| Value::from(*word))
            }
            Self::Word(words) => words
                .iter()
                .find(|word| word.post.eq_ignore_ascii_case(text) || word.tweet.eq_ignore_ascii_case(text))
                .map(|word| word.post.into()),
            Self::User | Self::Long | Self::Longs(_) => parse_long_id(text).map(Value::from),
            Self::Time => parse_time(text).map(|time| time.ms().into()),
            Self::MediaKey | Self::MediaKeys(_) => is_media_key(text).then(|| text.into()),
            Self::CardUris(_) => text.strip_prefix("card://").and_then(parse_long_id).map(Value::from),
            Self::Texts(_, limit) => {
                let length = text.chars().count();
                (1..=limit).contains(&length).then(|| text.into())
            }
            Self::Reference(..) | Self::Account | Self::Ids(..) | Self::Shape(_) => None,
        }
    }

    fn parse_list(self, name: &str, texts: &[String], raw: RawParam<'_>) -> Result<Value, AdsProblem> {
        let limit = match self {
            Self::Texts(limit, _)
            | Self::Ids(_, limit)
            | Self::Longs(limit)
            | Self::MediaKeys(limit)
            | Self::CardUris(limit) => limit,
            _ => usize::MAX,
        };
        if texts.len() > limit {
            return Err(self.invalid_value(name, raw));
        }
        let mut all: Vec<Value> = Vec::with_capacity(texts.len());
        for text in texts {
            let one = match self {
                Self::Ids(of, _) => of.id_format.parse(name, text).map(Value::from)?,
                _ => self.parse_one(text).ok_or_else(|| self.invalid_value(name, raw))?,
            };
            if !all.contains(&one) {
                all.push(one);
            }
        }
        Ok(Value::Array(all))
    }

    /// Renders a stored value for a response.
    pub fn render_value(self, stored: &Value, vocabulary: Vocabulary) -> Value {
        self.render_cow(stored, vocabulary).into_owned()
    }

    /// Like [`Self::render_value`], borrowing values that are rendered as stored.
    pub fn render_cow(self, stored: &Value, vocabulary: Vocabulary) -> Cow<'_, Value> {
        if let Value::Array(items) = stored {
            let items = items.iter().map(|item| self.render_value(item, vocabulary));
            return Cow::Owned(items.collect());
        }
        let number = stored.as_i64();
        let other: Value = match (self, number) {
            (Self::Bool, Some(number)) => (number != 0).into(),
            (Self::Reference(of, _) | Self::Ids(of, _), Some(id)) => of.id_format.format(id).into(),
            (Self::Account, Some(id)) => IdFormat::Short.format(id).into(),
            (Self::User | Self::Long | Self::Longs(_), Some(id)) => id.to_string().into(),
            (Self::Time, Some(ms)) => format_time(Time::from_ms(ms)).into(),
            (Self::CardUris(_), Some(id)) => format!("card://{id}").into(),
            (Self::Word(words), _) => {
                let stored = stored.as_str().unwrap_or_default();
                let word = words.iter().find(|word| word.post == stored);
                word.map_or_else(|| stored.into(), |word| word.name_in(vocabulary).into())
            }
            _ => return Cow::Borrowed(stored),
        };
        Cow::Owned(other)
    }

    /// Renders a stored value for the echo: ids of posts as numbers.
    pub fn echo_value(self, stored: &Value, vocabulary: Vocabulary) -> Value {
        match self {
            Self::Long | Self::Longs(_) => stored.clone(),
            _ => self.render_value(stored, vocabulary),
        }
    }
}

impl IdFormat {
    /// Parses an id. One that overflows becomes an id that no record has.
    pub fn parse(self, name: &str, text: &str) -> Result<i64, AdsProblem> {
        let illegal = || {
            let message = format!("{text:?} holds a character that no id has, for {name}");
            let shown: String = text.chars().take(100).collect();
            AdsProblem::invalid_parameter(name.to_owned(), shown, message).with_code("INVALID_ID_ILLEGAL_CHARACTERS")
        };
        let (radix, plain) = match self {
            Self::Short | Self::Twelve => (36, text.bytes().all(|byte| byte.is_ascii_alphanumeric())),
            Self::Long => (10, text.bytes().all(|byte| byte.is_ascii_digit())),
        };
        if !plain || text.is_empty() {
            return Err(illegal());
        }
        Ok(i64::from_str_radix(text, radix).unwrap_or(-1))
    }

    /// The offset added to sequence numbers, so that an id has twelve characters and no leading zero.
    pub const fn number_offset(self) -> i64 {
        match self {
            Self::Twelve => 36_i64.pow(11) * 9,
            Self::Short | Self::Long => 0,
        }
    }

    pub fn format(self, id: i64) -> String {
        match self {
            Self::Short => format_base36(id),
            Self::Long => id.to_string(),
            Self::Twelve => format!("{:0>12}", format_base36(id)),
        }
    }
}

pub fn format_base36(number: i64) -> String {
    let mut rest = number.unsigned_abs();
    let mut letters = Vec::new();
    while rest > 0 || letters.is_empty() {
        let digit = u32::try_from(rest % 36).unwrap_or(0);
        letters.extend(char::from_digit(digit, 36));
        rest /= 36;
    }
    letters.iter().rev().collect()
}

/// Formats a time as the Ads API does: whole seconds in UTC.
pub fn format_time(time: Time) -> String {
    let text = time.to_string();
    let (seconds, _) = text.split_once('.').unwrap_or((&text, ""));
    format!("{seconds}Z")
}

/// Parses a time: seconds and zone are optional, the zone may be short, a bare date is its midnight (contract ads
/// §1.3).
pub fn parse_time(text: &str) -> Option<Time> {
    let Some((date, rest)) = text.split_once(['T', 't', ' ']) else {
        return Time::parse(&format!("{text}T00:00:00Z"));
    };
    let zone_at = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (clock, zone) = rest.split_at_checked(zone_at)?;
    let clock = match clock.matches(':').count() {
        1 => format!("{clock}:00"),
        _ => clock.to_owned(),
    };
    let zone = match zone.len() {
        0 => "Z".to_owned(),
        3 => format!("{zone}:00"),
        5 if !zone.contains(':') => {
            let (hours, minutes) = zone.split_at_checked(3)?;
            format!("{hours}:{minutes}")
        }
        _ => zone.to_owned(),
    };
    Time::parse(&format!("{date}T{clock}{zone}"))
}

fn parse_flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "1" => Some(true),
        "false" | "f" | "0" => Some(false),
        _ => None,
    }
}

fn parse_long_id(text: &str) -> Option<i64> {
    base::Id::<()>::parse(text).map(base::Id::get)
}

fn is_media_key(text: &str) -> bool {
    text.split_once('_')
        .is_some_and(|(kind, id)| kind.len() <= 2 && parse_long_id(kind).is_some() && parse_long_id(id).is_some())
}

/// Whether a text is an absolute URL without whitespace or control characters.
fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let plain = !text.chars().any(|letter| letter.is_whitespace() || letter.is_control());
    plain && text.len() <= 2048 && host.is_some_and(|host| !host.is_empty() && !host.contains('@'))
}

pub fn json_number(number: i64) -> Value {
    Value::Number(Number::from(number))
}

#[cfg(test)]
mod tests {
    use base::Time;

    use super::{IdFormat, format_base36, format_time, parse_time};

    #[test]
    fn moments_are_read_in_every_form_of_the_contract() {
        let same = Time::parse("2026-04-02T09:05:00Z");
        for text in [
            "2026-04-02T09:05:00Z",
            "2026-04-02T09:05Z",
            "2026-04-02T09:05:00.000Z",
            "2026-04-02T10:05:00+0100",
            "2026-04-02T10:05:00+01:00",
            "2026-04-02T10:05:00+01",
            "2026-04-02T09:05:00",
        ] {
            assert_eq!(parse_time(text), same, "{text}");
        }
        assert_eq!(parse_time("2026-04-02").map(format_time).as_deref(), Some("2026-04-02T00:00:00Z"));
        for text in ["", "tomorrow", "2026-13-02", "2026-04-02T09", "2026-04-02T25:00Z"] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }

    #[test]
    fn ids_are_read_in_either_case_and_written_in_lower() {
        assert_eq!(format_base36((1 << 52) + 1), "18ce53un18h");
        assert_eq!(IdFormat::Short.parse("id", "18CE53UN18H").unwrap(), (1 << 52) + 1);
        assert_eq!(IdFormat::Short.parse("id", "zzzzzzzzzzzzzzzzzzzz").unwrap(), -1);
        for text in ["", "a-b", "a b", "é", "+1"] {
            let problem = IdFormat::Short.parse("id", text).unwrap_err();
            assert_eq!(problem.code, "INVALID_ID_ILLEGAL_CHARACTERS", "{text}");
        }
        assert_eq!(IdFormat::Twelve.format(7), "000000000007");
    }
}
