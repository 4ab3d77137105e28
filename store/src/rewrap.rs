//! Sealing every stored secret anew with the current master key, some rows at a time. Each secret
//! names the key that it was sealed with, so that what was done already is seen, and work that was
//! broken off goes on.

use base::Fault;

use crate::db::{Row, Value};
use crate::{Tx, hex};

/// A column of secrets: how its rows are walked, and where each of them is sealed for.
struct Column {
    /// `table.column`, as places begin.
    name: &'static str,
    /// Row number, key, what the place names, and the secret; rows after a key, in its order.
    walk: &'static str,
    /// Puts one secret in the place of another.
    put: &'static str,
    /// Whether rows are walked by a digest rather than by their number.
    by_digest: bool,
}

const fn numbered(name: &'static str, walk: &'static str, put: &'static str) -> Column {
    Column {
        name,
        walk,
        put,
        by_digest: false,
    }
}

const fn digested(name: &'static str, walk: &'static str, put: &'static str) -> Column {
    Column {
        by_digest: true,
        ..numbered(name, walk, put)
    }
}

/// All of them; a test finds those that are missing.
const COLUMNS: &[Column] = &[
    numbered(
        "app.api_secret",
        "SELECT id, api_secret, id FROM app WHERE id > $1 ORDER BY id LIMIT $2",
        "UPDATE app SET api_secret = $1 WHERE id = $2 AND api_secret = $3",
    ),
    numbered(
        "app.bearer",
        "SELECT id, bearer, id FROM app WHERE id > $1 ORDER BY id LIMIT $2",
        "UPDATE app SET bearer = $1 WHERE id = $2 AND bearer = $3",
    ),
    digested(
        "oauth1_token.token",
        "SELECT digest, token, id FROM oauth1_token WHERE digest > $1 ORDER BY digest LIMIT $2",
        "UPDATE oauth1_token SET token = $1 WHERE digest = $2 AND token = $3",
    ),
    digested(
        "oauth1_token.secret",
        "SELECT digest, secret, id FROM oauth1_token WHERE digest > $1 ORDER BY digest LIMIT $2",
        "UPDATE oauth1_token SET secret = $1 WHERE digest = $2 AND secret = $3",
    ),
    digested(
        "oauth1_request.secret",
        "SELECT digest, secret, id FROM oauth1_request WHERE digest > $1 ORDER BY digest LIMIT $2",
        "UPDATE oauth1_request SET secret = $1 WHERE digest = $2 AND secret = $3",
    ),
    numbered(
        "session.form_key",
        "SELECT id, form_key, digest FROM session WHERE id > $1 ORDER BY id LIMIT $2",
        "UPDATE session SET form_key = $1 WHERE id = $2 AND form_key = $3",
    ),
    numbered(
        "letter.body",
        "SELECT id, body, recipient FROM letter WHERE id > $1 ORDER BY id LIMIT $2",
        "UPDATE letter SET body = $1 WHERE id = $2 AND body = $3",
    ),
];

/// How far it has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The column; past the last one, the facts of the database.
    column: usize,
    /// The last row that was looked at, by number.
    number: i64,
    /// The same by digest.
    digest: Vec<u8>,
}

/// What one step did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where the next one goes on; none: everything was looked at.
    pub next: Option<Cursor>,
    /// Secrets that were sealed anew.
    pub sealed: u64,
    /// Secrets that are sealed with the current key, those among them.
    pub current: u64,
}

/// A secret where it is stored.
struct Found {
    key: Key,
    place: String,
    sealed: Option<Vec<u8>>,
}

enum Key {
    Number(i64),
    Digest(Vec<u8>),
}

impl Key {
    fn value(&self) -> Value<'_> {
        match self {
            Self::Number(number) => (*number).into(),
            Self::Digest(digest) => digest.into(),
        }
    }
}

/// Looks at some rows after a place and seals what was sealed with an older key. With `count` it
/// only counts.
pub fn step(tx: &mut Tx<'_>, from: &Cursor, rows: i64, count: bool) -> Result<Step, Fault> {
    let Some(column) = COLUMNS.get(from.column) else {
        return facts(tx, count);
    };
    let after = if column.by_digest {
        Key::Digest(from.digest.clone())
    } else {
        Key::Number(from.number)
    };
    let found = tx.rows(column.walk, &[after.value(), rows.into()], |row| {
        read(column, row)
    })?;
    let mut step = Step {
        next: Some(after_last(from, &found, rows)),
        sealed: 0,
        current: 0,
    };
    for one in &found {
        let Some(sealed) = &one.sealed else { continue };
        if tx.is_sealed_with_current(sealed) {
            step.current += 1;
        } else if !count {
            let plain = tx.unseal(&one.place, sealed)?;
            let fresh = tx.seal(&one.place, plain.reveal())?;
            // Whoever changed it meanwhile sealed it with the current key.
            tx.exec(
                column.put,
                &[(&fresh).into(), one.key.value(), sealed.into()],
            )?;
            step.sealed += 1;
            step.current += 1;
        }
    }
    Ok(step)
}

fn after_last(from: &Cursor, found: &[Found], rows: i64) -> Cursor {
    let is_whole = i64::try_from(found.len()).is_ok_and(|length| length >= rows);
    match found.last().filter(|_| is_whole).map(|last| &last.key) {
        Some(Key::Number(number)) => Cursor {
            number: *number,
            ..from.clone()
        },
        Some(Key::Digest(digest)) => Cursor {
            digest: digest.clone(),
            ..from.clone()
        },
        None => Cursor {
            column: from.column + 1,
            ..Cursor::default()
        },
    }
}

fn read(column: &Column, row: &Row<'_, '_>) -> Result<Found, Fault> {
    let key = if column.by_digest {
        Key::Digest(row.bytes(0)?)
    } else {
        Key::Number(row.int(0)?)
    };
    let named = match column.name {
        "session.form_key" => hex::encode(&row.bytes(2)?),
        "letter.body" => row.text(2)?,
        _ => row.int(2)?.to_string(),
    };
    Ok(Found {
        key,
        place: format!("{}:{named}", column.name),
        sealed: row.opt_bytes(1)?,
    })
}

/// The sealed facts among those of the database: each is sealed for its own key.
fn facts(tx: &mut Tx<'_>, count: bool) -> Result<Step, Fault> {
    let all = tx.rows("SELECT key, value FROM meta ORDER BY key", &[], |row| {
        Ok((row.text(0)?, row.text(1)?))
    })?;
    let mut step = Step {
        next: None,
        sealed: 0,
        current: 0,
    };
    for (key, value) in all {
        let Some(sealed) = hex::decode(&value) else {
            continue;
        };
        let Some(plain) = tx.opened(&key, &sealed) else {
            continue;
        };
        if tx.is_sealed_with_current(&sealed) {
            step.current += 1;
        } else if !count {
            let fresh = hex::encode(&tx.seal_bytes(&key, &plain)?);
            let sql = "UPDATE meta SET value = $1 WHERE key = $2 AND value = $3";
            tx.exec(sql, &[(&fresh).into(), (&key).into(), (&value).into()])?;
            step.sealed += 1;
            step.current += 1;
        }
    }
    Ok(step)
}

#[cfg(test)]
mod tests {
    use super::COLUMNS;
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
        places(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
            &mut found,
        );
        found.sort();
        let mut known: Vec<_> = COLUMNS.iter().map(|column| column.name).collect();
        known.sort_unstable();
        assert_eq!(found, known);
    }
}
