//! The manifest of a backup, which is written last: a backup without one is incomplete and ignored.

use std::collections::HashMap;

use base::Fault;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::SealedKeys;
use crate::InstanceManifest;

pub(super) const FORMAT: u32 = 1;
/// In bytes, about five million files.
pub(super) const MAX_MANIFEST_BYTES: u64 = 1024 * 1024 * 1024;
pub(super) const PREFIX: &str = "manifests";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupFile {
    pub name: String,
    pub bytes: u64,
    /// In hexadecimal.
    pub sha256: String,
    /// Where a media file is, if an earlier backup has other content in the place that its name gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
}

impl BackupFile {
    pub fn media_object(&self) -> String {
        self.object.clone().unwrap_or_else(|| super::media_object(&self.name))
    }

    pub fn has_same_content(&self, other: &Self) -> bool {
        (self.bytes, &self.sha256) == (other.bytes, &other.sha256)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BackupManifest {
    pub format: u32,
    /// The time of the backup, in UTC; ids sort by it.
    pub id: String,
    pub created_at: String,
    /// Of the program that made the backup.
    pub version: String,
    /// The number of migrations.
    pub schema: usize,
    pub network: String,
    pub instance: InstanceManifest,
    /// Of the master key at the time of the backup.
    pub master_key_id: String,
    /// `None` if only media files were backed up.
    pub database: Option<BackupFile>,
    pub media: Vec<BackupFile>,
    /// Files that the database names and that no longer existed when they were to be copied.
    pub absent: Vec<String>,
    pub master_keys: Option<SealedKeys>,
}

impl BackupManifest {
    /// The path below the folder or the prefix of the bucket.
    pub fn object_name(id: &str) -> String {
        format!("{PREFIX}/{id}.json")
    }

    pub(super) fn id_from_object(name: &str) -> Option<&str> {
        name.strip_prefix(PREFIX)?.strip_prefix('/')?.strip_suffix(".json")
    }

    pub fn media_bytes(&self) -> u64 {
        self.media.iter().map(|file| file.bytes).sum()
    }

    pub(super) fn media_by_object(self) -> HashMap<String, BackupFile> {
        self.media.into_iter().map(|file| (file.media_object(), file)).collect()
    }

    pub(super) fn encode(&self) -> Result<String, Fault> {
        encode_manifest(self)
    }

    pub(super) fn decode(text: &str) -> Result<Self, String> {
        let manifest: Self = decode_manifest(text)?;
        if manifest.format != FORMAT {
            return Err(format!("the backup has format {}, made by locum {}", manifest.format, manifest.version));
        }
        Ok(manifest)
    }
}

/// One line of JSON and a line with its SHA-256.
pub fn encode_manifest(manifest: &impl Serialize) -> Result<String, Fault> {
    let text = serde_json::to_string(manifest).map_err(Fault::context("serializing the manifest"))?;
    let digest = checksum(&text);
    Ok(format!("{text}\n{digest}\n"))
}

pub fn decode_manifest<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let (body, digest) = text.trim_end().split_once('\n').ok_or("the manifest is incomplete")?;
    if checksum(body) != digest {
        return Err("the manifest is damaged".to_owned());
    }
    serde_json::from_str(body).map_err(|error| format!("the manifest is unreadable: {error}"))
}

fn checksum(text: &str) -> String {
    super::hex_digest(Sha256::new_with_prefix(text))
}
