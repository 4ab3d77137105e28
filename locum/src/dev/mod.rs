//! `locum dev`: the development server.

mod ads_requests;
mod banner;
mod demo_campaigns;
mod demo_extras;
mod demo_objectives;
mod demo_people;
mod demo_posts;
mod demo_targeting;
mod demo_world;
mod env_file;
mod existing_world;
mod fresh_start;
mod standard_input;
mod world_builder;
mod world_file;

pub(crate) use env_file::EnvFile;
pub(crate) use world_file::WorldFile;

use instance::config::is_world_file;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ads_delivery::evaluator::Evaluator;
use base::clock_mode::{ClockMode, describe_clock};
use base::encryption::Keyring;
use base::{Clock, Error, Fault, Rng, Time, UserId, clock};
use emulator::ENVIRONMENT_FACT_KEY;
use identity::{apps, passwords};
use network::users;
use store::{Store, StoreOptions, Tx, meta};

use crate::runtime::{self, ServerAddresses};
use crate::worlds;
use instance::arguments::{DevArgs, GlobalArgs, InitialClock};
use instance::command::simulation::{DEFAULT_VIEWERS, SimulateArgs, run_simulation};
use instance::command_error::CommandError;
use instance::config::{RunMode, ServerSettings};
use instance::output::{OutputOptions, print_diagnostic};
use instance::{self, CreatePolicy, DataFolder, Instance, InstanceManifest, NoProgress};

/// The time at which the demo world was created by its own clock, in milliseconds.
const WORLD_TIME_KEY: &str = "world_time";
const SIMULATED_DAYS: i64 = 90;
/// Users counted for the banner; beyond this it prints `+`.
const MAX_COUNTED_USERS: i64 = 1000;

pub(crate) fn run(common: &GlobalArgs, args: &DevArgs) -> Result<(), CommandError> {
    let began = clock::monotonic_now();
    let (settings, _log) = runtime::prepare_settings(common, RunMode::Dev, &args.listen, args.config_flags())?;
    if args.fresh {
        fresh_start::remove_world(&settings)?;
    }
    existing_world::refuse_other_world(args, &settings)?;
    if is_world_file(&settings.core.world.0) && !InstanceManifest::file_path(&settings.core.data_dir).exists() {
        WorldFile::read(Path::new(&settings.core.world.0))?;
    }
    if InstanceManifest::read(&settings.core.data_dir)?.is_none() {
        runtime::check_public_address(&settings)?;
    }
    worlds::recover_interrupted_replacement(&settings)?;
    let found = instance::find_or_create(&settings, CreatePolicy::CreateMissing)?;
    let (is_new, record) = (found.is_new, found.manifest.clone());
    let store = match open_demo_store(&settings, found, args.clock) {
        Err(error) if is_new && is_world_file(&record.world) => {
            fresh_start::discard_failed_world(&settings)?;
            return Err(error);
        }
        opened => opened?,
    };
    let lines = load_env(&store)?;
    let (counts, world_time) = (count_world(&store)?, load_world_time(&store)?);
    let clock = store.context().clock.clone();
    if !is_new {
        for ignored in existing_world::ignored_options(args, &settings, clock.mode(), world_time) {
            print_diagnostic(&format!("warning: {ignored}"));
        }
    }
    let instance = Instance {
        settings: Arc::clone(&settings),
        store: Arc::new(store),
        progress: Arc::new(NoProgress),
        search: None,
        search_backend: None,
        evaluator: Evaluator::new(None),
        command: None,
    };
    let output = common.output_options();
    let removes_data = args.remove_data && is_new;
    let outcome = runtime::run_server(instance, args.listen.ready_fd, |ready| {
        if args.until_eof {
            standard_input::stop_at_end()?;
        }
        let lines = lines.prepend_addresses(&ready.base_url, ready.ads_sandbox.as_deref());
        lines.write(&settings.core.data_dir)?;
        let start = StartReport { started_at: began, is_new, removes_data, counts, world_time, mode: clock.mode() };
        print_banner(output, &settings, &record, ready, &lines, start);
        Ok(())
    });
    if removes_data {
        std::fs::remove_dir_all(&settings.core.data_dir).map_err(Fault::context("removing the data directory"))?;
    }
    outcome
}

