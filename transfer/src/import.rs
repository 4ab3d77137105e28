//! The import: a thread reads the source, the store's writer stores chunks.

use std::sync::Arc;

use archive::{ArchivedAccount, ReadPosition};
use base::id::first_snowflake_at;
use base::{Fault, UserId};
use futures_util::future::BoxFuture;
use store::imports::{self, ImportProgress};
use store::{Store, Tx, event_log};
use tokio::sync::mpsc;

use crate::chunk::{self, ChunkOutcome};
use crate::error::TransferError;
use crate::options::{ArchiveOwner, ImportOptions, ImportSource, TransferProgress, TransferStage};
use crate::reader::{self, ImportChunk, ReadJob, ReaderMessage};
use crate::report::ImportReport;
use crate::source::{OpenedSource, SourceInfo};
use crate::thread;

/// Chunks waiting to be stored.
const CHUNK_QUEUE_LENGTH: usize = 2;
/// How far ahead of our clock the time in an id may be.
const MAX_CLOCK_SKEW_MS: i64 = 24 * 3600 * 1000;
const AUTHORS_PER_TRANSACTION: i64 = 500;

pub(crate) struct ImportContext {
    pub(crate) key: String,
    pub(crate) owner: Option<UserId>,
    /// A member's file, which must do nothing for others who have an account here.
    pub(crate) is_archive: bool,
}

/// Imports a source. An interrupted import is resumed; a completed one starts again from the
/// beginning and finds everything already stored.
///
/// Fails before anything is stored if the source cannot be read to its end.
pub fn import<'a>(
    store: &'a Store,
    source: ImportSource,
    options: ImportOptions,
    progress: &'a mut (dyn FnMut(TransferProgress) + Send),
) -> BoxFuture<'a, Result<ImportReport, TransferError>> {
    Box::pin(async move {
        let messages = options.messages;
        let (opened, info) = thread::run_blocking(move || OpenedSource::open(&source, messages)).await??;
        let mut run = ImportRun::start_or_resume(store, &info, &options).await?;
        let max_id = first_snowflake_at(store.context().clock.now().plus_ms(MAX_CLOCK_SKEW_MS));
        let job = ReadJob {
            source: opened,
            from: run.position.parse()?,
            check: run.is_new,
            batch: options.batch.max(1),
            media_dir: options.media_dir,
            max_id,
        };
        let (out, mut messages) = mpsc::channel(CHUNK_QUEUE_LENGTH);
        thread::spawn("transfer-reader", move || reader::run_reader(&job, &out))?;
        while let Some(message) = messages.recv().await {
            let (stage, records) = match message {
                ReaderMessage::Failed(error) => return Err(error.into()),
                ReaderMessage::Checking(records) => (TransferStage::Checking, records),
                ReaderMessage::Checked(total) => {
                    run.resolve_owner(total, info.account.clone(), options.owner.clone()).await?;
                    (TransferStage::Storing, 0)
                }
                ReaderMessage::Chunk(chunk) => {
                    run.store_chunk(Arc::from(chunk)).await?;
                    (TransferStage::Storing, run.report.records)
                }
            };
            progress(run.progress(stage, records));
        }
        progress(run.progress(TransferStage::Finishing, run.report.records));
        run.finish().await
    })
}

struct ImportRun<'s> {
    store: &'s Store,
    context: Arc<ImportContext>,
    report: Arc<ImportReport>,
    position: String,
    is_new: bool,
}

