//! The text of posts and names: weight, entities, language and allowed characters.

mod annotations;
mod entities;
mod language;
mod names;
pub mod people;
mod scan;
mod weight;

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, is_nfc};

pub use annotations::{FoundName, NameMatcher};
pub use entities::{Entities, Entity, extract_entities};
pub use language::{identify_language, identify_post_language};
pub use names::{NAME_LENGTH, NameProblem, find_name_problem, is_valid_username};
pub use weight::{MAX_POST_WEIGHT, TextWeight, URL_WEIGHT, truncate_with_ellipsis, weigh_text};

/// Unicode's composed form (NFC), in which text is stored and measured.
pub fn normalize(text: &str) -> Cow<'_, str> {
    if is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

/// Escapes `&`, `<` and `>`, as the API sends them.
pub fn escape_html(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>']) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            other => escaped.push(other),
        }
    }
    Cow::Owned(escaped)
}

/// The inverse of [`escape_html`]; no other reference is replaced.
pub fn unescape_html(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    // `&` comes last: `&amp;lt;` is the text `&lt;`.
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    Cow::Owned(text.replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{escape_html, normalize, unescape_html};

    #[test]
    fn three_characters_are_escaped() {
        assert_eq!(escape_html("a < b && c > \"d\""), "a &lt; b &amp;&amp; c &gt; \"d\"");
        assert_eq!(unescape_html("&lt;b&gt; &amp;lt; &quot;"), "<b> &lt; &quot;");
        assert_eq!(escape_html("&amp;"), "&amp;amp;");
    }

    #[test]
    fn one_letter_has_one_form() {
        assert_eq!(normalize("cafe\u{301}"), "café");
        assert_eq!(normalize("Å"), "Å");
    }

    proptest! {
        #[test]
        fn escaping_comes_back(text in any::<String>()) {
            let escaped = escape_html(&text);
            prop_assert_eq!(unescape_html(&escaped), text.as_str());
        }
    }
}
