//! Words, link hosts and email domains that the site refuses, or holds for a moderator.

use std::borrow::Cow;

use base::text::{self, contains_phrase, is_word_char, split_words};
use base::{Error, Fault, Refusal};
use query::words::is_unspaced;
use serde_json::{Value, json};
use store::Tx;
use store::site_settings::{self, BlockedTerm, BlockedTermKind};
use unicode_security::confusable_detection::skeleton;

use crate::audit::{self, AuditAction, AuditActor};
use crate::user_roles::{self, UserRole};

pub use store::site_settings::{BlockedTerm as Term, BlockedTermKind as TermKind};

/// Of all kinds together.
pub const MAX_TERMS: i64 = 1_000;
/// Characters.
const MAX_TERM_LENGTH: usize = 100;

/// Every kind by its name.
pub const KIND_NAMES: [(BlockedTermKind, &str); 3] = [
    (BlockedTermKind::Word, "word"),
    (BlockedTermKind::LinkHost, "link-host"),
    (BlockedTermKind::EmailDomain, "email-domain"),
];

pub fn kind_name(kind: BlockedTermKind) -> &'static str {
    KIND_NAMES.iter().find(|(known, _)| *known == kind).map_or("", |(_, name)| name)
}

pub fn parse_kind(text: &str) -> Result<BlockedTermKind, Refusal> {
    let found = KIND_NAMES.iter().find(|(_, name)| *name == text).map(|(kind, _)| *kind);
    found.ok_or_else(|| Refusal::invalid_value("kind", text))
}

fn normalize(kind: BlockedTermKind, term: &str) -> Result<String, Refusal> {
    let term = text::normalize(term.trim()).to_lowercase();
    let length = term.chars().count();
    let is_host = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let is_valid = (1..=MAX_TERM_LENGTH).contains(&length)
        && !visible_text(&term).is_empty()
        && !term.chars().any(char::is_control)
        && (kind == BlockedTermKind::Word || term.chars().all(is_host));
    if is_valid {
        return Ok(term);
    }
    let message = match kind {
        BlockedTermKind::Word => format!("A word or phrase has 1 to {MAX_TERM_LENGTH} characters"),
        _ => "A host has letters, digits, hyphens and dots only, such as [spam.example]".to_owned(),
    };
    Err(Refusal::invalid_parameter("term", &term, message))
}

/// Blocks a term, or changes whether it is held. Needs the role of an admin.
pub fn set(
    tx: &mut Tx<'_>,
    actor: &AuditActor,
    kind: BlockedTermKind,
    term: &str,
    hold: bool,
) -> Result<BlockedTerm, Error> {
    user_roles::require_role(tx, actor, UserRole::Admin)?;
    let term = BlockedTerm { kind, term: normalize(kind, term)?, hold };
    if site_settings::count_terms(tx)? >= MAX_TERMS {
        return Err(Refusal::forbidden(format!("At most {MAX_TERMS} terms can be blocked.")).into());
    }
    site_settings::set_term(tx, &term)?;
    record(tx, actor, &term, true)?;
    Ok(term)
}

/// Needs the role of an admin.
pub fn delete(tx: &mut Tx<'_>, actor: &AuditActor, kind: BlockedTermKind, term: &str) -> Result<(), Error> {
    user_roles::require_role(tx, actor, UserRole::Admin)?;
    let term = normalize(kind, term)?;
    if !site_settings::delete_term(tx, kind, &term)? {
        return Err(crate::lookup::not_found("term", &term));
    }
    Ok(record(tx, actor, &BlockedTerm { kind, term, hold: false }, false)?)
}

fn record(tx: &mut Tx<'_>, actor: &AuditActor, term: &BlockedTerm, blocked: bool) -> Result<(), Fault> {
    let detail = json!({ "kind": kind_name(term.kind), "term": term.term, "blocked": blocked, "hold": term.hold });
    audit::append(tx, actor, AuditAction::SITE_UPDATE, None, &detail)
}

