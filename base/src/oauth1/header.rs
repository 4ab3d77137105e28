//! The `Authorization: OAuth` header: `name="value"` pairs, percent-encoded, between commas.

use super::Unsound;
use super::base_string::Parameters;
use crate::percent;

/// Of the whole header, in bytes.
const LONGEST: usize = 10_240;

/// Whether the scheme is `OAuth`.
pub(super) fn is_oauth(header: &str) -> bool {
    let scheme = header.split_ascii_whitespace().next();
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("OAuth"))
}

/// The header's pairs without `realm`, or `None` when its scheme is another one.
pub(super) fn parse(header: &str) -> Result<Option<Parameters>, Unsound> {
    if !is_oauth(header) {
        return Ok(None);
    }
    if header.len() > LONGEST {
        return Err(Unsound::TooLong);
    }
    let header = header.trim_ascii();
    let (_, mut rest) = header.split_once(is_between).unwrap_or_default();
    let mut parameters = Parameters::new();
    loop {
        rest = rest.trim_start_matches(is_between);
        if rest.is_empty() {
            return Ok(Some(parameters));
        }
        let (name, value, tail) = pair(rest)?;
        if !name.eq_ignore_ascii_case("realm") {
            let (name, value) = (percent::decode(name)?, percent::decode(value)?);
            parameters.push((name.into_owned(), value.into_owned()));
        }
        rest = tail;
    }
}

/// Takes one pair off the front; what is left begins at the next comma.
fn pair(text: &str) -> Result<(&str, &str, &str), Unsound> {
    let (name, rest) = text
        .split_once('=')
        .ok_or(Unsound::Malformed("a name without a value"))?;
    let name = name.trim_ascii_end();
    if name.is_empty() || name.contains([',', '"', ' ']) {
        return Err(Unsound::Malformed("a name without a value"));
    }
    let rest = rest.trim_ascii_start();
    let (value, rest) = if let Some(quoted) = rest.strip_prefix('"') {
        quoted
            .split_once('"')
            .ok_or(Unsound::Malformed("a quote that does not close"))?
    } else {
        let end = rest.find(',').unwrap_or(rest.len());
        let (value, rest) = rest.split_at(end);
        (value.trim_ascii_end(), rest)
    };
    let rest = rest.trim_ascii_start();
    if rest.is_empty() || rest.starts_with(',') {
        Ok((name, value, rest))
    } else {
        Err(Unsound::Malformed("two parameters without a comma"))
    }
}

const fn is_between(letter: char) -> bool {
    letter == ',' || letter.is_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Unsound, parse};

    fn shown(header: &str) -> String {
        let pairs = parse(header).unwrap().expect("the OAuth scheme");
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
            assert_eq!(parse(header), Ok(None), "{header}");
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
            let said = parse(header).unwrap_err().to_string();
            assert!(said.contains(part), "{header}: {said}");
        }
        let long = format!("OAuth a=\"{}\"", "x".repeat(10_240));
        assert_eq!(parse(&long), Err(Unsound::TooLong));
    }

    proptest! {
        #[test]
        fn no_header_panics(tail in r#"[aA=",% é\t%0-9]{0,60}|\PC{0,60}"#) {
            let _read = parse(&format!("OAuth {tail}"));
            let _read = parse(&tail);
        }
    }
}
