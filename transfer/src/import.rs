//! The import itself: a thread reads, the store writes, this stands between them.

use std::sync::Arc;

use archive::{ArchivedAccount, ReadPosition};
use base::id::first_snowflake_at;
use base::{Fault, UserId};
use store::imports::{self, ImportProgress};
use store::{Store, Tx, event_log};
use tokio::sync::mpsc;

use crate::chunk::{self, Stored};
use crate::error::TransferError;
use crate::options::{ImportOptions, Owner, Progress, Source, Stage};
use crate::read::{self, Chunk, Errand, Message};
use crate::report::Report;
use crate::source::{About, Opened};
use crate::thread;

/// Chunks that wait to be stored.
const WAITING: usize = 2;
/// How far ahead of our clock an id may be.
const AHEAD_MS: i64 = 24 * 3600 * 1000;
/// Authors whose home timelines are renewed in one transaction.
const AUTHORS: i64 = 500;

/// What holds for a whole import.
pub(crate) struct Setup {
    /// The source's name in the store.
    pub(crate) key: String,
    /// Whom the source means by its owner.
    pub(crate) owner: Option<UserId>,
}

/// Imports a source. An import that was interrupted goes on where it stopped; one that had come
/// to its end is done again from the beginning, and finds everything there.
///
/// A source that cannot be read to its end is refused before anything is stored.
pub async fn import(
    store: &Store,
    source: Source,
    options: ImportOptions,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Report, TransferError> {
    let messages = options.messages;
    let (opened, about) = thread::run(move || Opened::open(&source, messages)).await??;
    let mut run = Run::begin(store, &about, &options).await?;
    let highest = first_snowflake_at(store.context().clock.now().plus_ms(AHEAD_MS));
    let errand = Errand {
        source: opened,
        from: run.position.parse()?,
        check: run.is_new,
        batch: options.batch.max(1),
        media_dir: options.media_dir,
        highest,
    };
    let (out, mut messages) = mpsc::channel(WAITING);
    thread::start("transfer-reader", move || read::run(&errand, &out))?;
    while let Some(message) = messages.recv().await {
        let (stage, records) = match message {
            Message::Broken(error) => return Err(error.into()),
            Message::Checking(records) => (Stage::Checking, records),
            Message::Sound(total) => {
                run.settle(total, about.account.clone(), options.owner.clone())
                    .await?;
                (Stage::Storing, 0)
            }
            Message::Chunk(chunk) => {
                run.store(Arc::from(chunk)).await?;
                (Stage::Storing, run.report.records)
            }
        };
        progress(run.progress(stage, records));
    }
    progress(run.progress(Stage::Finishing, run.report.records));
    run.finish().await
}

struct Run<'s> {
    store: &'s Store,
    setup: Arc<Setup>,
    report: Arc<Report>,
    position: String,
    is_new: bool,
}

impl<'s> Run<'s> {
    async fn begin(
        store: &'s Store,
        about: &About,
        options: &ImportOptions,
    ) -> Result<Self, TransferError> {
        let key = about.key.clone();
        // As a write, so that it comes after a transaction that an interrupted import had begun.
        let mark = store
            .write(move |tx: &mut Tx<'_>| Ok(imports::load_progress(tx, &key)?))
            .await?;
        let mut run = Self {
            store,
            setup: Arc::new(Setup {
                key: about.key.clone(),
                owner: None,
            }),
            report: Arc::new(Report {
                promised: about.promised.iter().cloned().collect(),
                ..Report::default()
            }),
            position: ReadPosition::START.to_string(),
            is_new: true,
        };
        if let Some(mark) = mark.filter(|mark| !mark.finished) {
            let report: Report = serde_json::from_str(&mark.report)
                .map_err(Fault::context("the report of an interrupted import"))?;
            let total = report.total;
            run.report = Arc::new(Report {
                resumed_from: Some(mark.position.clone()),
                ..report
            });
            run.position = mark.position;
            run.is_new = false;
            run.settle(total, about.account.clone(), options.owner.clone())
                .await?;
        }
        Ok(run)
    }

    /// Finds out who the owner is, and from here on is an import that can be resumed.
    async fn settle(
        &mut self,
        total: u64,
        account: Option<ArchivedAccount>,
        owner: Option<Owner>,
    ) -> Result<(), TransferError> {
        let mut report = Report::clone(&self.report);
        report.total = total;
        let (key, position) = (self.setup.key.clone(), self.position.clone());
        let settled = self
            .store
            .write(move |tx: &mut Tx<'_>| {
                let mut report = report.clone();
                let owner = match chunk::owner(tx, account.as_ref(), owner.as_ref(), &mut report)? {
                    Ok(owner) => owner,
                    Err(why) => return Ok(Err(why)),
                };
                let mark = ImportProgress {
                    position: position.clone(),
                    report: report.stored(),
                    finished: false,
                };
                imports::set_progress(tx, &key, &mark)?;
                Ok(Ok((owner, report)))
            })
            .await?;
        let (owner, report) = settled.map_err(TransferError::Owner)?;
        self.setup = Arc::new(Setup {
            key: self.setup.key.clone(),
            owner,
        });
        self.report = Arc::new(report);
        Ok(())
    }

    async fn store(&mut self, chunk: Arc<Chunk>) -> Result<(), TransferError> {
        let (setup, report) = (Arc::clone(&self.setup), Arc::clone(&self.report));
        let shared = Arc::clone(&chunk);
        let work = move |tx: &mut Tx<'_>| chunk::store(tx, &shared, &setup, &report);
        match self.store.write(work).await? {
            Stored::Done(report) => self.report = Arc::new(*report),
            Stored::Elsewhere => return Err(TransferError::Busy),
        }
        self.position.clone_from(&chunk.after);
        Ok(())
    }

    /// Makes the readers of everyone whose posts came look again, and closes the import.
    async fn finish(self) -> Result<Report, TransferError> {
        let key = self.setup.key.clone();
        let renew =
            move |tx: &mut Tx<'_>| Ok(imports::invalidate_home_timelines(tx, &key, AUTHORS)?);
        while self.store.write(renew.clone()).await? {}
        let setup = Arc::clone(&self.setup);
        let mark = ImportProgress {
            position: self.position,
            report: self.report.stored(),
            finished: true,
        };
        let close = move |tx: &mut Tx<'_>| {
            imports::set_progress(tx, &setup.key, &mark)?;
            let owner = setup.owner.map_or(0, UserId::get);
            Ok(event_log::append(tx, "import.end", owner, 0, &mark.report)?)
        };
        self.store.write(close).await?;
        Ok(Report::clone(&self.report))
    }

    fn progress(&self, stage: Stage, records: u64) -> Progress {
        let total = self.report.total;
        Progress {
            stage,
            records,
            total: (total > 0).then_some(total),
        }
    }
}
