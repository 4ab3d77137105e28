//! Click ids (`twclid`): what an ad's landing page gets, so that its site can say which click led to a conversion. One is
//! the id of the impression and a keyed digest of it; nothing is stored.

use base::secret::{constant_time_eq, hmac_sha256};
use data_encoding::HEXLOWER;

/// The name of the parameter in landing URLs.
pub const CLICK_ID_PARAMETER: &str = "twclid";
/// Hexadecimal digits of the id, and of the digest.
const ID_DIGITS: usize = 16;
const DIGEST_DIGITS: usize = 16;

/// The click id of an impression, as [`store::ledger::AdEvent::impression_id`] names it.
pub fn format_click_id(key: &[u8; 32], impression: i64) -> String {
    format!("{:016x}{}", impression.cast_unsigned(), digest(key, impression))
}

/// The impression of a click id; `None` if it was not issued here.
pub fn parse_click_id(key: &[u8; 32], text: &str) -> Option<i64> {
    let text = text.to_ascii_lowercase();
    let (id, sent) = text.split_at_checked(ID_DIGITS)?;
    let impression = u64::from_str_radix(id, 16).ok()?.cast_signed();
    let known = digest(key, impression);
    constant_time_eq(known.as_bytes(), sent.as_bytes()).then_some(impression)
}

fn digest(key: &[u8; 32], impression: i64) -> String {
    let mut digits = HEXLOWER.encode(&hmac_sha256(key, &[b"ads click", &impression.to_be_bytes()]));
    digits.truncate(DIGEST_DIGITS);
    digits
}

/// A landing URL with a click id.
pub fn add_click_id(url: &str, key: &[u8; 32], impression: i64) -> String {
    let (page, fragment) = url.split_once('#').map_or((url, None), |(page, fragment)| (page, Some(fragment)));
    let separator = if page.contains('?') { '&' } else { '?' };
    let fragment = fragment.map(|fragment| format!("#{fragment}")).unwrap_or_default();
    format!("{page}{separator}{CLICK_ID_PARAMETER}={}{fragment}", format_click_id(key, impression))
}

#[cfg(test)]
mod tests {
    use super::{add_click_id, format_click_id, parse_click_id};

    const KEY: [u8; 32] = [7; 32];

    #[test]
    fn click_id_is_read_as_it_was_issued_and_not_otherwise() {
        for impression in [1, 1 << 60, -5, i64::MIN, i64::MAX] {
            let id = format_click_id(&KEY, impression);
            assert_eq!(parse_click_id(&KEY, &id), Some(impression));
            assert_eq!(parse_click_id(&KEY, &id.to_uppercase()), Some(impression));
            assert_eq!(parse_click_id(&[8; 32], &id), None);
        }
        let id = format_click_id(&KEY, 9);
        for text in [
            "",
            "26l6412g5p4iyj65a2oic2ayg2",
            id.trim_end_matches(char::is_alphanumeric),
            &format!("{id}0"),
            "ééééééééééééééééééé",
        ] {
            assert_eq!(parse_click_id(&KEY, text), None, "{text}");
        }
    }

    #[test]
    fn click_id_precedes_the_fragment_of_a_landing_url() {
        let id = format_click_id(&KEY, 9);
        for (url, landing) in [
            ("https://bikes.example/", format!("https://bikes.example/?twclid={id}")),
            ("https://bikes.example/?a=b", format!("https://bikes.example/?a=b&twclid={id}")),
            ("https://bikes.example/#top", format!("https://bikes.example/?twclid={id}#top")),
        ] {
            assert_eq!(add_click_id(url, &KEY, 9), landing);
        }
    }
}
