//! An index of the rules of connected apps that can change while posts are matched.

use std::collections::{BTreeSet, HashMap};

use base::{AppId, Fault};
use network::post_facts::{self, StoredPostFacts};
use query::{AccessTier, MatchMode, Matcher, PostFeatures, QueryDialect, RuleSlot};
use serde_json::{Value, json};
use store::Tx;
use store::event_log::LogEvent;
use store::rules::{self, StreamProduct, StreamRule};

use base::id::mix_id;

/// Rules loaded at a time, so that posts are not delayed.
const LOAD_CHUNK: i64 = 500;
/// Rules loaded at a time during a rebuild, for which nobody waits.
const REBUILD_CHUNK: i64 = 100;
/// One of this many posts updates the word statistics.
const LEARN_SAMPLE: u64 = 16;
/// The newest stored posts used for training before the first rule is indexed.
const LEARN_STORED_POSTS: i64 = 1_000;
/// The number of posts over which the matching effort is averaged.
const EFFORT_WINDOW: u32 = 256;
/// The number of new posts after which a rebuild is worthwhile: at least the first, and as many as were known
/// before up to the second.
const REBUILD_AFTER_POSTS: (u32, u32) = (1_024, 1 << 17);
/// A smaller index is never rebuilt.
const MIN_RULES_TO_REBUILD: usize = 1_000;
/// An average of fewer compared rules per post needs no rebuild.
const CHEAP_EFFORT: f64 = 100.0;

/// The app and the stream whose rules they are.
pub(super) type RuleOwner = (AppId, StreamProduct);

/// The rules of some apps.
///
/// Rules are indexed under their rarest words, as far as known. When the statistics have grown or matching has
/// become slower, the rules are indexed anew in a second index, some at a time, which then replaces this one
/// ([`RuleIndex::rebuild_step`]).
#[derive(Default)]
pub(super) struct RuleIndex {
    matcher: Matcher,
    owners: HashMap<RuleOwner, OwnerRules>,
    rules: HashMap<u64, IndexedRule>,
    stats: IndexStats,
    replacement: Option<Box<Self>>,
}

/// Statistics about posts.
#[derive(Clone, Copy, Default)]
struct IndexStats {
    /// Posts counted when the rules were indexed.
    posts_before: u32,
    /// Posts counted since.
    posts_since: u32,
    /// The average number of rules a post is compared with.
    effort: f64,
    /// The same soon after the rules were indexed.
    initial_effort: f64,
}

impl IndexStats {
    fn record_effort(&mut self, effort: usize) {
        self.posts_since = self.posts_since.saturating_add(1);
        let effort = u32::try_from(effort).map_or(f64::MAX, f64::from);
        self.effort += (effort - self.effort) / f64::from(self.posts_since.min(EFFORT_WINDOW));
        if self.posts_since == EFFORT_WINDOW {
            self.initial_effort = self.effort;
        }
    }

    /// Whether a rebuild would index rules differently.
    fn needs_rebuild(&self) -> bool {
        let (min, max) = REBUILD_AFTER_POSTS;
        let doubled = self.posts_since >= self.posts_before.clamp(min, max);
        let dear = self.effort > CHEAP_EFFORT && self.effort > 2.0 * self.initial_effort;
        doubled && self.effort > CHEAP_EFFORT || self.posts_since >= min && dear
    }

    /// The statistics for a new index.
    fn carry_over(&self) -> Self {
        let before = self.posts_before.saturating_add(self.posts_since);
        Self { posts_before: before, ..Self::default() }
    }
}

#[derive(Default)]
struct OwnerRules {
    /// The highest rule id loaded so far, or the end.
    read_up_to: Option<i64>,
    ids: BTreeSet<u64>,
}

struct IndexedRule {
    owner: RuleOwner,
    tag: Box<str>,
    slot: RuleSlot,
}

impl RuleIndex {
    /// An index without rules, but with the same word statistics.
    pub(super) fn empty_copy(&self) -> Self {
        Self { matcher: self.matcher.empty_with_frequencies(), stats: self.stats.carry_over(), ..Self::default() }
    }

