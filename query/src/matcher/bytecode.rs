//! A compact encoding of rules, and its evaluation for a post.

use crate::ast::{QueryNode, QueryTerm, TermValue};
use crate::evaluate::{contains_substring, contains_words, is_sampled};
use crate::geo::{GeoArea, distance_metres};
use crate::languages::language_matches;
use crate::operators::{OperatorKind, PostCounter};
use crate::post_features::PostFeatures;
use crate::values::to_metres;
use crate::words::{WordField, word_feature};

const ALL: u8 = 0;
const ANY: u8 = 1;
const FLAGS: u8 = 2;
const LANGUAGE: u8 = 3;
const FEATURE: u8 = 4;
const SAMPLE: u8 = 5;
const RANGE: u8 = 6;
const WORDS: u8 = 7;
const CIRCLE: u8 = 8;
const RECTANGLE: u8 = 9;
const SUBSTRING: u8 = 10;
const NEVER: u8 = 11;
const NOT: u8 = 0x80;

const FIELDS: [WordField; 10] = [
    WordField::Text,
    WordField::Link,
    WordField::Title,
    WordField::Description,
    WordField::Bio,
    WordField::Name,
    WordField::Location,
    WordField::Place,
    WordField::Entity,
    WordField::Source,
];

const COUNTERS: [PostCounter; 7] = [
    PostCounter::Likes,
    PostCounter::Replies,
    PostCounter::Reposts,
    PostCounter::Followers,
    PostCounter::Following,
    PostCounter::Posts,
    PostCounter::Listed,
];

pub(super) fn compile(root: &QueryNode) -> Box<[u8]> {
    let mut code = Vec::new();
    compile_node(root, &mut code);
    code.into_boxed_slice()
}

fn compile_node(node: &QueryNode, code: &mut Vec<u8>) {
    let (kind, parts) = match node {
        QueryNode::Is(term) => return compile_term(term, 0, code),
        QueryNode::Not(term) => return compile_term(term, NOT, code),
        QueryNode::All(parts) => (ALL, parts),
        QueryNode::Any(parts) => (ANY, parts),
    };
    let mut order: Vec<&QueryNode> = parts.iter().collect();
    order.sort_by_key(|part| evaluation_cost(part));
    code.push(kind);
    let length = code.len();
    code.extend([0; 4]);
    for part in order {
        compile_node(part, code);
    }
    let size = u32::try_from(code.len() - length - 4).unwrap_or(u32::MAX);
    if let Some(field) = code.get_mut(length..length + 4) {
        field.copy_from_slice(&size.to_le_bytes());
    }
}

/// Cheap tests first.
fn evaluation_cost(node: &QueryNode) -> u8 {
    match node {
        QueryNode::All(_) | QueryNode::Any(_) => 4,
        QueryNode::Is(term) | QueryNode::Not(term) => match &term.value {
            TermValue::Flag(_) | TermValue::Language(_) => 0,
            TermValue::Feature { .. } => 1,
            TermValue::Words { hashes, .. } if hashes.len() == 1 => 1,
            TermValue::Sample(_) | TermValue::Range(..) => 2,
            TermValue::Words { .. } => 5,
            TermValue::Circle(..) | TermValue::Rectangle(_) => 6,
            TermValue::Substring(_) => 7,
        },
    }
}

#[expect(clippy::as_conversions, reason = "fieldless enums' numbers")]
fn compile_term(term: &QueryTerm, not: u8, code: &mut Vec<u8>) {
    let mut push_opcode = |kind: u8| code.push(kind | not);
    match (&term.value, term.operator.kind) {
        (TermValue::Words { hashes, near, .. }, OperatorKind::Words(field)) => {
            if let [word] = **hashes {
                push_opcode(FEATURE);
                code.extend(word_feature(field, word).to_le_bytes());
                return;
            }
            push_opcode(WORDS);
            let size = u16::try_from(hashes.len()).unwrap_or(u16::MAX);
            code.extend([field as u8, near.unwrap_or(0)]);
            code.extend(size.to_le_bytes());
            code.extend(hashes.iter().flat_map(|word| word.to_le_bytes()));
        }
        (TermValue::Feature { feature, .. }, _) => {
            push_opcode(FEATURE);
            code.extend(feature.to_le_bytes());
        }
        (TermValue::Flag(bit), _) => {
            push_opcode(FLAGS);
            code.extend(bit.to_le_bytes());
        }
        (TermValue::Language(language), _) => {
            push_opcode(LANGUAGE);
            code.push(*language);
        }
        (TermValue::Sample(share), _) => {
            push_opcode(SAMPLE);
            code.push(*share);
        }
        (TermValue::Range(min, max), OperatorKind::Counter(counter)) => {
            push_opcode(RANGE);
            code.push(counter as u8);
            code.extend(min.to_le_bytes());
            code.extend(max.to_le_bytes());
        }
        (TermValue::Circle(lon, lat, radius, miles), _) => {
            push_opcode(CIRCLE);
            for number in [*lon, *lat, to_metres(*radius, *miles)] {
                code.extend(number.to_le_bytes());
            }
        }
        (TermValue::Rectangle(area), _) => {
            push_opcode(RECTANGLE);
            for number in [area.west, area.south, area.east, area.north] {
                code.extend(number.to_le_bytes());
            }
        }
        (TermValue::Substring(part), OperatorKind::Substring(link)) => {
            push_opcode(SUBSTRING);
            let size = u16::try_from(part.len()).unwrap_or(u16::MAX);
            code.push(u8::from(link));
            code.extend(size.to_le_bytes());
            code.extend(part.as_bytes());
        }
        _ => push_opcode(NEVER),
    }
}

