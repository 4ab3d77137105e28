//! Authenticates requests between nodes with a key that the database holds encrypted with the master key.

use base::{Error, Fault, Time};
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use store::Store;

use crate::instance::shared_key;

/// How old a request may be, or how far ahead the sender's clock; a node whose clock is further off is not ready.
const MAX_AGE_MS: i64 = 5_000;
const SCHEME: &str = "Locum-Node ";

#[derive(Clone)]
pub(crate) struct ClusterKey([u8; 32]);

impl ClusterKey {
    /// Blocks; created by the first node.
    pub(crate) fn load(store: &Store) -> Result<Self, Error> {
        Ok(Self(shared_key(store, "cluster_key")?))
    }

    /// The `Authorization` header of a request to a node with this incarnation.
    pub(super) fn authorize(&self, recipient: i64, now: Time, body: &[u8]) -> Result<String, Fault> {
        let signature = self.signature(recipient, now.ms(), body)?.finalize().into_bytes();
        Ok(format!("{SCHEME}{}:{}", now.ms(), HEXLOWER.encode(&signature)))
    }

    /// Whether a request to this node comes from another one, and is not older than a few seconds.
    pub(super) fn is_authorized(&self, header: &str, recipient: i64, now: Time, body: &[u8]) -> bool {
        let parts = header.strip_prefix(SCHEME).and_then(|rest| rest.split_once(':'));
        let Some((Ok(at), Ok(signature))) =
            parts.map(|(at, signature)| (at.parse::<i64>(), HEXLOWER.decode(signature.as_bytes())))
        else {
            return false;
        };
        let is_recent = at.abs_diff(now.ms()) <= MAX_AGE_MS.unsigned_abs();
        let expected = self.signature(recipient, at, body);
        // Compares in constant time.
        is_recent && expected.is_ok_and(|expected| expected.verify_slice(&signature).is_ok())
    }

    fn signature(&self, recipient: i64, at_ms: i64, body: &[u8]) -> Result<Hmac<Sha256>, Fault> {
        let key = Hmac::<Sha256>::new_from_slice(&self.0);
        let mut mac = key.map_err(Fault::context("reading the key of the nodes"))?;
        mac.update(format!("{}\n{recipient}\n{at_ms}\n", super::SEARCH_PATH).as_bytes());
        mac.update(body);
        Ok(mac)
    }
}

#[cfg(test)]
mod tests {
    use base::Time;

    use super::{ClusterKey, MAX_AGE_MS};

    #[test]
    fn only_a_recent_request_to_this_node_with_this_body_and_key_is_authorized() {
        let (key, at) = (ClusterKey([7; 32]), Time::from_ms(1_700_000_000_000));
        let header = key.authorize(5, at, b"body").unwrap();
        assert!(key.is_authorized(&header, 5, at, b"body"));
        assert!(key.is_authorized(&header, 5, at.plus_ms(MAX_AGE_MS), b"body"));
        assert!(key.is_authorized(&header, 5, at.plus_ms(-MAX_AGE_MS), b"body"));
        assert!(!key.is_authorized(&header, 5, at.plus_ms(MAX_AGE_MS + 1), b"body"));
        assert!(!key.is_authorized(&header, 6, at, b"body"));
        assert!(!key.is_authorized(&header, 5, at, b"other"));
        assert!(!ClusterKey([8; 32]).is_authorized(&header, 5, at, b"body"));
        for wrong in ["", "Bearer x", "Locum-Node ", "Locum-Node 1:", "Locum-Node 1700000000000:zz"] {
            assert!(!key.is_authorized(wrong, 5, at, b"body"), "{wrong}");
        }
        let moved = header.replace("1700000000000", "1700000000001");
        assert!(!key.is_authorized(&moved, 5, at, b"body"));
    }
}
