//! The rules of the apps that are connected, in one index that is changed while posts flow.

use std::collections::{BTreeSet, HashMap};

use base::{AppId, Fault};
use network::facts::PostFacts;
use query::{Dialect, Facts, Level, Matcher, Reading, Slot};
use serde_json::{Value, json};
use store::Tx;
use store::rules::{self, Product, Rule};

/// Rules that are read at once, so that posts do not wait for the many rules of an app.
const CHUNK: i64 = 500;
/// Of so many posts, one tells the index which words are rare.
const LEARN_EACH: i64 = 16;

/// The rules of some apps.
#[derive(Default)]
pub(super) struct Book {
    matcher: Matcher,
    apps: HashMap<AppId, Held>,
    rules: HashMap<u64, Filed>,
}

/// What is known of an app's rules.
#[derive(Default)]
struct Held {
    /// Up to which id they were read, or all.
    read: Option<i64>,
    ids: BTreeSet<u64>,
}

struct Filed {
    app: AppId,
    tag: Box<str>,
    slot: Slot,
}

impl Book {
    /// Reads some more of an app's rules; true when all are there.
    pub(super) fn load(&mut self, tx: &mut Tx<'_>, app: AppId) -> Result<bool, Fault> {
        let first = || Held {
            read: Some(0),
            ids: BTreeSet::new(),
        };
        let Some(after) = self.apps.entry(app).or_insert_with(first).read else {
            return Ok(true);
        };
        let found = rules::of_app(tx, app, Product::Stream, after, CHUNK)?;
        let more = i64::try_from(found.len()).unwrap_or(CHUNK) >= CHUNK;
        let last = found.last().map_or(after, |rule| rule.id);
        for rule in &found {
            self.file(rule);
        }
        if let Some(held) = self.apps.get_mut(&app) {
            held.read = more.then_some(last);
        }
        Ok(!more)
    }

    /// Whether an app's rules are wanted here.
    pub(super) fn knows(&self, app: AppId) -> bool {
        self.apps.contains_key(&app)
    }

    /// Takes up a rule that was added, unless it is here or is gone already.
    pub(super) fn added(&mut self, tx: &mut Tx<'_>, app: AppId, id: i64) -> Result<(), Fault> {
        if self.knows(app)
            && let Some(rule) = rules::by_id(tx, app, Product::Stream, id)?
        {
            self.file(&rule);
        }
        Ok(())
    }

    /// Lets go of a rule, if it is here.
    pub(super) fn removed(&mut self, id: i64) {
        let number = id.unsigned_abs();
        if let Some(filed) = self.rules.remove(&number) {
            self.matcher.remove(filed.slot);
            if let Some(held) = self.apps.get_mut(&filed.app) {
                held.ids.remove(&number);
            }
        }
    }

    /// Lets go of all rules of an app.
    pub(super) fn forget(&mut self, app: AppId) {
        let held = self.apps.remove(&app).unwrap_or_default();
        for number in held.ids {
            if let Some(filed) = self.rules.remove(&number) {
                self.matcher.remove(filed.slot);
            }
        }
    }

    fn file(&mut self, rule: &Rule) {
        let number = rule.id.unsigned_abs();
        if self.rules.contains_key(&number) {
            return;
        }
        // What was once taken is read as widely as it can be.
        let dialect = Dialect::new(query::Product::Stream, Level::Enterprise);
        let query = match query::parse(&rule.value, dialect) {
            Ok(query) => query,
            Err(problems) => {
                tracing::warn!(rule = rule.id, %problems, "a stored rule cannot be read");
                return;
            }
        };
        let slot = self.matcher.add(number, &query);
        let filed = Filed {
            app: rule.app_id,
            tag: rule.tag.as_str().into(),
            slot,
        };
        self.rules.insert(number, filed);
        let held = self.apps.entry(rule.app_id).or_default();
        held.ids.insert(number);
    }

    /// The apps that want a post, each with `matching_rules` as JSON: rules in their order.
    pub(super) fn matching(&mut self, facts: &PostFacts) -> HashMap<AppId, String> {
        if self.matcher.is_empty() {
            return HashMap::new();
        }
        let matcher = &mut self.matcher;
        let mut numbers = facts.lend(|post| {
            let facts = Facts::new(post, Reading::Stream);
            if (post.id >> 8) % LEARN_EACH == 0 {
                matcher.learn(&facts);
            }
            matcher.matching(&facts)
        });
        numbers.sort_unstable();
        let mut wanted: HashMap<AppId, Vec<Value>> = HashMap::new();
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
