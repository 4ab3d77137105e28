//! Users who engaged with posts found by search: authors, likers, reposters and repliers.

use std::sync::Arc;

use ads::option_catalog::{self, CatalogOption};
use base::time::DAY_MS;
use base::{Error, PostId, UserId};
use post_search::keywords;
use query::words::hash_words;
use query::{MatchMode, ParsedQuery, WordField};
use store::ads::viewers;
use store::{Tx, posts};

use super::set_cache::UserSetKey;
use super::{Evaluator, UserSet};

/// How long results are cached.
const CACHE_MS: i64 = 600_000;
/// The age of posts searched for keywords.
const KEYWORD_MS: i64 = 7 * DAY_MS;
/// The age of posts searched for interests.
const INTEREST_MS: i64 = 30 * DAY_MS;
/// The age of a user's posts whose engagement counts.
const USER_ENGAGEMENT_MS: i64 = 90 * DAY_MS;
/// Engagements that make a user interested in an option.
const MIN_ENGAGED_POSTS: usize = 2;
const POST_BATCH: usize = 1_000;
/// The maximum number of a user's posts read.
const MAX_USER_POSTS: i64 = 20_000;

impl Evaluator {
    /// Users who engaged with a post of the last week that matches a keyword; `None` without a search index.
    pub(super) fn keyword_users(&self, tx: &mut Tx<'_>, kind: &str, value: &str) -> Result<Option<UserSet>, Error> {
        if self.search.is_none() {
            return Ok(None);
        }
        let key = UserSetKey::Value(kind.to_owned(), query::words::normalize_case(value.trim()));
        let users = self.get_or_build_set(tx, key, |tx| {
            let Some(query) = keyword_query(kind, value).and_then(|text| keywords::parse_query(&text)) else {
                return Ok((Vec::new(), CACHE_MS));
            };
            let mut found = self.find_recent_posts(tx, &query, KEYWORD_MS)?;
            if kind == "EXACT_KEYWORD" {
                found = filter_exact_posts(tx, &found, value)?;
            }
            let mut users = Vec::new();
            for some in found.chunks(POST_BATCH) {
                let takers = viewers::post_engagers(tx, some)?;
                users.extend(takers.into_iter().map(|(user, _)| user));
            }
            Ok((users, CACHE_MS))
        })?;
        Ok(Some(users))
    }

    /// Users who follow a seed user of an option, or engaged with two posts of the last thirty days about it.
    /// `None` if there are no options of the type.
    pub(super) fn interested_users(&self, tx: &mut Tx<'_>, kind: &str, value: &str) -> Result<Option<UserSet>, Error> {
        // Broadcasts are events.
        let kind = if kind == "LIVE_TV_EVENT" { "EVENT" } else { kind };
        let Some(choice) = option_catalog::find(tx, kind, value)? else {
            let any = !option_catalog::list_by_type(tx, kind)?.is_empty();
            return Ok(any.then(UserSet::default));
        };
        // The details are part of the key, since changing them changes the set.
        let told = format!("{kind}\n{}", choice.details_json);
        let key = UserSetKey::Value(told, value.to_owned());
        let users = self.get_or_build_set(tx, key, |tx| {
            let mut users = Vec::new();
            for seed in choice.seed_user_ids() {
                users.extend(viewers::list_followers(tx, seed)?);
            }
            users.extend(self.option_engagers(tx, &choice)?);
            Ok((users, CACHE_MS))
        })?;
        Ok(Some(users))
    }

