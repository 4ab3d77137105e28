//! The URLs of a text, also those without a scheme, by the rules of the clients' library
//! (docs/decisions/0015-text-vectors.md).

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memchr;

use super::letters::{count_while, is_direction_mark, is_invalid, is_latin_with_accent, is_punctuation, is_space};

/// UTF-16 units, with the scheme.
const MAX_URL_LENGTH: usize = 4096;
/// Of a domain name.
const MAX_LABEL_LENGTH: usize = 63;
const PUNYCODE: &str = "xn--";
const MAX_TCO_SLUG_LENGTH: usize = 40;
const MAX_TOP_LEVEL_DOMAIN_LENGTH: usize = 18;

static TOP_LEVEL_DOMAINS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("top_level_domains.txt").lines().collect());

/// Ranges of bytes, in text order. Takes time in proportion to the text.
pub(super) fn find_urls(text: &str) -> Vec<Range<usize>> {
    let mut urls = Vec::new();
    if memchr(b'.', text.as_bytes()).is_none() {
        return urls;
    }
    // No name that begins before `barren` ends in a top-level domain; what is before `end` belongs to the last URL.
    let (mut barren, mut end) = (0, 0);
    let mut before = None;
    for (at, letter) in text.char_indices() {
        let may_start = before.is_none() || at > end && before.is_some_and(may_precede_url);
        if may_start && is_domain_letter(letter) && (at >= barren || scheme_length(after(text, at)) > 0) {
            match match_url(text, at) {
                Ok(matched) => {
                    end = matched.end;
                    add_urls(&mut urls, text, &matched, before);
                }
                Err(scanned) => barren = barren.max(scanned),
            }
        }
        before = Some(letter);
    }
    urls
}

/// Places in the text.
struct UrlMatch {
    start: usize,
    /// The start of the URL, unless it has a scheme.
    domain: Range<usize>,
    has_path: bool,
    end: usize,
}

/// What looks like a URL at a place, or the end of the labels that lead to no top-level domain.
fn match_url(text: &str, start: usize) -> Result<UrlMatch, usize> {
    let domain_start = start + scheme_length(after(text, start));
    let domain_end = match_domain(text, domain_start, is_domain_letter)?;
    let port = after(text, domain_end).strip_prefix(':').map_or(0, |port| count_while(port, |c| c.is_ascii_digit()));
    let path_start = domain_end + if port > 0 { 1 + port } else { 0 };
    let path = path_length(after(text, path_start));
    let query_start = path_start + path;
    let end = query_start + query_length(after(text, query_start));
    Ok(UrlMatch { start, domain: domain_start..domain_end, has_path: path > 0, end })
}

fn add_urls(urls: &mut Vec<Range<usize>>, text: &str, matched: &UrlMatch, before: Option<char>) {
    let UrlMatch { start, ref domain, end, .. } = *matched;
    let name = text.get(domain.clone()).unwrap_or_default();
    let scheme_length = if domain.start == start { "https://".len() } else { domain.start - start };
    let length = text.get(start..end).unwrap_or_default().encode_utf16().count();
    if scheme_length + length > MAX_URL_LENGTH || !name.split('.').all(is_valid_label) {
        return;
    }
    if domain.start > start {
        urls.extend(cut_tco_url(name, text, matched).map(|end| start..end));
        return;
    }
    if before.is_some_and(|before| matches!(before, '-' | '_' | '.' | '/')) {
        return;
    }
    // Without a scheme, names of other scripts around a domain are words of the text.
    let from = urls.len();
    let mut at = domain.start;
    let name_end = domain.end;
    let text_of_name = text.get(..name_end).unwrap_or_default();
    while let Some(letter) = after(text_of_name, at).chars().next() {
        if !is_ascii_domain_letter(letter) {
            at += letter.len_utf8();
            continue;
        }
        match match_domain(text_of_name, at, is_ascii_domain_letter) {
            Ok(end) => {
                urls.push(at..end);
                at = end;
            }
            Err(scanned) => at = scanned.max(at + letter.len_utf8()),
        }
    }
    if let Some(last) = urls.get_mut(from..).and_then(<[_]>::last_mut).filter(|_| matched.has_path) {
        last.end = end;
    }
}

/// The end of a URL of the host `t.co`, which is a word and possibly a query, or of another URL as it is.
fn cut_tco_url(host: &str, text: &str, matched: &UrlMatch) -> Option<usize> {
    let slug_start = matched.domain.end + 1;
    let slug = count_while(after(text, slug_start), |c| c.is_ascii_alphanumeric());
    if !host.eq_ignore_ascii_case("t.co") || !after(text, matched.domain.end).starts_with('/') || slug == 0 {
        return Some(matched.end);
    }
    let query_start = slug_start + slug;
    (slug <= MAX_TCO_SLUG_LENGTH).then(|| query_start + query_length(after(text, query_start)))
}

