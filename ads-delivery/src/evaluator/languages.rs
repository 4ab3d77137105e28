//! Languages that users post in.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base::{Error, Fault};
use query::{LanguageNumber, language_code, language_matches, parse_language};
use roaring::RoaringBitmap;
use store::Tx;
use store::ads::viewers;

use super::base_sets::USER_BATCH;
use super::set_cache::UserGroup;
use super::{Evaluator, UserSet};

/// Posts of a user sampled for the language.
const SAMPLED_POSTS: u32 = 50;

impl Evaluator {
    /// Users who post in a language; `None` if nobody is known to.
    pub(super) fn language_users(&self, tx: &mut Tx<'_>, code: &str) -> Result<Option<UserSet>, Error> {
        let Some(language) = parse_language(code) else {
            let known = self.group_users(tx, UserGroup::Language, "")?;
            return Ok(known.map(|_| UserSet::default()));
        };
        let mut all: Option<RoaringBitmap> = None;
        // A language with several scripts has several codes.
        for posted in (1..=LanguageNumber::MAX).filter(|posted| language_matches(language, *posted)) {
            let users = self.group_users(tx, UserGroup::Language, language_code(posted))?;
            if let Some(users) = users {
                *all.get_or_insert_default() |= &*users;
            }
        }
        Ok(all.map(Arc::new))
    }

    /// Finds every user's language: for public posts from the search index, for protected accounts user by
    /// user.
    pub(super) fn load_language_groups(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let offset = self.set_cache.lock().log_offset();
        let mut counts: HashMap<i64, Vec<(LanguageNumber, u32)>> = HashMap::new();
        if let Some(search) = &self.search {
            for one in search.reader()?.author_languages(SAMPLED_POSTS)? {
                counts.entry(one.author).or_default().push((one.language, one.posts));
            }
        }
        let mut last = 0;
        loop {
            let some = viewers::list_protected_users(tx, last, USER_BATCH)?;
            let Some(end) = some.last() else { break };
            last = *end;
            for user in some {
                counts.insert(user, self.count_user_languages(tx, user)?);
            }
        }
        let mut by: BTreeMap<String, RoaringBitmap> = BTreeMap::new();
        let mut cache = self.set_cache.lock();
        for (user, counted) in counts {
            if let Some(code) = main_language(&counted) {
                let number = cache.numbers.assign_number(user);
                by.entry(code.to_owned()).or_default().insert(number);
            }
        }
        drop(cache);
        self.store_group(tx, UserGroup::Language, by, offset);
        Ok(())
    }

    pub(super) fn refresh_user_languages(&self, tx: &mut Tx<'_>, users: &[i64]) -> Result<(), Fault> {
        if !self.set_cache.lock().groups.contains_key(&UserGroup::Language) {
            return Ok(());
        }
        for user in users {
            let counted = self.count_user_languages(tx, *user)?;
            let code = main_language(&counted).map(str::to_owned);
            let codes: Vec<String> = code.into_iter().collect();
            self.set_cache.lock().set_user_groups(UserGroup::Language, *user, &codes);
        }
        Ok(())
    }

    #[expect(clippy::unused_self, reason = "consistent with the other groups")]
    fn count_user_languages(&self, tx: &mut Tx<'_>, user: i64) -> Result<Vec<(LanguageNumber, u32)>, Fault> {
        let mut counted = Vec::new();
        for code in viewers::recent_post_languages(tx, user, i64::from(SAMPLED_POSTS))? {
            count_language(&mut counted, parse_language(&code).unwrap_or(0));
        }
        Ok(counted)
    }
}

fn count_language(counted: &mut Vec<(LanguageNumber, u32)>, language: LanguageNumber) {
    match counted.iter_mut().find(|(known, _)| *known == language) {
        Some((_, count)) => *count += 1,
        None => counted.push((language, 1)),
    }
}

/// The most frequent language; the first of the list among equals.
fn main_language(counted: &[(LanguageNumber, u32)]) -> Option<&'static str> {
    // Codes that give a reason why a post has no language.
    const NONE: &[&str] = &["und", "qam", "qct", "qht", "qme", "qst", "zxx", "art"];
    let real = counted.iter().filter(|(language, _)| *language != 0 && !NONE.contains(&language_code(*language)));
    let most = real.max_by_key(|(language, count)| (*count, std::cmp::Reverse(*language)));
    most.map(|(language, _)| language_code(*language))
}

#[cfg(test)]
mod tests {
    use super::main_language;

    #[test]
    fn most_posts_tell_the_language() {
        let number = |code: &str| query::parse_language(code).unwrap();
        let counted = [(number("en"), 2), (number("pt"), 3), (number("und"), 9)];
        assert_eq!(main_language(&counted), Some("pt"));
        assert_eq!(main_language(&[(number("und"), 9)]), None);
        assert_eq!(main_language(&[(number("pt"), 1), (number("en"), 1)]), Some("en"));
    }
}
