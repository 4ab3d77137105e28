//! The development server that the program uses: the running one of the data directory, or one for its time.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use base::Fault;
use tempfile::TempDir;

use instance::ListeningAddresses;
use instance::arguments::{GlobalArgs, RunArgs};
use instance::command::ControlEndpoint;
use instance::command_error::CommandError;
use instance::config::{RunMode, ServerSettings};
use instance::{InstanceManifest, create_private_folder, mode_from_manifest};

/// How much of the log is shown if the server does not start.
const SHOWN_LOG_LINES: usize = 20;

pub(super) struct ProgramServer {
    pub(super) data_dir: PathBuf,
    pub(super) addresses: ListeningAddresses,
    _started: Option<StartedServer>,
}

impl ProgramServer {
    pub(super) fn find_or_start(
        common: &GlobalArgs,
        args: &RunArgs,
        settings: &ServerSettings,
    ) -> Result<Self, CommandError> {
        if args.fresh {
            return start_fresh(common, args);
        }
        let absolute = std::path::absolute(&settings.core.data_dir);
        let data_dir = absolute.map_err(Fault::context("the data directory"))?;
        check_world(&data_dir, args)?;
        let is_running = ControlEndpoint::data_folder_socket(&data_dir).is_reachable();
        match ListeningAddresses::read(&data_dir).filter(|_| is_running) {
            Some(addresses) => {
                check_port(&addresses, args)?;
                Ok(Self { data_dir, addresses, _started: None })
            }
            None => start_server(common, args, data_dir, None),
        }
    }
}

fn check_world(data_dir: &Path, args: &RunArgs) -> Result<(), CommandError> {
    let shown = data_dir.display();
    if mode_from_manifest(data_dir)? == Some(RunMode::Serve) {
        return Err(CommandError::WrongMode(format!(
            "{shown} was created by `locum serve`: `locum run` needs a development server"
        )));
    }
    match (InstanceManifest::read(data_dir)?, &args.world) {
        (Some(found), Some(world)) if found.world != *world => Err(CommandError::Usage(format!(
            "--world {world}: {shown} has the world {:?}; use --fresh or another --data-dir, or LOCUM_WORLD={world} for \
             one that `locum world create` made",
            found.world
        ))),
        _ => Ok(()),
    }
}

fn check_port(running: &ListeningAddresses, args: &RunArgs) -> Result<(), CommandError> {
    match args.port {
        Some(port) if port != running.addr.port() => Err(CommandError::Usage(format!(
            "--port {port}: a server is running on the data directory already, at {}",
            running.base_url
        ))),
        _ => Ok(()),
    }
}

fn start_fresh(common: &GlobalArgs, args: &RunArgs) -> Result<ProgramServer, CommandError> {
    if common.data_dir.is_some() || common.db.is_some() {
        let text = "--fresh makes a world of its own: it excludes --data-dir and --db";
        return Err(CommandError::Usage(text.to_owned()));
    }
    let folder = tempfile::Builder::new().prefix("locum-fresh-").tempdir();
    let folder = folder.map_err(Fault::context("creating a temporary folder"))?;
    let data_dir = folder.path().to_owned();
    start_server(common, args, data_dir, Some(folder))
}

fn start_server(
    common: &GlobalArgs,
    args: &RunArgs,
    data_dir: PathBuf,
    temporary: Option<TempDir>,
) -> Result<ProgramServer, CommandError> {
    create_private_folder(&data_dir)?;
    let log = data_dir.join("run.log");
    let file = File::create(&log).map_err(Fault::context("creating run.log"))?;
    let mut command = server_command(common, args, &data_dir, temporary.is_some())?;
    let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(file).spawn();
    let mut started = StartedServer { process: spawned.map_err(Fault::context("starting the server"))?, temporary };
    let failed = || CommandError::Failed(format!("the server did not start:\n{}", end_of_log(&log)));
    started.wait_until_ready().ok_or_else(failed)?;
    let addresses = ListeningAddresses::read(&data_dir).ok_or_else(failed)?;
    Ok(ProgramServer { data_dir, addresses, _started: Some(started) })
}

/// It writes its address to its output once it is ready, and ends when this process does, however that happens.
fn server_command(
    common: &GlobalArgs,
    args: &RunArgs,
    data_dir: &Path,
    is_temporary: bool,
) -> Result<Command, CommandError> {
    let binary = std::env::current_exe().map_err(Fault::context("finding the binary"))?;
    let mut command = Command::new(binary);
    command.args(["dev", "--quiet", "--control-port", "0", "--ready-fd", "1", "--until-eof"]);
    command.arg("--port").arg(args.port.unwrap_or(0).to_string()).arg("--data-dir").arg(data_dir);
    if is_temporary {
        command.args(["--remove-data", "--db", "sqlite"]);
    }
    if let Some(world) = &args.world {
        command.arg("--world").arg(world);
    }
    if let Some(file) = &common.config {
        command.arg("--config").arg(file);
    }
    if let Some(url) = &common.db {
        command.arg("--db").arg(url);
    }
    for set in &common.sets {
        command.arg("--set").arg(set);
    }
    // Ctrl-C is for the program, which may still send requests.
    command.process_group(0);
    Ok(command)
}

fn end_of_log(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.len().saturating_sub(SHOWN_LOG_LINES);
    lines.get(start..).unwrap_or_default().join("\n")
}

struct StartedServer {
    process: Child,
    // Removed after the process has ended.
    temporary: Option<TempDir>,
}

impl StartedServer {
    fn wait_until_ready(&mut self) -> Option<()> {
        let mut line = String::new();
        let length = BufReader::new(self.process.stdout.take()?).read_line(&mut line);
        length.is_ok_and(|length| length > 0).then_some(())
    }
}

impl Drop for StartedServer {
    fn drop(&mut self) {
        if self.temporary.is_some() {
            let _gone = self.process.kill();
        }
        // The end of its input stops it.
        drop(self.process.stdin.take());
        let _gone = self.process.wait();
    }
}
