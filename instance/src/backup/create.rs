//! Makes a backup while the server may serve and write.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use base::encryption::format_key_id;
use base::refusal::RefusalKind;
use base::{Error, Fault, Refusal, Secret, Time, clock};
use futures_util::TryStreamExt;
use media::{FileRange, FileStore};
use serde::Serialize;
use store::{DatabaseLocation, Store, StoreOptions, meta};
use tokio::sync::Mutex;

use super::backup_writer::BackupWriter;
use super::manifest::{self, BackupFile, BackupManifest};
use super::prune::prune_backups;
use super::{BackupLocation, BackupReader, MEDIA_PREFIX, ScratchFolder, SealedKeys, media_object, storage_fault};
use crate::config::DATABASE_FILE;
use crate::{Instance, InstanceManifest};

/// Backups of one process take turns: they share the scratch folder.
static TURN: Mutex<()> = Mutex::const_new(());
const SCRATCH_FOLDER: &str = "backup-scratch";
const MEDIA_ROWS_PER_READ: i64 = 1000;

#[derive(Clone, Debug, Default)]
pub struct BackupOptions {
    /// Leave out the database.
    pub media_only: bool,
    /// Include the master keys, encrypted with it.
    pub passphrase: Option<Secret>,
    /// The number of backups to keep in a folder or bucket.
    pub keep: Option<usize>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct BackupReport {
    pub backup: String,
    /// 0 if only media files were backed up.
    pub database_bytes: u64,
    pub media_files: usize,
    pub media_bytes: u64,
    /// Media files that no earlier backup in the same place had.
    pub copied_files: usize,
    pub copied_bytes: u64,
    /// Files that the database names and that no longer existed.
    pub absent_files: usize,
    /// Older backups that were removed.
    pub removed_backups: usize,
}

/// Refuses to overwrite an archive file, and to add to the backups of another network.
pub async fn create_backup(
    instance: &Instance,
    location: &BackupLocation,
    options: &BackupOptions,
) -> Result<BackupReport, Error> {
    refuse_media_location(instance, location)?;
    let _turn = TURN.lock().await;
    let mut run = BackupRun::prepare(instance, location, options).await?;
    let scratch = ScratchFolder::create(instance.settings.core.data_dir.join(SCRATCH_FOLDER))?;
    if let Err(error) = run.copy_all(options, scratch.path()).await {
        run.writer.abort().await;
        return Err(error);
    }
    let (mut report, manifest) = run.finish().await?;
    if let (Some(keep), BackupLocation::Folder(_) | BackupLocation::Bucket(_)) = (options.keep, location) {
        report.removed_backups = prune_backups(location, &manifest, keep).await?;
    }
    Ok(report)
}

/// A backup among the media files would contain the backups before it, and one whose own media are the network's would
/// delete them with the backup.
fn refuse_media_location(instance: &Instance, location: &BackupLocation) -> Result<(), Error> {
    let settings = &instance.settings;
    let overlaps = match location {
        BackupLocation::Bucket(bucket) => settings.media_bucket.as_ref().is_some_and(|media| {
            let folder = |place: &dyn std::fmt::Display| format!("{place}/").replace("//", "/");
            let (media, target) = (folder(media), folder(bucket));
            target.starts_with(&media) || media.starts_with(&folder(&format!("{target}{MEDIA_PREFIX}")))
        }),
        BackupLocation::File(path) | BackupLocation::Folder(path) => {
            let (media, target) = (resolve_path(&settings.media_dir)?, resolve_path(path)?);
            target.starts_with(&media) || media.starts_with(target.join(MEDIA_PREFIX))
        }
    };
    if overlaps {
        let message = format!("{location} is among the media files, or contains them as a backup's: back up elsewhere");
        return Err(Refusal::invalid_parameter("target", location, message).into());
    }
    Ok(())
}

/// The absolute path without symbolic links, also of what does not exist yet.
fn resolve_path(path: &Path) -> Result<PathBuf, Fault> {
    let absolute = std::path::absolute(path).map_err(Fault::context("the backup's path"))?;
    let existing = absolute.ancestors().find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    Ok(match existing.and_then(|(folder, real)| Some(real.join(absolute.strip_prefix(folder).ok()?))) {
        Some(resolved) => resolved,
        None => absolute,
    })
}

struct BackupRun<'a> {
    instance: &'a Instance,
    media: FileStore,
    writer: BackupWriter,
    earlier: EarlierMedia,
    manifest: BackupManifest,
    names: HashSet<String>,
    report: BackupReport,
}

