//! Figures, from the sums where those hold them and from the rows where not.

use base::{Fault, Time, UserId};

use super::words::{GROUP, metric_columns};
use super::{Entity, Fact, Kind, Looks, METRICS, Origin, Placement, Sums};
use crate::Tx;
use crate::db::Row;
use crate::records::interned;

fn sums(row: &Row<'_, '_>, from: usize) -> Result<Sums, Fault> {
    let mut all = [0; METRICS];
    for (place, sum) in all.iter_mut().enumerate() {
        *sum = row.int(from + place)?;
    }
    Ok(Sums(all))
}

/// Sums of some entities by the hour, in a span and in a group of placements: the entity, when the
/// hour begins, and the sums. Hours without any are left out.
pub fn hours(
    tx: &mut Tx<'_>,
    entity: Entity,
    ids: &[i64],
    (from, to): (Time, Time),
    group: Placement,
) -> Result<Vec<(i64, i64, Sums)>, Fault> {
    let sql = concat!(
        "SELECT ",
        metric_columns!(),
        "entity_id, hour FROM ad_hour WHERE entity_id = $1 AND entity = $2 AND hour >= $3 \
         AND hour < $4 AND placement = $5"
    );
    let more = [
        entity.number().into(),
        from.into(),
        to.into(),
        group.number().into(),
    ];
    tx.of_each(sql, ids, &more, |row| {
        Ok((row.int(METRICS)?, row.int(METRICS + 1)?, sums(row, 0)?))
    })
}

/// Sums of all time of some entities, and what of a micro is not charged yet; those of whom nothing
/// is known are left out.
pub fn totals(
    tx: &mut Tx<'_>,
    entity: Entity,
    ids: &[i64],
) -> Result<Vec<(i64, Sums, i64)>, Fault> {
    let sql = concat!(
        "SELECT ",
        metric_columns!(),
        "entity_id, owed FROM ad_total WHERE entity_id = $1 AND entity = $2"
    );
    tx.of_each(sql, ids, &[entity.number().into()], |row| {
        Ok((row.int(METRICS)?, sums(row, 0)?, row.int(METRICS + 1)?))
    })
}

/// Sums of all time of one entity.
pub fn total(tx: &mut Tx<'_>, entity: Entity, id: i64) -> Result<Sums, Fault> {
    let found = totals(tx, entity, &[id])?;
    Ok(found.first().map(|(_, sums, _)| *sums).unwrap_or_default())
}

/// What some entities have spent; those that are not known are left out.
pub fn spent(tx: &mut Tx<'_>, entity: Entity, ids: &[i64]) -> Result<Vec<(i64, i64)>, Fault> {
    let sql = "SELECT entity_id, charge_micro FROM ad_total WHERE entity_id = $1 AND entity = $2";
    tx.of_each(sql, ids, &[entity.number().into()], |row| {
        Ok((row.int(0)?, row.int(1)?))
    })
}

/// What some entities have spent between the beginnings of two hours.
pub fn spent_in(
    tx: &mut Tx<'_>,
    entity: Entity,
    ids: &[i64],
    (from, to): (Time, Time),
) -> Result<Vec<(i64, i64)>, Fault> {
    let sql = "SELECT entity_id, CAST(SUM(charge_micro) AS BIGINT) FROM ad_hour \
               WHERE entity_id = $1 AND entity = $2 AND hour >= $3 AND hour < $4 \
               GROUP BY entity_id";
    let more = [entity.number().into(), from.into(), to.into()];
    tx.of_each(sql, ids, &more, |row| Ok((row.int(0)?, row.int(1)?)))
}

macro_rules! columns {
    () => {
        "line_item_id, event_time, id, kind, account_id, funding_instrument_id, campaign_id, \
         creative, creative_id, subject, viewer, placement, platform, country, metro, age, gender, \
         price_micro, billed, charge_micro, origin, once"
    };
}

fn read(row: &Row<'_, '_>) -> Result<Fact, Fault> {
    let unknown = || Fault::new("a row of the ledger with an unknown number");
    Ok(Fact {
        line_item_id: row.int(0)?,
        at: row.time(1)?,
        id: row.int(2)?,
        kind: Kind::read(row.int(3)?).ok_or_else(unknown)?,
        account_id: row.int(4)?,
        funding_id: row.int(5)?,
        campaign_id: row.int(6)?,
        creative: Entity::read(row.int(7)?).ok_or_else(unknown)?,
        creative_id: row.int(8)?,
        subject: row.int(9)?,
        viewer: row.int(10)?,
        placement: Placement::read(row.int(11)?).ok_or_else(unknown)?,
        looks: Looks {
            platform: row.opt_int(12)?,
            country: row.text(13)?,
            metro: row.text(14)?,
            age: row.opt_int(15)?,
            gender: row.opt_int(16)?,
        },
        price_micro: row.int(17)?,
        billed: row.switch(18)?,
        charge_micro: row.int(19)?,
        origin: Origin::read(row.int(20)?).ok_or_else(unknown)?,
        once: row.int(21)?,
        shift: 0,
    })
}

