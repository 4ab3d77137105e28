//! Declarations of operations, from which router, checks, limits, headers, OpenAPI document and coverage page
//! derive.

use std::pin::Pin;

use base::{Entitlement, Error, Permit, Scopes};
use schema::json_schema::{array_schema, text_schema, words_schema};
use schema::{CustomKind, ViolationKind};
pub use schema::{Kind, Parameter, ParameterLocation, TextPattern};
use serde_json::Value;
use store::NodeRole;

use crate::limits::{RateLimitSubject, RateQuota};
use crate::request_context::{HttpReply, RequestContext};

/// The maximum length of texts whose length the operation or the contract does not bound: chosen above all that
/// operations accept, so that their own refusals apply below it.
pub const MAX_TEXT: usize = 65_536;
/// The same for tokens, codes, URLs and names.
pub const MAX_SHORT_TEXT: usize = 4_096;

pub type HandlerFuture = Pin<Box<dyn Future<Output = Result<HttpReply, Error>> + Send>>;

/// Answers calls of an operation: an `async fn` from [`RequestContext`] to [`HttpReply`], or to a [`HandlerError`].
pub trait EndpointHandler: Send + Sync {
    fn answer(&self, call: RequestContext) -> HandlerFuture;
}

/// What ends a handler early.
pub trait HandlerError {
    fn into_reply(self) -> Result<HttpReply, Error>;
}

impl HandlerError for Error {
    fn into_reply(self) -> Result<HttpReply, Error> {
        Err(self)
    }
}

impl<F, R, E> EndpointHandler for F
where
    F: Fn(RequestContext) -> R + Send + Sync,
    R: Future<Output = Result<HttpReply, E>> + Send + 'static,
    E: HandlerError,
{
    fn answer(&self, call: RequestContext) -> HandlerFuture {
        let outcome = self(call);
        Box::pin(async move { outcome.await.or_else(HandlerError::into_reply) })
    }
}

#[derive(Clone, Copy)]
pub struct Endpoint {
    /// The public contract's operation id, or our own if it has none.
    pub id: &'static str,
    pub method: &'static str,
    /// `{name}` is a parameter; `<posts>`, `<reposts>`, `<reposted_by>`, `<liked_posts>` and `<quote_posts>` differ
    /// between the vocabularies.
    pub path: &'static str,
    pub aliases: &'static [&'static str],
    /// One sentence for the OpenAPI document.
    pub summary: &'static str,
    pub permit: Permit,
    pub required_entitlement: Option<Entitlement>,
    pub limits: EndpointLimits,
    /// The handler verifies an app and counts the call for it; a refused call without one counts for its address.
    pub verifies_app: bool,
    pub params: &'static [&'static [Parameter]],
    pub body: BodySpec,
    pub success_status: u16,
    pub error_format: ErrorFormat,
    /// All its responses have `Deprecation: true`.
    pub is_deprecated: bool,
    /// What a node that serves it does.
    pub role: NodeRole,
    /// None while the operation is planned.
    pub handler: Option<&'static dyn EndpointHandler>,
    /// The Ads API declaration that it is generated from; such an operation parses its own parameters.
    pub ads: Option<&'static ads_engine::AdsOperation>,
}

/// Windows per app (app-only) and per user (user context). Where an operation without app-only calls has a day window per
/// app, its windows per app count the calls of all users.
#[derive(Clone, Copy, Debug)]
pub struct EndpointLimits {
    pub app: &'static [RateWindow],
    pub user: &'static [RateWindow],
    /// A window that other operations share: per app and user, and per app for app-only calls and where the operation
    /// verifies credentials itself.
    pub shared: Option<&'static SharedWindow>,
}

pub(crate) const DAY_SECONDS: u32 = 86_400;

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct SharedWindow {
    /// What it counts, shown to developers.
    pub name: &'static str,
    pub window: RateWindow,
}

/// A fixed window that starts with its first call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RateWindow {
    pub calls: u32,
    pub seconds: u32,
}

