//! How a command ends when it does not end well, and the code that says so.

use std::process::ExitCode;

use base::refusal::AuthenticationProblem;
use base::{Error, Fault, Refusal};

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// It was tried and failed.
    Failed(String),
    /// It was not asked properly: an argument, a key of the configuration.
    Usage(String),
    /// The server that should do it cannot be reached.
    Unreachable(String),
    /// The mode of the data folder forbids it.
    WrongMode(String),
}

impl CommandError {
    /// The process's exit code.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::Failed(_) => 1,
            Self::Usage(_) => 2,
            Self::Unreachable(_) => 3,
            Self::WrongMode(_) => 4,
        }
    }

    /// What is told to the person.
    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Failed(text) | Self::Usage(text) | Self::Unreachable(text) | Self::WrongMode(text) => text,
        }
    }

    /// Prints the reason and gives the code.
    pub(crate) fn print_error(&self, json: bool) -> ExitCode {
        if json {
            let error = serde_json::json!({"message": self.message(), "exit": self.exit_code()});
            eprintln!("{}", serde_json::json!({ "error": error }));
        } else {
            eprintln!("error: {}", self.message());
        }
        ExitCode::from(self.exit_code())
    }
}

impl From<Fault> for CommandError {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault.to_string())
    }
}

impl From<Error> for CommandError {
    fn from(stop: Error) -> Self {
        match stop {
            Error::Refused(refusal) => Self::Failed(refusal_text(&refusal)),
            Error::Failed(fault) => fault.into(),
        }
    }
}

/// A refusal in a sentence for the command line.
pub(crate) fn refusal_text(refusal: &Refusal) -> String {
    match refusal {
        Refusal::InvalidParameters(wrong) => {
            let sentences: Vec<_> = wrong.iter().map(|wrong| wrong.message.as_str()).collect();
            sentences.join("\n")
        }
        Refusal::NotFound(subject) | Refusal::NotVisible(subject) => {
            format!("no {} is [{}]", subject.resource, subject.value)
        }
        Refusal::Suspended(subject) => format!("user [{}] is suspended", subject.value),
        Refusal::Forbidden { detail, .. } => detail.to_string(),
        Refusal::Legacy { message, .. } | Refusal::NamedReason { message, .. } => message.to_string(),
        Refusal::OAuth2 { description, .. } => description.to_string(),
        Refusal::Ads(declined) => {
            let sentences = declined.problems.iter().map(|problem| problem.message.as_str());
            sentences.collect::<Vec<_>>().join("\n")
        }
        Refusal::Unauthenticated(AuthenticationProblem::Token) => "the token is unknown or expired".to_owned(),
        other => format!("refused: {other:?}"),
    }
}
