//! Rules of streams: an app adds them, lists them and takes them away (contract §9.2). What a rule
//! may say is read before it comes here; the connections of an app share its rules.

use std::collections::{HashMap, HashSet};

use base::refusal::AuthenticationProblem;
use base::secret::digest;
use base::{AppId, Error, Fault, Refusal};
use serde_json::json;
use store::apps::AppStatus;
use store::rules::{self, StreamProduct, StreamRule};
use store::{Tx, apps, event_log};

/// Rules that are read at once.
const BATCH_SIZE: i64 = 1_000;

/// A rule that can be read.
#[derive(Clone, Debug)]
pub struct NewStreamRule {
    /// As the app wrote it.
    pub value: String,
    /// The same for all rules that mean the same by their words.
    pub canonical: String,
    /// The app's own label; empty where there is none.
    pub tag: String,
}

/// What came of rules that were to be added.
#[derive(Clone, Debug, Default)]
pub struct AddedRules {
    /// Those that are new.
    pub rules: Vec<StreamRule>,
    /// Those that the app has already, each with the id of the one that is there.
    pub duplicates: Vec<Refusal>,
}

/// Adds those rules that an app does not have yet; a label makes no rule new. None is added when
/// the app would then have more than `most`, and none where it is only to be seen what would be.
pub fn add(
    tx: &mut Tx<'_>,
    app: AppId,
    product: StreamProduct,
    most: usize,
    new: &[NewStreamRule],
    dry: bool,
) -> Result<AddedRules, Error> {
    // Two calls at once must not pass the bound together, nor outlive the app.
    apps::lock(tx, app)?;
    if apps::find_by_id(tx, app)?.is_none_or(|app| app.state == AppStatus::Deleted) {
        return Err(Refusal::Unauthenticated(AuthenticationProblem::App).into());
    }
    let before = usize::try_from(rules::count(tx, app, product)?).unwrap_or(usize::MAX);
    let mut added = AddedRules::default();
    let mut ids = HashMap::new();
    for one in new {
        let digest = digest(&one.canonical);
        let known = match ids.get(&digest) {
            Some(id) => Some(*id),
            None => rules::find_id_by_digest(tx, app, product, &digest)?,
        };
        if let Some(id) = known {
            let value = one.value.clone();
            added.duplicates.push(Refusal::DuplicateRule { value, id });
            continue;
        }
        if before.saturating_add(added.rules.len()) >= most {
            return Err(Refusal::RuleLimitReached { limit: most }.into());
        }
        let rule = StreamRule {
            id: tx.next_id::<()>().get(),
            app_id: app,
            value: one.value.clone(),
            tag: one.tag.clone(),
            created_at: tx.now(),
        };
        if !dry {
            rules::insert(tx, product, &rule, &digest)?;
            append_rule_event(tx, "rule.added", app, product, rule.id)?;
        }
        ids.insert(digest, rule.id);
        added.rules.push(rule);
    }
    Ok(added)
}

/// Removes rules by their ids; how many there were.
pub fn remove(tx: &mut Tx<'_>, app: AppId, product: StreamProduct, ids: &[i64]) -> Result<usize, Error> {
    let mut removed = 0_usize;
    for id in ids {
        if rules::delete(tx, app, product, *id)? {
            append_rule_event(tx, "rule.removed", app, product, *id)?;
            removed = removed.saturating_add(1);
        }
    }
    Ok(removed)
}

/// Removes rules by their canonical forms; how many there were.
pub fn remove_by_canonical(
    tx: &mut Tx<'_>,
    app: AppId,
    product: StreamProduct,
    canonical: &[String],
) -> Result<usize, Error> {
    let ids = find_ids_by_canonical(tx, app, product, canonical)?;
    remove(tx, app, product, &ids)
}

/// The ids of an app's rules by their canonical forms.
pub fn find_ids_by_canonical(
    tx: &mut Tx<'_>,
    app: AppId,
    product: StreamProduct,
    canonical: &[String],
) -> Result<Vec<i64>, Fault> {
    let mut ids = Vec::with_capacity(canonical.len());
    for one in canonical {
        ids.extend(rules::find_id_by_digest(tx, app, product, &digest(one))?);
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// Which of these ids are of rules that an app has, each once.
pub fn find_existing(
    tx: &mut Tx<'_>,
    app: AppId,
    product: StreamProduct,
    ids: &[i64],
) -> Result<Vec<StreamRule>, Fault> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for id in ids {
        if seen.insert(*id) {
            found.extend(rules::find_by_id(tx, app, product, *id)?);
        }
    }
    Ok(found)
}

/// Removes every rule of an app that is deleted.
pub(crate) fn remove_app_rules(tx: &mut Tx<'_>, app: AppId) -> Result<(), Error> {
    for product in StreamProduct::ALL {
        let mut after = 0;
        while let Some(last) = append_removal_events(tx, app, product, after)? {
            after = last;
        }
    }
    Ok(rules::delete_by_app(tx, app)?)
}

/// Tells that some of an app's rules behind one are removed; the last of them.
fn append_removal_events(
    tx: &mut Tx<'_>,
    app: AppId,
    product: StreamProduct,
    after: i64,
) -> Result<Option<i64>, Error> {
    let some = rules::list_by_app(tx, app, product, after, BATCH_SIZE)?;
    for rule in &some {
        append_rule_event(tx, "rule.removed", app, product, rule.id)?;
    }
    Ok(some.last().map(|rule| rule.id))
}

fn append_rule_event(tx: &mut Tx<'_>, kind: &str, app: AppId, product: StreamProduct, rule: i64) -> Result<(), Error> {
    let body = json!({ "app_id": app.to_string(), "product": product.name() });
    Ok(event_log::append(tx, kind, 0, rule, &body.to_string())?)
}