impl<'a> BackupRun<'a> {
    async fn prepare(
        instance: &'a Instance,
        location: &BackupLocation,
        options: &BackupOptions,
    ) -> Result<Self, Error> {
        // Not the world's time, which can stand still.
        let now = clock::wall_time();
        let mut manifest = new_manifest(instance, options, now).await?;
        let (files, archive_name) = location.open()?;
        let (writer, earlier) = if let Some(name) = archive_name {
            let seconds = u64::try_from(now.seconds()).unwrap_or(0);
            let writer = files.start_write(&name).map_err(storage_fault)?;
            (BackupWriter::Archive { writer, written_at_seconds: seconds }, EarlierMedia::default())
        } else {
            claim_collection(&files, location, &manifest.network).await?;
            let earlier = list_earlier_media(location).await?;
            manifest.id = unused_id(now, &earlier.backup_ids);
            (BackupWriter::Collection(files), earlier)
        };
        let report = BackupReport { backup: manifest.id.clone(), ..BackupReport::default() };
        let media = instance.settings.open_media_files()?;
        Ok(Self { instance, media, writer, earlier, manifest, names: HashSet::new(), report })
    }

    /// The database comes first: every file of its moment is listed afterwards.
    async fn copy_all(&mut self, options: &BackupOptions, scratch: &Path) -> Result<(), Error> {
        if !options.media_only {
            self.copy_database(scratch).await?;
        }
        let mut listed = self.media.list(None).map_err(storage_fault)?;
        while let Some(file) = listed.try_next().await.map_err(storage_fault)? {
            match self.earlier.files.get(&file.name).filter(|known| known.bytes == file.size) {
                // In a bucket, opening it would be a request for each file.
                Some(known) => self.add_media_file(known.clone()),
                None => drop(self.copy_media_file(&file.name).await?),
            }
        }
        if !options.media_only {
            self.check_references(scratch).await?;
        }
        Ok(())
    }

    async fn copy_database(&mut self, scratch: &Path) -> Result<(), Error> {
        self.instance.store.backup(scratch.join(DATABASE_FILE)).await?;
        let folder = FileStore::local(scratch).map_err(storage_fault)?;
        let content = folder.read(DATABASE_FILE, None).await.map_err(storage_fault)?;
        let content = content.ok_or_else(|| Fault::new("the copy of the database is gone"))?;
        let object = format!("{}/{}.db", super::DATABASE_PREFIX, self.manifest.id);
        let file = self.writer.store_file(&object, &object, content).await?;
        self.report.database_bytes = file.bytes;
        self.manifest.database = Some(file);
        Ok(())
    }

    /// A file that was deleted meanwhile is skipped.
    async fn copy_media_file(&mut self, name: &str) -> Result<bool, Error> {
        if self.names.contains(name) {
            return Ok(true);
        }
        let Some(content) = self.media.read(name, None).await.map_err(storage_fault)? else {
            return Ok(false);
        };
        let file = match self.earlier.files.get(name).filter(|file| file.bytes == content.size) {
            Some(file) => file.clone(),
            None => self.copy_new_file(name, content).await?,
        };
        self.add_media_file(file);
        Ok(true)
    }

    fn add_media_file(&mut self, file: BackupFile) {
        if self.names.insert(file.name.clone()) {
            self.report.media_bytes = self.report.media_bytes.saturating_add(file.bytes);
            self.manifest.media.push(file);
            self.instance.progress.report_progress(u64::try_from(self.names.len()).unwrap_or(u64::MAX), None);
        }
    }

    async fn copy_new_file(&mut self, name: &str, content: FileRange) -> Result<BackupFile, Fault> {
        let mut object = media_object(name);
        let is_taken = self.earlier.object_sizes.get(&object).is_some_and(|size| *size != content.size);
        if is_taken {
            object = format!("{object}.{}", self.manifest.id);
        }
        let mut file = self.writer.store_file(name, &object, content).await?;
        file.object = is_taken.then_some(object);
        self.report.copied_files += 1;
        self.report.copied_bytes = self.report.copied_bytes.saturating_add(file.bytes);
        Ok(file)
    }

    /// Lists the files that the copied database names and that do not exist.
    async fn check_references(&mut self, scratch: &Path) -> Result<(), Error> {
        let snapshot = open_snapshot(self.instance, scratch).await?;
        let mut after = 0;
        let outcome = loop {
            let rows = snapshot.read(move |tx| Ok(store::media::list(tx, after, MEDIA_ROWS_PER_READ)?)).await;
            let rows = match rows {
                Ok(rows) => rows,
                Err(error) => break Err(error),
            };
            let Some(last) = rows.last() else { break Ok(()) };
            after = last.id.get();
            for name in rows.iter().flat_map(store::media::Media::file_paths) {
                if !self.copy_media_file(&name).await? {
                    self.manifest.absent.push(name);
                }
            }
        };
        let closed = tokio::task::spawn_blocking(move || snapshot.close()).await;
        closed.map_err(Fault::context("closing the copy of the database"))?;
        outcome
    }

