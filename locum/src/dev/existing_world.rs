//! A data directory keeps the world that it was created with: options of a new one have no effect.

use base::clock_mode::{ClockMode, describe_clock};
use base::{Time, clock};
use instance::InstanceManifest;
use instance::arguments::{DevArgs, InitialClock};
use instance::command_error::CommandError;
use instance::config::ServerSettings;

/// Whoever asks for another world or seed would get one with other data and keys.
pub(super) fn refuse_other_world(args: &DevArgs, settings: &ServerSettings) -> Result<(), CommandError> {
    let data_dir = &settings.core.data_dir;
    let Some(record) = InstanceManifest::read(data_dir)? else {
        return Ok(());
    };
    let Some(option) = args.find_other_world(&record.world, record.seed) else {
        return Ok(());
    };
    let (data_dir, world, seed) = (data_dir.display(), &record.world, record.seed);
    Err(CommandError::Usage(format!(
        "{option} applies to a new data directory only, and {data_dir} has the world {world:?} with seed {seed}; choose \
         another directory with --data-dir, or start over with --fresh"
    )))
}

/// What the clock and the last day of the world differ from, as far as they were asked for.
pub(super) fn ignored_options(
    args: &DevArgs,
    settings: &ServerSettings,
    mode: ClockMode,
    world_time: Option<Time>,
) -> Vec<String> {
    let now = clock::wall_time();
    let is_kept = match (args.clock, mode) {
        (None, _)
        | (Some(InitialClock::Live), ClockMode::Live)
        | (Some(InitialClock::Frozen), ClockMode::Frozen { .. }) => true,
        (Some(InitialClock::FrozenAt(wanted)), ClockMode::Frozen { at }) => wanted == at,
        _ => false,
    };
    let clock = (!is_kept).then(|| {
        let clock = describe_clock(mode, now);
        format!("--clock has no effect on an existing world, whose clock is {clock}: use `locum clock`, or --fresh")
    });
    let wanted = settings.core.world_date.creation_time(now).to_date_string();
    let day = world_time.map(Time::to_date_string).filter(|day| args.world_date.is_some() && *day != wanted);
    let date = day.map(|day| {
        format!("--world-date has no effect on an existing world, whose last day is {day}: start over with --fresh")
    });
    clock.into_iter().chain(date).collect()
}
