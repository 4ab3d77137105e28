//! Copies of an index, from which another node starts instead of indexing every post.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::search::{CommittedFiles, PostIndex};
use base::{Error, Fault};
use futures_util::future::BoxFuture;
use store::Store;

use crate::PostSearch;
use crate::index_changes::find_copy_loss;
use crate::indexer::run_blocking;
use crate::progress::IndexProgress;

/// The files of an index, in a folder.
#[derive(Clone, Debug)]
pub struct IndexCopy {
    /// The log position up to which everything is indexed.
    pub seq: i64,
    pub files: CommittedFiles,
}

impl PostSearch {
    /// Indexes of other formats cannot be used.
    pub const INDEX_FORMAT: u32 = PostIndex::FORMAT;

    /// Links the files of the index into an empty folder of the same file system. `None` while the index is being built,
    /// or if another node could not tell whether the copy is of the same database.
    pub fn link_index_files(&self, folder: &Path) -> Result<Option<IndexCopy>, Fault> {
        let Some(files) = self.index.link_committed_files(folder)? else { return Ok(None) };
        let progress = IndexProgress::parse(&files.checkpoint).filter(|found| found.build.is_none());
        let seq = progress.and_then(|progress| progress.entry.and(progress.seq));
        Ok(seq.map(|seq| IndexCopy { seq, files }))
    }

    /// Ends what writes to the files of the index; uncommitted changes are lost.
    pub fn release_files(&self) {
        self.index.release_writer();
    }

    /// Whether there is no index that could follow the log.
    pub fn needs_build<'a>(&'a self, store: &'a Store) -> BoxFuture<'a, Result<bool, Error>> {
        Box::pin(async move {
            self.check_index(store).await?;
            Ok(self.state.lock().progress().seq.is_none())
        })
    }

    /// Why a copy with this checkpoint cannot be used with this database, if so.
    pub fn find_copy_problem<'a>(
        store: &'a Store,
        checkpoint: &'a str,
    ) -> BoxFuture<'a, Result<Option<&'static str>, Error>> {
        Box::pin(async move {
            match IndexProgress::parse(checkpoint) {
                Some(progress) => store.read(move |tx| Ok(find_copy_loss(tx, &progress)?)).await,
                None => Ok(Some("its position cannot be read")),
            }
        })
    }

    /// Replaces an index that needs to be built by a copy, whose folder is moved within the file system. Returns the number
    /// of its posts. If the copy cannot be used, the index still needs to be built.
    pub fn replace_index<'a>(&'a self, store: &'a Store, folder: PathBuf) -> BoxFuture<'a, Result<u64, Error>> {
        Box::pin(async move {
            let index = Arc::clone(&self.index);
            run_blocking(move || index.replace_with(&folder)).await?;
            let checkpoint = self.index.checkpoint().unwrap_or_default();
            if let Some(problem) = Self::find_copy_problem(store, &checkpoint).await? {
                return Err(Fault::new(problem).into());
            }
            {
                let mut state = self.state.lock();
                state.reset_to(IndexProgress::parse(&checkpoint).unwrap_or_default());
                state.is_copy = true;
            }
            self.publish_progress();
            Ok(self.snapshot().len())
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::PostSearch;
    use crate::progress::{IndexProgress, PostIdRange};

    #[test]
    fn index_is_not_ready_without_earlier_imports_or_while_it_cannot_be_written() {
        let folder = tempfile::TempDir::new().unwrap();
        let search = PostSearch::open(folder.path()).unwrap();
        search.state.lock().is_copy = true;
        let is_built_with = |imported: &[PostIdRange]| {
            let progress = IndexProgress { seq: Some(5), imported: imported.to_vec(), ..IndexProgress::default() };
            search.state.lock().reset_to(progress);
            search.publish_progress();
            search.is_built()
        };
        let waiting = [PostIdRange { above: 0, last: 9 }];
        assert!(!is_built_with(&waiting));
        assert!(is_built_with(&[]));
        assert!(is_built_with(&waiting), "later imports");
        search.state.lock().failures = 10;
        assert!(!is_built_with(&[]), "it cannot be written");
    }
}
