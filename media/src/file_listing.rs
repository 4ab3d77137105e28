//! Lists files, and marks a folder or bucket with the network that its files belong to.

use std::path::PathBuf;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use object_store::ObjectStore;
use object_store::path::Path;

use crate::file_store::{CHECK_FILE, UPLOADS_PREFIX, collect_bytes, optional_object, parse_path};
use crate::{Bucket, FileRange, FileStore, FileStoreError};

/// The name of the file with the network's id. It stays where it is when files move to a bucket.
pub const NETWORK_FILE: &str = "locum-network";

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
    pub async fn network_marks(&self) -> Result<Vec<String>, FileStoreError> {
        let (path, mut marks) = (parse_path(NETWORK_FILE)?, Vec::new());
        for store in std::iter::once(&self.local).chain(&self.bucket) {
            if let Some(found) = optional_object(store.get_opts(&path, object_store::GetOptions::default()).await)? {
                let size = found.meta.size;
                let range = found.range.clone();
                let bytes = found.into_stream().map_err(FileStoreError::from).boxed();
                let text = collect_bytes(FileRange { size, range, bytes }).await?;
                marks.push(String::from_utf8_lossy(&text).trim().to_owned());
            }
        }
        Ok(marks)
    }

    /// Marks the folder and the bucket.
    pub async fn mark_network(&self, id: &str) -> Result<(), FileStoreError> {
        let path = parse_path(NETWORK_FILE)?;
        for store in std::iter::once(&self.local).chain(&self.bucket) {
            store.put_opts(&path, Bytes::from(format!("{id}\n")).into(), object_store::PutOptions::default()).await?;
        }
        Ok(())
    }
}

fn list_objects(store: std::sync::Arc<dyn ObjectStore>, prefix: Option<Path>) -> ListedFiles {
    let listed = store.list(prefix.as_ref()).map_err(FileStoreError::from);
    let listed = listed.try_filter_map(|file| {
        let name = file.location.as_ref();
        let is_file = !name.starts_with(UPLOADS_PREFIX) && name != NETWORK_FILE && name != CHECK_FILE;
        std::future::ready(Ok(is_file.then(|| ListedFile { name: name.to_owned(), size: file.size })))
    });
    listed.boxed()
}
