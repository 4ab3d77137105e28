//! A rule in as few bytes as it needs, and what they mean for a post.

use crate::ast::{Node, Term, Value};
use crate::evaluate::{counted, part_of, run, sampled};
use crate::facts::Facts;
use crate::geo::{Area, distance};
use crate::languages::same;
use crate::operators::{Counter, How};
use crate::values::metres;
use crate::words::{Field, word_in};

const ALL: u8 = 0;
const ANY: u8 = 1;
const FLAGS: u8 = 2;
const LANGUAGE: u8 = 3;
const HAS: u8 = 4;
const SAMPLE: u8 = 5;
const BETWEEN: u8 = 6;
const RUN: u8 = 7;
const CIRCLE: u8 = 8;
const WITHIN: u8 = 9;
const PART: u8 = 10;
const NEVER: u8 = 11;
const NOT: u8 = 0x80;

const FIELDS: [Field; 10] = [
    Field::Text,
    Field::Link,
    Field::Title,
    Field::Description,
    Field::Bio,
    Field::Name,
    Field::Location,
    Field::Place,
    Field::Entity,
    Field::Source,
];

const COUNTERS: [Counter; 7] = [
    Counter::Likes,
    Counter::Replies,
    Counter::Reposts,
    Counter::Followers,
    Counter::Following,
    Counter::Posts,
    Counter::Listed,
];

/// A tree as bytes.
pub(super) fn compile(root: &Node) -> Box<[u8]> {
    let mut code = Vec::new();
    node(root, &mut code);
    code.into_boxed_slice()
}

fn node(of: &Node, code: &mut Vec<u8>) {
    let (kind, parts) = match of {
        Node::Is(is) => return term(is, 0, code),
        Node::Not(not) => return term(not, NOT, code),
        Node::All(parts) => (ALL, parts),
        Node::Any(parts) => (ANY, parts),
    };
    let mut order: Vec<&Node> = parts.iter().collect();
    order.sort_by_key(|part| effort(part));
    code.push(kind);
    let length = code.len();
    code.extend([0; 4]);
    for part in order {
        node(part, code);
    }
    let size = u32::try_from(code.len() - length - 4).unwrap_or(u32::MAX);
    if let Some(place) = code.get_mut(length..length + 4) {
        place.copy_from_slice(&size.to_le_bytes());
    }
}

/// Cheap tests come first.
fn effort(of: &Node) -> u8 {
    match of {
        Node::All(_) | Node::Any(_) => 4,
        Node::Is(term) | Node::Not(term) => match &term.value {
            Value::Flag(_) | Value::Language(_) => 0,
            Value::Feature { .. } => 1,
            Value::Words { hashes, .. } if hashes.len() == 1 => 1,
            Value::Sample(_) | Value::Between(..) => 2,
            Value::Words { .. } => 5,
            Value::Circle(..) | Value::Within(_) => 6,
            Value::Part(_) => 7,
        },
    }
}

#[expect(clippy::as_conversions, reason = "fieldless enums' numbers")]
fn term(of: &Term, not: u8, code: &mut Vec<u8>) {
    let mut begin = |kind: u8| code.push(kind | not);
    match (&of.value, of.operator.how) {
        (Value::Words { hashes, near, .. }, How::Words(field)) => {
            if let [word] = **hashes {
                begin(HAS);
                code.extend(word_in(field, word).to_le_bytes());
                return;
            }
            begin(RUN);
            let size = u16::try_from(hashes.len()).unwrap_or(u16::MAX);
            code.extend([field as u8, near.unwrap_or(0)]);
            code.extend(size.to_le_bytes());
            code.extend(hashes.iter().flat_map(|word| word.to_le_bytes()));
        }
        (Value::Feature { feature, .. }, _) => {
            begin(HAS);
            code.extend(feature.to_le_bytes());
        }
        (Value::Flag(bit), _) => {
            begin(FLAGS);
            code.extend(bit.to_le_bytes());
        }
        (Value::Language(language), _) => {
            begin(LANGUAGE);
            code.push(*language);
        }
        (Value::Sample(share), _) => {
            begin(SAMPLE);
            code.push(*share);
        }
        (Value::Between(least, most), How::Counter(counter)) => {
            begin(BETWEEN);
            code.push(counter as u8);
            code.extend(least.to_le_bytes());
            code.extend(most.to_le_bytes());
        }
        (Value::Circle(lon, lat, radius, miles), _) => {
            begin(CIRCLE);
            for number in [*lon, *lat, metres(*radius, *miles)] {
                code.extend(number.to_le_bytes());
            }
        }
        (Value::Within(area), _) => {
            begin(WITHIN);
            for number in [area.west, area.south, area.east, area.north] {
                code.extend(number.to_le_bytes());
            }
        }
        (Value::Part(part), How::Part(link)) => {
            begin(PART);
            let size = u16::try_from(part.len()).unwrap_or(u16::MAX);
            code.push(u8::from(link));
            code.extend(size.to_le_bytes());
            code.extend(part.as_bytes());
        }
        _ => begin(NEVER),
    }
}

