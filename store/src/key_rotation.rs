//! Re-encryption of stored secrets with the current master key, in batches. Each ciphertext names its key, so
//! completed work is recognized and an interrupted rotation can resume.

use base::Fault;

use crate::db::{RowCells, SqlValue};
use crate::{Tx, hex};

struct EncryptedColumn {
    /// `table.column`, the prefix of encryption contexts.
    name: &'static str,
    /// Selects row key, ciphertext and context id, after a key and in key order.
    select_sql: &'static str,
    /// Replaces a ciphertext.
    update_sql: &'static str,
    /// Whether the row key is a digest rather than a number.
    is_keyed_by_digest: bool,
}

const fn column_by_number(name: &'static str, select_sql: &'static str, update_sql: &'static str) -> EncryptedColumn {
    EncryptedColumn { name, select_sql, update_sql, is_keyed_by_digest: false }
}

const fn column_by_digest(name: &'static str, select_sql: &'static str, update_sql: &'static str) -> EncryptedColumn {
    EncryptedColumn { is_keyed_by_digest: true, ..column_by_number(name, select_sql, update_sql) }
}

/// A test checks that the list is complete.
const ENCRYPTED_COLUMNS: &[EncryptedColumn] = &[
    column_by_number(
        "app.api_secret",
        "SELECT id, api_secret, id FROM app WHERE id > $1 ORDER BY id LIMIT $2",
        "UPDATE app SET api_secret = $1 WHERE id = $2 AND api_secret = $3",
    ),
    column_by_number(
        "app.bearer",
        "SELECT id, bearer, id FROM app WHERE id > $1 ORDER BY id LIMIT $2",
        "UPDATE app SET bearer = $1 WHERE id = $2 AND bearer = $3",
    ),
    column_by_digest(
        "oauth1_token.token",
        "SELECT digest, token, id FROM oauth1_token WHERE digest > $1 ORDER BY digest LIMIT $2",
        "UPDATE oauth1_token SET token = $1 WHERE digest = $2 AND token = $3",
    ),
    column_by_digest(
        "oauth1_token.secret",
        "SELECT digest, secret, id FROM oauth1_token WHERE digest > $1 ORDER BY digest LIMIT $2",
        "UPDATE oauth1_token SET secret = $1 WHERE digest = $2 AND secret = $3",
    ),
    column_by_digest(
        "oauth1_request.secret",
        "SELECT digest, secret, id FROM oauth1_request WHERE digest > $1 ORDER BY digest LIMIT $2",
        "UPDATE oauth1_request SET secret = $1 WHERE digest = $2 AND secret = $3",
    ),
    column_by_number(
        "session.form_key",
        "SELECT id, form_key, digest FROM session WHERE id > $1 ORDER BY id LIMIT $2",
        "UPDATE session SET form_key = $1 WHERE id = $2 AND form_key = $3",
    ),
    column_by_number(
        "letter.body",
        "SELECT id, body, recipient FROM letter WHERE id > $1 ORDER BY id LIMIT $2",
        "UPDATE letter SET body = $1 WHERE id = $2 AND body = $3",
    ),
    column_by_number(
        "two_factor.secret",
        "SELECT user_id, secret, user_id FROM two_factor WHERE user_id > $1 ORDER BY user_id LIMIT $2",
        "UPDATE two_factor SET secret = $1 WHERE user_id = $2 AND secret = $3",
    ),
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
    let after = if column.is_keyed_by_digest {
        SecretRowKey::Digest(cursor.digest.clone())
    } else {
        SecretRowKey::Number(cursor.number)
    };
    let found =
        tx.map_rows(column.select_sql, &[after.to_sql_value(), rows.into()], |cells| read_secret(column, cells))?;
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
                column.update_sql,
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
    let key = if column.is_keyed_by_digest {
        SecretRowKey::Digest(cells.read()?)
    } else {
        SecretRowKey::Number(cells.read()?)
    };
    let ciphertext = cells.read()?;
    let context_id = match column.name {
        "session.form_key" => hex::encode(&cells.read::<Vec<u8>>()?),
        "letter.body" => cells.read()?,
        _ => cells.read::<i64>()?.to_string(),
    };
    Ok(StoredSecret { key, encryption_context: format!("{}:{context_id}", column.name), ciphertext })
}

/// Encrypted values in `meta`; their context is their key.
fn rotate_meta_entries(tx: &mut Tx<'_>, count_only: bool) -> Result<KeyRotationStep, Fault> {
    let all: Vec<(String, String)> = tx.query_rows("SELECT key, value FROM meta ORDER BY key", &[])?;
    let mut step = KeyRotationStep { next: None, reencrypted: 0, already_current: 0 };
    for (key, value) in all {
        let Some(ciphertext) = hex::decode(&value) else {
            continue;
        };
        let Some(plain) = tx.try_decrypt(&key, &ciphertext) else {
            continue;
        };
        if tx.is_encrypted_with_current_key(&ciphertext) {
            step.already_current += 1;
        } else if !count_only {
            let reencrypted = hex::encode(&tx.encrypt_bytes(&key, &plain)?);
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
    use std::path::Path;

    /// Every place that is named in this crate's source, as `"table.column:{…}"`.
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
        places(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        found.sort();
        let mut known: Vec<_> = ENCRYPTED_COLUMNS.iter().map(|column| column.name).collect();
        known.sort_unstable();
        assert_eq!(found, known);
    }
}
