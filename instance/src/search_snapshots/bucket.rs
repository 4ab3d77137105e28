//! The objects of snapshots. Files are named by their content, so that snapshots share those that did not change.

use std::collections::{HashMap, HashSet};

use base::Fault;
use bytes::Bytes;
use futures_util::TryStreamExt;
use media::{Bucket, FileRange, FileStore, FileStoreError};

use super::manifest::{PREFIX as MANIFESTS, SnapshotManifest, SnapshotName};
use crate::backup::{BackupFile, BackupWriter, HashedContent, decode_manifest, encode_manifest};

const FILES: &str = "files";
/// Snapshots that stay; the older one is for nodes that are reading it.
const KEPT_SNAPSHOTS: usize = 2;
/// About 20,000 files.
const MAX_MANIFEST_BYTES: u64 = 4 << 20;

pub(super) struct SnapshotBucket {
    objects: FileStore,
}

/// The sizes of stored files by their objects.
pub(super) type StoredFiles = HashMap<String, u64>;

impl SnapshotBucket {
    pub(super) fn open(bucket: &Bucket) -> Result<Self, Fault> {
        Ok(Self { objects: FileStore::in_bucket(bucket).map_err(storage_fault)? })
    }

    /// Oldest first.
    pub(super) async fn list_snapshots(&self) -> Result<Vec<SnapshotName>, Fault> {
        let objects = self.list_objects(MANIFESTS).await?;
        let mut names: Vec<_> = objects.keys().filter_map(|object| SnapshotName::parse(object)).collect();
        names.sort_unstable();
        Ok(names)
    }

    pub(super) async fn list_files(&self) -> Result<StoredFiles, Fault> {
        self.list_objects(FILES).await
    }

    async fn list_objects(&self, prefix: &str) -> Result<StoredFiles, Fault> {
        let listed = self.objects.list(Some(prefix)).map_err(storage_fault)?;
        listed.map_ok(|file| (file.name, file.size)).try_collect().await.map_err(storage_fault)
    }

    pub(super) async fn read_manifest(&self, name: SnapshotName) -> Result<SnapshotManifest, Fault> {
        let found = self.read_object(&name.object()).await?;
        if found.size > MAX_MANIFEST_BYTES {
            return Err(Fault::new("the manifest is too large"));
        }
        let pieces: Vec<Bytes> = found.bytes.try_collect().await.map_err(storage_fault)?;
        let text = String::from_utf8_lossy(&pieces.concat()).into_owned();
        decode_manifest(&text).map_err(Fault::new)
    }

    pub(super) async fn write_manifest(&self, name: SnapshotName, manifest: &SnapshotManifest) -> Result<(), Fault> {
        self.objects.put(&name.object(), encode_manifest(manifest)?).await.map_err(storage_fault)
    }

    /// Stores a file unless it is there already.
    pub(super) async fn store_file(
        &self,
        folder: &FileStore,
        name: &str,
        stored: &StoredFiles,
    ) -> Result<BackupFile, Fault> {
        let file = hash_content(read_file(folder, name).await?, name).await?;
        let object = file_object(&file);
        if stored.get(&object) != Some(&file.bytes) {
            let content = read_file(folder, name).await?;
            BackupWriter::Collection(self.objects.clone()).store_file(name, &object, content).await?;
        }
        Ok(file)
    }

    /// Fails if the content is not what the snapshot was made of.
    pub(super) async fn load_file(&self, file: &BackupFile, folder: &FileStore) -> Result<(), Fault> {
        let content = self.read_object(&file_object(file)).await?;
        let mut writer = BackupWriter::Collection(folder.clone());
        if content.size != file.bytes || writer.store_file(&file.name, &file.name, content).await? != *file {
            return Err(Fault::new(format!("{} is damaged", file.name)));
        }
        Ok(())
    }

    async fn read_object(&self, object: &str) -> Result<FileRange, Fault> {
        read_file(&self.objects, object).await
    }

    /// Removes older snapshots, and files that none of the others needs. Nobody else may do so, or store files, meanwhile:
    /// `is_allowed` is asked before each removal.
    pub(super) async fn remove_old(&self, is_allowed: impl Fn() -> bool) -> Result<(), Fault> {
        let names = self.list_snapshots().await?;
        let (old, kept) = names.split_at(names.len().saturating_sub(KEPT_SNAPSHOTS));
        let mut needed = HashSet::new();
        for name in kept {
            needed.extend(self.read_manifest(*name).await?.files.iter().map(file_object));
        }
        let files = self.list_files().await?.into_keys().filter(|object| !needed.contains(object));
        // Manifests come first, so that no snapshot that is found lacks a file.
        for object in old.iter().map(|name| name.object()).chain(files) {
            if !is_allowed() {
                return Err(Fault::new("another node may make snapshots now"));
            }
            self.objects.delete(&object).await.map_err(storage_fault)?;
        }
        Ok(())
    }
}

fn file_object(file: &BackupFile) -> String {
    format!("{FILES}/{}", file.sha256)
}

async fn read_file(files: &FileStore, name: &str) -> Result<FileRange, Fault> {
    let found = files.read(name, None).await.map_err(storage_fault)?;
    found.ok_or_else(|| Fault::new(format!("{name} is missing")))
}

async fn hash_content(content: FileRange, name: &str) -> Result<BackupFile, Fault> {
    let mut content = HashedContent::new(content);
    while content.next_piece().await.map_err(storage_fault)?.is_some() {}
    Ok(content.finish(name))
}

fn storage_fault(error: FileStoreError) -> Fault {
    Fault::from_cause("the storage of snapshots", error)
}