type PictureFile = (String, &'static [u8]);

#[derive(Clone, Copy)]
struct StartReport {
    started_at: Instant,
    is_new: bool,
    removes_data: bool,
    counts: banner::WorldCounts,
    world_time: Option<Time>,
    mode: ClockMode,
}

impl StartReport {
    fn describe_clock(self) -> String {
        describe_clock(self.mode, clock::wall_time())
    }

    /// From the world's last day to its time now.
    fn world_age(self) -> Option<Duration> {
        let now = self.mode.time_at(clock::wall_time());
        self.world_time.map(|time| Duration::from_millis(u64::try_from(now.ms() - time.ms()).unwrap_or(0)))
    }
}

fn print_banner(
    output: OutputOptions,
    settings: &ServerSettings,
    record: &InstanceManifest,
    ready: &ServerAddresses,
    lines: &EnvFile,
    start: StartReport,
) {
    let data_dir = settings.core.data_dir.display().to_string();
    if output.json {
        output.print_value(&serde_json::json!({
            "base_url": ready.base_url,
            "ads_sandbox": ready.ads_sandbox,
            "control": ready.control.map(|addr| addr.to_string()),
            "emulated_hosts": settings.emulated_hosts(),
            "pass_through": settings.passed_hosts(),
            "data_dir": data_dir,
            "created": start.is_new,
            "world": record.world,
            "seed": record.seed,
            "clock": start.mode.name(),
            "world_date": start.world_time.map(Time::to_date_string),
            "users": start.counts.users,
            "posts": start.counts.posts,
            "apps": start.counts.apps,
            "ready_seconds": start.started_at.elapsed().as_secs_f64(),
        }));
        return;
    }
    output.print_text(&banner::render_banner(&banner::BannerFacts {
        world: &record.world,
        seed: record.seed,
        data_dir,
        is_new: start.is_new,
        removes_data: start.removes_data,
        startup_time: start.started_at.elapsed(),
        counts: start.counts,
        clock: &start.describe_clock(),
        world_age: start.world_age(),
        base_url: &ready.base_url,
        ads_sandbox: ready.ads_sandbox.as_deref(),
        control: ready.control,
        credentials: lines,
        emulated_hosts: &settings.emulated_hosts(),
        pass_through: &settings.passed_hosts(),
    }));
}

fn open_demo_store(
    settings: &ServerSettings,
    found: DataFolder,
    initial_clock: Option<InitialClock>,
) -> Result<Store, CommandError> {
    let DataFolder { manifest: mut record, keyring, is_new } = found;
    let options = |rng| instance::store_options(settings, rng, keyring.clone());
    if !is_new {
        let store = instance::open_store(options(instance::instance_rng(&record)))?;
        match_store(&store, settings, &mut record)?;
        // Ask the database: an earlier start may have been interrupted.
        if instance::block_on(store.read(has_world))? {
            store.context().ids.set_node(instance::node_of_start(record.starts));
            return Ok(store);
        }
        store.close();
    }
    if fill_world(settings, &mut record, &keyring, |created_at| initial_mode(initial_clock, created_at))? {
        worlds::save_template(settings, &record)?;
    }
    Ok(instance::open_store(options(worlds::first_rng(&record)))?)
}

fn has_world(tx: &mut Tx<'_>) -> Result<bool, Error> {
    Ok(meta::get(tx, "world")?.is_some())
}

fn match_store(store: &Store, settings: &ServerSettings, record: &mut InstanceManifest) -> Result<(), CommandError> {
    instance::check_store_matches(store, record)?;
    Ok(record.write(&settings.core.data_dir)?)
}

/// Creates the files of a world in a folder of its own. The clock stands where the record says, or at the world's creation
/// if that is later.
pub(crate) fn create_world_files(
    settings: &ServerSettings,
    mut record: InstanceManifest,
    keyring: Keyring,
) -> Result<(), CommandError> {
    let frozen_at = record.frozen_at.map(Time::from_ms);
    let initial_mode =
        |created_at: Time| Ok(frozen_at.map_or(ClockMode::Live, |at| ClockMode::Frozen { at: at.max(created_at) }));
    fill_world(settings, &mut record, &keyring, initial_mode).map(|_| ())
}

/// Creates the data of a world; returns false, without adding any, if the database has some already. The database is
/// closed at the end.
fn fill_world(
    settings: &ServerSettings,
    record: &mut InstanceManifest,
    keyring: &Keyring,
    initial_mode: impl FnOnce(Time) -> Result<ClockMode, CommandError>,
) -> Result<bool, CommandError> {
    let options = |rng| instance::store_options(settings, rng, keyring.clone());
    let file = is_world_file(&record.world).then(|| WorldFile::read(Path::new(&record.world))).transpose()?;
    let now = clock::wall_time();
    // The ids of the demo world depend on its date and seed only; times in a file are relative to now.
    let created_at = if file.is_some() { now } else { settings.core.world_date.creation_time(now) };
    let mode = initial_mode(created_at)?;
    record.frozen_at = match mode {
        ClockMode::Frozen { at } => Some(at.ms()),
        ClockMode::Live | ClockMode::Scaled { .. } | ClockMode::Offset { .. } => None,
    };
    let store = instance::open_store(StoreOptions {
        clock: Clock::frozen_at(created_at),
        node: 0,
        ..options(Rng::from_seed(record.seed))
    })?;
    let created = match_store(&store, settings, record).and_then(|()| {
        let pictures = create_world(&store, keyring, record, file)?;
        instance::block_on(store.save_clock(mode))?;
        Ok(pictures)
    });
    store.close();
    let created = created?;
    let is_created = created.is_some();
    let pictures = created.unwrap_or_default();
    if pictures.is_empty() && store.is_shared() {
        return Ok(is_created);
    }
    let store = instance::open_store(options(instance::instance_rng(record)))?;
    let added = add_to_world(&store, settings, record, pictures);
    store.close();
    added.map(|()| is_created)
}

/// What does not depend on the world's date, and the files beside the database.
fn add_to_world(
    store: &Store,
    settings: &ServerSettings,
    record: &InstanceManifest,
    pictures: Vec<PictureFile>,
) -> Result<(), CommandError> {
    if !pictures.is_empty() {
        for (path, bytes) in pictures {
            write_picture(&settings.media_dir.join(path), bytes)?;
        }
        instance::block_on(store.write(demo_extras::create_recent_activity))?;
        if record.world == "ads" {
            instance::block_on(store.write(demo_targeting::create_recent_readers))?;
            simulate_campaigns(store, settings)?;
        }
    }
    if !store.is_shared() {
        instance::block_on(worlds::build_index(settings, store))?;
    }
    Ok(())
}

fn initial_mode(wanted: Option<InitialClock>, created_at: Time) -> Result<ClockMode, CommandError> {
    match wanted {
        None | Some(InitialClock::Live) => Ok(ClockMode::Live),
        Some(InitialClock::Frozen) => Ok(ClockMode::Frozen { at: created_at }),
        Some(InitialClock::FrozenAt(at)) if at >= created_at => Ok(ClockMode::Frozen { at }),
        Some(InitialClock::FrozenAt(at)) => Err(CommandError::Usage(format!(
            "--clock {at} is before the world's last day: give a time from {created_at} on, or an earlier --world-date"
        ))),
    }
}

/// So that the campaigns have statistics; commands continue them with the same seed.
fn simulate_campaigns(store: &Store, settings: &ServerSettings) -> Result<(), CommandError> {
    let args = SimulateArgs {
        account: instance::block_on(store.read(demo_campaigns::find_account))?,
        hours: 0,
        days: Some(SIMULATED_DAYS),
        seed: 1,
        viewers: DEFAULT_VIEWERS,
        follow: false,
    };
    let delivery = (Evaluator::new(None), settings.ads_config());
    instance::block_on(run_simulation(store, delivery, args, SIMULATED_DAYS * 24))?;
    Ok(())
}

fn write_picture(file: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    let folder = file.parent().unwrap_or(file);
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        let mut open = std::fs::OpenOptions::new();
        let mut file = open.write(true).create(true).truncate(true).open(file)?;
        file.write_all(bytes)
    });
    Ok(written.map_err(Fault::context("writing the demo world's pictures"))?)
}