    /// Trains the word statistics from the newest stored posts, once, before any rules are loaded.
    pub(super) fn learn_stored_posts(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        if self.stats.posts_before > 0 {
            return Ok(());
        }
        for facts in post_facts::load_newest_facts(tx, LEARN_STORED_POSTS)? {
            facts.map_query_post(|post| {
                self.matcher.record_frequencies(&PostFeatures::new(post, MatchMode::Stream));
            });
            self.stats.posts_before += 1;
        }
        Ok(())
    }

    /// Performs part of a rebuild, if one is due; returns whether there is more. At the end it returns the
    /// replaced index, which takes a while to free.
    pub(super) fn rebuild_step(&mut self, tx: &mut Tx<'_>) -> Result<(bool, Option<Self>), Fault> {
        if self.replacement.is_none() {
            if self.rules.len() < MIN_RULES_TO_REBUILD || !self.stats.needs_rebuild() {
                return Ok((false, None));
            }
            self.replacement = Some(Box::new(self.empty_copy()));
        }
        let Some(next) = self.replacement.as_mut() else {
            return Ok((false, None));
        };
        let read = |index: &Self, app: &RuleOwner| {
            let owner = index.owners.get(app);
            owner.is_some_and(|owner| owner.read_up_to.is_none())
        };
        for app in self.owners.keys() {
            if !read(next, app) {
                next.load_chunk(tx, *app, REBUILD_CHUNK)?;
                return Ok((true, None));
            }
        }
        // Rules of a new app are still being loaded here.
        if !self.owners.keys().all(|app| read(self, app)) {
            return Ok((true, None));
        }
        let next = self.replacement.take().map(|next| *next).unwrap_or_default();
        let (rules, was) = (next.rules.len(), self.stats.effort);
        tracing::debug!(rules, was, "rebuilding the stream rule index");
        Ok((false, Some(std::mem::replace(self, next))))
    }

    /// Loads more of an app's rules; returns true once all are loaded.
    pub(super) fn load_rules(&mut self, tx: &mut Tx<'_>, app: RuleOwner) -> Result<bool, Fault> {
        self.load_chunk(tx, app, LOAD_CHUNK)
    }

    fn load_chunk(&mut self, tx: &mut Tx<'_>, app: RuleOwner, chunk: i64) -> Result<bool, Fault> {
        let first = || OwnerRules { read_up_to: Some(0), ids: BTreeSet::new() };
        let Some(after) = self.owners.entry(app).or_insert_with(first).read_up_to else {
            return Ok(true);
        };
        let found = rules::list_by_app(tx, app.0, app.1, after, chunk)?;
        let more = i64::try_from(found.len()).unwrap_or(chunk) >= chunk;
        let last = found.last().map_or(after, |rule| rule.id);
        for rule in &found {
            self.index_rule(app, rule);
        }
        if let Some(owner) = self.owners.get_mut(&app) {
            owner.read_up_to = more.then_some(last);
        }
        Ok(!more)
    }

    /// Cuts a batch off before the first rule change that follows a post; whether anything was cut off. The store
    /// may rerun a batch, and rules changed by the first run must not change which posts match in the second.
    pub(super) fn truncate_after_rule_changes(&self, events: &mut Vec<LogEvent>, cursor: i64) -> bool {
        let post = events.iter().position(|event| event.kind == "post.create");
        let change = post.and_then(|post| {
            let mut later = events.iter().enumerate().skip(post);
            later.find(|(_, event)| event.seq > cursor && self.is_changed_by(event))
        });
        let Some((place, _)) = change else {
            return false;
        };
        events.truncate(place);
        true
    }

    fn is_changed_by(&self, event: &LogEvent) -> bool {
        match event.kind.as_str() {
            "rule.removed" => self.rules.contains_key(&event.subject_id.unsigned_abs()),
            "rule.added" => added_rule_owner(event).is_some_and(|owner| self.has_owner(owner)),
            _ => false,
        }
    }

    pub(super) fn has_owner(&self, app: RuleOwner) -> bool {
        self.owners.contains_key(&app)
    }

