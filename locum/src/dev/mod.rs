//! `locum dev`: a test world that is ready at once and the same everywhere.

mod banner;
mod env;
mod groups;
mod people;
mod script;
mod seed;
mod tree;

pub(crate) use env::Lines;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use base::encryption::Keyring;
use base::{Clock, Error, Fault, Rng, UserId, clock};
use network::{apps, passwords, users};
use store::{Store, StoreOptions, meta};

use crate::cli::{Common, DevArgs, Output};
use crate::config::{Mode, Settings};
use crate::exit::Exit;
use crate::run::{self, Ready};
use crate::world::{self, Creating, Found, Record, Silent, World};

/// Where the credentials are kept, encrypted, so that `dev.env` can be written again.
const KEPT: &str = "dev_env";
/// Users that are counted for the box.
const COUNTED: i64 = 1000;

/// `locum dev`.
pub(crate) fn run(common: &Common, args: &DevArgs) -> Result<(), Exit> {
    let began = clock::monotonic_now();
    let settings = run::prepare(common, Mode::Dev, &args.listen, args.flags())?;
    let found = world::find(&settings, Creating::Allowed)?;
    let (is_new, record) = (found.is_new, found.record.clone());
    let store = open(&settings, found)?;
    let lines = kept(&store)?;
    let counts = count(&store)?;
    let world = World {
        settings: Arc::clone(&settings),
        store: Arc::new(store),
        progress: Arc::new(Silent),
        search: None,
        evaluator: ads::evaluator::Evaluator::new(None),
    };
    let output = Output::of(common);
    run::run(world, args.listen.ready_fd, |ready| {
        let lines = lines.at(&ready.base_url, ready.ads_sandbox.as_deref());
        lines.write(&settings.data_dir)?;
        let start = Start {
            began,
            is_new,
            counts,
        };
        show(output, &settings, &record, ready, &lines, start);
        Ok(())
    })
}

/// A picture's path and its bytes.
type Picture = (String, &'static [u8]);

/// How the start went.
#[derive(Clone, Copy)]
struct Start {
    began: Instant,
    is_new: bool,
    counts: banner::Counts,
}

fn show(
    output: Output,
    settings: &Settings,
    record: &Record,
    ready: &Ready,
    lines: &Lines,
    start: Start,
) {
    let data_dir = settings.data_dir.display().to_string();
    if output.json {
        output.value(&serde_json::json!({
            "base_url": ready.base_url,
            "ads_sandbox": ready.ads_sandbox,
            "control": ready.control.map(|addr| addr.to_string()),
            "data_dir": data_dir,
            "created": start.is_new,
            "world": record.world,
            "seed": record.seed,
            "users": start.counts.users,
            "posts": start.counts.posts,
            "apps": start.counts.apps,
            "ready_seconds": start.began.elapsed().as_secs_f64(),
        }));
        return;
    }
    output.text(&banner::text(&banner::Facts {
        world: &record.world,
        seed: record.seed,
        data_dir,
        is_new: start.is_new,
        took: start.began.elapsed(),
        counts: start.counts,
        base_url: &ready.base_url,
        ads_sandbox: ready.ads_sandbox.as_deref(),
        control: ready.control,
        lines,
    }));
}

/// The open store, with its world in it.
fn open(settings: &Settings, found: Found) -> Result<Store, Exit> {
    let Found {
        record,
        keyring,
        is_new,
    } = found;
    let options = |chance| world::options(settings, chance, keyring.clone());
    // Whether the world was made is asked of the database: an earlier start may have been cut off.
    let first = if is_new {
        Rng::Os
    } else {
        world::chance(&record)
    };
    let store = world::open_store(options(first))?;
    world::agree(&store, &record)?;
    record.write(&settings.data_dir)?;
    let made = world::wait(store.read(|tx| Ok::<_, Error>(meta::get(tx, "world")?)))?;
    if made.is_some() && !is_new {
        return Ok(store);
    }
    store.close();
    // A world is made at a fixed moment with the seed's own randomness.
    let store = world::open_store(StoreOptions {
        clock: Clock::frozen_at(seed::MOMENT),
        node: 0,
        ..options(Rng::from_seed(record.seed))
    })?;
    let pictures = plant(&store, &keyring, &record)?;
    store.close();
    let store = world::open_store(options(world::chance(&record)))?;
    if !pictures.is_empty() {
        for (path, bytes) in pictures {
            write_picture(&settings.media_dir().join(path), bytes)?;
        }
        world::wait(store.write(groups::freshen))?;
    }
    Ok(store)
}

fn write_picture(file: &Path, bytes: &[u8]) -> Result<(), Exit> {
    let folder = file.parent().unwrap_or(file);
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        let mut open = std::fs::OpenOptions::new();
        let mut file = open.write(true).create(true).truncate(true).open(file)?;
        file.write_all(bytes)
    });
    Ok(written.map_err(Fault::context("writing the demo world's picture"))?)
}

/// Makes the world; the pictures whose files belong below the media folder.
fn plant(store: &Store, keyring: &Keyring, record: &Record) -> Result<Vec<Picture>, Exit> {
    let chance = store.context().rng.clone();
    let hash = passwords::hash(seed::PASSWORD, &chance)?;
    let (keyring, name) = (keyring.clone(), record.world.clone());
    let planted = store.write(move |tx| {
        // A database that others have filled is left as it is.
        if meta::get(tx, "world")?.is_some() {
            return Ok(Vec::new());
        }
        let mut pictures = Vec::new();
        if ["demo", "ads"].contains(&name.as_str()) && users::list(tx, None, 1)?.is_empty() {
            let credentials = seed::plant(tx, &hash, name == "ads")?;
            let text = Lines::of(&credentials).text();
            world::set_sealed(tx, &keyring, KEPT, text.as_bytes())?;
            pictures = credentials.pictures;
        }
        meta::set(tx, "world", &name)?;
        Ok::<_, Error>(pictures)
    });
    Ok(world::wait(planted)?)
}

/// The credentials that were made with the world.
fn kept(store: &Store) -> Result<Lines, Exit> {
    let text = world::sealed(store, KEPT)?.unwrap_or_default();
    Ok(Lines::parse(&String::from_utf8_lossy(&text)))
}

fn count(store: &Store) -> Result<banner::Counts, Exit> {
    let counted = store.read(|tx| {
        let users = users::list(tx, None::<UserId>, COUNTED)?;
        let apps = apps::list(tx, None)?;
        Ok(banner::Counts {
            users: u64::try_from(users.len()).unwrap_or(0),
            posts: users.iter().map(|user| user.post_count).sum(),
            apps: u64::try_from(apps.len()).unwrap_or(0),
            more: i64::try_from(users.len()).is_ok_and(|found| found >= COUNTED),
        })
    });
    Ok(world::wait(counted)?)
}
