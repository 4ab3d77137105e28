//! An unpacked archive.

use super::{Bytes, checked};
use crate::ArchiveError;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// How deep below its root an archive keeps files.
const DEEPEST: usize = 6;

#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    pub(super) files: BTreeMap<String, u64>,
}

impl Folder {
    pub(super) fn open(root: &Path) -> Result<Self, ArchiveError> {
        let mut folder = Self {
            root: root.to_owned(),
            files: BTreeMap::new(),
        };
        folder.gather(root, "", 0)?;
        Ok(folder)
    }

    fn gather(&mut self, path: &Path, prefix: &str, depth: usize) -> Result<(), ArchiveError> {
        let failed = |source| ArchiveError::io(&path.display().to_string(), source);
        for entry in fs::read_dir(path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let name = format!("{prefix}{name}");
            let Ok(Some(_)) = checked(&name) else {
                continue;
            };
            // Symbolic links would lead out of the folder.
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() && depth < DEEPEST {
                self.gather(&entry.path(), &format!("{name}/"), depth + 1)?;
            } else if kind.is_file() {
                let size = entry.metadata().map_err(failed)?.len();
                self.files.insert(name, size);
            }
        }
        Ok(())
    }

    pub(super) fn read(&self, name: &str) -> Result<(Bytes, u64), ArchiveError> {
        let size = self.files.get(name);
        let size = size.ok_or_else(|| ArchiveError::Missing(name.to_owned()))?;
        let file = File::open(self.root.join(name)).map_err(|e| ArchiveError::io(name, e))?;
        Ok((Box::new(file), *size))
    }
}
