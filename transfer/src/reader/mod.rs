//! The reader thread: it checks the source, then sends chunks that are ready to store.

mod media_folder;
mod prepare;

use archive::{ArchiveError, ArchiveRecord, ReadPosition, SkipReason, SkippedItem};
use store::portable_tables;
use tokio::sync::mpsc::Sender;

pub(crate) use media_folder::{file_name, media_key};
pub(crate) use prepare::{PreparedLike, PreparedMessage, PreparedPost, PreparedRecord, edge_name, prepare_record};

use crate::report::ImportReport;
use crate::source::OpenedSource;
use media_folder::MediaFolder;

/// The approximate maximum size of the texts in a chunk.
const MAX_CHUNK_BYTES: usize = 4 << 20;
/// Records between two progress messages.
const PROGRESS_INTERVAL: u64 = 10_000;

#[derive(Default)]
pub(crate) struct ImportChunk {
    pub(crate) items: Vec<PreparedRecord>,
    pub(crate) start_position: String,
    pub(crate) next_position: String,
    pub(crate) report: ImportReport,
    bytes: usize,
}

pub(crate) enum ReaderMessage {
    Checking(u64),
    Checked(u64),
    Chunk(Box<ImportChunk>),
    Failed(ArchiveError),
}

pub(crate) struct ReadJob {
    pub(crate) source: OpenedSource,
    pub(crate) from: ReadPosition,
    /// Whether to read the source completely first.
    pub(crate) check: bool,
    pub(crate) batch: usize,
    pub(crate) media_dir: Option<std::path::PathBuf>,
    /// Greater ids are from the future.
    pub(crate) max_id: i64,
}

/// Stops early when the receiver is gone.
pub(crate) fn run_reader(job: &ReadJob, out: &Sender<ReaderMessage>) {
    let outcome = if job.check {
        check_source(job, out).and_then(|total| {
            let sent = out.blocking_send(ReaderMessage::Checked(total));
            sent.map_or(Ok(()), |()| read_chunks(job, out))
        })
    } else {
        read_chunks(job, out)
    };
    if let Err(error) = outcome {
        // The receiver may be gone.
        drop(out.blocking_send(ReaderMessage::Failed(error)));
    }
}

/// Reads everything once, to find errors before anything is stored.
fn check_source(job: &ReadJob, out: &Sender<ReaderMessage>) -> Result<u64, ArchiveError> {
    let mut records = 0;
    let mut fatal_error = None;
    job.source.visit_records(job.from, |item| {
        match item {
            Err(error) if !error.is_recoverable() => fatal_error = Some(error),
            _ => records += 1,
        }
        if fatal_error.is_some() || out.is_closed() {
            return false;
        }
        records % PROGRESS_INTERVAL != 0 || out.blocking_send(ReaderMessage::Checking(records)).is_ok()
    })?;
    fatal_error.map_or(Ok(records), Err)
}

fn read_chunks(job: &ReadJob, out: &Sender<ReaderMessage>) -> Result<(), ArchiveError> {
    let media_folder = MediaFolder::new(job.media_dir.clone(), &job.source);
    let mut chunk = ImportChunk::starting_at(&job.from.to_string());
    let mut fatal_error = None;
    job.source.visit_records(job.from, |item| {
        match item {
            Ok((next, record)) => {
                chunk.next_position = next.to_string();
                chunk.add_record(record, &media_folder, job.max_id);
            }
            Err(error) if error.is_recoverable() => chunk.add_refused(&error),
            Err(error) => {
                fatal_error = Some(error);
                return false;
            }
        }
        if chunk.items.len() < job.batch && chunk.bytes < MAX_CHUNK_BYTES {
            return true;
        }
        let next = ImportChunk::starting_at(&chunk.next_position);
        let full = std::mem::replace(&mut chunk, next);
        out.blocking_send(ReaderMessage::Chunk(Box::new(full))).is_ok()
    })?;
    // The last chunk, possibly empty. The receiver may be gone.
    drop(out.blocking_send(ReaderMessage::Chunk(Box::new(chunk))));
    fatal_error.map_or(Ok(()), Err)
}

impl ImportChunk {
    fn starting_at(at: &str) -> Self {
        Self { start_position: at.to_owned(), next_position: at.to_owned(), ..Self::default() }
    }

    fn add_record(&mut self, record: ArchiveRecord, media: &MediaFolder<'_>, max_id: i64) {
        self.report.records += 1;
        if let ArchiveRecord::Skipped(skipped) = record {
            return self.add_skipped(&skipped);
        }
        self.report.count_seen(data_type(&record), 1);
        if let Some(item) = prepare_record(record, media, max_id, &mut self.report) {
            self.bytes += item.estimated_size();
            self.items.push(item);
        }
    }

    fn add_skipped(&mut self, skipped: &SkippedItem) {
        let element = skipped.element;
        let location = || match element {
            Some(element) => format!("{}:{element}", skipped.file),
            None => skipped.file.clone(),
        };
        let (reason, example) = match &skipped.why {
            SkipReason::Bad(reason) => ("it cannot be read".to_owned(), format!("{}: {reason}", location())),
            other => (other.to_string(), location()),
        };
        if skipped.why != SkipReason::Absent {
            self.report.count_seen(&skipped.kind, skipped.count);
        }
        self.report.add_skipped(&skipped.kind, &reason, skipped.count, || example);
    }

    fn add_refused(&mut self, error: &ArchiveError) {
        self.report.records += 1;
        self.report.skip("element", "it was rejected", || error.to_string());
    }
}

fn data_type(record: &ArchiveRecord) -> &'static str {
    match record {
        ArchiveRecord::Account(_) => "account",
        ArchiveRecord::Profile(_) => "profile",
        ArchiveRecord::User(_) => "user",
        ArchiveRecord::Post(post) if post.community_id.is_some() => "communityTweet",
        ArchiveRecord::Post(_) => "tweets",
        ArchiveRecord::NoteTweet(_) => "noteTweet",
        ArchiveRecord::Follow(relation) if relation.to.is_none() => "follower",
        ArchiveRecord::Follow(_) => "following",
        ArchiveRecord::Block(_) => "block",
        ArchiveRecord::Mute(_) => "mute",
        ArchiveRecord::FollowRequest(_) => "follow_request",
        ArchiveRecord::DmBlock(_) => "dm_block",
        ArchiveRecord::Like(_) => "like",
        ArchiveRecord::List(list) => match list.role {
            archive::ArchivedListRole::Created => "listsCreated",
            archive::ArchivedListRole::Member => "listsMember",
            archive::ArchivedListRole::Subscribed => "listsSubscribed",
        },
        ArchiveRecord::ListMember(_) => "listMember",
        ArchiveRecord::DeletedPost(deleted) if deleted.post.is_some() => "deletedTweets",
        ArchiveRecord::DeletedPost(_) => "deletedTweetHeaders",
        ArchiveRecord::Media(_) => "media",
        ArchiveRecord::Message(message) if message.conversation.contains('-') => "directMessages",
        ArchiveRecord::Message(_) => "directMessagesGroup",
        ArchiveRecord::Row(row) => portable_tables::find_table(&row.kind).map_or("line", |table| table.name),
        ArchiveRecord::Skipped(_) => "skipped",
    }
}
