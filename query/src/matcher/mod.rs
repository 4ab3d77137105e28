//! An index over many rules: which of them does a post match?
//!
//! Each rule is filed under the rarest features without which it cannot match (its *cover*), and a
//! post looks its own features up. An entry holds what refuses most rules at once (flags, language,
//! one more feature), so that few rules are evaluated.

mod code;
mod cover;
mod frequency;

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::hint::black_box;

use crate::ast::{Node, Query};
use crate::facts::{Facts, Reading, gram};
use crate::languages::same;
use crate::operators::Mark;

use cover::Entry;
use frequency::Frequencies;

/// Where a rule is kept; given back to remove it. It is used again afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(u32);

/// Many rules, each with a number of its owner's choice.
///
/// Rules are those of streams: a query of search is kept and never matches. Adding and removing
/// hold from the next post on.
pub struct Matcher {
    /// What a post needs of a rule, by its slot.
    rules: Vec<Rule>,
    /// Where it is filed, by its slot.
    filings: Vec<Filing>,
    free: Vec<u32>,
    lists: HashMap<u64, List, BuildHasherDefault<Plain>>,
    /// Rules without a cover: evaluated against every post.
    always: Vec<u32>,
    /// How many entries wait for four bytes of a text, and of a link.
    grams: [usize; 2],
    frequencies: Frequencies,
}

/// Few bytes: of many rules each is a line of memory away.
#[derive(Default)]
struct Rule {
    number: u64,
    code: Box<[u8]>,
}

#[derive(Default)]
struct Filing {
    /// The features under which it is filed; statistics change, so this is not found out again.
    cover: Box<[u64]>,
    /// How many of them are four bytes of a text, and of a link.
    grams: [u16; 2],
    used: bool,
}

/// A rule in the list of a feature.
#[derive(Clone, Copy)]
struct Posting {
    rule: u32,
    need: u16,
    forbid: u16,
    /// The place of one more feature in the filter of a post, or [`NO_COMPANION`].
    companion: u16,
    language: u8,
    /// Whether nothing is left to evaluate.
    exact: bool,
}

const NO_COMPANION: u16 = u16::MAX;

/// Most features have one rule.
#[expect(clippy::box_collection, reason = "half the memory of the table")]
enum List {
    One(Posting),
    /// Boxed, so that those of one rule stay small.
    Many(Box<Vec<Posting>>),
}

impl List {
    fn as_slice(&self) -> &[Posting] {
        match self {
            Self::One(posting) => std::slice::from_ref(posting),
            Self::Many(postings) => postings,
        }
    }

    fn add(&mut self, posting: Posting) {
        match self {
            Self::One(first) => *self = Self::Many(Box::new(vec![*first, posting])),
            Self::Many(postings) => postings.push(posting),
        }
    }

    /// Takes a rule out; says whether the list is empty then.
    fn remove(&mut self, rule: u32) -> bool {
        match self {
            Self::One(posting) => posting.rule == rule,
            Self::Many(postings) => {
                // A rule stands there once, seldom twice; the order means nothing.
                while let Some(place) = postings.iter().rposition(|found| found.rule == rule) {
                    postings.swap_remove(place);
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
    /// Without rules.
    pub fn new() -> Self {
        Self {
            rules: Vec::new(),
            filings: Vec::new(),
            free: Vec::new(),
            lists: HashMap::default(),
            always: Vec::new(),
            grams: [0; 2],
            frequencies: Frequencies::new(),
        }
    }

    /// An empty one that has seen the posts that this one has seen. A rule stays filed as it was
    /// when it came; whoever keeps many for long files them anew there now and then, as words that
    /// were rare may have become common.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self {
            frequencies: self.frequencies.clone(),
            ..Self::new()
        }
    }

    /// How many rules there are.
    pub fn len(&self) -> usize {
        self.rules.len() - self.free.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Counts what a post says, so that later rules are filed under what is rare. A sample of the
    /// posts is enough; the older counts less.
    pub fn learn(&mut self, facts: &Facts<'_>) {
        self.frequencies.learn(facts.features.list());
    }

    /// Adds a rule with its owner's number.
    pub fn add(&mut self, number: u64, query: &Query) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            let next = u32::try_from(self.rules.len()).unwrap_or(u32::MAX);
            self.rules.push(Rule::default());
            self.filings.push(Filing::default());
            next
        });
        let mut rule = Rule {
            number,
            ..Rule::default()
        };
        let mut filing = Filing {
            used: true,
            ..Filing::default()
        };
        if query.reading() == Reading::Stream {
            self.plan(slot, &mut rule, &mut filing, &query.root);
        }
        let place = as_place(slot);
        if let (Some(kept), Some(filed)) = (self.rules.get_mut(place), self.filings.get_mut(place))
        {
            (*kept, *filed) = (rule, filing);
        }
        Slot(slot)
    }

