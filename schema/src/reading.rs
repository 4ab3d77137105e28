//! Reads values from texts and lenient JSON.

use std::borrow::Cow;

use base::{Time, VocabularyWord};
use serde_json::Value;

use crate::{Kind, ValueKind};

/// Longer values are truncated in refusals.
const MAX_ECHOED_CHARS: usize = 256;

/// How an API spells values.
#[derive(Debug)]
pub struct ReadingRules {
    pub parse_bool: fn(&str) -> Option<bool>,
    pub parse_time: fn(&str) -> Option<Time>,
    pub accepts_plus_sign: bool,
    /// Whether words match in any case, and lists may be empty and drop surrounding whitespace, empty items and
    /// repetitions.
    pub is_lenient: bool,
}

/// A raw value: text, possibly repeated, or JSON.
#[derive(Clone, Copy, Debug)]
pub enum RawParam<'a> {
    Text(&'a [String]),
    Json(&'a Value),
}

/// What is wrong with a value, or with an item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub text: String,
    pub kind: ViolationKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViolationKind {
    Malformed,
    /// The type found and the type expected.
    WrongType(&'static str, &'static str),
    NotOneOf(&'static [&'static str]),
    /// The regular expression that it does not match.
    Mismatch(&'static str),
    /// The minimum and maximum, and whether it is below the minimum.
    NotInRange(i64, i64, bool),
    /// The length in code points, its minimum and maximum.
    Length(usize, usize, usize),
    /// The count of a list, its minimum and maximum.
    Count(usize, usize, usize),
    /// An id with a character that no id has.
    IllegalId,
    /// A required member is absent.
    Missing,
    /// A member is not declared.
    Unknown,
    /// A member occurs under its other name as well, which is this one.
    Duplicate(&'static str),
}

/// Reads a value into its stored form: a flag as 0 or 1, a time in milliseconds, an id as a number. Reports every
/// item of a list that is wrong.
pub fn read(kind: Kind, raw: RawParam<'_>, rules: &ReadingRules) -> Result<Value, Vec<Violation>> {
    if let Some(bounds) = kind.list {
        return read_list(kind.value, bounds, raw, rules);
    }
    let violation = |text: &str, kind| vec![Violation { text: text.to_owned(), kind }];
    let text = raw.as_single_text().ok_or_else(|| violation("", ViolationKind::Malformed))?;
    kind.value.read_text(&text, rules).map_err(|problem| violation(&text, problem))
}

fn read_list(
    value: ValueKind,
    (min, max): (usize, usize),
    raw: RawParam<'_>,
    rules: &ReadingRules,
) -> Result<Value, Vec<Violation>> {
    let whole = |kind| vec![Violation { text: raw.joined_text(), kind }];
    let texts = raw.split_texts(rules.is_lenient).ok_or_else(|| whole(ViolationKind::Malformed))?;
    let count = texts.len();
    if count < min && !rules.is_lenient || count > max {
        return Err(whole(ViolationKind::Count(count, min, max)));
    }
    let (mut values, mut violations) = (Vec::with_capacity(count), Vec::new());
    for text in texts {
        match value.read_text(&text, rules) {
            Ok(item) if rules.is_lenient && values.contains(&item) => {}
            Ok(item) => values.push(item),
            Err(kind) => violations.push(Violation { text: text.into_owned(), kind }),
        }
    }
    if violations.is_empty() { Ok(Value::Array(values)) } else { Err(violations) }
}

impl<'a> RawParam<'a> {
    pub fn is_empty(self) -> bool {
        match self {
            Self::Text(texts) => texts.iter().all(String::is_empty),
            Self::Json(Value::String(text)) => text.is_empty(),
            Self::Json(value) => value.is_null(),
        }
    }

    /// The value as one text, if it is a single value.
    fn as_single_text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(texts) => texts.last().map(|text| text.as_str().into()),
            Self::Json(Value::String(text)) => Some(text.as_str().into()),
            Self::Json(Value::Number(number)) => Some(number.to_string().into()),
            Self::Json(Value::Bool(flag)) => Some(flag.to_string().into()),
            Self::Json(_) => None,
        }
    }

    /// The value as a list of texts: comma-separated, repeated, or an array.
    fn split_texts(self, is_lenient: bool) -> Option<Vec<Cow<'a, str>>> {
        let split = |text: &'a str| {
            let parts = text.split(',').map(move |part| if is_lenient { part.trim() } else { part });
            parts.filter(move |part| !is_lenient || !part.is_empty()).map(Cow::Borrowed)
        };
        match self {
            Self::Text(texts) => Some(texts.iter().flat_map(|text| split(text)).collect()),
            Self::Json(Value::Array(items)) => items.iter().map(|item| RawParam::Json(item).as_single_text()).collect(),
            Self::Json(Value::String(text)) => Some(split(text).collect()),
            Self::Json(_) => self.as_single_text().map(|text| vec![text]),
        }
    }

    fn joined_text(self) -> String {
        match self {
            Self::Text(texts) => texts.join(","),
            Self::Json(Value::String(text)) => text.clone(),
            Self::Json(value) => value.to_string(),
        }
    }

    /// The value as the Ads API shows it in error messages.
    pub fn display_text(self) -> String {
        self.joined_text().chars().take(100).collect()
    }
}

