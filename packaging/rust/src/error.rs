//! What can go wrong.

use std::fmt;

#[derive(Debug)]
pub enum Error {
    /// The server did not start.
    Start(String),
    /// The server does not answer, or not as expected.
    Connection(String),
    /// The server refused a call.
    Refused { status: u16, message: String },
    /// The checks of [`Journal::expect`](crate::Journal::expect) that do not hold, one a line, with near misses.
    Unmet(String),
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(message) | Self::Connection(message) | Self::Unmet(message) => formatter.write_str(message),
            Self::Refused { status, message } => write!(formatter, "{message} (status {status})"),
        }
    }
}

impl std::error::Error for Error {}
