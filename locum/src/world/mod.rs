//! An open data folder: its mode, its keys, its store.

mod folder;
mod key;
mod open;
mod record;
mod sealed;
mod wait;

pub(crate) use folder::{writable, write_private};
pub(crate) use key::{key_file, master_key, new_key_file, replace};
pub(crate) use open::{
    COMMANDS_NODE, Creating, Found, agree, chance, find, open, open_store, options,
};
pub(crate) use record::{Record, recorded_mode};
pub(crate) use sealed::{sealed, set_sealed, shared_key};
pub(crate) use wait::wait;

use std::sync::Arc;

use ads::evaluator::Evaluator;
use network::search::PostSearch;
use store::Store;

use crate::config::Settings;

/// The index of posts, in the data folder.
pub(crate) const INDEX: &str = "search";

/// Who is told how far long work has come.
pub(crate) trait Progress: Send + Sync {
    /// So many are done, of so many if that is known.
    fn at(&self, done: u64, of: Option<u64>);
}

/// Nobody is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Silent;

impl Progress for Silent {
    fn at(&self, _done: u64, _of: Option<u64>) {}
}

/// Everything that a command acts on.
#[derive(Clone)]
pub(crate) struct World {
    /// The configuration.
    pub(crate) settings: Arc<Settings>,
    /// The open store.
    pub(crate) store: Arc<Store>,
    /// Who is told how far long work has come.
    pub(crate) progress: Arc<dyn Progress>,
    /// The index of posts, where a server keeps it up.
    pub(crate) search: Option<Arc<PostSearch>>,
    /// Who decides whom advertising reaches: one in a process, since it keeps what it found.
    pub(crate) evaluator: Arc<Evaluator>,
}

impl World {
    /// Closes the store once nobody else holds it.
    pub(crate) fn close(self) {
        if let Some(store) = Arc::into_inner(self.store) {
            store.close();
        }
    }
}