    async fn finish(self) -> Result<(BackupReport, BackupManifest), Error> {
        let Self { writer, manifest, mut report, .. } = self;
        report.media_files = manifest.media.len();
        report.absent_files = manifest.absent.len();
        writer.finish(&BackupManifest::object_name(&manifest.id), manifest.encode()?).await?;
        Ok((report, manifest))
    }
}

async fn new_manifest(instance: &Instance, options: &BackupOptions, now: Time) -> Result<BackupManifest, Error> {
    let settings = &instance.settings;
    let network = instance.store.read(|tx| Ok(meta::get(tx, crate::NETWORK_ID_KEY)?)).await?;
    let network = network.ok_or_else(|| Fault::new("the database has no network id"))?;
    let record = InstanceManifest::read(&settings.core.data_dir)?;
    let record = record.ok_or_else(|| Fault::new("world.json is missing"))?;
    let migrations = Store::migration_status(settings.database_location()).await?;
    let sealed = options.passphrase.as_ref().map(|passphrase| {
        let keys = crate::load_keys(settings)?;
        if keys.first().is_none_or(|key| key.id() != instance.store.context().keyring.current_key_id()) {
            return Err(Fault::new("the file of the master key has another key than the server uses"));
        }
        SealedKeys::seal(&keys, passphrase)
    });
    Ok(BackupManifest {
        format: manifest::FORMAT,
        id: backup_id(now),
        created_at: now.to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        schema: migrations.iter().filter(|one| one.applied_at.is_some()).count(),
        network,
        instance: record,
        master_key_id: format_key_id(instance.store.context().keyring.current_key_id()),
        database: None,
        media: Vec::new(),
        absent: Vec::new(),
        master_keys: sealed.transpose()?,
    })
}

fn backup_id(at: Time) -> String {
    at.to_string().chars().filter(char::is_ascii_alphanumeric).collect()
}

fn unused_id(mut at: Time, used: &[String]) -> String {
    while used.contains(&backup_id(at)) {
        at = at.plus_ms(1);
    }
    backup_id(at)
}

async fn open_snapshot(instance: &Instance, scratch: &Path) -> Result<Store, Fault> {
    let context = instance.store.context();
    let options = StoreOptions {
        location: DatabaseLocation::File(scratch.join(DATABASE_FILE)),
        data_dir: scratch.to_owned(),
        migrate: false,
        ..crate::store_options(&instance.settings, context.rng.clone(), context.keyring.clone())
    };
    Store::open(options).await
}

/// Marks a new folder or bucket as this network's.
async fn claim_collection(files: &FileStore, location: &BackupLocation, network: &str) -> Result<(), Error> {
    let marks = files.network_marks().await.map_err(storage_fault)?;
    if marks.iter().any(|mark| mark != network) {
        let message = format!("{location} contains backups of another network");
        return Err(Refusal::named_reason(RefusalKind::Conflict, "target", location, message).into());
    }
    if marks.is_empty() {
        files.mark_network(network).await.map_err(storage_fault)?;
    }
    Ok(())
}

/// Media in the place of a backup. Name and size identify a media file: only the preview of a video changes, when a frame
/// replaces what was drawn.
#[derive(Default)]
struct EarlierMedia {
    backup_ids: Vec<String>,
    /// What the newest backup lists and is still there, by name.
    files: HashMap<String, BackupFile>,
    object_sizes: HashMap<String, u64>,
}

async fn list_earlier_media(location: &BackupLocation) -> Result<EarlierMedia, Error> {
    let reader = BackupReader::open(location)?;
    let mut earlier = EarlierMedia { backup_ids: reader.list_ids().await?, ..EarlierMedia::default() };
    if earlier.backup_ids.is_empty() {
        return Ok(earlier);
    }
    let mut listed = HashMap::new();
    for id in earlier.backup_ids.iter().rev() {
        if let Some(newest) = reader.find_readable_manifest(id).await? {
            listed = newest.media_by_object();
            break;
        }
    }
    let mut objects = reader.files.list(Some(MEDIA_PREFIX)).map_err(storage_fault)?;
    while let Some(object) = objects.try_next().await.map_err(storage_fault)? {
        if let Some(file) = listed.remove(&object.name).filter(|file| file.bytes == object.size) {
            earlier.files.insert(file.name.clone(), file);
        }
        earlier.object_sizes.insert(object.name, object.size);
    }
    Ok(earlier)
}
