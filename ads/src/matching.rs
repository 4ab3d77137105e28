//! The size of custom audiences, worked out when nothing was written to them for a while, and then
//! whenever somebody begins or ends to be in them (contract §8.3).

use base::{Error, Fault, Time};
use store::ads::audiences;
use store::{Tx, records};

use crate::declare::Resource;
use crate::discretion::{Crowd, Discretion};
use crate::members;
use crate::record::Record;
use crate::resources::accounts::ACCOUNT;
use crate::resources::audiences_targeted;
use crate::resources::custom_audiences::CUSTOM_AUDIENCE;
use crate::resources::do_not_reach_lists::DO_NOT_REACH_LIST;

/// Users whose keys are looked at in one transaction, and members whose users are looked for.
const SOME: i64 = 500;
/// Who was not there for so long does not count.
const ACTIVE: i64 = 90 * DAY;
const DAY: i64 = 24 * 3_600_000;

/// Lists of people that are matched, and where each says how many it comes to. They count their ids
/// together.
static LISTS: [(&Resource, &str); 2] = [
    (&CUSTOM_AUDIENCE, "audience_size"),
    (&DO_NOT_REACH_LIST, "list_size"),
];

/// How audiences are worked out.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How long nothing is written before it is worked out, in milliseconds.
    pub delay: i64,
}

/// What an audience came to.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    crowd: Crowd,
    next: Option<Time>,
    due_at: Option<i64>,
}

/// Whether there are users whose keys may be others than those written down.
pub fn is_behind(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    audiences::has_pending_matches(tx)
}

/// Writes down the keys of some users; true while there are more.
pub fn key_some(tx: &mut Tx<'_>) -> Result<bool, Error> {
    let (count, moved) = audiences::refresh_user_keys(tx, SOME)?;
    for audience in moved {
        put_on(tx, audience)?;
    }
    Ok(i64::try_from(count).unwrap_or(SOME) >= SOME)
}

/// Says that something was written to an audience now.
pub fn put_on(tx: &mut Tx<'_>, audience: i64) -> Result<(), Error> {
    let now = tx.now();
    look_at(tx, audience, now)
}

/// Has an audience worked out once a time has passed and the usual delay.
fn look_at(tx: &mut Tx<'_>, audience: i64, at: Time) -> Result<(), Error> {
    if let Some(mut record) = held(tx, audience)? {
        record.set("due_at", at.ms());
        records::update(tx, record.of.name, &record.to_store())?;
    }
    Ok(())
}

/// A list of people, of whichever kind.
pub(crate) fn stored(tx: &mut Tx<'_>, audience: i64) -> Result<Option<Record>, Fault> {
    for (of, _) in LISTS {
        if let Some(row) = records::find_by_id(tx, of.name, audience)? {
            return Record::stored(of, &row).map(Some);
        }
    }
    Ok(None)
}

/// An audience as it is once whoever works in its account has ended.
fn held(tx: &mut Tx<'_>, audience: i64) -> Result<Option<Record>, Error> {
    let Some(record) = stored(tx, audience)? else {
        return Ok(None);
    };
    records::lock(tx, ACCOUNT.name, record.account_id)?;
    Ok(stored(tx, audience)?.filter(|record| !record.deleted))
}

/// The audience that is to be worked out first; none when none is.
pub fn due(tx: &mut Tx<'_>, plan: Plan) -> Result<Option<i64>, Fault> {
    let before = tx.now().ms().saturating_sub(plan.delay);
    for (of, _) in LISTS {
        let rows = records::list_due(tx, of.name, "due_at", before, 1)?;
        if let Some(row) = rows.first() {
            return Ok(Some(row.id));
        }
    }
    Ok(None)
}

/// Looks for the users of some members; true while there are more.
pub fn match_some(tx: &mut Tx<'_>, audience: i64) -> Result<bool, Fault> {
    audiences::match_pending_members(tx, audience, SOME)
}

/// Counts whom an audience comes to now.
pub fn measure(tx: &mut Tx<'_>, audience: i64, discretion: &Discretion) -> Result<Measure, Error> {
    let now = tx.now();
    let record = stored(tx, audience)?;
    let active = now.plus_ms(-ACTIVE);
    let found = members::found(record.as_ref(), now, &mut |id, times| {
        Ok(audiences::active_users(tx, id, times, active)?)
    })?;
    Ok(Measure {
        crowd: discretion.crowd(found),
        next: audiences::next_membership_change(tx, audience, now)?,
        due_at: record.and_then(|record| record.int("due_at")),
    })
}

/// Writes down what an audience came to, and what follows for what targets it.
pub fn settle(
    tx: &mut Tx<'_>,
    audience: i64,
    found: Measure,
    (plan, discretion): (Plan, &Discretion),
) -> Result<(), Error> {
    let Some(mut record) = held(tx, audience)? else {
        return Ok(());
    };
    // All that is told follows from this, so that nothing else tells who of them is here.
    let told = discretion.tell(found.crowd).shown();
    let targetable = told.is_some_and(|told| told >= discretion.least);
    let changes = record.flag("targetable") != targetable;
    let size = LISTS.iter().find(|(of, _)| std::ptr::eq(*of, record.of));
    record.set(size.map_or("audience_size", |(_, size)| *size), told);
    record.set("targetable", i64::from(targetable));
    record.set("processed", 1);
    if record.int("due_at") == found.due_at {
        // Who was there long ago ceases to count by and by.
        let later = tx.now().plus_ms(DAY);
        let next = found.next.map_or(later, |next| next.min(later));
        record.set("due_at", next.ms().saturating_sub(plan.delay).max(0));
    }
    records::update(tx, record.of.name, &record.to_store())?;
    if changes {
        audiences_targeted::changed(tx, audience)?;
    }
    // What is made of it has waited long enough.
    let before = tx.now().plus_ms(-plan.delay);
    for whole in audiences::list_containing_audiences(tx, audience)? {
        look_at(tx, whole, before)?;
    }
    Ok(())
}
