//! Who takes part, and how much each of them does.

use base::time::HOUR_MS;
use base::{Error, Fault, Refusal, Time, UserId};
use store::Tx;
use store::users::{User, UserState};

use super::dice::Dice;
use super::phrases::Language;

/// The oldest accounts of the world.
const MAX_PEOPLE: i64 = 1_000;
/// Of the person who writes most; the second writes half as much, the third a third.
const TOP_WEIGHT: u64 = 10_000;
/// Added where people read instead of writing: most of them do that.
const READER_WEIGHT: u64 = 1_000;
/// How active people are in each hour of their day.
const HOURLY_ACTIVITY: [u64; 24] = [4, 2, 1, 1, 1, 2, 4, 8, 10, 9, 8, 9, 11, 10, 9, 8, 9, 10, 12, 13, 13, 12, 10, 7];
/// Hours from UTC; people in Europe and the Americas are the most.
const TIME_ZONES: [i64; 10] = [0, 1, 1, 2, -5, -5, -3, -8, 9, 3];

pub(super) struct TrafficPerson {
    pub(super) id: UserId,
    pub(super) username: String,
    pub(super) language: Language,
    pub(super) protected: bool,
    weight: u64,
    /// Hours from UTC.
    zone: i64,
}

impl TrafficPerson {
    /// From 0 to 23, where the person is.
    pub(super) fn local_hour(&self, now: Time) -> usize {
        let hour = now.ms().div_euclid(HOUR_MS).saturating_add(self.zone).rem_euclid(24);
        usize::try_from(hour).unwrap_or(0)
    }

    fn activity(&self, now: Time) -> u64 {
        HOURLY_ACTIVITY.get(self.local_hour(now)).copied().unwrap_or(1)
    }
}

pub(super) struct TrafficPeople(Vec<TrafficPerson>);

impl TrafficPeople {
    /// Refused if there are fewer than two active people.
    pub(super) fn load(tx: &mut Tx<'_>, seed: u64) -> Result<Self, Error> {
        let mut users = store::users::list(tx, UserId::new(0), MAX_PEOPLE)?;
        users.retain(|user| user.state == UserState::Active);
        if users.len() < 2 {
            let detail = "Traffic needs at least two active users: create some with `locum user create`.";
            return Err(Refusal::forbidden(detail).into());
        }
        let dice = Dice::of_action(seed, u64::MAX);
        let mut ranked = Vec::with_capacity(users.len());
        for user in users {
            ranked.push((
                dice.below(u64::MAX)?,
                dice.choose(&TIME_ZONES)?.copied(),
                dice.choose(&Language::COMMON)?.copied(),
                user,
            ));
        }
        ranked.sort_by_key(|(place, _, _, user)| (*place, user.id));
        let people = (1..).zip(ranked).map(|(rank, (_, zone, language, user)): (u64, _)| TrafficPerson {
            id: user.id,
            language: Language::find_script(&profile_text(&user)).or(language).unwrap_or(Language::English),
            protected: user.protected,
            weight: TOP_WEIGHT / rank,
            zone: zone.unwrap_or(0),
            username: user.username,
        });
        Ok(Self(people.collect()))
    }

    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn find(&self, id: UserId) -> Option<&TrafficPerson> {
        self.0.iter().find(|person| person.id == id)
    }

    /// Few write much.
    pub(super) fn choose_writer(&self, dice: &Dice, now: Time) -> Result<&TrafficPerson, Fault> {
        self.choose_weighted(dice, |person| person.weight.saturating_add(1).saturating_mul(person.activity(now)))
    }

    pub(super) fn choose_reader(&self, dice: &Dice, now: Time) -> Result<&TrafficPerson, Fault> {
        self.choose_weighted(dice, |person| {
            person.weight.saturating_add(READER_WEIGHT).saturating_mul(person.activity(now))
        })
    }

    fn choose_weighted(&self, dice: &Dice, weight: impl Fn(&TrafficPerson) -> u64) -> Result<&TrafficPerson, Fault> {
        let total = self.0.iter().map(&weight).sum();
        let mut place = dice.below(total)?;
        for person in &self.0 {
            let own = weight(person);
            if place < own {
                return Ok(person);
            }
            place -= own;
        }
        self.0.first().ok_or_else(|| Fault::new("traffic without people"))
    }

    /// Anyone but one person.
    pub(super) fn choose_other(&self, dice: &Dice, but: UserId) -> Result<Option<&TrafficPerson>, Fault> {
        let others: Vec<&TrafficPerson> = self.0.iter().filter(|person| person.id != but).collect();
        Ok(dice.choose(&others)?.copied())
    }
}

fn profile_text(user: &User) -> String {
    format!("{} {}", user.name, user.description)
}
