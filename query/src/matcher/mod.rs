//! An index over many rules that finds those that match a post.
//!
//! Each rule is stored under the rarest features without which it cannot match (its *cover*), and
//! a post looks up its own features. A posting contains the cheap conditions that rule out most
//! candidates (flags, language, one more feature), so that few rules are evaluated.

mod bytecode;
mod cover;
mod frequency;

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::hint::black_box;

use crate::ast::{ParsedQuery, QueryNode};
use crate::languages::language_matches;
use crate::operators::FeatureKind;
use crate::post_features::{MatchMode, PostFeatures, gram_feature};

use cover::CoverEntry;
use frequency::FeatureFrequencies;

/// Identifies a rule for its removal; reused afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleSlot(u32);

/// Many rules, each with a number chosen by the caller.
///
/// Only stream rules match: a search query can be added but never matches. Changes take effect
/// with the next post.
pub struct Matcher {
    rules: Vec<CompiledRule>,
    index_entries: Vec<RuleIndexEntry>,
    free_slots: Vec<u32>,
    posting_lists: HashMap<u64, PostingList, BuildHasherDefault<IdentityHasher>>,
    /// Rules without a cover, which are evaluated for every post.
    unindexed: Vec<u32>,
    /// The number of entries that are four bytes of a text, and of a link.
    grams: [usize; 2],
    frequencies: FeatureFrequencies,
}

/// Small, because with many rules each access is a cache miss.
#[derive(Default)]
struct CompiledRule {
    number: u64,
    code: Box<[u8]>,
}

#[derive(Default)]
struct RuleIndexEntry {
    /// The features under which it is stored; not recomputed, as frequencies change.
    cover: Box<[u64]>,
    /// How many of them are four bytes of a text, and of a link.
    grams: [u16; 2],
    occupied: bool,
}

#[derive(Clone, Copy)]
struct RulePosting {
    rule: u32,
    required_flags: u16,
    forbidden_flags: u16,
    /// The bit of one more feature in the Bloom filter of a post, or [`NO_COMPANION`].
    companion: u16,
    language: u8,
    /// Whether the rule needs no evaluation.
    exact: bool,
}

const NO_COMPANION: u16 = u16::MAX;

/// Most features have one rule.
#[expect(clippy::box_collection, reason = "half the memory of the table")]
enum PostingList {
    One(RulePosting),
    /// Boxed, so that `One` stays small.
    Many(Box<Vec<RulePosting>>),
}

impl PostingList {
    fn as_slice(&self) -> &[RulePosting] {
        match self {
            Self::One(posting) => std::slice::from_ref(posting),
            Self::Many(postings) => postings,
        }
    }

    fn push(&mut self, posting: RulePosting) {
        match self {
            Self::One(first) => *self = Self::Many(Box::new(vec![*first, posting])),
            Self::Many(postings) => postings.push(posting),
        }
    }

    /// Returns whether the list is now empty.
    fn remove(&mut self, rule: u32) -> bool {
        match self {
            Self::One(posting) => posting.rule == rule,
            Self::Many(postings) => {
                // A rule occurs once, rarely twice; the order does not matter.
                while let Some(index) = postings.iter().rposition(|posting| posting.rule == rule) {
                    postings.swap_remove(index);
                }
                postings.is_empty()
            }
        }
    }
}

impl Default for Matcher {
    fn default() -> Self {
        Self::new()
    }
}

impl Matcher {
    pub fn new() -> Self {
        Self {
            rules: Vec::new(),
            index_entries: Vec::new(),
            free_slots: Vec::new(),
            posting_lists: HashMap::default(),
            unindexed: Vec::new(),
            grams: [0; 2],
            frequencies: FeatureFrequencies::new(),
        }
    }

    /// An empty matcher with the same frequencies. A rule stays indexed as it was when it was
    /// added; re-adding long-lived rules now and then accounts for words that have become common.
    #[must_use]
    pub fn empty_with_frequencies(&self) -> Self {
        Self { frequencies: self.frequencies.clone(), ..Self::new() }
    }

