//! The streams of posts: one follower a node reads the log from the moment at which somebody
//! listens, finds out who wants each new post, and writes it once for all who asked for it alike.
//!
//! A reader is live from a place in the log on: what is told behind that place is sent to it, once.
//! The rules of its app are read before that, some at a time, so that other readers do not wait.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::{AppId, Error, Fault, PostId};
use bytes::Bytes;
use network::connections;
use network::post_facts::{self, StoredPostFacts};
use network::reads::PostReadCounter;
use network::visibility::Visibility;
use parking_lot::Mutex;
use store::event_log::LogEvent;
use store::rules::StreamProduct;
use store::{Store, Tx, event_log};
use tokio::sync::{Notify, oneshot};

use super::book::{Book, Owner};
use super::format::{self, Format, Voice};
use super::{Endpoint, Hub, Session, Why, likes, share, told};

/// Entries of the log that are read at once.
const ENTRIES: i64 = 500;
/// The rest between two looks while much is written: what came meanwhile is read together.
const REST: Duration = Duration::from_millis(4);
/// How often other processes' writes are looked for, and how soon again what cannot be read yet.
const LOOK_EACH: Duration = Duration::from_millis(100);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// Without other processes a write wakes the follower; this is for nothing but safety.
const SAFETY: Duration = Duration::from_secs(5);

/// The streams of posts of a node. A clone is the same.
#[derive(Clone)]
pub struct PostStreams(pub(super) Arc<Shared>);

pub(super) struct Shared {
    pub(super) store: Arc<Store>,
    hub: Hub,
    pub(super) voice: Voice,
    pub(super) reads: Arc<PostReadCounter>,
    joining: Mutex<Vec<Joining>>,
    bell: Notify,
    stopped: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Everything up to here was seen; none while nobody listens.
    cursor: Option<i64>,
    /// Those of streams with rules: a post looks up the apps that want it.
    by_rules: HashMap<Owner, Vec<Reader>>,
    /// Those of samples and firehoses, which are few.
    by_share: Vec<Reader>,
    /// Those of likes.
    by_likes: Vec<Reader>,
    /// Those who are told what became of things.
    told: Vec<Reader>,
    waiting: Vec<Joining>,
    book: Book,
}

struct Reader {
    session: Session,
    format: Format,
    /// What stands behind this place is for it.
    after: i64,
}

struct Joining {
    session: Session,
    format: Format,
    after: Option<i64>,
    live: oneshot::Sender<()>,
}

/// What came of one look at the log.
#[derive(Default)]
struct Turn {
    cursor: i64,
    /// Everything that can be read up to here was read.
    seen: i64,
    /// Whether there is more to be read at once.
    more: bool,
    /// Whether something is told that cannot be read yet.
    behind: bool,
    /// Where the log ended; who begins now begins there.
    end: i64,
    /// Who can begin, by the session's id.
    ready: Vec<i64>,
    messages: Vec<(Session, Option<PostId>, Bytes)>,
    ended: Vec<(Session, Why)>,
    /// Whether rules are being filed anew.
    refiling: bool,
    /// What they were filed in before.
    old: Option<Book>,
}

impl PostStreams {
    /// The streams of a hub. What apps are given is counted in `reads`.
    pub fn new(store: Arc<Store>, hub: Hub, reads: Arc<PostReadCounter>, voice: Voice) -> Self {
        Self(Arc::new(Shared {
            store,
            hub,
            voice,
            reads,
            joining: Mutex::default(),
            bell: Notify::new(),
            stopped: AtomicBool::new(false),
            state: Mutex::default(),
        }))
    }

    /// Begins to send posts to a session: those that are published from now on, or that the log
    /// has behind a place. Waits until that is so.
    pub async fn join(&self, session: &Session, format: Format, after: Option<i64>) -> bool {
        let (live, begun) = oneshot::channel();
        self.0.joining.lock().push(Joining {
            session: session.clone(),
            format,
            after,
            live,
        });
        self.0.bell.notify_one();
        if self.0.stopped.load(Ordering::SeqCst) {
            self.let_all_go();
        }
        begun.await.is_ok()
    }

