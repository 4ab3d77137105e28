//! Rules of filtered streams (contract core §9.2), shared by all connections of an app. Their
//! syntax is validated by the caller.

use std::collections::{HashMap, HashSet};

use base::refusal::AuthenticationProblem;
use base::secret::digest;
use base::{AppId, Error, Fault, Refusal, sorted_distinct};
use serde_json::json;
use store::apps::AppStatus;
use store::rules::{self, StreamProduct, StreamRule};
use store::{Tx, apps, event_log};

/// Rules per query.
const BATCH_SIZE: i64 = 1_000;

/// A validated rule.
#[derive(Clone, Debug)]
pub struct NewStreamRule {
    /// As the app wrote it.
    pub value: String,
    /// The canonical form, equal for rules with the same meaning.
    pub canonical: String,
    /// The app's own label, or empty.
    pub tag: String,
}

#[derive(Clone, Debug, Default)]
pub struct AddedRules {
    pub rules: Vec<StreamRule>,
    /// Rules that the app already has, with the id of the existing one.
    pub duplicates: Vec<Refusal>,
}

/// Adds rules that the app does not have yet, whatever their tags. Adds none if the app would have more than `max`
/// rules, or with `dry_run`.
pub fn add(
    tx: &mut Tx<'_>,
    app: AppId,
    product: StreamProduct,
    max: usize,
    new: &[NewStreamRule],
    dry_run: bool,
) -> Result<AddedRules, Error> {
    // Concurrent calls must not exceed the limit together, and the app must still exist.
    apps::lock(tx, app)?;
    if apps::find_by_id(tx, app)?.is_none_or(|app| app.state == AppStatus::Deleted) {
        return Err(Refusal::Unauthenticated(AuthenticationProblem::App).into());
    }
    let before = usize::try_from(rules::count(tx, app, product)?).unwrap_or(usize::MAX);
    let mut added = AddedRules::default();
    let mut ids = HashMap::new();
    for rule in new {
        let digest = digest(&rule.canonical);
        let existing = match ids.get(&digest) {
            Some(id) => Some(*id),
            None => rules::find_id_by_digest(tx, app, product, &digest)?,
        };
        if let Some(id) = existing {
            let value = rule.value.clone();
            added.duplicates.push(Refusal::DuplicateRule { value, id });
            continue;
        }
        if before.saturating_add(added.rules.len()) >= max {
            return Err(Refusal::RuleLimitReached { limit: max }.into());
        }
        let stored = StreamRule {
            id: tx.next_id::<()>().get(),
            app_id: app,
            value: rule.value.clone(),
            tag: rule.tag.clone(),
            created_at: tx.now(),
        };
        if !dry_run {
            rules::insert(tx, product, &stored, &digest)?;
            append_rule_event(tx, "rule.added", app, product, stored.id)?;
        }
        ids.insert(digest, stored.id);
        added.rules.push(stored);
    }
    Ok(added)
}

/// Returns how many existed.
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

/// Returns how many existed.
pub fn remove_by_canonical(
    tx: &mut Tx<'_>,
    app: AppId,
    product: StreamProduct,
    canonical: &[String],
) -> Result<usize, Error> {
    let ids = find_ids_by_canonical(tx, app, product, canonical)?;
    remove(tx, app, product, &ids)
}

pub fn find_ids_by_canonical(
    tx: &mut Tx<'_>,
    app: AppId,
    product: StreamProduct,
    canonical: &[String],
) -> Result<Vec<i64>, Fault> {
    let mut ids = Vec::with_capacity(canonical.len());
    for rule in canonical {
        ids.extend(rules::find_id_by_digest(tx, app, product, &digest(rule))?);
    }
    Ok(sorted_distinct(ids))
}

/// Without duplicates.
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

pub fn remove_app_rules(tx: &mut Tx<'_>, app: AppId) -> Result<(), Error> {
    for product in StreamProduct::ALL {
        let mut after = 0;
        while let Some(last) = append_removal_events(tx, app, product, after)? {
            after = last;
        }
    }
    Ok(rules::delete_by_app(tx, app)?)
}

/// Logs the removal of some rules after an id; returns the last one's id.
fn append_removal_events(
    tx: &mut Tx<'_>,
    app: AppId,
    product: StreamProduct,
    after: i64,
) -> Result<Option<i64>, Error> {
    let batch = rules::list_by_app(tx, app, product, after, BATCH_SIZE)?;
    for rule in &batch {
        append_rule_event(tx, "rule.removed", app, product, rule.id)?;
    }
    Ok(batch.last().map(|rule| rule.id))
}

fn append_rule_event(tx: &mut Tx<'_>, kind: &str, app: AppId, product: StreamProduct, rule: i64) -> Result<(), Error> {
    let body = json!({ "app_id": app.to_string(), "product": product.name() });
    Ok(event_log::append(tx, kind, 0, rule, &body.to_string())?)
}
