//! Puts a restored SQLite database in the place of another one.

use std::fs;
use std::path::{Path, PathBuf};

use base::{Fault, clock};

/// A write-ahead log without its database would change the one that takes its place.
const DATABASE_FILES: [&str; 3] = ["-wal", "-shm", ""];

/// Moves `staged`, which is on the same file system, to `target`. Returns where the database is now that was there; it is put
/// back if that fails.
pub(super) fn replace_database(staged: &Path, target: &Path) -> Result<Option<PathBuf>, Fault> {
    let aside = append_suffix(target, &format!(".before-{}", clock::wall_time().seconds()));
    let moved = move_database(target, &aside).and_then(|has_moved| {
        fs::rename(staged, target).map_err(Fault::context("installing the backup"))?;
        Ok(has_moved.then(|| aside.clone()))
    });
    if moved.is_err() {
        move_database(&aside, target)?;
    }
    moved
}

/// False if there is none.
fn move_database(from: &Path, to: &Path) -> Result<bool, Fault> {
    let mut has_moved = false;
    for end in DATABASE_FILES {
        let file = append_suffix(from, end);
        if file.exists() {
            fs::rename(file, append_suffix(to, end)).map_err(Fault::context("moving the database aside"))?;
            has_moved = true;
        }
    }
    Ok(has_moved)
}

pub(super) fn append_suffix(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{append_suffix, replace_database};

    #[test]
    fn database_stays_where_it_is_if_another_one_cannot_be_installed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("locum.db");
        for end in ["", "-wal"] {
            fs::write(append_suffix(&target, end), end).unwrap();
        }
        replace_database(&folder.path().join("missing"), &target).unwrap_err();
        assert!(target.exists() && append_suffix(&target, "-wal").exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
