//! The error page. It never links to the requested redirect target.

use crate::page::{HtmlPage, html_page};
use crate::{CallbackDiff, PageFrame};
use askama::Template;

/// A form whose sender has to sign in first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsubmittedForm {
    /// The path to come back to.
    pub next: String,
    /// The texts that were entered, to be copied.
    pub entered: Vec<String>,
    /// Whether a file was chosen, which is not kept.
    pub has_file: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageErrorKind {
    RequestTokenMissing,
    RequestTokenUnknown,
    RequestTokenExpired,
    ClientUnknown,
    AppSuspended,
    RedirectMissing,
    RedirectUnregistered,
    /// A parameter is invalid and there is no safe redirect; holds advice for the developer.
    InvalidRequest(String),
    FormExpired,
    /// A form of somebody who is not signed in, which does not come back after signing in.
    SignedOut(UnsubmittedForm),
    /// A form of somebody who signed in too long ago for it.
    SignInTooOld(UnsubmittedForm),
    /// Seconds to wait.
    TooManyAttempts(i64),
    /// Missing, or hidden from this person.
    NotFound,
    Forbidden,
    MethodNotAllowed,
    /// The reason, as a sentence.
    Refused(String),
    Overloaded,
    InternalError,
}

impl PageErrorKind {
    pub const fn heading(&self) -> &'static str {
        match self {
            Self::RequestTokenMissing | Self::RequestTokenUnknown | Self::RequestTokenExpired => {
                "This sign-in link no longer works"
            }
            Self::ClientUnknown => "Unknown app",
            Self::AppSuspended => "This app is suspended",
            Self::RedirectMissing | Self::RedirectUnregistered | Self::InvalidRequest(_) => {
                "This app can’t sign you in"
            }
            Self::FormExpired => "This page has expired",
            Self::SignedOut(_) => "You are not signed in",
            Self::SignInTooOld(_) => "Sign in again",
            Self::TooManyAttempts(_) => "Too many attempts",
            Self::NotFound => "Page not found",
            Self::Forbidden => "You don’t have permission",
            Self::MethodNotAllowed => "Method not allowed",
            Self::Refused(_) => "That didn’t work",
            Self::Overloaded => "Temporarily unavailable",
            Self::InternalError => "Something went wrong",
        }
    }

    pub fn explanation(&self) -> String {
        match self {
            Self::RequestTokenMissing => "The link is incomplete. Return to the app and sign in again.".to_owned(),
            Self::RequestTokenUnknown => {
                "It has already been used, or it was never valid. Return to the app and sign in again.".to_owned()
            }
            Self::RequestTokenExpired => "It has expired. Return to the app and sign in again.".to_owned(),
            Self::ClientUnknown => {
                "The app that sent you here is not registered on this server. Nothing was shared with it.".to_owned()
            }
            Self::AppSuspended => "It currently can’t access any account. Nothing was shared with it.".to_owned(),
            Self::RedirectMissing => "It did not specify where to redirect you. Nothing was shared with it.".to_owned(),
            Self::RedirectUnregistered => {
                "It asked to redirect you to a URL that is not registered for it. Nothing was shared with it."
                    .to_owned()
            }
            Self::InvalidRequest(_) => "It sent an invalid request. Nothing was shared with it.".to_owned(),
            Self::FormExpired => {
                "To protect your account, the form was not submitted. Go back, copy what you wrote, then reload the page and try again."
                    .to_owned()
            }
            Self::SignedOut(form) => form.explain("sign in"),
            Self::SignInTooOld(form) => format!("You signed in too long ago. {}", form.explain("sign in again")),
            Self::TooManyAttempts(seconds) => {
                format!("Please wait {} and try again.", crate::relative_time::format_duration((*seconds).max(1)))
            }
            Self::NotFound => "The URL may be mistyped, or the page no longer exists.".to_owned(),
            Self::Forbidden => "Your account isn’t allowed to do this.".to_owned(),
            Self::MethodNotAllowed => "Go back to the previous page and try again.".to_owned(),
            Self::Refused(why) => why.clone(),
            Self::Overloaded => "The server is overloaded. Please try again in a moment.".to_owned(),
            Self::InternalError => "The error has been logged. Please try again in a moment.".to_owned(),
        }
    }

    pub fn developer_advice(&self) -> Option<&str> {
        match self {
            Self::RequestTokenMissing => Some("Add oauth_token, as returned by POST /oauth/request_token, to the URL."),
            Self::RequestTokenUnknown => Some(
                "A request token works once. Get a new one from POST /oauth/request_token for each sign-in, and use it on the server that issued it.",
            ),
            Self::RequestTokenExpired => Some(
                "A request token expires after 15 minutes. Request it when the person clicks, not when the page is rendered.",
            ),
            Self::ClientUnknown => {
                Some("Compare client_id with the Client ID on the app’s Keys page. It is not the API key.")
            }
            Self::AppSuspended => Some("Contact the operator of this server."),
            Self::RedirectMissing => Some("Send redirect_uri, exactly as it is registered in the app’s settings."),
            Self::RedirectUnregistered => Some(
                "Register the URL in the app’s settings, or send one that is registered. OAuth 2.0 requires an exact match, including scheme, port, path, query and trailing slash. OAuth 1.0a allows additional query parameters.",
            ),
            Self::InvalidRequest(advice) => Some(advice),
            _ => None,
        }
    }
}

impl UnsubmittedForm {
    fn explain(&self, sign_in: &str) -> String {
        let copy = if self.entered.is_empty() { "Go back, copy" } else { "You can copy" };
        let file = if self.has_file { " The file was not kept: choose it again." } else { "" };
        format!("The form was not submitted. {copy} what you wrote, then {sign_in} and try again.{file}")
    }
}

#[derive(Template)]
#[template(path = "error.html")]
pub struct ErrorPage {
    pub frame: PageFrame,
    pub kind: PageErrorKind,
    pub app: Option<String>,
    /// Shown in development only.
    pub comparisons: Vec<CallbackDiff>,
    /// Request ID to look up in the log.
    pub reference: Option<String>,
}

impl ErrorPage {
    fn unsubmitted_form(&self) -> Option<&UnsubmittedForm> {
        match &self.kind {
            PageErrorKind::SignedOut(form) | PageErrorKind::SignInTooOld(form) => Some(form),
            _ => None,
        }
    }

    /// `next` is not empty.
    fn sign_in_path(&self, next: &str) -> String {
        let path = self.frame.sign_in_path(next);
        // Without it, who is signed in does not see the form.
        if matches!(self.kind, PageErrorKind::SignInTooOld(_)) { format!("{path}&switch=1") } else { path }
    }
}

html_page!(ErrorPage, |page| page.kind.heading().to_owned());
