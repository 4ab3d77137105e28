//! How far an import has come.

use base::{Fault, UserId};

use crate::Tx;

/// Where an import stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportProgress {
    /// Where in the source it goes on.
    pub position: String,
    /// What has been done so far (JSON).
    pub report: String,
    /// Whether it came to its end.
    pub finished: bool,
}

/// Where the import of a source stands, if one was ever begun.
pub fn load_progress(tx: &mut Tx<'_>, source: &str) -> Result<Option<ImportProgress>, Fault> {
    let sql = "SELECT position, report, finished FROM import_progress WHERE source = $1";
    tx.query_row(sql, &[source.into()], |row| {
        Ok(ImportProgress {
            position: row.text(0)?,
            report: row.text(1)?,
            finished: row.bool(2)?,
        })
    })
}

/// Says where the import of a source stands, in the transaction of what it has stored.
pub fn set_progress(tx: &mut Tx<'_>, source: &str, mark: &ImportProgress) -> Result<(), Fault> {
    let sql = "INSERT INTO import_progress (source, position, report, finished) \
               VALUES ($1, $2, $3, $4) ON CONFLICT (source) DO UPDATE SET \
               position = excluded.position, report = excluded.report, \
               finished = excluded.finished";
    let args = [
        source.into(),
        (&mark.position).into(),
        (&mark.report).into(),
        mark.finished.into(),
    ];
    tx.execute(sql, &args).map(|_| ())
}

/// Whether an import stands at `position` and goes on from there. Until the transaction ends,
/// another one of the same source waits here.
pub fn claim_progress(tx: &mut Tx<'_>, source: &str, position: &str) -> Result<bool, Fault> {
    let sql = "UPDATE import_progress SET finished = 0 \
               WHERE source = $1 AND position = $2 AND finished = 0";
    Ok(tx.execute(sql, &[source.into(), position.into()])? > 0)
}

/// Notes whose posts a source has brought.
pub fn insert_authors(tx: &mut Tx<'_>, source: &str, authors: &[UserId]) -> Result<(), Fault> {
    let sql = "INSERT INTO import_author (source, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    for author in authors {
        tx.execute(sql, &[source.into(), (*author).into()])?;
    }
    Ok(())
}

/// Makes the readers of some of those whose posts a source has brought, and these themselves, read
/// their home timeline afresh, and the lists that they are on; false when all know.
pub fn invalidate_home_timelines(tx: &mut Tx<'_>, source: &str, limit: i64) -> Result<bool, Fault> {
    let sql = "SELECT MAX(user_id) FROM (SELECT user_id FROM import_author WHERE source = $1 \
               ORDER BY user_id LIMIT $2) some_authors";
    let last = tx.query_row(sql, &[source.into(), limit.into()], |row| row.opt_int(0))?;
    let Some(last) = last.flatten() else {
        return Ok(false);
    };
    let steps = [
        "UPDATE users SET following_version = following_version + 1 WHERE id IN \
         (SELECT f.source_id FROM import_author a JOIN follow f ON f.target_id = a.user_id \
         WHERE a.source = $1 AND a.user_id <= $2 \
         UNION SELECT user_id FROM import_author WHERE source = $1 AND user_id <= $2)",
        "UPDATE list SET member_version = member_version + 1 WHERE id IN \
         (SELECT m.list_id FROM import_author a JOIN list_member m ON m.user_id = a.user_id \
         WHERE a.source = $1 AND a.user_id <= $2)",
        "DELETE FROM import_author WHERE source = $1 AND user_id <= $2",
    ];
    for sql in steps {
        tx.execute(sql, &[source.into(), last.into()])?;
    }
    Ok(true)
}
