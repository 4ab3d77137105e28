//! A folder or a zip file as a set of named files.

mod folder;
mod verified_reader;
mod zip_container;

use crate::ArchiveError;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

pub type ByteStream = Box<dyn Read + Send>;

#[derive(Debug)]
pub(crate) enum ArchiveContainer {
    Folder(folder::FolderContainer),
    Zip(zip_container::ZipContainer),
}

impl ArchiveContainer {
    pub(crate) fn open(path: &Path) -> Result<Self, ArchiveError> {
        if path.is_dir() {
            folder::FolderContainer::open(path).map(Self::Folder)
        } else {
            zip_container::ZipContainer::open(path).map(Self::Zip)
        }
    }

    /// Sorted names from `from` on, inclusive.
    pub(crate) fn names_from<'a>(&'a self, from: &str) -> Box<dyn Iterator<Item = &'a str> + 'a> {
        match self {
            Self::Folder(folder) => Box::new(names_from(&folder.files, from)),
            Self::Zip(zip) => Box::new(names_from(&zip.files, from)),
        }
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        match self {
            Self::Folder(folder) => folder.files.contains_key(name),
            Self::Zip(zip) => zip.files.contains_key(name),
        }
    }

    /// The file's bytes and its size.
    pub(crate) fn open_file(&self, name: &str) -> Result<(ByteStream, u64), ArchiveError> {
        match self {
            Self::Folder(folder) => folder.open_file(name),
            Self::Zip(zip) => zip.open_file(name),
        }
    }
}

fn names_from<'a, T>(files: &'a BTreeMap<String, T>, from: &str) -> impl Iterator<Item = &'a str> + use<'a, T> {
    let bounds = (std::ops::Bound::Included(from), std::ops::Bound::Unbounded);
    files.range::<str, _>(bounds).map(|(name, _)| &**name)
}

/// Fails for names that lead out of the archive; `None` for metadata files of operating systems.
pub(crate) fn validate_name(name: &str) -> Result<Option<&str>, ArchiveError> {
    let name = name.strip_prefix("./").unwrap_or(name);
    let is_unsafe = |part: &str| part == ".." || part == "." || part.contains(['\\', '\0']);
    let has_drive = name.chars().nth(1) == Some(':');
    if name.is_empty() || name.starts_with('/') || has_drive || name.split('/').any(is_unsafe) {
        return Err(ArchiveError::UnsafeName(name.to_owned()));
    }
    let is_metadata = |part: &str| part == "__MACOSX" || part == ".DS_Store" || part.starts_with("._");
    Ok((!name.split('/').any(is_metadata)).then_some(name))
}

#[cfg(test)]
mod tests {
    use super::validate_name;

    #[test]
    fn names_that_lead_away_are_refused() {
        let away = ["../a", "a/../../b", "/etc/passwd", "a\\..\\b", "C:/a", "a/./b", "", "a\0b"];
        for name in away {
            assert!(validate_name(name).is_err(), "{name:?}");
        }
        assert_eq!(validate_name("data/tweets.js").unwrap(), Some("data/tweets.js"));
        assert_eq!(validate_name("data/a..b.jpg").unwrap(), Some("data/a..b.jpg"));
        assert_eq!(validate_name("__MACOSX/data/._tweets.js").unwrap(), None);
        assert_eq!(validate_name("data/.DS_Store").unwrap(), None);
    }
}