    pub fn len(&self) -> usize {
        self.rules.len() - self.free_slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Counts a post's features, so that rules added later are indexed under rare ones. A sample of
    /// the posts is enough; older ones weigh less.
    pub fn record_frequencies(&mut self, facts: &PostFeatures<'_>) {
        self.frequencies.record(facts.features.as_slice());
    }

    /// `number` is returned by [`matching_rules`](Self::matching_rules).
    pub fn add_rule(&mut self, number: u64, query: &ParsedQuery) -> RuleSlot {
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            let next = u32::try_from(self.rules.len()).unwrap_or(u32::MAX);
            self.rules.push(CompiledRule::default());
            self.index_entries.push(RuleIndexEntry::default());
            next
        });
        let mut rule = CompiledRule { number, ..CompiledRule::default() };
        let mut index_entry = RuleIndexEntry { occupied: true, ..RuleIndexEntry::default() };
        if query.match_mode() == MatchMode::Stream {
            self.index_rule(slot, &mut rule, &mut index_entry, &query.root);
        }
        let index = slot_index(slot);
        if let (Some(rule_slot), Some(entry_slot)) = (self.rules.get_mut(index), self.index_entries.get_mut(index)) {
            (*rule_slot, *entry_slot) = (rule, index_entry);
        }
        RuleSlot(slot)
    }

    /// Indexes a rule, and compiles it unless its postings express all of it.
    fn index_rule(&mut self, slot: u32, rule: &mut CompiledRule, index_entry: &mut RuleIndexEntry, root: &QueryNode) {
        let Some(cover) = cover::find_cover(root, &self.frequencies) else {
            rule.code = bytecode::compile(root);
            self.unindexed.push(slot);
            return;
        };
        if cover.entries.iter().any(|entry| !entry.exact) {
            rule.code = bytecode::compile(root);
        }
        for entry in &cover.entries {
            self.insert_posting(slot, entry);
            if let Some(kind) = entry.gram {
                index_entry.count_gram(kind);
            }
        }
        index_entry.cover = cover.entries.iter().map(|entry| entry.feature).collect();
        self.count_grams(index_entry.grams, 1);
    }

    fn insert_posting(&mut self, slot: u32, entry: &CoverEntry) {
        let posting = entry.build_posting(slot);
        self.posting_lists
            .entry(entry.feature)
            .and_modify(|list| list.push(posting))
            .or_insert(PostingList::One(posting));
    }

    fn count_grams(&mut self, grams: [u16; 2], change: isize) {
        for (sum, grams) in self.grams.iter_mut().zip(grams) {
            let grams = isize::try_from(grams).unwrap_or(0);
            *sum = sum.saturating_add_signed(grams * change);
        }
    }

    pub fn remove_rule(&mut self, RuleSlot(slot): RuleSlot) -> Option<u64> {
        let index_entry = self.index_entries.get_mut(slot_index(slot));
        let index_entry = std::mem::take(index_entry.filter(|index_entry| index_entry.occupied)?);
        let rule = std::mem::take(self.rules.get_mut(slot_index(slot))?);
        self.free_slots.push(slot);
        self.count_grams(index_entry.grams, -1);
        for feature in &index_entry.cover {
            if let std::collections::hash_map::Entry::Occupied(mut list) = self.posting_lists.entry(*feature)
                && list.get_mut().remove(slot)
            {
                list.remove();
            }
        }
        if index_entry.cover.is_empty()
            && let Some(index) = self.unindexed.iter().position(|other| *other == slot)
        {
            self.unindexed.swap_remove(index);
        }
        Some(rule.number)
    }

    /// The numbers of the rules that match a post analysed for streams.
    ///
    /// With many rules most of the time is spent on cache misses. Each kind of access is
    /// therefore batched (all lists, then their first postings, then the candidates), so that the
    /// misses overlap.
    pub fn matching_rules(&self, facts: &PostFeatures<'_>) -> Vec<u64> {
        if facts.match_mode != MatchMode::Stream {
            return Vec::new();
        }
        let features = facts.features.as_slice().iter();
        let mut lists: Vec<&PostingList> = Vec::with_capacity(32);
        lists.extend(features.filter_map(|feature| self.posting_lists.get(feature)));
        let [text_grams, link_grams] = self.grams;
        if text_grams > 0 {
            self.look_up_grams(FeatureKind::Gram, facts.lowercase_texts(), &mut lists);
        }
        if link_grams > 0 {
            self.look_up_grams(FeatureKind::LinkGram, facts.lowercase_links(), &mut lists);
        }
        let firsts = lists.iter().filter_map(|list| list.as_slice().first());
        black_box(firsts.fold(0, |all, posting| all ^ posting.rule));
        let mut matches: Vec<u32> = Vec::with_capacity(64);
        let mut candidates: Vec<u32> = Vec::with_capacity(64);
        for list in lists {
            filter_postings(list.as_slice(), facts, &mut matches, &mut candidates);
        }
        candidates.extend(&self.unindexed);
        self.evaluate_candidates(&candidates, facts, &mut matches);
        matches.sort_unstable();
        matches.dedup();
        matches.into_iter().filter_map(|slot| self.rules.get(slot_index(slot))).map(|rule| rule.number).collect()
    }

    fn evaluate_candidates(&self, candidates: &[u32], facts: &PostFeatures<'_>, matches: &mut Vec<u32>) {
        let rules = candidates.iter().filter_map(|slot| {
            let rule = self.rules.get(slot_index(*slot))?;
            Some((*slot, &*rule.code))
        });
        let rules: Vec<(u32, &[u8])> = rules.collect();
        let firsts = rules.iter().filter_map(|(_, code)| code.first());
        black_box(firsts.fold(0, |all, byte| all ^ byte));
        for (slot, code) in rules {
            if bytecode::evaluate(code, facts) {
                matches.push(slot);
            }
        }
    }

    fn look_up_grams<'a>(&'a self, kind: FeatureKind, texts: &[String], lists: &mut Vec<&'a PostingList>) {
        for text in texts {
            let grams = text.as_bytes().array_windows::<4>();
            lists.extend(grams.filter_map(|bytes| self.posting_lists.get(&gram_feature(kind, *bytes))));
        }
    }

    /// The number of postings that a post is compared with. It grows as words under which rules are
    /// indexed become common.
    pub fn candidate_count(&self, facts: &PostFeatures<'_>) -> usize {
        let features = facts.features.as_slice().iter();
        let lists = features.filter_map(|feature| self.posting_lists.get(feature));
        lists.map(|list| list.as_slice().len()).sum::<usize>() + self.unindexed.len()
    }

    /// Approximate memory of the rules, in bytes.
    pub fn memory_bytes(&self) -> usize {
        let rules = self.rules.capacity() * size_of::<CompiledRule>()
            + self.index_entries.capacity() * size_of::<RuleIndexEntry>();
        let lists = self.posting_lists.capacity() * 8 / 7 * (size_of::<(u64, PostingList)>() + 1);
        let postings: usize = self
            .posting_lists
            .values()
            .map(|list| match list {
                PostingList::One(_) => 0,
                PostingList::Many(postings) => {
                    size_of::<Vec<RulePosting>>() + postings.capacity() * size_of::<RulePosting>()
                }
            })
            .sum();
        let code: usize = self.rules.iter().map(|rule| rule.code.len()).sum();
        let cover: usize = self.index_entries.iter().map(|index_entry| index_entry.cover.len()).sum();
        rules + lists + postings + code + cover * size_of::<u64>()
    }
}

/// Splits the postings that pass their conditions into matches and candidates for evaluation.
fn filter_postings(list: &[RulePosting], facts: &PostFeatures<'_>, matches: &mut Vec<u32>, candidates: &mut Vec<u32>) {
    for posting in list {
        let passes = posting.required_flags & !facts.flags == 0
            && posting.forbidden_flags & facts.flags == 0
            && (posting.companion == NO_COMPANION || facts.features.may_contain(posting.companion))
            && (posting.language == 0 || language_matches(posting.language, facts.language));
        if passes && posting.exact {
            matches.push(posting.rule);
        } else if passes {
            candidates.push(posting.rule);
        }
    }
}

impl RuleIndexEntry {
    fn count_gram(&mut self, kind: FeatureKind) {
        let [texts, links] = &mut self.grams;
        let count = if kind == FeatureKind::Gram { texts } else { links };
        *count = count.saturating_add(1);
    }
}

fn slot_index(slot: u32) -> usize {
    usize::try_from(slot).unwrap_or(usize::MAX)
}

/// Features are already hashes.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, feature: u64) {
        self.0 = feature;
    }
}
