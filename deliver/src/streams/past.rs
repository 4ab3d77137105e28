//! What a stream sent, or would have sent, before: read from the log at the pace of its reader.

use std::sync::Arc;

use base::{Error, Fault, PostId, Time};
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use network::post_facts;
use network::visibility::Visibility;
use parking_lot::Mutex;
use store::event_log::LogEvent;
use store::{Tx, event_log};

use super::book::Book;
use super::format::{self, Format};
use super::posts::{PostStreams, Shared, owner};
use super::{Endpoint, Session, Why, likes, share, told};

/// Entries of the log that are read at once.
const ENTRIES: i64 = 200;
/// How much entries of the log may be out of the order of their times.
const SLACK_MS: i64 = 60_000;

/// What is asked for of the past.
#[derive(Clone, Copy, Debug)]
pub struct Past {
    /// From when on.
    pub from: Time,
    /// Before when; none: until now, and then what is new.
    pub until: Option<Time>,
}

/// One reader's way through the log.
struct Walk {
    streams: PostStreams,
    session: Session,
    format: Format,
    past: Past,
    book: Arc<Mutex<Book>>,
    at: Option<i64>,
}

impl PostStreams {
    /// The past of a session's stream, oldest first. At its end the session is live, without a
    /// post missed or sent twice; or it ends, where the end was asked for.
    pub fn past(
        &self,
        session: &Session,
        format: Format,
        past: Past,
    ) -> impl Stream<Item = Bytes> + Send + use<> {
        let walk = Walk {
            streams: self.clone(),
            session: session.clone(),
            format,
            past,
            book: Arc::default(),
            at: None,
        };
        stream::unfold(Some(walk), step).flat_map(stream::iter)
    }
}

async fn step(walk: Option<Walk>) -> Option<(Vec<Bytes>, Option<Walk>)> {
    let mut walk = walk.filter(|walk| !walk.session.is_over())?;
    match walk.read().await {
        Ok((lines, true)) => Some((lines, Some(walk))),
        Ok((lines, false)) if walk.past.until.is_some() => {
            walk.session.finish();
            Some((lines, None))
        }
        Ok((lines, false)) => {
            let Walk {
                streams,
                session,
                format,
                at,
                ..
            } = walk;
            streams.join(&session, format, at).await;
            Some((lines, None))
        }
        Err(stop) => {
            tracing::error!(?stop, "the past of a stream was not read");
            walk.session.end(Why::Failed);
            None
        }
    }
}

impl Walk {
    /// Reads on; and whether there is more.
    async fn read(&mut self) -> Result<(Vec<Bytes>, bool), Error> {
        let shared = Arc::clone(&self.streams.0);
        let (session, format, past, at) = (self.session.clone(), self.format, self.past, self.at);
        let book = Arc::clone(&self.book);
        let read = move |tx: &mut Tx<'_>| {
            let mut book = book.lock();
            if let Some(owner) = owner(&session) {
                while !book.load(tx, owner)? {}
            }
            let at = match at {
                Some(at) => at,
                None => event_log::cursor_before(tx, past.from.plus_ms(-SLACK_MS))?,
            };
            Ok(shared.read_past(tx, &mut book, &session, &format, past, at)?)
        };
        let (lines, at, more) = self.streams.0.store.read(read).await?;
        self.at = Some(at);
        let posts: Vec<PostId> = lines.iter().filter_map(|(post, _)| *post).collect();
        self.streams.0.reads.record(self.session.app(), &posts);
        Ok((lines.into_iter().map(|(_, line)| line).collect(), more))
    }
}

type Read = (Vec<(Option<PostId>, Bytes)>, i64, bool);

impl Shared {
    fn read_past(
        &self,
        tx: &mut Tx<'_>,
        book: &mut Book,
        session: &Session,
        format: &Format,
        past: Past,
        at: i64,
    ) -> Result<Read, Fault> {
        let events = event_log::list_after(tx, at, ENTRIES)?;
        let last = events.last().map_or(at, |event| event.seq);
        let until = past.until.unwrap_or(Time::from_ms(i64::MAX));
        // Those that began later may stand before those that ended later.
        let beyond = until.ms().saturating_add(SLACK_MS);
        let over = events.last().is_none_or(|event| event.at.ms() > beyond);
        let full = i64::try_from(events.len()).unwrap_or(ENTRIES) >= ENTRIES;
        let within = |event: &&LogEvent| event.at >= past.from && event.at < until;
        let within: Vec<&LogEvent> = events.iter().filter(within).collect();
        let mut lines = Vec::new();
        if session.endpoint().told().is_some() {
            for event in within {
                let told = told::of(tx, event)?.filter(|told| told.is_for(session));
                lines.extend(told.map(|told| (None, Bytes::from(format!("{}\r\n", told.line)))));
            }
            return Ok((lines, last, full && !over));
        }
        if session.endpoint().is_of_likes() {
            let given = within.into_iter().filter_map(likes::of);
            for like in given.filter(|like| likes::takes(session, like)) {
                let open = format::like(tx, &like, format, &self.voice)?;
                lines.extend(open.map(|open| (None, format::line(&open, None))));
            }
            return Ok((lines, last, full && !over));
        }
        let new = within.iter().filter(|event| event.kind == "post.create");
        let ids: Vec<PostId> = new.map(|event| PostId::new(event.subject_id)).collect();
        for facts in post_facts::load_post_facts(tx, &ids, false)? {
            if facts.visibility != Visibility::Visible {
                continue;
            }
            let mut wanted = book.matching(&facts);
            let rules = owner(session).and_then(|owner| wanted.remove(&owner));
            if rules.is_none() && !share::takes(session, &facts) {
                continue;
            }
            if session.endpoint() == Endpoint::Powerstream {
                let line = format::older(tx, &facts.row, format)?;
                lines.extend(line.map(|line| (Some(facts.row.id), line)));
            } else if let Some(open) = format::post(tx, &facts.row, format, &self.voice)? {
                lines.push((Some(facts.row.id), format::line(&open, rules.as_deref())));
            }
        }
        Ok((lines, last, full && !over))
    }
}
