//! Media files in a folder, or in a bucket plus a folder for the files that this process works on.

use std::fmt;
use std::fs::File;
use std::ops::Range;
use std::path::{Path as Folder, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{Error, GetOptions, GetRange, GetResultPayload, ObjectStore, ObjectStoreExt};

use crate::file_listing::{LOCATION_FILE, NETWORK_FILE};
use crate::{Bucket, FileWriter, MediaFormat};

/// Uploads in progress.
pub(crate) const UPLOADS_PREFIX: &str = "uploads/";
/// Files that one process works on, which always stay in the folder.
pub(crate) const SCRATCH_PREFIX: &str = "scratch/";
/// In the bucket of media files: snapshots of the search index, which are no media files.
pub const SEARCH_INDEX_FOLDER: &str = "search-index";
/// Written and deleted to check that a bucket is writable.
pub(crate) const CHECK_FILE: &str = "locum-check";

#[derive(Debug, thiserror::Error)]
#[error("file store: {0}")]
pub struct FileStoreError(#[from] Error);

impl FileStoreError {
    pub const fn is_missing_file(&self) -> bool {
        matches!(self.0, Error::NotFound { .. })
    }
}

/// Files by name. Clones share one store.
#[derive(Clone)]
pub struct FileStore {
    pub(crate) local: Arc<dyn ObjectStore>,
    pub(crate) bucket: Option<Arc<dyn ObjectStore>>,
    /// Empty if `local` is a bucket.
    pub(crate) folder: PathBuf,
}

impl fmt::Debug for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.bucket {
            Some(bucket) => write!(f, "FileStore({bucket}, {})", self.local),
            None => write!(f, "FileStore({})", self.local),
        }
    }
}

/// Where the files are, for messages.
impl fmt::Display for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.bucket {
            Some(bucket) => write!(f, "{bucket}"),
            None if self.folder.as_os_str().is_empty() => write!(f, "{}", self.local),
            None => write!(f, "{}", self.folder.display()),
        }
    }
}

pub struct FileRange {
    /// Size of the whole file in bytes.
    pub size: u64,
    /// The bytes of the file that `bytes` yields.
    pub range: Range<u64>,
    pub bytes: BoxStream<'static, Result<Bytes, FileStoreError>>,
}

impl fmt::Debug for FileRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileRange({:?} of {})", self.range, self.size)
    }
}

impl FileStore {
    /// Creates the folder if it does not exist. Writes are synced to disk.
    pub fn local(folder: &Folder) -> Result<Self, FileStoreError> {
        std::fs::create_dir_all(folder).map_err(|source| Error::Generic { store: "folder", source: source.into() })?;
        let store = LocalFileSystem::new_with_prefix(folder)?;
        // Removing empty folders would race with writes into them.
        let store = store.with_fsync(true);
        Ok(Self { local: Arc::new(store), bucket: None, folder: folder.to_owned() })
    }

    /// Stores complete files in a bucket from now on; files that are already in the folder are
    /// still found there.
    pub fn with_bucket(self, bucket: &Bucket) -> Result<Self, FileStoreError> {
        Ok(Self { bucket: Some(bucket.open()?), ..self })
    }

