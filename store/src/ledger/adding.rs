//! Adding to the ledger: rows, and every sum that they belong to, in one transaction.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use base::Fault;

use super::words::metric_columns;
use super::{Entity, Fact, Kind, METRICS, Metric, Origin, Sums, hour_of};
use crate::Tx;
use crate::db::Value;
use crate::records::interned;

const COLUMNS: &str = "line_item_id, event_time, id, recorded_at, kind, account_id, \
     funding_instrument_id, campaign_id, creative, creative_id, subject, viewer, placement, \
     platform, country, metro, age, gender, price_micro, billed, charge_micro, origin, once";
const WIDTH: usize = 23;
/// Rows of one statement.
const ROWS: usize = 64;

/// Adds what happened, but what is there already: an impression has one of each kind. Answers which
/// were added.
pub fn add(tx: &mut Tx<'_>, facts: &[Fact]) -> Result<HashSet<i64>, Fault> {
    let mut added = HashSet::with_capacity(facts.len());
    let (whole, rest) = facts.as_chunks::<ROWS>();
    for some in whole {
        insert(tx, some, &mut added)?;
    }
    for one in rest {
        insert(tx, std::slice::from_ref(one), &mut added)?;
    }
    let new = facts.iter().filter(|fact| added.contains(&fact.id));
    sum_up(tx, new)?;
    Ok(added)
}

fn insert(tx: &mut Tx<'_>, facts: &[Fact], added: &mut HashSet<i64>) -> Result<(), Fault> {
    static ONE: LazyLock<&str> = LazyLock::new(|| insertion(1));
    static MANY: LazyLock<&str> = LazyLock::new(|| insertion(ROWS));
    let sql = if facts.len() == 1 { *ONE } else { *MANY };
    let now = tx.now();
    let args: Vec<Value<'_>> = facts.iter().flat_map(|fact| row(fact, now)).collect();
    let ids = tx.rows(sql, &args, |row| row.int(0))?;
    added.extend(ids);
    Ok(())
}

fn insertion(rows: usize) -> &'static str {
    let marks = |row: usize| -> String {
        let of = (1..=WIDTH).map(|place| format!("${}", row * WIDTH + place));
        format!("({})", of.collect::<Vec<_>>().join(", "))
    };
    let all: Vec<String> = (0..rows).map(marks).collect();
    interned(format!(
        "INSERT INTO ad_event ({COLUMNS}) VALUES {} ON CONFLICT DO NOTHING RETURNING id",
        all.join(", ")
    ))
}

fn row(fact: &Fact, now: base::Time) -> [Value<'_>; WIDTH] {
    let looks = &fact.looks;
    [
        fact.line_item_id.into(),
        fact.at.into(),
        fact.id.into(),
        now.into(),
        fact.kind.number().into(),
        fact.account_id.into(),
        fact.funding_id.into(),
        fact.campaign_id.into(),
        fact.creative.number().into(),
        fact.creative_id.into(),
        fact.subject.into(),
        fact.viewer.into(),
        fact.placement.number().into(),
        looks.platform.into(),
        (&looks.country).into(),
        (&looks.metro).into(),
        looks.age.into(),
        looks.gender.into(),
        fact.price_micro.into(),
        fact.billed.into(),
        fact.charge_micro.into(),
        fact.origin.number().into(),
        fact.once.into(),
    ]
}

/// What a fact counts for.
fn entities(fact: &Fact) -> impl Iterator<Item = (Entity, i64)> {
    let post = fact.creative == Entity::PromotedPost && fact.subject != 0;
    let own = [
        (Entity::Account, fact.account_id),
        (Entity::Funding, fact.funding_id),
        (Entity::Campaign, fact.campaign_id),
        (Entity::LineItem, fact.line_item_id),
        (fact.creative, fact.creative_id),
    ];
    let post = post.then_some((Entity::Post, fact.subject));
    own.into_iter().chain(post)
}

/// What of an entity an hour tells: the first and last of its times, and the placements.
type Told = (i64, i64, i64);

