//! `locum run`: runs a program whose requests to the public hosts arrive at a development server.

mod child_process;
mod forwarded_signals;
mod intercept_variables;
mod java_trust_store;
mod program_server;
mod run_label;
#[cfg(target_os = "linux")]
mod sandbox;
mod trust_files;

pub(crate) use intercept_variables::{client_variables, proxy_variables};
#[cfg(target_os = "linux")]
pub(crate) use sandbox::enter_sandbox;
pub(crate) use trust_files::TrustFiles;

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use base::Fault;
use rustix::fs::Mode;

use self::child_process::ChildProcess;
use self::forwarded_signals::ForwardedSignals;
use self::intercept_variables::EnvironmentChanges;
use self::program_server::ProgramServer;
use self::run_label::RunLabel;
use instance::arguments::{GlobalArgs, InterceptionMode, RunArgs};
use instance::command_error::CommandError;
use instance::config::{RunMode, ServerSettings};
use instance::output::print_diagnostic;

/// `umask` is the one that this process inherited, and the program gets.
pub(crate) fn run_program(common: &GlobalArgs, args: &RunArgs, umask: Mode) -> Result<ExitCode, CommandError> {
    let settings = ServerSettings::from_values(&common.config_values(RunMode::Dev, Vec::new())?)?;
    let server = ProgramServer::find_or_start(common, args, &settings)?;
    let _label = match &args.label {
        Some(label) => Some(RunLabel::start(&server.data_dir, label, common.quiet)?),
        None => None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Fault::context("starting the runtime"))?;
    let launch = ProgramLaunch {
        files: TrustFiles::write(&server.data_dir)?,
        hosts: settings.emulated_hosts(),
        server: &server,
        command: &args.command,
        umask,
        is_quiet: common.quiet,
    };
    runtime.block_on(async {
        let signals = ForwardedSignals::install()?;
        let mut program = launch.start(args.mode).await?;
        signals.forward_to(&mut program);
        program.exit_code().await
    })
}

struct ProgramLaunch<'a> {
    server: &'a ProgramServer,
    files: TrustFiles,
    hosts: Vec<String>,
    command: &'a [OsString],
    umask: Mode,
    is_quiet: bool,
}

impl ProgramLaunch<'_> {
    async fn start(&self, mode: InterceptionMode) -> Result<ChildProcess, CommandError> {
        if mode == InterceptionMode::Proxy {
            return self.start_with_proxy("as requested");
        }
        match self.start_in_sandbox().await? {
            Ok(program) => Ok(program),
            Err(reason) if mode == InterceptionMode::Sandbox => {
                Err(CommandError::Failed(format!("the sandbox is not available: {reason}")))
            }
            Err(reason) => self.start_with_proxy(&format!("the sandbox is not available ({reason})")),
        }
    }

    /// Or the reason why there is no sandbox.
    #[cfg(target_os = "linux")]
    async fn start_in_sandbox(&self) -> Result<Result<ChildProcess, String>, CommandError> {
        let changes = EnvironmentChanges {
            set: self.all_variables(intercept_variables::sandbox_variables(&self.files))?,
            removed: intercept_variables::PROXY_VARIABLES.to_vec(),
        };
        let sandbox = sandbox::Sandbox { server: &self.server.addresses, files: &self.files, hosts: &self.hosts };
        let ready = match sandbox.start(self.command, &changes, self.umask).await? {
            sandbox::SandboxStart::Ready(ready) => ready,
            sandbox::SandboxStart::Refused(reason) => return Ok(Err(reason)),
        };
        let url = &self.server.addresses.base_url;
        self.notice(&format!("sandbox: {} hosts lead to {url}, nothing else is reachable", self.hosts.len()));
        ready.execute_program().map(Ok)
    }

    #[cfg(not(target_os = "linux"))]
    async fn start_in_sandbox(&self) -> Result<Result<ChildProcess, String>, CommandError> {
        Ok(Err("it needs namespaces of Linux".to_owned()))
    }

    fn start_with_proxy(&self, reason: &str) -> Result<ChildProcess, CommandError> {
        let url = &self.server.addresses.base_url;
        self.notice(&format!("proxy, {reason}: programs that use proxy variables reach {url}, others the network"));
        let variables = proxy_variables(&self.server.addresses, &self.files);
        let changes = EnvironmentChanges { set: self.all_variables(variables)?, removed: Vec::new() };
        let (program, rest) = self.command.split_first().ok_or_else(child_process::missing_program)?;
        let mut command = Command::new(program);
        command.args(rest);
        changes.apply(&mut command);
        ChildProcess::spawn(command, self.umask).map_err(|error| child_process::execution_error(program, &error))
    }

    /// The addresses and keys come first.
    fn all_variables(&self, more: Vec<(String, String)>) -> Result<Vec<(String, String)>, CommandError> {
        let mut all = client_variables(&self.server.data_dir)?;
        all.extend(more);
        Ok(all)
    }

    fn notice(&self, text: &str) {
        if !self.is_quiet {
            print_diagnostic(&format!("locum: {text}"));
        }
    }
}
