//! The source of users for each criterion type (the table of contract ads §8.2).

use ads::audience_schedule;
use ads::resources::line_items::LINE_ITEM;
use ads::resources::promotable_users::PROMOTABLE_USER;
use ads_engine::{AdsRecord, IdFormat};
use base::time::DAY_MS;
use base::{Error, UserId};
use store::ads::{audiences, viewers};
use store::ledger::{self, AdEventKind};
use store::{Tx, records};

use super::base_sets::LONG_MS;
use super::criteria::{TargetedAudience, TargetingCriterion};
use super::set_cache::{UserGroup, UserSetKey};
use super::{Evaluator, UserSet};
use crate::audience_matching;

/// How long audience members are cached.
pub(super) const MEMBERS_MS: i64 = 5_000;

/// How long ad viewers are cached.
const LEDGER_MS: i64 = 60_000;
/// How long an impression counts.
const SEEN_DAYS: i64 = 30;
/// How long an engagement counts.
const DONE_DAYS: i64 = 90;

/// The ledger events for engagement types; all engagements if none is given.
fn engagement_kinds(engagement_types: &[&str]) -> Vec<AdEventKind> {
    const DONE: &[AdEventKind] = &[
        AdEventKind::Click,
        AdEventKind::UrlClick,
        AdEventKind::AppClick,
        AdEventKind::CardEngagement,
        AdEventKind::Swipe,
        AdEventKind::Like,
        AdEventKind::Repost,
        AdEventKind::Reply,
        AdEventKind::Follow,
        AdEventKind::PollVote,
        AdEventKind::VideoCta,
        AdEventKind::CardClick,
    ];
    if engagement_types.is_empty() {
        return DONE.to_vec();
    }
    let kinds = engagement_types.iter().map(|kind| match *kind {
        "IMPRESSION" => &[AdEventKind::Impression][..],
        "VIDEO_VIEW" => &[AdEventKind::VideoView][..],
        "VIDEO_VIEW_PARTIAL" => &[AdEventKind::Video50][..],
        "VIDEO_VIEW_COMPLETE" => &[AdEventKind::Video100][..],
        _ => DONE,
    });
    kinds.flatten().copied().collect()
}

#[derive(Debug)]
pub(super) enum CriterionSource {
    Users(UserSet),
    /// The criterion is about placement, not about users.
    PlacementOnly,
    /// No stored data can evaluate the criterion.
    Unknown,
}

impl Evaluator {
    pub(super) fn resolve_criterion(
        &self,
        tx: &mut Tx<'_>,
        audience: &TargetedAudience,
        criterion: &TargetingCriterion,
    ) -> Result<CriterionSource, Error> {
        let value = criterion.value.as_str();
        let users = match criterion.kind.as_str() {
            "FOLLOWERS_OF_USER" => Some(self.followers_of_user(tx, parse_user_id(value))?),
            "SIMILAR_TO_FOLLOWERS_OF_USER" => Some(self.similar_to_followers(tx, parse_user_id(value))?),
            kind if kind.ends_with("_KEYWORD") => self.keyword_users(tx, kind, value)?,
            kind @ ("INTEREST" | "CONVERSATION" | "EVENT" | "LIVE_TV_EVENT" | "TV_SHOW") => {
                self.interested_users(tx, kind, value)?
            }
            "CAMPAIGN_ENGAGEMENT" => Some(self.campaign_users(tx, audience, value)?),
            "CAMPAIGN_ENGAGEMENT_LOOKALIKE" => {
                let seed = self.campaign_users(tx, audience, value)?;
                Some(self.similar_to_users(tx, audience, criterion, &seed)?)
            }
            "USER_ENGAGEMENT" => Some(self.promotable_user_engagers(tx, audience, value)?),
            "USER_ENGAGEMENT_LOOKALIKE" => {
                let seed = self.promotable_user_engagers(tx, audience, value)?;
                Some(self.similar_to_users(tx, audience, criterion, &seed)?)
            }
            "CUSTOM_AUDIENCE" => Some(self.custom_audience_users(tx, value)?),
            "CUSTOM_AUDIENCE_EXPANDED" => {
                let seed = self.custom_audience_users(tx, value)?;
                Some(self.similar_to_users(tx, audience, criterion, &seed)?)
            }
            "LOCATION" => self.group_users(tx, UserGroup::Location, &place_key(value))?,
            "LANGUAGE" => self.language_users(tx, value)?,
            "PLATFORM" => self.group_users(tx, UserGroup::Platform, value)?,
            "PLATFORM_VERSION" => self.version_users(tx, criterion)?,
            "DEVICE" => self.device_users(tx, value)?,
            "AGE" => self.age_users(tx, value)?,
            "GENDER" => self.gender_users(tx, value)?,
            "IAB_CATEGORY" | "CONTENT_PUBLISHER_USER" | "ENGAGEMENT_TYPE" => {
                return Ok(CriterionSource::PlacementOnly);
            }
            _ => None,
        };
        Ok(users.map_or(CriterionSource::Unknown, CriterionSource::Users))
    }

