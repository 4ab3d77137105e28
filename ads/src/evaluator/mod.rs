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

mod built;
mod criteria;
mod engaged;
mod kept;
mod languages;
mod locations;
mod numbers;
mod similar;
mod sources;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use base::{Stop, UserId};
use network::insights::Insights;
use network::search::Search;
use parking_lot::Mutex;
use roaring::RoaringBitmap;
use store::Tx;

pub use criteria::{Audience, Criterion, Operator, is_primary};
use kept::Kept;
use sources::Source;

/// Numbers of users.
pub(crate) type Users = Arc<RoaringBitmap>;

/// How many are reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Exactly so many.
    pub count: u64,
    /// Types of criteria that say nothing here, since nothing is stored about them.
    pub ignored: BTreeSet<String>,
}

/// A set of users, and their ids.
type People = (Users, Arc<HashSet<i64>>);

/// The evaluator of one process.
pub struct Evaluator {
    /// What keywords came with lately.
    pub insights: Insights,
    search: Option<Arc<Search>>,
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
    pub fn new(search: Option<Arc<Search>>) -> Arc<Self> {
        Arc::new(Self {
            insights: Insights::default(),
            search,
            people: Mutex::default(),
            kept: Mutex::new(Kept::default()),
        })
    }

    /// How many users criteria reach now.
    pub fn estimate(&self, tx: &mut Tx<'_>, audience: &Audience) -> Result<Estimate, Stop> {
        let reached = self.reached(tx, audience)?;
        Ok(Estimate {
            count: reached.count(),
            ignored: reached.ignored,
        })
    }

    /// Whether criteria reach a viewer now. One who is not known is reached by what asks for
    /// nothing that would have to be known.
    pub fn admits(
        &self,
        tx: &mut Tx<'_>,
        audience: &Audience,
        viewer: Option<UserId>,
    ) -> Result<bool, Stop> {
        let reached = self.reached(tx, audience)?;
        let Some(viewer) = viewer else {
            return Ok(reached.primary.is_none() && reached.each.is_empty());
        };
        let number = self.kept.lock().numbers.find(viewer.get());
        Ok(number.is_some_and(|number| reached.holds(number)))
    }

    /// The index of posts.
    pub fn search(&self) -> Result<&Arc<Search>, Stop> {
        let missing = || base::Fault::new("no index of posts is set up");
        Ok(self.search.as_ref().ok_or_else(missing)?)
    }

    /// Users whose profile places them in a country, active or not.
    pub fn people_of(&self, tx: &mut Tx<'_>, country: &str) -> Result<Arc<HashSet<i64>>, Stop> {
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

    fn reached(&self, tx: &mut Tx<'_>, audience: &Audience) -> Result<Reached, Stop> {
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
    fn count(&self) -> u64 {
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
        all.len()
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
