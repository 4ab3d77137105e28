//! Everything as lines that an import takes back.

mod lines;
mod posts;
mod users;

use std::collections::BTreeMap;
use std::io::Write;

use archive::ArchiveRecord;
use base::{Error, Fault};
use store::imports::EdgeKind;
use store::portable_tables::{self, CellValue};
use store::{Store, Tx};

use crate::error::TransferError;
use crate::options::{Progress, Stage};

/// Rows of a page.
const PAGE: i64 = 1_000;

/// What an export wrote, and what it left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Lines by kind.
    pub lines: BTreeMap<&'static str, u64>,
    /// Users who are deleted, suspended or placeholders, and deleted posts and placeholders,
    /// which live on in the lines that point to them.
    pub left_out: BTreeMap<&'static str, u64>,
}

/// A page of lines, and the key to go on behind.
pub(crate) struct Page<K> {
    records: Vec<ArchiveRecord>,
    left_out: u64,
    next: Option<K>,
}

/// Writes every user, post, list, edge, like and attachment as a line each, and every row of the
/// tables that are carried as they are; neither secrets nor addresses. A page is read in one transaction; what is written meanwhile may or may not be
/// among the lines.
///
/// Within its kind a line stands in the order of its ids, and kinds come in an order in which an
/// import needs few placeholders: users, posts, lists, list members, follows, blocks, mutes,
/// requests to follow, blocks of messages, likes, attachments, then the carried tables.
pub async fn export_json_lines<W: Write>(
    store: &Store,
    out: W,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Exported, TransferError> {
    let mut export = Export {
        store,
        out,
        progress,
        done: Exported::default(),
        records: 0,
    };
    export.all("user", i64::MIN, users::page).await?;
    export.all("post", 0, posts::page).await?;
    export.all("list", 0, lines::lists).await?;
    export.all("list_member", START, lines::members).await?;
    for (name, kind) in [
        ("follow", EdgeKind::Follow),
        ("block", EdgeKind::Block),
        ("mute", EdgeKind::Mute),
        ("follow_request", EdgeKind::Request),
        ("dm_block", EdgeKind::DmBlock),
    ] {
        let page = move |tx: &mut Tx<'_>, after| lines::edges(tx, kind, after);
        export.all(name, START, page).await?;
    }
    export.all("like", START, lines::likes).await?;
    export.all("media", 0, lines::media).await?;
    for table in portable_tables::all_tables() {
        let page = move |tx: &mut Tx<'_>, after: Vec<CellValue>| lines::rows(tx, table, &after);
        export.all(table.name, table.first_key(), page).await?;
    }
    export
        .out
        .flush()
        .map_err(Fault::context("writing the export"))?;
    Ok(export.done)
}

/// Before every pair of ids.
const START: (i64, i64) = (i64::MIN, i64::MIN);

struct Export<'a, W> {
    store: &'a Store,
    out: W,
    progress: &'a mut (dyn FnMut(Progress) + Send),
    done: Exported,
    records: u64,
}

impl<W: Write> Export<'_, W> {
    async fn all<K: Clone + Send + Sync + 'static>(
        &mut self,
        name: &'static str,
        start: K,
        page: impl Fn(&mut Tx<'_>, K) -> Result<Page<K>, Error> + Copy + Send + 'static,
    ) -> Result<(), TransferError> {
        let mut after = Some(start);
        while let Some(key) = after {
            let read = move |tx: &mut Tx<'_>| page(tx, key.clone());
            let page = self.store.read(read).await?;
            for record in &page.records {
                writeln!(self.out, "{}", record.to_json_line())
                    .map_err(Fault::context("writing the export"))?;
            }
            let count = u64::try_from(page.records.len()).unwrap_or(0);
            *self.done.lines.entry(name).or_default() += count;
            *self.done.left_out.entry(name).or_default() += page.left_out;
            self.records += count;
            (self.progress)(Progress {
                stage: Stage::Exporting,
                records: self.records,
                total: None,
            });
            after = page.next;
        }
        Ok(())
    }
}

/// A page of what `rows` gave; a full page has another behind it.
pub(crate) fn page_of<R, K>(
    rows: &[R],
    key: impl Fn(&R) -> K,
    records: Vec<ArchiveRecord>,
) -> Page<K> {
    let full = i64::try_from(rows.len()).is_ok_and(|count| count >= PAGE);
    let left_out = rows.len().saturating_sub(records.len());
    Page {
        records,
        left_out: u64::try_from(left_out).unwrap_or(0),
        next: rows.last().map(key).filter(|_| full),
    }
}
