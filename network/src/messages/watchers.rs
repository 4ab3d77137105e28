//! Open pages that wait for new messages. One reader of the event log per node wakes those whom an entry concerns, so
//! that waiting costs no queries.

use std::time::Duration;

use base::{Error, Fault, UserId};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use store::event_log::{self, LogEvent};
use store::{Store, Tx};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::home_timelines::{MAX_WATCHERS, MAX_WATCHERS_PER_READER, follow_log};

/// Entries that are read together.
const READ_BATCH: i64 = 1_000;

#[derive(Debug, Default)]
pub struct MessageWatchers {
    /// By reader; one receiver per open page.
    readers: Mutex<FxHashMap<UserId, watch::Sender<()>>>,
    /// Entries of the event log up to this one were read; none while no page is open.
    position: Mutex<Option<i64>>,
}

/// One open page.
#[derive(Debug)]
pub struct MessageWatcher {
    changes: watch::Receiver<()>,
    is_checked: bool,
}

#[derive(Deserialize)]
struct MessageEntryBody {
    recipient_ids: Vec<String>,
}

impl MessageWatcher {
    /// None if too many pages are open.
    pub fn open(watchers: &MessageWatchers, reader: UserId) -> Option<Self> {
        let mut readers = watchers.readers.lock();
        let is_full = readers.values().map(watch::Sender::receiver_count).sum::<usize>() >= MAX_WATCHERS;
        let own_count = readers.get(&reader).map_or(0, watch::Sender::receiver_count);
        if is_full || own_count >= MAX_WATCHERS_PER_READER {
            return None;
        }
        let changes = readers.entry(reader).or_default().subscribe();
        drop(readers);
        Some(Self { changes, is_checked: false })
    }

    /// Waits for messages that the reader may have sent or received; false if there were none for `limit`. The first
    /// time, there may have been some before.
    pub async fn wait_for_messages(&mut self, limit: Duration) -> bool {
        if !std::mem::replace(&mut self.is_checked, true) {
            self.changes.mark_unchanged();
            return true;
        }
        matches!(timeout(limit, self.changes.changed()).await, Ok(Ok(())))
    }
}

impl MessageWatchers {
    /// Reads new messages from the event log in an endless loop, while pages are open.
    pub async fn follow_log(&self, store: &Store) {
        follow_log(store, "messages for open pages", || self.read_log(store)).await;
    }

    /// Reads up to the end of the event log and wakes the pages of those whom an entry concerns.
    async fn read_log(&self, store: &Store) -> Result<(), Error> {
        loop {
            if !self.has_readers() {
                *self.position.lock() = None;
                return Ok(());
            }
            let after = *self.position.lock();
            let (entries, through) = store.read(move |tx| Ok(list_new_entries(tx, after)?)).await?;
            match after {
                // What was sent before is not known.
                None => self.wake_all(),
                Some(_) => self.wake(&entries),
            }
            *self.position.lock() = Some(through);
            if i64::try_from(entries.len()).is_ok_and(|count| count < READ_BATCH) {
                return Ok(());
            }
        }
    }

    /// Whether pages are open. Forgets those who have closed theirs.
    fn has_readers(&self) -> bool {
        let mut readers = self.readers.lock();
        readers.retain(|_, changes| changes.receiver_count() > 0);
        !readers.is_empty()
    }

    fn wake_all(&self) {
        let readers = self.readers.lock();
        for changes in readers.values() {
            changes.send_replace(());
        }
    }

    fn wake(&self, entries: &[LogEvent]) {
        let readers = self.readers.lock();
        for entry in entries {
            let body: Option<MessageEntryBody> = serde_json::from_str(&entry.body).ok();
            let recipients = body.map(|body| body.recipient_ids).unwrap_or_default();
            for reader in recipients.iter().filter_map(|id| UserId::parse(id)).chain([UserId::new(entry.actor_id)]) {
                if let Some(changes) = readers.get(&reader) {
                    changes.send_replace(());
                }
            }
        }
    }
}

/// Entries after a cursor, and the cursor after them; at first, only the end of the log.
fn list_new_entries(tx: &mut Tx<'_>, after: Option<i64>) -> Result<(Vec<LogEvent>, i64), Fault> {
    let end = event_log::end_cursor(tx)?;
    let Some(after) = after else { return Ok((Vec::new(), end)) };
    let entries = event_log::list_message_entries(tx, after, READ_BATCH)?;
    let is_full = i64::try_from(entries.len()).is_ok_and(|count| count >= READ_BATCH);
    let last = entries.last().map_or(after, |entry| entry.seq);
    Ok((entries, if is_full { last } else { last.max(end) }))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use base::{Time, UserId};
    use store::event_log::LogEvent;

    use super::{MessageWatcher, MessageWatchers};
    use crate::home_timelines::MAX_WATCHERS_PER_READER;

    #[test]
    fn pages_of_a_reader_are_limited_until_one_is_closed() {
        let watchers = MessageWatchers::default();
        let open = |reader| MessageWatcher::open(&watchers, UserId::new(reader));
        let mut pages: Vec<_> = (0..MAX_WATCHERS_PER_READER).map(|_| open(1)).collect();
        assert!(pages.iter().all(Option::is_some) && open(1).is_none());
        assert!(open(2).is_some());
        pages.pop();
        pages.push(open(1));
        assert!(pages.iter().all(Option::is_some));
        pages.clear();
        assert!(!watchers.has_readers() && watchers.readers.lock().is_empty(), "nothing is kept of closed pages");
    }

    #[tokio::test]
    async fn message_wakes_the_pages_of_those_whom_it_concerns() {
        let watchers = MessageWatchers::default();
        let open = |reader| MessageWatcher::open(&watchers, UserId::new(reader)).unwrap();
        let (mut sender, mut recipient, mut other) = (open(1), open(2), open(3));
        let short = Duration::from_millis(10);
        for page in [&mut sender, &mut recipient, &mut other] {
            assert!(page.wait_for_messages(short).await, "a page looks once at first");
            assert!(!page.wait_for_messages(short).await);
        }
        let body = r#"{"conversation_id":"1-2","recipient_ids":["2"]}"#.to_owned();
        let at = Time::from_ms(1);
        watchers.wake(&[LogEvent { seq: 1, at, kind: "dm.sent".to_owned(), actor_id: 1, subject_id: 7, body }]);
        assert!(sender.wait_for_messages(short).await && recipient.wait_for_messages(short).await);
        assert!(!other.wait_for_messages(short).await);
    }
}
