//! The thread that reads: it checks the source, then hands over chunks that are ready to store.

mod media;
mod ready;

use archive::{ArchiveError, ArchiveRecord, ReadPosition, SkipReason, SkippedItem};
use store::portable_tables;
use tokio::sync::mpsc::Sender;

pub(crate) use media::{file_name, key_of};
pub(crate) use ready::{Item, Like, Prepared, Said, edge_name, prepare};

use crate::report::Report;
use crate::source::Opened;
use media::Shelf;

/// Bytes of text in a chunk, about, at most.
const CHUNK_BYTES: usize = 4 << 20;
/// Records between two looks at whether anyone still waits.
const LOOK: u64 = 10_000;

/// What is stored in one transaction.
#[derive(Default)]
pub(crate) struct Chunk {
    pub(crate) items: Vec<Item>,
    /// Where it begins.
    pub(crate) before: String,
    /// Where the next one begins.
    pub(crate) after: String,
    /// What happened while it was read.
    pub(crate) report: Report,
    bytes: usize,
}

/// What the thread has to say.
pub(crate) enum Message {
    /// So many records were looked at.
    Checking(u64),
    /// The source holds so many records and can be read to its end.
    Sound(u64),
    /// To be stored.
    Chunk(Box<Chunk>),
    /// The source cannot be read; nothing follows.
    Broken(ArchiveError),
}

/// What the thread is to do.
pub(crate) struct Errand {
    pub(crate) source: Opened,
    pub(crate) from: ReadPosition,
    /// Whether the source is read through first.
    pub(crate) check: bool,
    pub(crate) batch: usize,
    pub(crate) media_dir: Option<std::path::PathBuf>,
    /// Ids above this one are from the future.
    pub(crate) highest: i64,
}

/// Does it. Ends early when nobody listens any more.
pub(crate) fn run(errand: &Errand, out: &Sender<Message>) {
    let outcome = if errand.check {
        check(errand, out).and_then(|total| {
            let told = out.blocking_send(Message::Sound(total));
            told.map_or(Ok(()), |()| read(errand, out))
        })
    } else {
        read(errand, out)
    };
    if let Err(error) = outcome {
        // Nobody may be there to hear it.
        drop(out.blocking_send(Message::Broken(error)));
    }
}

/// Reads everything once. What would end the reading in the middle is found before anything is
/// stored.
fn check(errand: &Errand, out: &Sender<Message>) -> Result<u64, ArchiveError> {
    let mut records = 0;
    let mut broken = None;
    errand.source.each(errand.from, |item| {
        match item {
            Err(error) if !error.is_recoverable() => broken = Some(error),
            _ => records += 1,
        }
        if broken.is_some() || out.is_closed() {
            return false;
        }
        records % LOOK != 0 || out.blocking_send(Message::Checking(records)).is_ok()
    })?;
    broken.map_or(Ok(records), Err)
}

fn read(errand: &Errand, out: &Sender<Message>) -> Result<(), ArchiveError> {
    let shelf = Shelf::new(errand.media_dir.clone(), &errand.source);
    let mut chunk = Chunk::beginning(&errand.from.to_string());
    let mut broken = None;
    errand.source.each(errand.from, |item| {
        match item {
            Ok((behind, record)) => {
                chunk.after = behind.to_string();
                chunk.add(record, &shelf, errand.highest);
            }
            Err(error) if error.is_recoverable() => chunk.refuse(&error),
            Err(error) => {
                broken = Some(error);
                return false;
            }
        }
        if chunk.items.len() < errand.batch && chunk.bytes < CHUNK_BYTES {
            return true;
        }
        let next = Chunk::beginning(&chunk.after);
        let full = std::mem::replace(&mut chunk, next);
        out.blocking_send(Message::Chunk(Box::new(full))).is_ok()
    })?;
    // The reader is gone or has it all: what is left is the last chunk, perhaps an empty one.
    drop(out.blocking_send(Message::Chunk(Box::new(chunk))));
    broken.map_or(Ok(()), Err)
}

impl Chunk {
    fn beginning(at: &str) -> Self {
        Self {
            before: at.to_owned(),
            after: at.to_owned(),
            ..Self::default()
        }
    }

    fn add(&mut self, record: ArchiveRecord, media: &Shelf<'_>, highest: i64) {
        self.report.records += 1;
        if let ArchiveRecord::Skipped(skipped) = record {
            return self.skip(&skipped);
        }
        self.report.see(data_type(&record), 1);
        if let Some(item) = prepare(record, media, highest, &mut self.report) {
            self.bytes += item.weight();
            self.items.push(item);
        }
    }

    fn skip(&mut self, skipped: &SkippedItem) {
        let element = skipped.element;
        let place = || match element {
            Some(element) => format!("{}:{element}", skipped.file),
            None => skipped.file.clone(),
        };
        let (why, example) = match &skipped.why {
            SkipReason::Bad(reason) => (
                "it cannot be read".to_owned(),
                format!("{}: {reason}", place()),
            ),
            why => (why.to_string(), place()),
        };
        if skipped.why != SkipReason::Absent {
            self.report.see(&skipped.kind, skipped.count);
        }
        self.report
            .add_skip(&skipped.kind, &why, skipped.count, || example);
    }

    fn refuse(&mut self, error: &ArchiveError) {
        self.report.records += 1;
        self.report
            .skip("element", "it is refused", || error.to_string());
    }
}

/// The archive's data type of a record, as its manifest names it.
fn data_type(record: &ArchiveRecord) -> &'static str {
    match record {
        ArchiveRecord::Account(_) => "account",
        ArchiveRecord::Profile(_) => "profile",
        ArchiveRecord::User(_) => "user",
        ArchiveRecord::Post(post) if post.community_id.is_some() => "communityTweet",
        ArchiveRecord::Post(_) => "tweets",
        ArchiveRecord::NoteTweet(_) => "noteTweet",
        ArchiveRecord::Follow(tie) if tie.to.is_none() => "follower",
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
        ArchiveRecord::Row(row) => {
            portable_tables::find_table(&row.kind).map_or("line", |table| table.name)
        }
        ArchiveRecord::Skipped(_) => "skipped",
    }
}
