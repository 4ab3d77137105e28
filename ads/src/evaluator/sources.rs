//! Where the users of a criterion come from, by its type (the table of contract §8.2).

use std::collections::BTreeSet;

use base::{Error, UserId};
use store::ads::{audiences, viewers};
use store::ledger::{self, AdEventKind};
use store::{Tx, records};

use super::built::LONG_MS;
use super::criteria::{Audience, Criterion};
use super::kept::{Group, Key};
use super::{Evaluator, Users};
use crate::kind::Ids;
use crate::resources::line_items::LINE_ITEM;
use crate::{matching, members};

/// How long it is kept whom an audience comes to.
pub(super) const MEMBERS_MS: i64 = 5_000;

/// How long it is kept whom advertisements were shown to.
const LEDGER_MS: i64 = 60_000;
const DAY_MS: i64 = 86_400_000;
/// How long it counts that somebody saw something.
const SEEN_DAYS: i64 = 30;
/// How long it counts that somebody did something.
const DONE_DAYS: i64 = 90;

/// What happened to whoever kinds of engagement ask for; all that people do when none is asked for.
fn kinds(asked: &[&str]) -> Vec<AdEventKind> {
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
    if asked.is_empty() {
        return DONE.to_vec();
    }
    let each = asked.iter().map(|kind| match *kind {
        "IMPRESSION" => &[AdEventKind::Impression][..],
        "VIDEO_VIEW" => &[AdEventKind::VideoView][..],
        "VIDEO_VIEW_PARTIAL" => &[AdEventKind::Video50][..],
        "VIDEO_VIEW_COMPLETE" => &[AdEventKind::Video100][..],
        _ => DONE,
    });
    each.flatten().copied().collect()
}

/// What a criterion comes down to.
#[derive(Debug)]
pub(super) enum Source {
    /// These users.
    Users(Users),
    /// It says where something is shown, not to whom.
    Elsewhere,
    /// Nothing is stored that would tell.
    Unknown,
}

impl Evaluator {
    pub(super) fn source(
        &self,
        tx: &mut Tx<'_>,
        audience: &Audience,
        criterion: &Criterion,
    ) -> Result<Source, Error> {
        let value = criterion.value.as_str();
        let users = match criterion.kind.as_str() {
            "FOLLOWERS_OF_USER" => Some(self.followers(tx, number(value))?),
            "SIMILAR_TO_FOLLOWERS_OF_USER" => Some(self.like_followers(tx, number(value))?),
            kind if kind.ends_with("_KEYWORD") => self.keyword(tx, kind, value)?,
            kind @ ("INTEREST" | "CONVERSATION" | "EVENT" | "LIVE_TV_EVENT" | "TV_SHOW") => {
                self.interested(tx, kind, value)?
            }
            "CAMPAIGN_ENGAGEMENT" => Some(self.shown_in(tx, audience, value)?),
            "CAMPAIGN_ENGAGEMENT_LOOKALIKE" => {
                let seed = self.shown_in(tx, audience, value)?;
                Some(self.like_these(tx, criterion, &seed)?)
            }
            "USER_ENGAGEMENT" => self.engaged_with(tx, audience, value)?,
            "USER_ENGAGEMENT_LOOKALIKE" => {
                let seed = self.engaged_with(tx, audience, value)?;
                seed.map(|seed| self.like_these(tx, criterion, &seed))
                    .transpose()?
            }
            "CUSTOM_AUDIENCE" => Some(self.members(tx, value)?),
            "CUSTOM_AUDIENCE_EXPANDED" => {
                let seed = self.members(tx, value)?;
                Some(self.like_these(tx, criterion, &seed)?)
            }
            "LOCATION" => self.grouped(tx, Group::Location, &place(value))?,
            "LANGUAGE" => self.speaking(tx, value)?,
            "PLATFORM" => self.grouped(tx, Group::Platform, value)?,
            "PLATFORM_VERSION" => self.with_version(tx, criterion)?,
            "DEVICE" => self.with_device(tx, value)?,
            "AGE" => self.aged(tx, value)?,
            "GENDER" => self.of_gender(tx, value)?,
            "IAB_CATEGORY" | "CONTENT_PUBLISHER_USER" | "ENGAGEMENT_TYPE" => {
                return Ok(Source::Elsewhere);
            }
            _ => None,
        };
        Ok(users.map_or(Source::Unknown, Source::Users))
    }

    /// Who follows a user.
    pub(super) fn followers(&self, tx: &mut Tx<'_>, of: i64) -> Result<Users, Error> {
        self.set(tx, Key::Followers(of), |tx| {
            Ok((viewers::list_followers(tx, of)?, LONG_MS))
        })
    }

