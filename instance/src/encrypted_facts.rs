//! Facts in the database that are encrypted with the master key.

use base::encryption::Keyring;
use base::{Error, Fault};
use data_encoding::HEXLOWER;
use store::{Store, Tx, meta};

use super::blocking::block_on;

pub fn set_encrypted_fact(tx: &mut Tx<'_>, keyring: &Keyring, key: &str, plain: &[u8]) -> Result<(), Error> {
    let sealed = keyring.encrypt(key, plain, tx.rng())?;
    Ok(meta::set(tx, key, &HEXLOWER.encode(&sealed))?)
}

pub fn read_encrypted_fact(store: &Store, key: &'static str) -> Result<Option<Vec<u8>>, Error> {
    block_on(store.read(move |tx| Ok(meta::get_encrypted(tx, key)?)))
}

/// 32 bytes shared by all nodes on a database; created on first use.
pub fn shared_key(store: &Store, key: &'static str) -> Result<[u8; 32], Error> {
    let keyring = store.context().keyring.clone();
    block_on(store.write(move |tx| {
        let sealed = keyring.encrypt(key, &tx.rng().random_bytes::<32>()?, tx.rng())?;
        Ok(meta::get_or_insert(tx, key, &HEXLOWER.encode(&sealed))?)
    }))?;
    let plain = read_encrypted_fact(store, key)?.unwrap_or_default();
    let plain = <[u8; 32]>::try_from(plain);
    plain.map_err(|_| Fault::new(format!("{key} is corrupt")).into())
}
