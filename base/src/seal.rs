//! Secrets that must be read again, at rest: sealed with a master key that lives outside the
//! database, and bound to the place where they are stored.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use parking_lot::RwLock;
use sha2::{Digest, Sha256};

use crate::secret::same;
use crate::{Chance, Fault, Secret};

const FORMAT: &str = "locum-key-1";
const KEY_ID: usize = 4;
const NONCE: usize = 24;

/// Names a master key without giving it away: the first bytes of its SHA-256.
pub type KeyId = [u8; KEY_ID];

/// Thirty-two bytes that open everything.
#[derive(Clone)]
pub struct MasterKey([u8; 32]);

/// A text that is not a master key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAKey {
    /// Not one line of `locum-key-1 <id> <key>`.
    #[error("a master key file holds one line: {FORMAT}, the key's id and the key")]
    Format,
    /// The key is not 32 bytes in base64url.
    #[error("the key is not 32 bytes in base64url")]
    Bytes,
    /// The id belongs to another key: the line is damaged.
    #[error("the key does not have the id that stands before it")]
    Id,
}

impl MasterKey {
    /// A new key.
    pub fn new(chance: &Chance) -> Result<Self, Fault> {
        chance.bytes().map(Self)
    }

    /// Reads a key file. Lines that are empty or begin with `#` do not count.
    pub fn parse(text: &str) -> Result<Self, NotAKey> {
        let lines = text.lines().map(str::trim);
        let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let (Some(line), None) = (lines.next(), lines.next()) else {
            return Err(NotAKey::Format);
        };
        let mut words = line.split_ascii_whitespace();
        let (Some(FORMAT), Some(id), Some(key), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(NotAKey::Format);
        };
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(key);
        let bytes = bytes.ok().and_then(|bytes| bytes.try_into().ok());
        let key = bytes.map(Self).ok_or(NotAKey::Bytes)?;
        if same(id.as_bytes(), hex(key.id()).as_bytes()) {
            Ok(key)
        } else {
            Err(NotAKey::Id)
        }
    }

    /// The line that a key file holds.
    pub fn encode(&self) -> Secret {
        let key = BASE64_URL_SAFE_NO_PAD.encode(self.0);
        Secret::new(format!("{FORMAT} {} {key}\n", hex(self.id())))
    }

    /// The key's short name.
    pub fn id(&self) -> KeyId {
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
        write!(f, "MasterKey({}…)", hex(self.id()))
    }
}

/// The key that seals and those that still open what was sealed before. Clones share one ring, so
/// that a new key is everywhere at once.
#[derive(Clone, Debug)]
pub struct Keyring(Arc<RwLock<Ring>>);

#[derive(Debug)]
struct Ring {
    current: MasterKey,
    old: Vec<MasterKey>,
}

/// Why a sealed secret stays shut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotOpen {
    /// Too short to have been sealed.
    #[error("too short to be a sealed secret")]
    Short,
    /// Sealed with a key that is not on the ring.
    #[error("sealed with the master key {}, which is not on the ring", hex(*.0))]
    UnknownKey(KeyId),
    /// Changed since it was sealed, or moved from another place.
    #[error("changed since it was sealed, or moved from another place")]
    Forged,
}

impl From<CannotOpen> for Fault {
    fn from(cause: CannotOpen) -> Self {
        Self::caused("open a sealed secret", cause)
    }
}

impl Keyring {
    /// A ring of the key that seals and older ones that only open.
    pub fn new(current: MasterKey, old: Vec<MasterKey>) -> Self {
        Self(Arc::new(RwLock::new(Ring { current, old })))
    }

    /// Seals with another key from now on; the one before still opens.
    pub fn turn(&self, next: MasterKey) {
        let mut ring = self.0.write();
        let before = std::mem::replace(&mut ring.current, next);
        ring.old.push(before);
    }

    /// The short name of the key that seals.
    pub fn current(&self) -> KeyId {
        self.0.read().current.id()
    }

    /// The short names of those that only open.
    pub fn old(&self) -> Vec<KeyId> {
        self.0.read().old.iter().map(MasterKey::id).collect()
    }

    /// Seals a secret for its place, `table.column:row id`: key id, nonce, ciphertext.
    pub fn seal(&self, place: &str, plain: &[u8], chance: &Chance) -> Result<Vec<u8>, Fault> {
        let nonce: [u8; NONCE] = chance.bytes()?;
        let payload = Payload {
            msg: plain,
            aad: place.as_bytes(),
        };
        let current = self.0.read().current.clone();
        let shut = current.cipher().encrypt(&XNonce::from(nonce), payload);
        let shut = shut.map_err(|error| Fault::new(format!("seal a secret: {error}")))?;
        Ok([&current.id()[..], &nonce[..], &shut[..]].concat())
    }

    /// Opens what was sealed for this same place, with whichever key it was sealed.
    pub fn open(&self, place: &str, sealed: &[u8]) -> Result<Vec<u8>, CannotOpen> {
        let (id, rest) = split::<KEY_ID>(sealed)?;
        let (nonce, shut) = split::<NONCE>(rest)?;
        let ring = self.0.read();
        let mut keys = ring.keys().filter(|key| key.id() == id).peekable();
        if keys.peek().is_none() {
            return Err(CannotOpen::UnknownKey(id));
        }
        let aad = place.as_bytes();
        keys.find_map(|key| {
            let payload = Payload { msg: shut, aad };
            key.cipher().decrypt(&XNonce::from(nonce), payload).ok()
        })
        .ok_or(CannotOpen::Forged)
    }

