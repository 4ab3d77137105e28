//! Usernames and display names. Invisible characters are not allowed, because a name that looks
//! like another one is dangerous on a consent page.

/// The maximum number of characters of a display name.
pub const NAME_LENGTH: usize = 50;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameProblem {
    #[error("a name needs at least one character that can be seen")]
    Empty,
    #[error("a name has at most {NAME_LENGTH} characters")]
    TooLong,
    /// A control character, an invisible one, or one that changes the text's direction.
    #[error("a name cannot contain the character U+{:04X}", u32::from(*.0))]
    Character(char),
}

/// `^[A-Za-z0-9_]{1,15}$`.
pub fn is_valid_username(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=15).contains(&text.len()) && text.bytes().all(allowed)
}

pub fn find_name_problem(name: &str) -> Option<NameProblem> {
    if name.chars().nth(NAME_LENGTH).is_some() {
        return Some(NameProblem::TooLong);
    }
    let mut before = None;
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        if !is_allowed(before, letter, letters.peek().copied()) {
            return Some(NameProblem::Character(letter));
        }
        before = Some(letter);
    }
    let blank = name.chars().all(|letter| letter.is_whitespace() || is_joiner(letter));
    blank.then_some(NameProblem::Empty)
}

fn is_allowed(before: Option<char>, letter: char, after: Option<char>) -> bool {
    if letter.is_control() || is_hidden(letter) {
        return false;
    }
    match letter {
        // Joiners belong to emoji and to scripts that use them; between Latin letters they are
        // invisible.
        '\u{200c}' | '\u{200d}' => before.is_some_and(allows_joiner) && after.is_some_and(allows_joiner),
        // Variation selectors change how the sign before them is drawn.
        '\u{fe0e}' | '\u{fe0f}' => before.is_some_and(|before| !before.is_alphabetic()),
        _ => true,
    }
}

/// Scripts and signs beyond Latin, Greek and Cyrillic.
const fn allows_joiner(letter: char) -> bool {
    letter >= '\u{590}' && !is_joiner(letter) || letter == '\u{fe0f}'
}

const fn is_joiner(letter: char) -> bool {
    matches!(letter, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

/// Direction marks, fillers, tags and other invisible characters.
const fn is_hidden(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{fffe}' | '\u{ffff}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::{NameProblem, find_name_problem, is_valid_username};

    #[test]
    fn usernames() {
        for name in ["a", "_", "Jack", "a23456789012345", "0"] {
            assert!(is_valid_username(name), "{name}");
        }
        for name in ["", "a234567890123456", "a b", "a-b", "jаck", "é", "@a", "a\n"] {
            assert!(!is_valid_username(name), "{name}");
        }
    }

    #[test]
    fn names_of_all_peoples_are_fine() {
        for name in [
            "Ana María O’Neil",
            "日本 太郎",
            "محمد",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "Kim 👩‍🚀 🇫🇷 ❤️ 1️⃣ 👍🏽",
            "Ng\u{1ec5}n",
        ] {
            assert_eq!(find_name_problem(name), None, "{name:?}");
        }
        assert_eq!(find_name_problem(&"é".repeat(50)), None);
    }

    #[test]
    fn hidden_characters_are_refused() {
        for hidden in [
            '\0',
            '\n',
            '\u{7f}',
            '\u{85}',
            '\u{ad}',
            '\u{200b}',
            '\u{200c}',
            '\u{200d}',
            '\u{200e}',
            '\u{202e}',
            '\u{2066}',
            '\u{2060}',
            '\u{3164}',
            '\u{feff}',
            '\u{e0041}',
            '\u{fe0f}',
            '\u{2028}',
            '\u{61c}',
        ] {
            let name = format!("Locu{hidden}m");
            let wanted = Some(NameProblem::Character(hidden));
            assert_eq!(find_name_problem(&name), wanted, "{name:?}");
        }
    }

    #[test]
    fn names_have_an_extent() {
        for name in ["", " ", "\u{a0}\u{2003}"] {
            assert_eq!(find_name_problem(name), Some(NameProblem::Empty), "{name:?}");
        }
        let problem = find_name_problem(&"x".repeat(51));
        assert_eq!(problem, Some(NameProblem::TooLong));
        let said = NameProblem::Character('\u{202e}').to_string();
        assert_eq!(said, "a name cannot contain the character U+202E");
    }
}
