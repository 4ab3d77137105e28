//! Master keys, encrypted with a passphrase.

use std::fmt;
use std::path::Path;

use argon2::{Algorithm, Argon2, Params, Version};
use base::encryption::{Keyring, MasterKey};
use base::{Fault, Rng, Secret};
use data_encoding::BASE64;
use serde::{Deserialize, Serialize};

use crate::command_error::CommandError;

/// Binds the ciphertext to its purpose.
const LOCATION: &str = "backup.master_keys";
/// Argon2id's parameters: the second recommended option of RFC 9106, section 4.
const MEMORY_KIB: u32 = 64 * 1024;
const PASSES: u32 = 3;
const LANES: u32 = 4;
const MIN_PASSPHRASE_CHARS: usize = 12;

/// The key files' content, encrypted with a key that Argon2id derives from the passphrase.
#[derive(Clone, Serialize, Deserialize)]
pub struct SealedKeys {
    salt: String,
    encrypted: String,
}

impl fmt::Debug for SealedKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealedKeys")
    }
}

pub fn read_passphrase(file: &Path) -> Result<Secret, CommandError> {
    let wrong = |what: String| CommandError::Usage(format!("{}: {what}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let text = text.trim();
    if text.chars().count() < MIN_PASSPHRASE_CHARS {
        return Err(wrong(format!("a passphrase has at least {MIN_PASSPHRASE_CHARS} characters")));
    }
    Ok(Secret::new(text))
}

impl SealedKeys {
    /// The first key is the current one.
    pub fn seal(keys: &[MasterKey], passphrase: &Secret) -> Result<Self, Fault> {
        let salt = Rng::Os.random_bytes::<16>()?;
        let plain: String = keys.iter().map(|key| key.encode().expose_secret().to_owned()).collect();
        let encrypted = derive_keyring(passphrase, &salt)?.encrypt(LOCATION, plain.as_bytes(), &Rng::Os)?;
        Ok(Self { salt: BASE64.encode(&salt), encrypted: BASE64.encode(&encrypted) })
    }

    /// Fails if the passphrase is wrong.
    pub fn open(&self, passphrase: &Secret) -> Result<Vec<MasterKey>, CommandError> {
        let damaged = || CommandError::Failed("the master keys in the backup are damaged".to_owned());
        let salt = BASE64.decode(self.salt.as_bytes()).map_err(|_| damaged())?;
        let encrypted = BASE64.decode(self.encrypted.as_bytes()).map_err(|_| damaged())?;
        let plain = derive_keyring(passphrase, &salt)?.decrypt(LOCATION, &encrypted);
        let plain = plain.map_err(|_| CommandError::Failed("the passphrase is wrong".to_owned()))?;
        let text = String::from_utf8(plain).map_err(|_| damaged())?;
        text.lines().map(|line| MasterKey::parse(line).map_err(|_| damaged())).collect()
    }
}

fn derive_keyring(passphrase: &Secret, salt: &[u8]) -> Result<Keyring, Fault> {
    let failed = |error: argon2::Error| Fault::new(format!("deriving a key: {error}"));
    let params = Params::new(MEMORY_KIB, PASSES, LANES, Some(32)).map_err(failed)?;
    let mut key = [0; 32];
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase.expose_secret().as_bytes(), salt, &mut key)
        .map_err(failed)?;
    Ok(Keyring::new(MasterKey::from_bytes(key), Vec::new()))
}

#[cfg(test)]
mod tests {
    use base::encryption::MasterKey;
    use base::{Rng, Secret};

    use super::SealedKeys;

    #[test]
    fn keys_open_with_their_passphrase_only() {
        let keys = [1, 2].map(|seed| MasterKey::generate(&Rng::from_seed(seed)).unwrap());
        let passphrase = Secret::new("correct horse battery");
        let sealed = SealedKeys::seal(&keys, &passphrase).unwrap();
        let opened = sealed.open(&passphrase).unwrap();
        assert_eq!(opened.iter().map(MasterKey::id).collect::<Vec<_>>(), keys.map(|key| key.id()));
        assert!(sealed.open(&Secret::new("another passphrase")).is_err());
        let text = serde_json::to_string(&sealed).unwrap();
        assert!(!text.contains("locum-key"), "{text}");
    }
}
