//! The size of custom audiences, worked out when nothing was written to them for a while, and then
//! whenever somebody begins or ends to be in them (contract §8.3).

use base::{Error, Fault, Time};
use store::ads::audiences;
use store::{Tx, records};

use crate::audience_members;
use crate::declaration::Resource;
use crate::record::AdsRecord;
use crate::resources::accounts::ACCOUNT;
use crate::resources::audience_targeting;
use crate::resources::custom_audiences::CUSTOM_AUDIENCE;
use crate::resources::do_not_reach_lists::DO_NOT_REACH_LIST;
use crate::size_disclosure::{AudienceSize, SizeDisclosure};

/// Users whose keys are looked at in one transaction, and members whose users are looked for.
const BATCH_SIZE: i64 = 500;
/// Who was not there for so long does not count.
const ACTIVE_WINDOW_MS: i64 = 90 * DAY;
const DAY: i64 = 24 * 3_600_000;

/// Lists of people that are matched, and where each says how many it comes to. They count their ids
/// together.
static SIZE_FIELDS: [(&Resource, &str); 2] = [(&CUSTOM_AUDIENCE, "audience_size"), (&DO_NOT_REACH_LIST, "list_size")];

/// How audiences are worked out.
#[derive(Clone, Copy, Debug)]
pub struct MatchingConfig {
    /// How long nothing is written before it is worked out, in milliseconds.
    pub delay_ms: i64,
}

/// What an audience came to.
#[derive(Clone, Copy, Debug)]
pub struct AudienceMeasurement {
    size: AudienceSize,
    next_at: Option<Time>,
    due_at: Option<i64>,
}

/// Whether there are users whose keys may be others than those written down.
pub fn has_unkeyed_users(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    audiences::has_pending_matches(tx)
}

/// Writes down the keys of some users; true while there are more.
pub fn key_user_batch(tx: &mut Tx<'_>) -> Result<bool, Error> {
    let (count, moved) = audiences::refresh_user_keys(tx, BATCH_SIZE)?;
    for audience in moved {
        mark_audience_changed(tx, audience)?;
    }
    Ok(i64::try_from(count).unwrap_or(BATCH_SIZE) >= BATCH_SIZE)
}

/// Says that something was written to an audience now.
pub fn mark_audience_changed(tx: &mut Tx<'_>, audience: i64) -> Result<(), Error> {
    let now = tx.now();
    schedule_measurement(tx, audience, now)
}

/// Has an audience worked out once a time has passed and the usual delay.
fn schedule_measurement(tx: &mut Tx<'_>, audience: i64, at: Time) -> Result<(), Error> {
    if let Some(mut record) = lock_audience(tx, audience)? {
        record.set("due_at", at.ms());
        records::update(tx, record.resource.name, &record.to_stored())?;
    }
    Ok(())
}

/// A list of people, of whichever kind.
pub(crate) fn find_audience(tx: &mut Tx<'_>, audience: i64) -> Result<Option<AdsRecord>, Fault> {
    for (of, _) in SIZE_FIELDS {
        if let Some(row) = records::find_by_id(tx, of.name, audience)? {
            return AdsRecord::from_stored(of, &row).map(Some);
        }
    }
    Ok(None)
}

/// An audience as it is once whoever works in its account has ended.
fn lock_audience(tx: &mut Tx<'_>, audience: i64) -> Result<Option<AdsRecord>, Error> {
    let Some(record) = find_audience(tx, audience)? else {
        return Ok(None);
    };
    records::lock(tx, ACCOUNT.name, record.account_id)?;
    Ok(find_audience(tx, audience)?.filter(|record| !record.deleted))
}

/// The audience that is to be worked out first; none when none is.
pub fn due_audience(tx: &mut Tx<'_>, plan: MatchingConfig) -> Result<Option<i64>, Fault> {
    let before = tx.now().ms().saturating_sub(plan.delay_ms);
    for (of, _) in SIZE_FIELDS {
        let rows = records::list_due(tx, of.name, "due_at", before, 1)?;
        if let Some(row) = rows.first() {
            return Ok(Some(row.id));
        }
    }
    Ok(None)
}

/// Looks for the users of some members; true while there are more.
pub fn match_member_batch(tx: &mut Tx<'_>, audience: i64) -> Result<bool, Fault> {
    audiences::match_pending_members(tx, audience, BATCH_SIZE)
}

/// Counts whom an audience comes to now.
pub fn measure_audience(
    tx: &mut Tx<'_>,
    audience: i64,
    discretion: &SizeDisclosure,
) -> Result<AudienceMeasurement, Error> {
    let now = tx.now();
    let record = find_audience(tx, audience)?;
    let active = now.plus_ms(-ACTIVE_WINDOW_MS);
    let found = audience_members::resolve_members(record.as_ref(), now, &mut |id, times| {
        Ok(audiences::active_users(tx, id, times, active)?)
    })?;
    Ok(AudienceMeasurement {
        size: discretion.measure_audience(found),
        next_at: audiences::next_membership_change(tx, audience, now)?,
        due_at: record.and_then(|record| record.int("due_at")),
    })
}

/// Writes down what an audience came to, and what follows for what targets it.
pub fn save_measurement(
    tx: &mut Tx<'_>,
    audience: i64,
    found: AudienceMeasurement,
    (plan, discretion): (MatchingConfig, &SizeDisclosure),
) -> Result<(), Error> {
    let Some(mut record) = lock_audience(tx, audience)? else {
        return Ok(());
    };
    // All that is told follows from this, so that nothing else tells who of them is here.
    let told = discretion.disclose_size(found.size).displayed_count();
    let targetable = told.is_some_and(|told| told >= discretion.min_size);
    let changes = record.flag("targetable") != targetable;
    let size = SIZE_FIELDS.iter().find(|(of, _)| std::ptr::eq(*of, record.resource));
    record.set(size.map_or("audience_size", |(_, size)| *size), told);
    record.set("targetable", i64::from(targetable));
    record.set("processed", 1);
    if record.int("due_at") == found.due_at {
        // Who was there long ago ceases to count by and by.
        let later = tx.now().plus_ms(DAY);
        let next = found.next_at.map_or(later, |next| next.min(later));
        record.set("due_at", next.ms().saturating_sub(plan.delay_ms).max(0));
    }
    records::update(tx, record.resource.name, &record.to_stored())?;
    if changes {
        audience_targeting::refresh_targeting_line_items(tx, audience)?;
    }
    // What is made of it has waited long enough.
    let before = tx.now().plus_ms(-plan.delay_ms);
    for whole in audiences::list_containing_audiences(tx, audience)? {
        schedule_measurement(tx, whole, before)?;
    }
    Ok(())
}
