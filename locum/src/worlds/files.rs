//! The files of a world: database, media and search index.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use base::Fault;
use store::DatabaseLocation;
use tempfile::TempDir;

use instance::config::{DATABASE_FILE, ServerSettings};
use instance::{create_private_folder, search_index_folder};

/// In a world's folder: the files that are about to replace its own.
pub(super) const STAGED_FOLDER: &str = "staged";
/// In a world's folder: its own files while others replace them.
pub(super) const REPLACED_FOLDER: &str = "replaced";
/// In a world's folder: a folder for each replacement, with what it no longer needs.
pub(super) const REMOVED_FOLDER: &str = "removed";

const MEDIA_FOLDER: &str = "media";
const SEARCH_FOLDER: &str = "search";

/// Where the files of a world, or of a copy of one, are.
#[derive(Clone, Debug)]
pub(crate) struct WorldFiles {
    pub(crate) database: PathBuf,
    pub(crate) media: PathBuf,
    pub(crate) search: PathBuf,
}

impl WorldFiles {
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self {
            database: folder.join(DATABASE_FILE),
            media: folder.join(MEDIA_FOLDER),
            search: folder.join(SEARCH_FOLDER),
        }
    }

    /// None if they are not all files of this machine.
    pub(crate) fn from_settings(settings: &ServerSettings) -> Option<Self> {
        match settings.database_location() {
            DatabaseLocation::File(database) if settings.media_bucket.is_none() => {
                Some(Self { database, media: settings.media_dir.clone(), search: search_index_folder(settings) })
            }
            _ => None,
        }
    }

    /// The files of a copy in the world's folder. Its media are next to the world's, which may be on another file system.
    pub(super) fn copy_in(&self, folder: &Path, name: &str) -> Self {
        let copy = Self::in_folder(&folder.join(name));
        if self.media.parent() == Some(folder) {
            return copy;
        }
        // Without a slash at the end.
        let mut media: PathBuf = self.media.components().collect();
        media.as_mut_os_string().push(format!(".locum-{name}"));
        Self { media, ..copy }
    }

    pub(super) fn remove_copy(&self, folder: &Path, name: &str) -> Result<(), Fault> {
        remove_path(&self.copy_in(folder, name).media)?;
        remove_path(&folder.join(name))
    }

    /// Copies them to a new folder. Media files and those of the index never change, so that links are enough.
    pub(crate) fn copy_to(&self, copy: &Self) -> Result<(), Fault> {
        create_private_folder(copy.database.parent().unwrap_or(Path::new(".")))?;
        // The kernel shares the blocks where the file system can.
        fs::copy(&self.database, &copy.database).map_err(Fault::context("copying the database"))?;
        link_folder(&self.media, &copy.media)?;
        link_index(&self.search, &copy.search)
    }

    fn pairs<'a>(&'a self, other: &'a Self) -> [(&'a Path, &'a Path); 3] {
        // The database comes last: with it, a replacement is complete.
        [(&self.media, &other.media), (&self.search, &other.search), (&self.database, &other.database)]
    }

    /// Moves the staged files of `folder` to the places of these, which are kept aside in it. They are put back if that
    /// fails.
    pub(crate) fn replace_by_staged(&self, folder: &Path) -> Result<(), Fault> {
        if self.database.exists() {
            // Of a replacement whose files could not be set aside.
            self.remove_copy(folder, REPLACED_FOLDER)?;
        }
        create_private_folder(&folder.join(REPLACED_FOLDER))?;
        let (staged, replaced) = (self.copy_in(folder, STAGED_FOLDER), self.copy_in(folder, REPLACED_FOLDER));
        let moved = self.exchange(&staged, &replaced);
        if moved.is_err() {
            self.restore_replaced(folder)?;
        }
        moved
    }

    fn exchange(&self, staged: &Self, replaced: &Self) -> Result<(), Fault> {
        if !staged.database.exists() {
            return Err(Fault::new(format!("{} is missing", staged.database.display())));
        }
        for (own, place) in self.pairs(replaced).into_iter().rev() {
            move_if_present(own, place)?;
        }
        // Of a connection that was not closed; it would change the new database.
        for (own, place) in self.sidecars().into_iter().zip(replaced.sidecars()) {
            move_if_present(&own, &place)?;
        }
        rename_versions_above(&staged.search, &replaced.search)?;
        for (new, own) in staged.pairs(self) {
            move_if_present(new, own)?;
        }
        Ok(())
    }

    fn sidecars(&self) -> [PathBuf; 2] {
        ["db-wal", "db-shm"].map(|ending| self.database.with_extension(ending))
    }

    /// Puts back what [`Self::replace_by_staged`] moved aside.
    pub(crate) fn restore_replaced(&self, folder: &Path) -> Result<(), Fault> {
        let replaced = &self.copy_in(folder, REPLACED_FOLDER);
        // A process that ends on the way finds that it has to go back.
        if replaced.database.exists() {
            remove_path(&self.database)?;
        }
        for (old, own) in replaced.sidecars().into_iter().zip(self.sidecars()) {
            move_if_present(&old, &own)?;
        }
        for (old, own) in replaced.pairs(self) {
            if old.exists() {
                remove_path(own)?;
                move_if_present(old, own)?;
            }
        }
        Ok(())
    }
}

