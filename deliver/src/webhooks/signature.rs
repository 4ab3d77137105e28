//! Webhook signatures.

use base::Secret;
use base::secret::hmac_sha256;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// The header that contains the signature.
pub const SIGNATURE_HEADER: &str = "x-twitter-webhooks-signature";
pub const EVENT_ID_HEADER: &str = "webhook-id";
pub const ATTEMPT_HEADER: &str = "webhook-attempt";
pub const REPLAY_HEADER: &str = "webhook-replay-id";

/// Returns `sha256=` and the base64 of HMAC-SHA256 over the bytes with an app's consumer secret: the signature
/// of a delivery, and the response to a challenge.
pub fn sign(secret: &Secret, bytes: &[u8]) -> String {
    let code = hmac_sha256(secret.expose_secret().as_bytes(), &[bytes]);
    format!("sha256={}", BASE64_STANDARD.encode(code))
}

#[cfg(test)]
mod tests {
    use base::Secret;

    use super::sign;

    /// The published test vectors (contract core §10.1).
    #[test]
    fn signatures_are_those_of_the_contract() {
        let secret = Secret::new("test-consumer-secret");
        let expected = "sha256=wbxoN8scmhw5dqzftzpj6g3uAnVpSktqxDDUHYNfIqA=";
        assert_eq!(sign(&secret, b"challenge_string"), expected);
        let expected = "sha256=9w8aLiVwL38/RQT2UpgtZWWEeF/QIT5N9L+6p4DQweA=";
        assert_eq!(sign(&secret, br#"{"for_user_id":"1"}"#), expected);
    }
}
