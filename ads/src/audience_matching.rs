//! Sizes of custom audiences: computed once an audience has not been written to for a while, and again
//! whenever a membership begins or ends (contract ads §8.3).

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

/// Users keyed, or members matched, in one transaction.
const BATCH_SIZE: i64 = 500;
/// Users inactive for longer do not count.
const ACTIVE_WINDOW_MS: i64 = 90 * DAY;
const DAY: i64 = 24 * 3_600_000;

/// Resources with matched members, and the field that holds the size of each. They share one id sequence.
static SIZE_FIELDS: [(&Resource, &str); 2] = [(&CUSTOM_AUDIENCE, "audience_size"), (&DO_NOT_REACH_LIST, "list_size")];

#[derive(Clone, Copy, Debug)]
pub struct MatchingConfig {
    /// How long an audience must be unchanged before it is measured, in milliseconds.
    pub delay_ms: i64,
}

#[derive(Clone, Copy, Debug)]
pub struct AudienceMeasurement {
    size: AudienceSize,
    next_at: Option<Time>,
    due_at: Option<i64>,
}

/// Whether any user's keys may be out of date.
pub fn has_unkeyed_users(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    audiences::has_pending_matches(tx)
}

/// Stores the keys of some users; returns true while there are more.
pub fn key_user_batch(tx: &mut Tx<'_>) -> Result<bool, Error> {
    let (count, moved) = audiences::refresh_user_keys(tx, BATCH_SIZE)?;
    for audience in moved {
        mark_audience_changed(tx, audience)?;
    }
    Ok(i64::try_from(count).unwrap_or(BATCH_SIZE) >= BATCH_SIZE)
}

pub fn mark_audience_changed(tx: &mut Tx<'_>, audience: i64) -> Result<(), Error> {
    let now = tx.now();
    schedule_measurement(tx, audience, now)
}

/// Schedules a measurement for the usual delay after `at`.
fn schedule_measurement(tx: &mut Tx<'_>, audience: i64, at: Time) -> Result<(), Error> {
    if let Some(mut record) = lock_audience(tx, audience)? {
        record.set("due_at", at.ms());
        records::update(tx, record.resource.name, &record.to_stored())?;
    }
    Ok(())
}

pub(crate) fn find_audience(tx: &mut Tx<'_>, audience: i64) -> Result<Option<AdsRecord>, Fault> {
    for (of, _) in SIZE_FIELDS {
        if let Some(row) = records::find_by_id(tx, of.name, audience)? {
            return AdsRecord::from_stored(of, &row).map(Some);
        }
    }
    Ok(None)
}

/// Loads an audience after taking the lock of its account.
fn lock_audience(tx: &mut Tx<'_>, audience: i64) -> Result<Option<AdsRecord>, Error> {
    let Some(record) = find_audience(tx, audience)? else {
        return Ok(None);
    };
    records::lock(tx, ACCOUNT.name, record.account_id)?;
    Ok(find_audience(tx, audience)?.filter(|record| !record.deleted))
}

/// The audience whose measurement is due first.
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

/// Matches some members with users; returns true while there are more.
pub fn match_member_batch(tx: &mut Tx<'_>, audience: i64) -> Result<bool, Fault> {
    audiences::match_pending_members(tx, audience, BATCH_SIZE)
}

/// Measures an audience as of now.
pub fn measure_audience(
    tx: &mut Tx<'_>,
    audience: i64,
    disclosure: &SizeDisclosure,
) -> Result<AudienceMeasurement, Error> {
    let now = tx.now();
    let record = find_audience(tx, audience)?;
    let active = now.plus_ms(-ACTIVE_WINDOW_MS);
    let measured = audience_members::resolve_members(record.as_ref(), now, &mut |id, times| {
        Ok(audiences::active_users(tx, id, times, active)?)
    })?;
    Ok(AudienceMeasurement {
        size: disclosure.measure_audience(measured),
        next_at: audiences::next_membership_change(tx, audience, now)?,
        due_at: record.and_then(|record| record.int("due_at")),
    })
}

/// Stores a measurement and updates the line items that target the audience.
pub fn save_measurement(
    tx: &mut Tx<'_>,
    audience: i64,
    measured: AudienceMeasurement,
    (plan, discretion): (MatchingConfig, &SizeDisclosure),
) -> Result<(), Error> {
    let Some(mut record) = lock_audience(tx, audience)? else {
        return Ok(());
    };
    // Everything that is disclosed derives from this, so that nothing else reveals which members are users.
    let displayed = discretion.disclose_size(measured.size).displayed_count();
    let targetable = displayed.is_some_and(|displayed| displayed >= discretion.min_size);
    let changes = record.flag("targetable") != targetable;
    let size = SIZE_FIELDS.iter().find(|(of, _)| std::ptr::eq(*of, record.resource));
    record.set(size.map_or("audience_size", |(_, size)| *size), displayed);
    record.set("targetable", i64::from(targetable));
    record.set("processed", 1);
    if record.int("due_at") == measured.due_at {
        // Inactive users stop counting over time.
        let later = tx.now().plus_ms(DAY);
        let next = measured.next_at.map_or(later, |next| next.min(later));
        record.set("due_at", next.ms().saturating_sub(plan.delay_ms).max(0));
    }
    records::update(tx, record.resource.name, &record.to_stored())?;
    if changes {
        audience_targeting::refresh_targeting_line_items(tx, audience)?;
    }
    // A pending measurement has waited long enough.
    let before = tx.now().plus_ms(-plan.delay_ms);
    for whole in audiences::list_containing_audiences(tx, audience)? {
        schedule_measurement(tx, whole, before)?;
    }
    Ok(())
}
