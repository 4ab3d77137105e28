//! Commands as a running server receives them: the arguments, and what only the calling process can read.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, CommandFactory, Parser};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::AdminCommand;
use crate::arguments::GlobalArgs;
use crate::command_error::CommandError;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CommandRequest {
    /// Those after the program's name.
    arguments: Vec<String>,
    #[serde(flatten)]
    inputs: LocalInputs,
}

#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct CommandLine {
    #[command(flatten)]
    _common: GlobalArgs,
    #[command(subcommand)]
    command: AdminCommand,
}

impl CommandRequest {
    pub(super) fn new(arguments: Vec<OsString>, inputs: LocalInputs) -> Result<Self, CommandError> {
        let not_text = |argument: OsString| CommandError::Usage(format!("{}: not UTF-8", argument.display()));
        let arguments = arguments.into_iter().map(|argument| argument.into_string().map_err(not_text));
        Ok(Self { arguments: arguments.collect::<Result<_, _>>()?, inputs })
    }

    /// What the audit log says of the command.
    pub(super) fn describe(&self) -> Value {
        describe_command(&self.arguments)
    }

    /// Refuses what is no command with the reason.
    pub(super) fn into_command(mut self) -> Result<AdminCommand, String> {
        let unknown = |error: clap::Error| {
            let message = error.to_string();
            let first_line = message.lines().next().unwrap_or_default();
            format!("unknown command: {}", first_line.trim_start_matches("error: "))
        };
        let mut command = CommandLine::try_parse_from(self.arguments).map_err(unknown)?.command;
        command.read_local_inputs(&mut self.inputs).map_err(|error| error.message().to_owned())?;
        Ok(command)
    }
}

/// The name and the arguments, other than passwords and those of all commands; null for what is no command.
pub(super) fn describe_command(arguments: &[impl AsRef<OsStr>]) -> Value {
    let root = CommandLine::command();
    let arguments = arguments.iter().map(|argument| argument.as_ref().to_owned());
    let Ok(matches) = root.clone().try_get_matches_from(arguments) else { return Value::Null };
    let (mut command, mut matches, mut words) = (&root, &matches, Vec::new());
    while let Some((name, inner)) = matches.subcommand() {
        let Some(found) = command.find_subcommand(name) else { break };
        words.push(name);
        (command, matches) = (found, inner);
    }
    json!({ "command": words.join(" "), "arguments": describe_arguments(command, matches) })
}

fn describe_arguments(command: &Command, matches: &ArgMatches) -> Map<String, Value> {
    let given = command.get_arguments().filter(|argument| {
        !argument.is_global_set()
            && argument.get_id() != "password"
            && matches.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine)
    });
    let describe = |argument: &Arg| {
        let values = matches.get_raw(argument.get_id().as_str())?;
        let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
        Some((argument.get_id().to_string(), json!(values.join(" "))))
    };
    given.filter_map(describe).collect()
}

/// What a command needs besides its arguments.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct LocalInputs {
    /// The caller's working directory, to which paths are relative.
    #[serde(default)]
    directory: PathBuf,
    /// The contents of stdin or a file.
    #[serde(default)]
    text: Option<String>,
    /// Whether this is the calling process, which reads the text.
    #[serde(skip)]
    is_caller: bool,
}

impl LocalInputs {
    pub(super) fn of_caller() -> Result<Self, CommandError> {
        let directory = std::env::current_dir();
        let directory = directory.map_err(|error| CommandError::Failed(format!("the working directory: {error}")))?;
        Ok(Self { directory, text: None, is_caller: true })
    }

    pub(super) fn make_absolute(&self, path: &mut PathBuf) -> Result<(), CommandError> {
        let absolute = std::path::absolute(self.directory.join(&path));
        *path = absolute.map_err(|error| CommandError::Usage(format!("{}: {error}", path.display())))?;
        Ok(())
    }

    pub(super) fn read_stdin_line(&mut self) -> Result<String, CommandError> {
        self.read_text(|| {
            let mut line = String::new();
            let read = std::io::stdin().read_line(&mut line);
            read.map(|_| line).map_err(|error| stdin_error(&error))
        })
    }

    pub(super) fn read_stdin(&mut self) -> Result<String, CommandError> {
        self.read_text(|| std::io::read_to_string(std::io::stdin()).map_err(|error| stdin_error(&error)))
    }

    /// Files of more than `limit` bytes are usage errors.
    pub(super) fn read_file(&mut self, path: &Path, limit: usize) -> Result<String, CommandError> {
        self.read_text(|| {
            let fail = |error: std::io::Error| CommandError::Failed(format!("{}: {error}", path.display()));
            let size = std::fs::metadata(path).map_err(fail)?.len();
            if usize::try_from(size).is_ok_and(|size| size > limit) {
                return Err(CommandError::Usage(format!("{}: more than {limit} bytes", path.display())));
            }
            std::fs::read_to_string(path).map_err(fail)
        })
    }

    /// A command reads at most one text.
    fn read_text(&mut self, read: impl FnOnce() -> Result<String, CommandError>) -> Result<String, CommandError> {
        if self.is_caller {
            self.text = Some(read()?);
        }
        self.text.clone().ok_or_else(|| CommandError::Usage("the input of the command is missing".to_owned()))
    }
}

fn stdin_error(error: &std::io::Error) -> CommandError {
    CommandError::Failed(format!("failed to read stdin: {error}"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Value, json};

    use super::CommandRequest;
    use crate::command::AdminCommand;
    use crate::command::site::SiteCommand;

    fn parse(request: Value) -> Result<AdminCommand, String> {
        serde_json::from_value::<CommandRequest>(request).unwrap().into_command()
    }

    #[test]
    fn paths_are_relative_to_the_caller_and_files_are_read_there() {
        let export =
            parse(json!({ "arguments": ["--json", "export", "all.jsonl"], "directory": "/home/ana" })).unwrap();
        let AdminCommand::Export(export) = export else { panic!("{export:?}") };
        assert_eq!(export.file.as_deref(), Some(Path::new("/home/ana/all.jsonl")));
        let set = ["site", "set", "rules", "--file", "/etc/hostname"];
        let refused = parse(json!({ "arguments": set })).unwrap_err();
        assert_eq!(refused, "the input of the command is missing");
        let set = parse(json!({ "arguments": set, "text": "Be kind." })).unwrap();
        let AdminCommand::Site(SiteCommand::Set { value, .. }) = set else { panic!("{set:?}") };
        assert_eq!(value.as_deref(), Some("Be kind."));
    }

    #[test]
    fn arguments_that_are_no_valid_command_are_refused_with_the_reason() {
        for (arguments, reason) in [
            (json!(["frobnicate"]), "unrecognized subcommand 'frobnicate'"),
            (json!(["user", "list", "--limit", "many"]), "invalid value 'many' for '--limit <LIMIT>'"),
            (json!(["audit", "list", "--limit", "0"]), "invalid value '0' for '--limit <LIMIT>'"),
            (json!(["dev"]), "unrecognized subcommand 'dev'"),
        ] {
            let refused = parse(json!({ "arguments": arguments })).unwrap_err();
            assert!(refused.starts_with(&format!("unknown command: {reason}")), "{refused}");
        }
    }
}
