//! Evaluates targeting criteria over the stored users (contract ads §8.2). Nothing else does:
//! estimates use [`Evaluator::estimate`], and serving asks [`Evaluator::filter_reached`], which
//! uses the same sets.
//!
//! A set of users is a compressed bitmap of user numbers, one for each value of a criterion, built on first
//! use. Sets derived from the event log (follows, blocks, languages and locations) are brought up to date at
//! the start of every evaluation; others expire.

mod base_sets;
mod browsers;
mod criteria;
mod demographics;
mod engagement;
mod languages;
mod locations;
mod lookalikes;
mod set_cache;
mod sources;
mod user_numbers;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use ads_engine::AccountContext;
use base::{Error, UserId};
use parking_lot::Mutex;
use post_search::insights::InsightsCache;
use post_search::{PostIndexReader, SearchBackend};
use roaring::RoaringBitmap;
use store::Tx;

use crate::size_disclosure::{DisclosedSize, SizeDisclosure};

pub use criteria::{CriterionOperator, TargetedAudience, TargetingCriterion, is_primary_type};
use set_cache::UserSetCache;
use sources::CriterionSource;

/// Criteria that are not about what everyone sees of a user.
const PRIVATE_KINDS: [&str; 5] = ["AGE", "GENDER", "PLATFORM", "PLATFORM_VERSION", "DEVICE"];

/// Criteria, also with a suffix, that are about the advertiser's own data.
const ADVERTISER_KINDS: [&str; 3] = ["CAMPAIGN_ENGAGEMENT", "CUSTOM_AUDIENCE", "USER_ENGAGEMENT"];

pub(crate) use browsers::platform_number;
pub(crate) use demographics::age_range;

pub(crate) type UserSet = Arc<RoaringBitmap>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AudienceEstimate {
    pub count: u64,
    /// The size as it may be disclosed.
    pub disclosed_size: DisclosedSize,
    /// Criterion types that were ignored because nothing is stored about them.
    pub ignored_types: BTreeSet<String>,
}

impl AudienceEstimate {
    /// The disclosed number; 0 if the audience is too small.
    pub fn displayed_count(&self) -> u64 {
        let shown = self.disclosed_size.displayed_count().unwrap_or(0);
        u64::try_from(shown).unwrap_or(0)
    }
}

type CountryUsers = (UserSet, Arc<HashSet<i64>>);

pub struct Evaluator {
    pub insights: InsightsCache,
    pub size_disclosure: SizeDisclosure,
    search: Option<SearchBackend>,
    /// Users in a country, as ids.
    country_users: Mutex<HashMap<String, CountryUsers>>,
    set_cache: Mutex<UserSetCache>,
}

impl std::fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evaluator").finish_non_exhaustive()
    }
}

/// The user sets of a list of criteria.
#[derive(Debug, Default)]
struct CriteriaSets {
    base: UserSet,
    /// At least one of these must contain the user; `None` if there are no primary criteria.
    primary: Option<Vec<UserSet>>,
    /// At least one of each of these must contain the user.
    each: BTreeMap<String, Vec<UserSet>>,
    excluded: Vec<UserSet>,
    ignored_types: BTreeSet<String>,
}

impl Evaluator {
    /// Creates an evaluator with empty caches. Without a search index nothing is known about post contents.
    pub fn new(search: Option<SearchBackend>) -> Arc<Self> {
        Self::with_size_disclosure(search, SizeDisclosure::default())
    }

    pub fn with_size_disclosure(search: Option<SearchBackend>, disclosure: SizeDisclosure) -> Arc<Self> {
        Arc::new(Self {
            insights: InsightsCache::default(),
            size_disclosure: disclosure,
            search,
            country_users: Mutex::default(),
            set_cache: Mutex::new(UserSetCache::default()),
        })
    }

    /// The evaluator of the current request.
    pub fn from_context(ctx: &AccountContext<'_, '_>) -> Result<Arc<Self>, Error> {
        let shared = ctx.evaluator.clone().and_then(|shared| shared.downcast().ok());
        Ok(shared.ok_or_else(|| base::Fault::new("the operation has no evaluator"))?)
    }

    pub fn estimate(&self, tx: &mut Tx<'_>, audience: &TargetedAudience) -> Result<AudienceEstimate, Error> {
        self.refresh(tx)?;
        let reached = self.resolve_criteria(tx, audience)?;
        let users = reached.intersect_sets();
        let told = if self.limits_disclosure(audience) {
            let cache = self.set_cache.lock();
            let ids = users.iter().filter_map(|user| cache.numbers.user_id(user));
            self.size_disclosure.disclose_size(self.size_disclosure.measure_audience(ids))
        } else {
            DisclosedSize::Exact(i64::try_from(users.len()).unwrap_or(i64::MAX))
        };
        Ok(AudienceEstimate { count: users.len(), disclosed_size: told, ignored_types: reached.ignored_types })
    }

