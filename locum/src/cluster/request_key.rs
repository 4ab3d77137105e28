//! Authenticates requests between nodes with a key that the database holds encrypted with the master key.

use base::secret::{constant_time_eq, hmac_sha256};
use base::{Error, Time};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use store::Store;

use instance::shared_key;

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
    pub(super) fn authorize(&self, recipient: i64, now: Time, body: &[u8]) -> String {
        let digest: [u8; 32] = Sha256::digest(body).into();
        let signature = self.signature(recipient, now.ms(), &digest);
        format!("{SCHEME}{}:{}:{}", now.ms(), HEXLOWER.encode(&digest), HEXLOWER.encode(&signature))
    }

    /// The digest that the body must have, of a request to this node that comes from another one and is not older
    /// than a few seconds.
    pub(super) fn authorized_digest(&self, header: &str, recipient: i64, now: Time) -> Option<BodyDigest> {
        let mut parts = header.strip_prefix(SCHEME)?.splitn(3, ':');
        let at: i64 = parts.next()?.parse().ok()?;
        let digest: [u8; 32] = HEXLOWER.decode(parts.next()?.as_bytes()).ok()?.try_into().ok()?;
        let signature = HEXLOWER.decode(parts.next()?.as_bytes()).ok()?;
        let is_recent = at.abs_diff(now.ms()) <= MAX_AGE_MS.unsigned_abs();
        let is_signed = constant_time_eq(&self.signature(recipient, at, &digest), &signature);
        (is_recent && is_signed).then_some(BodyDigest(digest))
    }

    fn signature(&self, recipient: i64, at_ms: i64, digest: &[u8; 32]) -> [u8; 32] {
        let head = format!("{}\n{recipient}\n{at_ms}\n", super::SEARCH_PATH);
        hmac_sha256(&self.0, &[head.as_bytes(), digest])
    }
}

/// SHA-256; signed apart from the body, so that only bodies of other nodes are read.
pub(super) struct BodyDigest([u8; 32]);

impl BodyDigest {
    pub(super) fn is_of(&self, body: &[u8]) -> bool {
        Sha256::digest(body).as_slice() == self.0
    }
}

#[cfg(test)]
mod tests {
    use base::Time;

    use super::{ClusterKey, MAX_AGE_MS};

    #[test]
    fn only_a_recent_request_to_this_node_with_this_body_and_key_is_authorized() {
        let (key, at) = (ClusterKey([7; 32]), Time::from_ms(1_700_000_000_000));
        let header = key.authorize(5, at, b"body");
        let is_authorized = |header: &str, recipient, at, body: &[u8]| {
            key.authorized_digest(header, recipient, at).is_some_and(|digest| digest.is_of(body))
        };
        assert!(is_authorized(&header, 5, at, b"body"));
        assert!(is_authorized(&header, 5, at.plus_ms(MAX_AGE_MS), b"body"));
        assert!(is_authorized(&header, 5, at.plus_ms(-MAX_AGE_MS), b"body"));
        assert!(!is_authorized(&header, 5, at.plus_ms(MAX_AGE_MS + 1), b"body"));
        assert!(!is_authorized(&header, 6, at, b"body"));
        assert!(!is_authorized(&header, 5, at, b"other"));
        assert!(ClusterKey([8; 32]).authorized_digest(&header, 5, at).is_none());
        for wrong in ["", "Bearer x", "Locum-Node ", "Locum-Node 1:", "Locum-Node 1700000000000:zz:zz"] {
            assert!(!is_authorized(wrong, 5, at, b"body"), "{wrong}");
        }
        let later = header.replace("1700000000000", "1700000000001");
        assert!(!is_authorized(&later, 5, at, b"body"));
        let of_other = key.authorize(5, at, b"other");
        let (signed, other) = (header.rsplit_once(':').unwrap().1, of_other.rsplit_once(':').unwrap().0);
        assert!(!is_authorized(&format!("{other}:{signed}"), 5, at, b"other"));
    }
}
