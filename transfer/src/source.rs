//! Opening, identifying and reading the source of an import.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use archive::{Archive, ArchiveError, ArchiveRecord, ArchivedAccount, JsonLines, ReadPosition};

use crate::options::ImportSource;

pub(crate) enum OpenedSource {
    Archive(Archive),
    Lines(JsonLines),
}

/// What is known of a source before it is read.
pub(crate) struct SourceInfo {
    /// Unique to a source.
    pub(crate) key: String,
    pub(crate) account: Option<ArchivedAccount>,
    pub(crate) manifest_counts: Vec<(String, u64)>,
}

type SourceItem = Result<(ReadPosition, ArchiveRecord), ArchiveError>;

impl OpenedSource {
    pub(crate) fn open(source: &ImportSource, messages: bool) -> Result<(Self, SourceInfo), ArchiveError> {
        match source {
            ImportSource::Archive(path) => {
                let archive = Archive::open_with_options(path, messages)?;
                let account = archive.account().ok();
                let promised = archive.manifest_counts();
                let about = SourceInfo {
                    key: source_key(path, account.as_ref(), &promised, messages),
                    account,
                    manifest_counts: promised,
                };
                Ok((Self::Archive(archive), about))
            }
            ImportSource::JsonLines(path) => {
                let lines = JsonLines::open(path)?;
                let about = SourceInfo {
                    key: source_key(path, None, &[], false),
                    account: None,
                    manifest_counts: Vec::new(),
                };
                Ok((Self::Lines(lines), about))
            }
        }
    }

    /// Calls `visit` with the records from `from` on until it returns false.
    pub(crate) fn visit_records(
        &self,
        from: ReadPosition,
        mut take: impl FnMut(SourceItem) -> bool,
    ) -> Result<(), ArchiveError> {
        match self {
            Self::Archive(archive) => {
                archive.records(from).all(&mut take);
            }
            Self::Lines(lines) => {
                lines.records(from)?.all(&mut take);
            }
        }
        Ok(())
    }
}

/// A hash of path, sizes, modification times, owner and manifest.
fn source_key(path: &Path, account: Option<&ArchivedAccount>, promised: &[(String, u64)], messages: bool) -> String {
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut facts = vec![place.display().to_string()];
    for file in fingerprint_files(&place) {
        let Ok(found) = file.metadata() else {
            continue;
        };
        let at = found.modified().ok();
        let at = at.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let at = at.unwrap_or_default().as_nanos();
        facts.push(format!("{} {at}", found.len()));
    }
    let account = account.map(|account| account.id);
    facts.push(format!("{account:?} {promised:?}"));
    if messages {
        // Message files come before skipped ones, so positions differ.
        facts.push("messages".to_owned());
    }
    let digest = base::secret::digest(&facts.join("\u{0}"));
    let hex = digest.iter().take(16).map(|byte| format!("{byte:02x}"));
    hex.collect()
}

/// Files whose size and time distinguish versions of a source.
fn fingerprint_files(place: &Path) -> Vec<PathBuf> {
    if place.is_file() {
        return vec![place.to_owned()];
    }
    let names = ["manifest.js", "account.js", "tweets.js", "tweet.js", "like.js"];
    names.iter().map(|name| place.join("data").join(name)).collect()
}