    /// Whether the criteria involve the advertiser's own data or private profile data, so that only rounded
    /// sizes may be disclosed.
    fn limits_disclosure(&self, audience: &TargetedAudience) -> bool {
        let secret = |one: &TargetingCriterion| {
            PRIVATE_KINDS.contains(&&*one.kind) || ADVERTISER_KINDS.iter().any(|kind| one.kind.starts_with(kind))
        };
        let discreet = self.size_disclosure.min_size > 1;
        discreet && (audience.criteria.iter().any(secret) || audience.do_not_reach_list.is_some())
    }

    /// Applies what changed since the last evaluation.
    pub fn refresh(&self, tx: &mut Tx<'_>) -> Result<(), Error> {
        Ok(self.catch_up_with_log(tx)?)
    }

    /// Removes users whom an account never reaches, whatever the criteria; as of the last [`refresh`](Self::refresh).
    pub fn remove_excluded(
        &self,
        tx: &mut Tx<'_>,
        audience: &TargetedAudience,
        mut viewers: Vec<Option<UserId>>,
    ) -> Result<Vec<Option<UserId>>, Error> {
        if viewers.iter().any(Option::is_some) {
            let away = self.excluded_users(tx, audience)?;
            let cache = self.set_cache.lock();
            viewers.retain(|viewer| {
                let number = viewer.and_then(|user| cache.numbers.find_number(user.get()));
                number.is_none_or(|number| !away.iter().any(|users| users.contains(number)))
            });
        }
        Ok(viewers)
    }

    /// Those of `viewers` whom the criteria reach, as of the last [`refresh`](Self::refresh). An unknown viewer is reached only if no criterion
    /// depends on the viewer.
    pub fn filter_reached(
        &self,
        tx: &mut Tx<'_>,
        audience: &TargetedAudience,
        mut viewers: Vec<Option<UserId>>,
    ) -> Result<Vec<Option<UserId>>, Error> {
        let reached = self.resolve_criteria(tx, audience)?;
        let cache = self.set_cache.lock();
        viewers.retain(|viewer| match viewer {
            None => reached.primary.is_none() && reached.each.is_empty(),
            Some(user) => cache.numbers.find_number(user.get()).is_some_and(|number| reached.contains_user(number)),
        });
        Ok(viewers)
    }

    pub const fn has_search(&self) -> bool {
        self.search.is_some()
    }

    pub fn search_index(&self) -> Result<Arc<dyn PostIndexReader>, Error> {
        let missing = || base::Fault::new("the evaluator has no search index");
        Ok(self.search.as_ref().ok_or_else(missing)?.reader()?)
    }

    /// Users in a country by their profile, active or not.
    pub fn users_in_country(&self, tx: &mut Tx<'_>, country: &str) -> Result<Arc<HashSet<i64>>, Error> {
        self.catch_up_with_log(tx)?;
        let users = self.country_users(tx, country)?;
        if let Some((known, ids)) = self.country_users.lock().get(country)
            && Arc::ptr_eq(known, &users)
        {
            return Ok(Arc::clone(ids));
        }
        let ids: HashSet<i64> = {
            let cache = self.set_cache.lock();
            users.iter().filter_map(|user| cache.numbers.user_id(user)).collect()
        };
        let ids = Arc::new(ids);
        let mut people = self.country_users.lock();
        people.insert(country.to_owned(), (users, Arc::clone(&ids)));
        Ok(ids)
    }

    fn resolve_criteria(&self, tx: &mut Tx<'_>, audience: &TargetedAudience) -> Result<CriteriaSets, Error> {
        let mut reached = CriteriaSets { base: self.active_users(tx)?, ..CriteriaSets::default() };
        reached.excluded.extend(self.excluded_users(tx, audience)?);
        for criterion in &audience.criteria {
            match self.resolve_criterion(tx, audience, criterion)? {
                CriterionSource::PlacementOnly => {}
                CriterionSource::Unknown => {
                    reached.ignored_types.insert(criterion.kind.clone());
                }
                CriterionSource::Users(users) if criterion.operator == CriterionOperator::Ne => {
                    reached.excluded.push(users);
                }
                CriterionSource::Users(users) if is_primary_type(&criterion.kind) => {
                    reached.primary.get_or_insert_default().push(users);
                }
                CriterionSource::Users(users) => {
                    let alike = reached.each.entry(criterion.kind.clone()).or_default();
                    alike.push(users);
                }
            }
        }
        Ok(reached)
    }
}

impl CriteriaSets {
    fn intersect_sets(&self) -> RoaringBitmap {
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
        for users in &self.excluded {
            all -= &**users;
        }
        all
    }

    fn contains_user(&self, user: u32) -> bool {
        self.base.contains(user)
            && self.primary.iter().chain(self.each.values()).all(|some| some.iter().any(|users| users.contains(user)))
            && !self.excluded.iter().any(|users| users.contains(user))
    }
}