    /// Whom a custom audience comes to.
    fn members(&self, tx: &mut Tx<'_>, value: &str) -> Result<Users, Error> {
        let id = Ids::Short.read("targeting_value", value).unwrap_or(-1);
        let key = Key::Value("CUSTOM_AUDIENCE".to_owned(), id.to_string());
        self.set(tx, key, |tx| {
            let now = tx.now();
            let list = matching::stored(tx, id)?;
            let users = members::found(list.as_ref(), now, &mut |id, (at, from)| {
                let users = audiences::matched_users_since(tx, id, at, from)?;
                Ok(users.into_iter().map(UserId::get).collect())
            })?;
            Ok((users, MEMBERS_MS))
        })
    }

    /// Whose profile places them in a country.
    pub(super) fn located(&self, tx: &mut Tx<'_>, country: &str) -> Result<Users, Error> {
        let users = self.grouped(tx, Group::Location, &place(country))?;
        Ok(users.unwrap_or_default())
    }

    /// Those of a group who have a value; none when nobody in the group has any.
    pub(super) fn grouped(
        &self,
        tx: &mut Tx<'_>,
        group: Group,
        value: &str,
    ) -> Result<Option<Users>, Error> {
        let now = tx.now();
        let held = |evaluator: &Self| {
            let kept = evaluator.kept.lock();
            let grouped = kept.groups.get(&group).filter(|held| held.until > now)?;
            let some = !grouped.by.is_empty();
            Some(some.then(|| grouped.by.get(value).cloned().unwrap_or_default()))
        };
        if let Some(users) = held(self) {
            return Ok(users);
        }
        match group {
            Group::Location => self.locate(tx)?,
            Group::Language => self.listen(tx)?,
            Group::Platform | Group::Device | Group::Version => self.look_at_browsers(tx)?,
        }
        Ok(held(self).flatten())
    }

    /// Whom a campaign of the account was shown to, or who engaged with it, as is asked: ninety days
    /// for what they did, thirty for what they saw.
    fn shown_in(&self, tx: &mut Tx<'_>, audience: &Audience, value: &str) -> Result<Users, Error> {
        let id = Ids::Short.read("targeting_value", value).unwrap_or(-1);
        let asked = audience.engagements();
        let sorted: BTreeSet<&str> = asked.iter().copied().collect();
        let told: Vec<&str> = sorted.into_iter().collect();
        let name = format!("CAMPAIGN_ENGAGEMENT\n{}", told.join(" "));
        let key = Key::Value(name, format!("{} {id}", audience.account));
        self.set(tx, key, |tx| {
            let item = LINE_ITEM.name;
            let of = ("campaign_id", id);
            let items = records::list_by_field(tx, item, audience.account, of, false)?;
            let items: Vec<i64> = items.iter().map(|item| item.id).collect();
            let (seen, done): (Vec<AdEventKind>, Vec<AdEventKind>) = kinds(&asked)
                .into_iter()
                .partition(|kind| *kind == AdEventKind::Impression);
            let mut users = Vec::new();
            for (kinds, days) in [(seen, SEEN_DAYS), (done, DONE_DAYS)] {
                let since = tx.now().plus_ms(-days * DAY_MS);
                users.extend(ledger::list_viewers(tx, &items, &kinds, since)?);
            }
            Ok((users.into_iter().map(UserId::get).collect(), LEDGER_MS))
        })
    }

    /// Who engaged with a promotable user of the account; none where something is asked for that
    /// only shown advertisements tell.
    fn engaged_with(
        &self,
        tx: &mut Tx<'_>,
        audience: &Audience,
        value: &str,
    ) -> Result<Option<Users>, Error> {
        let kinds = audience.engagements();
        if !(kinds.is_empty() || kinds.contains(&"ENGAGEMENT")) {
            return Ok(None);
        }
        let id = Ids::Short.read("targeting_value", value).unwrap_or(-1);
        let row = records::find_by_id(tx, "promotable_user", id)?;
        let row = row.filter(|row| row.account_id == audience.account);
        let Some(row) = row else {
            return Ok(Some(Users::default()));
        };
        let of = &crate::resources::promotable_users::PROMOTABLE_USER;
        let user = crate::record::Record::stored(of, &row)?.int("user_id");
        self.taken_up(tx, user.unwrap_or(0)).map(Some)
    }
}

/// An id, or one that nobody has.
pub(super) fn number(value: &str) -> i64 {
    UserId::parse(value).map_or(-1, UserId::get)
}

fn place(value: &str) -> String {
    value.to_ascii_lowercase()
}
