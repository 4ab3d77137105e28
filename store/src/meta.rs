//! Facts about the database itself.

use base::Fault;

use crate::{Tx, hex};

const KEY_CHECK: &str = "master_key_check";

/// A fact, if it is set.
pub fn get(tx: &mut Tx<'_>, key: &str) -> Result<Option<String>, Fault> {
    tx.row(
        "SELECT value FROM meta WHERE key = $1",
        &[key.into()],
        |row| row.text(0),
    )
}

/// Sets a fact.
pub fn set(tx: &mut Tx<'_>, key: &str, value: &str) -> Result<(), Fault> {
    let sql = "INSERT INTO meta (key, value) VALUES ($1, $2) \
               ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    tx.exec(sql, &[key.into(), value.into()]).map(|_| ())
}

/// The highest id that anything has: new ones must be above it.
pub(crate) fn highest_id(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    const TABLES: [&str; 8] = [
        "SELECT MAX(id) FROM users",
        "SELECT MAX(id) FROM app",
        "SELECT MAX(id) FROM post",
        "SELECT MAX(id) FROM poll",
        "SELECT MAX(id) FROM community",
        "SELECT MAX(id) FROM media",
        "SELECT MAX(id) FROM upload",
        "SELECT MAX(id) FROM list",
    ];
    let mut highest = 0;
    for sql in TABLES {
        let id = tx
            .row(sql, &[], |row| row.opt_int(0))?
            .flatten()
            .unwrap_or(0);
        highest = highest.max(id);
    }
    Ok(highest)
}

/// Whether the master key is proved to be the one that the stored secrets were encrypted with: a
/// wrong one is a failure, and nothing is proved on a new database.
pub(crate) fn proves_key(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let Some(text) = get(tx, KEY_CHECK)? else {
        return Ok(false);
    };
    let sealed =
        hex::decode(&text).ok_or_else(|| Fault::new("the master key's proof is garbled"))?;
    tx.unseal(KEY_CHECK, &sealed).map(|_| true).map_err(|_| {
        Fault::new(
            "the master key is not the one that this database was made with: nothing was touched",
        )
    })
}

/// The same; a new database gets its proof for next time.
pub(crate) fn check_key(tx: &mut Tx<'_>) -> Result<(), Fault> {
    if proves_key(tx)? {
        return Ok(());
    }
    let sealed = tx.seal(KEY_CHECK, "locum")?;
    set(tx, KEY_CHECK, &hex::encode(&sealed))
}
