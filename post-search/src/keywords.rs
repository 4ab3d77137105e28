//! Keywords of advertisers as queries: a word, a phrase, a `#tag`, an `@name`, a `$SYMBOL` or an emoji, matched as in
//! recent search.

use std::sync::Arc;

use ::search::{PostIndexReader, SearchHit, SearchWindow};
use base::{Error, Time};
use query::words::hash_words;
use query::{AccessTier, MatchMode, ParsedQuery, QueryDialect, QueryProduct, WordField};
use store::Tx;

use crate::{PostSearchRequest, collect_hits};

/// Whether a keyword contains anything that a post could match.
pub fn is_valid_keyword(keyword: &str) -> bool {
    keyword_clause(keyword).is_some()
}

/// None if the keyword contains no word.
pub fn keyword_clause(keyword: &str) -> Option<String> {
    let text = keyword.trim();
    if let Some(tag) = text.strip_prefix(['#', '@', '$'])
        && !tag.is_empty()
    {
        let is_word_char = |letter| base::text::is_word_char(letter) || letter == '_';
        let is_symbol = || tag.len() <= 6 && tag.bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_name = || tag.len() <= 15 && tag.is_ascii();
        let is_valid = match text.chars().next() {
            Some('$') => is_symbol(),
            Some('@') => is_name(),
            _ => !tag.chars().all(char::is_numeric),
        };
        if is_valid && tag.chars().all(is_word_char) {
            return Some(text.to_owned());
        }
    }
    phrase_clause(text)
}

/// A quoted phrase; none if it contains no word.
pub fn phrase_clause(text: &str) -> Option<String> {
    let is_special = |letter: char| matches!(letter, '"' | '\\') || letter.is_control();
    let unquoted = text.replace(is_special, " ");
    let has_words = !hash_words(WordField::Text, &unquoted, MatchMode::Search).is_empty();
    has_words.then(|| format!("\"{unquoted}\""))
}

pub fn any_of_clauses(clauses: &[String]) -> String {
    format!("({})", clauses.join(" OR "))
}

/// Without posts for promotion only. None if the query is too long.
pub fn parse_query(text: &str) -> Option<Arc<ParsedQuery>> {
    let text = &format!("({text}) -is:nullcast");
    let dialect = QueryDialect::new(QueryProduct::FullArchive, AccessTier::Enterprise);
    query::parse(text, dialect).ok().map(Arc::new)
}

/// Public posts since a time, in no particular order.
pub fn find_public_posts(
    tx: &mut Tx<'_>,
    index: &dyn PostIndexReader,
    query: &Arc<ParsedQuery>,
    since: Time,
) -> Result<Vec<SearchHit>, Error> {
    let request = PostSearchRequest {
        query: Arc::clone(query),
        window: SearchWindow { since_ms: since.ms(), ..SearchWindow::ALL },
        limit: 0,
    };
    collect_hits(tx, index, &request)
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
            ("#हिन्दी", Some("#हिन्दी")),
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
