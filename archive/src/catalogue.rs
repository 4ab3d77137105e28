//! Which files of an archive hold what, and in which order they are read.

use crate::archive::has_ending;
use crate::container::{Container, checked};
use crate::kinds::{Handling, handling};
use crate::lenient::{Items, Number, Text};
use crate::{Account, ArchiveError, clean};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::Read;

/// The largest manifest that is read, in bytes.
const LARGEST_MANIFEST: u64 = 8 << 20;

/// One data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DataFile {
    /// The data type in the manifest's words, `directMessages`.
    pub(crate) kind: String,
    /// Within the container.
    pub(crate) name: String,
    pub(crate) handling: Handling,
    /// What the manifest promises.
    pub(crate) count: Option<u64>,
    pub(crate) present: bool,
}

/// The files of one archive in reading order.
#[derive(Debug)]
pub(crate) struct Catalogue {
    /// The folder of the data files, empty or ending in `/`.
    pub(crate) folder: String,
    pub(crate) files: Vec<DataFile>,
    /// Whose archive it is, as the manifest says.
    pub(crate) owner: Option<Account>,
    /// Elements by data type, as the manifest promises.
    pub(crate) promised: Vec<(String, u64)>,
    /// Whether direct messages are read.
    messages: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Manifest<'a> {
    #[serde(borrow)]
    user_info: UserInfo<'a>,
    #[serde(borrow)]
    data_types: BTreeMap<String, DataType<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct UserInfo<'a> {
    account_id: Number,
    #[serde(borrow)]
    user_name: Text<'a>,
    #[serde(borrow)]
    display_name: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DataType<'a> {
    #[serde(borrow)]
    files: Items<ListedFile<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ListedFile<'a> {
    #[serde(borrow)]
    file_name: Text<'a>,
    count: Number,
}

impl Catalogue {
    pub(crate) fn of(
        container: &Container,
        shown: &str,
        messages: bool,
    ) -> Result<Self, ArchiveError> {
        let folder = data_folder(container);
        let folder = folder.ok_or_else(|| ArchiveError::NotAnArchive(shown.to_owned()))?;
        let mut catalogue = Self {
            folder,
            files: Vec::new(),
            owner: None,
            promised: Vec::new(),
            messages,
        };
        catalogue.take_manifest(container)?;
        catalogue.take_unlisted(container);
        catalogue.files.sort_by_cached_key(|file| {
            (
                file.handling.rank(),
                file.kind.clone(),
                part(&file.name),
                file.name.clone(),
            )
        });
        Ok(catalogue)
    }

    fn take_manifest(&mut self, container: &Container) -> Result<(), ArchiveError> {
        let name = format!("{}manifest.js", self.folder);
        if !container.holds(&name) {
            return Ok(());
        }
        let (bytes, _) = container.read(&name)?;
        let mut text = Vec::new();
        let read = bytes.take(LARGEST_MANIFEST).read_to_end(&mut text);
        read.map_err(|source| ArchiveError::io(&name, source))?;
        let text = clean::clean(&text);
        let object = text
            .find('{')
            .and_then(|at| text.get(at..))
            .unwrap_or_default();
        let mut values = serde_json::Deserializer::from_str(object);
        // An unreadable manifest leaves the file names to go by.
        let Ok(manifest) = Manifest::deserialize(&mut values) else {
            return Ok(());
        };
        self.owner = manifest.user_info.account();
        for (kind, data_type) in &manifest.data_types {
            self.take_listed(container, kind, &data_type.files)?;
        }
        Ok(())
    }

    fn take_listed(
        &mut self,
        container: &Container,
        kind: &str,
        files: &[ListedFile<'_>],
    ) -> Result<(), ArchiveError> {
        let root = self
            .folder
            .strip_suffix("data/")
            .unwrap_or(&self.folder)
            .to_owned();
        let mut promised = 0;
        for file in files {
            let Some(listed) = checked(&file.file_name)? else {
                continue;
            };
            let count = file.count.0.and_then(|count| u64::try_from(count).ok());
            promised += count.unwrap_or(0);
            let name = format!("{root}{listed}");
            self.files.push(DataFile {
                kind: kind.to_owned(),
                handling: handling(kind, self.messages),
                count,
                present: container.holds(&name),
                name,
            });
        }
        self.promised.push((kind.to_owned(), promised));
        Ok(())
    }

    fn take_unlisted(&mut self, container: &Container) {
        for name in container.names_from(&self.folder) {
            let Some(rest) = name.strip_prefix(&self.folder) else {
                break;
            };
            let Some(kind) = kind_by_name(rest) else {
                continue;
            };
            if self.files.iter().any(|file| file.name == name) {
                continue;
            }
            self.files.push(DataFile {
                handling: handling(&kind, self.messages),
                kind,
                name: name.to_owned(),
                count: None,
                present: true,
            });
        }
    }
}

impl UserInfo<'_> {
    fn account(&self) -> Option<Account> {
        Some(Account {
            id: self.account_id.0?,
            handle: self.user_name.owned(),
            name: self.display_name.owned(),
            created_at_ms: 0,
        })
    }
}

/// The folder with the fewest parts that holds a file which only archives hold.
fn data_folder(container: &Container) -> Option<String> {
    let signs = [
        "manifest.js",
        "account.js",
        "tweets.js",
        "tweet.js",
        "like.js",
        "follower.js",
    ];
    let mut best: Option<&str> = None;
    for name in container.names_from("") {
        let (folder, file) = name.rsplit_once('/').map_or(("", name), |_| {
            name.split_at(name.rfind('/').map_or(0, |at| at + 1))
        });
        let monthly = folder
            .strip_suffix("js/tweets/")
            .filter(|_| has_ending(file, "js"));
        let folder = match monthly {
            Some(above) => above,
            None if signs.contains(&file) => folder,
            None => continue,
        };
        let parts = |folder: &str| folder.matches('/').count();
        if best.is_none_or(|best| parts(folder) < parts(best)) {
            best = Some(folder);
        }
    }
    best.map(str::to_owned)
}

/// The data type that a file name tells: `direct-messages-part1.js` holds `directMessages`.
fn kind_by_name(name: &str) -> Option<String> {
    if name.starts_with("js/tweets/") {
        return Some("tweets".to_owned());
    }
    let stem = name
        .strip_suffix(".js")
        .filter(|stem| !stem.contains('/') && *stem != "manifest")?;
    let stem = stem.rsplit_once("-part").map_or(stem, |(stem, _)| stem);
    let mut words = stem.split('-');
    let mut kind = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        kind.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        kind.push_str(letters.as_str());
    }
    Some(if kind == "tweet" {
        "tweets".to_owned()
    } else {
        kind
    })
}

/// The number behind `-part`, 0 for the first file.
fn part(name: &str) -> u64 {
    let number = name
        .strip_suffix(".js")
        .and_then(|stem| stem.rsplit_once("-part"));
    number
        .and_then(|(_, number)| number.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{kind_by_name, part};

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
            assert_eq!(kind_by_name(name).as_deref(), want, "{name}");
        }
        assert_eq!((part("tweets-part12.js"), part("tweets.js")), (12, 0));
    }
}
