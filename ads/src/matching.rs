//! The size of custom audiences, worked out when nothing was written to them for a while, and then
//! whenever somebody begins or ends to be in them (contract §8.3).

use base::{Fault, Stop, Time};
use store::ads::audiences;
use store::{Tx, records};

use crate::record::Record;
use crate::resources::accounts::ACCOUNT;
use crate::resources::audiences_targeted;
use crate::resources::custom_audiences::CUSTOM_AUDIENCE;

/// Users whose keys are looked at in one transaction, and members whose users are looked for.
const SOME: i64 = 500;
/// Who was not there for so long does not count.
const ACTIVE: i64 = 90 * DAY;
const DAY: i64 = 24 * 3_600_000;

/// How audiences are worked out.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How many users an audience must come to before it can be targeted.
    pub least: i64,
    /// How long nothing is written before it is worked out, in milliseconds.
    pub delay: i64,
}

/// What an audience came to.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    size: i64,
    next: Option<Time>,
    due_at: Option<i64>,
}

/// Whether there are users whose keys may be others than those written down.
pub fn is_behind(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    audiences::is_behind(tx)
}

/// Writes down the keys of some users; true while there are more.
pub fn key_some(tx: &mut Tx<'_>) -> Result<bool, Stop> {
    let (count, moved) = audiences::key_users(tx, SOME)?;
    for audience in moved {
        put_on(tx, audience)?;
    }
    Ok(i64::try_from(count).unwrap_or(SOME) >= SOME)
}

/// Says that something was written to an audience now.
pub fn put_on(tx: &mut Tx<'_>, audience: i64) -> Result<(), Stop> {
    let now = tx.now().ms();
    if let Some(mut record) = held(tx, audience)? {
        record.set("due_at", now);
        records::update(tx, CUSTOM_AUDIENCE.name, &record.to_store())?;
    }
    Ok(())
}

/// An audience as it is once whoever works in its account has ended.
fn held(tx: &mut Tx<'_>, audience: i64) -> Result<Option<Record>, Stop> {
    let Some(row) = records::by_id(tx, CUSTOM_AUDIENCE.name, audience)? else {
        return Ok(None);
    };
    records::lock(tx, ACCOUNT.name, row.account_id)?;
    let row = records::by_id(tx, CUSTOM_AUDIENCE.name, audience)?;
    let record = row
        .map(|row| Record::stored(&CUSTOM_AUDIENCE, &row))
        .transpose()?;
    Ok(record.filter(|record| !record.deleted))
}

/// The audience that is to be worked out first; none when none is.
pub fn due(tx: &mut Tx<'_>, plan: Plan) -> Result<Option<i64>, Fault> {
    let before = tx.now().ms().saturating_sub(plan.delay);
    let rows = records::due(tx, CUSTOM_AUDIENCE.name, "due_at", before, 1)?;
    Ok(rows.first().map(|row| row.id))
}

/// Looks for the users of some members; true while there are more.
pub fn match_some(tx: &mut Tx<'_>, audience: i64) -> Result<bool, Fault> {
    audiences::match_waiting(tx, audience, SOME)
}

/// Counts whom an audience comes to now.
pub fn measure(tx: &mut Tx<'_>, audience: i64) -> Result<Measure, Stop> {
    let now = tx.now();
    let row = records::by_id(tx, CUSTOM_AUDIENCE.name, audience)?;
    let record = row
        .map(|row| Record::stored(&CUSTOM_AUDIENCE, &row))
        .transpose()?;
    Ok(Measure {
        size: audiences::size(tx, audience, now, now.plus_ms(-ACTIVE))?,
        next: audiences::next_turn(tx, audience, now)?,
        due_at: record.and_then(|record| record.int("due_at")),
    })
}

/// Writes down what an audience came to, and what follows for what targets it.
pub fn settle(tx: &mut Tx<'_>, audience: i64, found: Measure, plan: Plan) -> Result<(), Stop> {
    let Some(mut record) = held(tx, audience)? else {
        return Ok(());
    };
    let targetable = found.size >= plan.least;
    let changes = record.flag("targetable") != targetable;
    // The exact size of a few would tell who of them is here.
    let told = targetable || plan.least <= 1;
    record.set("audience_size", told.then_some(found.size));
    record.set("targetable", i64::from(targetable));
    record.set("processed", 1);
    if record.int("due_at") == found.due_at {
        // Who was there long ago ceases to count by and by.
        let later = tx.now().plus_ms(DAY);
        let next = found.next.map_or(later, |next| next.min(later));
        record.set("due_at", next.ms().saturating_sub(plan.delay).max(0));
    }
    records::update(tx, CUSTOM_AUDIENCE.name, &record.to_store())?;
    if changes {
        audiences_targeted::changed(tx, audience)?;
    }
    Ok(())
}
