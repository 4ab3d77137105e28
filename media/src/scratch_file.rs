//! Files that one process works on.

use crate::FileStore;
use crate::file_store::SCRATCH_PREFIX;

/// A name in the folder, whose file is deleted when this is dropped, unless it was moved.
#[derive(Debug)]
pub struct ScratchFile {
    files: FileStore,
    name: String,
}

impl FileStore {
    /// The file need not exist yet.
    pub fn scratch_file(&self, id: &str) -> ScratchFile {
        ScratchFile { files: self.clone(), name: format!("{SCRATCH_PREFIX}{id}") }
    }
}

impl ScratchFile {
    /// Path in the file store.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        // One that cannot be deleted now is removed at the next start.
        let _moved_or_left = std::fs::remove_file(self.files.local_path(&self.name));
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use crate::FileStore;

    #[tokio::test]
    async fn dropped_scratch_file_is_deleted_unless_it_was_moved() {
        let folder = TempDir::new().unwrap();
        let files = FileStore::local(folder.path()).unwrap();
        let (left, moved) = (files.scratch_file("left"), files.scratch_file("moved"));
        files.put(left.name(), "a").await.unwrap();
        files.put(moved.name(), "b").await.unwrap();
        files.rename(moved.name(), "uploads/1/0").await.unwrap();
        drop((left, moved));
        assert_eq!(files.size("scratch/left").await.unwrap(), None);
        assert_eq!(files.size("uploads/1/0").await.unwrap(), Some(1));
    }
}
