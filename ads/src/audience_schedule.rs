//! When audiences are measured, and the record of one by its id alone.

use ads_engine::{AdsRecord, Resource};
use base::{Error, Fault, Time};
use store::{Tx, records};

use crate::resources::accounts::ACCOUNT;
use crate::resources::custom_audiences::CUSTOM_AUDIENCE;
use crate::resources::do_not_reach_lists::DO_NOT_REACH_LIST;

/// Resources with matched members, and the field that holds the size of each. They share one id sequence.
pub static SIZE_FIELDS: [(&Resource, &str); 2] =
    [(&CUSTOM_AUDIENCE, "audience_size"), (&DO_NOT_REACH_LIST, "list_size")];

pub fn mark_audience_changed(tx: &mut Tx<'_>, audience: i64) -> Result<(), Error> {
    let now = tx.now();
    schedule_measurement(tx, audience, now)
}

/// Schedules a measurement for the usual delay after `at`.
pub fn schedule_measurement(tx: &mut Tx<'_>, audience: i64, at: Time) -> Result<(), Error> {
    if let Some(mut record) = lock_audience(tx, audience)? {
        record.set("due_at", at.ms());
        record.update(tx)?;
    }
    Ok(())
}

/// Schedules a measurement of a locked audience unless one is due, so that changes that never cease do not put it off.
pub fn ensure_measurement(tx: &mut Tx<'_>, mut record: AdsRecord) -> Result<(), Error> {
    let now = tx.now().ms();
    if record.int("due_at").is_none_or(|due| due > now) {
        record.set("due_at", now);
        record.update(tx)?;
    }
    Ok(())
}

pub fn find_audience(tx: &mut Tx<'_>, audience: i64) -> Result<Option<AdsRecord>, Fault> {
    for (of, _) in SIZE_FIELDS {
        if let Some(record) = AdsRecord::find(tx, of, audience)? {
            return Ok(Some(record));
        }
    }
    Ok(None)
}

/// Loads an audience after taking the lock of its account.
pub fn lock_audience(tx: &mut Tx<'_>, audience: i64) -> Result<Option<AdsRecord>, Error> {
    let Some(record) = find_audience(tx, audience)? else {
        return Ok(None);
    };
    records::lock(tx, ACCOUNT.name, record.account_id)?;
    Ok(find_audience(tx, audience)?.filter(|record| !record.deleted))
}