    /// Adds or removes the rule of a log entry.
    pub(super) fn apply_change(&mut self, tx: &mut Tx<'_>, event: &LogEvent) -> Result<(), Fault> {
        if event.kind == "rule.removed" {
            self.remove_rule(event.subject_id);
            return Ok(());
        }
        added_rule_owner(event).map_or(Ok(()), |owner| self.add_rule(tx, owner, event.subject_id))
    }

    /// Adds a rule unless it is already indexed or deleted.
    fn add_rule(&mut self, tx: &mut Tx<'_>, app: RuleOwner, id: i64) -> Result<(), Fault> {
        if self.has_owner(app)
            && let Some(rule) = rules::find_by_id(tx, app.0, app.1, id)?
        {
            self.index_rule(app, &rule);
            if let Some(next) = self.replacement.as_mut().filter(|next| next.has_owner(app)) {
                next.index_rule(app, &rule);
            }
        }
        Ok(())
    }

    pub(super) fn remove_rule(&mut self, id: i64) {
        if let Some(next) = &mut self.replacement {
            next.remove_rule(id);
        }
        let number = id.unsigned_abs();
        if let Some(entry) = self.rules.remove(&number) {
            self.matcher.remove_rule(entry.slot);
            if let Some(owner) = self.owners.get_mut(&entry.owner) {
                owner.ids.remove(&number);
            }
        }
    }

    pub(super) fn remove_owner(&mut self, app: RuleOwner) {
        if let Some(next) = &mut self.replacement {
            next.remove_owner(app);
        }
        let owner = self.owners.remove(&app).unwrap_or_default();
        for number in owner.ids {
            if let Some(entry) = self.rules.remove(&number) {
                self.matcher.remove_rule(entry.slot);
            }
        }
    }

    fn index_rule(&mut self, app: RuleOwner, rule: &StreamRule) {
        let number = rule.id.unsigned_abs();
        if self.rules.contains_key(&number) {
            return;
        }
        // Rules were validated when stored; parse them with the widest permissions.
        let product = match app.1 {
            StreamProduct::Stream => query::QueryProduct::Stream,
            StreamProduct::Powerstream => query::QueryProduct::Powerstream,
        };
        let dialect = QueryDialect::new(product, AccessTier::Enterprise);
        let query = match query::parse(&rule.value, dialect) {
            Ok(query) => query,
            Err(problems) => {
                tracing::warn!(rule = rule.id, error = %problems, "failed to parse a stored stream rule");
                return;
            }
        };
        let slot = self.matcher.add_rule(number, &query);
        let entry = IndexedRule { owner: app, tag: rule.tag.as_str().into(), slot };
        self.rules.insert(number, entry);
        let held = self.owners.entry(app).or_default();
        held.ids.insert(number);
    }

    /// The apps with rules that match a post, each with `matching_rules` as JSON in rule order.
    pub(super) fn match_post(&mut self, facts: &StoredPostFacts) -> HashMap<RuleOwner, String> {
        if self.matcher.is_empty() {
            return HashMap::new();
        }
        let (matcher, learned) = (&mut self.matcher, &mut self.stats);
        let mut numbers = facts.map_query_post(|post| {
            let facts = PostFeatures::new(post, MatchMode::Stream);
            if mix_id(post.id).is_multiple_of(LEARN_SAMPLE) {
                matcher.record_frequencies(&facts);
                learned.record_effort(matcher.candidate_count(&facts));
            }
            matcher.matching_rules(&facts)
        });
        numbers.sort_unstable();
        let mut matches: HashMap<RuleOwner, Vec<Value>> = HashMap::new();
        for number in numbers {
            if let Some(entry) = self.rules.get(&number) {
                let rule = json!({ "id": number.to_string(), "tag": entry.tag });
                matches.entry(entry.owner).or_default().push(rule);
            }
        }
        let matched = matches.into_iter();
        matched.map(|(app, rules)| (app, Value::Array(rules).to_string())).collect()
    }
}

/// The owner of the rule in a `rule.added` entry.
pub(super) fn added_rule_owner(event: &LogEvent) -> Option<RuleOwner> {
    let body: Value = serde_json::from_str(&event.body).ok()?;
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    let product = text("product").and_then(StreamProduct::parse)?;
    Some((text("app_id").and_then(AppId::parse)?, product))
}

#[cfg(test)]
mod tests;
