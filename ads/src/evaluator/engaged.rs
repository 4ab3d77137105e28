//! Who engaged with what posts say: wrote, liked, reposted or answered them.

use std::sync::Arc;

use base::{Error, PostId, UserId};
use network::keywords;
use query::words::hash_words;
use query::{MatchMode, ParsedQuery, WordField};
use store::ads::viewers;
use store::{Tx, posts};

use super::kept::Key;
use super::{Evaluator, Users};
use crate::choices::{self, Choice};

const DAY_MS: i64 = 86_400_000;
/// How long what was found in posts is kept.
const KEPT_MS: i64 = 600_000;
/// Posts that keywords are looked for in.
const KEYWORD_MS: i64 = 7 * DAY_MS;
/// Posts that interests are looked for in.
const INTEREST_MS: i64 = 30 * DAY_MS;
/// Posts of a user that engagement is looked for in.
const TAKEN_UP_MS: i64 = 90 * DAY_MS;
/// Posts that one has to engage with to be interested.
const ENOUGH: usize = 2;
/// Posts that are looked at at once.
const AT_ONCE: usize = 1_000;
/// Posts of a user that are looked at.
const POSTS: i64 = 20_000;

impl Evaluator {
    /// Who engaged with a post of the last week that a keyword finds; none without an index.
    pub(super) fn keyword(
        &self,
        tx: &mut Tx<'_>,
        kind: &str,
        value: &str,
    ) -> Result<Option<Users>, Error> {
        if self.search.is_none() {
            return Ok(None);
        }
        let key = Key::Value(kind.to_owned(), query::words::normalize_case(value.trim()));
        let users = self.set(tx, key, |tx| {
            let Some(query) = asked(kind, value).and_then(|text| keywords::parse_query(&text))
            else {
                return Ok((Vec::new(), KEPT_MS));
            };
            let mut found = self.found(tx, &query, KEYWORD_MS)?;
            if kind == "EXACT_KEYWORD" {
                found = saying(tx, &found, value)?;
            }
            let mut users = Vec::new();
            for some in found.chunks(AT_ONCE) {
                let takers = viewers::post_engagers(tx, some)?;
                users.extend(takers.into_iter().map(|(user, _)| user));
            }
            Ok((users, KEPT_MS))
        })?;
        Ok(Some(users))
    }

    /// Who follows somebody that an option names, or engaged with two posts of the last thirty days
    /// that it is about. None where there are no options of the type.
    pub(super) fn interested(
        &self,
        tx: &mut Tx<'_>,
        kind: &str,
        value: &str,
    ) -> Result<Option<Users>, Error> {
        // A broadcast is one of the events.
        let kind = if kind == "LIVE_TV_EVENT" {
            "EVENT"
        } else {
            kind
        };
        let Some(choice) = choices::find(tx, kind, value)? else {
            let any = !choices::of_kind(tx, kind)?.is_empty();
            return Ok(any.then(Users::default));
        };
        // A changed option is another one.
        let told = format!("{kind}\n{}", choice.about);
        let key = Key::Value(told, value.to_owned());
        let users = self.set(tx, key, |tx| {
            let mut users = Vec::new();
            for seed in choice.seeds() {
                users.extend(viewers::list_followers(tx, seed)?);
            }
            users.extend(self.about(tx, &choice)?);
            Ok((users, KEPT_MS))
        })?;
        Ok(Some(users))
    }

    /// Who engaged with enough posts that an option is about.
    fn about(&self, tx: &mut Tx<'_>, choice: &Choice) -> Result<Vec<i64>, Error> {
        let clauses: Vec<String> = choice.clauses();
        let text = keywords::any_of_clauses(&clauses);
        let query = keywords::parse_query(&text).filter(|_| !clauses.is_empty());
        let Some(query) = query.filter(|_| self.search.is_some()) else {
            return Ok(Vec::new());
        };
        let found = self.found(tx, &query, INTEREST_MS)?;
        let mut pairs = Vec::new();
        for some in found.chunks(AT_ONCE) {
            pairs.extend(viewers::post_engagers(tx, some)?);
        }
        pairs.sort_unstable();
        pairs.dedup();
        let each = pairs.chunk_by(|one, other| one.0 == other.0);
        let enough = each.filter(|posts| posts.len() >= ENOUGH);
        Ok(enough.filter_map(|posts| Some(posts.first()?.0)).collect())
    }

    /// Who engaged with a user's posts of the last ninety days.
    pub(super) fn taken_up(&self, tx: &mut Tx<'_>, user: i64) -> Result<Users, Error> {
        let key = Key::Value("USER_ENGAGEMENT".to_owned(), user.to_string());
        self.set(tx, key, |tx| {
            let since = base::id::first_snowflake_at(tx.now().plus_ms(-TAKEN_UP_MS));
            let all = posts::list_ids_by_author(tx, UserId::new(user), i64::MAX, POSTS)?;
            let all: Vec<i64> = all.into_iter().map(PostId::get).collect();
            let recent: Vec<i64> = all.into_iter().filter(|id| *id >= since).collect();
            let mut users = Vec::new();
            for some in recent.chunks(AT_ONCE) {
                let takers = viewers::post_engagers(tx, some)?.into_iter();
                users.extend(
                    takers
                        .map(|(taker, _)| taker)
                        .filter(|taker| *taker != user),
                );
            }
            Ok((users, KEPT_MS))
        })
    }

