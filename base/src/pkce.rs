//! Proof Key for Code Exchange (RFC 7636): whoever began an authorization also ends it.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::secret::same;

/// How a challenge follows from its verifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// SHA-256, in base64url without padding.
    S256,
    /// The verifier itself.
    Plain,
}

impl Method {
    /// Reads `code_challenge_method`: released clients send `s256`; absent means plain.
    pub fn parse(name: Option<&str>) -> Option<Self> {
        let name = name.unwrap_or("plain");
        let methods = [Self::S256, Self::Plain];
        methods
            .into_iter()
            .find(|method| method.name().eq_ignore_ascii_case(name))
    }

    /// The registered name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::S256 => "S256",
            Self::Plain => "plain",
        }
    }

    /// The challenge of a verifier.
    pub fn challenge(self, verifier: &str) -> String {
        match self {
            Self::S256 => BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes())),
            Self::Plain => verifier.to_owned(),
        }
    }

    /// Whether a verifier is the one that the challenge was made from.
    pub fn holds(self, challenge: &str, verifier: &str) -> bool {
        let made = self.challenge(verifier);
        is_well_formed(verifier) & same(made.as_bytes(), challenge.as_bytes())
    }
}

/// Whether a text can be a verifier or a challenge: 43 to 128 unreserved characters.
pub fn is_well_formed(text: &str) -> bool {
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    (43..=128).contains(&text.len()) && text.bytes().all(unreserved)
}

#[cfg(test)]
mod tests {
    use super::{Method, is_well_formed};

    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    #[test]
    fn the_published_pair_holds() {
        assert_eq!(Method::S256.challenge(VERIFIER), CHALLENGE);
        assert!(Method::S256.holds(CHALLENGE, VERIFIER));
        assert!(!Method::S256.holds(CHALLENGE, CHALLENGE));
        assert!(!Method::Plain.holds(CHALLENGE, VERIFIER));
        assert!(Method::Plain.holds(VERIFIER, VERIFIER));
        assert!(!Method::S256.holds("", VERIFIER));
    }

    #[test]
    fn method_names_are_read_in_any_case() {
        assert_eq!(Method::parse(Some("s256")), Some(Method::S256));
        assert_eq!(Method::parse(Some("S256")), Some(Method::S256));
        assert_eq!(Method::parse(Some("PLAIN")), Some(Method::Plain));
        assert_eq!(Method::parse(None), Some(Method::Plain));
        assert_eq!(Method::parse(Some("")), None);
        assert_eq!(Method::parse(Some("S512")), None);
    }

    #[test]
    fn a_verifier_has_43_to_128_unreserved_characters() {
        for (text, good) in [
            ("a".repeat(42), false),
            ("a".repeat(43), true),
            ("~".repeat(128), true),
            ("a".repeat(129), false),
            (format!("{}+", "a".repeat(43)), false),
            (format!("{}é", "a".repeat(43)), false),
        ] {
            assert_eq!(is_well_formed(&text), good, "{text}");
            assert_eq!(Method::Plain.holds(&text, &text), good, "{text}");
        }
    }
}
