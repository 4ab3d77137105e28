//! Encryption at rest for secrets that must be readable again. The master key is kept outside the
//! database, and each ciphertext is bound to its table, column and row.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use parking_lot::RwLock;
use sha2::{Digest, Sha256};

use crate::secret::constant_time_eq;
use crate::{Fault, Rng, Secret};

const FORMAT: &str = "locum-key-1";
const KEY_ID_BYTES: usize = 4;
const NONCE_BYTES: usize = 24;

/// The first four bytes of the key's SHA-256.
pub type MasterKeyId = [u8; KEY_ID_BYTES];

#[derive(Clone)]
pub struct MasterKey([u8; 32]);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MasterKeyError {
    #[error("a master key file holds one line: {FORMAT}, the key's id and the key")]
    Format,
    #[error("the key is not 32 bytes in base64url")]
    Bytes,
    /// The id does not belong to the key, so the line is damaged.
    #[error("the key id does not match the key")]
    Id,
}

impl MasterKey {
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub fn generate(rng: &Rng) -> Result<Self, Fault> {
        rng.random_bytes().map(Self)
    }

    /// Parses a key file. Empty lines and lines that start with `#` are ignored.
    pub fn parse(text: &str) -> Result<Self, MasterKeyError> {
        let lines = text.lines().map(str::trim);
        let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let (Some(line), None) = (lines.next(), lines.next()) else {
            return Err(MasterKeyError::Format);
        };
        let mut words = line.split_ascii_whitespace();
        let (Some(FORMAT), Some(id), Some(key), None) = (words.next(), words.next(), words.next(), words.next()) else {
            return Err(MasterKeyError::Format);
        };
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(key);
        let bytes = bytes.ok().and_then(|bytes| bytes.try_into().ok());
        let key = bytes.map(Self).ok_or(MasterKeyError::Bytes)?;
        if constant_time_eq(id.as_bytes(), format_key_id(key.id()).as_bytes()) {
            Ok(key)
        } else {
            Err(MasterKeyError::Id)
        }
    }

    /// The content of a key file.
    pub fn encode(&self) -> Secret {
        let key = BASE64_URL_SAFE_NO_PAD.encode(self.0);
        Secret::new(format!("{FORMAT} {} {key}\n", format_key_id(self.id())))
    }

    pub fn id(&self) -> MasterKeyId {
        let digest: [u8; 32] = Sha256::digest(self.0).into();
        let [a, b, c, d, ..] = digest;
        [a, b, c, d]
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&self.0.into())
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MasterKey({}…)", format_key_id(self.id()))
    }
}

/// The current master key, which encrypts, and older ones, which only decrypt. Clones share their
/// keys, so a rotation takes effect everywhere at once.
#[derive(Clone, Debug)]
pub struct Keyring(Arc<RwLock<MasterKeys>>);

#[derive(Debug)]
struct MasterKeys {
    current: MasterKey,
    old: Vec<MasterKey>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecryptError {
    #[error("the encrypted secret is too short")]
    TooShort,
    #[error("the secret is encrypted with the master key {}, which is not in the keyring", format_key_id(*.0))]
    UnknownKey(MasterKeyId),
    #[error("the encrypted secret was modified or belongs to another location")]
    AuthenticationFailed,
}

impl From<DecryptError> for Fault {
    fn from(cause: DecryptError) -> Self {
        Self::from_cause("failed to decrypt a secret", cause)
    }
}

impl Keyring {
    pub fn new(current: MasterKey, old: Vec<MasterKey>) -> Self {
        Self(Arc::new(RwLock::new(MasterKeys { current, old })))
    }

    /// Encrypts with `next` from now on; the previous key can still decrypt.
    pub fn rotate(&self, next: MasterKey) {
        let mut ring = self.0.write();
        let previous = std::mem::replace(&mut ring.current, next);
        ring.old.push(previous);
    }

    pub fn current_key_id(&self) -> MasterKeyId {
        self.0.read().current.id()
    }

    pub fn old_key_ids(&self) -> Vec<MasterKeyId> {
        self.0.read().old.iter().map(MasterKey::id).collect()
    }

    /// Encrypts `plain` for `location` (`table.column:row id`). The result is key id, nonce,
    /// ciphertext.
    pub fn encrypt(&self, location: &str, plain: &[u8], rng: &Rng) -> Result<Vec<u8>, Fault> {
        let nonce: [u8; NONCE_BYTES] = rng.random_bytes()?;
        let payload = Payload { msg: plain, aad: location.as_bytes() };
        let current = self.0.read().current.clone();
        let ciphertext = current.cipher().encrypt(&XNonce::from(nonce), payload);
        let ciphertext = ciphertext.map_err(|error| Fault::new(format!("failed to encrypt a secret: {error}")))?;
        Ok([&current.id()[..], &nonce[..], &ciphertext[..]].concat())
    }

    pub fn decrypt(&self, location: &str, encrypted: &[u8]) -> Result<Vec<u8>, DecryptError> {
        let (id, rest) = split_prefix::<KEY_ID_BYTES>(encrypted)?;
        let (nonce, ciphertext) = split_prefix::<NONCE_BYTES>(rest)?;
        let ring = self.0.read();
        let mut keys = ring.all_keys().filter(|key| key.id() == id).peekable();
        if keys.peek().is_none() {
            return Err(DecryptError::UnknownKey(id));
        }
        let aad = location.as_bytes();
        keys.find_map(|key| {
            let payload = Payload { msg: ciphertext, aad };
            key.cipher().decrypt(&XNonce::from(nonce), payload).ok()
        })
        .ok_or(DecryptError::AuthenticationFailed)
    }