impl<'s> ImportRun<'s> {
    async fn start_or_resume(
        store: &'s Store,
        info: &SourceInfo,
        options: &ImportOptions,
    ) -> Result<Self, TransferError> {
        let key = info.key.clone();
        // A write, so that it waits for a transaction of an interrupted import.
        let progress = store.write(move |tx: &mut Tx<'_>| Ok(imports::load_progress(tx, &key)?)).await?;
        let mut run = Self {
            store,
            context: Arc::new(ImportContext { key: info.key.clone(), owner: None, is_archive: info.is_archive }),
            report: Arc::new(ImportReport {
                promised: info.manifest_counts.iter().cloned().collect(),
                ..ImportReport::default()
            }),
            position: ReadPosition::START.to_string(),
            is_new: true,
        };
        if let Some(progress) = progress.filter(|progress| !progress.finished) {
            let report: ImportReport = serde_json::from_str(&progress.report)
                .map_err(Fault::context("failed to read the report of an interrupted import"))?;
            let total = report.total;
            run.report = Arc::new(ImportReport { resumed_from: Some(progress.position.clone()), ..report });
            run.position = progress.position;
            run.is_new = false;
            run.resolve_owner(total, info.account.clone(), options.owner.clone()).await?;
        }
        Ok(run)
    }

    /// Resolves the owner and stores the first position, from which the import can be resumed.
    async fn resolve_owner(
        &mut self,
        total: u64,
        account: Option<ArchivedAccount>,
        owner: Option<ArchiveOwner>,
    ) -> Result<(), TransferError> {
        let mut report = ImportReport::clone(&self.report);
        report.total = total;
        let (key, position) = (self.context.key.clone(), self.position.clone());
        let resolved = self
            .store
            .write(move |tx: &mut Tx<'_>| {
                let mut report = report.clone();
                let owner = match chunk::resolve_owner(tx, account.as_ref(), owner.as_ref(), &mut report)? {
                    Ok(owner) => owner,
                    Err(why) => return Ok(Err(why)),
                };
                let progress =
                    ImportProgress { position: position.clone(), report: report.to_json_text(), finished: false };
                imports::set_progress(tx, &key, &progress)?;
                Ok(Ok((owner, report)))
            })
            .await?;
        let (owner, report) = resolved.map_err(TransferError::Owner)?;
        let ImportContext { key, is_archive, .. } = &*self.context;
        self.context = Arc::new(ImportContext { key: key.clone(), owner, is_archive: *is_archive });
        self.report = Arc::new(report);
        Ok(())
    }

    async fn store_chunk(&mut self, chunk: Arc<ImportChunk>) -> Result<(), TransferError> {
        let (context, report) = (Arc::clone(&self.context), Arc::clone(&self.report));
        let shared = Arc::clone(&chunk);
        let work = move |tx: &mut Tx<'_>| chunk::store(tx, &shared, &context, &report);
        match self.store.write(work).await? {
            ChunkOutcome::Stored(report) => self.report = Arc::new(*report),
            ChunkOutcome::StoredElsewhere => return Err(TransferError::Busy),
        }
        self.position.clone_from(&chunk.next_position);
        Ok(())
    }

    /// Invalidates the home timelines that show imported authors, has the database count the rows, and completes the
    /// import.
    async fn finish(self) -> Result<ImportReport, TransferError> {
        let key = self.context.key.clone();
        let invalidate =
            move |tx: &mut Tx<'_>| Ok(imports::invalidate_home_timelines(tx, &key, AUTHORS_PER_TRANSACTION)?);
        while self.store.write(invalidate.clone()).await? {}
        self.store.write(|tx: &mut Tx<'_>| Ok(imports::update_statistics(tx)?)).await?;
        let context = Arc::clone(&self.context);
        let progress = ImportProgress { position: self.position, report: self.report.to_json_text(), finished: true };
        let close = move |tx: &mut Tx<'_>| {
            imports::set_progress(tx, &context.key, &progress)?;
            let owner = context.owner.map_or(0, UserId::get);
            Ok(event_log::append(tx, "import.end", owner, 0, &progress.report)?)
        };
        self.store.write(close).await?;
        Ok(ImportReport { owner: self.context.owner, ..ImportReport::clone(&self.report) })
    }

    fn progress(&self, stage: TransferStage, records: u64) -> TransferProgress {
        let total = self.report.total;
        TransferProgress { stage, records, total: (total > 0).then_some(total) }
    }
}
