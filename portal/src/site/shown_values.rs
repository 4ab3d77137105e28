//! What a form was shown with, so that saving it leaves alone what somebody else has changed since.

use base::secret::digest;

/// The hidden field that has it.
pub const SHOWN_FIELD: &str = "shown";

/// Digests of the values by field. Line breaks count as LF.
pub fn encode_shown_values<'v>(values: impl IntoIterator<Item = (&'v str, &'v str)>) -> String {
    let all = values.into_iter().map(|(name, value)| format!("{name}:{}", digest_value(value)));
    all.collect::<Vec<_>>().join(" ")
}

/// Whether a field has another value than it was shown with; none if `shown` does not say.
pub fn differs_from_shown(shown: &str, name: &str, value: &str) -> Option<bool> {
    let mut all = shown.split(' ').filter_map(|one| one.split_once(':'));
    all.find(|(known, _)| *known == name).map(|(_, shown)| shown != digest_value(value))
}

fn digest_value(value: &str) -> String {
    let digest = digest(&value.replace("\r\n", "\n"));
    digest.first_chunk().map_or_else(String::new, |start| format!("{:016x}", u64::from_be_bytes(*start)))
}

#[cfg(test)]
mod tests {
    use super::{differs_from_shown, encode_shown_values};

    #[test]
    fn value_differs_if_it_is_not_the_one_that_was_shown() {
        let shown = encode_shown_values([("name", "Spring"), ("text", "a\nb")]);
        assert_eq!(differs_from_shown(&shown, "name", "Spring"), Some(false));
        assert_eq!(differs_from_shown(&shown, "name", "Summer"), Some(true));
        assert_eq!(differs_from_shown(&shown, "text", "a\r\nb"), Some(false));
        assert_eq!(differs_from_shown(&shown, "budget", ""), None);
        assert_eq!(differs_from_shown("", "name", ""), None);
    }
}