    /// Users who engaged with enough posts about an option.
    fn option_engagers(&self, tx: &mut Tx<'_>, choice: &CatalogOption) -> Result<Vec<i64>, Error> {
        let clauses: Vec<String> = choice.search_clauses();
        let text = keywords::any_of_clauses(&clauses);
        let query = keywords::parse_query(&text).filter(|_| !clauses.is_empty());
        let Some(query) = query.filter(|_| self.search.is_some()) else {
            return Ok(Vec::new());
        };
        let found = self.find_recent_posts(tx, &query, INTEREST_MS)?;
        let mut pairs = Vec::new();
        for some in found.chunks(POST_BATCH) {
            pairs.extend(viewers::post_engagers(tx, some)?);
        }
        pairs.sort_unstable();
        pairs.dedup();
        let each = pairs.chunk_by(|one, other| one.0 == other.0);
        let enough = each.filter(|posts| posts.len() >= MIN_ENGAGED_POSTS);
        Ok(enough.filter_map(|posts| Some(posts.first()?.0)).collect())
    }

    /// Users who engaged with a user's posts of the last ninety days.
    pub(super) fn user_engagers(&self, tx: &mut Tx<'_>, user: i64) -> Result<UserSet, Error> {
        let key = UserSetKey::Value("USER_ENGAGEMENT".to_owned(), user.to_string());
        self.get_or_build_set(tx, key, |tx| {
            let since = base::id::first_snowflake_at(tx.now().plus_ms(-USER_ENGAGEMENT_MS));
            let all = posts::list_ids_by_author(tx, UserId::new(user), i64::MAX, MAX_USER_POSTS)?;
            let all: Vec<i64> = all.into_iter().map(PostId::get).collect();
            let recent: Vec<i64> = all.into_iter().filter(|id| *id >= since).collect();
            let mut users = Vec::new();
            for some in recent.chunks(POST_BATCH) {
                let takers = viewers::post_engagers(tx, some)?.into_iter();
                users.extend(takers.map(|(taker, _)| taker).filter(|taker| *taker != user));
            }
            Ok((users, CACHE_MS))
        })
    }

    /// Ids of recent public posts that match a query.
    fn find_recent_posts(&self, tx: &mut Tx<'_>, query: &Arc<ParsedQuery>, while_ms: i64) -> Result<Vec<i64>, Error> {
        let Some(search) = &self.search else {
            return Ok(Vec::new());
        };
        let since = tx.now().plus_ms(-while_ms);
        let hits = keywords::find_public_posts(tx, &*search.reader()?, query, since)?;
        Ok(hits.into_iter().map(|hit| hit.id).collect())
    }
}

/// The search query for a keyword of a type; `None` if it is empty.
fn keyword_query(kind: &str, value: &str) -> Option<String> {
    let each = |clause: &dyn Fn(&str) -> Option<String>| {
        let clauses: Option<Vec<String>> = value.split_whitespace().map(clause).collect();
        clauses.map(|clauses| clauses.join(" ")).filter(|text| !text.is_empty())
    };
    match kind {
        "BROAD_KEYWORD" => each(&broad_match_clause),
        "UNORDERED_KEYWORD" => each(&|word| keywords::keyword_clause(word.trim_start_matches('+'))),
        _ => keywords::keyword_clause(value),
    }
}

/// Matches a word in any of its forms, or exactly if it has a plus sign.
fn broad_match_clause(word: &str) -> Option<String> {
    if let Some(plain) = word.strip_prefix('+') {
        return keywords::keyword_clause(plain);
    }
    let forms = word_forms(word).into_iter();
    let forms: Option<Vec<String>> = forms.map(|form| keywords::keyword_clause(&form)).collect();
    forms.map(|forms| keywords::any_of_clauses(&forms))
}

/// Keeps the posts whose text is exactly the keyword.
fn filter_exact_posts(tx: &mut Tx<'_>, posts: &[i64], value: &str) -> Result<Vec<i64>, Error> {
    let words = hash_words(WordField::Text, value, MatchMode::Search);
    let mut all = Vec::new();
    for some in posts.chunks(POST_BATCH) {
        let texts = posts::find_texts(tx, some)?.into_iter();
        let exact = texts.filter(|post| hash_words(WordField::Text, &post.text, MatchMode::Search) == words);
        all.extend(exact.map(|post| post.id));
    }
    Ok(all)
}

