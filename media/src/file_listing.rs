//! Lists files, and marks a folder or bucket with the network that its files belong to.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{GetOptions, ObjectStore, ObjectStoreExt};

use crate::file_store::{collect_bytes, is_complete_file, optional_object, parse_path};
use crate::{Bucket, FileRange, FileStore, FileStoreError};

/// The name of the file with the network's id. It stays where it is when files move to a bucket.
pub const NETWORK_FILE: &str = "locum-network";
/// The name of the file with the id of the folder or bucket.
pub(crate) const LOCATION_FILE: &str = "locum-location";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFile {
    pub name: String,
    /// In bytes.
    pub size: u64,
}

pub type ListedFiles = BoxStream<'static, Result<ListedFile, FileStoreError>>;

impl FileStore {
    /// Without a folder: for files that are only read or written whole.
    pub fn in_bucket(bucket: &Bucket) -> Result<Self, FileStoreError> {
        Ok(Self { local: bucket.open()?, bucket: None, folder: PathBuf::new() })
    }

    /// Complete files under a prefix, or all of them, unordered. The folder comes first, so that a file that moves to
    /// the bucket meanwhile is listed once or twice.
    pub fn list(&self, prefix: Option<&str>) -> Result<ListedFiles, FileStoreError> {
        let prefix = prefix.map(parse_path).transpose()?;
        let stores: Vec<_> = std::iter::once(&self.local).chain(&self.bucket).cloned().collect();
        let listed = futures_util::stream::iter(stores).flat_map(move |store| list_objects(store, prefix.clone()));
        Ok(listed.boxed())
    }

    /// The ids of the networks that the folder and the bucket are marked with.
    pub fn network_marks(&self) -> BoxFuture<'_, Result<Vec<String>, FileStoreError>> {
        Box::pin(async move {
            let mut marks = Vec::new();
            for store in std::iter::once(&self.local).chain(&self.bucket) {
                marks.extend(read_mark(store, NETWORK_FILE).await?);
            }
            Ok(marks)
        })
    }

    /// Marks the folder and the bucket.
    pub fn mark_network<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), FileStoreError>> {
        Box::pin(async move {
            for store in std::iter::once(&self.local).chain(&self.bucket) {
                write_mark(store, NETWORK_FILE, id).await?;
            }
            Ok(())
        })
    }

    /// The id of the bucket, or without one of the folder: equal on nodes that find each other's files.
    pub fn location_id(&self) -> BoxFuture<'_, Result<Option<String>, FileStoreError>> {
        Box::pin(async move { read_mark(self.bucket.as_ref().unwrap_or(&self.local), LOCATION_FILE).await })
    }

    pub fn set_location_id<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), FileStoreError>> {
        Box::pin(async move { write_mark(self.bucket.as_ref().unwrap_or(&self.local), LOCATION_FILE, id).await })
    }
}

async fn read_mark(store: &Arc<dyn ObjectStore>, name: &str) -> Result<Option<String>, FileStoreError> {
    let found = optional_object(store.get_opts(&parse_path(name)?, GetOptions::default()).await)?;
    let Some(found) = found else { return Ok(None) };
    let (size, range) = (found.meta.size, found.range.clone());
    let bytes = found.into_stream().map_err(FileStoreError::from).boxed();
    let text = collect_bytes(FileRange { size, range, bytes }).await?;
    Ok(Some(String::from_utf8_lossy(&text).trim().to_owned()))
}

async fn write_mark(store: &Arc<dyn ObjectStore>, name: &str, id: &str) -> Result<(), FileStoreError> {
    store.put(&parse_path(name)?, Bytes::from(format!("{id}\n")).into()).await?;
    Ok(())
}

fn list_objects(store: Arc<dyn ObjectStore>, prefix: Option<Path>) -> ListedFiles {
    let listed = store.list(prefix.as_ref()).map_err(FileStoreError::from);
    let listed = listed.try_filter_map(|file| {
        let name = file.location.as_ref();
        std::future::ready(Ok(is_complete_file(name).then(|| ListedFile { name: name.to_owned(), size: file.size })))
    });
    listed.boxed()
}

#[cfg(test)]
mod tests {
    use futures_util::TryStreamExt;

    use crate::{FileStore, ListedFile};

    #[tokio::test]
    async fn unfinished_files_marks_and_snapshots_of_the_index_are_not_listed() {
        let folder = tempfile::tempdir().unwrap();
        let files = FileStore::local(folder.path()).unwrap();
        files.mark_network("7").await.unwrap();
        files.set_location_id("8").await.unwrap();
        for name in ["uploads/7/0", "scratch/7", "search-index/7/manifests/1-2.json", "search-index-2", "42/3_42.jpg"] {
            files.put(name, "some").await.unwrap();
        }
        for prefix in [None, Some("search-index")] {
            let mut listed: Vec<ListedFile> = files.list(prefix).unwrap().try_collect().await.unwrap();
            listed.sort_by(|one, other| one.name.cmp(&other.name));
            let names: Vec<&str> = listed.iter().map(|file| &*file.name).collect();
            assert_eq!(names, if prefix.is_none() { vec!["42/3_42.jpg", "search-index-2"] } else { vec![] });
        }
    }
}
