//! Passwords: argon2id at the parameters of security §3.3.

use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};
use base::{Chance, Fault};

/// KiB of memory, passes and lanes: the least that is recommended for sign-in on small machines.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;

fn argon() -> Result<Argon2<'static>, Fault> {
    let params = Params::new(MEMORY_KIB, PASSES, 1, None)
        .map_err(|error| Fault::new(format!("the password parameters: {error}")))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

/// The stored form of a password. Takes tens of milliseconds: never inside a transaction.
pub fn hash(password: &str, chance: &Chance) -> Result<String, Fault> {
    let salt = chance.bytes::<16>()?;
    argon()?
        .hash_password_with_salt(password.as_bytes(), &salt)
        .map(|hash| hash.to_string())
        .map_err(|error| Fault::new(format!("hashing a password: {error}")))
}

/// Whether a password is the one that was hashed. Takes as long as [`hash`], whatever is stored.
pub fn holds(password: &str, stored: &str) -> Result<bool, Fault> {
    // What an unknown user's password is compared with, so that it takes as long.
    const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$\
                          AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let known = !stored.is_empty();
    let parsed = PasswordHash::new(if known { stored } else { NOBODY })
        .map_err(|error| Fault::new(format!("a stored password: {error}")))?;
    let holds = argon()?
        .verify_password(password.as_bytes(), &parsed)
        .is_ok();
    Ok(holds && known)
}

#[cfg(test)]
mod tests {
    use base::Chance;

    use super::{hash, holds};

    #[test]
    fn only_the_same_password_holds() {
        let stored = hash("correct horse", &Chance::Os).unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert!(holds("correct horse", &stored).unwrap());
        assert!(!holds("correct horsf", &stored).unwrap());
        assert!(!holds("", "").unwrap());
    }
}
