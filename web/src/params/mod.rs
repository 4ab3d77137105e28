//! Path and query parameters, read as an operation declares them.

mod wrong;

use base::refusal::InvalidParameter;
use base::{Refusal, Time, Vocabulary};
use view::{FieldSelection, ObjectKind};

pub(crate) use wrong::shown;
use wrong::{empty, garbled, invalid, no_text, not_one_of, repeated, unknown, wrong};

use crate::endpoint::{Accent, Endpoint, Kind, Param, Pattern, Place};

/// A parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An id.
    Id(i64),
    /// Ids.
    Ids(Vec<i64>),
    /// A whole number.
    Int(i64),
    /// Yes or no.
    Flag(bool),
    /// A moment.
    Time(Time),
    /// A text, a word or a token.
    Text(String),
    /// Several words.
    Texts(Vec<String>),
}

/// A parameter that came.
#[derive(Clone, Debug)]
pub struct Given {
    /// What was declared.
    pub param: &'static Param,
    /// The name that the caller used for it.
    pub spelled: &'static str,
    /// Its value as it came, decoded.
    pub raw: String,
    /// Its value, read.
    pub value: Value,
}

/// All parameters of a request.
#[derive(Clone, Debug, Default)]
pub struct Params {
    given: Vec<Given>,
    wants: Option<FieldSelection>,
}

impl Params {
    /// Reads path and query as `endpoint` declares them; all that is wrong is told at once.
    pub fn read(
        endpoint: &'static Endpoint,
        path: Vec<(&'static str, String)>,
        query: &str,
    ) -> Result<Self, Refusal> {
        let mut reader = Reader {
            endpoint,
            given: Vec::with_capacity(path.len()),
            wrong: Vec::new(),
        };
        for (name, raw) in path {
            reader.take(Place::Path, name, raw);
        }
        match base::percent::parse_form(query) {
            Ok(pairs) => {
                for (name, raw) in pairs {
                    reader.take(Place::Query, &name, raw);
                }
                reader.miss();
            }
            Err(bad) => reader.wrong.push(garbled(bad.parameter_name())),
        }
        let wants = reader.wants();
        if reader.wrong.is_empty() {
            Ok(Self {
                given: reader.given,
                wants,
            })
        } else {
            Err(Refusal::InvalidParameters(reader.wrong))
        }
    }

    /// The parameters of the path as they came, for an operation that reads the rest by itself.
    pub fn of_path(endpoint: &'static Endpoint, path: Vec<(&'static str, String)>) -> Self {
        let given = path.into_iter().filter_map(|(name, raw)| {
            let (param, spelled) = declared(endpoint, Place::Path, name)?;
            Some(Given {
                param,
                spelled,
                value: Value::Text(raw.clone()),
                raw,
            })
        });
        Self {
            given: given.collect(),
            wants: None,
        }
    }

    /// A parameter by its declared name.
    pub fn get(&self, name: &str) -> Option<&Given> {
        self.given.iter().find(|given| given.param.name == name)
    }

    /// What the answer is to show, where the operation lets the caller choose.
    pub const fn wants(&self) -> Option<&FieldSelection> {
        self.wants.as_ref()
    }

    /// The vocabulary that fields and expansions give away.
    pub fn betrayed(&self) -> Option<Vocabulary> {
        self.wants
            .as_ref()
            .and_then(FieldSelection::detected_vocabulary)
    }

    /// All parameters, the path's first.
    pub fn iter(&self) -> impl Iterator<Item = &Given> {
        self.given.iter()
    }
}

struct Reader {
    endpoint: &'static Endpoint,
    given: Vec<Given>,
    wrong: Vec<InvalidParameter>,
}