impl ValueKind {
    /// Reads one value into its stored form.
    pub(crate) fn read_text(self, text: &str, rules: &ReadingRules) -> Result<Value, ViolationKind> {
        if let Self::Custom(kind) = self {
            return kind.read_text(text);
        }
        // No database engine stores NUL in a text.
        if text.contains('\0') {
            return Err(ViolationKind::Malformed);
        }
        let well_formed = |value: Option<Value>| value.ok_or(ViolationKind::Malformed);
        match self {
            Self::Bool => {
                let flag = (rules.parse_bool)(text).map(|flag| i64::from(flag).into());
                flag.ok_or(ViolationKind::NotOneOf(&["true", "false"]))
            }
            Self::Int(min, max) => read_int(text, (min, max), rules),
            Self::Money => read_int(text, (1, i64::MAX), rules),
            Self::Id | Self::Long => well_formed(base::Id::<()>::parse(text).map(|id| id.get().into())),
            Self::Text(min, max) => {
                let length = base::text::normalize(text).chars().count();
                check_length(length, (min, max)).map(|()| text.into())
            }
            Self::Pattern(pattern) if (pattern.matches)(text) => Ok(text.into()),
            Self::Pattern(pattern) => Err(ViolationKind::Mismatch(pattern.regex)),
            Self::OneOf(words) => {
                let word = words.iter().find(|word| rules.is_same_word(word, text));
                word.map(|word| Value::from(*word)).ok_or(ViolationKind::NotOneOf(words))
            }
            Self::Word(words) => {
                let is_same =
                    |word: &&VocabularyWord| [word.post, word.tweet].iter().any(|one| rules.is_same_word(one, text));
                well_formed(words.iter().find(is_same).map(|word| word.post.into()))
            }
            Self::Time => well_formed((rules.parse_time)(text).map(|time| time.ms().into())),
            Self::Url => well_formed(is_url(text).then(|| text.into())),
            Self::Json => Ok(text.into()),
            Self::Object(_) | Self::Custom(_) => Err(ViolationKind::Malformed),
        }
    }
}

impl ReadingRules {
    fn is_same_word(&self, word: &str, text: &str) -> bool {
        word == text || self.is_lenient && word.eq_ignore_ascii_case(text)
    }
}

/// As the Ads API and v1.1 read flags.
pub fn parse_flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "1" => Some(true),
        "false" | "f" | "0" => Some(false),
        _ => None,
    }
}

fn read_int(text: &str, bounds: (i64, i64), rules: &ReadingRules) -> Result<Value, ViolationKind> {
    let plus = || text.strip_prefix('+').filter(|_| rules.accepts_plus_sign);
    let digits = text.strip_prefix('-').or_else(plus).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ViolationKind::Malformed);
    }
    let (min, max) = bounds;
    match text.parse() {
        Ok(number) => check_range(number, bounds).map(Value::from),
        Err(_) => Err(ViolationKind::NotInRange(min, max, text.starts_with('-'))),
    }
}

pub(crate) fn check_range(number: i64, (min, max): (i64, i64)) -> Result<i64, ViolationKind> {
    let is_below = number < min;
    if is_below || number > max { Err(ViolationKind::NotInRange(min, max, is_below)) } else { Ok(number) }
}

pub(crate) fn check_length(length: usize, (min, max): (usize, usize)) -> Result<(), ViolationKind> {
    if (min..=max).contains(&length) { Ok(()) } else { Err(ViolationKind::Length(length, min, max)) }
}

/// Whether a text is an absolute URL without whitespace or control characters.
fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let plain = !text.chars().any(|letter| letter.is_whitespace() || letter.is_control());
    plain && text.len() <= 2048 && host.is_some_and(|host| !host.is_empty() && !host.contains('@'))
}

