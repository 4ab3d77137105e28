//! Key-value facts about the database itself.

use base::id::first_snowflake_at;
use base::{Fault, Time};
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};

use crate::Tx;

const KEY_CHECK_NAME: &str = "master_key_check";
/// Encrypted with the key of the last rotation.
const ROTATED_KEY_CHECK_NAME: &str = "rotated_master_key_check";
const CHECK_VALUE: &str = "locum";

pub fn get(tx: &mut Tx<'_>, key: &str) -> Result<Option<String>, Fault> {
    tx.query_row("SELECT value FROM meta WHERE key = $1", &[key.into()])
}

pub fn set(tx: &mut Tx<'_>, key: &str, value: &str) -> Result<(), Fault> {
    let sql = "INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    tx.execute_later(sql, &[key.into(), value.into()])
}

/// Decrypts a value that was encrypted for `key` and stored in hexadecimal digits.
pub fn get_encrypted(tx: &mut Tx<'_>, key: &str) -> Result<Option<Vec<u8>>, Fault> {
    let Some(text) = get(tx, key)? else { return Ok(None) };
    let encrypted = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).map_err(|_| Fault::new(format!("{key} is corrupt")))?;
    tx.decrypt_bytes(key, &encrypted).map(Some)
}

/// The stored value, which is `value` if there was none. Of processes that do this at the same time, the first to commit
/// decides for all.
pub fn get_or_insert(tx: &mut Tx<'_>, key: &str, value: &str) -> Result<String, Fault> {
    if let Some(stored) = get(tx, key)? {
        return Ok(stored);
    }
    // Waits for a transaction that has inserted the key.
    let sql = "INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING";
    tx.execute(sql, &[key.into(), value.into()])?;
    get(tx, key)?.ok_or_else(|| Fault::new(format!("{key} was not stored")))
}

/// Tables whose ids are issued here.
const ISSUED_ID_TABLES: [&str; 34] = [
    "users",
    "app",
    "post",
    "media",
    "list",
    "poll",
    "community",
    "space",
    "space_topic",
    "bookmark_folder",
    "upload",
    "note",
    "story",
    "dm_conversation",
    "dm_event",
    "rule",
    "webhook",
    "replay",
    "compliance_job",
    "activity_subscription",
    "stream_connection",
    "ad_job",
    "notification",
    "card_link",
    "moderation_action",
    "report",
    "registration_request",
    "unpublished_post",
    "muted_word",
    "unpublished_community_post",
    "product_catalog",
    "catalog_product",
    "product_set",
    "scheduled_feed",
];
/// The time of the last entry of the event log and the audit trail.
const LAST_ENTRY_TIME: &str = "SELECT MAX(at) FROM (\
     SELECT * FROM (SELECT at FROM event ORDER BY seq DESC LIMIT 1) AS newest_event \
     UNION ALL SELECT * FROM (SELECT at FROM pending_event ORDER BY id DESC LIMIT 1) AS newest_pending_event \
     UNION ALL SELECT * FROM (SELECT at FROM audit ORDER BY seq DESC LIMIT 1) AS newest_audit) AS newest";

/// A lower bound for new ids: the highest indexed id, and ids at the time of the last event or audit entry. The latter
/// also covers the ids of edges, which have no index for their maximum.
pub(crate) fn highest_id(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    let ids = ISSUED_ID_TABLES.map(|table| format!("SELECT MAX(id) AS id FROM {table}")).join(" UNION ALL ");
    let highest = tx.query_number(&format!("SELECT MAX(id) FROM ({ids}) AS highest"), &[])?;
    let last_entry = tx.query_row::<Option<Time>>(LAST_ENTRY_TIME, &[])?.flatten();
    Ok(highest.max(last_entry.map_or(0, |at| first_snowflake_at(at.plus_ms(1)))))
}