/// What is known of some impressions: of each the impression and the kind.
pub fn by_impression(tx: &mut Tx<'_>, impressions: &[i64]) -> Result<Vec<(i64, Kind)>, Fault> {
    let sql = "SELECT once, kind FROM ad_event WHERE once = $1";
    let rows = tx.of_each(sql, impressions, &[], |row| Ok((row.int(0)?, row.int(1)?)))?;
    let known = rows.into_iter();
    Ok(known
        .filter_map(|(once, kind)| Some((once, Kind::read(kind)?)))
        .collect())
}

/// What a viewer was shown since a moment, the latest first.
pub fn shown_to(tx: &mut Tx<'_>, viewer: i64, since: Time) -> Result<Vec<Fact>, Fault> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM ad_event WHERE viewer = $1 AND event_time > $2 AND kind = 0 \
         ORDER BY event_time DESC LIMIT 1000"
    );
    tx.rows(sql, &[viewer.into(), since.into()], read)
}

/// When a viewer was shown which line item since a moment.
pub fn impressions_of(
    tx: &mut Tx<'_>,
    viewer: i64,
    since: Time,
) -> Result<Vec<(i64, Time)>, Fault> {
    let sql = "SELECT line_item_id, event_time FROM ad_event \
               WHERE viewer = $1 AND event_time > $2 AND kind = 0";
    tx.rows(sql, &[viewer.into(), since.into()], |row| {
        Ok((row.int(0)?, row.time(1)?))
    })
}

/// Who saw some line items in a span, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewed {
    /// The line item.
    pub line_item_id: i64,
    /// The viewer.
    pub viewer: i64,
    /// Impressions.
    pub times: i64,
}

/// Who saw some line items in a span.
pub fn viewed(
    tx: &mut Tx<'_>,
    line_items: &[i64],
    (from, to): (Time, Time),
) -> Result<Vec<Viewed>, Fault> {
    let sql = "SELECT line_item_id, viewer, COUNT(*) FROM ad_event WHERE line_item_id = $1 \
               AND event_time >= $2 AND event_time < $3 AND kind = 0 \
               GROUP BY line_item_id, viewer";
    tx.of_each(sql, line_items, &[from.into(), to.into()], |row| {
        Ok(Viewed {
            line_item_id: row.int(0)?,
            viewer: row.int(1)?,
            times: row.int(2)?,
        })
    })
}

/// Users to whom some of these kinds happened with some line items since a moment: who was shown
/// something, who did something with it.
pub fn viewers(
    tx: &mut Tx<'_>,
    line_items: &[i64],
    kinds: &[Kind],
    since: Time,
) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT DISTINCT viewer, kind FROM ad_event WHERE line_item_id = $1 \
               AND event_time >= $2 AND viewer > 0";
    let rows = tx.of_each(sql, line_items, &[since.into()], |row| {
        Ok((row.int(0)?, row.int(1)?))
    })?;
    let wanted = |kind: i64| kinds.iter().any(|one| one.number() == kind);
    let mut all: Vec<UserId> = rows
        .into_iter()
        .filter(|(_, kind)| wanted(*kind))
        .map(|(viewer, _)| UserId::new(viewer))
        .collect();
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// By what rows are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Nothing.
    None,
    /// Age.
    Age,
    /// Gender.
    Gender,
    /// Metropolitan area.
    Metro,
    /// Platform.
    Platform,
}

/// Which rows are counted.
#[derive(Clone, Debug)]
pub struct Cut<'a> {
    /// From then on.
    pub from: Time,
    /// Until before then.
    pub to: Time,
    /// The length of a span, in milliseconds.
    pub length: i64,
    /// The group of placements.
    pub group: Placement,
    /// By what they are told apart.
    pub segment: Segment,
    /// In this country only, or empty.
    pub country: &'a str,
    /// On this platform only.
    pub platform: Option<i64>,
}

