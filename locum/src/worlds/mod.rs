//! The worlds of a server: the one that it was started with, and in development any number of isolated ones beside it.
//! Each is a folder of files that is opened, replaced and closed as a whole.

mod control;
mod credentials;
mod files;
mod handler;
mod names;
mod registry;
mod replace;
mod request_world;
mod slot;
mod snapshots;
mod templates;
mod testing_tools;

use std::path::{Path, PathBuf};

pub(crate) use files::recover_interrupted_replacement;
pub(crate) use handler::{WorldHandler, WorldInterface};
pub(crate) use registry::WorldRegistry;
pub(crate) use templates::{build_index, first_rng, save_template};

/// Folders in the data directory that only a development server has.
pub(crate) const DEVELOPMENT_FOLDERS: [&str; 6] = [
    files::STAGED_FOLDER,
    files::REPLACED_FOLDER,
    files::REMOVED_FOLDER,
    templates::TEMPLATES_FOLDER,
    snapshots::SNAPSHOTS_FOLDER,
    WORLDS_FOLDER,
];

/// In the data directory: a folder for each further world.
const WORLDS_FOLDER: &str = "worlds";

/// The folder of a further world.
pub(crate) fn world_folder(data_dir: &Path, name: &str) -> PathBuf {
    data_dir.join(WORLDS_FOLDER).join(name)
}

/// The name of the world that the server was started with.
pub(crate) const MAIN_WORLD: &str = "main";