/// Whether the master keys were verified against the stored check values; false for a new database. A missing key is an
/// error.
pub(crate) fn verify_master_key(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let refused = "the master key is not the one that this database was created with: nothing was changed";
    let is_known = verify_key(tx, KEY_CHECK_NAME, refused)?;
    let refused = "the master key was replaced by `locum keys rotate`, and its key file is missing here: copy it, and \
                   the old ones next to it, from the node that replaced it";
    verify_key(tx, ROTATED_KEY_CHECK_NAME, refused)?;
    Ok(is_known)
}

fn verify_key(tx: &mut Tx<'_>, name: &str, refused: &'static str) -> Result<bool, Fault> {
    let Some(text) = get(tx, name)? else {
        return Ok(false);
    };
    let encrypted = HEXLOWER_PERMISSIVE
        .decode(text.as_bytes())
        .map_err(|_| Fault::new("the master key's check value is malformed"))?;
    tx.decrypt(name, &encrypted).map(|_| true).map_err(Fault::context(refused))
}

/// As [`verify_master_key`]; stores the check value in a new database.
pub(crate) fn ensure_master_key(tx: &mut Tx<'_>) -> Result<(), Fault> {
    let encrypted = tx.encrypt(KEY_CHECK_NAME, CHECK_VALUE)?;
    get_or_insert(tx, KEY_CHECK_NAME, &HEXLOWER.encode(&encrypted))?;
    verify_master_key(tx).map(|_| ())
}

/// Refuses from now on the start of a node without the current master key.
pub fn require_current_master_key(tx: &mut Tx<'_>) -> Result<(), Fault> {
    let encrypted = tx.encrypt(ROTATED_KEY_CHECK_NAME, CHECK_VALUE)?;
    set(tx, ROTATED_KEY_CHECK_NAME, &HEXLOWER.encode(&encrypted))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::ISSUED_ID_TABLES;

    /// Rows that are found by something else; their ids say in which order they came.
    const DATED: [&str; 21] = [
        "ad_event",
        "affiliate",
        "block",
        "bookmark",
        "bookmark_filing",
        "community_member",
        "dm_block",
        "dm_participant",
        "follow",
        "follow_request",
        "list_follow",
        "list_member",
        "list_pin",
        "mute",
        "oauth1_request",
        "oauth1_token",
        "oauth2_token",
        "post_like",
        "space_part",
        "space_post",
        "subscription",
    ];
    /// Ids that come from elsewhere.
    const FOREIGN: [&str; 3] = ["annotation_entity", "import_alias", "place"];
    /// Ids that are counted by kind, or always 1; those of them that are made of the time come with an entry of
    /// the log.
    const COUNTED: [&str; 3] = ["ads_record", "ads_change", "event_sequencer"];

    /// The tables of the migrations that have a column `id` with a number of ours.
    fn tables() -> BTreeSet<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        let mut found = BTreeSet::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            let mut table = "";
            for line in text.lines() {
                let words: Vec<&str> = line.split_whitespace().collect();
                match words.as_slice() {
                    ["CREATE", "TABLE", name, ..] | ["CREATE", "VOLATILE", "TABLE", name, ..] => {
                        table = *name;
                    }
                    ["ALTER", "TABLE", name, "ADD", "COLUMN", "id", "BIGINT", ..] => {
                        found.insert((*name).to_owned());
                    }
                    ["id", "BIGINT", ..] => {
                        found.insert(table.to_owned());
                    }
                    _ => {}
                }
            }
        }
        found
    }

    #[test]
    fn no_table_with_ids_is_left_out() {
        let known = ISSUED_ID_TABLES.iter().chain(&DATED).chain(&FOREIGN).chain(&COUNTED);
        let known: BTreeSet<String> = known.map(|name| (*name).to_owned()).collect();
        let all = ISSUED_ID_TABLES.len() + DATED.len() + FOREIGN.len() + COUNTED.len();
        assert_eq!(known.len(), all);
        assert_eq!(tables(), known);
    }
}
