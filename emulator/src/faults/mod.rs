//! Faults that a tester has ordered: which request, stream or delivery meets which effect. Rules live in memory: they
//! end with the process.

mod chance;
mod declarations;
mod effect;
mod matching;
mod rule_parsing;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::Time;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

pub use chance::FaultChance;
pub use declarations::{
    EFFECTS, EffectDeclaration, FaultField, FaultFieldKind, FaultScope, MATCH_FIELDS, effect_fields,
};
pub use effect::{DelayTime, FaultEffect};
pub use matching::{FaultMatch, FaultOccasion, FaultSubject, RoutePattern};
pub use rule_parsing::{FaultRuleProblem, FaultRuleRequest, rule_from_texts};

/// Rules at once, those that have ended included.
pub const MAX_RULES: usize = 100;

/// The rules of one world, in the order in which they were added: the first that matches wins.
#[derive(Debug, Default)]
pub struct FaultRules {
    seed: u64,
    /// The number of rules, read without the lock.
    count: AtomicUsize,
    state: Mutex<FaultRuleState>,
}

#[derive(Debug, Default)]
struct FaultRuleState {
    rules: Vec<FaultRule>,
    /// The number of the next rule without an id of its own.
    next_number: u64,
}

#[derive(Debug)]
struct FaultRule {
    id: Arc<str>,
    request: FaultRuleRequest,
    /// How often the other conditions held.
    matched: u64,
    applied: u64,
}

/// What a request, stream or delivery meets.
#[derive(Clone, Debug)]
pub struct InjectedFault {
    pub rule_id: Arc<str>,
    pub effect: FaultEffect,
    pub chance: FaultChance,
}

/// A rule, with what it has done so far.
#[derive(Clone, Debug)]
pub struct FaultRuleSummary {
    pub id: String,
    pub effect: &'static EffectDeclaration,
    /// As given.
    pub match_fields: Map<String, Value>,
    /// As given, without the effect's name.
    pub effect_fields: Map<String, Value>,
    /// How often the other conditions held.
    pub matched: u64,
    /// How often the effect was applied.
    pub applied: u64,
    /// Whether it can apply no more.
    pub has_ended: bool,
}

impl InjectedFault {
    pub fn effect_name(&self) -> &'static str {
        self.effect.name()
    }
}

impl FaultRules {
    /// Chance depends on the seed, the rule's id and the number of the match.
    pub fn from_seed(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// Adds all rules or none. Returns their ids.
    pub fn add(&self, requests: Vec<FaultRuleRequest>) -> Result<Vec<String>, FaultRuleProblem> {
        let mut state = self.state.lock();
        if state.rules.len().saturating_add(requests.len()) > MAX_RULES {
            let message = format!("there can be {MAX_RULES} rules at once: remove some, or all with `fault clear`");
            return Err(FaultRuleProblem::new("rules", "", message));
        }
        let mut next_number = state.next_number;
        let mut added: Vec<FaultRule> = Vec::new();
        for (index, request) in requests.into_iter().enumerate() {
            let is_taken = |id: &str| state.rules.iter().chain(&added).any(|rule| &*rule.id == id);
            let id = match &request.id {
                Some(id) if is_taken(id) => {
                    let message = format!("a rule {id} exists: choose another id, or remove that one");
                    return Err(FaultRuleProblem::new("id", id, message).of_rule(index));
                }
                Some(id) => id.clone(),
                None => loop {
                    next_number += 1;
                    let id = format!("f{next_number}");
                    if !is_taken(&id) {
                        break id;
                    }
                },
            };
            added.push(FaultRule { id: id.into(), request, matched: 0, applied: 0 });
        }
        let ids = added.iter().map(|rule| rule.id.to_string()).collect();
        state.next_number = next_number;
        state.rules.append(&mut added);
        self.count.store(state.rules.len(), Ordering::Relaxed);
        Ok(ids)
    }

    /// Returns whether there was such a rule.
    pub fn remove(&self, id: &str) -> bool {
        let mut state = self.state.lock();
        let before = state.rules.len();
        state.rules.retain(|rule| &*rule.id != id);
        self.count.store(state.rules.len(), Ordering::Relaxed);
        state.rules.len() < before
    }

    /// Removes all rules, and numbers new ones from 1 again. Returns how many there were.
    pub fn clear(&self) -> usize {
        let removed = std::mem::take(&mut *self.state.lock());
        self.count.store(0, Ordering::Relaxed);
        removed.rules.len()
    }

    /// In their order. `now` is the world's time.
    pub fn list(&self, now: Time) -> Vec<FaultRuleSummary> {
        self.state.lock().rules.iter().map(|rule| rule.summarize(now)).collect()
    }

    /// How many rules can still apply. `now` is the world's time.
    pub fn active_count(&self, now: Time) -> usize {
        if self.is_empty() {
            return 0;
        }
        self.state.lock().rules.iter().filter(|rule| !rule.has_ended(now)).count()
    }

    pub fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// The first rule that applies to what happens now, which counts as a hit. `now` is the world's time.
    pub fn find_fault(&self, subject: &FaultSubject<'_>, now: Time) -> Option<InjectedFault> {
        if self.is_empty() {
            return None;
        }
        let mut state = self.state.lock();
        state.rules.iter_mut().find_map(|rule| rule.apply(self.seed, subject, now))
    }
}

impl FaultRule {
    fn apply(&mut self, seed: u64, subject: &FaultSubject<'_>, now: Time) -> Option<InjectedFault> {
        let FaultRuleRequest { matcher, declaration, effect, .. } = &self.request;
        if !declaration.occasions.contains(&subject.occasion)
            || !declaration.allows_route(subject)
            || self.has_ended(now)
            || !matcher.matches(subject)
        {
            return None;
        }
        self.matched += 1;
        let chance = FaultChance::new(seed, &self.id, self.matched);
        if !matcher.selects(self.matched, chance) {
            return None;
        }
        self.applied += 1;
        Some(InjectedFault { rule_id: Arc::clone(&self.id), effect: effect.clone(), chance })
    }

    fn has_ended(&self, now: Time) -> bool {
        self.request.matcher.has_ended(self.matched, self.applied, now)
    }

    fn summarize(&self, now: Time) -> FaultRuleSummary {
        FaultRuleSummary {
            id: self.id.to_string(),
            effect: self.request.declaration,
            match_fields: self.request.match_fields.clone(),
            effect_fields: self.request.effect_fields.clone(),
            matched: self.matched,
            applied: self.applied,
            has_ended: self.has_ended(now),
        }
    }
}

impl FaultRuleSummary {
    pub fn to_json(&self) -> Value {
        let mut effect = Map::new();
        effect.insert("name".to_owned(), self.effect.name.into());
        effect.extend(self.effect_fields.clone());
        json!({
            "id": self.id,
            "match": self.match_fields,
            "effect": effect,
            "matched": self.matched,
            "applied": self.applied,
            "has_ended": self.has_ended,
        })
    }
}
