//! Proof Key for Code Exchange (RFC 7636).

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::secret::constant_time_eq;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChallengeMethod {
    /// SHA-256, in base64url without padding.
    S256,
    /// The verifier itself.
    Plain,
}

impl ChallengeMethod {
    /// Parses `code_challenge_method` in any case, as released clients send `s256`; absent means
    /// plain.
    pub fn parse(name: Option<&str>) -> Option<Self> {
        let name = name.unwrap_or("plain");
        let methods = [Self::S256, Self::Plain];
        methods.into_iter().find(|method| method.name().eq_ignore_ascii_case(name))
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::S256 => "S256",
            Self::Plain => "plain",
        }
    }

    pub fn derive_challenge(self, verifier: &str) -> String {
        match self {
            Self::S256 => BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes())),
            Self::Plain => verifier.to_owned(),
        }
    }

    pub fn verify(self, challenge: &str, verifier: &str) -> bool {
        let derived = self.derive_challenge(verifier);
        is_well_formed(verifier) & constant_time_eq(derived.as_bytes(), challenge.as_bytes())
    }
}

/// Whether a text may be a verifier or a plain challenge: up to 128 unreserved characters. RFC 7636 §4.1 wants at least
/// 43, which the public API does not require and libraries do not keep.
pub fn is_well_formed(text: &str) -> bool {
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    (1..=128).contains(&text.len()) && text.bytes().all(unreserved)
}

#[cfg(test)]
mod tests {
    use super::{ChallengeMethod, is_well_formed};

    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    #[test]
    fn the_published_pair_holds() {
        assert_eq!(ChallengeMethod::S256.derive_challenge(VERIFIER), CHALLENGE);
        assert!(ChallengeMethod::S256.verify(CHALLENGE, VERIFIER));
        assert!(!ChallengeMethod::S256.verify(CHALLENGE, CHALLENGE));
        assert!(!ChallengeMethod::Plain.verify(CHALLENGE, VERIFIER));
        assert!(ChallengeMethod::Plain.verify(VERIFIER, VERIFIER));
        assert!(!ChallengeMethod::S256.verify("", VERIFIER));
    }

    #[test]
    fn method_names_are_read_in_any_case() {
        assert_eq!(ChallengeMethod::parse(Some("s256")), Some(ChallengeMethod::S256));
        assert_eq!(ChallengeMethod::parse(Some("S256")), Some(ChallengeMethod::S256));
        assert_eq!(ChallengeMethod::parse(Some("PLAIN")), Some(ChallengeMethod::Plain));
        assert_eq!(ChallengeMethod::parse(None), Some(ChallengeMethod::Plain));
        assert_eq!(ChallengeMethod::parse(Some("")), None);
        assert_eq!(ChallengeMethod::parse(Some("S512")), None);
    }

    #[test]
    fn a_verifier_has_up_to_128_unreserved_characters() {
        for (text, good) in [
            (String::new(), false),
            ("a".to_owned(), true),
            ("~".repeat(128), true),
            ("a".repeat(129), false),
            (format!("{}+", "a".repeat(43)), false),
            (format!("{}é", "a".repeat(43)), false),
        ] {
            assert_eq!(is_well_formed(&text), good, "{text}");
            assert_eq!(ChallengeMethod::Plain.verify(&text, &text), good, "{text}");
        }
    }
}