impl RateWindow {
    pub(crate) fn length_ms(self) -> i64 {
        i64::from(self.seconds) * 1000
    }
}

pub const fn per_second(calls: u32) -> RateWindow {
    RateWindow { calls, seconds: 1 }
}

pub const fn per_minute(calls: u32) -> RateWindow {
    RateWindow { calls, seconds: 60 }
}

pub const fn per_quarter_hour(calls: u32) -> RateWindow {
    RateWindow { calls, seconds: 900 }
}

pub const fn per_day(calls: u32) -> RateWindow {
    RateWindow { calls, seconds: DAY_SECONDS }
}

/// Comma-separated field names.
#[derive(Debug)]
pub struct FieldNames(pub view::ObjectKind);

/// Comma-separated expansions.
#[derive(Debug)]
pub struct ExpansionNames(pub view::ObjectKind);

#[derive(Debug)]
pub struct PageTokenText;

impl CustomKind for FieldNames {
    fn schema(&self) -> Value {
        array_schema(&words_schema(&self.0.field_names()), 1, usize::MAX)
    }
}

impl CustomKind for ExpansionNames {
    fn schema(&self) -> Value {
        array_schema(&words_schema(&self.0.expansion_names()), 1, usize::MAX)
    }
}

impl CustomKind for PageTokenText {
    fn read_text(&self, text: &str) -> Result<Value, ViolationKind> {
        if text.len() > MAX_SHORT_TEXT { Err(ViolationKind::Malformed) } else { Ok(text.into()) }
    }

    fn schema(&self) -> Value {
        text_schema(1, MAX_SHORT_TEXT)
    }
}