    pub fn is_encrypted_with_current_key(&self, encrypted: &[u8]) -> bool {
        encrypted.starts_with(&self.current_key_id())
    }
}

impl MasterKeys {
    fn all_keys(&self) -> impl Iterator<Item = &MasterKey> {
        std::iter::once(&self.current).chain(&self.old)
    }
}

fn split_prefix<const N: usize>(bytes: &[u8]) -> Result<([u8; N], &[u8]), DecryptError> {
    let (head, rest) = bytes.split_first_chunk().ok_or(DecryptError::TooShort)?;
    Ok((*head, rest))
}

pub fn format_key_id(id: MasterKeyId) -> String {
    format!("{:08x}", u32::from_be_bytes(id))
}

#[cfg(test)]
mod tests {
    use super::{DecryptError, Keyring, MasterKey, MasterKeyError};
    use crate::Rng;

    const LOCATION: &str = "apps.consumer_secret:17";

    fn key(seed: u64) -> MasterKey {
        MasterKey::generate(&Rng::from_seed(seed)).unwrap()
    }

    fn ring(seed: u64) -> Keyring {
        Keyring::new(key(seed), Vec::new())
    }

    fn encrypted(plain: &[u8]) -> Vec<u8> {
        ring(1).encrypt(LOCATION, plain, &Rng::Os).unwrap()
    }

    #[test]
    fn what_was_sealed_opens() {
        for plain in [&b""[..], b"kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw"] {
            assert_eq!(ring(1).decrypt(LOCATION, &encrypted(plain)).unwrap(), plain);
        }
        assert_ne!(encrypted(b"same"), encrypted(b"same"), "a fresh nonce each time");
    }

    #[test]
    fn another_key_does_not_open() {
        let ciphertext = encrypted(b"secret");
        let refused = ring(2).decrypt(LOCATION, &ciphertext);
        assert_eq!(refused, Err(DecryptError::UnknownKey(key(1).id())));
        // The other key's id on it does not help.
        let mut renamed = ciphertext;
        renamed[..4].copy_from_slice(&key(2).id());
        assert_eq!(ring(2).decrypt(LOCATION, &renamed), Err(DecryptError::AuthenticationFailed));
    }

    #[test]
    fn a_moved_secret_does_not_open() {
        let ciphertext = encrypted(b"secret");
        for location in ["apps.consumer_secret:18", "apps.bearer:17", ""] {
            assert_eq!(ring(1).decrypt(location, &ciphertext), Err(DecryptError::AuthenticationFailed));
        }
    }

    #[test]
    fn any_flipped_bit_is_seen() {
        let ciphertext = encrypted(b"secret");
        for bit in 0..ciphertext.len() * 8 {
            let mut changed = ciphertext.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(ring(1).decrypt(LOCATION, &changed).is_err(), "bit {bit}");
        }
        for length in 0..ciphertext.len() {
            assert!(ring(1).decrypt(LOCATION, &ciphertext[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn an_old_key_still_opens() {
        let ciphertext = encrypted(b"secret");
        let turned = Keyring::new(key(2), vec![key(3), key(1)]);
        assert_eq!(turned.decrypt(LOCATION, &ciphertext).unwrap(), b"secret");
        assert!(ring(1).is_encrypted_with_current_key(&ciphertext));
        assert!(!turned.is_encrypted_with_current_key(&ciphertext));
        let again = turned.encrypt(LOCATION, b"secret", &Rng::Os).unwrap();
        assert!(turned.is_encrypted_with_current_key(&again));
    }

    #[test]
    fn a_ring_is_turned_wherever_it_is_held() {
        let ring = ring(1);
        let held = ring.clone();
        let ciphertext = held.encrypt(LOCATION, b"secret", &Rng::Os).unwrap();
        ring.rotate(key(2));
        assert_eq!((held.current_key_id(), held.old_key_ids()), (key(2).id(), vec![key(1).id()]));
        assert_eq!(held.decrypt(LOCATION, &ciphertext).unwrap(), b"secret");
        assert!(!held.is_encrypted_with_current_key(&ciphertext));
    }

    #[test]
    fn a_key_file_is_read_back() {
        let text = key(1).encode();
        let text = text.expose_secret();
        let commented = format!("# keep apart from the database\n\n  {text}");
        assert_eq!(MasterKey::parse(&commented).unwrap().id(), key(1).id());
        assert_eq!(text.lines().count(), 1);

        let refusal = |text: &str| MasterKey::parse(text).unwrap_err();
        assert_eq!(refusal(""), MasterKeyError::Format);
        assert_eq!(refusal(&format!("{text}{text}")), MasterKeyError::Format);
        assert_eq!(refusal("locum-key-2 00000000 AA"), MasterKeyError::Format);
        assert_eq!(refusal("locum-key-1 00000000 AA"), MasterKeyError::Bytes);
        let zeros = format!("locum-key-1 00000000 {}", "A".repeat(43));
        assert_eq!(refusal(&zeros), MasterKeyError::Id);
    }

    #[test]
    fn a_key_is_not_printed() {
        let text = key(1).encode();
        let secret = text.expose_secret().split(' ').nth(2).unwrap().trim().to_owned();
        let shown = format!("{:?} {:?} {text:?}", key(1), ring(1));
        assert!(!shown.contains(&secret), "{shown}");
        assert!(!shown.contains("[1"), "{shown}");
    }
}