/// Returns the pictures to write below the media directory; none if the database has data, which is left unchanged.
fn create_world(
    store: &Store,
    keyring: &Keyring,
    record: &InstanceManifest,
    file: Option<WorldFile>,
) -> Result<Option<Vec<PictureFile>>, CommandError> {
    let rng = store.context().rng.clone();
    let hash = passwords::hash(demo_world::PASSWORD, &rng)?;
    let (keyring, name) = (keyring.clone(), record.world.clone());
    let planted = store.write(move |tx| {
        if has_world(tx)? {
            return Ok(None);
        }
        let mut pictures = Vec::new();
        if ["demo", "ads"].contains(&name.as_str()) && users::list(tx, None, 1)?.is_empty() {
            let (lines, found) = demo_world::create_demo_world(tx, &hash, name == "ads")?;
            instance::set_encrypted_fact(tx, &keyring, ENVIRONMENT_FACT_KEY, lines.to_text().as_bytes())?;
            meta::set(tx, WORLD_TIME_KEY, &tx.now().ms().to_string())?;
            pictures = found;
        }
        if let Some(file) = &file {
            let text = file.create(tx, &hash)?.to_text();
            instance::set_encrypted_fact(tx, &keyring, ENVIRONMENT_FACT_KEY, text.as_bytes())?;
        }
        meta::set(tx, "world", &name)?;
        Ok::<_, Error>(Some(pictures))
    });
    Ok(instance::block_on(planted)?)
}