    /// Moves complete files from the folder to the bucket, if there is one: those that an import
    /// copied or that are older than the bucket. Returns their number.
    pub fn move_to_bucket(&self) -> BoxFuture<'_, Result<u64, FileStoreError>> {
        Box::pin(async move {
            let Some(bucket) = &self.bucket else {
                return Ok(0);
            };
            let mut found = self.local.list(None);
            let mut moved = 0;
            while let Some(file) = found.try_next().await? {
                let name = file.location.as_ref();
                if !is_complete_file(name) {
                    continue;
                }
                // An object of the same name and size is left from an earlier move or a repeated
                // import.
                let existing = optional_object(bucket.head(&file.location).await)?;
                if existing.is_none_or(|existing| existing.size != file.size) {
                    match self.concatenate(&[name.to_owned()], name).await {
                        // It was deleted meanwhile.
                        Err(error) if error.is_missing_file() => continue,
                        copied => copied?,
                    };
                }
                optional_object(self.local.delete(&file.location).await)?;
                moved += 1;
            }
            Ok(moved)
        })
    }

    pub fn check_bucket(&self) -> BoxFuture<'_, Result<(), FileStoreError>> {
        Box::pin(async move {
            let Some(bucket) = &self.bucket else {
                return Ok(());
            };
            let name = parse_path(CHECK_FILE)?;
            bucket.put(&name, Bytes::from_static(b"locum").into()).await?;
            Ok(bucket.delete(&name).await?)
        })
    }

    fn write_target(&self, name: &str) -> &Arc<dyn ObjectStore> {
        let bucket = self.bucket.as_ref();
        bucket.filter(|_| !name.starts_with(SCRATCH_PREFIX)).unwrap_or(&self.local)
    }

    /// The folder comes first, which costs next to nothing.
    fn read_locations(&self, name: &str) -> impl Iterator<Item = &Arc<dyn ObjectStore>> {
        let bucket = self.bucket.as_ref();
        let bucket = bucket.filter(|_| !name.starts_with(SCRATCH_PREFIX));
        std::iter::once(&self.local).chain(bucket)
    }

    pub fn put<'a>(&'a self, name: &'a str, bytes: impl Into<Bytes>) -> BoxFuture<'a, Result<(), FileStoreError>> {
        self.put_bytes(name, bytes.into())
    }

    fn put_bytes<'a>(&'a self, name: &'a str, bytes: Bytes) -> BoxFuture<'a, Result<(), FileStoreError>> {
        Box::pin(async move {
            let target = self.write_target(name);
            target.put(&parse_path(name)?, bytes.into()).await?;
            Ok(())
        })
    }

    /// The file becomes visible, whole, once [`FileWriter::finish`] succeeds.
    pub fn start_write(&self, name: &str) -> Result<FileWriter, FileStoreError> {
        let target = self.write_target(name);
        let is_local = Arc::ptr_eq(target, &self.local) && !self.folder.as_os_str().is_empty();
        Ok(FileWriter::new(Arc::clone(target), parse_path(name)?, is_local))
    }

    /// `None` when there is no such file or no such range.
    pub fn read<'a>(
        &'a self,
        name: &'a str,
        range: Option<GetRange>,
    ) -> BoxFuture<'a, Result<Option<FileRange>, FileStoreError>> {
        Box::pin(async move {
            let (path, options) = (parse_path(name)?, GetOptions { range, ..GetOptions::default() });
            for store in self.read_locations(name) {
                if let Some(found) = optional_object(store.get_opts(&path, options.clone()).await)? {
                    return Ok(Some(FileRange {
                        size: found.meta.size,
                        range: found.range.clone(),
                        bytes: found.into_stream().map_err(FileStoreError).boxed(),
                    }));
                }
            }
            Ok(None)
        })
    }

    /// In bytes; `None` when there is no such file.
    pub fn size<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<u64>, FileStoreError>> {
        Box::pin(async move {
            let path = parse_path(name)?;
            for store in self.read_locations(name) {
                if let Some(meta) = optional_object(store.head(&path).await)? {
                    return Ok(Some(meta.size));
                }
            }
            Ok(None)
        })
    }

    /// As many bytes as [`MediaFormat::sniff`] needs.
    pub fn read_head<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Bytes, FileStoreError>> {
        Box::pin(async move {
            let end = u64::try_from(MediaFormat::HEAD_BYTES).unwrap_or(0);
            let range = GetRange::Bounded(0..end);
            match self.read(name, Some(range)).await? {
                Some(part) => collect_bytes(part).await,
                None => Ok(Bytes::new()),
            }
        })
    }

    /// Only for files known to be small; `None` when there is no such file.
    pub fn read_whole<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Bytes>, FileStoreError>> {
        Box::pin(async move {
            match self.read(name, None).await? {
                Some(part) => Ok(Some(collect_bytes(part).await?)),
                None => Ok(None),
            }
        })
    }

    /// A seekable file of the folder; `None` when there is no such file.
    pub fn open_local<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<File>, FileStoreError>> {
        Box::pin(async move {
            let Some(found) = optional_object(self.local.get(&parse_path(name)?).await)? else {
                return Ok(None);
            };
            match found.payload {
                GetResultPayload::File(file, _) => Ok(Some(file)),
                GetResultPayload::Stream(_) => Err(FileStoreError(Error::NotImplemented {
                    operation: "seeking".to_owned(),
                    implementer: self.local.to_string(),
                })),
            }
        })
    }

    /// Where a file of the folder is or would be.
    pub fn local_path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Joins files into one, buffering one part at a time. Returns its size in bytes.
    pub fn concatenate<'a>(&'a self, names: &'a [String], to: &'a str) -> BoxFuture<'a, Result<u64, FileStoreError>> {
        Box::pin(async move {
            let mut writer = self.start_write(to)?;
            for name in names {
                if let Err(error) = self.append_file(name, &mut writer).await {
                    writer.abort().await;
                    return Err(error);
                }
            }
            writer.finish().await
        })
    }

    async fn append_file(&self, name: &str, writer: &mut FileWriter) -> Result<(), FileStoreError> {
        let Some(mut part) = self.read(name, None).await? else {
            let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(FileStoreError(Error::NotFound { path: name.to_owned(), source: missing.into() }));
        };
        while let Some(bytes) = part.bytes.next().await {
            writer.append(&bytes?).await?;
        }
        Ok(())
    }

    pub fn rename<'a>(&'a self, from: &'a str, to: &'a str) -> BoxFuture<'a, Result<(), FileStoreError>> {
        Box::pin(async move {
            let target = self.write_target(to);
            if Arc::ptr_eq(target, self.write_target(from)) {
                return Ok(target.rename(&parse_path(from)?, &parse_path(to)?).await?);
            }
            self.concatenate(&[from.to_owned()], to).await?;
            self.delete(from).await
        })
    }

    /// With the files in it.
    pub fn remove_folder<'a>(&'a self, prefix: &'a str) -> BoxFuture<'a, Result<(), FileStoreError>> {
        Box::pin(async move {
            let prefix = parse_path(prefix)?;
            if let Some(bucket) = &self.bucket {
                delete_objects(bucket, &prefix, None).await?;
            }
            self.remove_directory(&prefix)
        })
    }

    /// Removes what an earlier process was working on. No other process may use the folder.
    pub fn clear_scratch(&self) -> Result<(), FileStoreError> {
        self.remove_directory(&parse_path(SCRATCH_PREFIX)?)
    }

    fn remove_directory(&self, prefix: &Path) -> Result<(), FileStoreError> {
        optional_file(std::fs::remove_dir_all(self.folder.join(prefix.as_ref()))).map(|_| ())
    }

    /// Removes what uploads and processes that were killed have left, if it was written before a time: Unix time in
    /// milliseconds.
    pub fn remove_leftovers(&self, before: i64) -> BoxFuture<'_, Result<(), FileStoreError>> {
        Box::pin(async move {
            if let Some(bucket) = &self.bucket {
                delete_objects(bucket, &parse_path(UPLOADS_PREFIX)?, Some(before)).await?;
            }
            let before = UNIX_EPOCH + Duration::from_millis(u64::try_from(before).unwrap_or(0));
            for prefix in [UPLOADS_PREFIX, SCRATCH_PREFIX] {
                remove_old_files(&self.folder.join(prefix), before)?;
            }
            Ok(())
        })
    }

    pub fn delete<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), FileStoreError>> {
        Box::pin(async move {
            let path = parse_path(name)?;
            for store in self.read_locations(name) {
                optional_object(store.delete(&path).await)?;
            }
            Ok(())
        })
    }
}

