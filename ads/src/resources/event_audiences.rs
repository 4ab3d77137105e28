//! Audiences of the people who caused events of a tag: visitors of a site, users of an app.

use ads_engine::{AccountContext, AdsRecord, ParsedParams, engine};
use base::secret::digest;
use base::{Error, Time, UserId, sorted_distinct};
use store::Tx;
use store::ads::audiences::{self, AudienceKey, AudienceKeyKind};

use crate::audience_members::MemberChangeSet;
use crate::audience_schedule;
use crate::resources::custom_audiences::CUSTOM_AUDIENCE;

/// How long an event keeps a person in the audience.
const MEMBERSHIP_MS: i64 = 30 * 24 * 3_600_000;
const MAX_NAME_LENGTH: usize = 200;

/// Creates the audience of a tag with retargeting, unless it has one that was not deleted.
pub fn ensure_audience(
    ctx: &mut AccountContext<'_, '_>,
    tag: &AdsRecord,
    audience_type: &'static str,
) -> Result<(), Error> {
    if !tag.flag("retargeting_enabled") {
        return Ok(());
    }
    if let Some(id) = tag.int("audience_id")
        && ctx.find_record(&CUSTOM_AUDIENCE, id)?.is_some_and(|audience| !audience.deleted)
    {
        return Ok(());
    }
    let name =
        if tag.resource.field("name").is_some() { tag.text("name") } else { tag.text("provider_app_event_name") };
    let name: String = name.chars().take(MAX_NAME_LENGTH).collect();
    let mut params = ParsedParams::default();
    params.insert("name", format!("{name} ({})", tag.formatted_id()).into());
    let mut audience = engine::create(ctx, &CUSTOM_AUDIENCE, &params)?;
    audience.set("audience_type", audience_type);
    ctx.save_record(&audience)?;
    let mut tag = tag.clone();
    tag.set("audience_id", audience.id);
    ctx.save_record(&tag)
}

/// Adds a person to a tag's audience, or renews the membership. The person is who has any of the keys.
pub fn add_member(tx: &mut Tx<'_>, tag: &AdsRecord, keys: &[AudienceKey], at: Time) -> Result<(), Error> {
    let Some(audience) = tag.int("audience_id").filter(|_| tag.flag("retargeting_enabled") && !keys.is_empty()) else {
        return Ok(());
    };
    let Some(record) = audience_schedule::lock_audience(tx, audience)? else {
        return Ok(());
    };
    let now = tx.now();
    let stored = audiences::find_key_members(tx, audience, keys)?;
    let (mut from, mut until) = (at, at.plus_ms(MEMBERSHIP_MS));
    if stored.is_empty() && until <= now {
        return Ok(());
    }
    // Events may be reported late, after later ones.
    let numbers = sorted_distinct(stored.iter().map(|(_, member)| *member));
    for (start, end) in audiences::find_member_times(tx, audience, &numbers)? {
        (from, until) = (from.max(start), until.max(end));
    }
    let mut members = MemberChangeSet::from_stored(stored);
    members.update(keys, (from, until), tx.next_id::<()>().get());
    audiences::apply_changes(tx, audience, &members.to_changes())?;
    audience_schedule::ensure_measurement(tx, record)
}

pub fn user_key(user: UserId) -> AudienceKey {
    AudienceKeyKind::User.to_key(&digest(&user.get().to_string()))
}
