//! Keywords as advertisers write them, in the query language: one word, several as a phrase, a
//! `#tag`, an `@name`, a `$SYMBOL` or an emoji, found as recent search finds them.

use std::sync::Arc;

use ::search::{IndexSnapshot, SearchHit, SearchWindow};
use base::{Error, Time};
use query::words::hash_words;
use query::{AccessTier, MatchMode, ParsedQuery, QueryDialect, QueryProduct, WordField};
use store::Tx;

use crate::search::{PostSearchRequest, collect_hits};

/// Whether a keyword says anything that a post could hold.
pub fn is_valid_keyword(keyword: &str) -> bool {
    keyword_clause(keyword).is_some()
}

/// A keyword as a clause of a query; none when it holds no word.
pub fn keyword_clause(keyword: &str) -> Option<String> {
    let text = keyword.trim();
    if let Some(tag) = text.strip_prefix(['#', '@', '$'])
        && !tag.is_empty()
    {
        let plain = |letter: char| letter.is_alphanumeric() || letter == '_';
        let is_symbol = || tag.len() <= 6 && tag.bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_name = || tag.len() <= 15 && tag.is_ascii();
        let fits = match text.chars().next() {
            Some('$') => is_symbol(),
            Some('@') => is_name(),
            _ => !tag.chars().all(char::is_numeric),
        };
        if fits && tag.chars().all(plain) {
            return Some(text.to_owned());
        }
    }
    phrase_clause(text)
}

/// Words one after the other.
pub fn phrase_clause(text: &str) -> Option<String> {
    let quotes = |letter: char| matches!(letter, '"' | '\\') || letter.is_control();
    let plain = text.replace(quotes, " ");
    let sound = !hash_words(WordField::Text, &plain, MatchMode::Search).is_empty();
    sound.then(|| format!("\"{plain}\""))
}

/// Any of some clauses.
pub fn any_of_clauses(clauses: &[String]) -> String {
    format!("({})", clauses.join(" OR "))
}

/// A query made of clauses; none when it cannot be asked, for being too long.
pub fn parse_query(text: &str) -> Option<Arc<ParsedQuery>> {
    let dialect = QueryDialect::new(QueryProduct::FullArchive, AccessTier::Enterprise);
    query::parse(text, dialect).ok().map(Arc::new)
}

/// The public posts since a time that a query finds, in no particular order.
pub fn find_public_posts(
    tx: &mut Tx<'_>,
    snapshot: &IndexSnapshot,
    query: &Arc<ParsedQuery>,
    since: Time,
) -> Result<Vec<SearchHit>, Error> {
    let asked = PostSearchRequest {
        query: Arc::clone(query),
        window: SearchWindow {
            since_ms: since.ms(),
            ..SearchWindow::ALL
        },
        limit: 0,
    };
    collect_hits(tx, snapshot, &asked)
}

#[cfg(test)]
mod tests {
    use super::{any_of_clauses, keyword_clause, parse_query};

    #[test]
    fn keywords_become_clauses() {
        for (keyword, wanted) in [
            ("bike", Some("\"bike\"")),
            (" cargo bike ", Some("\"cargo bike\"")),
            ("the", Some("\"the\"")),
            ("#bike", Some("#bike")),
            ("@ana_9", Some("@ana_9")),
            ("$ABC", Some("$ABC")),
            ("$5", Some("\"$5\"")),
            ("#1", Some("\"#1\"")),
            ("a \"b\" OR (c", Some("\"a  b  OR (c\"")),
            ("😀", Some("\"😀\"")),
            ("!?", None),
            ("", None),
        ] {
            assert_eq!(keyword_clause(keyword).as_deref(), wanted, "{keyword}");
            if let Some(clause) = keyword_clause(keyword) {
                let text = any_of_clauses(&[clause.clone(), clause]);
                assert!(parse_query(&text).is_some(), "{text}");
            }
        }
    }
}
