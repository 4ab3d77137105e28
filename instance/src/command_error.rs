//! Command failures and their exit codes.

use std::process::ExitCode;

use base::refusal::RefusalKind;
use base::{Error, Fault, Refusal};
use store::DataFolderLocked;

use crate::output::print_diagnostic;

#[derive(Debug)]
pub enum CommandError {
    Failed(String),
    Usage(String),
    Unreachable(String),
    /// Another process has the data directory open.
    Locked(String),
    WrongMode(String),
    /// The exit code of a shell for a program that it cannot execute.
    Program(u8, String),
}

impl CommandError {
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Failed(_) => 1,
            Self::Usage(_) => 2,
            Self::Unreachable(_) | Self::Locked(_) => 3,
            Self::WrongMode(_) => 4,
            Self::Program(code, _) => *code,
        }
    }

    pub fn message(&self) -> &str {
        match self {
            Self::Failed(text)
            | Self::Usage(text)
            | Self::Unreachable(text)
            | Self::Locked(text)
            | Self::WrongMode(text)
            | Self::Program(_, text) => text,
        }
    }

    pub fn print_error(&self, json: bool) -> ExitCode {
        if json {
            let error = serde_json::json!({"message": self.message(), "exit": self.exit_code()});
            print_diagnostic(&serde_json::json!({ "error": error }).to_string());
        } else {
            print_diagnostic(&format!("error: {}", self.message()));
        }
        ExitCode::from(self.exit_code())
    }
}

impl From<Fault> for CommandError {
    fn from(fault: Fault) -> Self {
        let text = fault.to_string();
        if fault.is_caused_by::<DataFolderLocked>() { Self::Locked(text) } else { Self::Failed(text) }
    }
}

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        match error {
            Error::Failed(fault) => fault.into(),
            Error::Refused(refusal) if is_invalid_argument(&refusal) => {
                // Here it is an argument.
                Self::Usage(refusal.to_string().replace("` query parameter", "`").replace("can not", "cannot"))
            }
            Error::Refused(refusal) => Self::Failed(refusal.to_string()),
        }
    }
}

/// What the control API answers with 400.
fn is_invalid_argument(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::InvalidParameters(_) | Refusal::NamedReason { kind: RefusalKind::Invalid, .. })
}

impl From<CommandError> for Fault {
    fn from(error: CommandError) -> Self {
        Self::new(error.message())
    }
}

impl From<CommandError> for Error {
    fn from(error: CommandError) -> Self {
        Self::Failed(error.into())
    }
}
