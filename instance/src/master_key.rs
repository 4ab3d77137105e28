//! Loads, creates and replaces the master key.

use std::path::{Path, PathBuf};

use base::encryption::{Keyring, MasterKey, format_key_id};
use base::{Fault, Rng};

use super::private_files::{refuse_accessible_files, write_private};
use crate::command_error::CommandError;
use crate::config::{RunMode, ServerSettings};

/// With `new`, a missing key file is created.
pub fn load_keyring(settings: &ServerSettings, rng: &Rng, new: bool) -> Result<Keyring, CommandError> {
    Ok(Keyring::new(load_current_key(settings, rng, new)?, load_old_keys(settings)?))
}

/// The current key, then the old ones, as the files have them: a rotation may have replaced the key of the start.
pub fn load_keys(settings: &ServerSettings) -> Result<Vec<MasterKey>, CommandError> {
    let current = match key_file_path(settings) {
        Some(file) => read_key_file(&file)?,
        None => load_current_key(settings, &Rng::Os, false)?,
    };
    Ok(std::iter::once(current).chain(load_old_keys(settings)?).collect())
}

/// Refuses keys with which no server starts. The first start creates a key that may be in the data directory.
pub fn check_key_files(settings: &ServerSettings) -> Result<(), CommandError> {
    if settings.mode == RunMode::Serve {
        refuse_accessible_files(settings)?;
    }
    let is_in_data = settings.mode == RunMode::Dev || settings.secrets.danger_key_in_data_dir;
    if !is_in_data || key_file_path(settings).is_none_or(|file| file.exists()) {
        load_current_key(settings, &Rng::Os, false)?;
    }
    load_old_keys(settings).map(drop)
}

/// The key files that a restore has written; removed again when it is dropped before it has succeeded.
#[derive(Default)]
pub struct RestoredKeyFiles(Vec<PathBuf>);

impl RestoredKeyFiles {
    /// Writes the first key to `file` and the others next to it, as far as the files do not exist.
    pub fn write(&mut self, file: &Path, keys: &[MasterKey]) -> Result<(), CommandError> {
        Self::refuse_other_key(file, keys)?;
        for (number, key) in keys.iter().enumerate().rev() {
            let path = if number == 0 { file.to_owned() } else { old_key_file(file, key) };
            if !path.exists() {
                self.0.push(path.clone());
                write_private(&path, key.encode().expose_secret())?;
            }
        }
        Ok(())
    }

    /// Refuses a file with a key that is not the first of these.
    pub fn refuse_other_key(file: &Path, keys: &[MasterKey]) -> Result<(), CommandError> {
        if !file.exists() || keys.first().map(MasterKey::id) == Some(read_key_file(file)?.id()) {
            return Ok(());
        }
        let file = file.display();
        Err(CommandError::Failed(format!("{file} already exists, with another key than the backup's: move it away")))
    }

    pub fn keep(&mut self) {
        self.0.clear();
    }
}

impl Drop for RestoredKeyFiles {
    fn drop(&mut self) {
        for path in &self.0 {
            // The first error is reported already.
            let _gone = std::fs::remove_file(path);
        }
    }
}

fn load_old_keys(settings: &ServerSettings) -> Result<Vec<MasterKey>, CommandError> {
    let mut old = settings.secrets.old_master_key_files.clone();
    if let Some(file) = key_file_path(settings) {
        old.extend(previous_key_files(&file));
    }
    old.iter().map(|path| read_key_file(path)).collect()
}

/// `None` if the configuration contains the key itself.
pub fn key_file_path(settings: &ServerSettings) -> Option<PathBuf> {
    match (&settings.master_key_file, &settings.secrets.master_key) {
        (Some(file), _) => Some(file.clone()),
        (None, Some(_)) => None,
        (None, None) => Some(settings.core.data_dir.join("master.key")),
    }
}

/// Keys that a rotation left next to their successor, with a dot and eight digits appended to the name.
fn previous_key_files(file: &Path) -> Vec<PathBuf> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = std::fs::read_dir(folder.unwrap_or(Path::new("."))) else {
        return Vec::new();
    };
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_old = |path: &PathBuf| {
        let found = path.file_name().unwrap_or_default().to_string_lossy();
        let rest = found.strip_prefix(&*name).and_then(|rest| rest.strip_prefix('.'));
        rest.is_some_and(|id| id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let mut found: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_old).collect();
    found.sort();
    found
}

/// Replaces the key in a file and keeps the old one next to it. The replacement is atomic: a crash loses neither key.
pub fn replace_key_file(file: &Path, rng: &Rng) -> Result<MasterKey, CommandError> {
    let before = read_key_file(file)?;
    write_private(&old_key_file(file, &before), before.encode().expose_secret())?;
    let next = MasterKey::generate(rng)?;
    write_private(file, next.encode().expose_secret())?;
    Ok(next)
}

/// Where an old key is kept: next to the current one.
fn old_key_file(file: &Path, key: &MasterKey) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", format_key_id(key.id())));
    file.with_file_name(name)
}

fn load_current_key(settings: &ServerSettings, rng: &Rng, new: bool) -> Result<MasterKey, CommandError> {
    let default_file = settings.core.data_dir.join("master.key");
    if let Some(line) = &settings.secrets.master_key {
        ensure_key_outside_data(settings)?;
        let file = settings.master_key_file.as_deref();
        let origin = file.map_or_else(|| "secrets.master_key".to_owned(), |path| path.display().to_string());
        return MasterKey::parse(line.0.expose_secret())
            .map_err(|error| CommandError::Usage(format!("{origin}: {error}")));
    }
    if settings.mode == RunMode::Serve && !settings.secrets.danger_key_in_data_dir {
        return Err(CommandError::Usage(format!(
            "no master key: set secrets.master_key_file (`locum init` creates a key file); \
             it must be outside {}",
            settings.core.data_dir.display()
        )));
    }
    if default_file.exists() {
        return read_key_file(&default_file);
    }
    if !new {
        return Err(CommandError::Failed(format!(
            "{} is missing: encrypted data cannot be read without it; restore it",
            default_file.display()
        )));
    }
    create_key_file(&default_file, rng)?;
    read_key_file(&default_file)
}

/// Created with mode 0600.
pub fn create_key_file(path: &Path, rng: &Rng) -> Result<(), Fault> {
    let key = MasterKey::generate(rng)?;
    write_private(path, key.encode().expose_secret())
}

/// In production, the key file must not be inside the data directory.
fn ensure_key_outside_data(settings: &ServerSettings) -> Result<(), CommandError> {
    let Some(file) = &settings.master_key_file else {
        return Ok(());
    };
    let within = canonical_path(file).starts_with(canonical_path(&settings.core.data_dir));
    if settings.mode == RunMode::Serve && within && !settings.secrets.danger_key_in_data_dir {
        return Err(CommandError::WrongMode(format!(
            "{} is inside the data directory that it protects: move it elsewhere, or set \
             secrets.danger_key_in_data_dir",
            file.display()
        )));
    }
    Ok(())
}

fn canonical_path(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

fn read_key_file(path: &Path) -> Result<MasterKey, CommandError> {
    let wrong = |what: String| CommandError::Usage(format!("{}: {what}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    MasterKey::parse(&text).map_err(|error| wrong(error.to_string()))
}
