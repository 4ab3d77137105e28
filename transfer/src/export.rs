//! Exports all data as lines that can be imported again.

mod lines;
mod posts;
mod users;

pub(crate) use posts::{OwnPost, load_own_posts};

use std::collections::BTreeMap;
use std::io::Write;

use archive::ArchiveRecord;
use base::{Error, Fault};
use futures_util::future::BoxFuture;
use store::imports::EdgeKind;
use store::portable_tables::{self, CellValue};
use store::{Store, Tx};

use crate::error::TransferError;
use crate::options::{TransferProgress, TransferStage};

const PAGE_SIZE: i64 = 1_000;

/// The numbers of written and of omitted records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportSummary {
    pub lines: BTreeMap<&'static str, u64>,
    /// By kind: deleted, suspended and placeholder users, deleted and placeholder posts. The lines
    /// that refer to them still contain their ids.
    pub omitted: BTreeMap<&'static str, u64>,
}

/// A page of lines, and the key of the last one if there are more.
pub(crate) struct ExportPage<K> {
    records: Vec<ArchiveRecord>,
    omitted: u64,
    next: Option<K>,
}

/// Writes every user, post, list, edge, like, attachment and row of the portable tables as a line,
/// without secrets and email addresses. Each page is read in its own transaction; concurrent writes
/// may or may not be included.
///
/// Lines of a kind are sorted by id. The order of the kinds keeps the number of placeholders in an
/// import small: users, posts, lists, list members, follows, blocks, mutes, follow requests,
/// message blocks, likes, attachments, then the portable tables.
pub async fn export_json_lines(
    store: &Store,
    mut out: impl Write + Send,
    progress: &mut (dyn FnMut(TransferProgress) + Send),
) -> Result<ExportSummary, TransferError> {
    write_export(store, &mut out, progress).await
}

fn write_export<'a>(
    store: &'a Store,
    out: &'a mut (dyn Write + Send),
    progress: &'a mut (dyn FnMut(TransferProgress) + Send),
) -> BoxFuture<'a, Result<ExportSummary, TransferError>> {
    Box::pin(async move {
        let mut export = JsonLinesExport { store, out, progress, summary: ExportSummary::default(), records: 0 };
        export.write_pages("user", i64::MIN, users::load_users).await?;
        export.write_pages("post", 0, posts::load_posts).await?;
        export.write_pages("list", 0, lines::load_lists).await?;
        export.write_pages("list_member", START_PAIR, lines::load_list_members).await?;
        for (name, kind) in [
            ("follow", EdgeKind::Follow),
            ("block", EdgeKind::Block),
            ("mute", EdgeKind::Mute),
            ("follow_request", EdgeKind::Request),
            ("dm_block", EdgeKind::DmBlock),
        ] {
            let page = move |tx: &mut Tx<'_>, after| lines::load_edges(tx, kind, after);
            export.write_pages(name, START_PAIR, page).await?;
        }
        export.write_pages("like", START_PAIR, lines::load_likes).await?;
        export.write_pages("media", 0, lines::load_media).await?;
        for table in portable_tables::all_tables() {
            let page = move |tx: &mut Tx<'_>, after: Vec<CellValue>| lines::load_table_rows(tx, table, &after);
            export.write_pages(table.name, table.first_key(), page).await?;
        }
        export.out.flush().map_err(Fault::context("failed to write the export"))?;
        Ok(export.summary)
    })
}

/// Less than any pair of ids.
const START_PAIR: (i64, i64) = (i64::MIN, i64::MIN);

struct JsonLinesExport<'a> {
    store: &'a Store,
    out: &'a mut (dyn Write + Send),
    progress: &'a mut (dyn FnMut(TransferProgress) + Send),
    summary: ExportSummary,
    records: u64,
}

impl JsonLinesExport<'_> {
    async fn write_pages<K: Clone + Send + Sync + 'static>(
        &mut self,
        name: &'static str,
        start: K,
        page: impl Fn(&mut Tx<'_>, K) -> Result<ExportPage<K>, Error> + Copy + Send + 'static,
    ) -> Result<(), TransferError> {
        let mut after = Some(start);
        while let Some(key) = after {
            let read = move |tx: &mut Tx<'_>| page(tx, key.clone());
            let page = self.store.read(read).await?;
            for record in &page.records {
                writeln!(self.out, "{}", record.to_json_line())
                    .map_err(Fault::context("failed to write the export"))?;
            }
            let count = u64::try_from(page.records.len()).unwrap_or(0);
            *self.summary.lines.entry(name).or_default() += count;
            *self.summary.omitted.entry(name).or_default() += page.omitted;
            self.records += count;
            (self.progress)(TransferProgress { stage: TransferStage::Exporting, records: self.records, total: None });
            after = page.next;
        }
        Ok(())
    }
}

/// A full page is followed by another one.
pub(crate) fn build_page<R, K>(
    rows: &[R],
    key: impl Fn(&R) -> K,
    records: impl Iterator<Item = ArchiveRecord>,
) -> ExportPage<K> {
    let records: Vec<_> = records.collect();
    let full = i64::try_from(rows.len()).is_ok_and(|count| count >= PAGE_SIZE);
    let omitted = rows.len().saturating_sub(records.len());
    ExportPage { records, omitted: u64::try_from(omitted).unwrap_or(0), next: rows.last().map(key).filter(|_| full) }
}
