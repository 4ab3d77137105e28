//! The `Authorization: OAuth` header: `name="value"` pairs, percent-encoded, between commas.

use super::OAuth1Error;
use super::base_string::Parameters;
use crate::percent;

const MAX_HEADER_BYTES: usize = 10_240;

pub fn is_oauth_scheme(header: &str) -> bool {
    let scheme = header.split_ascii_whitespace().next();
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("OAuth"))
}

/// The header's pairs without `realm`, or `None` for another scheme.
pub fn parse_oauth1_header(header: &str) -> Result<Option<Parameters>, OAuth1Error> {
    if !is_oauth_scheme(header) {
        return Ok(None);
    }
    if header.len() > MAX_HEADER_BYTES {
        return Err(OAuth1Error::TooLong);
    }
    let header = header.trim_ascii();
    let (_, mut rest) = header.split_once(is_separator).unwrap_or_default();
    let mut parameters = Parameters::new();
    loop {
        rest = rest.trim_start_matches(is_separator);
        if rest.is_empty() {
            return Ok(Some(parameters));
        }
        let (name, value, tail) = split_pair(rest)?;
        if !name.eq_ignore_ascii_case("realm") {
            let (name, value) = (percent::decode(name)?, percent::decode(value)?);
            parameters.push((name.into_owned(), value.into_owned()));
        }
        rest = tail;
    }
}

/// Splits one pair off the front; the rest begins at the next comma.
fn split_pair(text: &str) -> Result<(&str, &str, &str), OAuth1Error> {
    let (name, rest) = text.split_once('=').ok_or(OAuth1Error::Malformed("a name without a value"))?;
    let name = name.trim_ascii_end();
    if name.is_empty() || name.contains([',', '"', ' ']) {
        return Err(OAuth1Error::Malformed("a name without a value"));
    }
    let rest = rest.trim_ascii_start();
    let (value, rest) = if let Some(quoted) = rest.strip_prefix('"') {
        quoted.split_once('"').ok_or(OAuth1Error::Malformed("a quote that does not close"))?
    } else {
        let end = rest.find(',').unwrap_or(rest.len());
        let (value, rest) = rest.split_at(end);
        (value.trim_ascii_end(), rest)
    };
    let rest = rest.trim_ascii_start();
    if rest.is_empty() || rest.starts_with(',') {
        Ok((name, value, rest))
    } else {
        Err(OAuth1Error::Malformed("two parameters without a comma"))
    }
}

const fn is_separator(letter: char) -> bool {
    letter == ',' || letter.is_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{OAuth1Error, parse_oauth1_header};

    fn shown(header: &str) -> String {
        let pairs = parse_oauth1_header(header).unwrap().expect("the OAuth scheme");
        let pairs = pairs.iter().map(|(name, value)| format!("{name}→{value}"));
        pairs.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn written_in_many_ways() {
        for header in [
            r#"OAuth realm="x, y",a="1",b="2 %26""#,
            r#"oauth a="1",b="2%20%26""#,
            "  OAUTH\ta = \"1\" ,\r\n  b=\"2%20%26\" , realm=\"\", ",
            "OAuth a=1, b=2%20%26 ,REALM=r",
            r#"OAuth ,,a="1",, ,b="2%20%26""#,
        ] {
            assert_eq!(shown(header), "a→1 b→2 &", "{header}");
        }
        assert_eq!(shown(r#"OAuth a%20b="%2B+",c="""#), "a b→++ c→");
        assert_eq!(shown("OAuth"), "");
    }

    #[test]
    fn another_scheme_is_none_of_ours() {
        for header in ["", "Bearer x", "OAuth2 a=\"1\"", "OAuthx", "Basic OAuth"] {
            assert_eq!(parse_oauth1_header(header), Ok(None), "{header}");
        }
    }

    #[test]
    fn what_is_garbled_is_said() {
        for (header, part) in [
            ("OAuth a", "a name without"),
            (r#"OAuth ="1""#, "a name without"),
            (r#"OAuth a, b="1""#, "a name without"),
            ("OAuth a=\"1", "does not close"),
            (r#"OAuth a="1" b="2""#, "without a comma"),
            (r#"OAuth a="1"2"#, "without a comma"),
            (r#"OAuth a="%""#, "percent sign"),
            (r#"OAuth a="%FF""#, "not UTF-8"),
        ] {
            let said = parse_oauth1_header(header).unwrap_err().to_string();
            assert!(said.contains(part), "{header}: {said}");
        }
        let long = format!("OAuth a=\"{}\"", "x".repeat(10_240));
        assert_eq!(parse_oauth1_header(&long), Err(OAuth1Error::TooLong));
    }

    proptest! {
        #[test]
        fn no_header_panics(tail in r#"[aA=",% é\t%0-9]{0,60}|\PC{0,60}"#) {
            let _read = parse_oauth1_header(&format!("OAuth {tail}"));
            let _read = parse_oauth1_header(&tail);
        }
    }
}