/// Whether a name is that of a finished media file. Only those are listed, moved, counted, backed up and restored.
pub(crate) fn is_complete_file(name: &str) -> bool {
    let is_incomplete = [UPLOADS_PREFIX, SCRATCH_PREFIX].iter().any(|prefix| name.starts_with(prefix));
    let is_of_index = name.strip_prefix(SEARCH_INDEX_FOLDER).is_some_and(|rest| rest.starts_with('/'));
    !is_incomplete && !is_of_index && ![NETWORK_FILE, LOCATION_FILE, CHECK_FILE].contains(&name)
}

/// None if there is no such file.
fn optional_file<T>(result: std::io::Result<T>) -> Result<Option<T>, FileStoreError> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileStoreError(Error::Generic { store: "folder", source: error.into() })),
    }
}

/// Also files that were not written to their end, which are not listed as objects.
fn remove_old_files(folder: &Folder, before: SystemTime) -> Result<(), FileStoreError> {
    for entry in optional_file(std::fs::read_dir(folder))?.into_iter().flatten() {
        let Some(entry) = optional_file(entry)? else { continue };
        let Some(meta) = optional_file(entry.metadata())? else { continue };
        let is_old = meta.modified().is_ok_and(|modified| modified < before);
        if meta.is_dir() {
            remove_old_files(&entry.path(), before)?;
            if is_old {
                // It may have files that are not.
                let _kept = std::fs::remove_dir(entry.path());
            }
        } else if is_old {
            optional_file(std::fs::remove_file(entry.path()))?;
        }
    }
    Ok(())
}

