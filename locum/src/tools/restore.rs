//! `locum restore`: checks a backup completely, then puts its files where a server expects them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use base::encryption::{Keyring, MasterKey};
use base::{Error, Fault, Rng};
use serde_json::{Value, json};
use store::{DatabaseLocation, Store, StoreOptions};

use super::fsck;
use super::restore_database::{append_suffix, replace_database};
use super::restore_media::{MediaCheck, install_media, list_unlisted_media};
use instance::arguments::{GlobalArgs, RestoreArgs};
use instance::backup::{BackupLocation, BackupManifest, BackupReader, HashedContent, ScratchFolder, read_passphrase};
use instance::command;
use instance::command_error::CommandError;
use instance::config::{DATABASE_FILE, ServerSettings};
use instance::output::{OutputOptions, TerminalProgress, describe_restore};
use instance::{self, Instance, InstanceManifest, NoProgress, RestoredKeyFiles};

/// Of a folder on the file system of the database.
const SCRATCH_SUFFIX: &str = ".restoring";

pub(crate) fn restore_backup(
    common: &GlobalArgs,
    args: &RestoreArgs,
    output: OutputOptions,
) -> Result<ExitCode, CommandError> {
    let (reader, mut manifest) = open_backup(common, args)?;
    if args.backup.is_none() && common.names_database_server() {
        // Older backups may have the SQLite database that was used before.
        let found = reader.find_newest(|manifest| manifest.database.is_none());
        manifest = instance::block_on(async { Ok::<_, Fault>(found.await) })??.unwrap_or(manifest);
    }
    let keys = unseal_keys(args, &manifest)?;
    // The configuration may name this file, and cannot be read without it.
    let mut key_files = RestoredKeyFiles::default();
    if let (Some(keys), Some(file), false) = (&keys, &args.master_key, args.verify) {
        key_files.write(file, keys)?;
    }
    let values = common.config_values(manifest.instance.mode()?, vec![])?;
    let settings = Arc::new(ServerSettings::from_values(&values)?);
    let bar = TerminalProgress::new(output, if args.verify { "checking" } else { "restoring" });
    let restore = Restore { settings, reader, manifest, args };
    let (done, outcome) = if args.verify {
        ("verified", restore.verify(keys))
    } else {
        ("restored", restore.restore(keys, &mut key_files))
    };
    bar.clear();
    let answer = outcome?;
    output.print_value_or_text(&answer, || describe_restore(&answer));
    let is_done = answer.get(done).and_then(Value::as_bool) == Some(true);
    if is_done {
        key_files.keep();
    }
    Ok(if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn open_backup(common: &GlobalArgs, args: &RestoreArgs) -> Result<(BackupReader, BackupManifest), CommandError> {
    let location = match BackupLocation::parse_path(&args.source) {
        Some(location) => location,
        None => BackupLocation::parse(&common.load_settings()?, &args.source)?,
    };
    let reader = BackupReader::open(&location)?;
    let manifest = instance::block_on(async { Ok::<_, Fault>(reader.choose_manifest(args.backup.as_deref()).await) })??;
    Ok((reader, manifest))
}

fn unseal_keys(args: &RestoreArgs, manifest: &BackupManifest) -> Result<Option<Vec<MasterKey>>, CommandError> {
    let Some(file) = &args.key_passphrase_file else {
        return Ok(None);
    };
    let sealed = manifest.master_keys.as_ref();
    let sealed = sealed.ok_or_else(|| CommandError::Usage("the backup does not contain the master key".to_owned()))?;
    sealed.open(&read_passphrase(file)?).map(Some)
}

struct Restore<'a> {
    settings: Arc<ServerSettings>,
    reader: BackupReader,
    manifest: BackupManifest,
    args: &'a RestoreArgs,
}

impl Restore<'_> {
    /// Leaves nothing behind.
    fn verify(&self, keys: Option<Vec<MasterKey>>) -> Result<Value, CommandError> {
        let data_dir = &self.settings.core.data_dir;
        let parent = if data_dir.is_dir() { data_dir.clone() } else { std::env::temp_dir() };
        let scratch = ScratchFolder::create(parent.join(format!("locum-verify-{}", std::process::id())))?;
        let media = instance::block_on(MediaCheck::run(&self.reader, &self.manifest))?;
        let database = self.check_database(scratch.path(), keys)?;
        let is_verified = is_sound(database.as_ref()) && !media.is_incomplete();
        Ok(self.report("verified", is_verified, &media, database.as_ref(), None))
    }

    fn restore(&self, keys: Option<Vec<MasterKey>>, key_files: &mut RestoredKeyFiles) -> Result<Value, CommandError> {
        instance::refuse_root_for_other_owner(&self.settings.core.data_dir)?;
        self.refuse_existing()?;
        let key_file = keys.clone().zip(instance::key_file_path(&self.settings));
        if let Some((keys, file)) = &key_file {
            RestoredKeyFiles::refuse_other_key(file, keys)?;
        }
        let data_dir = &self.settings.core.data_dir;
        instance::create_private_folder(data_dir)?;
        let scratch = ScratchFolder::create(append_suffix(&self.local_database(), SCRATCH_SUFFIX))?;
        let database = self.check_database(scratch.path(), keys)?;
        let files = self.settings.open_media_files()?;
        let is_usable = is_sound(database.as_ref());
        let media = if is_usable {
            instance::block_on(install_media(&self.reader, &self.manifest, &files))?
        } else {
            instance::block_on(MediaCheck::run(&self.reader, &self.manifest))?
        };
        let may_restore = is_usable && (self.args.allow_missing_media || !media.is_incomplete());
        if let (Some((keys, file)), true) = (&key_file, may_restore) {
            key_files.write(file, keys)?;
        }
        let aside = if may_restore { self.install_database(scratch.path())? } else { None };
        Ok(self.report("restored", may_restore, &media, database.as_ref(), aside))
    }

    /// Neither a database nor the files of another network are overwritten.
    fn refuse_existing(&self) -> Result<(), CommandError> {
        let data_dir = &self.settings.core.data_dir;
        if let DatabaseLocation::File(target) = self.settings.database_location() {
            let has_data = fs::metadata(&target).is_ok_and(|file| file.len() > 0);
            if has_data && !self.args.replace && self.manifest.database.is_some() {
                return Err(CommandError::Failed(format!(
                    "{} already exists; use --replace to move it aside",
                    target.display()
                )));
            }
        } else if self.manifest.database.is_some() {
            return Err(CommandError::Usage(
                "this backup contains a SQLite database, and db.url names a PostgreSQL server".to_owned(),
            ));
        }
        let record = InstanceManifest::read(data_dir)?;
        let other = record.filter(|record| !record.network.is_empty() && record.network != self.manifest.network);
        if other.is_some() {
            return Err(self.another_network(&data_dir.display().to_string()));
        }
        if !self.settings.media_dir.exists() && self.settings.media_bucket.is_none() {
            return Ok(());
        }
        let files = self.settings.open_media_files()?;
        let marks = instance::block_on(async { files.network_marks().await.map_err(Fault::context("reading media")) })?;
        if marks.iter().all(|mark| *mark == self.manifest.network) {
            Ok(())
        } else {
            Err(self.another_network(&files.to_string()))
        }
    }

    fn another_network(&self, place: &str) -> CommandError {
        CommandError::Failed(format!(
            "{place} belongs to another network than the backup (network {}): restore into empty folders",
            self.manifest.network
        ))
    }

    /// Copies the database, opens the copy and recomputes all counters. `None` if the backup has no database.
    fn check_database(&self, scratch: &Path, keys: Option<Vec<MasterKey>>) -> Result<Option<Value>, CommandError> {
        let Some(file) = &self.manifest.database else {
            return Ok(None);
        };
        let copied = instance::block_on(self.copy_database(scratch))?;
        if copied.as_ref() != Some(file) {
            return Ok(Some(json!({"sound": false, "damage": [format!("{} is missing or damaged", file.name)]})));
        }
        let store = self.open_copy(scratch, keys)?;
        let instance = Instance {
            settings: Arc::clone(&self.settings),
            store: Arc::new(store),
            progress: Arc::new(NoProgress),
            search: None,
            search_backend: None,
            evaluator: ads_delivery::evaluator::Evaluator::new(None),
            command: None,
        };
        let mut checked = instance::block_on(command::check_consistency(&instance))?;
        let unlisted = instance::block_on(list_unlisted_media(&instance.store, &self.manifest))?;
        instance.store.close();
        if let Value::Object(members) = &mut checked {
            let sound = unlisted.is_empty() && members.get("sound").and_then(Value::as_bool) == Some(true);
            members.insert("sound".to_owned(), json!(sound));
            members.insert("unlisted_media".to_owned(), json!(unlisted));
        }
        Ok(Some(checked))
    }

    async fn copy_database(&self, scratch: &Path) -> Result<Option<instance::backup::BackupFile>, Error> {
        let fault = |error| Fault::from_cause("copying the database", error);
        let Some(file) = &self.manifest.database else { return Ok(None) };
        let Some(content) = self.reader.read(&file.name).await.map_err(fault)? else { return Ok(None) };
        let mut content = HashedContent::new(content);
        let folder = media::FileStore::local(scratch).map_err(fault)?;
        let mut writer = folder.start_write(DATABASE_FILE).map_err(fault)?;
        while let Some(piece) = content.next_piece().await.map_err(fault)? {
            writer.append(&piece).await.map_err(fault)?;
        }
        writer.finish().await.map_err(fault)?;
        Ok(Some(content.finish(&file.name)))
    }

    fn open_copy(&self, scratch: &Path, keys: Option<Vec<MasterKey>>) -> Result<Store, CommandError> {
        let keyring = match keys.map(|keys| (keys.first().cloned(), keys)) {
            Some((Some(current), keys)) => Keyring::new(current, keys.into_iter().skip(1).collect()),
            _ => instance::load_keyring(&self.settings, &Rng::Os, false)?,
        };
        let opened = instance::open_store(StoreOptions {
            location: DatabaseLocation::File(scratch.join(DATABASE_FILE)),
            data_dir: scratch.to_owned(),
            ..instance::store_options(&self.settings, Rng::Os, keyring)
        });
        let needed = &self.manifest.master_key_id;
        let store = opened
            .map_err(|fault| CommandError::Failed(format!("{fault} (the backup needs the master key {needed})")))?;
        instance::check_store_matches(&store, &mut self.record())?;
        Ok(store)
    }

    /// `world.json` of the restored network.
    fn record(&self) -> InstanceManifest {
        let mut record = self.manifest.instance.clone();
        record.network.clone_from(&self.manifest.network);
        record.starts += 1;
        record
    }

    /// The default place if the database is on a server.
    fn local_database(&self) -> PathBuf {
        match self.settings.database_location() {
            DatabaseLocation::File(path) => path,
            DatabaseLocation::Server(_) => self.settings.core.data_dir.join(DATABASE_FILE),
        }
    }

    /// Holds the data directory's lock while the database is replaced.
    fn install_database(&self, scratch: &Path) -> Result<Option<PathBuf>, CommandError> {
        let data_dir = &self.settings.core.data_dir;
        let (DatabaseLocation::File(target), Some(_)) = (self.settings.database_location(), &self.manifest.database)
        else {
            return Ok(None);
        };
        // An open store holds the directory's lock; it uses another database meanwhile.
        let guard = Store::open(StoreOptions {
            location: DatabaseLocation::File(scratch.join("guard.db")),
            ..instance::store_options(&self.settings, Rng::Os, instance::load_keyring(&self.settings, &Rng::Os, false)?)
        });
        let guard = instance::block_on(guard)?;
        let mut record = self.record();
        record.starts += InstanceManifest::read(data_dir)?.map_or(0, |existing| existing.starts);
        // The search index belongs to the old database; the next server rebuilds it.
        let _gone = fs::remove_dir_all(instance::search_index_folder(&self.settings));
        let replaced = replace_database(&scratch.join(DATABASE_FILE), &target);
        guard.close();
        let aside = replaced?;
        record.write(data_dir)?;
        Ok(aside)
    }

    fn report(
        &self,
        action: &str,
        is_done: bool,
        media: &MediaCheck,
        database: Option<&Value>,
        aside: Option<PathBuf>,
    ) -> Value {
        json!({
            "backup": self.manifest.id,
            "created_at": self.manifest.created_at,
            "version": self.manifest.version,
            action: is_done,
            "aside": aside,
            "media": media.report(&self.manifest),
            "check": database,
        })
    }
}

/// Of a checked database, or of a backup without one.
fn is_sound(database: Option<&Value>) -> bool {
    database.is_none_or(|checked| fsck::exit_code(checked) == ExitCode::SUCCESS)
}