/// The lines of `dev.env` that do not depend on addresses; none if the world has no users.
pub(crate) fn read_env_fact(tx: &mut Tx<'_>) -> Result<Option<EnvFile>, Error> {
    let text = meta::get_encrypted(tx, ENVIRONMENT_FACT_KEY)?;
    Ok(text.map(|text| EnvFile::parse(&String::from_utf8_lossy(&text))))
}

fn load_env(store: &Store) -> Result<EnvFile, CommandError> {
    let text = instance::read_encrypted_fact(store, ENVIRONMENT_FACT_KEY)?.unwrap_or_default();
    Ok(EnvFile::parse(&String::from_utf8_lossy(&text)))
}

/// `None` if an older version created it.
fn load_world_time(store: &Store) -> Result<Option<Time>, CommandError> {
    let time = store.read(|tx| Ok::<_, Error>(meta::get(tx, WORLD_TIME_KEY)?));
    Ok(instance::block_on(time)?.and_then(|ms| ms.parse().ok()).map(Time::from_ms))
}

fn count_world(store: &Store) -> Result<banner::WorldCounts, CommandError> {
    let counted = store.read(|tx| {
        let users = users::list(tx, None::<UserId>, MAX_COUNTED_USERS)?;
        let apps = apps::list(tx, None)?;
        Ok(banner::WorldCounts {
            users: u64::try_from(users.len()).unwrap_or(0),
            posts: users.iter().map(|user| user.post_count).sum(),
            apps: u64::try_from(apps.len()).unwrap_or(0),
            is_truncated: i64::try_from(users.len()).is_ok_and(|found| found >= MAX_COUNTED_USERS),
        })
    });
    Ok(instance::block_on(counted)?)
}
