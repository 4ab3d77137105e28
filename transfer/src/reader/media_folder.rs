//! Copies attached files from the source into the media folder, where they are named by media key.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use archive::{Archive, ArchivedMedia, ArchivedMediaFile, ArchivedMediaKind};

use crate::report::ImportReport;
use crate::source::OpenedSource;

pub(crate) struct MediaFolder<'a> {
    dir: Option<PathBuf>,
    archive: Option<&'a Archive>,
}

/// `<prefix>_<id>`.
pub(crate) fn media_key(media: &ArchivedMedia) -> String {
    let prefix = match media.kind {
        ArchivedMediaKind::Subtitles => 0,
        ArchivedMediaKind::Photo => 3,
        ArchivedMediaKind::Video => 7,
        ArchivedMediaKind::AnimatedGif => 16,
    };
    format!("{prefix}_{}", media.id)
}

/// The path below the media folder, which has up to a hundred subfolders.
fn sharded_path(name: &str) -> String {
    let stem = name.split('.').next().unwrap_or(name);
    let digits: Vec<char> = stem.chars().rev().take(2).collect();
    let shard: String = digits.into_iter().rev().collect();
    format!("{shard}/{name}")
}

pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

enum CopyOutcome {
    Copied(u64),
    AlreadyPresent,
}

impl<'a> MediaFolder<'a> {
    pub(crate) const fn new(dir: Option<PathBuf>, source: &'a OpenedSource) -> Self {
        let archive = match source {
            OpenedSource::Archive(archive) => Some(archive),
            OpenedSource::Lines(_) => None,
        };
        Self { dir, archive }
    }

    pub(crate) const fn is_archive(&self) -> bool {
        self.archive.is_some()
    }

    /// The path of an attachment's file below the media folder; empty if there is none.
    pub(crate) fn store_file(&self, post: Option<i64>, media: &ArchivedMedia, report: &mut ImportReport) -> String {
        let Some(dir) = &self.dir else {
            return String::new();
        };
        let Some((archive, post)) = self.archive.zip(post) else {
            return find_existing_file(dir, media, report);
        };
        let copied = archive.post_media(post, media).map(|found| {
            let found = found?;
            let path = sharded_path(&format!("{}.{}", media_key(media), safe_extension(&found.name)));
            let name = found.name.clone();
            Some((copy_file(found, dir, &path), path, name))
        });
        match copied {
            Ok(None) => report.media.missing += 1,
            Ok(Some((Ok(outcome), path, _))) => {
                match outcome {
                    CopyOutcome::AlreadyPresent => report.media.present += 1,
                    CopyOutcome::Copied(bytes) => {
                        report.media.copied += 1;
                        report.media.bytes += bytes;
                    }
                }
                return path;
            }
            Ok(Some((Err(error), _, name))) => {
                report.skip("media", "its file cannot be copied", || format!("{name}: {error}"));
            }
            Err(error) => report.skip("media", "its file cannot be read", || error.to_string()),
        }
        String::new()
    }
}

fn find_existing_file(dir: &Path, media: &ArchivedMedia, report: &mut ImportReport) -> String {
    // Names come from a file that anyone may have written. One that begins with a dot is below no folder.
    let is_plain = |name: &&String| file_name(name) == **name && !name.starts_with('.') && !name.contains(['\\', '\0']);
    let names = media.files.iter().filter(is_plain);
    let mut paths = names.map(|name| sharded_path(name));
    let found = paths.find(|path| dir.join(path).is_file());
    if found.is_some() {
        report.media.present += 1;
    } else if !media.files.is_empty() {
        report.media.missing += 1;
    }
    found.unwrap_or_default()
}

/// `bin` unless the extension is short and alphanumeric.
fn safe_extension(name: &str) -> String {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    let plain =
        |extension: &&str| extension.len() <= 5 && extension.bytes().all(|letter| letter.is_ascii_alphanumeric());
    extension.filter(plain).map_or_else(|| "bin".to_owned(), str::to_ascii_lowercase)
}

/// Copies to a temporary file, which is renamed once it is synced to disk. It lies among the scratch files, which are not
/// moved to a bucket, and are deleted when the server starts.
fn copy_file(mut found: ArchivedMediaFile, dir: &Path, path: &str) -> io::Result<CopyOutcome> {
    let to = &dir.join(path);
    if fs::metadata(to).is_ok_and(|existing| existing.len() == found.size) {
        return Ok(CopyOutcome::AlreadyPresent);
    }
    let folder = to.parent().unwrap_or(to);
    fs::create_dir_all(folder)?;
    let scratch = dir.join("scratch");
    fs::create_dir_all(&scratch)?;
    let temporary = scratch.join(file_name(path));
    let result = write_file(&mut found, &temporary).and_then(|bytes| {
        fs::rename(&temporary, to)?;
        File::open(folder)?.sync_all()?;
        Ok(CopyOutcome::Copied(bytes))
    });
    if result.is_err() {
        // A leftover is overwritten the next time.
        drop(fs::remove_file(&temporary));
    }
    result
}

fn write_file(found: &mut ArchivedMediaFile, to: &Path) -> io::Result<u64> {
    let mut file = File::create(to)?;
    let bytes = io::copy(&mut found.bytes, &mut file)?;
    file.sync_all()?;
    Ok(bytes)
}