impl Reader {
    fn take(&mut self, place: Place, name: &str, raw: String) {
        let Some((param, spelled)) = declared(self.endpoint, place, name) else {
            match place {
                // Credentials, judged where they belong.
                Place::Query if name.starts_with("oauth_") => {}
                // What pages do not know they pass over (RFC 6749 §3.1).
                Place::Query if self.endpoint.accent == Accent::Page => {}
                Place::Query => self.wrong.push(unknown(self.endpoint, name, &raw)),
                // The path's shape is the table's own doing; an id is what it nearly always is.
                Place::Path => {}
            }
            return;
        };
        let before = self
            .given
            .iter()
            .find(|given| std::ptr::eq(given.param, param));
        match before {
            // `post.fields` beside `tweet.fields`: a client that speaks to both generations.
            Some(before) if before.spelled != spelled && param.kind.adds_up() => {}
            Some(_) => return self.wrong.push(repeated(spelled, &raw)),
            None => {}
        }
        let value = match read(param, spelled, &raw) {
            Ok(value) => value,
            Err(wrong) => {
                self.wrong.extend(wrong);
                Value::Text(String::new())
            }
        };
        self.given.push(Given {
            param,
            spelled,
            raw,
            value,
        });
    }

    /// Reads `*.fields` and `expansions` into what an answer shows.
    fn wants(&mut self) -> Option<FieldSelection> {
        let mut wants = FieldSelection::defaults(root(self.endpoint)?);
        for given in self.given.iter().filter(|given| !given.raw.is_empty()) {
            let asked = match given.param.kind {
                Kind::Fields(object) => wants.add_fields_param(object, given.spelled, &given.raw),
                Kind::Expansions(_) => wants.add_expansions_param(given.spelled, &given.raw),
                _ => Ok(()),
            };
            if let Err(Refusal::InvalidParameters(wrong)) = asked {
                self.wrong.extend(wrong);
            }
        }
        Some(wants)
    }

    /// Notes what is required and did not come.
    fn miss(&mut self) {
        for param in self.endpoint.params.iter().copied().flatten() {
            let came = self
                .given
                .iter()
                .any(|given| std::ptr::eq(given.param, param));
            if param.required && !came && param.place == Place::Query {
                self.wrong.push(empty(param.name, &[]));
            }
        }
    }
}

/// The object that an operation answers with: what it expands, else the first it has fields of.
fn root(endpoint: &Endpoint) -> Option<ObjectKind> {
    let kinds = || {
        endpoint
            .params
            .iter()
            .copied()
            .flatten()
            .map(|param| param.kind)
    };
    let expanded = kinds().find_map(|kind| match kind {
        Kind::Expansions(object) => Some(object),
        _ => None,
    });
    let fielded = || {
        kinds().find_map(|kind| match kind {
            Kind::Fields(object) => Some(object),
            _ => None,
        })
    };
    expanded.or_else(fielded)
}

impl Kind {
    fn adds_up(self) -> bool {
        matches!(self, Self::Fields(_) | Self::Expansions(_))
    }
}

fn declared(
    endpoint: &'static Endpoint,
    place: Place,
    name: &str,
) -> Option<(&'static Param, &'static str)> {
    let params = endpoint.params.iter().copied().flatten();
    params
        .filter(|param| param.place == place)
        .find_map(|param| {
            let mut names = std::iter::once(&param.name).chain(param.aliases);
            names
                .find(|known| **known == name)
                .map(|known| (param, *known))
        })
}

fn read(param: &Param, name: &'static str, raw: &str) -> Result<Value, Vec<InvalidParameter>> {
    if raw.is_empty() {
        return Err(vec![match param.kind {
            Kind::Text(..) => no_text(name),
            _ => empty(name, &[raw]),
        }]);
    }
    if raw.contains('\0') {
        return Err(vec![invalid(name, raw)]);
    }
    match param.kind {
        Kind::Id => id(raw)
            .map(Value::Id)
            .ok_or_else(|| vec![invalid(name, raw)]),
        Kind::Ids(least, most) => {
            let ids = list(name, raw, least, most, |item| {
                id(item).ok_or_else(|| invalid(name, item))
            });
            ids.map(Value::Ids)
        }
        Kind::Username => username(name, raw)
            .map(Value::Text)
            .map_err(|wrong| vec![wrong]),
        Kind::Usernames(least, most) => {
            list(name, raw, least, most, |item| username(name, item)).map(Value::Texts)
        }
        Kind::Int(low, high, _) => int(name, raw, low, high),
        Kind::OneOf(words) => word(name, raw, words)
            .map(Value::Text)
            .map_err(|wrong| vec![wrong]),
        Kind::SomeOf(words) => {
            list(name, raw, 1, usize::MAX, |item| word(name, item, words)).map(Value::Texts)
        }
        Kind::Time => {
            let time = Time::parse(raw).map(Value::Time);
            time.ok_or_else(|| vec![invalid(name, raw)])
        }
        Kind::PageToken | Kind::Fields(_) | Kind::Expansions(_) => Ok(Value::Text(raw.to_owned())),
        // Python's clients write their own words for these into addresses.
        Kind::Bool => match raw {
            "true" | "True" => Ok(Value::Flag(true)),
            "false" | "False" => Ok(Value::Flag(false)),
            _ => Err(vec![not_one_of(name, raw, &["true", "false"])]),
        },
        Kind::Text(least, most) => text(name, raw, least, most),
        Kind::Pattern(pattern) => follows(name, raw, pattern)
            .map(Value::Text)
            .map_err(|wrong| vec![wrong]),
        Kind::Patterns(pattern, least, most) => {
            list(name, raw, least, most, |item| follows(name, item, pattern)).map(Value::Texts)
        }
    }
}