fn sum_up<'f>(tx: &mut Tx<'_>, facts: impl Iterator<Item = &'f Fact>) -> Result<(), Fault> {
    let mut hours: BTreeMap<(i64, i64, i64, i64), Sums> = BTreeMap::new();
    let mut totals: BTreeMap<(i64, i64), Sums> = BTreeMap::new();
    let mut active: BTreeMap<(i64, i64, i64, i64), Told> = BTreeMap::new();
    let mut seen: BTreeMap<i64, i64> = BTreeMap::new();
    let now = tx.now().ms();
    for fact in facts {
        let (at, group) = (fact.at.ms(), fact.placement.group().number());
        let (hour, recorded) = (hour_of(at, fact.shift), hour_of(now, fact.shift));
        let billed = i64::from(fact.billed);
        for (entity, id) in entities(fact) {
            let entity = entity.number();
            let by_hour = hours.entry((entity, id, hour, group)).or_default();
            by_hour.count(fact.kind, 1, billed, fact.charge_micro);
            let total = totals.entry((entity, id)).or_default();
            total.count(fact.kind, 1, billed, fact.charge_micro);
            let key = (fact.account_id, entity, recorded, id);
            let told = active.entry(key).or_insert((at, at, 0));
            *told = (told.0.min(at), told.1.max(at), told.2 | 1 << (group / 16));
        }
        let shown = fact.kind == Kind::Impression && fact.creative == Entity::PromotedPost;
        if shown && fact.origin == Origin::Served {
            *seen.entry(fact.subject).or_default() += 1;
        }
    }
    // In one order everywhere, so that two who add at once wait for each other and do not clash.
    for ((entity, id, hour, group), sums) in &hours {
        add_hour(tx, [*entity, *id, *hour, *group], sums)?;
    }
    for ((entity, id), sums) in &totals {
        add_total(tx, [*entity, *id], sums)?;
    }
    for ((account, entity, hour, id), told) in &active {
        add_active(tx, [*account, *entity, *hour, *id], *told)?;
    }
    for (post, times) in &seen {
        let sql = "UPDATE post SET impression_count = impression_count + $1 WHERE id = $2";
        tx.exec(sql, &[(*times).into(), (*post).into()])?;
    }
    Ok(())
}

/// An addition to the sums of a table with these keys.
fn addition(table: &str, keys: &str, count: usize) -> &'static str {
    let columns = metric_columns!().trim_end_matches(", ");
    let marks: Vec<String> = (1..=count + METRICS).map(|n| format!("${n}")).collect();
    let sums: Vec<String> = Metric::ALL
        .iter()
        .map(|metric| format!("{0} = {table}.{0} + excluded.{0}", metric.name()))
        .collect();
    let conflict = keys.trim_end_matches(", owed");
    interned(format!(
        "INSERT INTO {table} ({keys}, {columns}) VALUES ({}) ON CONFLICT ({conflict}) \
         DO UPDATE SET {}",
        marks.join(", "),
        sums.join(", ")
    ))
}

fn add_hour(tx: &mut Tx<'_>, key: [i64; 4], sums: &Sums) -> Result<(), Fault> {
    static SQL: LazyLock<&str> =
        LazyLock::new(|| addition("ad_hour", "entity, entity_id, hour, placement", 4));
    let args: Vec<Value<'_>> = key.iter().chain(&sums.0).map(|n| (*n).into()).collect();
    tx.exec(*SQL, &args).map(|_| ())
}

fn add_total(tx: &mut Tx<'_>, key: [i64; 2], sums: &Sums) -> Result<(), Fault> {
    static SQL: LazyLock<&str> =
        LazyLock::new(|| addition("ad_total", "entity, entity_id, owed", 3));
    let numbers = key.iter().chain(&[0]).chain(&sums.0);
    let args: Vec<Value<'_>> = numbers.map(|n| (*n).into()).collect();
    tx.exec(*SQL, &args).map(|_| ())
}

fn add_active(tx: &mut Tx<'_>, key: [i64; 4], (first, last, places): Told) -> Result<(), Fault> {
    let sql = "INSERT INTO ad_active (account_id, entity, hour, entity_id, first_at, last_at, \
               placements) VALUES ($1, $2, $3, $4, $5, $6, $7) \
               ON CONFLICT (account_id, entity, hour, entity_id) DO UPDATE SET \
               first_at = CASE WHEN excluded.first_at < ad_active.first_at \
               THEN excluded.first_at ELSE ad_active.first_at END, \
               last_at = CASE WHEN excluded.last_at > ad_active.last_at \
               THEN excluded.last_at ELSE ad_active.last_at END, \
               placements = ad_active.placements | excluded.placements";
    let told = [first, last, places];
    let numbers = key.iter().chain(&told);
    let args: Vec<Value<'_>> = numbers.map(|n| (*n).into()).collect();
    tx.exec(sql, &args).map(|_| ())
}

/// Notes the part of a micro that a line item's impressions have come to and that is not charged
/// yet.
pub fn owe(tx: &mut Tx<'_>, line_item: i64, thousandths: i64) -> Result<(), Fault> {
    let sql = "UPDATE ad_total SET owed = $1 WHERE entity = $2 AND entity_id = $3";
    let args = [
        thousandths.into(),
        Entity::LineItem.number().into(),
        line_item.into(),
    ];
    tx.exec(sql, &args).map(|_| ())
}
