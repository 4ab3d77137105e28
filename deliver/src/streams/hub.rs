//! The connections of a node: opened within their bounds, found by what they carry, ended.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use base::refusal::Connecting;
use base::{AppId, Fault, Id, Refusal, Stop};
use parking_lot::Mutex;
use store::Store;

use super::session::Making;
use super::{Endpoint, Session, Why};

/// How a hub is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// This node's number.
    pub node: u16,
    /// Bytes that may wait for one reader.
    pub room: usize,
    /// The longest silence on a connection.
    pub keep_alive: Duration,
    /// Under which problem types stand.
    pub problem_base: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            node: 0,
            room: 256 * 1024,
            keep_alive: Duration::from_secs(15),
            problem_base: "https://api.x.com".to_owned(),
        }
    }
}

/// A connection that is asked for.
#[derive(Clone, Debug)]
pub struct Opening {
    /// Whose it is.
    pub app: AppId,
    /// What it is to.
    pub endpoint: Endpoint,
    /// Which part of it, from 1.
    pub partition: u8,
    /// How many the app may have of this part at once.
    pub most: usize,
    /// Messages that it may carry in a second, if that is bounded; others are dropped.
    pub pace: Option<u32>,
    /// The client's address, or empty.
    pub client: String,
}

/// The connections of a node. A clone is the same hub.
#[derive(Clone)]
pub struct Hub(Arc<Shared>);

/// What the sessions know of their hub.
pub(super) struct Shared {
    store: Arc<Store>,
    settings: Settings,
    /// By app and stream.
    open: Mutex<HashMap<(AppId, Endpoint), Vec<Session>>>,
    closing: AtomicBool,
    /// How often sessions began or ended for each reason; for whoever counts.
    opened: AtomicU64,
}

impl Hub {
    /// A hub without connections.
    pub fn new(store: Arc<Store>, settings: Settings) -> Self {
        Self(Arc::new(Shared {
            store,
            settings,
            open: Mutex::default(),
            closing: AtomicBool::new(false),
            opened: AtomicU64::new(0),
        }))
    }

    /// Opens a connection, unless the app has as many as it may. What is sent to it from now on
    /// waits for its feed.
    #[expect(clippy::unused_async, reason = "other nodes are asked soon")]
    pub async fn open(&self, opening: Opening) -> Result<Session, Stop> {
        if self.0.closing.load(Ordering::SeqCst) {
            return Err(Refusal::Unavailable.into());
        }
        let session = self.make(&opening)?;
        let mut open = self.0.open.lock();
        let held = open.entry((opening.app, opening.endpoint)).or_default();
        let same = held
            .iter()
            .filter(|one| one.partition() == opening.partition);
        if same.count() >= opening.most {
            return Err(Refusal::Connection(Connecting::TooMany).into());
        }
        held.push(session.clone());
        drop(open);
        self.0.opened.fetch_add(1, Ordering::Relaxed);
        Ok(session)
    }

    fn make(&self, opening: &Opening) -> Result<Session, Fault> {
        let context = self.0.store.context();
        let id: Id<()> = context.ids.next();
        Ok(Session::new(Making {
            uuid: uuid(context.chance.bytes()?),
            id: id.get(),
            app: opening.app,
            endpoint: opening.endpoint,
            partition: opening.partition,
            client: opening.client.clone(),
            since: context.clock.now(),
            room: self.0.settings.room,
            pace: opening.pace,
            keep_alive: self.0.settings.keep_alive,
            hub: Arc::downgrade(&self.0),
        }))
    }

    /// Does something with each open session of an app at a stream; how many there are.
    pub fn each(&self, app: AppId, endpoint: Endpoint, mut with: impl FnMut(&Session)) -> usize {
        let held = self.0.open.lock().get(&(app, endpoint)).cloned();
        let held = held.unwrap_or_default();
        held.iter().for_each(&mut with);
        held.len()
    }

    /// Every open session for which something holds.
    pub fn sessions(&self, holds: impl Fn(&Session) -> bool) -> Vec<Session> {
        let open = self.0.open.lock();
        let all = open.values().flatten();
        all.filter(|session| holds(session)).cloned().collect()
    }

    /// The apps that have sessions at a stream.
    pub fn apps(&self, endpoint: Endpoint) -> Vec<AppId> {
        let open = self.0.open.lock();
        let at = open.keys().filter(|(_, of)| *of == endpoint);
        at.map(|(app, _)| *app).collect()
    }

    /// How many connections there are now, and how many there ever were.
    pub fn counts(&self) -> (usize, u64) {
        let now = self.0.open.lock().values().map(Vec::len).sum();
        (now, self.0.opened.load(Ordering::Relaxed))
    }

    /// Ends every connection and takes no more.
    pub fn shut_down(&self) {
        self.0.closing.store(true, Ordering::SeqCst);
        for session in self.sessions(|_| true) {
            session.end(Why::Shutdown);
        }
    }
}

impl Shared {
    pub(super) fn problem_base(&self) -> &str {
        &self.settings.problem_base
    }

    /// A session has ended.
    pub(super) fn gone(&self, session: &Session, why: Why) {
        let mut open = self.open.lock();
        let key = (session.app(), session.endpoint());
        if let std::collections::hash_map::Entry::Occupied(mut held) = open.entry(key) {
            held.get_mut().retain(|one| one.uuid() != session.uuid());
            if held.get().is_empty() {
                held.remove();
            }
        }
        drop(open);
        let (sent, dropped) = session.sent();
        tracing::info!(
            target: "stream",
            uuid = session.uuid(),
            app = session.app().get(),
            endpoint = session.endpoint().name(),
            sent,
            dropped,
            why = why.name(),
            "ended"
        );
    }
}

/// Random bytes as a name of the usual form (RFC 9562, version 4).
fn uuid(mut bytes: [u8; 16]) -> String {
    let [
        ..,
        _,
        _,
        _,
        _,
        _,
        _,
        version,
        _,
        variant,
        _,
        _,
        _,
        _,
        _,
        _,
        _,
    ] = &mut bytes;
    *version = *version & 0x0f | 0x40;
    *variant = *variant & 0x3f | 0x80;
    let mut text = String::with_capacity(36);
    for (place, byte) in bytes.iter().enumerate() {
        if [4, 6, 8, 10].contains(&place) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::uuid;

    #[test]
    fn a_name_has_the_usual_form() {
        assert_eq!(uuid([0xff; 16]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(uuid([0; 16]), "00000000-0000-4000-8000-000000000000");
    }
}