/// Comma-separated values; each that is wrong is told.
fn list<T>(
    name: &'static str,
    raw: &str,
    least: usize,
    most: usize,
    read: impl Fn(&str) -> Result<T, InvalidParameter>,
) -> Result<Vec<T>, Vec<InvalidParameter>> {
    let count = raw.split(',').count();
    if count < least || count > most {
        let message = format!(
            "The number of values in the `{name}` query parameter list [{count}] is not between \
             {least} and {most}"
        );
        return Err(vec![wrong(name, raw, message)]);
    }
    let (mut values, mut wrongs) = (Vec::with_capacity(count), Vec::new());
    for item in raw.split(',') {
        match read(item) {
            Ok(value) => values.push(value),
            Err(wrong) => wrongs.push(wrong),
        }
    }
    if wrongs.is_empty() {
        Ok(values)
    } else {
        Err(wrongs)
    }
}

fn id(raw: &str) -> Option<i64> {
    base::Id::<()>::parse(raw).map(base::Id::get)
}

fn username(name: &'static str, raw: &str) -> Result<String, InvalidParameter> {
    follows(name, raw, &USERNAME)
}

const USERNAME: Pattern = Pattern {
    text: "^[A-Za-z0-9_]{1,15}$",
    holds: |text| {
        let plain = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        plain && (1..=15).contains(&text.len())
    },
};

fn follows(name: &'static str, raw: &str, pattern: &Pattern) -> Result<String, InvalidParameter> {
    if (pattern.holds)(raw) {
        return Ok(raw.to_owned());
    }
    let (shown, pattern) = (shown(raw), pattern.text);
    let message = format!("The `{name}` query parameter value [{shown}] does not match {pattern}");
    Err(wrong(name, raw, message))
}

fn int(name: &'static str, raw: &str, low: i64, high: i64) -> Result<Value, Vec<InvalidParameter>> {
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(vec![invalid(name, raw)]);
    }
    let number = raw
        .parse::<i64>()
        .ok()
        .filter(|number| (low..=high).contains(number));
    number.map(Value::Int).ok_or_else(|| {
        let shown = shown(raw);
        let message =
            format!("The `{name}` query parameter value [{shown}] is not between {low} and {high}");
        vec![wrong(name, raw, message)]
    })
}

fn word(name: &'static str, raw: &str, words: &[&str]) -> Result<String, InvalidParameter> {
    if words.contains(&raw) {
        Ok(raw.to_owned())
    } else {
        Err(not_one_of(name, raw, words))
    }
}

fn text(
    name: &'static str,
    raw: &str,
    least: usize,
    most: usize,
) -> Result<Value, Vec<InvalidParameter>> {
    let length = raw.chars().count();
    if (least..=most).contains(&length) {
        return Ok(Value::Text(raw.to_owned()));
    }
    let message = format!(
        "The length of the `{name}` query parameter value [{length}] is not between {least} and \
         {most}"
    );
    Err(vec![wrong(name, raw, message)])
}

#[cfg(test)]
mod tests;
