//! The files of the last commit, for a copy elsewhere.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::Fault;
use serde::Serialize;
use tantivy::directory::META_LOCK;
use tantivy::{Directory, IndexMeta};

use super::{OpenIndex, PostIndex, next_version, remove_versions, split_payload, version_folders};
use crate::index_error;
use crate::schema::FORMAT;
use crate::snapshot::IndexSnapshot;

const META_FILE: &str = "meta.json";
/// The names of the files that the index deletes when it no longer needs them.
const MANAGED_FILE: &str = ".managed.json";

/// The files of a commit, in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommittedFiles {
    pub checkpoint: String,
    /// In alphabetical order.
    pub names: Vec<String>,
}

impl PostIndex {
    /// An index of another format cannot be used.
    pub const FORMAT: u32 = FORMAT;

    /// Links the files of the last commit into an empty folder of the same file system; their content never changes.
    /// `None` before the first commit.
    pub fn link_committed_files(&self, folder: &Path) -> Result<Option<CommittedFiles>, Fault> {
        let fault = index_error("failed to list the files of the index");
        let open = self.open.lock();
        let directory = open.index.directory();
        // The end of a merge replaces files, but deletes none while this lock is held.
        let _lock = directory.acquire_lock(&META_LOCK).map_err(Fault::context("failed to lock the index"))?;
        let meta = open.index.load_metas().map_err(fault)?;
        let Some((_, checkpoint)) = split_payload(&meta) else {
            return Ok(None);
        };
        let files = meta.list_segment_files();
        let files: HashSet<PathBuf> = files.intersection(&directory.list_managed_files()).cloned().collect();
        for file in &files {
            let linked = fs::hard_link(open.path.join(file), folder.join(file));
            linked.map_err(Fault::context("failed to link a file of the index"))?;
        }
        let names = write_file_lists(folder, &meta, files)?;
        Ok(Some(CommittedFiles { checkpoint: checkpoint.to_owned(), names }))
    }

    /// Replaces the index by committed files, whose folder is moved within the file system. Uncommitted changes are lost.
    /// The index stays as it is if the files cannot be read.
    pub fn replace_with(&self, folder: &Path) -> Result<(), Fault> {
        let mut open = self.open.lock();
        drop(OpenIndex::open_version(folder)?);
        open.writer = None;
        let next = OpenIndex::adopt(&self.folder, folder)?;
        let snapshot = IndexSnapshot::new(next.reader.searcher(), None)?;
        *open = next;
        *self.current.write() = Arc::new(snapshot);
        Ok(())
    }
}

impl OpenIndex {
    /// As with a new index, in a new subfolder.
    fn adopt(folder: &Path, files: &Path) -> Result<Self, Fault> {
        let versions = version_folders(folder);
        let subfolder = folder.join(next_version(&versions));
        fs::rename(files, &subfolder)
            .and_then(|()| File::open(folder)?.sync_all())
            .map_err(Fault::context("failed to move the index"))?;
        let open = Self::open_version(&subfolder)?;
        remove_versions(folder, &versions);
        Ok(open)
    }
}

/// Writes what the index says of its files, and returns the names of all files.
fn write_file_lists(folder: &Path, meta: &IndexMeta, mut files: HashSet<PathBuf>) -> Result<Vec<String>, Fault> {
    files.insert(META_FILE.into());
    write_json(&folder.join(META_FILE), meta)?;
    write_json(&folder.join(MANAGED_FILE), &files)?;
    let mut names: Vec<String> = files.iter().filter_map(|file| file.to_str()).map(str::to_owned).collect();
    names.push(MANAGED_FILE.to_owned());
    names.sort_unstable();
    Ok(names)
}

fn write_json(file: &Path, value: &impl Serialize) -> Result<(), Fault> {
    let text = serde_json::to_vec(value).map_err(Fault::context("failed to describe the index"))?;
    fs::write(file, text).map_err(Fault::context("failed to describe the index"))
}
