//! Keywords as advertisers write them, in the query language: one word, several as a phrase, a
//! `#tag`, an `@name`, a `$SYMBOL` or an emoji, found as recent search finds them.

use std::sync::Arc;

use ::search::{Hit, Snapshot, Window};
use base::{Stop, Time};
use query::words::words;
use query::{Dialect, Field, Level, Product, Query, Reading};
use store::Tx;

use crate::search::{Asked, hits};

/// Whether a keyword says anything that a post could hold.
pub fn is_sound(keyword: &str) -> bool {
    clause(keyword).is_some()
}

/// A keyword as a clause of a query; none when it holds no word.
pub fn clause(keyword: &str) -> Option<String> {
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
    phrase(text)
}

/// Words one after the other.
pub fn phrase(text: &str) -> Option<String> {
    let quotes = |letter: char| matches!(letter, '"' | '\\') || letter.is_control();
    let plain = text.replace(quotes, " ");
    let sound = !words(Field::Text, &plain, Reading::Search).is_empty();
    sound.then(|| format!("\"{plain}\""))
}

/// Any of some clauses.
pub fn any(clauses: &[String]) -> String {
    format!("({})", clauses.join(" OR "))
}

/// A query made of clauses; none when it cannot be asked, for being too long.
pub fn query(text: &str) -> Option<Arc<Query>> {
    let dialect = Dialect::new(Product::FullArchive, Level::Enterprise);
    query::parse(text, dialect).ok().map(Arc::new)
}

/// The public posts since a time that a query finds, in no particular order.
pub fn posts(
    tx: &mut Tx<'_>,
    snapshot: &Snapshot,
    query: &Arc<Query>,
    since: Time,
) -> Result<Vec<Hit>, Stop> {
    let asked = Asked {
        query: Arc::clone(query),
        window: Window {
            since: since.ms(),
            ..Window::ALL
        },
        limit: 0,
    };
    hits(tx, snapshot, &asked)
}

#[cfg(test)]
mod tests {
    use super::{any, clause, query};

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
            assert_eq!(clause(keyword).as_deref(), wanted, "{keyword}");
            if let Some(clause) = clause(keyword) {
                let text = any(&[clause.clone(), clause]);
                assert!(query(&text).is_some(), "{text}");
            }
        }
    }
}
