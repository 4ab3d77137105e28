//! The synthetic audience: groups of people, each of whom resembles a stored user.

use std::collections::HashMap;

use ads::gazetteer::gazetteer;
use ads_engine::{AccountTimeZone, AdsRecord};
use base::{Fault, Time, UserId};
use network::private_profiles::age_at;
use store::Tx;
use store::ads::viewers;
use store::ledger::ViewerTraits;
use store::private_profiles;
use store::users::{self, User, UserState};

use super::dice::Dice;
use crate::analytics::age_bucket;
use crate::evaluator::{CriterionOperator, TargetedAudience, age_range, platform_number};
use crate::serving::hash_to_id;

/// The rows of an impression grow with the number of groups, the size of steps in reach shrinks with it.
const MAX_GROUPS: i64 = 512;
/// Users whom the groups resemble.
const MAX_SAMPLED_USERS: usize = 2000;
const USER_PAGE: i64 = 500;
/// One of so many groups is not signed in.
const ANONYMOUS_INTERVAL: usize = 8;
/// How far back sign-ins tell a user's platform.
const SESSION_AGE_MS: i64 = 30 * 86_400_000;

/// Where people live whose profile does not tell: country, city, time zone, and share.
const HOMES: [(&str, &str, &str, i64); 15] = [
    ("US", "New York", "America/New_York", 90),
    ("US", "Los Angeles", "America/Los_Angeles", 70),
    ("US", "Chicago", "America/Chicago", 50),
    ("US", "Houston", "America/Chicago", 30),
    ("US", "San Francisco", "America/Los_Angeles", 30),
    ("GB", "London", "Europe/London", 60),
    ("GB", "Manchester", "Europe/London", 20),
    ("JP", "Tokyo", "Asia/Tokyo", 80),
    ("IN", "Kolkata", "Asia/Kolkata", 50),
    ("DE", "Berlin", "Europe/Berlin", 30),
    ("FR", "Paris", "Europe/Paris", 30),
    ("ES", "Madrid", "Europe/Madrid", 25),
    ("PT", "Lisbon", "Europe/Lisbon", 15),
    ("CA", "Toronto", "America/Toronto", 30),
    ("AU", "Sydney", "Australia/Sydney", 20),
];
/// Platform numbers and the lower bounds of age buckets, as often as they are drawn.
const PLATFORMS: [i64; 10] = [0, 0, 0, 0, 1, 1, 1, 3, 4, 4];
const AGES: [i64; 12] = [13, 18, 18, 21, 21, 25, 25, 25, 35, 35, 50, 55];

/// People who see ads at the same moments.
#[derive(Clone, Debug)]
pub(super) struct ViewerGroup {
    /// The viewer id in the ledger; negative.
    pub(super) ledger_id: i64,
    /// The user they resemble; `None` if they are not signed in.
    pub(super) user: Option<UserId>,
    pub(super) traits: ViewerTraits,
    pub(super) zone: AccountTimeZone,
    pub(super) people: i64,
}

/// What is stored about a user.
#[derive(Clone, Debug, Default)]
struct KnownFacts {
    location: String,
    platform: Option<i64>,
    age: Option<i64>,
    gender: Option<i64>,
}

pub(super) fn load_groups(
    tx: &mut Tx<'_>,
    account: &AdsRecord,
    seed: i64,
    viewers: i64,
) -> Result<Vec<ViewerGroup>, Fault> {
    let users = list_active_users(tx)?;
    let facts = load_facts(tx, &users)?;
    let count = viewers.clamp(1, MAX_GROUPS);
    let home = home_country(account.text("timezone"));
    let mut groups = Vec::new();
    for number in 0..count {
        let dice = Dice::from_parts(&[seed, account.id, number]);
        let index = usize::try_from(number).unwrap_or(0);
        let is_signed_in = index % ANONYMOUS_INTERVAL != ANONYMOUS_INTERVAL - 1;
        // Few users are taken in turn; of many, each group resembles another.
        let place = match users.len() {
            0 => 0,
            few if i64::try_from(few).unwrap_or(i64::MAX) <= count => index % few,
            many => dice.index_below(many)?,
        };
        let user = users.get(place).filter(|_| is_signed_in).map(|user| user.id);
        let known = user.and_then(|user| facts.get(&user.get())).cloned().unwrap_or_default();
        let (traits, zone) = draw_traits(&dice, &known, home)?;
        let key = format!("simulated-viewer:{seed}:{}:{number}", account.id);
        groups.push(ViewerGroup {
            ledger_id: -1 - hash_to_id(key.as_bytes()),
            user,
            traits,
            zone,
            people: viewers / count + i64::from(number < viewers % count),
        });
    }
    Ok(groups)
}

fn list_active_users(tx: &mut Tx<'_>) -> Result<Vec<User>, Fault> {
    let mut all: Vec<User> = Vec::new();
    let mut last = UserId::new(0);
    while all.len() < MAX_SAMPLED_USERS {
        let some = users::list(tx, last, USER_PAGE)?;
        let Some(newest) = some.last() else {
            break;
        };
        last = newest.id;
        all.extend(some.into_iter().filter(|user| user.state == UserState::Active));
    }
    Ok(all)
}

