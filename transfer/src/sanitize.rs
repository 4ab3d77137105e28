//! Makes imported handles and names valid.

use base::Time;
use base::id::{format_base36, snowflake_time};
use base::text::{NAME_LENGTH, NameProblem, find_name_problem};

/// Greater ids contain their time.
const FIRST_SNOWFLAKE: i64 = 29_700_859_247;

/// 1970-01-01 for ids without a time.
pub(crate) fn time_from_id(id: i64) -> Time {
    if id > FIRST_SNOWFLAKE { snowflake_time(id) } else { Time::from_ms(0) }
}

pub(crate) fn valid_json_or_empty(text: &str) -> &str {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(_) => text,
        Err(_) => "",
    }
}

/// Generated handles, best first; each at most 15 characters.
pub(crate) fn fallback_handles(id: i64) -> impl Iterator<Item = String> {
    let digits = format_base36(id);
    ('u'..='z').flat_map(move |first| [format!("{first}{digits}"), format!("{first}{digits}_")])
}

pub(crate) fn is_fallback_handle(username: &str, id: i64) -> bool {
    fallback_handles(id).any(|fallback| fallback == username)
}

/// Removes invalid characters; the handle if nothing is left.
pub(crate) fn sanitize_display_name(name: &str, username: &str) -> String {
    let mut name = name.trim().to_owned();
    for _ in 0..=NAME_LENGTH * 2 {
        match find_name_problem(&name) {
            None => return name,
            Some(NameProblem::TooLong) => {
                let short: String = name.chars().take(NAME_LENGTH).collect();
                short.trim().clone_into(&mut name);
            }
            Some(NameProblem::Character(letter)) => {
                let rest = name.replace(letter, "");
                rest.trim().clone_into(&mut name);
            }
            Some(NameProblem::Empty) => break,
        }
    }
    username.to_owned()
}

#[cfg(test)]
mod tests {
    use base::text::is_valid_username;

    use super::{fallback_handles, is_fallback_handle, sanitize_display_name};

    #[test]
    fn fallback_handles_are_handles() {
        for id in [0, 1, 12, i64::MAX] {
            for handle in fallback_handles(id) {
                assert!(is_valid_username(&handle), "{handle}");
                assert!(is_fallback_handle(&handle, id));
            }
        }
        assert_eq!(fallback_handles(12).next().unwrap(), "uc");
        assert!(!is_fallback_handle("ud", 12));
    }

    #[test]
    fn names_are_made_fit() {
        assert_eq!(sanitize_display_name("Ada 🦀", "ada"), "Ada 🦀");
        assert_eq!(sanitize_display_name("\u{202e} a", "ada"), "a");
        assert_eq!(sanitize_display_name("a\u{202e}b\u{0}c", "ada"), "abc");
        assert_eq!(sanitize_display_name(" \u{200b} ", "ada"), "ada");
        assert_eq!(sanitize_display_name(&"x".repeat(80), "ada"), "x".repeat(50));
    }
}
