//! An operation's facts, declared once next to its function: router, checks, limits, headers,
//! OpenAPI and the coverage table all derive from them.

use std::pin::Pin;

use base::{Entitlement, Error, Permit, Scopes};

use crate::request_context::{HttpReply, RequestContext};

/// What a handler returns: an answer, in time.
pub type HandlerFuture = Pin<Box<dyn Future<Output = Result<HttpReply, Error>> + Send>>;

/// One operation of the interface.
#[derive(Clone, Copy)]
pub struct Endpoint {
    /// The public contract's operation id, or one of ours where it has none.
    pub id: &'static str,
    /// The HTTP method.
    pub method: &'static str,
    /// The path. `{name}` is a parameter; `<posts>`, `<reposts>`, `<reposted_by>`,
    /// `<liked_posts>`, `<quote_posts>` are words that both vocabularies spell their own way.
    pub path: &'static str,
    /// Further spellings of the path that do the same.
    pub aliases: &'static [&'static str],
    /// One sentence for the reader of the OpenAPI document.
    pub summary: &'static str,
    /// Which credentials are accepted.
    pub permit: Permit,
    /// What the app must be entitled to.
    pub required_entitlement: Option<Entitlement>,
    /// How often it may be called.
    pub limits: EndpointLimits,
    /// Path and query parameters.
    pub params: &'static [&'static [EndpointParam]],
    /// The body that it reads.
    pub body: BodySpec,
    /// The status of its success.
    pub success_status: u16,
    /// The dialect of its refusals.
    pub error_format: ErrorFormat,
    /// Its function, or none while it is not built.
    pub handler: Option<fn(RequestContext) -> HandlerFuture>,
    /// The declaration of advertising that it is mounted from: it reads its own parameters.
    pub ads: Option<&'static ads::AdsOperation>,
}

/// Windows of the rate limit, per app (app-only) and per user (user context).
#[derive(Clone, Copy, Debug)]
pub struct EndpointLimits {
    /// Windows counted per app.
    pub app: &'static [RateWindow],
    /// Windows counted per app and user.
    pub user: &'static [RateWindow],
    /// A window per app and user that other operations draw from too.
    pub shared: Option<&'static SharedWindow>,
}

/// A window that several operations draw from together.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct SharedWindow {
    /// What is counted in it, for people.
    pub name: &'static str,
    /// How much of it.
    pub window: RateWindow,
}

/// So many calls in so many seconds; a fixed window that starts with its first call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RateWindow {
    /// Calls.
    pub calls: u32,
    /// Seconds.
    pub seconds: u32,
}

/// `calls` in 15 minutes.
pub const fn per_quarter_hour(calls: u32) -> RateWindow {
    RateWindow { calls, seconds: 900 }
}

/// `calls` in 24 hours.
pub const fn per_day(calls: u32) -> RateWindow {
    RateWindow { calls, seconds: 86_400 }
}

/// A parameter of the path or the query.
#[derive(Clone, Copy, Debug)]
pub struct EndpointParam {
    /// Its name.
    pub name: &'static str,
    /// Other names that mean the same.
    pub aliases: &'static [&'static str],
    /// Where it stands.
    pub location: EndpointParamLocation,
    /// Whether it must be there.
    pub required: bool,
    /// What it may hold.
    pub param_type: ParamType,
    /// One sentence.
    pub summary: &'static str,
}

/// Where a parameter stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointParamLocation {
    /// In the path.
    Path,
    /// In the query.
    Query,
}