/// Completes or takes back a replacement during which the process ended.
pub(crate) fn recover_interrupted_replacement(settings: &ServerSettings) -> Result<(), Fault> {
    let folder = &settings.core.data_dir;
    let Some(own) = WorldFiles::from_settings(settings) else { return Ok(()) };
    if folder.join(REPLACED_FOLDER).exists() && !own.database.exists() {
        own.restore_replaced(folder)?;
    }
    [REPLACED_FOLDER, STAGED_FOLDER, REMOVED_FOLDER].into_iter().try_for_each(|name| own.remove_copy(folder, name))
}

/// Moves what a replacement has left to folders of its own, which are returned.
pub(super) fn set_leftovers_aside(own: &WorldFiles, folder: &Path) -> Result<[TempDir; 2], Fault> {
    let new_folder = |parent: &Path| {
        create_private_folder(parent)?;
        TempDir::new_in(parent).map_err(Fault::context("removing replaced files"))
    };
    let (removed, media) = (folder.join(REMOVED_FOLDER), own.copy_in(folder, REMOVED_FOLDER).media);
    let media = new_folder(if media.starts_with(&removed) { &removed } else { &media })?;
    let files = new_folder(&removed)?;
    for name in [REPLACED_FOLDER, STAGED_FOLDER] {
        move_if_present(&own.copy_in(folder, name).media, &media.path().join(name))?;
        move_if_present(&folder.join(name), &files.path().join(name))?;
    }
    Ok([files, media])
}

/// Whatever is there, if anything.
pub(super) fn remove_path(path: &Path) -> Result<(), Fault> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Fault::from_cause(format!("removing {}", path.display()), error))
        }
        _ => Ok(()),
    }
}

fn move_if_present(from: &Path, to: &Path) -> Result<(), Fault> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Fault::from_cause(format!("moving {}", from.display()), error))
        }
        _ => Ok(()),
    }
}

/// A merge that still runs in the replaced index must not write among the new files: each version has a folder.
fn rename_versions_above(staged: &Path, replaced: &Path) -> Result<(), Fault> {
    let (Some(own), newest) = (newest_version(staged), newest_version(replaced).unwrap_or(0)) else {
        return Ok(());
    };
    if own > newest {
        return Ok(());
    }
    let (from, to) = (staged.join(own.to_string()), staged.join((newest + 1).to_string()));
    fs::rename(from, to).map_err(Fault::context("moving the search index"))
}

fn newest_version(index: &Path) -> Option<u64> {
    let entries = fs::read_dir(index).ok()?;
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).max()
}

/// Everything below a folder as hard links, or copies where the file system has none.
pub(super) fn link_folder(from: &Path, to: &Path) -> Result<u64, Fault> {
    let fault = |error| Fault::from_cause(format!("copying {}", from.display()), error);
    create_private_folder(to)?;
    let entries = match fs::read_dir(from) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(fault(error)),
    };
    let mut files = 0_u64;
    for entry in entries {
        let entry = entry.map_err(fault)?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().map_err(fault)?.is_dir() {
            files = files.saturating_add(link_folder(&source, &target)?);
            continue;
        }
        match fs::hard_link(&source, &target).or_else(|_| fs::copy(&source, &target).map(|_| ())) {
            Ok(()) => files = files.saturating_add(1),
            // It was removed meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(fault(error)),
        }
    }
    Ok(files)
}

/// The index replaces its own lists of files, which are therefore copied.
fn link_index(from: &Path, to: &Path) -> Result<(), Fault> {
    if !from.exists() {
        return Ok(());
    }
    link_folder(from, to)?;
    let Some(version) = newest_version(from) else { return Ok(()) };
    for name in ["meta.json", ".managed.json"] {
        let (source, target) = (from.join(version.to_string()).join(name), to.join(version.to_string()).join(name));
        if source.exists() {
            remove_path(&target)?;
            fs::copy(&source, &target).map_err(Fault::context("copying the search index"))?;
        }
    }
    // Locks of an open index are of no use to a copy.
    for name in [".tantivy-writer.lock", ".tantivy-meta.lock"] {
        remove_path(&to.join(version.to_string()).join(name))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{STAGED_FOLDER, WorldFiles};

    #[test]
    fn replaced_files_can_be_put_back() {
        let folder = tempfile::TempDir::new().unwrap();
        let write = |path: &std::path::Path, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let own = WorldFiles::in_folder(folder.path());
        write(&own.database, "old");
        write(&own.media.join("a/b"), "picture");
        write(&own.search.join("3/meta.json"), "{}");
        let copy = own.copy_in(folder.path(), STAGED_FOLDER);
        own.copy_to(&copy).unwrap();
        fs::write(&copy.database, "new").unwrap();
        own.replace_by_staged(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(&own.database).unwrap(), "new");
        assert!(own.media.join("a/b").exists() && own.search.join("4/meta.json").exists());
        own.restore_replaced(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(&own.database).unwrap(), "old");
        assert!(own.media.join("a/b").exists() && own.search.join("3/meta.json").exists());
        own.replace_by_staged(folder.path()).unwrap_err();
        assert_eq!(fs::read_to_string(&own.database).unwrap(), "old", "nothing is staged");
    }
}
