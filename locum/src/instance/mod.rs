//! An open data directory: its settings, keys and store.

mod blocking;
mod encrypted_facts;
mod manifest;
mod master_key;
mod media_owner;
mod open;
mod private_files;
mod search_index;

pub(crate) use blocking::block_on;
pub(crate) use encrypted_facts::{read_encrypted_fact, set_encrypted_fact, shared_key};
pub(crate) use manifest::{InstanceManifest, mode_from_manifest};
pub(crate) use master_key::{
    RestoredKeyFiles, check_key_files, create_key_file, key_file_path, load_keyring, load_keys, replace_key_file,
};
pub(crate) use media_owner::{check_media_is_shared, claim_media, refuse_media_without_database};
pub(crate) use open::{
    CreatePolicy, DataFolder, NETWORK_ID_KEY, check_store_matches, find_or_create, has_database, instance_rng,
    node_of_start, open, open_store, store_options,
};
pub(crate) use private_files::{check_writable, create_private_folder, refuse_root_for_other_owner, write_private};
pub(crate) use search_index::{OWNER_FILE, open_search_index, search_index_folder};

use std::sync::Arc;

use ads_delivery::evaluator::Evaluator;
use post_search::{PostSearch, SearchBackend};
use store::Store;

use crate::config::ServerSettings;

pub(crate) trait ProgressReporter: Send + Sync {
    /// `of` is the total, if known.
    fn report_progress(&self, done: u64, of: Option<u64>);
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct NoProgress;

impl ProgressReporter for NoProgress {
    fn report_progress(&self, _done: u64, _of: Option<u64>) {}
}

#[derive(Clone)]
pub(crate) struct Instance {
    pub(crate) settings: Arc<ServerSettings>,
    pub(crate) store: Arc<Store>,
    pub(crate) progress: Arc<dyn ProgressReporter>,
    /// Present only while a server keeps the index up to date.
    pub(crate) search: Option<Arc<PostSearch>>,
    /// Answers searches, here or on other nodes; present only in a server.
    pub(crate) search_backend: Option<SearchBackend>,
    /// One per process, because it caches its sets.
    pub(crate) evaluator: Arc<Evaluator>,
}