pub fn list(tx: &mut Tx<'_>) -> Result<Vec<BlockedTerm>, Fault> {
    site_settings::list_terms(tx, MAX_TERMS)
}

/// Announces that a text will be checked, so that the terms are asked for together with what follows.
pub(crate) fn prefetch(tx: &mut Tx<'_>) -> Result<(), Fault> {
    site_settings::prefetch_terms(tx, MAX_TERMS)
}

/// The term because of which a moderator has to read a text. Refused for others. `entities` are those of the text as in
/// the API (JSON), or empty.
pub fn check_text(tx: &mut Tx<'_>, what: &str, text: &str, entities: &str) -> Result<Option<String>, Error> {
    match find_in_text(tx, text, entities)? {
        None => Ok(None),
        Some(term) if term.hold => Ok(Some(term.term)),
        Some(_) => {
            let detail = format!("This {what} contains a word or a link that is not allowed here.");
            Err(Refusal::forbidden(detail).into())
        }
    }
}

/// The blocked term in a text or its links: the first that is refused, otherwise one that is held.
fn find_in_text(tx: &mut Tx<'_>, text: &str, entities: &str) -> Result<Option<BlockedTerm>, Fault> {
    let terms = list(tx)?;
    if terms.is_empty() {
        return Ok(None);
    }
    let (text, entities) = (SearchedText::new(text), remove_invisible(entities));
    let hosts = link_hosts(&text.visible, &entities);
    let mut found: Vec<BlockedTerm> = terms
        .into_iter()
        .filter(|term| match term.kind {
            BlockedTermKind::Word => text.contains(&term.term),
            BlockedTermKind::LinkHost => hosts.iter().any(|host| is_within_domain(host, &term.term)),
            BlockedTermKind::EmailDomain => false,
        })
        .collect();
    found.sort_by_key(|term| term.hold);
    Ok(found.into_iter().next())
}

/// A text in lower case, as it was written and as it is seen. An invisible character may be within a word or between two.
struct SearchedText {
    written_words: String,
    visible: String,
    visible_words: String,
}

impl SearchedText {
    fn new(text: &str) -> Self {
        let written = text::normalize(text).to_lowercase();
        let visible = visible_text(text);
        Self { written_words: join_words(&written), visible_words: join_words(&visible), visible }
    }

    /// Whether a phrase is in the text, or its words in the words of the text. A phrase such as `c++` is more than its words.
    fn contains(&self, phrase: &str) -> bool {
        let phrase = &*visible_text(phrase);
        if phrase.is_empty() {
            return false;
        }
        let is_words = phrase.starts_with(is_word_char) && phrase.ends_with(is_word_char);
        // In scripts without spaces, a phrase may be anywhere.
        let is_spaced = |c: char| is_word_char(c) && !is_unspaced(c);
        let is_in = |text: &str, phrase: &str| contains_phrase(text, phrase, is_spaced);
        let words = join_words(phrase);
        is_in(&self.visible, phrase)
            || is_words && (is_in(&self.visible_words, &words) || is_in(&self.written_words, &words))
    }
}

/// In lower case, without what is not seen or only decorates.
fn visible_text(text: &str) -> String {
    text::remove_decoration(&remove_invisible(text).to_lowercase())
}

/// Without the characters that have Unicode's property `Default_Ignorable_Code_Point`, of which nothing is seen: those
/// that have no skeleton (UTS #39).
fn remove_invisible(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let is_visible = |c: &char| c.is_ascii() || skeleton(c.encode_utf8(&mut [0; 4])).next().is_some();
    Cow::Owned(text.chars().filter(is_visible).collect())
}

/// The words of a text with one space between them, whatever is between them in the text.
fn join_words(text: &str) -> String {
    split_words(text).collect::<Vec<_>>().join(" ")
}

