//! Chooses the features under which a rule is indexed: the cheapest set of which every match has at
//! least one.

use crate::ast::{QueryNode, QueryTerm, TermValue};
use crate::geo::{GeoArea, bounding_area, grid_cells};
use crate::operators::{FeatureKind, OperatorKind};
use crate::post_features::filter_bit;
use crate::values::{gram_features, number_feature, to_metres};
use crate::words::word_feature;

use super::frequency::FeatureFrequencies;
use super::{NO_COMPANION, RulePosting};

pub(super) struct RuleCover {
    cost: f64,
    pub(super) entries: Vec<CoverEntry>,
}

#[derive(Clone, Copy)]
pub(super) struct CoverEntry {
    pub(super) feature: u64,
    pub(super) gram: Option<FeatureKind>,
    companion: u16,
    required_flags: u16,
    forbidden_flags: u16,
    language: u8,
    pub(super) exact: bool,
}

impl CoverEntry {
    const fn new(feature: u64, exact: bool) -> Self {
        Self { feature, gram: None, companion: NO_COMPANION, required_flags: 0, forbidden_flags: 0, language: 0, exact }
    }

    pub(super) const fn build_posting(&self, rule: u32) -> RulePosting {
        RulePosting {
            rule,
            required_flags: self.required_flags,
            forbidden_flags: self.forbidden_flags,
            companion: self.companion,
            language: self.language,
            exact: self.exact,
        }
    }
}

/// `None` if no indexed feature is required.
pub(super) fn find_cover(node: &QueryNode, frequencies: &FeatureFrequencies) -> Option<RuleCover> {
    match node {
        QueryNode::Not(_) => None,
        QueryNode::Is(term) => term_cover(term, frequencies),
        QueryNode::Any(parts) => {
            let mut sum = RuleCover { cost: 0.0, entries: Vec::with_capacity(parts.len()) };
            for part in parts {
                let cover = find_cover(part, frequencies)?;
                sum.cost += cover.cost;
                sum.entries.extend(cover.entries);
            }
            Some(sum)
        }
        QueryNode::All(parts) => conjunction_cover(parts, frequencies),
    }
}

fn conjunction_cover(parts: &[QueryNode], frequencies: &FeatureFrequencies) -> Option<RuleCover> {
    let covers = parts.iter().enumerate().filter_map(|(index, part)| Some((index, find_cover(part, frequencies)?)));
    let (chosen, mut best) = covers.min_by(|one, other| one.1.cost.total_cmp(&other.1.cost))?;
    let others = parts.iter().enumerate().filter(|(index, _)| *index != chosen).map(|(_, part)| part);
    let mut rest = ConjunctionRest::default();
    for part in others {
        rest.add_part(part, frequencies);
    }
    for entry in &mut best.entries {
        entry.required_flags |= rest.required_flags;
        entry.forbidden_flags |= rest.forbidden_flags;
        entry.exact &= !rest.is_inexact;
        if entry.language == 0 {
            entry.language = rest.language;
        } else {
            entry.exact &= rest.language == 0;
        }
        if let (NO_COMPANION, Some((_, feature))) = (entry.companion, rest.companion) {
            entry.companion = filter_bit(feature);
        }
    }
    Some(best)
}

/// What must be true besides the chosen part of a conjunction.
#[derive(Default)]
struct ConjunctionRest {
    required_flags: u16,
    forbidden_flags: u16,
    language: u8,
    companion: Option<(f64, u64)>,
    /// Whether an entry cannot express all of it.
    is_inexact: bool,
}

impl ConjunctionRest {
    fn add_part(&mut self, part: &QueryNode, frequencies: &FeatureFrequencies) {
        match part {
            QueryNode::Is(term) => match term.value {
                TermValue::Flag(bit) => self.required_flags |= bit,
                TermValue::Language(language) if self.language == 0 => self.language = language,
                _ => {
                    self.is_inexact = true;
                    if let Some(feature) = single_feature(term) {
                        let share = frequencies.estimate_share(feature, expected_share(term));
                        if self.companion.is_none_or(|(best, _)| share < best) {
                            self.companion = Some((share, feature));
                        }
                    }
                }
            },
            QueryNode::Not(QueryTerm { value: TermValue::Flag(bit), .. }) => self.forbidden_flags |= bit,
            _ => self.is_inexact = true,
        }
    }
}

fn single_feature(term: &QueryTerm) -> Option<u64> {
    match (&term.value, term.operator.kind) {
        (TermValue::Words { hashes, .. }, OperatorKind::Words(field)) => match **hashes {
            [word] => Some(word_feature(field, word)),
            _ => None,
        },
        (TermValue::Feature { feature, .. }, _) => Some(*feature),
        _ => None,
    }
}

fn term_cover(term: &QueryTerm, frequencies: &FeatureFrequencies) -> Option<RuleCover> {
    if let Some(feature) = single_feature(term) {
        return Some(RuleCover {
            cost: frequencies.estimate_share(feature, expected_share(term)),
            entries: vec![CoverEntry::new(feature, true)],
        });
    }
    match (&term.value, term.operator.kind) {
        (TermValue::Words { hashes, .. }, OperatorKind::Words(field)) => {
            let mut rare: Vec<(f64, u64)> = hashes
                .iter()
                .map(|word| word_feature(field, *word))
                .map(|feature| (frequencies.estimate_share(feature, expected_share(term)), feature))
                .collect();
            rare.sort_by(|one, other| one.0.total_cmp(&other.0));
            rare.dedup_by_key(|(_, feature)| *feature);
            let (cost, feature) = *rare.first()?;
            let mut entry = CoverEntry::new(feature, false);
            if let Some((_, second)) = rare.get(1) {
                entry.companion = filter_bit(*second);
            }
            Some(RuleCover { cost: cost / 2.0, entries: vec![entry] })
        }
        (TermValue::Circle(lon, lat, radius, miles), _) => {
            let area = bounding_area((*lon, *lat), to_metres(*radius, *miles));
            Some(area_cover(area, frequencies))
        }
        (TermValue::Rectangle(area), _) => Some(area_cover(Some(*area), frequencies)),
        (TermValue::Substring(part), OperatorKind::Substring(link)) => {
            let kind = if link { FeatureKind::LinkGram } else { FeatureKind::Gram };
            // Links begin alike, so the last four bytes are more selective.
            let mut entry = CoverEntry::new(gram_features(kind, part).last()?, false);
            entry.gram = Some(kind);
            Some(RuleCover { cost: expected_share(term), entries: vec![entry] })
        }
        _ => None,
    }
}

fn area_cover(area: Option<GeoArea>, frequencies: &FeatureFrequencies) -> RuleCover {
    let cells = area.and_then(grid_cells).unwrap_or_else(|| vec![0]);
    let features = cells.into_iter().map(|cell| number_feature(FeatureKind::Geo, cell));
    let mut cover = RuleCover { cost: 0.0, entries: Vec::new() };
    for feature in features {
        cover.cost += frequencies.estimate_share(feature, 1e-3);
        cover.entries.push(CoverEntry::new(feature, false));
    }
    cover
}

/// The share of posts with the term's features, before any post was counted.
const fn expected_share(term: &QueryTerm) -> f64 {
    match term.operator.kind {
        OperatorKind::Words(_) => 1e-3,
        OperatorKind::Context | OperatorKind::Exact(FeatureKind::Country) => 1e-2,
        OperatorKind::Substring(_) => 2e-2,
        _ => 1e-4,
    }
}