    /// Keeps nobody waiting who would begin: the server goes away.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::SeqCst);
        self.let_all_go();
    }

    fn let_all_go(&self) {
        self.0.joining.lock().clear();
        self.0.state.lock().waiting.clear();
    }

    /// Follows the log for as long as it is polled.
    pub async fn follow(&self) {
        let mut wake = self.0.store.subscribe_events();
        let mut again = LOOK_AGAIN;
        self.learn().await;
        loop {
            if self.is_idle() {
                self.0.state.lock().rest();
                let opened = self.0.hub.opened();
                tokio::select! {
                    () = self.0.bell.notified() => {}
                    () = opened => {}
                }
                continue;
            }
            wake.mark_unchanged();
            let patience = match self.turn().await {
                Ok(Looked::More) => continue,
                Ok(Looked::Behind) => {
                    // A transaction may stay open for long.
                    let patience = again;
                    again = (again * 2).min(LOOK_EACH);
                    patience
                }
                Ok(Looked::All) => {
                    again = LOOK_AGAIN;
                    if self.0.store.is_shared() {
                        LOOK_EACH
                    } else {
                        SAFETY
                    }
                }
                Err(stop) => {
                    tracing::warn!(?stop, "the streams did not read on; it is tried again");
                    LOOK_EACH
                }
            };
            tokio::select! {
                _ = wake.changed() => tokio::time::sleep(REST).await,
                () = self.0.bell.notified() => {}
                () = tokio::time::sleep(patience) => {}
            }
        }
    }

    /// Learns what posts are like before there is anybody to listen.
    async fn learn(&self) {
        let shared = Arc::clone(&self.0);
        let learn = move |tx: &mut Tx<'_>| Ok(shared.state.lock().book.learn_stored(tx)?);
        if let Err(stop) = self.0.store.read(learn).await {
            tracing::warn!(?stop, "rules are filed without knowing what posts are like");
        }
    }

    fn is_idle(&self) -> bool {
        self.0.hub.counts().0 == 0 && self.0.joining.lock().is_empty()
    }

    async fn turn(&self) -> Result<Looked, Error> {
        let shared = Arc::clone(&self.0);
        let turn = self.0.store.read(move |tx| Ok(shared.look(tx)?)).await?;
        Ok(self.0.take(turn))
    }
}

/// Tells what became of a thing to those who are told.
fn tell(tx: &mut Tx<'_>, state: &State, event: &LogEvent, turn: &mut Turn) -> Result<(), Fault> {
    if state.told.is_empty() {
        return Ok(());
    }
    if let Some(told) = told::of(tx, event)? {
        let readers = state.told.iter();
        for reader in readers.filter(|one| one.after < event.seq && told.is_for(&one.session)) {
            let line = Bytes::from(format!("{}\r\n", told.line));
            turn.messages.push((reader.session.clone(), None, line));
        }
    }
    Ok(())
}

/// Whose rules say what a session is sent, if rules do.
pub(super) fn owner(session: &Session) -> Option<Owner> {
    let product = session.endpoint().rules()?;
    Some((session.app(), product))
}

/// Whether a session's token is still that of its app.
fn holds(session: &Session, token: Option<[u8; 32]>) -> bool {
    session.begun().map(|begun| begun.token) == token
}

/// How far a look came.
enum Looked {
    More,
    Behind,
    All,
}

impl Shared {
    /// Looks at the log: who wants what came, and who can begin.
    fn look(&self, tx: &mut Tx<'_>) -> Result<Turn, Fault> {
        let mut state = self.state.lock();
        let state = &mut *state;
        state.waiting.extend(self.joining.lock().drain(..));
        state.let_go();
        let mut turn = Turn {
            end: event_log::end_cursor(tx)?,
            ..Turn::default()
        };
        // Those whose slot is only reserved begin later.
        let first = || {
            let sessions = self.hub.sessions(|_| true);
            let begun = sessions.iter().filter_map(Session::begun);
            begun.map(|begun| begun.at).min()
        };
        turn.cursor = state.cursor.or_else(first).unwrap_or(turn.end);
        let from = state.readers().map(|reader| reader.after).min();
        let from = from.unwrap_or(turn.cursor).min(turn.cursor);
        let events = event_log::list_after(tx, from, ENTRIES)?;
        self.pass_on(tx, state, &events, &mut turn)?;
        turn.more = i64::try_from(events.len()).unwrap_or(ENTRIES) >= ENTRIES;
        let last = events.last().map_or(from, |event| event.seq);
        turn.seen = if turn.more {
            last
        } else {
            last.max(turn.cursor)
        };
        turn.behind = !turn.more && tx.is_shared() && event_log::highest_seq(tx)? > turn.seen;
        turn.cursor = turn.cursor.max(turn.seen);
        state.prepare(tx, &mut turn)?;
        if !turn.more {
            (turn.refiling, turn.old) = state.book.refile(tx)?;
        }
        Ok(turn)
    }

