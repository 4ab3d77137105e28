//! Lookalike audiences: users who follow what the seed users follow and others do not (contract ads §8.2).

use std::collections::{HashMap, HashSet};

use base::Error;
use base::time::DAY_MS;
use store::Tx;
use store::ads::viewers;

use super::criteria::{TargetedAudience, TargetingCriterion};
use super::set_cache::UserSetKey;
use super::{Evaluator, UserSet};

/// The maximum number of seed users sampled.
const MAX_SEEDS: usize = 5_000;
/// The accounts used for the comparison, most distinctive first.
const MAX_DISTINCTIVE_ACCOUNTS: usize = 50;
/// The maximum number of accounts compared.
const MAX_COMPARED_ACCOUNTS: usize = 500;
/// The maximum number of followers read per account.
const MAX_FOLLOWERS: usize = 200_000;
/// The result has at most this many times the seeds.
const SEED_MULTIPLE: usize = 10;
/// The result is at most one part in this many of all users.
const MAX_SHARE_DIVISOR: usize = 5;

impl Evaluator {
    /// Users similar to a user's followers, without those followers.
    pub(super) fn similar_to_followers(&self, tx: &mut Tx<'_>, of: i64) -> Result<UserSet, Error> {
        let key = UserSetKey::Value("SIMILAR_TO_FOLLOWERS_OF_USER".to_owned(), of.to_string());
        self.get_or_build_set(tx, key, |tx| {
            let seeds = viewers::list_followers(tx, of)?;
            Ok((self.find_similar_users(tx, &seeds, of)?, ms_until_tomorrow(tx)))
        })
    }

    /// Users similar to the users of a set, without that set.
    pub(super) fn similar_to_users(
        &self,
        tx: &mut Tx<'_>,
        audience: &TargetedAudience,
        criterion: &TargetingCriterion,
        seed: &UserSet,
    ) -> Result<UserSet, Error> {
        // Seeds differ by what they did.
        let name = format!("{}\n{} {}", criterion.kind, audience.account, audience.sorted_engagement_types());
        let key = UserSetKey::Value(name, criterion.value.clone());
        self.get_or_build_set(tx, key, |tx| {
            let seeds: Vec<i64> = {
                let cache = self.set_cache.lock();
                seed.iter().filter_map(|user| cache.numbers.user_id(user)).collect()
            };
            Ok((self.find_similar_users(tx, &seeds, 0)?, ms_until_tomorrow(tx)))
        })
    }

    /// Accounts followed more often by the followers of some users than by others, most distinctive first. Nothing is told of
    /// who follows protected users, or of whom followers follow who block `viewer`.
    pub fn commonly_followed_accounts(&self, tx: &mut Tx<'_>, users: &[i64], viewer: i64) -> Result<Vec<i64>, Error> {
        let mut seeds = Vec::new();
        for user in viewers::filter_public_users(tx, users)? {
            let followers = self.followers_of_user(tx, user)?;
            let cache = self.set_cache.lock();
            let some = followers.iter().take(MAX_SEEDS);
            seeds.extend(some.filter_map(|number| cache.numbers.user_id(number)));
        }
        seeds.sort_unstable();
        seeds.dedup();
        let blockers: HashSet<i64> = viewers::list_blockers(tx, viewer)?.into_iter().collect();
        seeds.retain(|seed| !blockers.contains(seed));
        let all = usize::try_from(self.active_users(tx)?.len()).unwrap_or(usize::MAX);
        let found = distinctive_accounts(tx, &seeds, 0, all.max(seeds.len()))?;
        let others = found.into_iter().map(|(account, _)| account);
        Ok(others.filter(|account| !users.contains(account)).collect())
    }

    /// The users whose follows are most similar to the seeds'. All seeds follow `excluded`, so it is ignored.
    fn find_similar_users(&self, tx: &mut Tx<'_>, seeds: &[i64], excluded: i64) -> Result<Vec<i64>, Error> {
        let mut seeds = seeds.to_vec();
        seeds.sort_unstable();
        let all = usize::try_from(self.active_users(tx)?.len()).unwrap_or(usize::MAX);
        let limit = (seeds.len() * SEED_MULTIPLE).min(all / MAX_SHARE_DIVISOR);
        if limit == 0 {
            return Ok(Vec::new());
        }
        let mut scores: HashMap<i64, f64> = HashMap::new();
        for (account, weight) in distinctive_accounts(tx, &seeds, excluded, all)? {
            for follower in viewers::list_followers(tx, account)?.into_iter().take(MAX_FOLLOWERS) {
                *scores.entry(follower).or_default() += weight;
            }
        }
        let mut ranked: Vec<(i64, f64)> =
            scores.into_iter().filter(|(user, _)| seeds.binary_search(user).is_err() && *user != excluded).collect();
        ranked.sort_unstable_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        ranked.truncate(limit);
        Ok(ranked.into_iter().map(|(user, _)| user).collect())
    }
}

/// The accounts followed more by the seeds than by others, and the weight of each. Seeds whose follows are not public, or
/// whose account is not active, have no part in it.
fn distinctive_accounts(tx: &mut Tx<'_>, seeds: &[i64], excluded: i64, all: usize) -> Result<Vec<(i64, f64)>, Error> {
    let step = seeds.len().div_ceil(MAX_SEEDS).max(1);
    let some: Vec<i64> = seeds.iter().copied().step_by(step).collect();
    let some = viewers::filter_public_users(tx, &some)?;
    let mut counts: HashMap<i64, usize> = HashMap::new();
    for account in viewers::list_followed_users(tx, &some)? {
        *counts.entry(account).or_default() += 1;
    }
    counts.remove(&excluded);
    let mut common: Vec<(i64, usize)> = counts.into_iter().collect();
    common.sort_unstable_by_key(|(account, count)| (std::cmp::Reverse(*count), *account));
    common.truncate(MAX_COMPARED_ACCOUNTS);
    let ids: Vec<i64> = common.iter().map(|(account, _)| *account).collect();
    let followers: HashMap<i64, i64> = viewers::follower_counts(tx, &ids)?.into_iter().collect();
    let mut found: Vec<(i64, f64)> = common
        .into_iter()
        .filter_map(|(account, count)| {
            let followers = followers.get(&account).copied().unwrap_or(0);
            let followers = usize::try_from(followers).unwrap_or(0);
            let weight = post_search::likelihood::log_likelihood_gain((count, some.len()), (followers, all))?;
            Some((account, weight))
        })
        .collect();
    found.sort_unstable_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    found.truncate(MAX_DISTINCTIVE_ACCOUNTS);
    Ok(found)
}

/// Nightly results are cached until the next midnight.
fn ms_until_tomorrow(tx: &Tx<'_>) -> i64 {
    DAY_MS - tx.now().ms().rem_euclid(DAY_MS)
}
