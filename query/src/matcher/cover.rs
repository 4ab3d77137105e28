//! Under which features a rule is filed: the cheapest set of which every match has one.

use crate::ast::{Node, Term, Value};
use crate::facts::filter_place;
use crate::geo::{Area, around, cells};
use crate::operators::{How, Mark};
use crate::values::{grams, metres, number};
use crate::words::word_in;

use super::frequency::Frequencies;
use super::{NO_COMPANION, Posting};

/// What a rule waits for, and how often that comes.
pub(super) struct Cover {
    cost: f64,
    pub(super) entries: Vec<Entry>,
}

/// One feature that a rule waits for, and what else must hold with it.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) feature: u64,
    pub(super) gram: Option<Mark>,
    companion: u16,
    need: u16,
    forbid: u16,
    language: u8,
    pub(super) exact: bool,
}

impl Entry {
    const fn new(feature: u64, exact: bool) -> Self {
        Self {
            feature,
            gram: None,
            companion: NO_COMPANION,
            need: 0,
            forbid: 0,
            language: 0,
            exact,
        }
    }

    pub(super) const fn posting(&self, rule: u32) -> Posting {
        Posting {
            rule,
            need: self.need,
            forbid: self.forbid,
            companion: self.companion,
            language: self.language,
            exact: self.exact,
        }
    }
}

/// The cover of a part, or none: then nothing that is looked up must be there.
pub(super) fn cover(node: &Node, seen: &Frequencies) -> Option<Cover> {
    match node {
        Node::Not(_) => None,
        Node::Is(term) => of_term(term, seen),
        Node::Any(parts) => {
            let mut sum = Cover {
                cost: 0.0,
                entries: Vec::with_capacity(parts.len()),
            };
            for part in parts {
                let cover = cover(part, seen)?;
                sum.cost += cover.cost;
                sum.entries.extend(cover.entries);
            }
            Some(sum)
        }
        Node::All(parts) => of_all(parts, seen),
    }
}

fn of_all(parts: &[Node], seen: &Frequencies) -> Option<Cover> {
    let covers = parts
        .iter()
        .enumerate()
        .filter_map(|(place, part)| Some((place, cover(part, seen)?)));
    let (chosen, mut best) = covers.min_by(|one, other| one.1.cost.total_cmp(&other.1.cost))?;
    let others = parts
        .iter()
        .enumerate()
        .filter(|(place, _)| *place != chosen)
        .map(|(_, part)| part);
    let mut rest = Rest::default();
    for part in others {
        rest.take(part, seen);
    }
    for entry in &mut best.entries {
        entry.need |= rest.need;
        entry.forbid |= rest.forbid;
        entry.exact &= !rest.more;
        if entry.language == 0 {
            entry.language = rest.language;
        } else {
            entry.exact &= rest.language == 0;
        }
        if let (NO_COMPANION, Some((_, feature))) = (entry.companion, rest.companion) {
            entry.companion = filter_place(feature);
        }
    }
    Some(best)
}

/// What must hold beside the chosen part of a conjunction.
#[derive(Default)]
struct Rest {
    need: u16,
    forbid: u16,
    language: u8,
    /// The rarest feature of it.
    companion: Option<(f64, u64)>,
    /// Whether an entry cannot say all of it.
    more: bool,
}

impl Rest {
    fn take(&mut self, part: &Node, seen: &Frequencies) {
        match part {
            Node::Is(term) => match term.value {
                Value::Flag(bit) => self.need |= bit,
                Value::Language(language) if self.language == 0 => self.language = language,
                _ => {
                    self.more = true;
                    if let Some(one) = single(term) {
                        let share = seen.share(one, guess(term));
                        if self.companion.is_none_or(|(best, _)| share < best) {
                            self.companion = Some((share, one));
                        }
                    }
                }
            },
            Node::Not(Term {
                value: Value::Flag(bit),
                ..
            }) => self.forbid |= bit,
            _ => self.more = true,
        }
    }
}

/// The one feature that a term is, if it is one.
fn single(term: &Term) -> Option<u64> {
    match (&term.value, term.operator.how) {
        (Value::Words { hashes, .. }, How::Words(field)) => match **hashes {
            [word] => Some(word_in(field, word)),
            _ => None,
        },
        (Value::Feature { feature, .. }, _) => Some(*feature),
        _ => None,
    }
}

fn of_term(term: &Term, seen: &Frequencies) -> Option<Cover> {
    if let Some(feature) = single(term) {
        return Some(Cover {
            cost: seen.share(feature, guess(term)),
            entries: vec![Entry::new(feature, true)],
        });
    }
    match (&term.value, term.operator.how) {
        (Value::Words { hashes, .. }, How::Words(field)) => {
            let mut rare: Vec<(f64, u64)> = hashes
                .iter()
                .map(|word| word_in(field, *word))
                .map(|feature| (seen.share(feature, guess(term)), feature))
                .collect();
            rare.sort_by(|one, other| one.0.total_cmp(&other.0));
            rare.dedup_by_key(|(_, feature)| *feature);
            let (cost, feature) = *rare.first()?;
            let mut entry = Entry::new(feature, false);
            if let Some((_, second)) = rare.get(1) {
                entry.companion = filter_place(*second);
            }
            Some(Cover {
                cost: cost / 2.0,
                entries: vec![entry],
            })
        }
        (Value::Circle(lon, lat, radius, miles), _) => {
            let area = around((*lon, *lat), metres(*radius, *miles));
            Some(of_area(area, seen))
        }
        (Value::Within(area), _) => Some(of_area(Some(*area), seen)),
        (Value::Part(part), How::Part(link)) => {
            let mark = if link { Mark::LinkGram } else { Mark::Gram };
            // Links begin alike, so the last four bytes tell more.
            let mut entry = Entry::new(grams(mark, part).last()?, false);
            entry.gram = Some(mark);
            Some(Cover {
                cost: guess(term),
                entries: vec![entry],
            })
        }
        _ => None,
    }
}

/// The cells of an area, or everything that was written somewhere.
fn of_area(area: Option<Area>, seen: &Frequencies) -> Cover {
    let cells = area.and_then(cells).unwrap_or_else(|| vec![0]);
    let features = cells.into_iter().map(|cell| number(Mark::Geo, cell));
    let mut cover = Cover {
        cost: 0.0,
        entries: Vec::new(),
    };
    for feature in features {
        cover.cost += seen.share(feature, 1e-3);
        cover.entries.push(Entry::new(feature, false));
    }
    cover
}

/// How often a term's features are, before any post was seen.
const fn guess(term: &Term) -> f64 {
    match term.operator.how {
        How::Words(_) => 1e-3,
        How::Context | How::Exact(Mark::Country) => 1e-2,
        How::Part(_) => 2e-2,
        _ => 1e-4,
    }
}
