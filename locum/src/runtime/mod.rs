//! The server's lifecycle: startup, listeners, background jobs and shutdown.

mod ads_jobs;
mod background_jobs;
mod backup_schedule;
mod clock_control;
mod counter_folding;
mod descriptors;
mod interfaces;
mod job_runner;
mod logging;
mod notify;
mod served_world;
mod server;
mod signals;
mod sockets;
mod supervisor;

pub(crate) use backup_schedule::BackupSchedule;
use logging::LogEnd;
pub(crate) use served_world::{ProcessContext, ServedWorld};
pub(crate) use server::{ServerAddresses, run_server};
pub(crate) use sockets::check_public_address;

use std::sync::Arc;

use base::Fault;
use store::NodePurpose;

use instance::arguments::{GlobalArgs, ListenArgs, ServeArgs};
use instance::command_error::CommandError;
use instance::config::{RunMode, ServerSettings};
use instance::{self, CreatePolicy, InstanceManifest, NoProgress};

pub(crate) fn serve(common: &GlobalArgs, args: &ServeArgs) -> Result<(), CommandError> {
    if let Some(world) = &common.world {
        return Err(CommandError::Usage(format!("--world {world}: a production server has one world")));
    }
    let (settings, _log) = prepare_settings(common, RunMode::Serve, &args.listen, args.config_flags())?;
    instance::refuse_media_without_database(&settings, args.init)?;
    if !args.init {
        refuse_backups_without_database(&settings)?;
    }
    let creating = if args.init { CreatePolicy::Initialize } else { CreatePolicy::CreateMissing };
    let purpose = NodePurpose::Server(settings.roles());
    let instance = instance::open(settings, creating, purpose, Arc::new(NoProgress))?;
    let output = common.output_options();
    run_server(instance, args.listen.ready_fd, |ready| {
        let line = format!("locum {} is serving {}", env!("CARGO_PKG_VERSION"), ready.base_url);
        output.print_text(&line);
        if let Some(link) = &ready.setup_link {
            output.print_text(&format!("It has no owner yet. Within 30 minutes, become its owner at {link}"));
        }
        Ok(())
    })
}

/// Refuses to start an empty network where there are backups of one.
fn refuse_backups_without_database(settings: &ServerSettings) -> Result<(), CommandError> {
    let is_known = InstanceManifest::read(&settings.core.data_dir)?.is_some();
    let Some(schedule) = BackupSchedule::from_settings(settings)?.filter(|_| !is_known) else {
        return Ok(());
    };
    let newest = instance::block_on(async { Ok::<_, Fault>(schedule.newest_backup_time().await) })??;
    if newest.is_none() || instance::has_database(settings)? {
        return Ok(());
    }
    let location = &schedule.location;
    Err(CommandError::Failed(format!(
        "there is no database, but {location} contains backups of a network: restore it with `locum restore {location}`, or \
         start an empty network with `locum serve --init` and another backup.to"
    )))
}

/// The log is complete once the guard is dropped.
pub(crate) fn prepare_settings(
    common: &GlobalArgs,
    mode: RunMode,
    args: &ListenArgs,
    flags: Vec<instance::arguments::ConfigFlag>,
) -> Result<(Arc<ServerSettings>, LogEnd), CommandError> {
    limit_page_size();
    let values = common.config_values(mode, flags)?;
    let mut settings = ServerSettings::from_values(&values)?;
    settings.set_port(args.port);
    let log = logging::start(&settings)?;
    for danger in &settings.dangers {
        tracing::warn!("danger: {danger} is enabled");
    }
    Ok((Arc::new(settings), log))
}

/// A huge page is occupied as soon as a byte of it is: they made an idle server 20 MB larger.
#[cfg(target_os = "linux")]
fn limit_page_size() {
    let _allowed = rustix::thread::disable_transparent_huge_pages(true);
}

#[cfg(not(target_os = "linux"))]
fn limit_page_size() {}