    /// Ids of the public posts of the last while that a query finds.
    fn found(
        &self,
        tx: &mut Tx<'_>,
        query: &Arc<ParsedQuery>,
        while_ms: i64,
    ) -> Result<Vec<i64>, Error> {
        let Some(search) = &self.search else {
            return Ok(Vec::new());
        };
        let since = tx.now().plus_ms(-while_ms);
        let hits = keywords::find_public_posts(tx, &search.snapshot(), query, since)?;
        Ok(hits.into_iter().map(|hit| hit.id).collect())
    }
}

/// What a keyword asks of a post, by its type; none when it says nothing.
fn asked(kind: &str, value: &str) -> Option<String> {
    let each = |clause: &dyn Fn(&str) -> Option<String>| {
        let clauses: Option<Vec<String>> = value.split_whitespace().map(clause).collect();
        clauses
            .map(|clauses| clauses.join(" "))
            .filter(|text| !text.is_empty())
    };
    match kind {
        "BROAD_KEYWORD" => each(&broad),
        "UNORDERED_KEYWORD" => each(&|word| keywords::keyword_clause(word.trim_start_matches('+'))),
        _ => keywords::keyword_clause(value),
    }
}

/// A word in any of its forms, or with a plus sign as it is.
fn broad(word: &str) -> Option<String> {
    if let Some(plain) = word.strip_prefix('+') {
        return keywords::keyword_clause(plain);
    }
    let forms = forms(word).into_iter();
    let forms: Option<Vec<String>> = forms.map(|form| keywords::keyword_clause(&form)).collect();
    forms.map(|forms| keywords::any_of_clauses(&forms))
}

/// Those of some posts that say nothing beside a keyword.
fn saying(tx: &mut Tx<'_>, found: &[i64], value: &str) -> Result<Vec<i64>, Error> {
    let wanted = hash_words(WordField::Text, value, MatchMode::Search);
    let mut all = Vec::new();
    for some in found.chunks(AT_ONCE) {
        let said = posts::find_texts(tx, some)?.into_iter();
        let exact = said
            .filter(|post| hash_words(WordField::Text, &post.text, MatchMode::Search) == wanted);
        all.extend(exact.map(|post| post.id));
    }
    Ok(all)
}

/// The forms of an English word that share its stem, the word itself first.
fn forms(word: &str) -> Vec<String> {
    let word = query::words::normalize_case(word);
    let mut all = vec![word.clone()];
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return all;
    }
    let stem = stem(&word);
    let mut bases = vec![stem.clone(), format!("{stem}e")];
    bases.extend(stem.chars().last().map(|last| format!("{stem}{last}")));
    bases.extend(stem.strip_suffix('i').map(|before| format!("{before}y")));
    for base in bases {
        for ending in ["", "s", "es", "ed", "d", "ing"] {
            let form = format!("{base}{ending}");
            if self::stem(&form) == stem && !all.contains(&form) {
                all.push(form);
            }
        }
    }
    all
}

/// What the forms of an English word have in common: plural, past and present participle apart.
fn stem(word: &str) -> String {
    const SHORTEST: usize = 3;
    let vowel = |letter: u8| matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
    let hissing = |text: &str| {
        ["s", "x", "z", "ch", "sh"]
            .iter()
            .any(|end| text.ends_with(end))
    };
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
    if let Some(before) = stem
        .strip_suffix('e')
        .filter(|before| before.len() >= SHORTEST)
    {
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
    use super::{asked, forms};

    #[test]
    fn forms_share_a_stem() {
        let has = |word: &str, others: &[&str]| {
            let all = forms(word);
            for other in others {
                assert!(all.iter().any(|form| form == other), "{word}: {all:?}");
                assert!(forms(other).iter().any(|form| form == word), "{other}");
            }
        };
        has("bike", &["bikes", "biked", "biking"]);
        has("run", &["runs", "running"]);
        has("city", &["cities"]);
        has("box", &["boxes", "boxed", "boxing"]);
        has("helmet", &["helmets"]);
        assert_eq!(forms("bus").len(), forms("buses").len());
        assert_eq!(forms("東京"), ["東京"]);
        assert!(!forms("thing").contains(&"th".to_owned()));
    }

    #[test]
    fn each_type_asks_in_its_way() {
        let text = |kind: &str, value: &str| asked(kind, value).unwrap_or_default();
        assert_eq!(text("PHRASE_KEYWORD", "cargo bike"), "\"cargo bike\"");
        assert_eq!(
            text("UNORDERED_KEYWORD", "cargo bike"),
            "\"cargo\" \"bike\""
        );
        assert_eq!(text("BROAD_KEYWORD", "+cargo +bike"), "\"cargo\" \"bike\"");
        let broad = text("BROAD_KEYWORD", "helmet");
        assert!(broad.starts_with("(\"helmet\" OR \"helmets\""), "{broad}");
        assert_eq!(text("BROAD_KEYWORD", "!"), "");
    }
}