/// The blocked term that an email address is at.
pub fn find_email_domain(tx: &mut Tx<'_>, email: &str) -> Result<Option<BlockedTerm>, Fault> {
    let domain = email.rsplit_once('@').map_or("", |(_, domain)| domain).to_lowercase();
    let terms = site_settings::list_terms_of_kind(tx, BlockedTermKind::EmailDomain, MAX_TERMS)?;
    Ok(terms.into_iter().find(|term| is_within_domain(&domain, &term.term)))
}

fn is_within_domain(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Also those of links that are not shown as such, because their domain is unknown.
fn link_hosts(text: &str, entities: &str) -> Vec<String> {
    let parsed: Value = serde_json::from_str(entities).unwrap_or_default();
    let urls = parsed.get("urls").and_then(Value::as_array).into_iter().flatten();
    let hosts = urls.filter_map(|url| host_of(url.get("expanded_url").or_else(|| url.get("url"))?.as_str()?));
    let in_text = text.split("://").skip(1).filter_map(|rest| host_of(rest.split_whitespace().next()?));
    hosts.chain(in_text).collect()
}

fn host_of(url: &str) -> Option<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    Some(host.split(':').next()?.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::{SearchedText, host_of, is_within_domain, remove_invisible};

    #[test]
    fn phrase_is_found_whatever_separates_its_words() {
        let contains = |text: &str, phrase: &str| SearchedText::new(text).contains(phrase);
        for text in
            ["cheap pills", "so cheap  pills!", "cheap\n\tpills", "cheap-pills", "cheap... pills", "_cheap_pills_"]
        {
            assert!(contains(text, "cheap pills") && contains(text, "cheap-pills"), "{text}");
        }
        for text in ["cheap pillsbury", "cheappills", "cheap good pills", "pills cheap"] {
            assert!(!contains(text, "cheap pills"), "{text}");
        }
        for text in ["明日は東京に行く", "東京", "オンライン東京カジノ"] {
            assert!(contains(text, "東京"), "{text}");
        }
        assert!(contains("कम-दाम", "कम") && !contains("कम्प्यूटर", "कम"));
        assert!(contains("c\u{336}heap\u{489} pills\u{951}", "cheap pills") && contains("İstanbul", "istanbul"));
        assert!(!contains("café", "cafe") && !contains("cafe\u{301}", "cafe"));
        assert!(contains("c++ for all", "c++") && !contains("c for all", "c++") && contains("so $$$", "$$$"));
    }

    #[test]
    fn invisible_characters_hide_no_phrase_and_are_no_phrase() {
        let contains = |text: &str, phrase: &str| SearchedText::new(text).contains(phrase);
        for text in ["ch\u{ad}eap pi\u{200b}lls", "cheap\u{200b}pills", "cheap\u{2060} \u{feff}pills\u{200d}"] {
            assert!(contains(text, "cheap pills") && contains(text, "cheap p\u{200c}ills"), "{text:?}");
        }
        assert!(contains("I \u{2764}\u{fe0f} it", "\u{2764}") && contains("I \u{2764} it", "\u{2764}\u{fe0f}"));
        assert!(!contains("cheap", "\u{200b}") && !contains("c\u{200b}heaper", "cheap"));
        assert_eq!(remove_invisible("\u{200e}\u{2066}a\u{34f}b\u{e0061}é\u{115f}カ한"), "abéカ한");
    }

    #[test]
    fn domain_includes_its_subdomains_and_nothing_else() {
        assert!(is_within_domain("spam.example", "spam.example") && is_within_domain("a.spam.example", "spam.example"));
        assert!(!is_within_domain("notspam.example", "spam.example"));
    }

    #[test]
    fn host_is_read_from_any_url() {
        for url in ["https://Spam.example/x?y#z", "http://u@spam.example:8080", "spam.example"] {
            assert_eq!(host_of(url).as_deref(), Some("spam.example"), "{url}");
        }
    }
}
