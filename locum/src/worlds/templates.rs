//! Copies of freshly created worlds, from which a reset and new worlds start.

use instance::config::is_world_file;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::encryption::Keyring;
use base::{Error, Fault, Rng};
use data_encoding::HEXLOWER;
use post_search::PostSearch;
use sha2::{Digest, Sha256};

use super::files::{WorldFiles, remove_path};
use crate::dev::{self, WorldFile};
use instance::command_error::CommandError;
use instance::config::{ServerSettings, WorldName};
use instance::{self, InstanceManifest};

pub(super) const TEMPLATES_FOLDER: &str = "templates";

/// Of the world after its creation, and of each reset.
pub(crate) fn first_rng(record: &InstanceManifest) -> Rng {
    let mixed = record.seed.rotate_left(32) ^ 0x5bd1_e995_9c2f_3a71;
    Rng::from_seed(mixed)
}

/// Of the world that the server was started with.
const MAIN_FILE_TEMPLATE: &str = "file-main";
/// Copies of worlds made of other files; all are made anew after that.
const MAX_FILE_TEMPLATES: usize = 20;

/// The copy that the main world starts from.
pub(super) fn main_template(data_dir: &Path, kind: &str) -> PathBuf {
    data_dir.join(TEMPLATES_FOLDER).join(if is_world_file(kind) { MAIN_FILE_TEMPLATE } else { kind })
}

/// A file that has changed since has another one.
fn source_template(data_dir: &Path, from: &str) -> Result<PathBuf, CommandError> {
    if !is_world_file(from) {
        return Ok(main_template(data_dir, from));
    }
    WorldFile::read(Path::new(from))?;
    let content = std::fs::read(from).map_err(|error| CommandError::Usage(format!("{from}: {error}")))?;
    let digest = HEXLOWER.encode(&Sha256::digest([from.as_bytes(), b"\0", &content].concat()));
    let name = format!("file-{}", digest.get(..16).unwrap_or(&digest));
    Ok(data_dir.join(TEMPLATES_FOLDER).join(name))
}

fn remove_excess_file_templates(templates: &Path) -> Result<(), Fault> {
    let entries = std::fs::read_dir(templates).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_of_file = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("file-") && name != MAIN_FILE_TEMPLATE
    };
    let found: Vec<_> = entries.filter(is_of_file).collect();
    if found.len() >= MAX_FILE_TEMPLATES {
        for path in found {
            remove_path(&path)?;
        }
    }
    Ok(())
}

/// Copies a new world, whose store is closed. Nothing is kept if its files are not all on this machine.
pub(crate) fn save_template(settings: &ServerSettings, record: &InstanceManifest) -> Result<(), Fault> {
    let Some(files) = WorldFiles::from_settings(settings) else {
        return Ok(());
    };
    let folder = main_template(&settings.core.data_dir, &record.world);
    let part = folder.with_extension("part");
    remove_path(&part)?;
    remove_path(&folder)?;
    files.copy_to(&WorldFiles::in_folder(&part))?;
    record.write(&part)?;
    std::fs::rename(&part, &folder).map_err(Fault::context("keeping a copy of the new world"))
}

/// The template, which is created now if there is none. Blocks for seconds then.
pub(super) fn open_template(settings: &ServerSettings, keyring: Keyring, kind: &str) -> Result<PathBuf, CommandError> {
    let folder = source_template(&settings.core.data_dir, kind)?;
    if !folder.exists() {
        create_template(settings, keyring, kind, &folder)?;
    }
    Ok(folder)
}

fn create_template(settings: &ServerSettings, keyring: Keyring, kind: &str, folder: &Path) -> Result<(), CommandError> {
    let part = folder.with_extension("part");
    remove_path(&part)?;
    remove_excess_file_templates(&settings.core.data_dir.join(TEMPLATES_FOLDER))?;
    instance::create_private_folder(&part)?;
    let mut own = settings.clone();
    part.clone_into(&mut own.core.data_dir);
    own.media_dir = part.join("media");
    own.core.world = WorldName(kind.to_owned());
    let record = InstanceManifest {
        mode: settings.mode.name().to_owned(),
        world: kind.to_owned(),
        seed: settings.core.seed,
        starts: 1,
        network: String::new(),
        frozen_at: InstanceManifest::read(&settings.core.data_dir)?.and_then(|main| main.frozen_at),
    };
    if let Err(error) = dev::create_world_files(&own, record, keyring) {
        remove_path(&part)?;
        return Err(error);
    }
    let _unlocked = std::fs::remove_file(part.join("locum.lock"));
    std::fs::rename(&part, folder).map_err(Fault::context("keeping a copy of the new world"))?;
    Ok(())
}

/// So that worlds made from the template do not index their posts again.
pub(crate) async fn build_index(settings: &ServerSettings, store: &store::Store) -> Result<(), Error> {
    let search: Arc<PostSearch> = instance::open_search_index(settings, store).await?;
    search.drain_log(store).await?;
    search.release_files();
    Ok(())
}
