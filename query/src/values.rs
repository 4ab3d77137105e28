//! An operator's value: from text to what is compared.

use crate::ast::Value;
use crate::facts::{Reading, gram};
use crate::geo::{Area, LONGEST, MILE, on_globe};
use crate::languages::language;
use crate::operators::{How, Mark, Operator};
use crate::words::{feature, hash, lower, spread, words};

/// Reads a value as its operator does; none where it cannot be one.
pub(crate) fn value(operator: &Operator, text: &str, reading: Reading) -> Option<Value> {
    match operator.how {
        How::Words(field) => {
            let text = lower(text);
            let hashes = words(field, &text, reading);
            (!hashes.is_empty()).then_some(Value::Words {
                text,
                hashes,
                near: None,
            })
        }
        How::Exact(Mark::Country) if text.len() != 2 || !text.is_ascii() => None,
        How::Exact(mark) if !text.is_empty() => {
            let text = lower(text);
            let feature = whole(mark, hash(&text, reading));
            Some(Value::Feature { text, feature })
        }
        How::User(mark) => user(mark, text),
        How::Id(mark) => {
            let feature = number(mark, id(text)?);
            let text = text.to_owned();
            Some(Value::Feature { text, feature })
        }
        How::Context => context(text),
        How::Flag(bit) => Some(Value::Flag(bit)),
        How::Language => language(text).map(Value::Language),
        How::Sample => {
            let share = plain(text)?;
            let share = u8::try_from(share).ok()?;
            (1..=100).contains(&share).then_some(Value::Sample(share))
        }
        How::Counter(_) => between(text, reading == Reading::Stream),
        How::Circle => circle(text),
        How::Rectangle => rectangle(text),
        How::Part(_) if !text.is_empty() => Some(Value::Part(lower(text))),
        How::Exact(_) | How::Part(_) | How::Meaning => None,
    }
}

/// The feature of a whole text of a kind.
#[expect(clippy::as_conversions, reason = "a fieldless enum's number")]
pub(crate) const fn whole(mark: Mark, hash: u64) -> u64 {
    feature(mark as u64, hash)
}

/// The feature of a number of a kind.
pub(crate) const fn number(mark: Mark, number: u64) -> u64 {
    whole(mark, spread(number.wrapping_add(0x5bd1_e995)))
}

/// The features of a literal part, four bytes each.
pub(crate) fn grams(mark: Mark, text: &str) -> impl Iterator<Item = u64> + '_ {
    text.as_bytes()
        .array_windows::<4>()
        .map(move |bytes| gram(mark, *bytes))
}

fn plain(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

fn id(text: &str) -> Option<u64> {
    plain(text).filter(|_| text.len() <= 19)
}

fn user(mark: Mark, text: &str) -> Option<Value> {
    if let Some(id) = plain(text) {
        return Some(Value::Feature {
            text: text.to_owned(),
            feature: number(mark, id),
        });
    }
    let sound = !text.is_empty()
        && text.len() <= 50
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    sound.then(|| Value::Feature {
        text: text.to_ascii_lowercase(),
        feature: whole(mark, hash(text, Reading::Stream)),
    })
}

fn context(text: &str) -> Option<Value> {
    let (domain, entity) = text.split_once('.')?;
    let feature = match (domain, entity) {
        ("*", "*") => return None,
        ("*", entity) => number(Mark::ContextEntity, id(entity)?),
        (domain, "*") => number(Mark::ContextDomain, id(domain)?),
        (domain, entity) => pair(id(domain)?, id(entity)?),
    };
    Some(Value::Feature {
        text: text.to_owned(),
        feature,
    })
}

/// The feature of an entity in a domain.
pub(crate) const fn pair(domain: u64, entity: u64) -> u64 {
    number(Mark::Context, spread(domain).wrapping_add(entity))
}

fn between(text: &str, ranges: bool) -> Option<Value> {
    match text.split_once("..") {
        Some((least, most)) if ranges => {
            let (least, most) = (plain(least)?, plain(most)?);
            (least <= most && most < u64::MAX).then_some(Value::Between(least, most))
        }
        Some(_) => None,
        None => plain(text).map(|least| Value::Between(least, u64::MAX)),
    }
}

fn inside(text: &str) -> Option<std::str::SplitWhitespace<'_>> {
    Some(
        text.strip_prefix('[')?
            .strip_suffix(']')?
            .split_whitespace(),
    )
}

fn degrees(text: &str) -> Option<f64> {
    text.bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+'))
        .then(|| text.parse::<f64>().ok())?
        .map(|number| number + 0.0)
}

fn circle(text: &str) -> Option<Value> {
    let mut parts = inside(text)?;
    let (lon, lat) = (degrees(parts.next()?)?, degrees(parts.next()?)?);
    let radius = parts.next()?.to_ascii_lowercase();
    let (radius, miles) = match (radius.strip_suffix("mi"), radius.strip_suffix("km")) {
        (Some(number), _) => (degrees(number)?, true),
        (_, Some(number)) => (degrees(number)?, false),
        _ => return None,
    };
    let sound = parts.next().is_none()
        && on_globe((lon, lat))
        && radius > 0.0
        && metres(radius, miles) <= LONGEST;
    sound.then_some(Value::Circle(lon, lat, radius, miles))
}

/// A radius in metres.
pub(crate) fn metres(radius: f64, miles: bool) -> f64 {
    radius * if miles { MILE } else { 1_000.0 }
}

fn rectangle(text: &str) -> Option<Value> {
    let mut parts = inside(text)?;
    let mut next = || degrees(parts.next()?);
    let area = Area {
        west: next()?,
        south: next()?,
        east: next()?,
        north: next()?,
    };
    (parts.next().is_none() && area.is_sound()).then_some(Value::Within(area))
}
