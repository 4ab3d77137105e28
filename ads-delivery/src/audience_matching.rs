//! Sizes of custom audiences: computed once an audience has not been written to for a while, and again
//! whenever a membership begins or ends (contract ads §8.3).

use ads::audience_schedule::{SIZE_FIELDS, ensure_measurement, find_audience, lock_audience, schedule_measurement};
use ads::resources::audience_targeting;
use ads::resources::custom_audiences::{CUSTOM_AUDIENCE, FLEXIBLE};
use ads::resources::web_event_tags::WEB_EVENT_TAG;
use ads::segments;
use ads_engine::AdsRecord;
use base::time::DAY_MS;
use base::{Error, Fault, Time};
use serde_json::Value;
use store::ads::audiences;
use store::{Tx, records};

use crate::size_disclosure::{AudienceSize, SizeDisclosure};

/// Users keyed, or members matched, in one transaction.
const BATCH_SIZE: i64 = 500;
/// Users inactive for longer do not count.
const ACTIVE_WINDOW_MS: i64 = 90 * DAY_MS;

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

/// Whether any user's keys may be out of date, and something compares with them: members of audiences, or identifiers in
/// conversions, which sites with a tag report.
pub fn has_unkeyed_users(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let has_use = audiences::has_members(tx)? || records::exists(tx, WEB_EVENT_TAG.name)?;
    Ok(has_use && audiences::has_unkeyed_users(tx)?)
}

/// Stores the keys of some users; returns true while there are more.
pub fn key_user_batch(tx: &mut Tx<'_>) -> Result<bool, Error> {
    let (count, affected) = audiences::refresh_user_keys(tx, BATCH_SIZE)?;
    for (audience, members) in affected {
        // Only who has this lock writes what members match.
        if let Some(record) = lock_audience(tx, audience)? {
            audiences::mark_members_pending(tx, audience, &members)?;
            ensure_measurement(tx, record)?;
        }
    }
    Ok(i64::try_from(count).unwrap_or(BATCH_SIZE) >= BATCH_SIZE)
}

/// The audience whose measurement is due first.
pub fn due_audience(tx: &mut Tx<'_>, plan: MatchingConfig) -> Result<Option<i64>, Fault> {
    let before = tx.now().ms().saturating_sub(plan.delay_ms);
    let mut due = Vec::new();
    for (of, _) in SIZE_FIELDS {
        due.extend(AdsRecord::from_rows(of, records::list_due(tx, of.name, "due_at", before, 1)?)?);
    }
    Ok(due.iter().min_by_key(|record| record.int("due_at")).map(|record| record.id))
}

/// When the next measurement is due that is not due yet.
pub fn next_audience(tx: &mut Tx<'_>, plan: MatchingConfig) -> Result<Option<Time>, Fault> {
    let after = tx.now().ms().saturating_sub(plan.delay_ms);
    let mut next: Option<i64> = None;
    for (of, _) in SIZE_FIELDS {
        let due = records::next_due(tx, of.name, "due_at", after)?;
        next = [next, due].into_iter().flatten().min();
    }
    Ok(next.map(|due| Time::from_ms(due.saturating_add(plan.delay_ms))))
}

/// Matches some members with users; returns true while there are more.
pub fn match_member_batch(tx: &mut Tx<'_>, audience: i64) -> Result<bool, Error> {
    audiences::lock_matching(tx)?;
    // A member that is written at the same time must not be marked as matched.
    lock_audience(tx, audience)?;
    Ok(audiences::match_pending_members(tx, audience, BATCH_SIZE)?)
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
    let measured =
        resolve_members(record.as_ref(), now, &mut |id, times| Ok(audiences::active_users(tx, id, times, active)?))?;
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
        let now = tx.now();
        let due = if audiences::has_pending_members(tx, audience)? {
            // Audiences that have waited longer come first, also before one that visitors join all the time.
            now.ms()
        } else {
            // Inactive users stop counting over time.
            let later = now.plus_ms(DAY_MS);
            let next = measured.next_at.map_or(later, |next| next.min(later));
            next.ms().saturating_sub(plan.delay_ms).max(0)
        };
        record.set("due_at", due);
    }
    record.update(tx)?;
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

/// Looks up the users of an audience's members that count now and joined since a time.
type MemberLookup<'f> = &'f mut dyn FnMut(i64, (Time, Time)) -> Result<Vec<i64>, Error>;

/// The users behind a list: those its members match, or those its segments select from other lists. Sorted
/// ids.
pub fn resolve_members(list: Option<&AdsRecord>, now: Time, find: MemberLookup<'_>) -> Result<Vec<i64>, Error> {
    let Some(list) = list.filter(|list| !list.deleted) else {
        return Ok(Vec::new());
    };
    let ever = Time::from_ms(i64::MIN);
    let made = list.resource.name == CUSTOM_AUDIENCE.name && list.text("audience_type") == FLEXIBLE;
    if !made {
        return find(list.id, (now, ever));
    }
    let segments = list.get("segments").unwrap_or(&Value::Null);
    let people = segments::resolve_segment(segments, &mut |id, days| {
        let from = days.map_or(ever, |days| now.plus_ms(-days * DAY_MS));
        find(id, (now, from))
    })?;
    if people.negated {
        return Err(Fault::new("an audience definition selects an unbounded set of users").into());
    }
    Ok(people.ids)
}
