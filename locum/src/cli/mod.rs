//! The command line: what may be asked, and how answers are shown.

mod common;
mod documents;
mod output;
mod progress;
mod verbs;

pub(crate) use common::{Common, Flag};
pub(crate) use output::{Output, print};
pub(crate) use progress::Bar;
pub(crate) use verbs::{
    ConfVerb, DevArgs, EnvArgs, HealthArgs, InitArgs, ListenArgs, MigrateVerb, RestoreArgs,
    RoutesArgs, ServeArgs, Shell, Verb, WebhookVerb,
};

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::exit::Exit;
use crate::{command, config, dev, run, tools};

/// A social platform server in one binary.
#[derive(Debug, Parser)]
#[command(
    name = "locum",
    version,
    max_term_width = 100,
    propagate_version = true
)]
pub(crate) struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    verb: Verb,
}

/// Reads the command line and does what it says.
pub(crate) fn main() -> ExitCode {
    let Cli { common, verb } = Cli::parse();
    match act(&common, verb) {
        Ok(code) => code,
        Err(exit) => exit.tell(common.json),
    }
}

fn act(common: &Common, verb: Verb) -> Result<ExitCode, Exit> {
    let output = Output::of(common);
    match verb {
        Verb::Dev(args) => dev::run(common, &args)?,
        Verb::Serve(args) => run::serve(common, &args)?,
        Verb::Init(args) => tools::init(&args, common.db.as_deref())?,
        Verb::Env(args) => tools::env(common, &args)?,
        Verb::Follow(verb) => command::ask(common, command::Command::Follow(verb))?,
        Verb::User(verb) => command::ask(common, command::Command::User(verb))?,
        Verb::Post(verb) => command::ask(common, command::Command::Post(verb))?,
        Verb::Poll(verb) => command::ask(common, command::Command::Poll(verb))?,
        Verb::Community(verb) => command::ask(common, command::Command::Community(verb))?,
        Verb::Note(verb) => command::ask(common, command::Command::Note(verb))?,
        Verb::News(verb) => command::ask(common, command::Command::News(verb))?,
        Verb::Place(verb) => command::ask(common, command::Command::Place(verb))?,
        Verb::App(verb) => command::ask(common, command::Command::App(verb))?,
        Verb::Ads(verb) => command::ask(common, command::Command::Ads(verb))?,
        Verb::Token(verb) => command::ask(common, command::Command::Token(verb))?,
        Verb::Invite(args) => command::ask(common, command::Command::Invite(args))?,
        Verb::Audit(verb) => command::ask(common, command::Command::Audit(verb))?,
        Verb::Keys(verb) => command::ask(common, command::Command::Keys(verb))?,
        Verb::Space(verb) => command::ask(common, command::Command::Space(verb))?,
        Verb::Message(verb) => command::ask(common, command::Command::Message(verb))?,
        Verb::Webhook(WebhookVerb::Listen(args)) => tools::listen(common, &args)?,
        Verb::Webhook(WebhookVerb::Command(verb)) => {
            command::ask(common, command::Command::Webhook(verb))?;
        }
        Verb::Trigger(args) => command::ask(common, command::Command::Trigger(args))?,
        Verb::Sign(verb) => tools::explain(common, verb, output)?,
        Verb::Import(verb) => command::ask(common, command::Command::Import(verb))?,
        Verb::Export(args) => command::ask(common, command::Command::Export(args))?,
        Verb::Backup(args) => command::ask(common, command::Command::Backup(args))?,
        Verb::Fsck => return tools::fsck(common, output),
        Verb::Reindex => command::ask(common, command::Command::Reindex)?,
        Verb::Restore(args) => return tools::restore(common, &args, output),
        Verb::Migrate(verb) => tools::migrate(common, verb, output)?,
        Verb::Health(args) => tools::health(common, args, output)?,
        Verb::Doctor => return tools::doctor(common, output),
        Verb::Conf(ConfVerb::Keys) => output.markdown(&documents::keys(), config::KEYS),
        Verb::Conf(verb) => tools::conf(common, verb, output)?,
        Verb::Routes(args) => tools::routes(args, output),
        Verb::Openapi => tools::openapi(),
        Verb::Version => tools::version(output),
        Verb::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "locum", &mut std::io::stdout());
        }
        Verb::Reference => output.text(&documents::commands(&Cli::command())),
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
