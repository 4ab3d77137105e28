//! Opening, identifying and reading the source of an import.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use archive::{Archive, ArchiveError, ArchiveRecord, ArchivedAccount, JsonLines, ReadPosition};
use data_encoding::HEXLOWER;

use crate::options::ImportSource;

pub(crate) enum OpenedSource {
    Archive(Archive),
    Lines(JsonLines),
}

pub(crate) struct SourceInfo {
    pub(crate) key: String,
    pub(crate) account: Option<ArchivedAccount>,
    /// Rather than lines that an operator has prepared.
    pub(crate) is_archive: bool,
    pub(crate) manifest_counts: Vec<(String, u64)>,
}

type SourceItem = Result<(ReadPosition, ArchiveRecord), ArchiveError>;

impl OpenedSource {
    pub(crate) fn open(source: &ImportSource, messages: bool) -> Result<(Self, SourceInfo), ArchiveError> {
        match source {
            ImportSource::Archive(path) => {
                let archive = Archive::open_with_options(path, messages)?;
                let account = archive.account().ok();
                let manifest_counts = archive.manifest_counts();
                let info = SourceInfo {
                    key: source_key(path, account.as_ref(), &manifest_counts, messages),
                    account,
                    is_archive: true,
                    manifest_counts,
                };
                Ok((Self::Archive(archive), info))
            }
            ImportSource::JsonLines(path) => {
                let lines = JsonLines::open(path)?;
                let info = SourceInfo {
                    key: source_key(path, None, &[], false),
                    account: None,
                    is_archive: false,
                    manifest_counts: Vec::new(),
                };
                Ok((Self::Lines(lines), info))
            }
        }
    }

    /// Calls `visit` with the records from `from` on until it returns false.
    pub(crate) fn visit_records(
        &self,
        from: ReadPosition,
        mut visit: impl FnMut(SourceItem) -> bool,
    ) -> Result<(), ArchiveError> {
        match self {
            Self::Archive(archive) => {
                archive.records(from).all(&mut visit);
            }
            Self::Lines(lines) => {
                lines.records(from)?.all(&mut visit);
            }
        }
        Ok(())
    }
}

/// A hash of path, sizes, modification times, owner and manifest.
fn source_key(
    path: &Path,
    account: Option<&ArchivedAccount>,
    manifest_counts: &[(String, u64)],
    messages: bool,
) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut parts = vec![path.display().to_string()];
    for file in fingerprint_files(&path) {
        let Ok(found) = file.metadata() else {
            continue;
        };
        let at = found.modified().ok();
        let at = at.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let at = at.unwrap_or_default().as_nanos();
        parts.push(format!("{} {at}", found.len()));
    }
    let account = account.map(|account| account.id);
    parts.push(format!("{account:?} {manifest_counts:?}"));
    if messages {
        // Message files come before skipped ones, so positions differ.
        parts.push("messages".to_owned());
    }
    let digest = base::secret::digest(&parts.join("\u{0}"));
    let mut hex = HEXLOWER.encode(&digest);
    hex.truncate(32);
    hex
}

/// Files whose size and time distinguish versions of a source.
fn fingerprint_files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let names = ["manifest.js", "account.js", "tweets.js", "tweet.js", "like.js"];
    names.iter().map(|name| path.join("data").join(name)).collect()
}