fn load_facts(tx: &mut Tx<'_>, users: &[User]) -> Result<HashMap<i64, KnownFacts>, Fault> {
    let now = tx.now();
    let mut facts: HashMap<i64, KnownFacts> = HashMap::new();
    for user in users {
        facts.entry(user.id.get()).or_default().location.clone_from(&user.location);
    }
    let ids: Vec<i64> = users.iter().map(|user| user.id.get()).collect();
    for (user, born_on, gender) in private_profiles::list_demographics(tx, &ids)? {
        let known = facts.entry(user).or_default();
        known.age = age_at(&born_on, now).and_then(age_bucket);
        known.gender = Some(gender).filter(|gender| *gender > 0);
    }
    for (user, agent) in viewers::list_signed_in_users(tx, now.plus_ms(-SESSION_AGE_MS))? {
        if let Some(known) = facts.get_mut(&user) {
            known.platform = platform_number(&agent).and_then(|number| number.parse().ok());
        }
    }
    Ok(facts)
}

fn home_country(zone: &str) -> &'static str {
    let same = HOMES.iter().find(|home| home.2 == zone);
    same.map_or(if zone.starts_with("Europe/") { "GB" } else { "US" }, |home| home.0)
}

fn draw_traits(dice: &Dice, known: &KnownFacts, home: &str) -> Result<(ViewerTraits, AccountTimeZone), Fault> {
    // Every number is drawn, so that what is known of one trait does not change another.
    let at_home = dice.below(1000)? < 550;
    let homes = || HOMES.iter().filter(|one| !at_home || one.0 == home);
    let mut share = dice.below(homes().map(|one| one.3).sum())?;
    let drawn = homes().find(|one| {
        share -= one.3;
        share < 0
    });
    let (platform, age) = (dice.index_below(PLATFORMS.len())?, dice.index_below(AGES.len())?);
    let gender = 1 + dice.below(2)?;
    let mut places = gazetteer().resolve_text(&known.location);
    if places.is_empty() {
        places = drawn.map(|home| gazetteer().resolve_text(home.1)).unwrap_or_default();
    }
    let country = places.first().map_or("", |place| place.country);
    let place_of = |kind: &str| places.iter().find(|place| place.kind == kind);
    let city = place_of("CITIES");
    let same = || HOMES.iter().filter(|one| one.0 == country);
    let zone = same().find(|one| city.is_some_and(|city| city.name == one.1)).or_else(|| same().next());
    let zone = zone.map_or("UTC", |one| one.2);
    let traits = ViewerTraits {
        platform: known.platform.or_else(|| PLATFORMS.get(platform).copied()),
        country: country.to_owned(),
        metro: place_of("METROS").or(city).map(|place| place.id.clone()).unwrap_or_default(),
        age: known.age.or_else(|| AGES.get(age).copied()),
        gender: known.gender.or(Some(gender)),
    };
    Ok((traits, AccountTimeZone::from_name(zone)))
}

/// Whether drawn traits agree with criteria that the evaluator ignores while no user told the fact.
pub(super) fn fit_criteria(audience: &TargetedAudience, traits: &ViewerTraits) -> bool {
    let fits = |kind: &str, value: &str| match kind {
        "AGE" => age_range(value)
            .is_none_or(|(min, max)| traits.age.is_some_and(|age| age >= min && max.is_none_or(|max| age <= max))),
        "GENDER" => value.parse().ok() == traits.gender,
        _ => value.parse().ok() == traits.platform,
    };
    ["AGE", "GENDER", "PLATFORM"].iter().all(|kind| {
        let own = audience.criteria.iter().filter(|criterion| criterion.kind == *kind);
        let (wanted, unwanted): (Vec<_>, Vec<_>) = own.partition(|one| one.operator != CriterionOperator::Ne);
        (wanted.is_empty() || wanted.iter().any(|one| fits(kind, &one.value)))
            && !unwanted.iter().any(|one| fits(kind, &one.value))
    })
}

/// Thousandths of the people of a group who look at a time: by the hour and the day of the week where they live.
pub(super) fn presence(group: &ViewerGroup, at: Time) -> i64 {
    const HOURS: [i64; 24] = [
        200, 120, 80, 60, 60, 100, 220, 400, 560, 640, 680, 720, 790, 770, 720, 710, 740, 790, 860, 930, 1000, 960,
        740, 440,
    ];
    let (hour, weekday) = local_hour(&group.zone, at);
    HOURS.get(hour).copied().unwrap_or(0) * weekday_factor(weekday) / 1000
}

/// Thousandths by the day of the week, from Monday.
pub(super) fn weekday_factor(weekday: usize) -> i64 {
    const DAYS: [i64; 7] = [960, 1000, 1000, 990, 930, 800, 860];
    DAYS.get(weekday).copied().unwrap_or(1000)
}

/// The hour of the day and the day of the week, from Monday, in a time zone.
pub(super) fn local_hour(zone: &AccountTimeZone, at: Time) -> (usize, usize) {
    let local = at.ms() + zone.utc_offset_ms(at);
    let (days, hours) = (local.div_euclid(86_400_000), local.rem_euclid(86_400_000) / 3_600_000);
    // The epoch was a Thursday.
    (usize::try_from(hours).unwrap_or(0), usize::try_from((days + 3).rem_euclid(7)).unwrap_or(0))
}