    /// Hands out entries in their order.
    fn pass_on(
        &self,
        tx: &mut Tx<'_>,
        state: &mut State,
        events: &[LogEvent],
        turn: &mut Turn,
    ) -> Result<(), Fault> {
        let cursor = turn.cursor;
        let mut posts = HashMap::new();
        if state.shows_posts() {
            let new = events.iter().filter(|event| event.kind == "post.create");
            let ids: Vec<PostId> = new.map(|event| PostId::new(event.subject_id)).collect();
            let found = post_facts::load_post_facts(tx, &ids, false)?;
            posts.extend(found.into_iter().map(|facts| (facts.row.id.get(), facts)));
        }
        for event in events {
            tell(tx, state, event, turn)?;
            match event.kind.as_str() {
                "post.create" => {
                    if let Some(facts) = posts.get(&event.subject_id) {
                        self.hand_out(tx, state, event.seq, facts, turn)?;
                    }
                }
                "like.create" => self.hand_out_like(tx, state, event, turn)?,
                _ if event.seq <= cursor => {}
                "rule.added" | "rule.removed" => state.change_rule(tx, event)?,
                kind if kind.starts_with("bearer.") || kind.starts_with("app.") => {
                    self.judge(tx, event, turn)?;
                }
                "connection.end" => {
                    let ended = self.hub.sessions(|one| one.id() == event.subject_id);
                    turn.ended
                        .extend(ended.into_iter().map(|one| (one, Why::Killed)));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes a post for those who want it: once for all who asked for it alike.
    fn hand_out(
        &self,
        tx: &mut Tx<'_>,
        state: &mut State,
        seq: i64,
        facts: &StoredPostFacts,
        turn: &mut Turn,
    ) -> Result<(), Fault> {
        if facts.visibility != Visibility::Visible {
            return Ok(());
        }
        let wanted = state.book.matching(facts);
        let by_rules = wanted.iter().flat_map(|(app, rules)| {
            let readers = state.by_rules.get(app).into_iter().flatten();
            readers.map(move |reader| (reader, Some(rules.as_str())))
        });
        let by_share = state.by_share.iter();
        let by_share = by_share
            .filter(|reader| share::takes(&reader.session, facts))
            .map(|reader| (reader, None));
        let mut spoken: Vec<(Format, Option<String>)> = Vec::new();
        let mut older: Option<Option<Bytes>> = None;
        for (reader, rules) in by_rules.chain(by_share) {
            if reader.after >= seq {
                continue;
            }
            if reader.session.endpoint() == Endpoint::Powerstream {
                let said = match older.clone() {
                    Some(said) => said,
                    None => format::older(tx, &facts.row, &reader.format)?,
                };
                older = Some(said.clone());
                let message = |line| (reader.session.clone(), Some(facts.row.id), line);
                turn.messages.extend(said.map(message));
                continue;
            }
            let known = spoken.iter().find(|(format, _)| *format == reader.format);
            let open = if let Some((_, open)) = known {
                open.clone()
            } else {
                let open = format::post(tx, &facts.row, &reader.format, &self.voice)?;
                spoken.push((reader.format, open.clone()));
                open
            };
            if let Some(open) = open {
                let line = format::line(&open, rules);
                let session = reader.session.clone();
                turn.messages.push((session, Some(facts.row.id), line));
            }
        }
        Ok(())
    }

    /// The same of a like.
    fn hand_out_like(
        &self,
        tx: &mut Tx<'_>,
        state: &State,
        event: &LogEvent,
        turn: &mut Turn,
    ) -> Result<(), Fault> {
        let Some(like) = likes::of(event).filter(|_| !state.by_likes.is_empty()) else {
            return Ok(());
        };
        let mut spoken: Vec<(Format, Option<Bytes>)> = Vec::new();
        let wanting = state
            .by_likes
            .iter()
            .filter(|reader| reader.after < event.seq && likes::takes(&reader.session, &like));
        for reader in wanting {
            let known = spoken.iter().find(|(format, _)| *format == reader.format);
            let said = if let Some((_, said)) = known {
                said.clone()
            } else {
                let open = format::like(tx, &like, &reader.format, &self.voice)?;
                let said = open.map(|open| format::line(&open, None));
                spoken.push((reader.format, said.clone()));
                said
            };
            let session = reader.session.clone();
            turn.messages.extend(said.map(|line| (session, None, line)));
        }
        Ok(())
    }

    /// Ends the connections of an app that may not be used any more, or whose token is gone.
    fn judge(&self, tx: &mut Tx<'_>, event: &LogEvent, turn: &mut Turn) -> Result<(), Fault> {
        let app = AppId::new(event.subject_id);
        // Who began behind it has seen it already, and maybe more than this look does.
        let before = |session: &Session| session.begun().is_some_and(|begun| begun.at < event.seq);
        let held = self
            .hub
            .sessions(|session| session.app() == app && before(session));
        if held.is_empty() {
            return Ok(());
        }
        let token = connections::find_token_digest(tx, app)?;
        let ended = held.into_iter().filter(|one| !holds(one, token));
        turn.ended.extend(ended.map(|one| (one, Why::Revoked)));
        Ok(())
    }

    /// Does what a look found.
    fn take(&self, turn: Turn) -> Looked {
        let mut state = self.state.lock();
        state.cursor = Some(turn.cursor);
        for reader in state.readers_mut() {
            reader.after = reader.after.max(turn.seen);
        }
        let waiting = std::mem::take(&mut state.waiting);
        for one in waiting {
            if !turn.ready.contains(&one.session.id()) {
                state.waiting.push(one);
                continue;
            }
            // Nobody waits for it any more when its client has gone.
            if one.live.send(()).is_ok() {
                state.begin(Reader {
                    after: one.after.unwrap_or(turn.end),
                    session: one.session,
                    format: one.format,
                });
            }
        }
        let loading = !state.waiting.is_empty();
        drop(state);
        if let Some(old) = turn.old {
            // As many small pieces as there are rules.
            drop(tokio::task::spawn_blocking(move || drop(old)));
        }
        for (session, post, line) in turn.messages {
            if session.send(line) {
                self.reads.record(session.app(), post.as_slice());
            }
        }
        for (session, why) in turn.ended {
            session.end(why);
        }
        if turn.more || loading || turn.refiling {
            Looked::More
        } else if turn.behind {
            Looked::Behind
        } else {
            Looked::All
        }
    }
}

impl State {
    /// Nobody listens any more.
    fn rest(&mut self) {
        *self = Self {
            book: self.book.anew(),
            ..Self::default()
        };
    }

    fn readers(&self) -> impl Iterator<Item = &Reader> {
        let by_rules = self.by_rules.values().flatten();
        let others = self.by_share.iter().chain(&self.by_likes).chain(&self.told);
        by_rules.chain(others)
    }

    fn readers_mut(&mut self) -> impl Iterator<Item = &mut Reader> {
        let by_rules = self.by_rules.values_mut().flatten();
        let others = self.by_share.iter_mut().chain(&mut self.by_likes);
        by_rules.chain(others).chain(&mut self.told)
    }

    /// Whether somebody waits for posts.
    fn shows_posts(&self) -> bool {
        !self.by_rules.is_empty() || !self.by_share.is_empty()
    }

    fn begin(&mut self, reader: Reader) {
        if let Some(owner) = owner(&reader.session) {
            self.by_rules.entry(owner).or_default().push(reader);
        } else if reader.session.endpoint().is_of_likes() {
            self.by_likes.push(reader);
        } else if reader.session.endpoint().told().is_some() {
            self.told.push(reader);
        } else {
            self.by_share.push(reader);
        }
    }

    /// Lets go of connections that have ended, and of the rules of apps that have no others.
    fn let_go(&mut self) {
        let Self {
            by_rules,
            by_share,
            by_likes,
            told,
            waiting,
            book,
            ..
        } = self;
        by_share.retain(|reader| !reader.session.is_over());
        by_likes.retain(|reader| !reader.session.is_over());
        told.retain(|reader| !reader.session.is_over());
        let mut left = Vec::new();
        waiting.retain(|one| {
            let stays = !one.session.is_over();
            left.extend(owner(&one.session).filter(|_| !stays));
            stays
        });
        by_rules.retain(|app, readers| {
            readers.retain(|reader| !reader.session.is_over());
            left.extend(readers.is_empty().then_some(*app));
            !readers.is_empty()
        });
        for app in left {
            let waits = |one: &Joining| owner(&one.session) == Some(app);
            if !by_rules.contains_key(&app) && !waiting.iter().any(waits) {
                book.forget(app);
            }
        }
    }

    /// Reads some of the rules that those who wait need; who waits for none can begin.
    fn prepare(&mut self, tx: &mut Tx<'_>, turn: &mut Turn) -> Result<(), Fault> {
        for one in &self.waiting {
            let session = &one.session;
            let read = match owner(session) {
                Some(owner) => self.book.load(tx, owner)?,
                None => true,
            };
            if read {
                turn.ready.push(session.id());
                // What was told while it began may have been passed already.
                if !holds(session, connections::find_token_digest(tx, session.app())?) {
                    turn.ended.push((session.clone(), Why::Revoked));
                }
            }
        }
        Ok(())
    }

    fn change_rule(&mut self, tx: &mut Tx<'_>, event: &LogEvent) -> Result<(), Fault> {
        let body: serde_json::Value = serde_json::from_str(&event.body).unwrap_or_default();
        let fact = |name: &str| body.get(name).and_then(serde_json::Value::as_str);
        let Some(product) = fact("product").and_then(StreamProduct::from_name) else {
            return Ok(());
        };
        if event.kind == "rule.removed" {
            self.book.removed(event.subject_id);
            return Ok(());
        }
        let app = fact("app_id").and_then(AppId::parse);
        app.map_or(Ok(()), |app| {
            self.book.added(tx, (app, product), event.subject_id)
        })
    }
}

#[cfg(test)]
mod tests;
