//! Declarations of operations, from which router, checks, limits, headers, OpenAPI document and coverage page
//! derive.

use std::pin::Pin;

use base::{Entitlement, Error, Permit, Scopes, VocabularyWord};

use crate::request_context::{HttpReply, RequestContext};

/// No limit; the operation checks the length itself.
pub const ANY_LENGTH: usize = usize::MAX;

pub type HandlerFuture = Pin<Box<dyn Future<Output = Result<HttpReply, Error>> + Send>>;

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
    pub params: &'static [&'static [EndpointParam]],
    pub body: BodySpec,
    pub success_status: u16,
    pub error_format: ErrorFormat,
    /// None while the operation is planned.
    pub handler: Option<fn(RequestContext) -> HandlerFuture>,
    /// The Ads API declaration that it is generated from; such an operation parses its own parameters.
    pub ads: Option<&'static ads_engine::AdsOperation>,
}

/// Windows per app (app-only) and per user (user context).
#[derive(Clone, Copy, Debug)]
pub struct EndpointLimits {
    pub app: &'static [RateWindow],
    pub user: &'static [RateWindow],
    /// A window per app and user that other operations share.
    pub shared: Option<&'static SharedWindow>,
}

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
    RateWindow { calls, seconds: 86_400 }
}

#[derive(Clone, Copy, Debug)]
pub struct EndpointParam {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub location: EndpointParamLocation,
    pub required: bool,
    pub param_type: ParamType,
    pub summary: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointParamLocation {
    Path,
    Query,
}

#[derive(Clone, Copy, Debug)]
pub enum ParamType {
    /// `^[0-9]{1,19}$`.
    Id,
    /// Comma-separated; minimum and maximum count.
    Ids(usize, usize),
    /// `^[A-Za-z0-9_]{1,15}$`.
    Username,
    /// Comma-separated; minimum and maximum count.
    Usernames(usize, usize),
    /// Minimum and maximum, both included, and default.
    Int(i64, i64, i64),
    OneOf(&'static [&'static str]),
    /// Comma-separated.
    SomeOf(&'static [&'static str]),
    /// Comma-separated field names.
    Fields(view::ObjectKind),
    /// Comma-separated.
    Expansions(view::ObjectKind),
    /// RFC 3339, UTC.
    Time,
    PageToken,
    Bool,
    /// Minimum and maximum length in code points.
    Text(usize, usize),
    Pattern(&'static TextPattern),
    /// Comma-separated; minimum and maximum count.
    Patterns(&'static TextPattern, usize, usize),
}

#[derive(Clone, Copy, Debug)]
pub struct TextPattern {
    /// As shown in refusals and the OpenAPI document.
    pub regex: &'static str,
    pub matches: fn(&str) -> bool,
}

#[derive(Clone, Copy, Debug)]
pub enum BodySpec {
    /// A body is ignored.
    None,
    /// A closed JSON object.
    Json(&'static [BodyMember]),
    /// `application/x-www-form-urlencoded`.
    Form(&'static [BodyMember]),
    /// A closed JSON object, or the same members as multipart parts, which the operation reads itself.
    Multipart(&'static [BodyMember]),
    /// JSON, a form or nothing, which the operation reads itself.
    Raw,
}

#[derive(Clone, Copy, Debug)]
pub struct BodyMember {
    pub name: VocabularyWord,
    pub required: bool,
    pub shape: MemberShape,
}

#[derive(Clone, Copy, Debug)]
pub enum MemberShape {
    /// A decimal id as a string; a number is refused.
    Id,
    /// Minimum and maximum length in code points.
    Text(usize, usize),
    Bool,
    /// Minimum and maximum, both included.
    Int(i64, i64),
    OneOf(&'static [&'static str]),
    /// A closed object.
    Object(&'static [BodyMember]),
    /// Shape of the items, minimum and maximum count.
    Array(&'static MemberShape, usize, usize),
    /// Checked by the operation.
    Any,
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
        params: &[],
        body: BodySpec::None,
        success_status: 200,
        error_format: ErrorFormat::V2,
        handler: None,
        ads: None,
    };

    pub const fn new(id: &'static str, method: &'static str, path: &'static str) -> Self {
        Self { id, method, path, ..Self::DEFAULT }
    }

    pub fn has_param(&self, name: &str) -> bool {
        let mut params = self.params.iter().copied().flatten();
        params.any(|param| param.name == name)
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

    #[must_use]
    pub const fn require_entitlement(self, entitlement: Entitlement) -> Self {
        Self { required_entitlement: Some(entitlement), ..self }
    }

    #[must_use]
    pub const fn limits(self, app: &'static [RateWindow], user: &'static [RateWindow]) -> Self {
        let limits = EndpointLimits { app, user, shared: self.limits.shared };
        Self { limits, ..self }
    }

    /// Also counts the calls of users in a window that other operations share.
    #[must_use]
    pub const fn share_limit(self, shared: &'static SharedWindow) -> Self {
        let limits = EndpointLimits { shared: Some(shared), ..self.limits };
        Self { limits, ..self }
    }

    #[must_use]
    pub const fn params(self, params: &'static [&'static [EndpointParam]]) -> Self {
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

    #[must_use]
    pub const fn success_status(self, status: u16) -> Self {
        Self { success_status: status, ..self }
    }

    #[must_use]
    pub const fn error_format(self, format: ErrorFormat) -> Self {
        Self { error_format: format, ..self }
    }

    #[must_use]
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    #[must_use]
    pub const fn handler(self, handler: fn(RequestContext) -> HandlerFuture) -> Self {
        Self { handler: Some(handler), ..self }
    }
}

impl EndpointParam {
    /// Optional.
    pub const fn query(name: &'static str, param_type: ParamType, summary: &'static str) -> Self {
        Self { name, aliases: &[], location: EndpointParamLocation::Query, required: false, param_type, summary }
    }

    pub const fn path(name: &'static str, kind: ParamType, summary: &'static str) -> Self {
        Self { location: EndpointParamLocation::Path, required: true, ..Self::query(name, kind, summary) }
    }

    pub const fn path_id(name: &'static str, summary: &'static str) -> Self {
        Self::path(name, ParamType::Id, summary)
    }

    #[must_use]
    pub const fn as_required(self) -> Self {
        Self { required: true, ..self }
    }

    #[must_use]
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }
}

impl BodyMember {
    /// Optional, with the same name in both vocabularies.
    pub const fn new(name: &'static str, shape: MemberShape) -> Self {
        Self::from_names(VocabularyWord::same_in_both(name), shape)
    }

    /// Optional.
    pub const fn from_names(name: VocabularyWord, shape: MemberShape) -> Self {
        Self { name, required: false, shape }
    }

    #[must_use]
    pub const fn as_required(self) -> Self {
        Self { required: true, ..self }
    }
}

/// Optional text members of any length, by name.
#[macro_export]
macro_rules! text_members {
    ($($name:ident)*) => {
        &[$($crate::endpoint::BodyMember::new(
            stringify!($name),
            $crate::endpoint::MemberShape::Text(0, $crate::endpoint::ANY_LENGTH),
        )),*]
    };
}
