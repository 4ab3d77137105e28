//! Arguments that start a server.

use base::Time;
use base::clock_mode::{EARLIEST_TIME, LATEST_TIME};
use clap::Args;

use super::ConfigFlag;

#[derive(Args, Clone, Debug, Default)]
pub struct ListenArgs {
    /// The port to listen on; 0 picks a free port [default: 8080]
    #[arg(long)]
    pub port: Option<u16>,
    /// The address to listen on, `ip:port` [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// The control API's port on the loopback address; 0 picks a free port
    #[arg(long, value_name = "PORT")]
    control_port: Option<u16>,
    /// A second port that serves the Ads API sandbox; 0 picks a free port
    #[arg(long, value_name = "PORT")]
    ads_sandbox_port: Option<u16>,
    /// The base URL that clients use
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The vocabulary when the request does not imply one: posts or tweets [default: posts]
    #[arg(long, value_name = "WORD")]
    vocabulary: Option<String>,
    /// Rate limits: table (as published), relaxed (without those of ads reference lists), off or scale=N
    /// [default: relaxed for dev, table for serve]
    #[arg(long, value_name = "HOW")]
    rate_limits: Option<String>,
    /// The log format: pretty or json [default: pretty for dev, json for serve]
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<String>,
    /// The log level: error, warn, info, debug, trace, or a filter [default: info]
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<String>,
    /// A file descriptor to write a line to when the server is ready
    #[arg(long, value_name = "N")]
    pub ready_fd: Option<i32>,
}

impl ListenArgs {
    pub fn config_flags(&self) -> Vec<ConfigFlag> {
        let control = self.control_port.map(|port| format!("127.0.0.1:{port}"));
        let sandbox = self.ads_sandbox_port.map(|port| port.to_string());
        let all = [
            ("listen.addr", &self.listen, "--listen"),
            ("listen.control_addr", &control, "--control-port"),
            ("listen.ads_sandbox_port", &sandbox, "--ads-sandbox-port"),
            ("core.base_url", &self.base_url, "--base-url"),
            ("core.vocabulary", &self.vocabulary, "--vocabulary"),
            ("limits.rate_limits", &self.rate_limits, "--rate-limits"),
            ("observe.log_format", &self.log_format, "--log-format"),
            ("observe.log_level", &self.log_level, "--log-level"),
        ];
        let set = all.into_iter().filter_map(|(key, value, name)| {
            let value = value.clone()?;
            Some((key, value, name.to_owned()))
        });
        set.collect()
    }
}

#[derive(Args, Clone, Debug, Default)]
pub struct DevArgs {
    #[command(flatten)]
    pub listen: ListenArgs,
    /// The initial data of a new data directory: demo, ads (demo plus ad campaigns), empty, or a world file (.jsonl or
    /// .toml) [default: demo]
    #[arg(long)]
    world: Option<String>,
    /// The seed of the generated ids and keys [default: 7]
    #[arg(long)]
    seed: Option<u64>,
    /// The last day of a new demo world: today, or a date, with which the generated ids are the same on any day
    /// [default: today]
    #[arg(long, value_name = "DATE")]
    pub world_date: Option<String>,
    /// The clock of a new world: live, frozen (at noon, UTC, of the world's last day if it has one), or a time at which
    /// it stands
    #[arg(long, value_name = "CLOCK", value_parser = parse_initial_clock)]
    pub clock: Option<InitialClock>,
    /// Start over with a new world: remove the database, files and keys in the data directory first
    #[arg(long)]
    pub fresh: bool,
    /// Allow listening on non-loopback addresses despite the well-known credentials
    #[arg(long)]
    expose: bool,
    /// Stop when standard input is closed
    #[arg(long)]
    pub until_eof: bool,
    /// Remove the data directory at the end if this command created it
    #[arg(long)]
    pub remove_data: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialClock {
    Live,
    Frozen,
    /// Not before the world was created.
    FrozenAt(Time),
}

fn parse_initial_clock(text: &str) -> Result<InitialClock, String> {
    match text {
        "live" => Ok(InitialClock::Live),
        "frozen" => Ok(InitialClock::Frozen),
        time => {
            let time = Time::parse(time).filter(|time| (EARLIEST_TIME..=LATEST_TIME).contains(time));
            let time = time.ok_or("give live, frozen, or a time such as 2027-01-31T09:00:00Z")?;
            Ok(InitialClock::FrozenAt(time))
        }
    }
}

impl DevArgs {
    /// The first option that a world of this kind and seed does not have.
    pub fn find_other_world(&self, world: &str, seed: u64) -> Option<String> {
        let other_world = self.world.as_deref().filter(|asked| *asked != world).map(|asked| format!("--world {asked}"));
        other_world.or_else(|| self.seed.filter(|asked| *asked != seed).map(|asked| format!("--seed {asked}")))
    }

    pub fn config_flags(&self) -> Vec<ConfigFlag> {
        let mut flags = self.listen.config_flags();
        if let Some(world) = &self.world {
            flags.push(("core.world", world.clone(), "--world".to_owned()));
        }
        if let Some(date) = &self.world_date {
            flags.push(("core.world_date", date.clone(), "--world-date".to_owned()));
        }
        if let Some(seed) = self.seed {
            flags.push(("core.seed", seed.to_string(), "--seed".to_owned()));
        }
        if self.expose {
            flags.push(("core.expose", "true".to_owned(), "--expose".to_owned()));
        }
        flags
    }
}

#[derive(Args, Clone, Debug, Default)]
pub struct ServeArgs {
    #[command(flatten)]
    pub listen: ListenArgs,
    /// What this node does: api, stream, search and deliver, all by default
    #[arg(long, value_name = "ROLES")]
    roles: Option<String>,
    /// Start an empty network although the data directory belonged to one whose database is missing or empty
    #[arg(long)]
    pub init: bool,
}

impl ServeArgs {
    pub fn config_flags(&self) -> Vec<ConfigFlag> {
        let mut flags = self.listen.config_flags();
        flags.extend(self.roles.clone().map(|roles| ("cluster.roles", roles, "--roles".to_owned())));
        flags
    }
}
