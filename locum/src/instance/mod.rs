//! An open data folder: its mode, its keys, its store.

mod blocking;
mod encrypted_facts;
mod manifest;
mod master_key;
mod open;
mod private_files;

pub(crate) use blocking::block_on;
pub(crate) use encrypted_facts::{read_encrypted_fact, set_encrypted_fact, shared_key};
pub(crate) use manifest::{InstanceManifest, mode_from_manifest};
pub(crate) use master_key::{create_key_file, key_file_path, load_keyring, replace_key_file};
pub(crate) use open::{
    COMMANDS_NODE, CreatePolicy, DataFolder, check_store_matches, find_or_create, instance_rng, open, open_store,
    store_options,
};
pub(crate) use private_files::{check_writable, write_private};

use std::sync::Arc;

use ads::evaluator::Evaluator;
use network::search::PostSearch;
use store::Store;

use crate::config::ServerSettings;

/// The index of posts, in the data folder.
pub(crate) const SEARCH_INDEX_DIR: &str = "search";

/// Who is told how far long work has come.
pub(crate) trait ProgressReporter: Send + Sync {
    /// So many are done, of so many if that is known.
    fn report_progress(&self, done: u64, of: Option<u64>);
}

/// Nobody is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoProgress;

impl ProgressReporter for NoProgress {
    fn report_progress(&self, _done: u64, _of: Option<u64>) {}
}

/// Everything that a command acts on.
#[derive(Clone)]
pub(crate) struct Instance {
    /// The configuration.
    pub(crate) settings: Arc<ServerSettings>,
    /// The open store.
    pub(crate) store: Arc<Store>,
    /// Who is told how far long work has come.
    pub(crate) progress: Arc<dyn ProgressReporter>,
    /// The index of posts, where a server keeps it up.
    pub(crate) search: Option<Arc<PostSearch>>,
    /// Who decides whom advertising reaches: one in a process, since it keeps what it found.
    pub(crate) evaluator: Arc<Evaluator>,
}

impl Instance {
    /// Closes the store once nobody else holds it.
    pub(crate) fn close(self) {
        if let Some(store) = Arc::into_inner(self.store) {
            store.close();
        }
    }
}
