//! Search for users by handle, name and biography.

use std::collections::HashMap;

use base::text::people::{index_terms, split_terms, term_code, term_code_range};
use base::{Fault, UserId};
use store::Tx;
use store::user_search::{self, WordRangeQuery, searched_texts, searched_words};
use store::users::{self, User, UserState};

/// Rows examined per page. Only searches for several common words that few users have together reach this bound.
const MAX_SCANNED_ROWS: usize = 5_000;
/// Fields are 0 handle, 1 name, 2 biography.
const LAST_FIELD: i64 = 2;

/// The sort key of a result: field, word code, user.
pub type UserSearchKey = [i64; 3];

#[derive(Clone, Copy, Debug)]
pub struct UserSearchRange {
    /// The page starts after this key, or ends before it.
    pub from: Option<UserSearchKey>,
    /// Whether the page ends before `from`.
    pub backward: bool,
    pub limit: usize,
}

#[derive(Clone, Debug, Default)]
pub struct UserSearchPage {
    /// Matches of the handle, then of the name, then of the biography; by the matching word and by the age of the
    /// account.
    pub users: Vec<User>,
    /// The first and the last examined key; none if there were no results.
    pub scanned_range: Option<(UserSearchKey, UserSearchKey)>,
    /// Whether there are more results in the direction of reading.
    pub more: bool,
}

/// Users with words that start with each word of the query.
pub fn search(tx: &mut Tx<'_>, query: &str, range: &UserSearchRange) -> Result<UserSearchPage, Fault> {
    let terms = split_terms(query);
    // The longest word is usually the rarest, and the same on every page.
    let Some(lead) = terms.iter().rev().max_by_key(|term| term.len()) else {
        return Ok(UserSearchPage::default());
    };
    let mut scan = UserSearchScan { terms: &terms, lead, range, keys: Vec::new(), users: Vec::new(), scanned: 0 };
    let more = scan.scan_fields(tx)?;
    Ok(scan.into_page(more))
}

struct UserSearchScan<'a> {
    terms: &'a [String],
    lead: &'a str,
    range: &'a UserSearchRange,
    /// Keys of the results, and the last examined key if the scan was stopped early.
    keys: Vec<UserSearchKey>,
    users: Vec<User>,
    scanned: usize,
}

impl UserSearchScan<'_> {
    /// Returns whether there are more results.
    fn scan_fields(&mut self, tx: &mut Tx<'_>) -> Result<bool, Fault> {
        let codes = term_code_range(self.lead);
        let start =
            if self.range.backward { (codes.1 + 1, UserId::new(0)) } else { (codes.0 - 1, UserId::new(i64::MAX)) };
        let end = if self.range.backward { LAST_FIELD } else { 0 };
        let (mut field, mut after) = match self.range.from {
            Some([field, word, user]) => (field, (word, UserId::new(user))),
            None => (end, start),
        };
        while (0..=LAST_FIELD).contains(&field) {
            // One more than needed, to know whether there are more.
            let batch = (self.range.limit + 1).clamp(50, 500);
            let range_query = WordRangeQuery {
                field,
                codes,
                after,
                backward: self.range.backward,
                limit: i64::try_from(batch).unwrap_or(i64::MAX),
            };
            let rows = user_search::find_in_range(tx, &range_query)?;
            if self.collect_matches(tx, field, &rows)? {
                return Ok(true);
            }
            match rows.last() {
                Some(last) if rows.len() >= batch => after = *last,
                _ => {
                    field += if self.range.backward { -1 } else { 1 };
                    after = start;
                }
            }
        }
        Ok(false)
    }

    /// Adds the matching users of some rows; returns true if the page is full or the scan too long.
    fn collect_matches(&mut self, tx: &mut Tx<'_>, field: i64, rows: &[(i64, UserId)]) -> Result<bool, Fault> {
        let ids: Vec<UserId> = rows.iter().map(|(_, user)| *user).collect();
        let found = users::find_by_ids(tx, &ids)?;
        let mut found: HashMap<UserId, User> = found.into_iter().map(|user| (user.id, user)).collect();
        for (word, id) in rows {
            let key = [field, *word, id.get()];
            let is_first_match = |user: &User| self.first_match(user) == Some((field, *word));
            if found.get(id).is_some_and(is_first_match) {
                if self.users.len() == self.range.limit {
                    return Ok(true);
                }
                self.users.extend(found.remove(id));
                self.keys.push(key);
            }
            self.scanned += 1;
            if self.scanned >= MAX_SCANNED_ROWS {
                self.keys.push(key);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The first field and word that the leading term matches, if the user has all terms; results are listed there
    /// only.
    fn first_match(&self, user: &User) -> Option<(i64, i64)> {
        if user.state != UserState::Active || user.limited {
            return None;
        }
        if self.terms.len() > 1 {
            let words = searched_words(user);
            let has = |term: &String| words.iter().flatten().any(|word| word.starts_with(term));
            if !self.terms.iter().all(has) {
                return None;
            }
        }
        // Most results match in the handle, so later fields are rarely analyzed.
        (0..).zip(searched_texts(user)).find_map(|(field, text)| {
            let words = index_terms(text);
            let matching = words.iter().filter(|word| word.starts_with(self.lead));
            let word = matching.map(|word| term_code(word)).min()?;
            Some((field, word))
        })
    }

    fn into_page(mut self, more: bool) -> UserSearchPage {
        if self.range.backward {
            self.users.reverse();
            self.keys.reverse();
        }
        let scanned_range = self.keys.first().copied().zip(self.keys.last().copied());
        UserSearchPage { users: self.users, scanned_range, more }
    }
}
