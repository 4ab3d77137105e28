//! A failure of ours: a bug, a disk, a network. Logged once with its chain, told to nobody.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// What failed, with its causes. Callers see only that something did.
#[derive(Debug)]
pub struct Fault {
    what: String,
    cause: Option<Box<dyn Error + Send + Sync>>,
    passing: bool,
}

impl Fault {
    /// A failure without a further cause.
    pub fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            cause: None,
            passing: false,
        }
    }

    /// A failure and what caused it.
    pub fn caused(what: impl Into<String>, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            what: what.into(),
            cause: Some(cause.into()),
            passing: false,
        }
    }

    /// For `map_err`: names what was being done when the cause came up.
    pub fn when<E: Into<Box<dyn Error + Send + Sync>>>(
        what: &'static str,
    ) -> impl FnOnce(E) -> Self {
        move |cause| Self::caused(what, cause)
    }

    /// Marks what passes without a change of ours: a full disk, a database that is away. Whoever
    /// asked may ask again.
    #[must_use]
    pub fn passing(mut self) -> Self {
        self.passing = true;
        self
    }

    /// Whether it, or what caused it, is of the kind that passes.
    pub fn passes(&self) -> bool {
        let mut cause: Option<&(dyn Error + 'static)> = Some(self);
        while let Some(error) = cause {
            let fault = error
                .downcast_ref::<Self>()
                .or_else(|| error.downcast_ref::<Arc<Self>>().map(AsRef::as_ref));
            if fault.is_some_and(|fault| fault.passing) {
                return true;
            }
            cause = error.source();
        }
        false
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_seen_through_what_it_caused() {
        let full = Arc::new(Fault::new("no room").passing());
        let commit = Fault::caused("the transaction failed", full);
        assert!(Fault::caused("a post", commit).passes());
        assert!(!Fault::caused("a post", Fault::new("a bug")).passes());
    }
}
