//! A page for what cannot go on. It never leads to the target that was asked for.

use crate::{CallbackDiff, HtmlPage, PageFrame};
use askama::Template;

/// What was wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageErrorKind {
    /// `oauth_token` is missing from the address.
    RequestTokenMissing,
    /// There is no such request token, or it was used up.
    RequestTokenUnknown,
    /// The request token is too old.
    RequestTokenExpired,
    /// `client_id` is missing or unknown.
    ClientUnknown,
    /// The app may not sign people in.
    AppSuspended,
    /// `redirect_uri` is missing.
    RedirectMissing,
    /// `redirect_uri` or the callback is not one of the app's.
    RedirectUnregistered,
    /// A parameter of the request is wrong and there is nowhere safe to say so.
    InvalidRequest(String),
    /// The form's token was wrong or too old.
    FormExpired,
    /// Too many tries; so many seconds to wait.
    TooManyAttempts(i64),
    /// There is nothing here, or nothing that this person may know of.
    NotFound,
    /// The person may not do this.
    Forbidden,
    /// The address is there, and not for this kind of request.
    MethodNotAllowed,
    /// What was asked was not done, for this reason.
    Refused(String),
    /// It could not be done just now.
    Overloaded,
    /// A failure of ours.
    InternalError,
}

impl PageErrorKind {
    /// The heading.
    pub const fn heading(&self) -> &'static str {
        match self {
            Self::RequestTokenMissing | Self::RequestTokenUnknown | Self::RequestTokenExpired => {
                "This sign-in link no longer works"
            }
            Self::ClientUnknown => "We don’t know this app",
            Self::AppSuspended => "This app is suspended",
            Self::RedirectMissing | Self::RedirectUnregistered | Self::InvalidRequest(_) => {
                "This app can’t sign you in"
            }
            Self::FormExpired => "This page was open for too long",
            Self::TooManyAttempts(_) => "Too many tries",
            Self::NotFound => "There is nothing here",
            Self::Forbidden => "You can’t do this",
            Self::MethodNotAllowed => "This address can’t be used like that",
            Self::Refused(_) => "That did not work",
            Self::Overloaded => "Not just now",
            Self::InternalError => "Something broke on our side",
        }
    }

    /// What the person should know.
    pub fn explanation(&self) -> String {
        match self {
            Self::RequestTokenMissing => "The address is incomplete. Go back to the app and start signing in again.".to_owned(),
            Self::RequestTokenUnknown => "It was already used, or it was never valid. Go back to the app and start signing in again.".to_owned(),
            Self::RequestTokenExpired => "It was made too long ago. Go back to the app and start signing in again.".to_owned(),
            Self::ClientUnknown => "The app that sent you here gave a name that is not registered. Nothing was shared with it.".to_owned(),
            Self::AppSuspended => "It may not use anyone’s account at present. Nothing was shared with it.".to_owned(),
            Self::RedirectMissing => "It did not say where to send you afterwards. Nothing was shared with it.".to_owned(),
            Self::RedirectUnregistered => "It asked to send you to an address that is not registered for it, so we stopped. Nothing was shared with it.".to_owned(),
            Self::InvalidRequest(_) => "It sent a request that we can’t answer. Nothing was shared with it.".to_owned(),
            Self::FormExpired => "To keep your account safe we did not carry out what you sent. Go back, reload the page and try again.".to_owned(),
            Self::TooManyAttempts(seconds) => format!("Please wait {} and try again.", crate::relative_time::format_duration((*seconds).max(1))),
            Self::NotFound => "The address may be mistyped, or what it showed is gone.".to_owned(),
            Self::Forbidden => "Your account has no permission for it.".to_owned(),
            Self::MethodNotAllowed => "Go back to the page that you came from and start again there.".to_owned(),
            Self::Refused(why) => why.clone(),
            Self::Overloaded => "The server has too much to do. Please try again in a moment.".to_owned(),
            Self::InternalError => "It is not your fault, and we have made a note of it. Please try again in a moment.".to_owned(),
        }
    }

    /// What the app's developer can do.
    pub fn developer_advice(&self) -> Option<&str> {
        match self {
            Self::RequestTokenMissing => {
                Some("Add oauth_token, the value that POST /oauth/request_token answered, to the address.")
            }
            Self::RequestTokenUnknown => Some(
                "A request token works once. Ask POST /oauth/request_token for a new one each time somebody signs in, and use it on the same server that gave it.",
            ),
            Self::RequestTokenExpired => Some(
                "A request token lives for 15 minutes. Ask for it when the person clicks, not when the page is made.",
            ),
            Self::ClientUnknown => {
                Some("Compare client_id with the app’s Keys and tokens page. The client ID is not the API key.")
            }
            Self::AppSuspended => Some("Ask the people who run this server."),
            Self::RedirectMissing => Some("Send redirect_uri, exactly as it is registered in the app’s settings."),
            Self::RedirectUnregistered => Some(
                "Register the address in the app’s settings or send one that is registered. For OAuth 2.0 every character counts: scheme, port, path, query and a slash at the end. OAuth 1.0a allows a further query.",
            ),
            Self::InvalidRequest(advice) => Some(advice),
            _ => None,
        }
    }
}

/// What cannot go on.
#[derive(Template)]
#[template(path = "error.html")]
pub struct ErrorPage {
    /// The surroundings.
    pub frame: PageFrame,
    /// What was wrong.
    pub kind: PageErrorKind,
    /// The app, where it is known.
    pub app: Option<String>,
    /// How the address compares with the registered ones; shown in a development world only.
    pub comparisons: Vec<CallbackDiff>,
    /// A number that support can look for in the log.
    pub reference: Option<String>,
}

impl HtmlPage for ErrorPage {
    const NAME: &'static str = "error";

    fn title(&self) -> String {
        self.kind.heading().to_owned()
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::authorize::error_states()
    }
}
