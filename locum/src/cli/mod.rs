//! The command line interface: parses the arguments and dispatches to the modules.

mod cli_command;
mod reference;

use std::error::Error as _;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::process::ExitCode;

use clap::error::ContextKind;
use clap::{CommandFactory, Parser};
use rustix::fs::Mode;

use self::cli_command::CliCommand;
use crate::{dev, launcher, runtime, testing, tools};
use instance::arguments::{ConfigCommand, GlobalArgs};
use instance::command::{AdminCommand, WebhookCommand};
use instance::command_error::CommandError;
use instance::{command, output};

/// A social platform server in one binary.
#[derive(Debug, Parser)]
#[command(name = "locum", version = tools::VERSION_AND_COMMIT.as_str(), max_term_width = 100, propagate_version = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    common: GlobalArgs,
    #[command(subcommand)]
    verb: CliCommand,
}

/// `umask` is the one that this process inherited.
pub(crate) fn main(umask: Mode) -> ExitCode {
    let Cli { common, verb } = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return print_clap_error(&explain_number_error(error)),
    };
    // A server that ran well does not fail for its banner.
    let is_server = matches!(verb, CliCommand::Dev(_) | CliCommand::Serve(_));
    let outcome = run_subcommand(&common, verb, umask);
    let written = if is_server { Ok(()) } else { output::check_written() };
    match outcome.and_then(|code| written.map(|()| code)) {
        Ok(code) => code,
        Err(exit) => exit.print_error(common.json),
    }
}

/// Says what is expected instead of what Rust's parser of numbers says.
fn explain_number_error(error: clap::Error) -> clap::Error {
    let expected = match error.source() {
        Some(source) if source.is::<ParseFloatError>() => "a number",
        Some(source) => match source.downcast_ref::<ParseIntError>().map(ParseIntError::kind) {
            Some(IntErrorKind::PosOverflow | IntErrorKind::NegOverflow) => "a smaller whole number",
            Some(_) => "a whole number",
            None => return error,
        },
        None => return error,
    };
    let part = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    let (value, argument) = (part(ContextKind::InvalidValue), part(ContextKind::InvalidArg));
    let message = format!(
        "invalid value '{value}' for '{argument}': expected {expected}\n\nFor more information, try '--help'.\n"
    );
    clap::Error::raw(error.kind(), message)
}

/// What is wrong with the arguments, or the help or version that was asked for.
fn print_clap_error(error: &clap::Error) -> ExitCode {
    output::record_failure(error.print());
    match output::check_written() {
        Err(failure) if !error.use_stderr() => failure.print_error(false),
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1)),
    }
}

fn run_subcommand(common: &GlobalArgs, verb: CliCommand, umask: Mode) -> Result<ExitCode, CommandError> {
    let output = common.output_options();
    if common.is_remote() && !verb.may_ask_server() {
        return Err(CommandError::Usage("--url: this command asks no running server".to_owned()));
    }
    match verb {
        CliCommand::Dev(args) => dev::run(common, &args)?,
        CliCommand::Serve(args) => runtime::serve(common, &args)?,
        CliCommand::Init(args) => tools::print_initial_config(&args, common.db.as_deref())?,
        CliCommand::Run(args) => return launcher::run_program(common, &args, umask),
        #[cfg(target_os = "linux")]
        CliCommand::EnterSandbox(args) => return launcher::enter_sandbox(&args, umask),
        CliCommand::LimitProcess(args) => return tools::limit_process(&args),
        CliCommand::Env(args) => tools::print_env(common, &args)?,
        CliCommand::Ca(verb) => tools::run_ca_command(common, verb, output)?,
        CliCommand::Admin(AdminCommand::Webhook(WebhookCommand::Listen(args))) => {
            tools::listen_for_webhooks(common, &args)?;
        }
        CliCommand::Admin(AdminCommand::Sign(verb)) => tools::explain_signature(common, verb, output)?,
        CliCommand::Admin(AdminCommand::Fsck(args)) => return tools::run_fsck(common, args, output),
        CliCommand::Admin(command) => command::run_and_print(common, command)?,
        CliCommand::Testing(verb) => return testing::run_testing_command(common, &verb),
        CliCommand::Restore(args) => return tools::restore_backup(common, &args, output),
        CliCommand::Migrate(verb) => tools::run_migrate_command(common, verb, output)?,
        CliCommand::Health(args) => tools::check_health(common, args, output)?,
        CliCommand::Doctor => return tools::run_doctor(common, output),
        CliCommand::Conf(ConfigCommand::Keys) => reference::print_config_reference(output),
        CliCommand::Conf(verb) => tools::run_config_command(common, verb, output)?,
        CliCommand::Routes(args) => tools::print_routes(args, output),
        CliCommand::Openapi => tools::print_openapi(),
        CliCommand::Version => tools::print_version(output),
        CliCommand::Completions { shell } => reference::print_completions(shell, &mut Cli::command()),
        CliCommand::ManualPages { folder } => reference::write_manual_pages(Cli::command(), &folder)?,
        CliCommand::Reference => output.print_text(&reference::command_reference(&Cli::command())),
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_holds_together() {
        Cli::command().debug_assert();
    }
}
