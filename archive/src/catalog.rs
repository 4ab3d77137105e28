//! The files of an archive, their data types and the order in which they are read.

use crate::archive::has_extension;
use crate::container::{ArchiveContainer, validate_name};
use crate::data_types::{DataTypeHandling, classify_data_type};
use crate::lenient::{LenientList, LenientNumber, LenientText};
use crate::{ArchiveError, ArchivedAccount, sanitize};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::Read;

const MAX_MANIFEST_BYTES: u64 = 8 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArchiveDataFile {
    /// The data type in the manifest, such as `directMessages`.
    pub(crate) data_type: String,
    pub(crate) name: String,
    pub(crate) handling: DataTypeHandling,
    pub(crate) count: Option<u64>,
    pub(crate) present: bool,
}

#[derive(Debug)]
pub(crate) struct ArchiveCatalog {
    /// The folder of the data files, empty or ending in `/`.
    pub(crate) folder: String,
    pub(crate) files: Vec<ArchiveDataFile>,
    pub(crate) owner: Option<ArchivedAccount>,
    pub(crate) manifest_counts: Vec<(String, u64)>,
    reads_messages: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ArchiveManifest<'a> {
    #[serde(borrow)]
    user_info: ManifestUserInfo<'a>,
    data_types: BTreeMap<String, ManifestDataType<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ManifestUserInfo<'a> {
    account_id: LenientNumber,
    #[serde(borrow)]
    user_name: LenientText<'a>,
    display_name: LenientText<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ManifestDataType<'a> {
    #[serde(borrow)]
    files: LenientList<ManifestFile<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ManifestFile<'a> {
    #[serde(borrow)]
    file_name: LenientText<'a>,
    count: LenientNumber,
}

impl ArchiveCatalog {
    pub(crate) fn build(container: &ArchiveContainer, path: &str, messages: bool) -> Result<Self, ArchiveError> {
        let folder = find_data_folder(container);
        let folder = folder.ok_or_else(|| ArchiveError::NotAnArchive(path.to_owned()))?;
        let mut catalog =
            Self { folder, files: Vec::new(), owner: None, manifest_counts: Vec::new(), reads_messages: messages };
        catalog.read_manifest(container)?;
        catalog.add_unlisted_files(container);
        catalog.files.sort_by_cached_key(|file| {
            (file.handling.reading_order(), file.data_type.clone(), part_number(&file.name), file.name.clone())
        });
        Ok(catalog)
    }

    fn read_manifest(&mut self, container: &ArchiveContainer) -> Result<(), ArchiveError> {
        let name = format!("{}manifest.js", self.folder);
        if !container.contains(&name) {
            return Ok(());
        }
        let (bytes, _) = container.open_file(&name)?;
        let mut text = Vec::new();
        let read = bytes.take(MAX_MANIFEST_BYTES).read_to_end(&mut text);
        read.map_err(|source| ArchiveError::from_io(&name, source))?;
        let text = sanitize::sanitize_json(&text);
        let object = text.find('{').and_then(|at| text.get(at..)).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_str(object);
        // Without a readable manifest, the file names are used.
        let Ok(manifest) = ArchiveManifest::deserialize(&mut values) else {
            return Ok(());
        };
        self.owner = manifest.user_info.to_account();
        for (kind, data_type) in &manifest.data_types {
            self.add_listed_files(container, kind, &data_type.files)?;
        }
        Ok(())
    }

    fn add_listed_files(
        &mut self,
        container: &ArchiveContainer,
        kind: &str,
        files: &[ManifestFile<'_>],
    ) -> Result<(), ArchiveError> {
        let root = self.folder.strip_suffix("data/").unwrap_or(&self.folder).to_owned();
        let mut total = 0;
        for file in files {
            let Some(listed) = validate_name(&file.file_name)? else {
                continue;
            };
            let count = file.count.0.and_then(|count| u64::try_from(count).ok());
            total += count.unwrap_or(0);
            let name = format!("{root}{listed}");
            self.files.push(ArchiveDataFile {
                data_type: kind.to_owned(),
                handling: classify_data_type(kind, self.reads_messages),
                count,
                present: container.contains(&name),
                name,
            });
        }
        self.manifest_counts.push((kind.to_owned(), total));
        Ok(())
    }

    fn add_unlisted_files(&mut self, container: &ArchiveContainer) {
        for name in container.names_from(&self.folder) {
            let Some(rest) = name.strip_prefix(&self.folder) else {
                break;
            };
            let Some(kind) = data_type_from_file_name(rest) else {
                continue;
            };
            if self.files.iter().any(|file| file.name == name) {
                continue;
            }
            self.files.push(ArchiveDataFile {
                handling: classify_data_type(&kind, self.reads_messages),
                data_type: kind,
                name: name.to_owned(),
                count: None,
                present: true,
            });
        }
    }
}

impl ManifestUserInfo<'_> {
    fn to_account(&self) -> Option<ArchivedAccount> {
        Some(ArchivedAccount {
            id: self.account_id.0?,
            handle: self.user_name.to_text(),
            name: self.display_name.to_text(),
            created_at_ms: 0,
        })
    }
}

/// The topmost folder that contains a file typical of archives.
fn find_data_folder(container: &ArchiveContainer) -> Option<String> {
    let typical_files = ["manifest.js", "account.js", "tweets.js", "tweet.js", "like.js", "follower.js"];
    let mut best: Option<&str> = None;
    for name in container.names_from("") {
        let (folder, file) =
            name.rsplit_once('/').map_or(("", name), |_| name.split_at(name.rfind('/').map_or(0, |at| at + 1)));
        let monthly = folder.strip_suffix("js/tweets/").filter(|_| has_extension(file, "js"));
        let folder = match monthly {
            Some(parent) => parent,
            None if typical_files.contains(&file) => folder,
            None => continue,
        };
        let parts = |folder: &str| folder.matches('/').count();
        if best.is_none_or(|best| parts(folder) < parts(best)) {
            best = Some(folder);
        }
    }
    best.map(str::to_owned)
}

/// The data type in a file name: `direct-messages-part1.js` contains `directMessages`.
fn data_type_from_file_name(name: &str) -> Option<String> {
    if name.starts_with("js/tweets/") {
        return Some("tweets".to_owned());
    }
    let stem = name.strip_suffix(".js").filter(|stem| !stem.contains('/') && *stem != "manifest")?;
    let stem = stem.rsplit_once("-part").map_or(stem, |(stem, _)| stem);
    let mut words = stem.split('-');
    let mut kind = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        kind.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        kind.push_str(letters.as_str());
    }
    Some(if kind == "tweet" { "tweets".to_owned() } else { kind })
}

/// The number after `-part`, 0 for the first file.
fn part_number(name: &str) -> u64 {
    let number = name.strip_suffix(".js").and_then(|stem| stem.rsplit_once("-part"));
    number.and_then(|(_, number)| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{data_type_from_file_name, part_number};

    #[test]
    fn names_tell_the_data_type() {
        let table = [
            ("tweets.js", Some("tweets")),
            ("tweet.js", Some("tweets")),
            ("tweets-part12.js", Some("tweets")),
            ("direct-messages-group.js", Some("directMessagesGroup")),
            ("js/tweets/2014_01.js", Some("tweets")),
            ("manifest.js", None),
            ("README.txt", None),
            ("tweets_media/1-a.js", None),
        ];
        for (name, want) in table {
            assert_eq!(data_type_from_file_name(name).as_deref(), want, "{name}");
        }
        assert_eq!((part_number("tweets-part12.js"), part_number("tweets.js")), (12, 0));
    }
}
