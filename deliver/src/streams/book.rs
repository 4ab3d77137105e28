//! The rules of the apps that are connected, in one index that is changed while posts flow.

use std::collections::{BTreeSet, HashMap};

use base::{AppId, Fault};
use network::post_facts::{self, StoredPostFacts};
use query::{AccessTier, MatchMode, Matcher, PostFeatures, QueryDialect, RuleSlot};
use serde_json::{Value, json};
use store::Tx;
use store::rules::{self, StreamProduct, StreamRule};

use super::share::mix;

/// Rules that are read at once, so that posts do not wait for the many rules of an app.
const CHUNK: i64 = 500;
/// The same while they are filed anew: nobody waits for that.
const FEW: i64 = 100;
/// Of so many posts, one tells the index which words are rare.
const LEARN_EACH: u64 = 16;
/// The newest stored posts that tell the same before the first rule is filed.
const STORED: i64 = 1_000;
/// Posts of which the average is taken of how much they cost.
const TYPICAL: u32 = 256;
/// What is learned after so many posts is reason enough to file all rules anew; later it takes as
/// many as were known before, up to the second number.
const NEWS: (u32, u32) = (1_024, 1 << 17);
/// Fewer rules are quick however they are filed.
const MANY: usize = 1_000;
/// Rules that a post is compared with for which nobody would file them anew.
const CHEAP: f64 = 100.0;

/// Whose rules they are, and of which stream.
pub(super) type Owner = (AppId, StreamProduct);

/// The rules of some apps.
///
/// They are filed under words that are rare as far as is known. When much more is known, or when
/// posts cost much more than they did, they are filed anew in another book beside this one, some at
/// a time, which then takes its place ([`Book::refile`]).
#[derive(Default)]
pub(super) struct Book {
    matcher: Matcher,
    apps: HashMap<Owner, Held>,
    rules: HashMap<u64, Filed>,
    learned: Learned,
    next: Option<Box<Self>>,
}

/// What is known of posts.
#[derive(Clone, Copy, Default)]
struct Learned {
    /// Posts that were counted before the rules were filed.
    before: u32,
    /// Posts that were counted since.
    since: u32,
    /// With how many rules a post is compared, on average.
    effort: f64,
    /// The same soon after they were filed.
    first: f64,
}

impl Learned {
    fn note(&mut self, effort: usize) {
        self.since = self.since.saturating_add(1);
        let effort = u32::try_from(effort).map_or(f64::MAX, f64::from);
        self.effort += (effort - self.effort) / f64::from(self.since.min(TYPICAL));
        if self.since == TYPICAL {
            self.first = self.effort;
        }
    }

    /// Whether rules would be filed otherwise now.
    fn is_news(&self) -> bool {
        let (least, most) = NEWS;
        let doubled = self.since >= self.before.clamp(least, most);
        let dear = self.effort > CHEAP && self.effort > 2.0 * self.first;
        doubled && self.effort > CHEAP || self.since >= least && dear
    }

    /// The same for rules that are filed now.
    fn settled(&self) -> Self {
        let before = self.before.saturating_add(self.since);
        Self {
            before,
            ..Self::default()
        }
    }
}

/// What is known of an app's rules.
#[derive(Default)]
struct Held {
    /// Up to which id they were read, or all.
    read: Option<i64>,
    ids: BTreeSet<u64>,
}

struct Filed {
    app: Owner,
    tag: Box<str>,
    slot: RuleSlot,
}

impl Book {
    /// Without rules, with what this one knows of posts.
    pub(super) fn anew(&self) -> Self {
        Self {
            matcher: self.matcher.empty_with_frequencies(),
            learned: self.learned.settled(),
            ..Self::default()
        }
    }

    /// Learns from the newest posts that are stored which words are rare; once, before rules come.
    pub(super) fn learn_stored(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        if self.learned.before > 0 {
            return Ok(());
        }
        for facts in post_facts::load_newest_facts(tx, STORED)? {
            facts.map_query_post(|post| {
                self.matcher
                    .record_frequencies(&PostFeatures::new(post, MatchMode::Stream))
            });
            self.learned.before += 1;
        }
        Ok(())
    }

    /// Files some rules anew where that is due; whether there are more. When all are filed, the
    /// book as it was is given back: to free it may take a while.
    pub(super) fn refile(&mut self, tx: &mut Tx<'_>) -> Result<(bool, Option<Self>), Fault> {
        if self.next.is_none() {
            if self.rules.len() < MANY || !self.learned.is_news() {
                return Ok((false, None));
            }
            self.next = Some(Box::new(self.anew()));
        }
        let Some(next) = self.next.as_mut() else {
            return Ok((false, None));
        };
        let read = |book: &Self, app: &Owner| {
            let held = book.apps.get(app);
            held.is_some_and(|held| held.read.is_none())
        };
        for app in self.apps.keys() {
            if !read(next, app) {
                next.read_on(tx, *app, FEW)?;
                return Ok((true, None));
            }
        }
        // Those of an app that has just come are still being read here.
        if !self.apps.keys().all(|app| read(self, app)) {
            return Ok((true, None));
        }
        let next = self.next.take().map(|next| *next).unwrap_or_default();
        let (rules, was) = (next.rules.len(), self.learned.effort);
        tracing::debug!(rules, was, "the rules of streams are filed anew");
        Ok((false, Some(std::mem::replace(self, next))))
    }

