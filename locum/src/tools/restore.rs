//! `locum restore`: a copy is proved before it takes the database's place.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use base::{Error, Fault, Rng, clock};
use serde_json::{Value, json};
use store::{DatabaseLocation, Store, StoreOptions, meta};

use super::fsck;
use crate::cli::{Bar, Common, Output, RestoreArgs};
use crate::command;
use crate::config::Settings;
use crate::exit::Exit;
use crate::world::{self, Creating, Silent, World};

/// Restores a copy.
pub(crate) fn restore(
    common: &Common,
    args: &RestoreArgs,
    output: Output,
) -> Result<ExitCode, Exit> {
    let settings = Arc::new(common.settings()?);
    let DatabaseLocation::File(target) = settings.location.clone() else {
        return Err(Exit::Usage(
            "a copy of a PostgreSQL database is restored by `pg_restore`; JSON Lines are taken in \
             by `locum import jsonl`"
                .to_owned(),
        ));
    };
    if target.exists() && !args.replace && !args.dry_run {
        return Err(Exit::Usage(format!(
            "{} is there; --replace moves it aside",
            target.display()
        )));
    }
    let found = world::find(&settings, Creating::Allowed)?;
    let bar = Bar::new(output, "restoring");
    let room = settings.data_dir.join("restoring");
    let proved = prove(&settings, &found, args, &room);
    bar.clear();
    let checked = match proved {
        Ok(checked) => checked,
        Err(exit) => {
            let _left = fs::remove_dir_all(&room);
            return Err(exit);
        }
    };
    let sound =
        checked.is_none() || fsck::code(&checked.clone().unwrap_or_default()) == ExitCode::SUCCESS;
    let mut answer = json!({"file": args.file, "restored": false, "check": checked});
    if sound && !args.dry_run {
        let aside = put_in_place(&settings, &found, &room, &target)?;
        answer = json!({"file": args.file, "restored": true, "aside": aside, "check": checked});
    }
    let _left = fs::remove_dir_all(&room);
    output.value(&answer);
    Ok(if sound {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Opens the copy as a database of its own: its schema and key are checked, and on demand its counts.
fn prove(
    settings: &Arc<Settings>,
    found: &world::Found,
    args: &RestoreArgs,
    room: &Path,
) -> Result<Option<Value>, Exit> {
    let _left = fs::remove_dir_all(room);
    fs::create_dir(room).map_err(Fault::context("making room for the copy"))?;
    let copy = room.join("locum.db");
    fs::copy(&args.file, &copy)
        .map_err(|error| Exit::Usage(format!("{}: {error}", args.file.display())))?;
    let store = world::open_store(StoreOptions {
        location: DatabaseLocation::File(copy),
        data_dir: room.to_owned(),
        ..world::options(settings, Rng::Os, found.keyring.clone())
    })?;
    let said = world::wait(store.read(|tx| Ok::<_, Error>(meta::get(tx, "mode")?)))?;
    if said.is_none() {
        return Err(Exit::Failed(format!(
            "{} is no copy that `locum backup` made",
            args.file.display()
        )));
    }
    world::agree(&store, &found.record)?;
    let world = World {
        settings: Arc::clone(settings),
        store: Arc::new(store),
        progress: Arc::new(Silent),
        search: None,
        evaluator: ads::evaluator::Evaluator::new(None),
    };
    let checked = if args.verify || args.dry_run {
        Some(world::wait(command::check(&world))?)
    } else {
        None
    };
    world.close();
    Ok(checked)
}

/// Moves the database aside and the copy into its place, while nobody has the folder open.
fn put_in_place(
    settings: &Settings,
    found: &world::Found,
    room: &Path,
    target: &Path,
) -> Result<Option<PathBuf>, Exit> {
    // The lock of an open store keeps others out; its database is elsewhere meanwhile.
    let guard = Store::open(StoreOptions {
        location: DatabaseLocation::File(room.join("guard.db")),
        ..world::options(settings, Rng::Os, found.keyring.clone())
    });
    let guard = world::wait(guard)?;
    let aside = aside(target)?;
    // The index is of what is moved aside; the next server makes a new one.
    let _gone = fs::remove_dir_all(settings.data_dir.join(world::INDEX));
    let copy = room.join("locum.db");
    let moved = fs::rename(copy, target).map_err(Fault::context("putting the copy in place"));
    guard.close();
    moved?;
    found.record.write(&settings.data_dir)?;
    Ok(aside)
}

fn aside(target: &Path) -> Result<Option<PathBuf>, Exit> {
    if !target.exists() {
        return Ok(None);
    }
    let aside = with_end(target, &format!(".before-{}", clock::wall_time().seconds()));
    for end in ["-wal", "-shm", ""] {
        let from = with_end(target, end);
        if from.exists() {
            fs::rename(&from, with_end(&aside, end))
                .map_err(Fault::context("moving the database aside"))?;
        }
    }
    Ok(Some(aside))
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}
