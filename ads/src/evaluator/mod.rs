//! Who is reached: targeting criteria over the users that are stored (contract §8.2). The one place
//! that decides it: the estimate counts whom [`Evaluator::estimate`] reaches, and serving shows to
//! whom [`Evaluator::admits`], which asks the same sets.
//!
//! A set of users is a compressed bitmap of their numbers, one for each value of a criterion, made
//! when it is first asked for. Sets of what the log tells of (follows, blocks, what users write and
//! where they say they are) are kept up to date by it, at the beginning of every question; the
//! others are made anew from time to time.
//!
//! Serving asks so:
//!
//! ```text
//! let audience = Audience::of_line_item(desk, item_id)?;         // once for each line item
//! evaluator.admits(desk.tx, &audience, Some(viewer))?            // for each viewer; None: unknown
//! ```

mod browsers;
mod built;
mod criteria;
mod engaged;
mod kept;
mod languages;
mod locations;
mod numbers;
mod similar;
mod sources;
mod told;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use base::{Error, UserId};
use network::insights::InsightsCache;
use network::search::PostSearch;
use parking_lot::Mutex;
use roaring::RoaringBitmap;
use store::Tx;

use crate::discretion::{Discretion, Told};
use crate::resources::do_not_reach_lists::list_of;

pub use criteria::{Audience, Criterion, Operator, is_primary};
use kept::Kept;
use sources::Source;

/// Numbers of users.
pub(crate) type Users = Arc<RoaringBitmap>;

/// How many are reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Exactly so many.
    pub count: u64,
    /// What may be told of that.
    pub told: Told,
    /// Types of criteria that say nothing here, since nothing is stored about them.
    pub ignored: BTreeSet<String>,
}

impl Estimate {
    /// The number that may be shown, or what is decided by in sight of the advertiser; none of too
    /// few.
    pub fn shown(&self) -> u64 {
        let shown = self.told.shown().unwrap_or(0);
        u64::try_from(shown).unwrap_or(0)
    }
}

/// A set of users, and their ids.
type People = (Users, Arc<HashSet<i64>>);

/// The evaluator of one process.
pub struct Evaluator {
    /// What keywords came with lately.
    pub insights: InsightsCache,
    /// How much is told of whom audiences come to.
    pub discretion: Discretion,
    search: Option<Arc<PostSearch>>,
    /// Whose profiles place them in a country, as ids.
    people: Mutex<HashMap<String, People>>,
    kept: Mutex<Kept>,
}

impl std::fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evaluator").finish_non_exhaustive()
    }
}

/// The sets that some criteria come down to.
#[derive(Debug, Default)]
struct Reached {
    /// Everyone who can be reached at all.
    base: Users,
    /// One of these; none asked for: everyone.
    primary: Option<Vec<Users>>,
    /// And one of each of these.
    each: BTreeMap<String, Vec<Users>>,
    /// And none of these.
    out: Vec<Users>,
    ignored: BTreeSet<String>,
}

impl Evaluator {
    /// One that knows nothing yet. Without an index of posts nothing is known about what they say.
    pub fn new(search: Option<Arc<PostSearch>>) -> Arc<Self> {
        Self::discreet(search, Discretion::default())
    }

    /// The same, which tells no more than is said here.
    pub fn discreet(search: Option<Arc<PostSearch>>, discretion: Discretion) -> Arc<Self> {
        Arc::new(Self {
            insights: InsightsCache::default(),
            discretion,
            search,
            people: Mutex::default(),
            kept: Mutex::new(Kept::default()),
        })
    }

    /// How many users criteria reach now.
    pub fn estimate(&self, tx: &mut Tx<'_>, audience: &Audience) -> Result<Estimate, Error> {
        let reached = self.reached(tx, audience)?;
        let users = reached.users();
        let told = if self.is_discreet(tx, audience)? {
            let kept = self.kept.lock();
            let ids = users.iter().filter_map(|user| kept.numbers.id(user));
            self.discretion.tell(self.discretion.crowd(ids))
        } else {
            Told::Exactly(i64::try_from(users.len()).unwrap_or(i64::MAX))
        };
        Ok(Estimate {
            count: users.len(),
            told,
            ignored: reached.ignored,
        })
    }

