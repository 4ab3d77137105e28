//! Age and gender as users entered them.

use base::Error;
use network::private_profiles::birth_date_of_age;
use store::Tx;
use store::private_profiles;

use super::set_cache::UserSetKey;
use super::{Evaluator, UserSet};

/// How long the sets are cached.
const TOLD_MS: i64 = 60_000;

impl Evaluator {
    /// Users whose age is in a segment today; `None` if no user entered a birth date.
    pub(super) fn age_users(&self, tx: &mut Tx<'_>, value: &str) -> Result<Option<UserSet>, Error> {
        let Some((min, max)) = age_range(value) else {
            return Ok(Some(UserSet::default()));
        };
        let key = UserSetKey::Value("AGE".to_owned(), value.to_owned());
        let users = self.get_or_build_set(tx, key, |tx| {
            let now = tx.now();
            let until = birth_date_of_age(now, min);
            let after = max.map(|max| birth_date_of_age(now, max + 1));
            let after = after.unwrap_or_default();
            Ok((private_profiles::list_born_between(tx, &after, &until)?, TOLD_MS))
        })?;
        let is_known = !users.is_empty() || private_profiles::has_birth_dates(tx)?;
        Ok(is_known.then_some(users))
    }

    /// Users of a gender; `None` if no user entered one.
    pub(super) fn gender_users(&self, tx: &mut Tx<'_>, value: &str) -> Result<Option<UserSet>, Error> {
        let key = UserSetKey::Value("GENDER".to_owned(), value.to_owned());
        let gender = value.parse().unwrap_or(-1);
        let users =
            self.get_or_build_set(tx, key, |tx| Ok((private_profiles::list_by_gender(tx, gender)?, TOLD_MS)))?;
        let is_known = !users.is_empty() || private_profiles::has_genders(tx)?;
        Ok(is_known.then_some(users))
    }
}

/// The minimum and the maximum age of a segment: `AGE_13_TO_24`, `AGE_OVER_50`.
pub(crate) fn age_range(value: &str) -> Option<(i64, Option<i64>)> {
    let rest = value.strip_prefix("AGE_")?;
    if let Some(min) = rest.strip_prefix("OVER_") {
        return Some((min.parse().ok()?, None));
    }
    let (min, max) = rest.split_once("_TO_")?;
    Some((min.parse().ok()?, Some(max.parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::age_range;
    use ads::resources::targeting_criteria::AGE_BUCKETS;

    #[test]
    fn every_bucket_is_understood() {
        assert!(AGE_BUCKETS.iter().all(|bucket| age_range(bucket).is_some()));
        assert_eq!(age_range("AGE_13_TO_24"), Some((13, Some(24))));
        assert_eq!(age_range("AGE_OVER_50"), Some((50, None)));
        assert_eq!(age_range("AGE_YOUNG"), None);
    }
}