/// Those that were written before a time, if there is one.
async fn delete_objects(
    store: &Arc<dyn ObjectStore>,
    prefix: &Path,
    before: Option<i64>,
) -> Result<(), FileStoreError> {
    let mut found = store.list(Some(prefix));
    while let Some(file) = found.try_next().await? {
        if before.is_none_or(|before| file.last_modified.timestamp_millis() < before) {
            optional_object(store.delete(&file.location).await)?;
        }
    }
    Ok(())
}

pub(crate) async fn collect_bytes(part: FileRange) -> Result<Bytes, FileStoreError> {
    let whole = part.bytes.try_fold(BytesMut::new(), |mut all, bytes| {
        all.extend_from_slice(&bytes);
        std::future::ready(Ok(all))
    });
    Ok(whole.await?.freeze())
}

pub(crate) fn parse_path(name: &str) -> Result<Path, FileStoreError> {
    Ok(Path::parse(name).map_err(Error::from)?)
}

pub(crate) fn optional_object<T>(found: Result<T, Error>) -> Result<Option<T>, FileStoreError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(FileStoreError(error)),
    }
}

#[cfg(test)]
mod tests {
    use object_store::GetRange;

    use super::FileStore;

    #[tokio::test]
    async fn files_are_joined_read_in_parts_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let files = FileStore::local(&folder.path().join("media")).unwrap();
        files.put("uploads/7/1", "world").await.unwrap();
        files.put("uploads/7/0", "hello ").await.unwrap();
        let names = ["uploads/7/0".to_owned(), "uploads/7/1".to_owned()];
        assert_eq!(files.concatenate(&names, "42/3_42.x.jpg").await.unwrap(), 11);
        let whole = files.read_whole("42/3_42.x.jpg").await.unwrap().unwrap();
        assert_eq!(whole, "hello world");
        let range = Some(GetRange::Suffix(5));
        let piece = files.read("42/3_42.x.jpg", range).await.unwrap().unwrap();
        assert_eq!((piece.size, piece.range), (11, 6..11));
        files.rename("uploads/7/0", "uploads/7/2").await.unwrap();
        files.delete("uploads/7/2").await.unwrap();
        files.delete("uploads/7/2").await.unwrap();
        assert_eq!(files.size("uploads/7/0").await.unwrap(), None);
        assert!(files.concatenate(&names, "42/other").await.is_err());
        assert_eq!(files.size("42/other").await.unwrap(), None);
        files.remove_folder("uploads/7").await.unwrap();
        files.remove_folder("uploads/7").await.unwrap();
        assert_eq!(files.size("uploads/7/1").await.unwrap(), None);
        files.put("uploads/8/0", "left").await.unwrap();
        let unfinished = files.folder.join("scratch/x#1");
        std::fs::create_dir(files.folder.join("scratch")).unwrap();
        std::fs::write(&unfinished, "written in part").unwrap();
        files.remove_leftovers(1).await.unwrap();
        assert_eq!(files.size("uploads/8/0").await.unwrap(), Some(4));
        assert!(unfinished.exists());
        files.remove_leftovers(i64::MAX).await.unwrap();
        assert_eq!(files.size("uploads/8/0").await.unwrap(), None);
        assert!(!unfinished.exists());
        assert_eq!(files.size("42/3_42.x.jpg").await.unwrap(), Some(11));
        for name in ["../x", "a/../../b", "/etc/passwd\0"] {
            assert!(!matches!(files.read_whole(name).await, Ok(Some(_))), "{name}");
        }
    }
}
