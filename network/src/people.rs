//! Finding people by handle, name and biography.

use std::collections::HashMap;

use base::text::people::{index_terms, split_terms, term_code, term_code_range};
use base::{Fault, UserId};
use store::Tx;
use store::user_search::{self, WordRangeQuery, searched_texts, searched_words};
use store::users::{self, User, UserState};

/// Rows that are looked at before a page is answered with what was found so far: only a search
/// for several words that many people have, but nobody has all, comes that far.
const MAX_SCANNED_ROWS: usize = 5_000;
/// The last of the fields: handle, name, biography.
const LAST_FIELD: i64 = 2;

/// What places a found user in the order of a search: field, word, user.
pub type UserSearchKey = [i64; 3];

/// Where a page of a search begins and how long it is.
#[derive(Clone, Copy, Debug)]
pub struct UserSearchRange {
    /// The key that it begins behind, or before.
    pub from: Option<UserSearchKey>,
    /// Before it, the page that ends there.
    pub backward: bool,
    /// At most so many users.
    pub limit: usize,
}

/// A page of a search.
#[derive(Clone, Debug, Default)]
pub struct UserSearchPage {
    /// In the order of the search: matches of the handle, then of the name, then of the
    /// biography, by the word that matches and by the age of the account.
    pub users: Vec<User>,
    /// The first and the last key that was looked at; none when there was nothing.
    pub scanned_range: Option<(UserSearchKey, UserSearchKey)>,
    /// The search goes on in the direction in which it was read.
    pub more: bool,
}

/// People who have every word of a query, or a longer one that begins so.
pub fn search(tx: &mut Tx<'_>, query: &str, span: &UserSearchRange) -> Result<UserSearchPage, Fault> {
    let terms = split_terms(query);
    // The longest word leads: it is the rarest, mostly, and the same on every page.
    let Some(lead) = terms.iter().rev().max_by_key(|term| term.len()) else {
        return Ok(UserSearchPage::default());
    };
    let mut walk = UserSearchScan {
        terms: &terms,
        lead,
        span,
        keys: Vec::new(),
        users: Vec::new(),
        scanned: 0,
    };
    let more = walk.scan_fields(tx)?;
    Ok(walk.into_page(more))
}

struct UserSearchScan<'a> {
    terms: &'a [String],
    lead: &'a str,
    span: &'a UserSearchRange,
    /// Of the users that were found, and at the end of a walk that was broken off its last.
    keys: Vec<UserSearchKey>,
    users: Vec<User>,
    scanned: usize,
}

impl UserSearchScan<'_> {
    /// Goes through the fields; whether there is more.
    fn scan_fields(&mut self, tx: &mut Tx<'_>) -> Result<bool, Fault> {
        let codes = term_code_range(self.lead);
        let start = if self.span.backward {
            (codes.1 + 1, UserId::new(0))
        } else {
            (codes.0 - 1, UserId::new(i64::MAX))
        };
        let end = if self.span.backward { LAST_FIELD } else { 0 };
        let (mut place, mut behind) = match self.span.from {
            Some([place, word, user]) => (place, (word, UserId::new(user))),
            None => (end, start),
        };
        while (0..=LAST_FIELD).contains(&place) {
            // One more than the page holds says whether it goes on.
            let batch = (self.span.limit + 1).clamp(50, 500);
            let reach = WordRangeQuery {
                field: place,
                codes,
                after: behind,
                backward: self.span.backward,
                limit: i64::try_from(batch).unwrap_or(i64::MAX),
            };
            let rows = user_search::find_in_range(tx, &reach)?;
            if self.collect_matches(tx, place, &rows)? {
                return Ok(true);
            }
            match rows.last() {
                Some(last) if rows.len() >= batch => behind = *last,
                _ => {
                    place += if self.span.backward { -1 } else { 1 };
                    behind = start;
                }
            }
        }
        Ok(false)
    }

    /// Takes those of some rows who belong here; true when the page is full or the walk too long.
    fn collect_matches(&mut self, tx: &mut Tx<'_>, place: i64, rows: &[(i64, UserId)]) -> Result<bool, Fault> {
        let ids: Vec<UserId> = rows.iter().map(|(_, user)| *user).collect();
        let found = users::find_by_ids(tx, &ids)?;
        let mut found: HashMap<UserId, User> = found.into_iter().map(|user| (user.id, user)).collect();
        for (word, id) in rows {
            let key = [place, *word, id.get()];
            let here = |user: &User| self.first_match(user) == Some((place, *word));
            if found.get(id).is_some_and(here) {
                if self.users.len() == self.span.limit {
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

    /// Where the leading word first matches a user who has all the words: there, and only there,
    /// they are listed.
    fn first_match(&self, user: &User) -> Option<(i64, i64)> {
        if user.state != UserState::Active {
            return None;
        }
        if self.terms.len() > 1 {
            let words = searched_words(user);
            let has = |term: &String| words.iter().flatten().any(|word| word.starts_with(term));
            if !self.terms.iter().all(has) {
                return None;
            }
        }
        // Field by field: most match in the handle, and no further words need be told apart.
        (0..).zip(searched_texts(user)).find_map(|(place, text)| {
            let words = index_terms(text);
            let matching = words.iter().filter(|word| word.starts_with(self.lead));
            let word = matching.map(|word| term_code(word)).min()?;
            Some((place, word))
        })
    }

    fn into_page(mut self, more: bool) -> UserSearchPage {
        if self.span.backward {
            self.users.reverse();
            self.keys.reverse();
        }
        let ends = self.keys.first().copied().zip(self.keys.last().copied());
        UserSearchPage {
            users: self.users,
            scanned_range: ends,
            more,
        }
    }
}
