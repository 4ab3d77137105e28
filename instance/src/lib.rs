//! An instance of the server: its configuration, its data directory with keys and store, the commands of its operators, and
//! backups.

pub mod arguments;
pub mod backup;
mod blocking;
pub mod command;
pub mod command_error;
pub mod config;
mod encrypted_facts;
mod listening_addresses;
mod manifest;
mod master_key;
mod media_owner;
mod open;
pub mod output;
mod private_files;
mod search_index;
pub mod search_snapshots;

pub use blocking::block_on;
pub use encrypted_facts::{read_encrypted_fact, set_encrypted_fact, shared_key};
pub use listening_addresses::{ListeningAddresses, shorten_socket_path};
pub use manifest::{InstanceManifest, mode_from_manifest};
pub use master_key::{
    RestoredKeyFiles, check_key_files, create_key_file, key_file_path, load_keyring, load_keys, replace_key_file,
};
pub use media_owner::{check_media_is_shared, claim_media, refuse_media_without_database};
pub use open::{
    CreatePolicy, DataFolder, NETWORK_ID_KEY, check_store_matches, find_or_create, has_database, instance_rng,
    node_of_start, open, open_store, store_options,
};
pub use private_files::{check_writable, create_private_folder, refuse_root_for_other_owner, write_private};
pub use search_index::{OWNER_FILE, open_search_index, search_index_folder};

use std::sync::Arc;

use ads_delivery::evaluator::Evaluator;
use post_search::{PostSearch, SearchBackend};
use store::Store;

use crate::config::ServerSettings;

pub trait ProgressReporter: Send + Sync {
    /// `of` is the total, if known.
    fn report_progress(&self, done: u64, of: Option<u64>);
}

#[derive(Clone, Copy, Debug)]
pub struct NoProgress;

impl ProgressReporter for NoProgress {
    fn report_progress(&self, _done: u64, _of: Option<u64>) {}
}

#[derive(Clone)]
pub struct Instance {
    pub settings: Arc<ServerSettings>,
    pub store: Arc<Store>,
    pub progress: Arc<dyn ProgressReporter>,
    /// Present only while a server keeps the index up to date.
    pub search: Option<Arc<PostSearch>>,
    /// Answers searches, here or on other nodes; present only in a server.
    pub search_backend: Option<SearchBackend>,
    /// One per process, because it caches its sets.
    pub evaluator: Arc<Evaluator>,
    /// What the audit log says of the command that is executed.
    pub command: Option<Arc<serde_json::Value>>,
}
