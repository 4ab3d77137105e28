//! What open streams are sent as it happens, and what happened before.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use base::{AppId, Error};
use bytes::Bytes;
use futures_util::stream::{iter, unfold};
use futures_util::{Stream, StreamExt as _};
use store::{Store, event_log};

use super::{Envelope, Home, Scope, matching};
use crate::streams::{Endpoint, Hub, Past, Session, Why};

/// Entries of the log that are read at once.
const ENTRIES: i64 = 500;

/// A node's reader of the log for its open streams.
pub struct Live {
    store: Arc<Store>,
    hub: Hub,
    home: Home,
    /// How far it has read, since there is something to remember.
    read: Option<i64>,
}

impl Live {
    /// A reader that begins at the end of the log.
    pub const fn new(store: Arc<Store>, hub: Hub, home: Home) -> Self {
        Self {
            store,
            hub,
            home,
            read: None,
        }
    }

    /// Sends what was told since the last time; whether there may be more. While nobody listens,
    /// only the end of the log is looked for.
    pub async fn step(&mut self) -> Result<bool, Error> {
        let apps: HashSet<AppId> = self.hub.apps(Endpoint::Activity).into_iter().collect();
        let (Some(from), false) = (self.read, apps.is_empty()) else {
            self.read = Some(self.store.read(|tx| Ok(event_log::end_cursor(tx)?)).await?);
            return Ok(false);
        };
        let (home, scope) = (self.home, Scope::Streams(apps));
        let read = self.store.read(move |tx| {
            let events = event_log::list_after(tx, from, ENTRIES)?;
            let last = events.last().map(|event| event.seq);
            Ok((last, events.len(), matching(tx, &events, &scope, home)?))
        });
        let (last, count, found) = read.await?;
        for envelope in &found {
            let line = line(envelope);
            self.hub.each(envelope.app, Endpoint::Activity, |session| {
                // What happened before is for those who ask for the past.
                if envelope.at >= session.since() {
                    session.send(line.clone());
                }
            });
        }
        self.read = last.or(self.read);
        Ok(i64::try_from(count).unwrap_or(ENTRIES) >= ENTRIES)
    }
}

fn line(envelope: &Envelope) -> Bytes {
    Bytes::from(format!("{}\r\n", envelope.body))
}

/// By so much entries of the log may be out of the order of their times.
const SLACK_MS: i64 = 60_000;

/// A stream's way through the log, up to where its own live part begins.
struct Walk {
    store: Arc<Store>,
    session: Session,
    home: Home,
    past: Past,
    /// How far it has come.
    at: Option<i64>,
    /// The newest entry that there was when it began, which others may still keep back.
    newest: Option<i64>,
}

/// How long what is kept back is waited for at a time.
const KEPT_BACK: Duration = Duration::from_millis(50);

/// What a stream was sent, or would have been, before it was opened, oldest first; where an end
/// is asked for, the stream ends with it.
pub fn past(
    store: Arc<Store>,
    session: Session,
    home: Home,
    past: Past,
) -> impl Stream<Item = Bytes> + Send + 'static {
    let walk = Walk {
        store,
        session,
        home,
        past,
        at: None,
        newest: None,
    };
    unfold(Some(walk), |walk| async {
        let mut walk = walk?;
        match walk.read().await {
            Ok((lines, true)) => Some((lines, Some(walk))),
            Ok((lines, false)) => {
                if walk.past.until.is_some() {
                    walk.session.end(Why::Finished);
                }
                Some((lines, None))
            }
            Err(stop) => {
                tracing::error!(?stop, "the past of a stream was not read");
                walk.session.end(Why::Failed);
                None
            }
        }
    })
    .flat_map(iter)
}

impl Walk {
    /// Reads on; and whether there is more.
    async fn read(&mut self) -> Result<(Vec<Bytes>, bool), Error> {
        let (past, at, home, newest) = (self.past, self.at, self.home, self.newest);
        let until = past.until.unwrap_or_else(|| self.session.since());
        let scope = Scope::Streams(HashSet::from([self.session.app()]));
        let read = self.store.read(move |tx| {
            let at = match at {
                Some(at) => at,
                None => event_log::cursor_before(tx, past.from.plus_ms(-SLACK_MS))?,
            };
            let newest = match newest {
                Some(newest) => newest,
                None => event_log::highest_seq(tx)?,
            };
            let mut events = event_log::list_after(tx, at, ENTRIES)?;
            let last = events.last().map_or(at, |event| event.seq);
            let beyond = until.plus_ms(SLACK_MS);
            let over = events.last().is_some_and(|event| event.at > beyond);
            let full = i64::try_from(events.len()).unwrap_or(ENTRIES) >= ENTRIES;
            let more = (full || last < newest) && !over;
            events.retain(|event| event.at >= past.from && event.at < until);
            Ok((matching(tx, &events, &scope, home)?, last, newest, more))
        });
        let (found, last, newest, more) = read.await?;
        if more && self.at == Some(last) {
            tokio::time::sleep(KEPT_BACK).await;
        }
        (self.at, self.newest) = (Some(last), Some(newest));
        Ok((found.iter().map(line).collect(), more))
    }
}