/// The forms of an English word that share its stem, the word itself first.
fn word_forms(word: &str) -> Vec<String> {
    let word = query::words::normalize_case(word);
    let mut all = vec![word.clone()];
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return all;
    }
    let stem = stem_word(&word);
    let mut bases = vec![stem.clone(), format!("{stem}e")];
    bases.extend(stem.chars().last().map(|last| format!("{stem}{last}")));
    bases.extend(stem.strip_suffix('i').map(|before| format!("{before}y")));
    for base in bases {
        for ending in ["", "s", "es", "ed", "d", "ing"] {
            let form = format!("{base}{ending}");
            if stem_word(&form) == stem && !all.contains(&form) {
                all.push(form);
            }
        }
    }
    all
}

/// The stem of an English word without plural and participle endings.
fn stem_word(word: &str) -> String {
    const SHORTEST: usize = 3;
    let vowel = |letter: u8| matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
    let hissing = |text: &str| ["s", "x", "z", "ch", "sh"].iter().any(|end| text.ends_with(end));
    let mut stem = word;
    if let Some(before) = word.strip_suffix("ies").filter(|before| before.len() >= 2) {
        return format!("{before}i");
    }
    if let Some(before) = word.strip_suffix("es").filter(|before| hissing(before)) {
        stem = before;
    } else if let Some(before) = word.strip_suffix('s')
        && !["s", "u", "i"].iter().any(|end| before.ends_with(end))
        && before.len() >= 2
    {
        stem = before;
    }
    for ending in ["ing", "ed"] {
        let Some(before) = stem.strip_suffix(ending) else {
            continue;
        };
        if before.len() >= SHORTEST && before.bytes().any(vowel) {
            let mut last = before.bytes().rev();
            let doubled = last.next() == last.next() && !hissing(before) && !before.ends_with('l');
            stem = match before.len().checked_sub(1) {
                Some(end) if doubled => before.get(..end).unwrap_or(before),
                _ => before,
            };
            break;
        }
    }
    if let Some(before) = stem.strip_suffix('e').filter(|before| before.len() >= SHORTEST) {
        stem = before;
    }
    match stem.strip_suffix('y') {
        Some(before) if before.len() >= 2 && !before.bytes().next_back().is_some_and(vowel) => {
            format!("{before}i")
        }
        _ => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{keyword_query, word_forms};

    #[test]
    fn forms_share_a_stem() {
        let has = |word: &str, others: &[&str]| {
            let all = word_forms(word);
            for other in others {
                assert!(all.iter().any(|form| form == other), "{word}: {all:?}");
                assert!(word_forms(other).iter().any(|form| form == word), "{other}");
            }
        };
        has("bike", &["bikes", "biked", "biking"]);
        has("run", &["runs", "running"]);
        has("city", &["cities"]);
        has("box", &["boxes", "boxed", "boxing"]);
        has("helmet", &["helmets"]);
        assert_eq!(word_forms("bus").len(), word_forms("buses").len());
        assert_eq!(word_forms("東京"), ["東京"]);
        assert!(!word_forms("thing").contains(&"th".to_owned()));
    }

    #[test]
    fn each_type_asks_in_its_way() {
        let text = |kind: &str, value: &str| keyword_query(kind, value).unwrap_or_default();
        assert_eq!(text("PHRASE_KEYWORD", "cargo bike"), "\"cargo bike\"");
        assert_eq!(text("UNORDERED_KEYWORD", "cargo bike"), "\"cargo\" \"bike\"");
        assert_eq!(text("BROAD_KEYWORD", "+cargo +bike"), "\"cargo\" \"bike\"");
        let broad = text("BROAD_KEYWORD", "helmet");
        assert!(broad.starts_with("(\"helmet\" OR \"helmets\""), "{broad}");
        assert_eq!(text("BROAD_KEYWORD", "!"), "");
    }
}