    /// Files a rule, and compiles it unless its entries say all of it.
    fn plan(&mut self, slot: u32, rule: &mut Rule, filing: &mut Filing, root: &Node) {
        let Some(cover) = cover::cover(root, &self.frequencies) else {
            rule.code = code::compile(root);
            self.always.push(slot);
            return;
        };
        if cover.entries.iter().any(|entry| !entry.exact) {
            rule.code = code::compile(root);
        }
        for entry in &cover.entries {
            self.file(slot, entry);
            if let Some(kind) = entry.gram {
                filing.count_gram(kind);
            }
        }
        filing.cover = cover.entries.iter().map(|entry| entry.feature).collect();
        self.count_grams(filing.grams, 1);
    }

    fn file(&mut self, slot: u32, entry: &Entry) {
        let posting = entry.posting(slot);
        self.lists
            .entry(entry.feature)
            .and_modify(|list| list.add(posting))
            .or_insert(List::One(posting));
    }

    fn count_grams(&mut self, grams: [u16; 2], change: isize) {
        for (sum, grams) in self.grams.iter_mut().zip(grams) {
            let grams = isize::try_from(grams).unwrap_or(0);
            *sum = sum.saturating_add_signed(grams * change);
        }
    }

    /// Removes a rule; says its number, or none if there is no rule there.
    pub fn remove(&mut self, Slot(slot): Slot) -> Option<u64> {
        let filing = self.filings.get_mut(as_place(slot));
        let filing = std::mem::take(filing.filter(|filing| filing.used)?);
        let rule = std::mem::take(self.rules.get_mut(as_place(slot))?);
        self.free.push(slot);
        self.count_grams(filing.grams, -1);
        for feature in &filing.cover {
            if let std::collections::hash_map::Entry::Occupied(mut list) =
                self.lists.entry(*feature)
                && list.get_mut().remove(slot)
            {
                list.remove();
            }
        }
        if filing.cover.is_empty()
            && let Some(place) = self.always.iter().position(|found| *found == slot)
        {
            self.always.swap_remove(place);
        }
        Some(rule.number)
    }

    /// The numbers of the rules that match a post read for streams.
    ///
    /// Where rules are many, most of the time goes by waiting for memory. So each kind of it is
    /// asked for all at once (first all lists, then their first entries, then the candidates), and
    /// the waits overlap.
    pub fn matching(&self, facts: &Facts<'_>) -> Vec<u64> {
        if facts.reading != Reading::Stream {
            return Vec::new();
        }
        let features = facts.features.list().iter();
        let mut lists: Vec<&List> = Vec::with_capacity(32);
        lists.extend(features.filter_map(|feature| self.lists.get(feature)));
        let [text_grams, link_grams] = self.grams;
        if text_grams > 0 {
            self.look_up_grams(Mark::Gram, facts.texts(), &mut lists);
        }
        if link_grams > 0 {
            self.look_up_grams(Mark::LinkGram, facts.links(), &mut lists);
        }
        let firsts = lists.iter().filter_map(|list| list.as_slice().first());
        black_box(firsts.fold(0, |all, posting| all ^ posting.rule));
        let mut found: Vec<u32> = Vec::with_capacity(64);
        let mut candidates: Vec<u32> = Vec::with_capacity(64);
        for list in lists {
            sift(list.as_slice(), facts, &mut found, &mut candidates);
        }
        candidates.extend(&self.always);
        self.evaluate(&candidates, facts, &mut found);
        found.sort_unstable();
        found.dedup();
        found
            .into_iter()
            .filter_map(|slot| self.rules.get(as_place(slot)))
            .map(|rule| rule.number)
            .collect()
    }

