//! Parses operator values.

use crate::ast::TermValue;
use crate::geo::{GeoArea, MAX_RADIUS_METRES, METRES_PER_MILE, is_on_globe};
use crate::languages::parse_language;
use crate::operators::{FeatureKind, OperatorKind, QueryOperator};
use crate::post_features::{MatchMode, gram_feature};
use crate::words::{feature_hash, hash_text, hash_words, mix_hash, normalize_case};

pub(crate) fn parse_operator_value(operator: &QueryOperator, text: &str, mode: MatchMode) -> Option<TermValue> {
    match operator.kind {
        OperatorKind::Words(field) => {
            let text = normalize_case(text);
            let hashes = hash_words(field, &text, mode);
            (!hashes.is_empty()).then_some(TermValue::Words { text, hashes, near: None })
        }
        OperatorKind::Exact(FeatureKind::Country) if text.len() != 2 || !text.is_ascii() => None,
        OperatorKind::Exact(kind) if !text.is_empty() => {
            let text = normalize_case(text);
            let feature = hash_feature(kind, hash_text(&text, mode));
            Some(TermValue::Feature { text, feature })
        }
        OperatorKind::User(kind) => user_value(kind, text),
        OperatorKind::Id(kind) => {
            let feature = number_feature(kind, parse_id(text)?);
            let text = text.to_owned();
            Some(TermValue::Feature { text, feature })
        }
        OperatorKind::Context => context_value(text),
        OperatorKind::Flag(bit) => Some(TermValue::Flag(bit)),
        OperatorKind::Language => parse_language(text).map(TermValue::Language),
        OperatorKind::Sample => {
            let share = parse_number(text)?;
            let share = u8::try_from(share).ok()?;
            (1..=100).contains(&share).then_some(TermValue::Sample(share))
        }
        OperatorKind::Counter(_) => range_value(text, mode == MatchMode::Stream),
        OperatorKind::Circle => circle_value(text),
        OperatorKind::Rectangle => rectangle_value(text),
        OperatorKind::Substring(_) if !text.is_empty() => Some(TermValue::Substring(normalize_case(text))),
        OperatorKind::Exact(_) | OperatorKind::Substring(_) | OperatorKind::Embedding => None,
    }
}

#[expect(clippy::as_conversions, reason = "a fieldless enum's number")]
pub(crate) const fn hash_feature(kind: FeatureKind, hash: u64) -> u64 {
    feature_hash(kind as u64, hash)
}

pub(crate) const fn number_feature(kind: FeatureKind, number: u64) -> u64 {
    hash_feature(kind, mix_hash(number.wrapping_add(0x5bd1_e995)))
}

pub(crate) fn gram_features(kind: FeatureKind, text: &str) -> impl Iterator<Item = u64> + '_ {
    text.as_bytes().array_windows::<4>().map(move |bytes| gram_feature(kind, *bytes))
}

fn parse_number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

fn parse_id(text: &str) -> Option<u64> {
    parse_number(text).filter(|_| text.len() <= 19)
}

fn user_value(kind: FeatureKind, text: &str) -> Option<TermValue> {
    if let Some(id) = parse_number(text) {
        return Some(TermValue::Feature { text: text.to_owned(), feature: number_feature(kind, id) });
    }
    let is_valid =
        !text.is_empty() && text.len() <= 50 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_valid.then(|| TermValue::Feature {
        text: text.to_ascii_lowercase(),
        feature: hash_feature(kind, hash_text(text, MatchMode::Stream)),
    })
}

fn context_value(text: &str) -> Option<TermValue> {
    let (domain, entity) = text.split_once('.')?;
    let feature = match (domain, entity) {
        ("*", "*") => return None,
        ("*", entity) => number_feature(FeatureKind::ContextEntity, parse_id(entity)?),
        (domain, "*") => number_feature(FeatureKind::ContextDomain, parse_id(domain)?),
        (domain, entity) => context_feature(parse_id(domain)?, parse_id(entity)?),
    };
    Some(TermValue::Feature { text: text.to_owned(), feature })
}

pub(crate) const fn context_feature(domain: u64, entity: u64) -> u64 {
    number_feature(FeatureKind::Context, mix_hash(domain).wrapping_add(entity))
}

fn range_value(text: &str, allow_ranges: bool) -> Option<TermValue> {
    match text.split_once("..") {
        Some((min, max)) if allow_ranges => {
            let (min, max) = (parse_number(min)?, parse_number(max)?);
            (min <= max && max < u64::MAX).then_some(TermValue::Range(min, max))
        }
        Some(_) => None,
        None => parse_number(text).map(|min| TermValue::Range(min, u64::MAX)),
    }
}

fn bracketed_words(text: &str) -> Option<std::str::SplitWhitespace<'_>> {
    Some(text.strip_prefix('[')?.strip_suffix(']')?.split_whitespace())
}

fn parse_degrees(text: &str) -> Option<f64> {
    text.bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+'))
        .then(|| text.parse::<f64>().ok())?
        .map(|number| number + 0.0)
}

fn circle_value(text: &str) -> Option<TermValue> {
    let mut parts = bracketed_words(text)?;
    let (lon, lat) = (parse_degrees(parts.next()?)?, parse_degrees(parts.next()?)?);
    let radius = parts.next()?.to_ascii_lowercase();
    let (radius, miles) = match (radius.strip_suffix("mi"), radius.strip_suffix("km")) {
        (Some(number), _) => (parse_degrees(number)?, true),
        (_, Some(number)) => (parse_degrees(number)?, false),
        _ => return None,
    };
    let is_valid = parts.next().is_none()
        && is_on_globe((lon, lat))
        && radius > 0.0
        && to_metres(radius, miles) < MAX_RADIUS_METRES;
    is_valid.then_some(TermValue::Circle(lon, lat, radius, miles))
}

pub(crate) fn to_metres(radius: f64, miles: bool) -> f64 {
    radius * if miles { METRES_PER_MILE } else { 1_000.0 }
}

fn rectangle_value(text: &str) -> Option<TermValue> {
    let mut parts = bracketed_words(text)?;
    let mut next = || parse_degrees(parts.next()?);
    let area = GeoArea { west: next()?, south: next()?, east: next()?, north: next()? };
    (parts.next().is_none() && area.is_valid()).then_some(TermValue::Rectangle(area))
}
