//! Reads the files of a backup.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use base::Fault;
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt};
use media::{FileRange, FileStore, FileStoreError, GetRange};

use super::manifest::{self, MAX_MANIFEST_BYTES};
use super::{BackupLocation, BackupManifest, storage_fault, tar_index};
use crate::command_error::CommandError;

pub struct BackupReader {
    pub(super) files: FileStore,
    archive: Option<ArchiveFile>,
}

struct ArchiveFile {
    name: String,
    entries: HashMap<String, Range<u64>>,
}

impl BackupReader {
    pub fn open(location: &BackupLocation) -> Result<Self, CommandError> {
        let archive_path = match location {
            BackupLocation::Bucket(_) => None,
            BackupLocation::Folder(path) if path.is_dir() => None,
            BackupLocation::File(path) if path.is_file() => Some(path),
            BackupLocation::File(path) | BackupLocation::Folder(path) => {
                let problem = if path.exists() { "is neither a file nor a folder" } else { "does not exist" };
                return Err(CommandError::Failed(format!("{} {problem}", path.display())));
            }
        };
        let entries = archive_path.map(|path| read_archive(path)).transpose()?;
        let (files, name) = location.open()?;
        let archive = name.zip(entries).map(|(name, entries)| ArchiveFile { name, entries });
        Ok(Self { files, archive })
    }

    /// `None` if there is no such file.
    pub async fn read(&self, object: &str) -> Result<Option<FileRange>, FileStoreError> {
        let Some(archive) = &self.archive else {
            return self.files.read(object, None).await;
        };
        let Some(range) = archive.entries.get(object).cloned() else {
            return Ok(None);
        };
        let size = range.end - range.start;
        if size == 0 {
            let bytes = futures_util::stream::empty::<Result<Bytes, FileStoreError>>().boxed();
            return Ok(Some(FileRange { size, range: 0..0, bytes }));
        }
        let found = self.files.read(&archive.name, Some(GetRange::Bounded(range))).await?;
        Ok(found.map(|found| FileRange { size, range: 0..size, bytes: found.bytes }))
    }

    /// Of complete backups, oldest first.
    pub async fn list_ids(&self) -> Result<Vec<String>, Fault> {
        let mut names: Vec<String> = if let Some(archive) = &self.archive {
            archive.entries.keys().cloned().collect()
        } else {
            let listed = self.files.list(Some(manifest::PREFIX)).map_err(storage_fault)?;
            listed.map_ok(|file| file.name).try_collect().await.map_err(storage_fault)?
        };
        names.sort_unstable();
        Ok(names.iter().filter_map(|name| BackupManifest::id_from_object(name)).map(str::to_owned).collect())
    }

    pub async fn read_manifest(&self, id: &str) -> Result<BackupManifest, CommandError> {
        let read = self.find_manifest(id).await?;
        read.map_err(|what| CommandError::Failed(format!("backup {id}: {what}")))
    }

    /// The inner error tells what is wrong with it.
    async fn find_manifest(&self, id: &str) -> Result<Result<BackupManifest, String>, Fault> {
        let object = BackupManifest::object_name(id);
        let Some(found) = self.read(&object).await.map_err(storage_fault)? else {
            return Ok(Err("no such backup".to_owned()));
        };
        if found.size > MAX_MANIFEST_BYTES {
            return Ok(Err("the manifest is too large".to_owned()));
        }
        let mut text = Vec::new();
        let mut bytes = found.bytes;
        while let Some(piece) = bytes.try_next().await.map_err(storage_fault)? {
            text.extend_from_slice(&piece);
        }
        let text = String::from_utf8(text).map_err(|_| "the manifest is damaged".to_owned());
        Ok(text.and_then(|text| BackupManifest::decode(&text)))
    }

    /// None if it is damaged or of another version, which is logged: the other backups are good for something.
    pub(super) async fn find_readable_manifest(&self, id: &str) -> Result<Option<BackupManifest>, Fault> {
        let found = self.find_manifest(id).await?;
        Ok(found.inspect_err(|what| tracing::warn!(backup = id, "a backup cannot be used: {what}")).ok())
    }

    /// The one that is asked for, or the newest with a database, or the newest if none has one.
    pub async fn choose_manifest(&self, id: Option<&str>) -> Result<BackupManifest, CommandError> {
        if let Some(id) = id {
            return self.read_manifest(id).await;
        }
        if let Some(found) = self.find_newest(|manifest| manifest.database.is_some()).await? {
            return Ok(found);
        }
        let newest = self.list_ids().await?.pop();
        let id = newest.ok_or_else(|| CommandError::Failed("there is no complete backup in this place".to_owned()))?;
        self.read_manifest(&id).await
    }

    pub async fn find_newest(
        &self,
        is_wanted: impl Fn(&BackupManifest) -> bool,
    ) -> Result<Option<BackupManifest>, CommandError> {
        for id in self.list_ids().await?.iter().rev() {
            let manifest = self.find_readable_manifest(id).await?;
            if let Some(manifest) = manifest.filter(&is_wanted) {
                return Ok(Some(manifest));
            }
        }
        Ok(None)
    }
}

fn read_archive(path: &Path) -> Result<HashMap<String, Range<u64>>, CommandError> {
    let read = tar_index::read_index(path);
    read.map_err(|error| CommandError::Failed(format!("{} is not a whole backup: {error}", path.display())))
}