/// Whether a post is what the bytes ask for.
pub(super) fn holds(mut code: &[u8], facts: &Facts<'_>) -> bool {
    !code.is_empty() && step(&mut code, facts)
}

fn step(code: &mut &[u8], facts: &Facts<'_>) -> bool {
    let [kind] = take(code);
    match kind {
        ALL | ANY => {
            let size = u32::from_le_bytes(take(code));
            let mut inside = part(code, usize::try_from(size).unwrap_or(usize::MAX));
            let wanted = kind == ANY;
            while !inside.is_empty() {
                if step(&mut inside, facts) == wanted {
                    return wanted;
                }
            }
            !wanted
        }
        denied if denied & NOT != 0 => !says(denied & !NOT, code, facts),
        plain => says(plain, code, facts),
    }
}

fn says(kind: u8, code: &mut &[u8], facts: &Facts<'_>) -> bool {
    match kind {
        FLAGS => u16::from_le_bytes(take(code)) & facts.flags != 0,
        LANGUAGE => {
            let [language] = take(code);
            same(language, facts.language)
        }
        HAS => facts.features.has(u64::from_le_bytes(take(code))),
        SAMPLE => {
            let [share] = take(code);
            sampled(share, facts)
        }
        BETWEEN => {
            let [counter] = take(code);
            let (least, most) = (
                u64::from_le_bytes(take(code)),
                u64::from_le_bytes(take(code)),
            );
            COUNTERS
                .get(usize::from(counter))
                .is_some_and(|counter| (least..=most).contains(&counted(*counter, facts)))
        }
        RUN => says_run(code, facts),
        CIRCLE => {
            let [lon, lat, reach] = [(); 3].map(|()| f64::from_le_bytes(take(code)));
            facts.written_within(|point| distance(point, (lon, lat)) <= reach)
        }
        WITHIN => {
            let [west, south, east, north] = [(); 4].map(|()| f64::from_le_bytes(take(code)));
            let area = Area {
                west,
                south,
                east,
                north,
            };
            facts.written_within(|point| area.holds(point))
        }
        PART => {
            let [link] = take(code);
            let size = u16::from_le_bytes(take(code));
            let literal = part(code, usize::from(size));
            str::from_utf8(literal).is_ok_and(|literal| part_of(link == 1, literal, facts))
        }
        _ => false,
    }
}

fn says_run(code: &mut &[u8], facts: &Facts<'_>) -> bool {
    let [field, near] = take(code);
    let size = u16::from_le_bytes(take(code));
    let words = part(code, usize::from(size) * 8);
    let Some(field) = FIELDS.get(usize::from(field).wrapping_sub(1)).copied() else {
        return false;
    };
    let (words, _) = words.as_chunks::<8>();
    let mut hashes = words.iter().map(|bytes| u64::from_le_bytes(*bytes));
    // Most posts lack one of the words: the list is only made for the others.
    hashes
        .clone()
        .all(|word| facts.features.has(word_in(field, word)))
        && run(facts, field, &hashes.by_ref().collect::<Vec<u64>>(), near)
}

fn take<const N: usize>(code: &mut &[u8]) -> [u8; N] {
    let (first, rest) = code.split_first_chunk::<N>().unwrap_or((&[0; N], &[]));
    *code = rest;
    *first
}

fn part<'a>(code: &mut &'a [u8], size: usize) -> &'a [u8] {
    let (first, rest) = code.split_at_checked(size).unwrap_or((code, &[]));
    *code = rest;
    first
}