pub(super) fn evaluate(mut code: &[u8], facts: &PostFeatures<'_>) -> bool {
    !code.is_empty() && evaluate_node(&mut code, facts)
}

fn evaluate_node(code: &mut &[u8], facts: &PostFeatures<'_>) -> bool {
    let [kind] = read_array(code);
    match kind {
        ALL | ANY => {
            let size = u32::from_le_bytes(read_array(code));
            let mut children = read_slice(code, usize::try_from(size).unwrap_or(usize::MAX));
            let is_any = kind == ANY;
            while !children.is_empty() {
                if evaluate_node(&mut children, facts) == is_any {
                    return is_any;
                }
            }
            !is_any
        }
        negated if negated & NOT != 0 => !evaluate_term(negated & !NOT, code, facts),
        plain => evaluate_term(plain, code, facts),
    }
}

fn evaluate_term(kind: u8, code: &mut &[u8], facts: &PostFeatures<'_>) -> bool {
    match kind {
        FLAGS => u16::from_le_bytes(read_array(code)) & facts.flags != 0,
        LANGUAGE => {
            let [language] = read_array(code);
            language_matches(language, facts.language)
        }
        FEATURE => facts.features.contains(u64::from_le_bytes(read_array(code))),
        SAMPLE => {
            let [share] = read_array(code);
            is_sampled(share, facts)
        }
        RANGE => {
            let [counter] = read_array(code);
            let (min, max) = (u64::from_le_bytes(read_array(code)), u64::from_le_bytes(read_array(code)));
            COUNTERS
                .get(usize::from(counter))
                .is_some_and(|counter| (min..=max).contains(&facts.counter_value(*counter)))
        }
        WORDS => evaluate_words(code, facts),
        CIRCLE => {
            let [lon, lat, max_distance] = [(); 3].map(|()| f64::from_le_bytes(read_array(code)));
            facts.location_matches(|point| distance_metres(point, (lon, lat)) <= max_distance)
        }
        RECTANGLE => {
            let [west, south, east, north] = [(); 4].map(|()| f64::from_le_bytes(read_array(code)));
            let area = GeoArea { west, south, east, north };
            facts.location_matches(|point| area.contains(point))
        }
        SUBSTRING => {
            let [link] = read_array(code);
            let size = u16::from_le_bytes(read_array(code));
            let literal = read_slice(code, usize::from(size));
            str::from_utf8(literal).is_ok_and(|literal| contains_substring(link == 1, literal, facts))
        }
        _ => false,
    }
}

fn evaluate_words(code: &mut &[u8], facts: &PostFeatures<'_>) -> bool {
    let [field, near] = read_array(code);
    let size = u16::from_le_bytes(read_array(code));
    let words = read_slice(code, usize::from(size) * 8);
    let Some(field) = FIELDS.get(usize::from(field).wrapping_sub(1)).copied() else {
        return false;
    };
    let (words, _) = words.as_chunks::<8>();
    let mut hashes = words.iter().map(|bytes| u64::from_le_bytes(*bytes));
    // Most posts lack one of the words: the list is only built for the others.
    hashes.clone().all(|word| facts.features.contains(word_feature(field, word)))
        && contains_words(facts, field, &hashes.by_ref().collect::<Vec<u64>>(), near)
}

fn read_array<const N: usize>(code: &mut &[u8]) -> [u8; N] {
    let (first, rest) = code.split_first_chunk::<N>().unwrap_or((&[0; N], &[]));
    *code = rest;
    *first
}

fn read_slice<'a>(code: &mut &'a [u8], size: usize) -> &'a [u8] {
    let (first, rest) = code.split_at_checked(size).unwrap_or((code, &[]));
    *code = rest;
    first
}
