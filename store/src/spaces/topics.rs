//! Topics of spaces.

use base::Fault;

use crate::Tx;
use crate::db::{insert_new_later, row, select};
use crate::exports::IdPair;

row! {
    #[derive(Clone, Debug)]
    pub struct SpaceTopic from "space_topic" {
        pub id: i64,
        pub name: String,
        /// May be empty.
        pub description: String,
    }
}

pub fn find_or_insert_topic(tx: &mut Tx<'_>, name: &str) -> Result<SpaceTopic, Fault> {
    let id = tx.next_id::<()>();
    insert_new_later!(tx, "space_topic", id = id, name = name)?;
    let sql = select!(SpaceTopic, "WHERE name = $1");
    tx.query_row(sql, &[name.into()])?.ok_or_else(|| Fault::new("a topic that was just inserted is missing"))
}

pub fn add_topic(tx: &mut Tx<'_>, space: i64, topic: i64) -> Result<(), Fault> {
    insert_new_later!(tx, "space_subject", space_id = space, topic_id = topic)
}

/// Pairs of space and topic, sorted.
pub fn topics_by_spaces(tx: &mut Tx<'_>, spaces: &[i64]) -> Result<Vec<IdPair>, Fault> {
    let sql = "SELECT space_id, topic_id FROM space_subject WHERE space_id = $1";
    let mut found = tx.query_by_keys(sql, spaces, &[])?;
    found.sort_unstable();
    Ok(found)
}

/// In no particular order; unknown ids are skipped.
pub fn find_topics(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<SpaceTopic>, Fault> {
    let sql = select!(SpaceTopic, "WHERE id = $1");
    tx.query_by_keys(sql, ids, &[])
}
