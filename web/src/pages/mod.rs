//! Pages for people, in a browser. What they show is in the crate `pages`; here is who may see
//! them, what their forms do, and the headers around them.
//!
//! A handler is `run(async move { … })`: it meets the browser with [`Visit::of`], takes a form
//! with [`forms::taken`], and answers with [`Visit::page`], [`see`] or one of [`errors`].

pub(crate) mod access;
pub(crate) mod account_recovery;
pub(crate) mod app_summary;
pub(crate) mod assets;
pub(crate) mod card_links;
pub(crate) mod compose;
pub(crate) mod context;
pub(crate) mod errors;
pub(crate) mod forms;
pub(crate) mod landing;
pub(crate) mod notifications;
pub(crate) mod oauth1;
pub(crate) mod oauth2;
pub(crate) mod registration;
mod return_target;
pub(crate) mod security_headers;
pub(crate) mod session;
pub(crate) mod settings;
pub(crate) mod sign_in;

pub(crate) use context::PageContext;
pub(crate) use session::{BrowserVisit, SignedInPerson};

use base::{Error, Fault, Refusal};

use crate::endpoint::HandlerFuture;
use crate::reply::HttpReply;

/// Why a handler ends early: with a page or a redirect, or because it was stopped.
#[derive(Debug)]
pub(crate) enum PageExit {
    /// This is the answer.
    Reply(Box<HttpReply>),
    /// A refusal or a failure, spoken as on other pages.
    Error(Error),
}

impl From<Error> for PageExit {
    fn from(stop: Error) -> Self {
        Self::Error(stop)
    }
}

impl From<Fault> for PageExit {
    fn from(fault: Fault) -> Self {
        Self::Error(fault.into())
    }
}

impl From<Refusal> for PageExit {
    fn from(refusal: Refusal) -> Self {
        Self::Error(refusal.into())
    }
}

impl From<HttpReply> for PageExit {
    fn from(reply: HttpReply) -> Self {
        Self::Reply(Box::new(reply))
    }
}

/// Runs a handler whose early answers are answers too.
pub(crate) fn run_page<F>(handler: F) -> HandlerFuture
where
    F: Future<Output = Result<HttpReply, PageExit>> + Send + 'static,
{
    Box::pin(async move {
        match handler.await {
            Ok(reply) => Ok(reply),
            Err(PageExit::Reply(reply)) => Ok(*reply),
            Err(PageExit::Error(stop)) => Err(stop),
        }
    })
}

/// Sends a browser to one of our own paths, to be fetched with `GET`. What is no path of ours
/// leads to the start.
pub(crate) fn redirect_to(path: &str) -> HttpReply {
    HttpReply::empty(303).location(forms::local_path(path).unwrap_or(context::DEFAULT_PATH))
}

#[cfg(test)]
mod tests;
