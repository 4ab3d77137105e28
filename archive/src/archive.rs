//! The "download your data" archive.

use crate::catalogue::{Catalogue, DataFile};
use crate::container::{Bytes, Container};
use crate::kinds::{Handling, Kind};
use crate::records::Records;
use crate::{Account, ArchiveError, Media, MediaKind, Position, Record, text};
use std::fmt;
use std::path::Path;

const MEDIA_FOLDERS: [&str; 4] = [
    "tweets_media",
    "tweet_media",
    "community_tweet_media",
    "deleted_tweets_media",
];

/// One archive, opened from a folder or a zip file, whole or in part.
#[derive(Debug)]
pub struct Archive {
    pub(crate) container: Container,
    pub(crate) catalogue: Catalogue,
}

/// A media file of the archive.
pub struct Found {
    /// Its name within the archive.
    pub name: String,
    /// Its length in bytes.
    pub size: u64,
    /// Its bytes; of a zip, an error at the end tells a wrong length or checksum.
    pub bytes: Bytes,
}

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Found");
        shown
            .field("name", &self.name)
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

impl Archive {
    /// Opens a folder or a zip file; the data may stand one folder further down.
    ///
    /// Refuses what is no archive, a zip without its directory, and names that lead elsewhere.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        Self::open_with(path, false)
    }

    /// The same; direct messages are among its records where they are asked for.
    pub fn open_with(path: &Path, messages: bool) -> Result<Self, ArchiveError> {
        let container = Container::open(path)?;
        let catalogue = Catalogue::of(&container, &path.display().to_string(), messages)?;
        let mut archive = Self {
            container,
            catalogue,
        };
        if archive.catalogue.owner.is_none() {
            archive.catalogue.owner = archive.account().ok();
        }
        Ok(archive)
    }

    /// Whose archive it is, from the account file or else from the manifest.
    pub fn account(&self) -> Result<Account, ArchiveError> {
        let files = self.catalogue.files.iter();
        let is_account =
            |file: &&DataFile| file.handling == Handling::Read(Kind::Account) && file.present;
        if files.clone().any(|file| is_account(&file)) {
            for item in self.records(Position::START) {
                match item? {
                    (_, Record::Account(account)) => return Ok(account),
                    (_, Record::Skipped(_)) => {}
                    _ => break,
                }
            }
        }
        let missing = || ArchiveError::Missing("account.js".to_owned());
        self.catalogue.owner.clone().ok_or_else(missing)
    }

    /// Elements by data type (`tweets`, `directMessages`) as the manifest promises, by name.
    /// Empty when there is no manifest.
    pub fn counts(&self) -> Vec<(String, u64)> {
        self.catalogue.promised.clone()
    }

    /// The records from `from` on, each with the position behind it.
    pub fn records(&self, from: Position) -> Records<'_> {
        Records::new(self, from)
    }

    /// The file of a post's attachment, if this part of the archive holds it.
    pub fn media(&self, post: i64, media: &Media) -> Result<Option<Found>, ArchiveError> {
        let exact = media
            .files
            .iter()
            .find_map(|file| self.in_folders(&MEDIA_FOLDERS, file));
        let film = || match media.kind {
            MediaKind::Photo | MediaKind::Subtitles => None,
            MediaKind::Video | MediaKind::AnimatedGif => self.film(post),
        };
        self.found(exact.or_else(film))
    }

    /// The file of the owner's picture or banner that was served at `url`.
    pub fn profile_media(&self, owner: i64, url: &str) -> Result<Option<Found>, ArchiveError> {
        let base = text::base_name(url);
        let name = base.and_then(|base| {
            let start = format!("{}profile_media/{owner}-{base}", self.catalogue.folder);
            // The address of a banner has no ending, its file has one.
            self.first_from(&start)
        });
        self.found(name)
    }

    fn found(&self, name: Option<String>) -> Result<Option<Found>, ArchiveError> {
        let Some(name) = name else {
            return Ok(None);
        };
        let (bytes, size) = self.container.read(&name)?;
        Ok(Some(Found { name, size, bytes }))
    }

    fn in_folders(&self, folders: &[&str], file: &str) -> Option<String> {
        let names = folders
            .iter()
            .map(|folder| format!("{}{folder}/{file}", self.catalogue.folder));
        names.into_iter().find(|name| self.container.holds(name))
    }

    fn film(&self, post: i64) -> Option<String> {
        let starts = MEDIA_FOLDERS
            .iter()
            .map(|folder| format!("{}{folder}/{post}-", self.catalogue.folder));
        let films = starts.filter_map(|start| self.first_from(&start));
        films.into_iter().find(|name| has_ending(name, "mp4"))
    }

    fn first_from(&self, start: &str) -> Option<String> {
        let first = self.container.names_from(start).next()?;
        first.starts_with(start).then(|| first.to_owned())
    }
}

pub(crate) fn has_ending(name: &str, ending: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|found| found.eq_ignore_ascii_case(ending))
}
