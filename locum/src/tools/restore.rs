//! `locum restore`: verifies a backup, then replaces the database with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use base::{Error, Fault, Rng, clock};
use serde_json::{Value, json};
use store::{DatabaseLocation, Store, StoreOptions, meta};

use super::fsck;
use crate::arguments::{GlobalArgs, RestoreArgs};
use crate::command;
use crate::command_error::CommandError;
use crate::config::ServerSettings;
use crate::instance::{self, CreatePolicy, Instance, NoProgress};
use crate::output::{OutputOptions, TerminalProgress};

pub(crate) fn restore_backup(
    common: &GlobalArgs,
    args: &RestoreArgs,
    output: OutputOptions,
) -> Result<ExitCode, CommandError> {
    let settings = Arc::new(common.load_settings()?);
    let DatabaseLocation::File(target) = settings.database_location() else {
        return Err(CommandError::Usage(
            "a copy of a PostgreSQL database is restored by `pg_restore`; JSON Lines are taken in \
             by `locum import jsonl`"
                .to_owned(),
        ));
    };
    if target.exists() && !args.replace && !args.dry_run {
        return Err(CommandError::Usage(format!(
            "{} already exists; use --replace to move it aside",
            target.display()
        )));
    }
    let found = instance::find_or_create(&settings, CreatePolicy::CreateMissing)?;
    let bar = TerminalProgress::new(output, "restoring");
    let room = settings.core.data_dir.join("restoring");
    let proved = verify_copy(&settings, &found, args, &room);
    bar.clear();
    let checked = match proved {
        Ok(checked) => checked,
        Err(exit) => {
            let _left = fs::remove_dir_all(&room);
            return Err(exit);
        }
    };
    let sound = checked.is_none() || fsck::exit_code(&checked.clone().unwrap_or_default()) == ExitCode::SUCCESS;
    let mut answer = json!({"file": args.file, "restored": false, "check": checked});
    if sound && !args.dry_run {
        let aside = install_copy(&settings, &found, &room, &target)?;
        answer = json!({"file": args.file, "restored": true, "aside": aside, "check": checked});
    }
    let _left = fs::remove_dir_all(&room);
    output.print_value(&answer);
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Opens the backup as a separate database to check its schema, its key and, on request, its counters.
fn verify_copy(
    settings: &Arc<ServerSettings>,
    found: &instance::DataFolder,
    args: &RestoreArgs,
    room: &Path,
) -> Result<Option<Value>, CommandError> {
    let _left = fs::remove_dir_all(room);
    fs::create_dir(room).map_err(Fault::context("creating a directory for the backup"))?;
    let copy = room.join("locum.db");
    fs::copy(&args.file, &copy).map_err(|error| CommandError::Usage(format!("{}: {error}", args.file.display())))?;
    let store = instance::open_store(StoreOptions {
        location: DatabaseLocation::File(copy),
        data_dir: room.to_owned(),
        ..instance::store_options(settings, Rng::Os, found.keyring.clone())
    })?;
    let said = instance::block_on(store.read(|tx| Ok::<_, Error>(meta::get(tx, "mode")?)))?;
    if said.is_none() {
        return Err(CommandError::Failed(format!("{} is not a backup made by `locum backup`", args.file.display())));
    }
    instance::check_store_matches(&store, &found.manifest)?;
    let instance = Instance {
        settings: Arc::clone(settings),
        store: Arc::new(store),
        progress: Arc::new(NoProgress),
        search: None,
        evaluator: ads_delivery::evaluator::Evaluator::new(None),
    };
    let checked = if args.verify || args.dry_run {
        Some(instance::block_on(command::check_consistency(&instance))?)
    } else {
        None
    };
    instance.close();
    Ok(checked)
}

/// Holds the data directory's lock while the database is replaced.
fn install_copy(
    settings: &ServerSettings,
    found: &instance::DataFolder,
    room: &Path,
    target: &Path,
) -> Result<Option<PathBuf>, CommandError> {
    // An open store holds the directory's lock; it uses another database meanwhile.
    let guard = Store::open(StoreOptions {
        location: DatabaseLocation::File(room.join("guard.db")),
        ..instance::store_options(settings, Rng::Os, found.keyring.clone())
    });
    let guard = instance::block_on(guard)?;
    let aside = move_aside(target)?;
    // The search index belongs to the old database; the next server rebuilds it.
    let _gone = fs::remove_dir_all(settings.core.data_dir.join(instance::SEARCH_INDEX_DIR));
    let copy = room.join("locum.db");
    let moved = fs::rename(copy, target).map_err(Fault::context("installing the backup"));
    guard.close();
    moved?;
    found.manifest.write(&settings.core.data_dir)?;
    Ok(aside)
}

fn move_aside(target: &Path) -> Result<Option<PathBuf>, CommandError> {
    if !target.exists() {
        return Ok(None);
    }
    let aside = append_suffix(target, &format!(".before-{}", clock::wall_time().seconds()));
    for end in ["-wal", "-shm", ""] {
        let from = append_suffix(target, end);
        if from.exists() {
            fs::rename(&from, append_suffix(&aside, end)).map_err(Fault::context("moving the database aside"))?;
        }
    }
    Ok(Some(aside))
}

fn append_suffix(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}