    /// Reads some more of an app's rules; true when all are there.
    pub(super) fn load(&mut self, tx: &mut Tx<'_>, app: Owner) -> Result<bool, Fault> {
        self.read_on(tx, app, CHUNK)
    }

    fn read_on(&mut self, tx: &mut Tx<'_>, app: Owner, chunk: i64) -> Result<bool, Fault> {
        let first = || Held {
            read: Some(0),
            ids: BTreeSet::new(),
        };
        let Some(after) = self.apps.entry(app).or_insert_with(first).read else {
            return Ok(true);
        };
        let found = rules::list_by_app(tx, app.0, app.1, after, chunk)?;
        let more = i64::try_from(found.len()).unwrap_or(chunk) >= chunk;
        let last = found.last().map_or(after, |rule| rule.id);
        for rule in &found {
            self.file(app, rule);
        }
        if let Some(held) = self.apps.get_mut(&app) {
            held.read = more.then_some(last);
        }
        Ok(!more)
    }

    /// Whether an app's rules are wanted here.
    pub(super) fn knows(&self, app: Owner) -> bool {
        self.apps.contains_key(&app)
    }

    /// Takes up a rule that was added, unless it is here or is gone already.
    pub(super) fn added(&mut self, tx: &mut Tx<'_>, app: Owner, id: i64) -> Result<(), Fault> {
        if self.knows(app)
            && let Some(rule) = rules::find_by_id(tx, app.0, app.1, id)?
        {
            self.file(app, &rule);
            if let Some(next) = self.next.as_mut().filter(|next| next.knows(app)) {
                next.file(app, &rule);
            }
        }
        Ok(())
    }

    /// Lets go of a rule, if it is here.
    pub(super) fn removed(&mut self, id: i64) {
        if let Some(next) = &mut self.next {
            next.removed(id);
        }
        let number = id.unsigned_abs();
        if let Some(filed) = self.rules.remove(&number) {
            self.matcher.remove_rule(filed.slot);
            if let Some(held) = self.apps.get_mut(&filed.app) {
                held.ids.remove(&number);
            }
        }
    }

    /// Lets go of all rules of an app.
    pub(super) fn forget(&mut self, app: Owner) {
        if let Some(next) = &mut self.next {
            next.forget(app);
        }
        let held = self.apps.remove(&app).unwrap_or_default();
        for number in held.ids {
            if let Some(filed) = self.rules.remove(&number) {
                self.matcher.remove_rule(filed.slot);
            }
        }
    }

    fn file(&mut self, app: Owner, rule: &StreamRule) {
        let number = rule.id.unsigned_abs();
        if self.rules.contains_key(&number) {
            return;
        }
        // What was once taken is read as widely as it can be.
        let product = match app.1 {
            StreamProduct::Stream => query::QueryProduct::Stream,
            StreamProduct::Powerstream => query::QueryProduct::Powerstream,
        };
        let dialect = QueryDialect::new(product, AccessTier::Enterprise);
        let query = match query::parse(&rule.value, dialect) {
            Ok(query) => query,
            Err(problems) => {
                tracing::warn!(rule = rule.id, %problems, "a stored rule cannot be read");
                return;
            }
        };
        let slot = self.matcher.add_rule(number, &query);
        let filed = Filed {
            app,
            tag: rule.tag.as_str().into(),
            slot,
        };
        self.rules.insert(number, filed);
        let held = self.apps.entry(app).or_default();
        held.ids.insert(number);
    }

    /// The apps that want a post, each with `matching_rules` as JSON: rules in their order.
    pub(super) fn matching(&mut self, facts: &StoredPostFacts) -> HashMap<Owner, String> {
        if self.matcher.is_empty() {
            return HashMap::new();
        }
        let (matcher, learned) = (&mut self.matcher, &mut self.learned);
        let mut numbers = facts.map_query_post(|post| {
            let facts = PostFeatures::new(post, MatchMode::Stream);
            if mix(post.id).is_multiple_of(LEARN_EACH) {
                matcher.record_frequencies(&facts);
                learned.note(matcher.candidate_count(&facts));
            }
            matcher.matching_rules(&facts)
        });
        numbers.sort_unstable();
        let mut wanted: HashMap<Owner, Vec<Value>> = HashMap::new();
        for number in numbers {
            if let Some(filed) = self.rules.get(&number) {
                let rule = json!({ "id": number.to_string(), "tag": filed.tag });
                wanted.entry(filed.app).or_default().push(rule);
            }
        }
        let spoken = wanted.into_iter();
        spoken
            .map(|(app, rules)| (app, Value::Array(rules).to_string()))
            .collect()
    }
}

#[cfg(test)]
mod tests;