/// What a parameter may hold.
#[derive(Clone, Copy, Debug)]
pub enum ParamType {
    /// An id, `^[0-9]{1,19}$`.
    Id,
    /// Comma-separated ids, so many at least and at most.
    Ids(usize, usize),
    /// `^[A-Za-z0-9_]{1,15}$`.
    Username,
    /// Comma-separated usernames, so many at least and at most.
    Usernames(usize, usize),
    /// A whole number between two bounds, both allowed, and what holds when it is absent.
    Int(i64, i64, i64),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Comma-separated, each one of these words.
    SomeOf(&'static [&'static str]),
    /// Comma-separated field names of an object.
    Fields(view::ObjectKind),
    /// Comma-separated expansions of an object.
    Expansions(view::ObjectKind),
    /// RFC 3339, UTC.
    Time,
    /// A page token that an earlier answer gave.
    PageToken,
    /// `true` or `false`.
    Bool,
    /// Text of so many code points at least and at most.
    Text(usize, usize),
    /// Text of a pattern.
    Pattern(&'static TextPattern),
    /// Comma-separated, each of a pattern, so many at least and at most.
    Patterns(&'static TextPattern, usize, usize),
}

/// A pattern that text may follow.
#[derive(Clone, Copy, Debug)]
pub struct TextPattern {
    /// The regular expression, as refusals and the OpenAPI document show it.
    pub regex: &'static str,
    /// Whether a value follows it.
    pub matches: fn(&str) -> bool,
}

/// What an operation reads from the body.
#[derive(Clone, Copy, Debug)]
pub enum BodySpec {
    /// Nothing; a body that comes is ignored.
    None,
    /// A closed JSON object.
    Json(&'static [BodyMember]),
    /// A form, `application/x-www-form-urlencoded`.
    Form(&'static [BodyMember]),
    /// A closed JSON object, or the same members as multipart parts; the operation reads it.
    Multipart(&'static [BodyMember]),
    /// JSON, a form, or nothing: the operation reads it by itself.
    Raw,
}

/// A member of a body.
#[derive(Clone, Copy, Debug)]
pub struct BodyMember {
    /// Its name; the vocabularies may differ.
    pub name: base::VocabularyWord,
    /// Whether it must be there.
    pub required: bool,
    /// What it may hold.
    pub shape: MemberShape,
}

/// What a member of a JSON body may hold.
#[derive(Clone, Copy, Debug)]
pub enum MemberShape {
    /// A decimal id as a string (a number is refused).
    Id,
    /// A string of so many code points at least and at most.
    Text(usize, usize),
    /// `true` or `false`.
    Bool,
    /// A whole number between two bounds.
    Int(i64, i64),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A closed object.
    Object(&'static [BodyMember]),
    /// An array of so many items at least and at most.
    Array(&'static MemberShape, usize, usize),
    /// Anything; the operation looks itself.
    Any,
}

/// The dialect of an operation's refusals.
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
    /// A page for a person.
    Page,
}

impl Endpoint {
    /// What most operations have; a start for the others.
    pub const DEFAULT: Self = Self {
        id: "",
        method: "GET",
        path: "",
        aliases: &[],
        summary: "",
        permit: Permit::NOBODY,
        required_entitlement: None,
        // Contract §4: operations without published figures.
        limits: EndpointLimits {
            app: &[per_quarter_hour(300)],
            user: &[per_quarter_hour(75)],
            shared: None,
        },
        params: &[],
        body: BodySpec::None,
        success_status: 200,
        error_format: ErrorFormat::V2,
        handler: None,
        ads: None,
    };

    /// An operation of the v2 interface.
    pub const fn new(id: &'static str, method: &'static str, path: &'static str) -> Self {
        Self {
            id,
            method,
            path,
            ..Self::DEFAULT
        }
    }

    /// Whether it takes a parameter.
    pub fn has_param(&self, name: &str) -> bool {
        let mut params = self.params.iter().copied().flatten();
        params.any(|param| param.name == name)
    }

    /// Accepts the credentials that the contract's letters name, with these scopes.
    #[must_use]
    pub const fn permit(self, letters: &str, scopes: Scopes) -> Self {
        Self {
            permit: Permit::from_letters(letters, scopes),
            ..self
        }
    }

    /// Is for apps with this entitlement only.
    #[must_use]
    pub const fn require_entitlement(self, entitlement: Entitlement) -> Self {
        Self {
            required_entitlement: Some(entitlement),
            ..self
        }
    }

    /// Counts calls per app and per user in these windows.
    #[must_use]
    pub const fn limits(self, app: &'static [RateWindow], user: &'static [RateWindow]) -> Self {
        let limits = EndpointLimits {
            app,
            user,
            shared: self.limits.shared,
        };
        Self { limits, ..self }
    }

    /// Counts the calls of users in this window as well, together with other operations.
    #[must_use]
    pub const fn share_limit(self, shared: &'static SharedWindow) -> Self {
        let limits = EndpointLimits {
            shared: Some(shared),
            ..self.limits
        };
        Self { limits, ..self }
    }

    /// Takes these parameters.
    #[must_use]
    pub const fn params(self, params: &'static [&'static [EndpointParam]]) -> Self {
        Self { params, ..self }
    }

    /// Reads this body.
    #[must_use]
    pub const fn body(self, body: BodySpec) -> Self {
        Self { body, ..self }
    }

    /// Is what this sentence says.
    #[must_use]
    pub const fn summary(self, about: &'static str) -> Self {
        Self { summary: about, ..self }
    }

    /// Succeeds with another status than 200.
    #[must_use]
    pub const fn success_status(self, success: u16) -> Self {
        Self {
            success_status: success,
            ..self
        }
    }

    /// Speaks its refusals in another dialect than v2's.
    #[must_use]
    pub const fn error_format(self, accent: ErrorFormat) -> Self {
        Self {
            error_format: accent,
            ..self
        }
    }

    /// Answers under these paths too.
    #[must_use]
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// Is built, and done by this function.
    #[must_use]
    pub const fn handler(self, act: fn(RequestContext) -> HandlerFuture) -> Self {
        Self {
            handler: Some(act),
            ..self
        }
    }
}
