//! A failure of ours: a bug, a disk, a network. Logged once with its chain, told to nobody.

use std::error::Error;
use std::fmt;

/// What failed, with its causes. Callers see only that something did.
#[derive(Debug)]
pub struct Fault {
    what: String,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl Fault {
    /// A failure without a further cause.
    pub fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            cause: None,
        }
    }

    /// A failure and what caused it.
    pub fn caused(what: impl Into<String>, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            what: what.into(),
            cause: Some(cause.into()),
        }
    }

    /// For `map_err`: names what was being done when the cause came up.
    pub fn when<E: Into<Box<dyn Error + Send + Sync>>>(
        what: &'static str,
    ) -> impl FnOnce(E) -> Self {
        move |cause| Self::caused(what, cause)
    }
}

/// The whole chain on one line, outermost first.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        let mut cause: Option<&(dyn Error + 'static)> = self.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            // A Fault prints its own chain already.
            cause = if error.is::<Self>() {
                None
            } else {
                error.source()
            };
        }
        Ok(())
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause
            .as_ref()
            .map(|cause| -> &(dyn Error + 'static) { cause.as_ref() })
    }
}
