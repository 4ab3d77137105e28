//! The master key: where it is, and what keeps it from being used.

use std::path::{Path, PathBuf};

use base::encryption::{Keyring, MasterKey, format_key_id};
use base::{Fault, Rng};

use super::folder::write_private;
use crate::config::{Mode, Settings};
use crate::exit::Exit;

/// The ring of keys that the settings lead to. `new`: the folder is being made, so that a key may
/// be as well.
pub(crate) fn master_key(settings: &Settings, chance: &Rng, new: bool) -> Result<Keyring, Exit> {
    let mut old = settings.keys.old.clone();
    if let Some(file) = key_file(settings) {
        old.extend(put_aside(&file));
    }
    let old = old.iter().map(|path| read(path));
    let old = old.collect::<Result<Vec<_>, Exit>>()?;
    Ok(Keyring::new(current(settings, chance, new)?, old))
}

/// The file that the key is read from; none where the configuration holds the key itself.
pub(crate) fn key_file(settings: &Settings) -> Option<PathBuf> {
    match (&settings.keys.file, &settings.keys.line) {
        (Some(file), _) => Some(file.clone()),
        (None, Some(_)) => None,
        (None, None) => Some(settings.data_dir.join("master.key")),
    }
}

/// Keys that a rotation has put beside their successor: its name, a dot, and eight digits.
fn put_aside(file: &Path) -> Vec<PathBuf> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = std::fs::read_dir(folder.unwrap_or(Path::new("."))) else {
        return Vec::new();
    };
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_old = |path: &PathBuf| {
        let found = path.file_name().unwrap_or_default().to_string_lossy();
        let rest = found
            .strip_prefix(&*name)
            .and_then(|rest| rest.strip_prefix('.'));
        rest.is_some_and(|id| id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let mut found: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(is_old)
        .collect();
    found.sort();
    found
}

/// Puts a new key in the place of the one in a file, and that one beside it. At every moment the
/// file holds a whole key, and the one before is there as well.
pub(crate) fn replace(file: &Path, chance: &Rng) -> Result<MasterKey, Exit> {
    let before = read(file)?;
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", format_key_id(before.id())));
    write_private(&file.with_file_name(name), before.encode().expose_secret())?;
    let next = MasterKey::generate(chance)?;
    write_private(file, next.encode().expose_secret())?;
    Ok(next)
}

fn current(settings: &Settings, chance: &Rng, new: bool) -> Result<MasterKey, Exit> {
    let beside = settings.data_dir.join("master.key");
    if let Some(line) = &settings.keys.line {
        apart(settings)?;
        let place = settings.keys.file.as_deref().map_or_else(
            || "secrets.master_key".to_owned(),
            |path| path.display().to_string(),
        );
        return MasterKey::parse(line.expose_secret())
            .map_err(|error| Exit::Usage(format!("{place}: {error}")));
    }
    if settings.mode == Mode::Serve && !settings.keys.beside_data {
        return Err(Exit::Usage(format!(
            "no master key: name its file with secrets.master_key_file. `locum init` makes one; \
             it must lie outside {}",
            settings.data_dir.display()
        )));
    }
    if beside.exists() {
        return read(&beside);
    }
    if !new {
        return Err(Exit::Failed(format!(
            "{} is missing: without it nothing that was encrypted can be read; put it back",
            beside.display()
        )));
    }
    new_key_file(&beside, chance)?;
    read(&beside)
}

/// Makes a key file, mode 0600.
pub(crate) fn new_key_file(path: &Path, chance: &Rng) -> Result<(), Fault> {
    let key = MasterKey::generate(chance)?;
    write_private(path, key.encode().expose_secret())
}

/// In a real network, the key's file does not lie with the data that it protects.
fn apart(settings: &Settings) -> Result<(), Exit> {
    let Some(file) = &settings.keys.file else {
        return Ok(());
    };
    let within = real(file).starts_with(real(&settings.data_dir));
    if settings.mode == Mode::Serve && within && !settings.keys.beside_data {
        return Err(Exit::Mode(format!(
            "{} lies in the data folder, beside what it protects: put it elsewhere, or set \
             secrets.danger_key_in_data_dir",
            file.display()
        )));
    }
    Ok(())
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize()
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}

fn read(path: &Path) -> Result<MasterKey, Exit> {
    let wrong = |what: String| Exit::Usage(format!("{}: {what}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    MasterKey::parse(&text).map_err(|error| wrong(error.to_string()))
}
