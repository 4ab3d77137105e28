//! Opaque page cursors: encrypted, authenticated, and bound to the list that issued them.

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{ChaCha20Poly1305, KeyInit, Nonce};
use data_encoding::BASE32HEX_NOPAD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::Fault;

const NONCE_LENGTH: usize = 12;

/// Encodes positions in a list as text that clients can neither read nor change. Equal positions
/// give equal cursors: the nonce is derived from scope and position, so that it repeats only for
/// the same plain text.
#[derive(Clone)]
pub struct CursorCodec {
    cipher: ChaCha20Poly1305,
    nonces: Hmac<Sha256>,
}

impl CursorCodec {
    /// All nodes of a network share the key; two further keys are derived from it.
    pub fn new(key: &[u8; 32]) -> Result<Self, Fault> {
        let derive = |purpose: &[u8]| -> Result<[u8; 32], Fault> {
            let mut mac = new_hmac(key)?;
            mac.update(purpose);
            Ok(mac.finalize().into_bytes().into())
        };
        Ok(Self {
            cipher: ChaCha20Poly1305::new(&derive(b"cursor encryption")?.into()),
            nonces: new_hmac(&derive(b"cursor nonce")?)?,
        })
    }

    /// A cursor of lowercase letters and digits, 45 characters and 8 for every 5 bytes of
    /// `position`. `scope` is whatever the cursor must not be used outside of: operation, filters,
    /// viewer.
    pub fn encode(&self, scope: &[u8], position: &[u8]) -> String {
        let nonce = self.derive_nonce(scope, position);
        let payload = Payload { msg: position, aad: scope };
        // Encryption fails only beyond 256 GiB; a cursor without its position would be refused.
        let sealed = self.cipher.encrypt(&Nonce::from(nonce), payload).unwrap_or_default();
        let mut text = BASE32HEX_NOPAD.encode(&[&nonce[..], &sealed].concat());
        text.make_ascii_lowercase();
        text
    }

    /// The position, if the cursor was issued for this scope with this key.
    pub fn decode(&self, scope: &[u8], cursor: &str) -> Option<Vec<u8>> {
        if cursor.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return None;
        }
        let bytes = BASE32HEX_NOPAD.decode(cursor.to_ascii_uppercase().as_bytes()).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_LENGTH>()?;
        let payload = Payload { msg: sealed, aad: scope };
        self.cipher.decrypt(&Nonce::from(*nonce), payload).ok()
    }

    fn derive_nonce(&self, scope: &[u8], position: &[u8]) -> [u8; NONCE_LENGTH] {
        let mut mac = self.nonces.clone();
        // The length keeps `ab, c` apart from `a, bc`.
        mac.update(&scope.len().to_be_bytes());
        mac.update(scope);
        mac.update(position);
        let tag: [u8; 32] = mac.finalize().into_bytes().into();
        tag.first_chunk().copied().unwrap_or_default()
    }
}

fn new_hmac(key: &[u8; 32]) -> Result<Hmac<Sha256>, Fault> {
    Hmac::<Sha256>::new_from_slice(key).map_err(Fault::context("deriving the keys of page cursors"))
}

#[cfg(test)]
mod tests {
    use super::CursorCodec;

    fn codec() -> CursorCodec {
        CursorCodec::new(&[7; 32]).unwrap()
    }

    #[test]
    fn a_cursor_decodes_to_its_position_in_its_own_scope_only() {
        for length in 0..40_u8 {
            let position: Vec<u8> = (0..length).map(|n| n.wrapping_mul(37) ^ 0x5a).collect();
            let cursor = codec().encode(b"followers of 12", &position);
            assert!(cursor.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'v').contains(&b)));
            assert_eq!(codec().encode(b"followers of 12", &position), cursor);
            assert_eq!(codec().decode(b"followers of 12", &cursor), Some(position));
            assert_eq!(codec().decode(b"followers of 13", &cursor), None);
            assert_eq!(CursorCodec::new(&[8; 32]).unwrap().decode(b"followers of 12", &cursor), None);
        }
    }

    #[test]
    fn a_changed_or_shortened_cursor_is_refused() {
        let cursor = codec().encode(b"scope", &5_i64.to_be_bytes());
        for place in 0..cursor.len() {
            for letter in "0a9v".chars() {
                let mut other = cursor.clone();
                other.replace_range(place..=place, &letter.to_string());
                assert_eq!(codec().decode(b"scope", &other).is_some(), other == cursor, "{other}");
            }
            assert_eq!(codec().decode(b"scope", cursor.get(..place).unwrap()), None);
        }
        for text in ["", "x", "AAAA", "é", &cursor.to_ascii_uppercase()] {
            assert_eq!(codec().decode(b"scope", text), None);
        }
    }
}
