//! Pages for people, in a browser. What they show is in the crate `pages`; here is who may see
//! them, what their forms do, and the headers around them.
//!
//! A handler is `run(async move { … })`: it meets the browser with [`Visit::of`], takes a form
//! with [`forms::taken`], and answers with [`Visit::page`], [`see`] or one of [`errors`].

pub(crate) mod access;
pub(crate) mod app;
pub(crate) mod card;
pub(crate) mod compose;
mod errand;
pub(crate) mod errors;
pub(crate) mod forms;
pub(crate) mod front;
pub(crate) mod headers;
pub(crate) mod join;
pub(crate) mod landing;
pub(crate) mod notifications;
pub(crate) mod oauth1;
pub(crate) mod oauth2;
pub(crate) mod recover;
pub(crate) mod session;
pub(crate) mod settings;
pub(crate) mod sign_in;
pub(crate) mod style;

pub(crate) use front::Front;
pub(crate) use session::{Person, Visit};

use base::{Error, Fault, Refusal};

use crate::endpoint::Pending;
use crate::reply::Reply;

/// Why a handler ends early: with a page or a redirect, or because it was stopped.
#[derive(Debug)]
pub(crate) enum Turn {
    /// This is the answer.
    Answer(Box<Reply>),
    /// A refusal or a failure, spoken as on other pages.
    Stop(Error),
}

impl From<Error> for Turn {
    fn from(stop: Error) -> Self {
        Self::Stop(stop)
    }
}

impl From<Fault> for Turn {
    fn from(fault: Fault) -> Self {
        Self::Stop(fault.into())
    }
}

impl From<Refusal> for Turn {
    fn from(refusal: Refusal) -> Self {
        Self::Stop(refusal.into())
    }
}

impl From<Reply> for Turn {
    fn from(reply: Reply) -> Self {
        Self::Answer(Box::new(reply))
    }
}

/// Runs a handler whose early answers are answers too.
pub(crate) fn run<F>(story: F) -> Pending
where
    F: Future<Output = Result<Reply, Turn>> + Send + 'static,
{
    Box::pin(async move {
        match story.await {
            Ok(reply) => Ok(reply),
            Err(Turn::Answer(reply)) => Ok(*reply),
            Err(Turn::Stop(stop)) => Err(stop),
        }
    })
}

/// Sends a browser to one of our own paths, to be fetched with `GET`. What is no path of ours
/// leads to the start.
pub(crate) fn see(path: &str) -> Reply {
    Reply::empty(303).location(forms::own_path(path).unwrap_or(front::HOME))
}

#[cfg(test)]
mod tests;
