//! Pages for people: who may see them, what their forms do, and their headers. The HTML is in the crate `pages`.
//!
//! A handler reads the browser's session with [`MemberVisit::from_call`] or [`BrowserVisit::from_call`], and a form with
//! it by `accept_form`; it answers with [`BrowserVisit::render_page`], [`redirect_to`] or one of [`errors`].

pub(crate) mod access;
pub(crate) mod account_data;
pub(crate) mod account_recovery;
pub(crate) mod app_summary;
pub(crate) mod assets;
pub(crate) mod card_links;
pub(crate) mod compose;
pub(crate) mod errors;
pub(crate) mod forms;
pub(crate) mod landing;
pub(crate) mod oauth1;
pub(crate) mod oauth2;
pub(crate) mod page_ranges;
pub(crate) mod passkeys;
mod password_check;
pub(crate) mod post_preview;
pub(crate) mod post_texts;
pub(crate) mod registration;
mod return_target;
pub(crate) mod security;
pub(crate) mod session;
pub(crate) mod settings;
pub(crate) mod short_links;
pub(crate) mod shown_values;
pub(crate) mod sign_in;
pub(crate) mod sign_in_code;
pub mod submitted_forms;
mod unsubmitted_forms;
pub(crate) mod web_tags;

pub use session::{BrowserVisit, MemberVisit, SignedInPerson};

use base::{Error, Fault, Refusal, SiteLinks};
use web::endpoint::HandlerError;
use web::page_context;
use web::reply::HttpReply;

/// Why a handler ends early.
#[derive(Debug)]
pub enum PageExit {
    Reply(Box<HttpReply>),
    /// Rendered like errors of any other endpoint.
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

impl HandlerError for PageExit {
    fn into_reply(self) -> Result<HttpReply, Error> {
        match self {
            Self::Reply(reply) => Ok(*reply),
            Self::Error(stop) => Err(stop),
        }
    }
}

impl From<HttpReply> for PageExit {
    fn from(reply: HttpReply) -> Self {
        Self::Reply(Box::new(reply))
    }
}

/// Redirects with 303 to a local path; anything else leads to the default page.
pub fn redirect_to(path: &str) -> HttpReply {
    HttpReply::empty(303).location(forms::local_path(path).unwrap_or(page_context::DEFAULT_PATH))
}

/// Redirects to an app with 302 (contract core §2.3, §2.5). As after a 303, browsers do not send a form on; the forms that
/// lead to apps contain no password (RFC 9700 §4.12).
pub(crate) fn redirect_to_app(url: &str) -> HttpReply {
    HttpReply::redirect(url)
}

#[cfg(test)]
mod tests;

/// The path of a file of this site, which the content policy of pages allows under each of the site's names; `None` for one of
/// another site.
pub fn find_site_path(url: &str, site: SiteLinks) -> Option<&str> {
    if url.starts_with("/media/") {
        return Some(url);
    }
    let mut bases = [site.files_url, site.url].into_iter().filter(|base| !base.is_empty());
    bases.find_map(|base| url.strip_prefix(base).filter(|path| path.starts_with('/')))
}