/// The end of the longest domain at a place, or the end of its labels if none of them is a top-level domain.
fn match_domain(text: &str, start: usize, is_letter: fn(char) -> bool) -> Result<usize, usize> {
    let (mut label_start, mut found) = (start, None);
    loop {
        let label_length = count_while(after(text, label_start), |c| is_letter(c) || matches!(c, '-' | '_'));
        let label_end = label_start + label_length;
        let label = text.get(label_start..label_end).unwrap_or_default();
        let is_whole = !label.is_empty() && !label.starts_with(['-', '_']) && !label.ends_with(['-', '_']);
        if !is_whole || !after(text, label_end).starts_with('.') {
            return found.ok_or(label_end);
        }
        label_start = label_end + 1;
        if !label.contains('_') {
            found = top_level_domain_length(after(text, label_start)).map(|length| label_start + length).or(found);
        }
    }
}

/// The length of the longest top-level domain that a text begins with.
fn top_level_domain_length(text: &str) -> Option<usize> {
    if text.get(..PUNYCODE.len()).is_some_and(|prefix| prefix.eq_ignore_ascii_case(PUNYCODE)) {
        let length = count_while(text, |c| c.is_ascii_alphanumeric() || c == '-');
        return (length > PUNYCODE.len()).then_some(length);
    }
    let mut name = String::new();
    let mut found = None;
    for (at, letter) in text.char_indices().take(MAX_TOP_LEVEL_DOMAIN_LENGTH) {
        if !is_domain_letter(letter) {
            break;
        }
        name.extend(letter.to_lowercase());
        let end = at + letter.len_utf8();
        let continues = |next: char| next.is_ascii_alphanumeric() || matches!(next, '@' | '+' | '-');
        if !after(text, end).starts_with(continues) && TOP_LEVEL_DOMAINS.contains(name.as_str()) {
            found = Some(end);
        }
    }
    found
}

fn is_valid_label(label: &str) -> bool {
    // The encoder takes quadratic time.
    if label.chars().nth(MAX_LABEL_LENGTH).is_some() {
        return false;
    }
    if label.is_ascii() {
        return true;
    }
    // An encoded label has no other characters.
    let encoded = idna::punycode::encode_str(label).filter(|_| !label.starts_with(PUNYCODE));
    encoded.is_some_and(|encoded| PUNYCODE.len() + encoded.len() <= MAX_LABEL_LENGTH)
}

fn scheme_length(text: &str) -> usize {
    let starts_with = |scheme: &&str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    ["http://", "https://"].iter().find(|scheme| starts_with(scheme)).map_or(0, |scheme| scheme.len())
}

/// Up to the last character that a path may end with. A parenthesis belongs to it only with its counterpart.
fn path_length(text: &str) -> usize {
    if !text.starts_with('/') {
        return 0;
    }
    let (mut at, mut end) = (1, 1);
    while let Some(letter) = after(text, at).chars().next() {
        let parentheses = balanced_parentheses_length(after(text, at));
        if parentheses > 0 {
            at += parentheses;
            end = at;
        } else if is_path_letter(letter) {
            at += letter.len_utf8();
            if is_last_path_letter(letter) {
                end = at;
            }
        } else {
            break;
        }
    }
    end
}

/// The length of parentheses around letters of a path, at most one pair of them within another; 0 if there are none.
fn balanced_parentheses_length(text: &str) -> usize {
    if !text.starts_with('(') {
        return 0;
    }
    let first = count_while(after(text, 1), is_path_letter);
    let inner_start = 1 + first;
    let inner = after(text, inner_start);
    if first > 0 && inner.starts_with(')') {
        return inner_start + 1;
    }
    let inner_length = if inner.starts_with('(') { count_while(after(inner, 1), is_path_letter) } else { 0 };
    let after_inner = inner_start + 1 + inner_length;
    if inner_length == 0 || !after(text, after_inner).starts_with(')') {
        return 0;
    }
    let last_start = after_inner + 1;
    let end = last_start + count_while(after(text, last_start), is_path_letter);
    if after(text, end).starts_with(')') { end + 1 } else { 0 }
}

/// Up to the last character that a query may end with; 0 without one.
fn query_length(text: &str) -> usize {
    let is_query_letter = |c: char| c.is_ascii_alphanumeric() || "!?*'@();:&=+$/%#[]-_.,~|".contains(c);
    let is_last = |c: char| c.is_ascii_alphanumeric() || "-_&=#/".contains(c);
    let Some(query) = text.strip_prefix('?') else { return 0 };
    let query = query.get(..count_while(query, is_query_letter)).unwrap_or_default();
    query.rfind(is_last).map_or(0, |last| 1 + last + 1)
}

fn may_precede_url(letter: char) -> bool {
    is_direction_mark(letter) || !(letter.is_ascii_alphanumeric() || "@＠$#＃".contains(letter) || is_invalid(letter))
}

fn is_domain_letter(letter: char) -> bool {
    if letter.is_ascii() {
        return letter.is_ascii_alphanumeric() || !(is_punctuation(letter) || is_space(letter));
    }
    !(is_space(letter) || is_invalid(letter) || is_direction_mark(letter))
}

fn is_ascii_domain_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || is_latin_with_accent(letter)
}

fn is_path_letter(letter: char) -> bool {
    is_last_path_letter(letter) || "!*';:,.$%[]–~@|&".contains(letter)
}

fn is_last_path_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric()
        || "+-=_#/".contains(letter)
        || matches!(letter, '\u{400}'..='\u{4ff}')
        || is_latin_with_accent(letter)
}

fn after(text: &str, place: usize) -> &str {
    text.get(place..).unwrap_or_default()
}
