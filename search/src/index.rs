//! The index folder: opening, writing, and committing together with a checkpoint.

mod committed_files;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::Fault;
use parking_lot::{Mutex, RwLock};
use query::person_feature;
use tantivy::directory::MmapDirectory;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::{IndexMeta, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, Term};

pub use committed_files::CommittedFiles;

use crate::schema::{FORMAT, IndexFields, build_schema, register_tokenizer};
use crate::snapshot::IndexSnapshot;
use crate::{IndexDocument, index_error};

/// Memory for uncommitted documents.
const WRITER_HEAP_BYTES: usize = 20 << 20;
/// A segment with a greater share of deleted posts is rewritten.
const MAX_DELETED_RATIO: f32 = 0.3;
/// Commits between two removals of what the directory remembers about deleted files, about 1 KiB for each commit.
const FORGET_INTERVAL: u32 = 64;

/// An index of posts in a folder. Changes become visible with [`commit`](Self::commit).
pub struct PostIndex {
    folder: PathBuf,
    discard_reason: Option<String>,
    open: Mutex<OpenIndex>,
    current: RwLock<Arc<IndexSnapshot>>,
}

struct OpenIndex {
    /// The folder of its files.
    path: PathBuf,
    directory: MmapDirectory,
    index: tantivy::Index,
    fields: IndexFields,
    reader: IndexReader,
    writer: Option<IndexWriter>,
    checkpoint: Option<String>,
    /// Since the directory last forgot deleted files.
    commits: u32,
}

impl PostIndex {
    /// Opens the index in a folder. If there is none, or it is unreadable or of another format,
    /// creates a new one without a checkpoint.
    pub fn open(folder: &Path) -> Result<Self, Fault> {
        let (open, snapshot, discard_reason) = match OpenIndex::open_existing(folder) {
            Ok(Some((open, snapshot))) => (open, snapshot, None),
            Ok(None) => OpenIndex::new(folder)?.with_snapshot(None)?,
            Err(fault) => OpenIndex::new(folder)?.with_snapshot(Some(fault.to_string()))?,
        };
        Ok(Self {
            folder: folder.to_owned(),
            discard_reason,
            open: Mutex::new(open),
            current: RwLock::new(Arc::new(snapshot)),
        })
    }

    /// Why an index that was there could not be used, and was replaced by an empty one.
    pub fn discard_reason(&self) -> Option<&str> {
        self.discard_reason.as_deref()
    }

    /// The files whose content is not what was written.
    pub fn find_damaged_files(&self) -> Result<Vec<PathBuf>, Fault> {
        let index = self.open.lock().index.clone();
        let damaged = index.validate_checksum().map_err(index_error("failed to read the files of the index"))?;
        let mut damaged: Vec<PathBuf> = damaged.into_iter().collect();
        damaged.sort_unstable();
        Ok(damaged)
    }

    pub fn checkpoint(&self) -> Option<String> {
        self.open.lock().checkpoint.clone()
    }

    /// Adds posts. `new` promises that none of them is indexed yet; otherwise they replace existing
    /// ones.
    pub fn add_documents(&self, entries: &[IndexDocument], new: bool) -> Result<(), Fault> {
        let mut open = self.open.lock();
        let fields = open.fields;
        let writer = open.writer()?;
        for entry in entries {
            if !new {
                writer.delete_term(Term::from_field_i64(fields.id, entry.id));
            }
            writer.add_document(entry.to_tantivy(fields)).map_err(index_error("failed to add a post to the index"))?;
        }
        Ok(())
    }

    pub fn remove_posts(&self, ids: &[i64]) -> Result<(), Fault> {
        let mut open = self.open.lock();
        let field = open.fields.id;
        let writer = open.writer()?;
        for id in ids {
            writer.delete_term(Term::from_field_i64(field, *id));
        }
        Ok(())
    }

    pub fn remove_author_posts(&self, author: i64) -> Result<(), Fault> {
        let mut open = self.open.lock();
        let term = Term::from_field_u64(open.fields.features, person_feature(query::FeatureKind::From, author));
        open.writer()?.delete_term(term);
        Ok(())
    }

    /// Commits pending changes together with a checkpoint, and makes them visible.
    pub fn commit(&self, checkpoint: &str) -> Result<(), Fault> {
        let mut open = self.open.lock();
        let committed = open.commit(checkpoint);
        if committed.is_err() {
            // Uncommitted changes are added again by the caller, which continues from the
            // checkpoint.
            open.writer = None;
        }
        committed?;
        let searcher = open.reader.searcher();
        drop(open);
        let previous = self.snapshot();
        let next = IndexSnapshot::new(searcher, Some(&previous))?;
        *self.current.write() = Arc::new(next);
        Ok(())
    }

    /// Frees the writer's memory until the next change. Uncommitted changes are lost.
    pub fn release_writer(&self) {
        self.open.lock().writer = None;
    }

    /// Removes all posts and the checkpoint.
    pub fn clear(&self) -> Result<(), Fault> {
        let mut open = self.open.lock();
        open.writer = None;
        *open = OpenIndex::new(&self.folder)?;
        let snapshot = IndexSnapshot::new(open.reader.searcher(), None)?;
        *self.current.write() = Arc::new(snapshot);
        Ok(())
    }

    pub fn snapshot(&self) -> Arc<IndexSnapshot> {
        Arc::clone(&self.current.read())
    }
}