/// Rows of one creative, span, segment and kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The line item.
    pub line_item_id: i64,
    /// The creative.
    pub creative: (Entity, i64),
    /// The span's number.
    pub span: i64,
    /// The segment's value; empty where it is not known.
    pub segment: String,
    /// The kind.
    pub kind: Kind,
    /// How many.
    pub count: i64,
    /// How many of them are paid for.
    pub billed: i64,
    /// What they cost.
    pub charge: i64,
}

/// Counts rows of some line items.
pub fn parts(tx: &mut Tx<'_>, line_items: &[i64], cut: &Cut<'_>) -> Result<Vec<Part>, Fault> {
    let segment = match cut.segment {
        Segment::None => "''",
        Segment::Age => "COALESCE(CAST(age AS TEXT), '')",
        Segment::Gender => "COALESCE(CAST(gender AS TEXT), '')",
        Segment::Metro => "metro",
        Segment::Platform => "COALESCE(CAST(platform AS TEXT), '')",
    };
    // Few statements: segments times the two filters.
    let country = if cut.country.is_empty() {
        "country >= $6"
    } else {
        "country = $6"
    };
    let platform = if cut.platform.is_some() {
        "platform = $7"
    } else {
        "CAST(0 AS BIGINT) > $7"
    };
    let sql = interned(format!(
        "WITH own AS (SELECT * FROM ad_event WHERE line_item_id = $1 AND event_time >= $2 \
         AND event_time < $3 AND placement >= $4 AND placement < $5 AND {country} AND {platform}) \
         SELECT line_item_id, creative, creative_id, (event_time - $2) / $8 AS span, \
         {segment} AS segment, kind, COUNT(*), CAST(SUM(billed) AS BIGINT), \
         CAST(SUM(charge_micro) AS BIGINT) FROM own GROUP BY 1, 2, 3, 4, 5, 6"
    ));
    let group = cut.group.number();
    let more = [
        cut.from.into(),
        cut.to.into(),
        group.into(),
        (group + GROUP).into(),
        cut.country.into(),
        cut.platform.unwrap_or(-1).into(),
        cut.length.into(),
    ];
    let rows = tx.of_each(sql, line_items, &more, |row| {
        let unknown = || Fault::new("a row of the ledger with an unknown number");
        Ok(Part {
            line_item_id: row.int(0)?,
            creative: (Entity::read(row.int(1)?).ok_or_else(unknown)?, row.int(2)?),
            span: row.int(3)?,
            segment: row.text(4)?,
            kind: Kind::read(row.int(5)?).ok_or_else(unknown)?,
            count: row.int(6)?,
            billed: row.int(7)?,
            charge: row.int(8)?,
        })
    })?;
    Ok(rows)
}

/// An entity of which something was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Active {
    /// The entity.
    pub entity_id: i64,
    /// The earliest of the times.
    pub first: Time,
    /// The latest.
    pub last: Time,
    /// In which groups of placements.
    pub groups: Vec<Placement>,
}

/// Entities of an account of which something was recorded in some hours.
pub fn active(
    tx: &mut Tx<'_>,
    account: i64,
    entity: Entity,
    (from, to): (Time, Time),
) -> Result<Vec<Active>, Fault> {
    let sql = "SELECT entity_id, first_at, last_at, placements FROM ad_active \
               WHERE account_id = $1 AND entity = $2 AND hour >= $3 AND hour < $4";
    let args = [
        account.into(),
        entity.number().into(),
        from.into(),
        to.into(),
    ];
    let rows = tx.rows(sql, &args, |row| {
        Ok((row.int(0)?, row.time(1)?, row.time(2)?, row.int(3)?))
    })?;
    // Rows of one entity may stand apart: an index serves the order of hours, not of entities.
    let mut all: std::collections::BTreeMap<i64, (Time, Time, i64)> =
        std::collections::BTreeMap::new();
    for (id, first, last, mask) in rows {
        let known = all.entry(id).or_insert((first, last, mask));
        *known = (known.0.min(first), known.1.max(last), known.2 | mask);
    }
    let groups = |mask: i64| {
        let all = Placement::ALL.iter().copied();
        let own = all.filter(|one| one.group() == *one);
        own.filter(|one| mask >> (one.number() / GROUP) & 1 == 1)
            .collect()
    };
    let active = all
        .into_iter()
        .map(|(entity_id, (first, last, mask))| Active {
            entity_id,
            first,
            last,
            groups: groups(mask),
        });
    Ok(active.collect())
}
