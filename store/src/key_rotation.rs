//! Re-encryption of stored secrets with the current master key, in batches. Each ciphertext names its key, so
//! completed work is recognized and an interrupted rotation can resume.

use base::Fault;
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};

use crate::Tx;
use crate::db::{RowCells, SqlValue};

struct EncryptedColumn {
    table: &'static str,
    column: &'static str,
    /// The column of the row key.
    key: &'static str,
    /// The column of what the encryption context ends with.
    context: &'static str,
}

impl EncryptedColumn {
    const fn new(table: &'static str, column: &'static str, key: &'static str, context: &'static str) -> Self {
        Self { table, column, key, context }
    }

    /// Selects row key, ciphertext and context id, after a key and in key order.
    fn select_sql(&self) -> String {
        let Self { table, column, key, context } = self;
        format!("SELECT {key}, {column}, {context} FROM {table} WHERE {key} > $1 ORDER BY {key} LIMIT $2")
    }

    /// Replaces a ciphertext.
    fn update_sql(&self) -> String {
        let Self { table, column, key, .. } = self;
        format!("UPDATE {table} SET {column} = $1 WHERE {key} = $2 AND {column} = $3")
    }

    fn is_keyed_by_digest(&self) -> bool {
        self.key == "digest"
    }
}

/// A test checks that the list is complete.
const ENCRYPTED_COLUMNS: &[EncryptedColumn] = &[
    EncryptedColumn::new("app", "api_secret", "id", "id"),
    EncryptedColumn::new("app", "bearer", "id", "id"),
    EncryptedColumn::new("oauth1_token", "token", "digest", "id"),
    EncryptedColumn::new("oauth1_token", "secret", "digest", "id"),
    EncryptedColumn::new("oauth1_request", "secret", "digest", "id"),
    EncryptedColumn::new("session", "form_key", "id", "digest"),
    EncryptedColumn::new("letter", "body", "id", "recipient"),
    EncryptedColumn::new("two_factor", "secret", "user_id", "user_id"),
];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyRotationCursor {
    /// Index of the column; the number of columns stands for the `meta` table.
    column: usize,
    /// The last processed row's number.
    number: i64,
    /// The last processed row's digest.
    digest: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRotationStep {
    /// None when everything is done.
    pub next: Option<KeyRotationCursor>,
    pub reencrypted: u64,
    /// Secrets encrypted with the current key, including `reencrypted`.
    pub already_current: u64,
}

struct StoredSecret {
    key: SecretRowKey,
    encryption_context: String,
    ciphertext: Option<Vec<u8>>,
}

enum SecretRowKey {
    Number(i64),
    Digest(Vec<u8>),
}

impl SecretRowKey {
    fn to_sql_value(&self) -> SqlValue<'_> {
        match self {
            Self::Number(number) => (*number).into(),
            Self::Digest(digest) => digest.into(),
        }
    }
}

/// Re-encrypts some rows after a cursor; with `count_only`, only counts.
pub fn rotate_batch(
    tx: &mut Tx<'_>,
    cursor: &KeyRotationCursor,
    rows: i64,
    count_only: bool,
) -> Result<KeyRotationStep, Fault> {
    let Some(column) = ENCRYPTED_COLUMNS.get(cursor.column) else {
        return rotate_meta_entries(tx, count_only);
    };
    let after = if column.is_keyed_by_digest() {
        SecretRowKey::Digest(cursor.digest.clone())
    } else {
        SecretRowKey::Number(cursor.number)
    };
    let found =
        tx.map_rows(&column.select_sql(), &[after.to_sql_value(), rows.into()], |cells| read_secret(column, cells))?;
    let mut step =
        KeyRotationStep { next: Some(cursor_after(cursor, &found, rows)), reencrypted: 0, already_current: 0 };
    for secret in &found {
        let Some(ciphertext) = &secret.ciphertext else {
            continue;
        };
        if tx.is_encrypted_with_current_key(ciphertext) {
            step.already_current += 1;
        } else if !count_only {
            let plain = tx.decrypt(&secret.encryption_context, ciphertext)?;
            let reencrypted = tx.encrypt(&secret.encryption_context, plain.expose_secret())?;
            // A concurrent change has already used the current key.
            tx.execute_later(
                &column.update_sql(),
                &[(&reencrypted).into(), secret.key.to_sql_value(), ciphertext.into()],
            )?;
            step.reencrypted += 1;
            step.already_current += 1;
        }
    }
    Ok(step)
}