#[derive(Clone, Copy, Debug)]
pub enum BodySpec {
    /// A body is ignored.
    None,
    /// A closed JSON object.
    Json(&'static [Parameter]),
    /// `application/x-www-form-urlencoded`.
    Form(&'static [Parameter]),
    /// A closed JSON object, or the same members as multipart parts, which the operation reads itself.
    Multipart(&'static [Parameter]),
    /// JSON, a form or nothing, which the operation reads itself.
    Raw,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorFormat {
    /// v2 problem documents.
    V2,
    /// `{"errors":[{"code","message"}]}`.
    Legacy,
    /// RFC 6749 §5.2.
    OAuth2,
    /// `{"errors":[{"code","message","parameter"}],"request":…}`.
    Ads,
    Page,
}

impl Endpoint {
    pub const DEFAULT: Self = Self {
        id: "",
        method: "GET",
        path: "",
        aliases: &[],
        summary: "",
        permit: Permit::NOBODY,
        required_entitlement: None,
        // Contract core §4: operations without published figures.
        limits: EndpointLimits { app: &[per_quarter_hour(300)], user: &[per_quarter_hour(75)], shared: None },
        verifies_app: false,
        params: &[],
        body: BodySpec::None,
        success_status: 200,
        error_format: ErrorFormat::V2,
        is_deprecated: false,
        role: NodeRole::Api,
        handler: None,
        ads: None,
    };

    pub const fn new(id: &'static str, method: &'static str, path: &'static str) -> Self {
        Self { id, method, path, ..Self::DEFAULT }
    }

    pub const fn get(id: &'static str, path: &'static str, handler: &'static dyn EndpointHandler) -> Self {
        Self::new(id, "GET", path).handler(handler)
    }

    pub const fn post(id: &'static str, path: &'static str, handler: &'static dyn EndpointHandler) -> Self {
        Self::new(id, "POST", path).handler(handler)
    }

    pub const fn put(id: &'static str, path: &'static str, handler: &'static dyn EndpointHandler) -> Self {
        Self::new(id, "PUT", path).handler(handler)
    }

    pub const fn delete(id: &'static str, path: &'static str, handler: &'static dyn EndpointHandler) -> Self {
        Self::new(id, "DELETE", path).handler(handler)
    }

    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> + use<> {
        self.params.iter().copied().flatten()
    }

    pub fn has_param(&self, name: &str) -> bool {
        self.parameters().any(|param| param.name.post == name)
    }

    /// The windows in which an app's calls are counted over all its users, in addition to the windows of each user.
    pub(crate) fn windows_over_users(&self) -> &'static [RateWindow] {
        let windows = self.limits.app;
        let has_day_window = windows.iter().any(|window| window.seconds == DAY_SECONDS);
        if has_day_window && !self.permit.open && !self.permit.app { windows } else { &[] }
    }

    /// The windows in which calls are counted for a subject; empty if none are.
    pub fn quota(&self, subject: RateLimitSubject) -> RateQuota<'static> {
        let (EndpointLimits { app, user, shared }, permit) = (self.limits, self.permit);
        match subject {
            RateLimitSubject::User(..) if permit.oauth1 || permit.oauth2 => RateQuota { windows: user, shared },
            RateLimitSubject::App(_) | RateLimitSubject::PublicClient(..) if permit.app || self.verifies_app => {
                RateQuota { windows: app, shared }
            }
            RateLimitSubject::App(_) => self.windows_over_users().into(),
            RateLimitSubject::Account(_) => user.into(),
            RateLimitSubject::Address(_) => app.into(),
            RateLimitSubject::User(..) | RateLimitSubject::PublicClient(..) => (&[]).into(),
        }
    }

    /// Accepts the credentials that the contract's letters name, with these scopes.
    #[must_use]
    pub const fn permit(self, letters: &str, scopes: Scopes) -> Self {
        Self { permit: Permit::from_letters(letters, scopes), ..self }
    }

    /// Admits everyone; the operation reads credentials itself if it needs any.
    #[must_use]
    pub const fn allow_anonymous(self) -> Self {
        Self { permit: Permit::OPEN, ..self }
    }

    /// As [`Self::allow_anonymous`], for a handler that verifies an app and counts the call for it, with
    /// [`RequestContext::charge_app`](crate::request_context::RequestContext::charge_app).
    #[must_use]
    pub const fn verify_app(self) -> Self {
        Self { verifies_app: true, ..self.allow_anonymous() }
    }

    #[must_use]
    pub const fn require_entitlement(self, entitlement: Entitlement) -> Self {
        Self { required_entitlement: Some(entitlement), ..self }
    }

    #[must_use]
    pub const fn limits(self, app: &'static [RateWindow], user: &'static [RateWindow]) -> Self {
        let limits = EndpointLimits { app, user, shared: self.limits.shared };
        Self { limits, ..self }
    }

    /// Also counts the calls in a window that other operations share.
    #[must_use]
    pub const fn share_limit(self, shared: &'static SharedWindow) -> Self {
        let limits = EndpointLimits { shared: Some(shared), ..self.limits };
        Self { limits, ..self }
    }

    #[must_use]
    pub const fn params(self, params: &'static [&'static [Parameter]]) -> Self {
        Self { params, ..self }
    }

    #[must_use]
    pub const fn body(self, body: BodySpec) -> Self {
        Self { body, ..self }
    }

    #[must_use]
    pub const fn summary(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    /// Success is 201.
    #[must_use]
    pub const fn creates(self) -> Self {
        Self { success_status: 201, ..self }
    }

    #[must_use]
    pub const fn error_format(self, format: ErrorFormat) -> Self {
        Self { error_format: format, ..self }
    }

    #[must_use]
    pub const fn deprecated(self) -> Self {
        Self { is_deprecated: true, ..self }
    }

    #[must_use]
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    #[must_use]
    pub const fn handler(self, handler: &'static dyn EndpointHandler) -> Self {
        Self { handler: Some(handler), ..self }
    }

    /// The response lasts as long as the client reads it.
    #[must_use]
    pub const fn streaming(self) -> Self {
        Self { role: NodeRole::Stream, ..self }
    }
}

/// Optional text members with a maximum length, by name.
#[macro_export]
macro_rules! text_members {
    ($max:expr; $($name:ident)*) => {
        &[$($crate::endpoint::Parameter::member(stringify!($name), $crate::endpoint::Kind::text(0, $max))),*]
    };
}