impl OpenIndex {
    /// `None` if the folder contains no index, or one that was never committed.
    fn open_existing(folder: &Path) -> Result<Option<(Self, IndexSnapshot)>, Fault> {
        let Some(latest) = version_folders(folder).into_iter().max() else {
            return Ok(None);
        };
        let Some(open) = Self::find_committed(&folder.join(latest.to_string()))? else {
            return Ok(None);
        };
        let snapshot = IndexSnapshot::new(open.reader.searcher(), None)?;
        Ok(Some((open, snapshot)))
    }

    fn open_version(subfolder: &Path) -> Result<Self, Fault> {
        Self::find_committed(subfolder)?.ok_or_else(|| Fault::new("it was never committed"))
    }

    /// `None` if nothing was committed: there is nothing to lose.
    fn find_committed(subfolder: &Path) -> Result<Option<Self>, Fault> {
        let fault = index_error("the files cannot be read");
        let directory = MmapDirectory::open(subfolder).map_err(Fault::context("the folder cannot be read"))?;
        let index = tantivy::Index::open(directory.clone()).map_err(&fault)?;
        let meta = index.load_metas().map_err(&fault)?;
        let Some((format, checkpoint)) = split_payload(&meta) else {
            return Ok(None);
        };
        if format != FORMAT.to_string() || index.schema() != build_schema().0 {
            return Err(Fault::new("it has another format"));
        }
        let checkpoint = Some(checkpoint.to_owned());
        Self::from_tantivy_index(subfolder, directory, index, checkpoint).map(Some).map_err(fault)
    }

    fn with_snapshot(self, reason: Option<String>) -> Result<(Self, IndexSnapshot, Option<String>), Fault> {
        let snapshot = IndexSnapshot::new(self.reader.searcher(), None)?;
        Ok((self, snapshot, reason))
    }

    /// Creates an index in a new subfolder, so that a writer of the previous one cannot interfere.
    fn new(folder: &Path) -> Result<Self, Fault> {
        let versions = version_folders(folder);
        let subfolder = folder.join(next_version(&versions));
        std::fs::create_dir_all(&subfolder).map_err(Fault::context("failed to create the index folder"))?;
        remove_versions(folder, &versions);
        let directory = MmapDirectory::open(&subfolder).map_err(Fault::context("failed to open the index folder"))?;
        let settings = IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() };
        let index = tantivy::Index::create(directory.clone(), build_schema().0, settings)
            .map_err(index_error("failed to create the index"))?;
        Self::from_tantivy_index(&subfolder, directory, index, None).map_err(index_error("failed to create the index"))
    }

    fn from_tantivy_index(
        path: &Path,
        directory: MmapDirectory,
        index: tantivy::Index,
        checkpoint: Option<String>,
    ) -> Result<Self, tantivy::TantivyError> {
        register_tokenizer(&index);
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self {
            path: path.to_owned(),
            directory,
            index,
            fields: build_schema().1,
            reader,
            writer: None,
            checkpoint,
            commits: 0,
        })
    }

    fn writer(&mut self) -> Result<&mut IndexWriter, Fault> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.new_writer().map_err(index_error("failed to open the index writer"))?,
        };
        Ok(self.writer.insert(writer))
    }

    fn new_writer(&self) -> Result<IndexWriter, tantivy::TantivyError> {
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .memory_budget_per_thread(WRITER_HEAP_BYTES)
            .build();
        let writer = self.index.writer_with_options(options)?;
        let mut policy = LogMergePolicy::default();
        policy.set_del_docs_ratio_before_merge(MAX_DELETED_RATIO);
        writer.set_merge_policy(Box::new(policy));
        // A killed writer may have left files whose names the next commit needs.
        writer.garbage_collect_files().wait()?;
        // A writer's first operation has the stamp of the last commit. If it were a deletion, a merge of
        // committed segments would apply it to some of them and drop it for the others.
        writer.run([])?;
        Ok(writer)
    }

    fn commit(&mut self, checkpoint: &str) -> Result<(), Fault> {
        let payload = format!("{FORMAT}\n{checkpoint}");
        let writer = self.writer()?;
        let committed = writer.prepare_commit().and_then(|mut prepared| {
            prepared.set_payload(&payload);
            prepared.commit()
        });
        committed.map_err(index_error("failed to commit to the index"))?;
        self.checkpoint = Some(checkpoint.to_owned());
        self.reader.reload().map_err(index_error("failed to reload the index"))?;
        self.commits += 1;
        if self.commits >= FORGET_INTERVAL {
            self.commits = 0;
            // The directory remembers the path of every file it has opened; this call drops those of closed files.
            let _live_files = self.directory.get_cache_info();
        }
        Ok(())
    }
}

/// The format and the checkpoint of a commit.
fn split_payload(meta: &IndexMeta) -> Option<(&str, &str)> {
    meta.payload.as_deref()?.split_once('\n')
}

fn next_version(versions: &[u64]) -> String {
    versions.iter().max().map_or(1, |latest| latest + 1).to_string()
}

/// Leftovers are removed the next time.
fn remove_versions(folder: &Path, versions: &[u64]) {
    for version in versions {
        let _leftover = std::fs::remove_dir_all(folder.join(version.to_string()));
    }
}

/// The numbered subfolders: the index in use, and leftovers of previous ones.
fn version_folders(folder: &Path) -> Vec<u64> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| name.parse().ok()).collect()
}