    /// Whether a sealed secret needs no new seal after the keys were changed.
    pub fn sealed_with_current(&self, sealed: &[u8]) -> bool {
        sealed.starts_with(&self.current())
    }
}

impl Ring {
    fn keys(&self) -> impl Iterator<Item = &MasterKey> {
        std::iter::once(&self.current).chain(&self.old)
    }
}

fn split<const N: usize>(bytes: &[u8]) -> Result<([u8; N], &[u8]), CannotOpen> {
    let (head, rest) = bytes.split_first_chunk().ok_or(CannotOpen::Short)?;
    Ok((*head, rest))
}

/// A key's short name as it is written.
pub fn hex(id: KeyId) -> String {
    format!("{:08x}", u32::from_be_bytes(id))
}

#[cfg(test)]
mod tests {
    use super::{CannotOpen, Keyring, MasterKey, NotAKey};
    use crate::Chance;

    const PLACE: &str = "apps.consumer_secret:17";

    fn key(seed: u64) -> MasterKey {
        MasterKey::new(&Chance::seeded(seed)).unwrap()
    }

    fn ring(seed: u64) -> Keyring {
        Keyring::new(key(seed), Vec::new())
    }

    fn sealed(plain: &[u8]) -> Vec<u8> {
        ring(1).seal(PLACE, plain, &Chance::Os).unwrap()
    }

    #[test]
    fn what_was_sealed_opens() {
        for plain in [&b""[..], b"kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw"] {
            assert_eq!(ring(1).open(PLACE, &sealed(plain)).unwrap(), plain);
        }
        assert_ne!(sealed(b"same"), sealed(b"same"), "a fresh nonce each time");
    }

    #[test]
    fn another_key_does_not_open() {
        let shut = sealed(b"secret");
        let refused = ring(2).open(PLACE, &shut);
        assert_eq!(refused, Err(CannotOpen::UnknownKey(key(1).id())));
        // The other key's id on it does not help.
        let mut renamed = shut;
        renamed[..4].copy_from_slice(&key(2).id());
        assert_eq!(ring(2).open(PLACE, &renamed), Err(CannotOpen::Forged));
    }

    #[test]
    fn a_moved_secret_does_not_open() {
        let shut = sealed(b"secret");
        for place in ["apps.consumer_secret:18", "apps.bearer:17", ""] {
            assert_eq!(ring(1).open(place, &shut), Err(CannotOpen::Forged));
        }
    }

    #[test]
    fn any_flipped_bit_is_seen() {
        let shut = sealed(b"secret");
        for bit in 0..shut.len() * 8 {
            let mut changed = shut.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(ring(1).open(PLACE, &changed).is_err(), "bit {bit}");
        }
        for length in 0..shut.len() {
            assert!(ring(1).open(PLACE, &shut[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn an_old_key_still_opens() {
        let shut = sealed(b"secret");
        let turned = Keyring::new(key(2), vec![key(3), key(1)]);
        assert_eq!(turned.open(PLACE, &shut).unwrap(), b"secret");
        assert!(ring(1).sealed_with_current(&shut));
        assert!(!turned.sealed_with_current(&shut));
        let again = turned.seal(PLACE, b"secret", &Chance::Os).unwrap();
        assert!(turned.sealed_with_current(&again));
    }

    #[test]
    fn a_ring_is_turned_wherever_it_is_held() {
        let ring = ring(1);
        let held = ring.clone();
        let shut = held.seal(PLACE, b"secret", &Chance::Os).unwrap();
        ring.turn(key(2));
        assert_eq!(
            (held.current(), held.old()),
            (key(2).id(), vec![key(1).id()])
        );
        assert_eq!(held.open(PLACE, &shut).unwrap(), b"secret");
        assert!(!held.sealed_with_current(&shut));
    }

    #[test]
    fn a_key_file_is_read_back() {
        let text = key(1).encode();
        let text = text.reveal();
        let commented = format!("# keep apart from the database\n\n  {text}");
        assert_eq!(MasterKey::parse(&commented).unwrap().id(), key(1).id());
        assert_eq!(text.lines().count(), 1);

        let refusal = |text: &str| MasterKey::parse(text).unwrap_err();
        assert_eq!(refusal(""), NotAKey::Format);
        assert_eq!(refusal(&format!("{text}{text}")), NotAKey::Format);
        assert_eq!(refusal("locum-key-2 00000000 AA"), NotAKey::Format);
        assert_eq!(refusal("locum-key-1 00000000 AA"), NotAKey::Bytes);
        let zeros = format!("locum-key-1 00000000 {}", "A".repeat(43));
        assert_eq!(refusal(&zeros), NotAKey::Id);
    }

    #[test]
    fn a_key_is_not_printed() {
        let text = key(1).encode();
        let secret = text.reveal().split(' ').nth(2).unwrap().trim().to_owned();
        let shown = format!("{:?} {:?} {text:?}", key(1), ring(1));
        assert!(!shown.contains(&secret), "{shown}");
        assert!(!shown.contains("[1"), "{shown}");
    }
}