    fn evaluate(&self, candidates: &[u32], facts: &Facts<'_>, found: &mut Vec<u32>) {
        let rules = candidates.iter().filter_map(|slot| {
            let rule = self.rules.get(as_place(*slot))?;
            Some((*slot, &*rule.code))
        });
        let rules: Vec<(u32, &[u8])> = rules.collect();
        let firsts = rules.iter().filter_map(|(_, code)| code.first());
        black_box(firsts.fold(0, |all, byte| all ^ byte));
        for (slot, code) in rules {
            if code::holds(code, facts) {
                found.push(slot);
            }
        }
    }

    fn look_up_grams<'a>(&'a self, mark: Mark, texts: &[String], lists: &mut Vec<&'a List>) {
        for text in texts {
            let grams = text.as_bytes().array_windows::<4>();
            lists.extend(grams.filter_map(|bytes| self.lists.get(&gram(mark, *bytes))));
        }
    }

    /// How many rules a post is compared with before any is evaluated: what rare words keep low. It
    /// grows as words become common under which rules are filed.
    pub fn effort(&self, facts: &Facts<'_>) -> usize {
        let features = facts.features.list().iter();
        let lists = features.filter_map(|feature| self.lists.get(feature));
        lists.map(|list| list.as_slice().len()).sum::<usize>() + self.always.len()
    }

    /// About how many bytes the rules take.
    pub fn bytes(&self) -> usize {
        let rules = self.rules.capacity() * size_of::<Rule>()
            + self.filings.capacity() * size_of::<Filing>();
        let lists = self.lists.capacity() * 8 / 7 * (size_of::<(u64, List)>() + 1);
        let long: usize = self
            .lists
            .values()
            .map(|list| match list {
                List::One(_) => 0,
                List::Many(postings) => {
                    size_of::<Vec<Posting>>() + postings.capacity() * size_of::<Posting>()
                }
            })
            .sum();
        let code: usize = self.rules.iter().map(|rule| rule.code.len()).sum();
        let cover: usize = self.filings.iter().map(|filing| filing.cover.len()).sum();
        rules + lists + long + code + cover * size_of::<u64>()
    }
}

/// Of the rules in a list, those that match and those that must be evaluated.
fn sift(list: &[Posting], facts: &Facts<'_>, found: &mut Vec<u32>, candidates: &mut Vec<u32>) {
    for posting in list {
        let passes = posting.need & !facts.flags == 0
            && posting.forbid & facts.flags == 0
            && (posting.companion == NO_COMPANION || facts.features.may_have(posting.companion))
            && (posting.language == 0 || same(posting.language, facts.language));
        if passes && posting.exact {
            found.push(posting.rule);
        } else if passes {
            candidates.push(posting.rule);
        }
    }
}

impl Filing {
    fn count_gram(&mut self, kind: Mark) {
        let [texts, links] = &mut self.grams;
        let count = if kind == Mark::Gram { texts } else { links };
        *count = count.saturating_add(1);
    }
}

fn as_place(slot: u32) -> usize {
    usize::try_from(slot).unwrap_or(usize::MAX)
}

/// Features are hashes already.
#[derive(Default)]
struct Plain(u64);

impl Hasher for Plain {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, feature: u64) {
        self.0 = feature;
    }
}