    /// Whether what is asked has to do with what the advertiser knows of people, or what they said
    /// of themselves to nobody but the platform.
    fn is_discreet(&self, tx: &mut Tx<'_>, audience: &Audience) -> Result<bool, Error> {
        let secret = |one: &Criterion| {
            one.kind.starts_with("CUSTOM_AUDIENCE") || ["AGE", "GENDER"].contains(&&*one.kind)
        };
        let discreet = self.discretion.least > 1;
        Ok(discreet
            && (audience.criteria.iter().any(secret) || list_of(tx, audience.account)?.is_some()))
    }

    /// Whether an account does not reach a user, whatever it asks for.
    pub fn keeps_away(
        &self,
        tx: &mut Tx<'_>,
        audience: &Audience,
        user: UserId,
    ) -> Result<bool, Error> {
        self.catch_up(tx)?;
        let away = self.kept_away(tx, audience)?;
        let number = self.kept.lock().numbers.find(user.get());
        Ok(number.is_some_and(|number| away.iter().any(|users| users.contains(number))))
    }

    /// Whether criteria reach a viewer now. One who is not known is reached by what asks for
    /// nothing that would have to be known.
    pub fn admits(
        &self,
        tx: &mut Tx<'_>,
        audience: &Audience,
        viewer: Option<UserId>,
    ) -> Result<bool, Error> {
        let reached = self.reached(tx, audience)?;
        let Some(viewer) = viewer else {
            return Ok(reached.primary.is_none() && reached.each.is_empty());
        };
        let number = self.kept.lock().numbers.find(viewer.get());
        Ok(number.is_some_and(|number| reached.holds(number)))
    }

    /// The index of posts.
    pub fn search(&self) -> Result<&Arc<PostSearch>, Error> {
        let missing = || base::Fault::new("no index of posts is set up");
        Ok(self.search.as_ref().ok_or_else(missing)?)
    }

    /// Users whose profile places them in a country, active or not.
    pub fn people_of(&self, tx: &mut Tx<'_>, country: &str) -> Result<Arc<HashSet<i64>>, Error> {
        self.catch_up(tx)?;
        let users = self.located(tx, country)?;
        if let Some((known, ids)) = self.people.lock().get(country)
            && Arc::ptr_eq(known, &users)
        {
            return Ok(Arc::clone(ids));
        }
        let ids: HashSet<i64> = {
            let kept = self.kept.lock();
            users
                .iter()
                .filter_map(|user| kept.numbers.id(user))
                .collect()
        };
        let ids = Arc::new(ids);
        let mut people = self.people.lock();
        people.insert(country.to_owned(), (users, Arc::clone(&ids)));
        Ok(ids)
    }

    fn reached(&self, tx: &mut Tx<'_>, audience: &Audience) -> Result<Reached, Error> {
        self.catch_up(tx)?;
        let mut reached = Reached {
            base: self.active(tx)?,
            ..Reached::default()
        };
        reached.out.extend(self.kept_away(tx, audience)?);
        for criterion in &audience.criteria {
            match self.source(tx, audience, criterion)? {
                Source::Elsewhere => {}
                Source::Unknown => {
                    reached.ignored.insert(criterion.kind.clone());
                }
                Source::Users(users) if criterion.operator == Operator::Ne => {
                    reached.out.push(users);
                }
                Source::Users(users) if is_primary(&criterion.kind) => {
                    reached.primary.get_or_insert_default().push(users);
                }
                Source::Users(users) => {
                    let alike = reached.each.entry(criterion.kind.clone()).or_default();
                    alike.push(users);
                }
            }
        }
        Ok(reached)
    }
}

impl Reached {
    fn users(&self) -> RoaringBitmap {
        let mut all = (*self.base).clone();
        for some in self.primary.iter().chain(self.each.values()) {
            match some.as_slice() {
                [only] => all &= &**only,
                many => {
                    let mut either = RoaringBitmap::new();
                    for users in many {
                        either |= &**users;
                    }
                    all &= either;
                }
            }
        }
        for users in &self.out {
            all -= &**users;
        }
        all
    }

    fn holds(&self, user: u32) -> bool {
        self.base.contains(user)
            && self
                .primary
                .iter()
                .chain(self.each.values())
                .all(|some| some.iter().any(|users| users.contains(user)))
            && !self.out.iter().any(|users| users.contains(user))
    }
}
