//! Import progress.

use base::{Fault, UserId};

use crate::Tx;
use crate::db::{insert_new_later, row, select};

row! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ImportProgress from "import_progress" {
        /// The position in the source at which to resume.
        pub position: String,
        /// JSON.
        pub report: String,
        pub finished: bool,
    }
}

/// None if the import was never started.
pub fn load_progress(tx: &mut Tx<'_>, source: &str) -> Result<Option<ImportProgress>, Fault> {
    let sql = select!(ImportProgress, "WHERE source = $1");
    tx.query_row(sql, &[source.into()])
}

/// To be called in the transaction of the imported rows.
pub fn set_progress(tx: &mut Tx<'_>, source: &str, progress: &ImportProgress) -> Result<(), Fault> {
    let sql = "INSERT INTO import_progress (source, position, report, finished) VALUES ($1, $2, $3, $4) \
               ON CONFLICT (source) DO UPDATE SET position = excluded.position, report = excluded.report, \
               finished = excluded.finished";
    let args = [source.into(), (&progress.position).into(), (&progress.report).into(), progress.finished.into()];
    tx.execute_later(sql, &args)
}

/// Updates the statistics by which PostgreSQL plans queries, which know nothing about a table of imported rows for a
/// minute; until then a page of mentions may read every post.
pub fn update_statistics(tx: &mut Tx<'_>) -> Result<(), Fault> {
    if tx.is_shared() { tx.execute("ANALYZE", &[]).map(|_| ()) } else { Ok(()) }
}

/// Whether an import is at `position` and may continue. Blocks other imports of the same source until the end of the
/// transaction.
pub fn claim_progress(tx: &mut Tx<'_>, source: &str, position: &str) -> Result<bool, Fault> {
    let sql = "UPDATE import_progress SET finished = 0 WHERE source = $1 AND position = $2 AND finished = 0";
    Ok(tx.execute(sql, &[source.into(), position.into()])? > 0)
}

/// Records authors whose posts were imported from a source.
pub fn insert_authors(tx: &mut Tx<'_>, source: &str, authors: &[UserId]) -> Result<(), Fault> {
    for author in authors {
        insert_new_later!(tx, "import_author", source = source, user_id = *author)?;
    }
    Ok(())
}

/// Invalidates the home timelines of up to `limit` imported authors and their followers, and the lists they are
/// members of; returns false when there are none left.
pub fn invalidate_home_timelines(tx: &mut Tx<'_>, source: &str, limit: i64) -> Result<bool, Fault> {
    let sql = "SELECT MAX(user_id) FROM (SELECT user_id FROM import_author WHERE source = $1 \
               ORDER BY user_id LIMIT $2) some_authors";
    let last: Option<Option<i64>> = tx.query_row(sql, &[source.into(), limit.into()])?;
    let Some(last) = last.flatten() else {
        return Ok(false);
    };
    let steps = [
        "UPDATE users SET following_version = following_version + 1 WHERE id IN (SELECT f.source_id \
         FROM import_author a JOIN follow f ON f.target_id = a.user_id WHERE a.source = $1 AND a.user_id <= $2 UNION \
         SELECT user_id FROM import_author WHERE source = $1 AND user_id <= $2)",
        "UPDATE list SET member_version = member_version + 1 WHERE id IN (SELECT m.list_id FROM import_author a \
         JOIN list_member m ON m.user_id = a.user_id WHERE a.source = $1 AND a.user_id <= $2)",
        "DELETE FROM import_author WHERE source = $1 AND user_id <= $2",
    ];
    for sql in steps {
        tx.execute_later(sql, &[source.into(), last.into()])?;
    }
    Ok(true)
}
