//! Strict percent-encoding (RFC 3986) and form encoding.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, utf8_percent_encode};

/// All but `A–Z a–z 0–9 - . _ ~`.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// Characters of a parameter's name that an error repeats.
const MAX_NAME_SHOWN: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PercentDecodeError {
    #[error("a percent sign without two hexadecimal digits{}", parameter_suffix(.0.as_deref()))]
    Escape(Option<String>),
    #[error("bytes that are not UTF-8{}", parameter_suffix(.0.as_deref()))]
    Utf8(Option<String>),
}

impl PercentDecodeError {
    /// The form parameter at fault; its raw name when the name itself cannot be decoded.
    pub fn parameter_name(&self) -> Option<&str> {
        match self {
            Self::Escape(name) | Self::Utf8(name) => name.as_deref(),
        }
    }

    fn name_parameter(self, raw_name: &[u8]) -> Self {
        let name = String::from_utf8_lossy(raw_name);
        let name = Some(name.chars().take(MAX_NAME_SHOWN).collect());
        match self {
            Self::Escape(_) => Self::Escape(name),
            Self::Utf8(_) => Self::Utf8(name),
        }
    }
}

fn parameter_suffix(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!(" in parameter `{name}`"))
}

/// Encodes every byte except `A–Z a–z 0–9 - . _ ~`, with upper-case digits.
pub fn encode(text: &str) -> Cow<'_, str> {
    utf8_percent_encode(text, RESERVED).into()
}

/// Decodes `%XX`; any other character, including `+`, stands for itself.
pub fn decode(text: &str) -> Result<Cow<'_, str>, PercentDecodeError> {
    if text.contains('%') { decode_bytes(text.as_bytes(), false).map(Cow::Owned) } else { Ok(Cow::Borrowed(text)) }
}

/// Parses `a=b&c=d` from a query or a form body: pairs in order, `+` as a space, a missing `=` as
/// an empty value, empty pairs skipped.
pub fn parse_form(raw: impl AsRef<[u8]>) -> Result<Vec<(String, String)>, PercentDecodeError> {
    let pairs = raw.as_ref().split(|byte| *byte == b'&');
    pairs.filter(|pair| !pair.is_empty()).map(parse_pair).collect()
}

/// As [`parse_form`], without the pairs that are malformed.
pub fn parse_form_leniently(raw: &str) -> Vec<(String, String)> {
    let pairs = raw.as_bytes().split(|byte| *byte == b'&');
    pairs.filter(|pair| !pair.is_empty()).filter_map(|pair| parse_pair(pair).ok()).collect()
}

fn parse_pair(raw: &[u8]) -> Result<(String, String), PercentDecodeError> {
    let mut halves = raw.splitn(2, |byte| *byte == b'=');
    let raw_name = halves.next().unwrap_or_default();
    let name = decode_bytes(raw_name, true).map_err(|bad| bad.name_parameter(raw_name))?;
    match decode_bytes(halves.next().unwrap_or_default(), true) {
        Ok(value) => Ok((name, value)),
        Err(bad) => Err(bad.name_parameter(name.as_bytes())),
    }
}

fn decode_bytes(raw: &[u8], plus_is_space: bool) -> Result<String, PercentDecodeError> {
    let mut tails = raw.split(|byte| *byte == b'%').skip(1);
    if !tails.all(|tail| matches!(tail, [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())) {
        return Err(PercentDecodeError::Escape(None));
    }
    let mut bytes = raw.to_vec();
    if plus_is_space {
        bytes.iter_mut().filter(|byte| **byte == b'+').for_each(|byte| *byte = b' ');
    }
    if raw.contains(&b'%') {
        bytes = percent_decode(&bytes).collect();
    }
    String::from_utf8(bytes).map_err(|_| PercentDecodeError::Utf8(None))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{PercentDecodeError, decode, encode, parse_form};

    fn pairs(raw: &str) -> Vec<(String, String)> {
        parse_form(raw).unwrap()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn only_the_unreserved_stay() {
        assert_eq!(encode("azAZ09-._~"), "azAZ09-._~");
        assert_eq!(encode("Ladies + Gentlemen"), "Ladies%20%2B%20Gentlemen");
        assert_eq!(encode("An encoded string!"), "An%20encoded%20string%21");
        assert_eq!(encode("Dogs, Cats & Mice"), "Dogs%2C%20Cats%20%26%20Mice");
        assert_eq!(encode("☃*'()/"), "%E2%98%83%2A%27%28%29%2F");
    }

    #[test]
    fn a_form_keeps_its_order_and_its_repetitions() {
        let read = pairs("b=2&a=1&a=&a&&c=x%3Dy=z&d=1+%2B+2&=v");
        let wanted = [
            pair("b", "2"),
            pair("a", "1"),
            pair("a", ""),
            pair("a", ""),
            pair("c", "x=y=z"),
            pair("d", "1 + 2"),
            pair("", "v"),
        ];
        assert_eq!(read, wanted);
        assert!(pairs("").is_empty());
    }

    #[test]
    fn what_is_not_encoded_is_named() {
        for raw in ["ok=1&text=50%", "text=%4", "text=%zz", "text=%+1"] {
            let bad = parse_form(raw).unwrap_err();
            assert_eq!(bad, PercentDecodeError::Escape(Some("text".to_owned())), "{raw}");
        }
        // A stray continuation, an overlong slash, a lone surrogate, a cut sequence.
        for raw in ["%80", "%C0%AF", "%ED%A0%80", "%E2%98"] {
            let bad = parse_form(format!("text={raw}")).unwrap_err();
            assert_eq!(bad.parameter_name(), Some("text"), "{raw}");
            assert!(matches!(bad, PercentDecodeError::Utf8(_)), "{raw}");
        }
        assert!(parse_form(b"text=\xff").is_err());
        assert_eq!(parse_form("n%zz=1").unwrap_err().parameter_name(), Some("n%zz"));
        let said = parse_form("text=%").unwrap_err().to_string();
        assert!(said.ends_with("in parameter `text`"), "{said}");
    }

    #[test]
    fn a_path_keeps_its_plus() {
        assert_eq!(decode("a+b%2Fc%20d").unwrap(), "a+b/c d");
        assert!(decode("%C0%80").is_err());
    }

    proptest! {
        #[test]
        fn encoding_comes_back(text in any::<String>()) {
            let encoded = encode(&text);
            prop_assert_eq!(decode(&encoded).unwrap(), text.as_str());
        }

        #[test]
        fn no_bytes_panic(raw in any::<Vec<u8>>()) {
            let _read = parse_form(raw);
        }
    }
}
