//! Internal failures: a bug, a disk, a network. They are logged once with their causes and never
//! shown to clients.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

#[derive(Debug)]
pub struct Fault {
    message: String,
    cause: Option<Box<dyn Error + Send + Sync>>,
    transient: bool,
}

impl Fault {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), cause: None, transient: false }
    }

    pub fn from_cause(message: impl Into<String>, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { message: message.into(), cause: Some(cause.into()), transient: false }
    }

    /// For `map_err`: wraps the cause with what was being done.
    pub fn context<E: Into<Box<dyn Error + Send + Sync>>>(message: &'static str) -> impl FnOnce(E) -> Self {
        move |cause| Self::from_cause(message, cause)
    }

    /// Marks a failure that passes by itself (a full disk, an unreachable database), so that
    /// callers may retry.
    #[must_use]
    pub fn into_transient(mut self) -> Self {
        self.transient = true;
        self
    }

    pub fn is_transient(&self) -> bool {
        self.causes().any(|error| {
            let fault = error.downcast_ref::<Self>().or_else(|| error.downcast_ref::<Arc<Self>>().map(AsRef::as_ref));
            fault.is_some_and(|fault| fault.transient)
        })
    }

    pub fn is_caused_by<E: Error + 'static>(&self) -> bool {
        self.find_cause::<E>().is_some()
    }

    pub fn find_cause<E: Error + 'static>(&self) -> Option<&E> {
        self.causes().find_map(<dyn Error>::downcast_ref)
    }

    /// Itself first.
    fn causes(&self) -> impl Iterator<Item = &(dyn Error + 'static)> {
        let first: &(dyn Error + 'static) = self;
        std::iter::successors(Some(first), |&error| error.source())
    }
}

/// The whole chain on one line, outermost first.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let mut cause: Option<&(dyn Error + 'static)> = self.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            // A `Fault` prints its own chain.
            cause = if error.is::<Self>() { None } else { error.source() };
        }
        Ok(())
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_ref().map(|cause| -> &(dyn Error + 'static) { cause.as_ref() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_seen_through_what_it_caused() {
        let full = Arc::new(Fault::new("no room").into_transient());
        let commit = Fault::from_cause("the transaction failed", full);
        assert!(Fault::from_cause("a post", commit).is_transient());
        assert!(!Fault::from_cause("a post", Fault::new("a bug")).is_transient());
    }

    #[test]
    fn cause_is_found_by_its_type_behind_other_faults() {
        let fault = Fault::from_cause("starting", Fault::from_cause("opening", fmt::Error));
        assert!(fault.is_caused_by::<fmt::Error>());
        assert!(!fault.is_caused_by::<std::io::Error>());
    }
}