pub fn truncate_for_echo(raw: &str) -> Cow<'_, str> {
    match raw.char_indices().nth(MAX_ECHOED_CHARS).and_then(|(end, _)| raw.get(..end)) {
        Some(start) => Cow::Owned(format!("{start}…")),
        None => Cow::Borrowed(raw),
    }
}

#[cfg(test)]
mod tests {
    use base::Time;
    use serde_json::{Value, json};

    use super::{RawParam, ReadingRules, ViolationKind, read};
    use crate::{Kind, parse_time};

    const STRICT: ReadingRules = ReadingRules {
        parse_bool: |text| text.parse().ok(),
        parse_time: Time::parse,
        accepts_plus_sign: false,
        is_lenient: false,
    };
    const LENIENT: ReadingRules = ReadingRules { parse_time, accepts_plus_sign: true, is_lenient: true, ..STRICT };

    fn read_text(kind: Kind, text: &str, rules: &ReadingRules) -> Result<Value, Vec<(String, ViolationKind)>> {
        let texts = [text.to_owned()];
        let read = read(kind, RawParam::Text(&texts), rules);
        read.map_err(|all| all.into_iter().map(|one| (one.text, one.kind)).collect())
    }

    fn only_violation(kind: Kind, text: &str) -> ViolationKind {
        read_text(kind, text, &STRICT).unwrap_err().remove(0).1
    }

    #[test]
    fn values_are_read_into_their_stored_form() {
        let words = Kind::one_of(&["ACTIVE", "PAUSED"]);
        for (kind, text, stored) in [
            (Kind::BOOL, "true", json!(1)),
            (Kind::ID, "0020", json!(20)),
            (Kind::int(-5, 5), "-5", json!(-5)),
            (Kind::TIME, "1970-01-01T00:00:01Z", json!(1000)),
            (Kind::text(1, 2), "éé", json!("éé")),
            (words, "ACTIVE", json!("ACTIVE")),
            (Kind::ID.list(1, 2), "1,2", json!([1, 2])),
            (Kind::URL, "https://a.example/?b", json!("https://a.example/?b")),
        ] {
            assert_eq!(read_text(kind, text, &STRICT), Ok(stored.clone()), "{text}");
            assert_eq!(read_text(kind, text, &LENIENT), Ok(stored), "{text}");
        }
        assert_eq!(read_text(words.list(0, 9), " active,,ACTIVE", &LENIENT), Ok(json!(["ACTIVE"])));
        assert_eq!(read_text(Kind::int(0, 9), "+5", &LENIENT), Ok(json!(5)));
    }

    #[test]
    fn every_wrong_item_of_a_list_is_reported() {
        let malformed = |text: &str| (text.to_owned(), ViolationKind::Malformed);
        assert_eq!(read_text(Kind::ID.list(1, 4), "1,x,", &STRICT), Err(vec![malformed("x"), malformed("")]));
        let count = ViolationKind::Count(3, 1, 2);
        assert_eq!(read_text(Kind::ID.list(1, 2), "1,2,3", &STRICT), Err(vec![("1,2,3".to_owned(), count)]));
    }

    #[test]
    fn numbers_out_of_range_differ_from_malformed_ones() {
        let range = |is_below| ViolationKind::NotInRange(1, 9, is_below);
        for (text, kind) in [
            ("0", range(true)),
            ("10", range(false)),
            ("99999999999999999999", range(false)),
            ("-99999999999999999999", range(true)),
            ("+5", ViolationKind::Malformed),
            ("-", ViolationKind::Malformed),
            ("1.5", ViolationKind::Malformed),
        ] {
            assert_eq!(only_violation(Kind::int(1, 9), text), kind, "{text}");
        }
        assert_eq!(only_violation(Kind::BOOL, "1"), ViolationKind::NotOneOf(&["true", "false"]));
        assert_eq!(only_violation(Kind::text(0, 9), "a\0"), ViolationKind::Malformed);
    }

    #[test]
    fn json_scalars_are_read_like_texts() {
        let read = |kind, value: Value| read(kind, RawParam::Json(&value), &LENIENT).ok();
        assert_eq!(read(Kind::int(0, 9), json!(5)), Some(json!(5)));
        assert_eq!(read(Kind::BOOL, json!(true)), Some(json!(1)));
        assert_eq!(read(Kind::ID.list(0, 9), json!([1, "2"])), Some(json!([1, 2])));
        assert_eq!(read(Kind::ID.list(0, 9), json!("1, 2")), Some(json!([1, 2])));
        assert_eq!(read(Kind::ID, json!([1])), None);
    }
}
