//! Topics of spaces.

use base::Fault;

use crate::Tx;
use crate::db::SqlRow;
use crate::exports::IdPair;

#[derive(Clone, Debug)]
pub struct SpaceTopic {
    pub id: i64,
    pub name: String,
    /// May be empty.
    pub description: String,
}

fn topic_from_row(row: &SqlRow<'_, '_>) -> Result<SpaceTopic, Fault> {
    Ok(SpaceTopic { id: row.int(0)?, name: row.text(1)?, description: row.text(2)? })
}

pub fn find_or_insert_topic(tx: &mut Tx<'_>, name: &str) -> Result<SpaceTopic, Fault> {
    let sql = "INSERT INTO space_topic (id, name) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    let id = tx.next_id::<()>();
    tx.execute(sql, &[id.into(), name.into()])?;
    let sql = "SELECT id, name, description FROM space_topic WHERE name = $1";
    tx.query_row(sql, &[name.into()], topic_from_row)?
        .ok_or_else(|| Fault::new("a topic that was just inserted is missing"))
}

pub fn add_topic(tx: &mut Tx<'_>, space: i64, topic: i64) -> Result<(), Fault> {
    let sql = "INSERT INTO space_subject (space_id, topic_id) VALUES ($1, $2) \
               ON CONFLICT DO NOTHING";
    tx.execute(sql, &[space.into(), topic.into()]).map(|_| ())
}

/// Pairs of space and topic, sorted.
pub fn topics_by_spaces(tx: &mut Tx<'_>, spaces: &[i64]) -> Result<Vec<IdPair>, Fault> {
    let sql = "SELECT space_id, topic_id FROM space_subject WHERE space_id = $1";
    let mut found = tx.query_by_keys(sql, spaces, &[], |row| Ok((row.int(0)?, row.int(1)?)))?;
    found.sort_unstable();
    Ok(found)
}

/// In no particular order; unknown ids are skipped.
pub fn find_topics(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<SpaceTopic>, Fault> {
    let sql = "SELECT id, name, description FROM space_topic WHERE id = $1";
    tx.query_by_keys(sql, ids, &[], topic_from_row)
}
