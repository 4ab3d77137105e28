//! Reasons for refusing a request, without a status: the web crate renders each in the error format
//! of the API that was called.

use std::borrow::Cow;
use std::fmt;

use crate::Fault;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Wrong parameters or body members (contract core §3.3).
    InvalidParameters(Vec<InvalidParameter>),
    NotFound(ResourceRef),
    NotVisible(ResourceRef),
    Suspended(ResourceRef),
    FieldNotVisible {
        /// With its subfield: `non_public_metrics.impression_count`.
        field: Cow<'static, str>,
        subject: ResourceRef,
    },
    Forbidden {
        detail: Cow<'static, str>,
        /// The legacy code, where there is one (contract core §3.5).
        code: Option<u16>,
    },
    Unauthenticated(AuthenticationProblem),
    WrongCredential {
        used: &'static str,
        accepted: String,
    },
    InsufficientAccessLevel,
    ScopeMissing,
    NotEnrolled {
        required: &'static str,
    },
    RateLimited,
    /// App-only credentials were not verified, or requested too often (code 99).
    AppOnlyTokenRefused,
    Legacy {
        /// The legacy code, which determines the status (contract core §3.5).
        code: u16,
        message: Cow<'static, str>,
    },
    /// A reason of RFC 6749 §5.2.
    OAuth2 {
        error: &'static str,
        description: Cow<'static, str>,
    },
    /// A reason that clients recognize by the first word of its message.
    NamedReason {
        kind: RefusalKind,
        /// The parameter at fault, as the caller named it; empty if there is none.
        parameter: &'static str,
        value: String,
        /// The whole sentence: `WebhookIdInvalid: …`.
        message: Cow<'static, str>,
        /// The legacy code, where there is one (contract core §3.5).
        code: Option<u16>,
    },
    RuleLimitReached {
        limit: usize,
    },
    InvalidRule {
        value: String,
        details: Vec<String>,
        too_long: bool,
    },
    DuplicateRule {
        value: String,
        id: i64,
    },
    Connection(StreamConnectionRefusal),
    RouteNotFound,
    MethodNotAllowed {
        allowed: String,
    },
    NotImplemented {
        operation: String,
    },
    BodyTooLarge {
        /// In bytes.
        limit: usize,
    },
    BodyTimeout,
    UnsupportedMediaType {
        expected: &'static str,
    },
    /// The platform is over capacity or shutting down; the caller may retry.
    Unavailable,
    Ads(Box<AdsRefusal>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdsRefusal {
    pub problems: Vec<AdsProblem>,
    /// Problems of each item of a batch, in the batch's order.
    pub items: Vec<Vec<AdsProblem>>,
    /// The parameters as they were understood (JSON), or empty.
    pub request: String,
    /// Headers of the answer.
    pub headers: Vec<(&'static str, String)>,
}

impl AdsRefusal {
    /// Empty when only items of a batch are wrong.
    pub fn first_message(&self) -> &str {
        let first = self.problems.first();
        first.map_or("", |problem| problem.message.as_str())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdsProblem {
    pub code: &'static str,
    pub message: String,
    pub location: ProblemLocation,
    pub value: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemLocation {
    Request,
    Parameter(Cow<'static, str>),
    Attribute(Cow<'static, str>),
}

impl AdsProblem {
    pub fn is_at_parameter(&self, name: &str) -> bool {
        matches!(&self.location, ProblemLocation::Parameter(at) if at == name)
    }

    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), location: ProblemLocation::Request, value: None }
    }

    pub fn at_parameter(name: impl Into<Cow<'static, str>>, code: &'static str, message: impl Into<String>) -> Self {
        Self { location: ProblemLocation::Parameter(name.into()), ..Self::new(code, message) }
    }

    pub fn invalid_parameter(
        name: impl Into<Cow<'static, str>>,
        value: impl ToString,
        message: impl Into<String>,
    ) -> Self {
        Self { value: Some(value.to_string()), ..Self::at_parameter(name, "INVALID_PARAMETER", message) }
    }

    pub fn missing_parameter(name: impl Into<Cow<'static, str>>) -> Self {
        let name = name.into();
        let message = format!("{name} is a required parameter");
        Self::at_parameter(name, "MISSING_PARAMETER", message)
    }

    pub fn invalid_attribute(name: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { location: ProblemLocation::Attribute(name.into()), ..Self::new("INVALID", message) }
    }

    #[must_use]
    pub fn with_code(self, code: &'static str) -> Self {
        Self { code, ..self }
    }
}

impl From<AdsProblem> for Refusal {
    fn from(problem: AdsProblem) -> Self {
        Self::from(vec![problem])
    }
}

impl From<Vec<AdsProblem>> for Refusal {
    fn from(problems: Vec<AdsProblem>) -> Self {
        Self::Ads(Box::new(AdsRefusal { problems, ..AdsRefusal::default() }))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    Invalid,
    Forbidden,
    NotFound,
    Conflict,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidParameter {
    pub parameter: Cow<'static, str>,
    /// The invalid values; empty when the parameter is missing.
    pub values: Vec<String>,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamConnectionRefusal {
    TooManyConnections,
    NoRules,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceRef {
    /// `tweet`, `user`, `list`, `space`, `media`, `poll`, `place`.
    pub resource: &'static str,
    pub parameter: Cow<'static, str>,
    pub value: String,
    pub included: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthenticationProblem {
    Missing,
    /// Malformed credentials on a legacy path (code 215).
    Malformed,
    /// An invalid signature, key or nonce (code 32).
    Signature,
    /// An unknown, expired or revoked token (code 89).
    Token,
    /// A timestamp too far from the server's time (code 135).
    Timestamp,
    /// The app is suspended or deleted (code 416).
    App,
}

impl ResourceRef {
    pub fn new(resource: &'static str, parameter: impl Into<Cow<'static, str>>, value: impl ToString) -> Self {
        Self { resource, parameter: parameter.into(), value: value.to_string(), included: false }
    }

    pub fn from_expansion(
        resource: &'static str,
        expansion: impl Into<Cow<'static, str>>,
        value: impl ToString,
    ) -> Self {
        Self { included: true, ..Self::new(resource, expansion, value) }
    }
}

impl Refusal {
    pub fn invalid_parameter(
        parameter: impl Into<Cow<'static, str>>,
        value: impl ToString,
        message: impl Into<String>,
    ) -> Self {
        let wrong =
            InvalidParameter { parameter: parameter.into(), values: vec![value.to_string()], message: message.into() };
        Self::InvalidParameters(vec![wrong])
    }

    pub fn invalid_value(parameter: impl Into<Cow<'static, str>>, value: impl ToString) -> Self {
        let (parameter, value) = (parameter.into(), value.to_string());
        let message = format!("The `{parameter}` query parameter value [{value}] is not valid");
        Self::invalid_parameter(parameter, value, message)
    }

    pub fn missing_parameter(parameter: impl Into<Cow<'static, str>>) -> Self {
        let parameter = parameter.into();
        let message = format!("The `{parameter}` query parameter can not be empty");
        Self::InvalidParameters(vec![InvalidParameter { parameter, values: Vec::new(), message }])
    }

    /// Does not repeat the value, for secrets and personal data.
    pub fn invalid_field(parameter: &'static str, message: impl Into<String>) -> Self {
        let (parameter, message) = (parameter.into(), message.into());
        Self::InvalidParameters(vec![InvalidParameter { parameter, values: Vec::new(), message }])
    }

    /// For example `named_reason(RefusalKind::NotFound, "webhook_id", id, "WebhookIdInvalid: …")`.
    pub fn named_reason(
        kind: RefusalKind,
        parameter: &'static str,
        value: impl ToString,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::NamedReason { kind, parameter, value: value.to_string(), message: message.into(), code: None }
    }

    /// The first parameter at fault; empty for a refusal for another reason.
    pub fn first_parameter(&self) -> &str {
        match self {
            Self::InvalidParameters(wrong) => wrong.first().map_or("", |wrong| wrong.parameter.as_ref()),
            Self::NamedReason { parameter, .. } => parameter,
            _ => "",
        }
    }

    pub fn forbidden(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::Forbidden { detail: detail.into(), code: None }
    }

    pub fn forbidden_with_code(code: u16, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::Forbidden { detail: detail.into(), code: Some(code) }
    }
}

/// For operators: the interface that was called has its own words.
/// For people: API errors have the words of the API.
pub fn describe_missing(resource: &str, named: &str) -> String {
    let resource = if resource == "tweet" { "post".to_owned() } else { resource.replace('_', " ") };
    let is_id = !named.is_empty() && named.bytes().all(|byte| byte.is_ascii_digit());
    if is_id { format!("no {resource} with the ID {named}") } else { format!("no {resource} matches \"{named}\"") }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |messages: Vec<&str>| messages.join("\n");
        match self {
            Self::InvalidParameters(wrong) => {
                f.write_str(&join(wrong.iter().map(|wrong| wrong.message.as_str()).collect()))
            }
            Self::Ads(declined) => {
                f.write_str(&join(declined.problems.iter().map(|problem| problem.message.as_str()).collect()))
            }
            Self::NotFound(subject) | Self::NotVisible(subject) => {
                f.write_str(&describe_missing(subject.resource, &subject.value))
            }
            Self::Suspended(subject) => write!(f, "user [{}] is suspended", subject.value),
            Self::Forbidden { detail: message, .. }
            | Self::Legacy { message, .. }
            | Self::NamedReason { message, .. }
            | Self::OAuth2 { description: message, .. } => f.write_str(message),
            Self::Unauthenticated(AuthenticationProblem::Token) => f.write_str("the token is unknown or expired"),
            Self::RateLimited => f.write_str("too many requests: try again later"),
            Self::Unavailable => f.write_str("it is not ready yet: try again later"),
            other => write!(f, "refused: {other:?}"),
        }
    }
}

#[derive(Debug)]
pub enum Error {
    Refused(Refusal),
    Failed(Fault),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Failed(fault) => fault.fmt(f),
        }
    }
}

impl From<AdsProblem> for Error {
    fn from(problem: AdsProblem) -> Self {
        Self::Refused(problem.into())
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault)
    }
}

/// Separates a refusal, which a page shows, from a failure of the server.
pub trait SplitRefusal<T> {
    fn split_refusal(self) -> Result<Result<T, Refusal>, Fault>;
}

impl<T> SplitRefusal<T> for Result<T, Error> {
    fn split_refusal(self) -> Result<Result<T, Refusal>, Fault> {
        match self {
            Ok(done) => Ok(Ok(done)),
            Err(Error::Refused(refusal)) => Ok(Err(refusal)),
            Err(Error::Failed(fault)) => Err(fault),
        }
    }
}