    pub(super) fn followers_of_user(&self, tx: &mut Tx<'_>, filter: i64) -> Result<UserSet, Error> {
        self.get_or_build_set(tx, UserSetKey::Followers(filter), |tx| {
            Ok((viewers::list_followers(tx, filter)?, LONG_MS))
        })
    }

    fn custom_audience_users(&self, tx: &mut Tx<'_>, value: &str) -> Result<UserSet, Error> {
        let id = IdFormat::Short.parse(value).unwrap_or(-1);
        let key = UserSetKey::Value("CUSTOM_AUDIENCE".to_owned(), id.to_string());
        self.get_or_build_set(tx, key, |tx| {
            let now = tx.now();
            let list = audience_schedule::find_audience(tx, id)?;
            let users = audience_matching::resolve_members(list.as_ref(), now, &mut |id, (at, from)| {
                let users = audiences::matched_users_since(tx, id, at, from)?;
                Ok(users.into_iter().map(UserId::get).collect())
            })?;
            Ok((users, MEMBERS_MS))
        })
    }

    pub(super) fn country_users(&self, tx: &mut Tx<'_>, country: &str) -> Result<UserSet, Error> {
        let users = self.group_users(tx, UserGroup::Location, &place_key(country))?;
        Ok(users.unwrap_or_default())
    }

    /// Users of a group with a value; `None` if no user has any value.
    pub(super) fn group_users(&self, tx: &mut Tx<'_>, group: UserGroup, value: &str) -> Result<Option<UserSet>, Error> {
        let now = tx.now();
        let cached = |evaluator: &Self| {
            let cache = evaluator.set_cache.lock();
            let grouped = cache.groups.get(&group).filter(|cached| cached.expires_at > now)?;
            let some = !grouped.sets.is_empty();
            Some(some.then(|| grouped.sets.get(value).cloned().unwrap_or_default()))
        };
        if let Some(users) = cached(self) {
            return Ok(users);
        }
        match group {
            UserGroup::Location => self.load_location_groups(tx)?,
            UserGroup::Language => self.load_language_groups(tx)?,
            UserGroup::Platform | UserGroup::Device | UserGroup::Version => self.load_browser_groups(tx)?,
        }
        Ok(cached(self).flatten())
    }

    fn campaign_users(&self, tx: &mut Tx<'_>, audience: &TargetedAudience, value: &str) -> Result<UserSet, Error> {
        let id = IdFormat::Short.parse(value).unwrap_or(-1);
        self.line_item_viewers(tx, audience, ("campaign_id", id))
    }

    /// Users who saw the account's line items whose field has a value within thirty days, or engaged with them within
    /// ninety, by the engagement types.
    fn line_item_viewers(
        &self,
        tx: &mut Tx<'_>,
        audience: &TargetedAudience,
        (field, value): (&'static str, i64),
    ) -> Result<UserSet, Error> {
        let types = audience.engagement_types();
        let name = format!("{field}\n{}", audience.sorted_engagement_types());
        let key = UserSetKey::Value(name, format!("{} {value}", audience.account));
        self.get_or_build_set(tx, key, |tx| {
            let items = records::list_ids_by_field(tx, LINE_ITEM.name, audience.account, (field, value))?;
            let (seen, done): (Vec<AdEventKind>, Vec<AdEventKind>) =
                engagement_kinds(&types).into_iter().partition(|kind| *kind == AdEventKind::Impression);
            let mut users = Vec::new();
            for (kinds, days) in [(seen, SEEN_DAYS), (done, DONE_DAYS)] {
                let since = tx.now().plus_ms(-days * DAY_MS);
                users.extend(ledger::list_viewers(tx, &items, &kinds, since)?);
            }
            Ok((users.into_iter().map(UserId::get).collect(), LEDGER_MS))
        })
    }

    /// Users who saw ads for a promotable user of the account or engaged with them, by the engagement types, or who
    /// engaged with the user's posts, if engagements are among the types; without types, only the latter.
    fn promotable_user_engagers(
        &self,
        tx: &mut Tx<'_>,
        audience: &TargetedAudience,
        value: &str,
    ) -> Result<UserSet, Error> {
        let id = IdFormat::Short.parse(value).unwrap_or(-1);
        let found = AdsRecord::find(tx, &PROMOTABLE_USER, id)?;
        let Some(found) = found.filter(|found| found.account_id == audience.account) else {
            return Ok(UserSet::default());
        };
        let user = found.int("user_id").unwrap_or(0);
        let types = audience.engagement_types();
        if types.is_empty() {
            return self.user_engagers(tx, user);
        }
        let viewers = self.line_item_viewers(tx, audience, ("advertiser_user_id", user))?;
        if !types.contains(&"ENGAGEMENT") {
            return Ok(viewers);
        }
        Ok(UserSet::new(&*viewers | &*self.user_engagers(tx, user)?))
    }
}

/// Parses an id; an invalid one becomes an id that no user has.
pub(super) fn parse_user_id(value: &str) -> i64 {
    UserId::parse(value).map_or(-1, UserId::get)
}

fn place_key(value: &str) -> String {
    value.to_ascii_lowercase()
}