fn cursor_after(cursor: &KeyRotationCursor, found: &[StoredSecret], rows: i64) -> KeyRotationCursor {
    let is_whole = i64::try_from(found.len()).is_ok_and(|length| length >= rows);
    match found.last().filter(|_| is_whole).map(|last| &last.key) {
        Some(SecretRowKey::Number(number)) => KeyRotationCursor { number: *number, ..cursor.clone() },
        Some(SecretRowKey::Digest(digest)) => KeyRotationCursor { digest: digest.clone(), ..cursor.clone() },
        None => KeyRotationCursor { column: cursor.column + 1, ..KeyRotationCursor::default() },
    }
}

fn read_secret(column: &EncryptedColumn, cells: &mut RowCells<'_, '_, '_>) -> Result<StoredSecret, Fault> {
    let key = if column.is_keyed_by_digest() {
        SecretRowKey::Digest(cells.read()?)
    } else {
        SecretRowKey::Number(cells.read()?)
    };
    let ciphertext = cells.read()?;
    let context_id = match column.context {
        "digest" => HEXLOWER.encode(&cells.read::<Vec<u8>>()?),
        "recipient" => cells.read()?,
        _ => cells.read::<i64>()?.to_string(),
    };
    let encryption_context = format!("{}.{}:{context_id}", column.table, column.column);
    Ok(StoredSecret { key, encryption_context, ciphertext })
}

/// Encrypted values in `meta`; their context is their key.
fn rotate_meta_entries(tx: &mut Tx<'_>, count_only: bool) -> Result<KeyRotationStep, Fault> {
    let all: Vec<(String, String)> = tx.query_rows("SELECT key, value FROM meta ORDER BY key", &[])?;
    let mut step = KeyRotationStep { next: None, reencrypted: 0, already_current: 0 };
    for (key, value) in all {
        let Ok(ciphertext) = HEXLOWER_PERMISSIVE.decode(value.as_bytes()) else {
            continue;
        };
        let Some(plain) = tx.try_decrypt(&key, &ciphertext) else {
            continue;
        };
        if tx.is_encrypted_with_current_key(&ciphertext) {
            step.already_current += 1;
        } else if !count_only {
            let reencrypted = HEXLOWER.encode(&tx.encrypt_bytes(&key, &plain)?);
            let sql = "UPDATE meta SET value = $1 WHERE key = $2 AND value = $3";
            tx.execute_later(sql, &[(&reencrypted).into(), (&key).into(), (&value).into()])?;
            step.reencrypted += 1;
            step.already_current += 1;
        }
    }
    Ok(step)
}

#[cfg(test)]
mod tests {
    use super::ENCRYPTED_COLUMNS;
    use crate::schema::source_folders;
    use std::path::Path;

    /// Every place that is named in the source of this crate and the one below, as `"table.column:{…}"`.
    fn places(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                places(&path, found);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for call in text.split("format!(\"").skip(1) {
                let literal = call.split('"').next().unwrap_or_default();
                let Some((name, _)) = literal.split_once(":{") else {
                    continue;
                };
                let plain = |letter: char| letter.is_ascii_alphanumeric() || "_.".contains(letter);
                if name.contains('.') && name.chars().all(plain) {
                    found.push(name.to_owned());
                }
            }
        }
    }

    #[test]
    fn no_column_of_secrets_is_left_out() {
        let mut found = Vec::new();
        for folder in source_folders() {
            places(&folder, &mut found);
        }
        found.sort();
        let mut known: Vec<_> = ENCRYPTED_COLUMNS.iter().map(|it| format!("{}.{}", it.table, it.column)).collect();
        known.sort_unstable();
        assert_eq!(found, known);
    }
}
