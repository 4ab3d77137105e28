//! An unpacked archive.

use super::{ByteStream, validate_name};
use crate::ArchiveError;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// How deep below the root files are found.
const MAX_DEPTH: usize = 6;

#[derive(Debug)]
pub(crate) struct FolderContainer {
    root: PathBuf,
    pub(super) files: BTreeMap<String, u64>,
}

impl FolderContainer {
    pub(super) fn open(root: &Path) -> Result<Self, ArchiveError> {
        let mut folder = Self { root: root.to_owned(), files: BTreeMap::new() };
        folder.scan_folder(root, "", 0)?;
        Ok(folder)
    }

    fn scan_folder(&mut self, path: &Path, prefix: &str, depth: usize) -> Result<(), ArchiveError> {
        let failed = |source| ArchiveError::from_io(&path.display().to_string(), source);
        for entry in fs::read_dir(path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let name = format!("{prefix}{name}");
            let Ok(Some(_)) = validate_name(&name) else {
                continue;
            };
            // Symbolic links could lead out of the folder.
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() && depth < MAX_DEPTH {
                self.scan_folder(&entry.path(), &format!("{name}/"), depth + 1)?;
            } else if kind.is_file() {
                let size = entry.metadata().map_err(failed)?.len();
                self.files.insert(name, size);
            }
        }
        Ok(())
    }

    pub(super) fn open_file(&self, name: &str) -> Result<(ByteStream, u64), ArchiveError> {
        let size = self.files.get(name);
        let size = size.ok_or_else(|| ArchiveError::Missing(name.to_owned()))?;
        let file = File::open(self.root.join(name)).map_err(|e| ArchiveError::from_io(name, e))?;
        Ok((Box::new(file), *size))
    }
}
