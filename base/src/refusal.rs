//! Why a request was refused: what, which parameter, which value. Without a status: one file of
//! the HTTP floor speaks each reason in each of its dialects.

use std::borrow::Cow;

use crate::Fault;

/// A reason for saying no to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Parameters or body members that are wrong, in the contract's words (§3.3).
    InvalidParameters(Vec<InvalidParameter>),
    /// The thing named is not there.
    NotFound(ResourceRef),
    /// The thing named is there, but not for this caller.
    NotVisible(ResourceRef),
    /// The user named is suspended.
    Suspended(ResourceRef),
    /// A field that this caller may not see.
    FieldNotVisible {
        /// The field, with its subfield: `non_public_metrics.impression_count`.
        field: Cow<'static, str>,
        /// Whose field.
        subject: ResourceRef,
    },
    /// A rule of the platform forbids it.
    Forbidden {
        /// The sentence that is sent.
        detail: Cow<'static, str>,
        /// The legacy code, where the contract has one (§3.5).
        code: Option<u16>,
    },
    /// No credential, or one that proves nothing.
    Unauthenticated(AuthenticationProblem),
    /// A valid credential of a kind that the operation does not take.
    WrongCredential {
        /// The kind that came.
        used: &'static str,
        /// The kinds that are taken, comma-separated.
        accepted: String,
    },
    /// The app's OAuth 1.0a access level is too low.
    InsufficientAccessLevel,
    /// A scope is missing.
    ScopeMissing,
    /// The app lacks an entitlement.
    NotEnrolled {
        /// The entitlement.
        required: &'static str,
    },
    /// The rate limit is used up.
    RateLimited,
    /// App-only credentials were not verified, or asked for too often (code 99).
    AppOnlyTokenRefused,
    /// A reason that only the legacy interface has.
    Legacy {
        /// The code of §3.5, which fixes the status.
        code: u16,
        /// The sentence that is sent.
        message: Cow<'static, str>,
    },
    /// A reason of RFC 6749 §5.2.
    OAuth2 {
        /// The error code: `invalid_request`, `unauthorized_client`, ….
        error: &'static str,
        /// The description that is sent.
        description: Cow<'static, str>,
    },
    /// A reason that callers know by the word that its sentence begins with.
    NamedReason {
        /// What kind of no it is.
        kind: RefusalKind,
        /// What was wrong, as the caller named it; empty where nothing was.
        parameter: &'static str,
        /// Its value.
        value: String,
        /// The whole sentence: `WebhookIdInvalid: …`.
        message: Cow<'static, str>,
        /// The legacy code, where the contract has one (§3.5).
        code: Option<u16>,
    },
    /// A rule of a stream, or several, that an app may not add to those that it has.
    RuleLimitReached {
        /// How many it may have.
        limit: usize,
    },
    /// A rule of a stream that cannot be read.
    InvalidRule {
        /// The rule, as it was written.
        value: String,
        /// What is wrong with it, and where.
        details: Vec<String>,
        /// Whether it is merely too long.
        too_long: bool,
    },
    /// A rule of a stream that the app has already.
    DuplicateRule {
        /// The rule, as it was written.
        value: String,
        /// The id of the one that is there.
        id: i64,
    },
    /// A stream that the app cannot be connected to now.
    Connection(StreamConnectionRefusal),
    /// No operation has this path.
    RouteNotFound,
    /// The path exists, but not with this method.
    MethodNotAllowed {
        /// The methods it has, comma-separated.
        allowed: String,
    },
    /// The operation is declared and not built yet.
    NotImplemented {
        /// Its method and path.
        operation: String,
    },
    /// The body is larger than the operation takes.
    BodyTooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The body did not arrive in time.
    BodyTimeout,
    /// The body's content type is not one that the operation reads.
    UnsupportedMediaType {
        /// What it reads.
        expected: &'static str,
    },
    /// The platform is over capacity or shutting down; the caller may try again.
    Unavailable,
    /// Reasons that the advertising interface names by codes.
    Ads(Box<AdsRefusal>),
}

/// What is wrong with a request of the advertising interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdsRefusal {
    /// What is wrong with the request as a whole, or with its parameters.
    pub problems: Vec<AdsProblem>,
    /// What is wrong with each item of a batch, in the batch's order.
    pub items: Vec<Vec<AdsProblem>>,
    /// What was understood of the request (JSON), or empty.
    pub request: String,
}

impl AdsRefusal {
    /// The first sentence; empty where only items of a batch are wrong.
    pub fn first_message(&self) -> &str {
        let first = self.problems.first();
        first.map_or("", |problem| problem.message.as_str())
    }
}

/// One thing that is wrong, by the code that clients know it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdsProblem {
    /// The code, which fixes the status.
    pub code: &'static str,
    /// The whole sentence.
    pub message: String,
    /// What is at fault.
    pub location: ProblemLocation,
    /// The value at fault, if it helps.
    pub value: Option<String>,
}

/// What a problem is at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemLocation {
    /// The request itself.
    Request,
    /// A parameter of the request: how it is written, or that it is not there.
    Parameter(Cow<'static, str>),
    /// An attribute of the entity: a value that is sound by itself.
    Attribute(Cow<'static, str>),
}

impl AdsProblem {
    /// A problem of the request itself.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            location: ProblemLocation::Request,
            value: None,
        }
    }

    /// A parameter that cannot be read, or is out of bounds.
    pub fn invalid_parameter(
        name: impl Into<Cow<'static, str>>,
        value: impl ToString,
        message: impl Into<String>,
    ) -> Self {
        Self {
            location: ProblemLocation::Parameter(name.into()),
            value: Some(value.to_string()),
            ..Self::new("INVALID_PARAMETER", message)
        }
    }

    /// A parameter that must be there and is not.
    pub fn missing_parameter(name: impl Into<Cow<'static, str>>) -> Self {
        let name = name.into();
        Self {
            message: format!("{name} is a required parameter"),
            location: ProblemLocation::Parameter(name),
            ..Self::new("MISSING_PARAMETER", "")
        }
    }

    /// A value that is sound by itself but may not stand in this entity.
    pub fn invalid_attribute(name: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            location: ProblemLocation::Attribute(name.into()),
            ..Self::new("INVALID", message)
        }
    }

    /// The same under another code.
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
        Self::Ads(Box::new(AdsRefusal {
            problems,
            ..AdsRefusal::default()
        }))
    }
}

/// Kinds of no that say no more than their sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// What was asked is wrong.
    Invalid,
    /// It may not be.
    Forbidden,
    /// What was named is not there.
    NotFound,
    /// Something is in the way.
    Conflict,
}

/// One wrong parameter or body member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidParameter {
    /// Its name, as the caller wrote it.
    pub parameter: Cow<'static, str>,
    /// The values that are wrong; empty when the fault is that it is missing.
    pub values: Vec<String>,
    /// The whole sentence.
    pub message: String,
}

/// Why an app is not connected to a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamConnectionRefusal {
    /// It has as many connections as it may.
    TooManyConnections,
    /// It has no rules by which posts could be chosen.
    NoRules,
}

/// What a refusal is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceRef {
    /// `tweet`, `user`, `list`, `space`, `media`, `poll`, `place`.
    pub resource: &'static str,
    /// The parameter or expansion that named it.
    pub parameter: Cow<'static, str>,
    /// The value that named it.
    pub value: String,
    /// Whether it was an expansion's target rather than the thing asked for.
    pub included: bool,
}

/// Why a credential proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthenticationProblem {
    /// No `Authorization` at all.
    Missing,
    /// Garbled credentials on a legacy path (code 215).
    Malformed,
    /// A signature, key or nonce that does not hold (code 32).
    Signature,
    /// The token is unknown, expired or revoked (code 89).
    Token,
    /// The signature's timestamp is too far off (code 135).
    Timestamp,
    /// The application is suspended or gone (code 416).
    App,
}

impl ResourceRef {
    /// The thing that a parameter of the request named.
    pub fn new(resource: &'static str, parameter: impl Into<Cow<'static, str>>, value: impl ToString) -> Self {
        Self {
            resource,
            parameter: parameter.into(),
            value: value.to_string(),
            included: false,
        }
    }

    /// The thing that an expansion led to.
    pub fn from_expansion(
        resource: &'static str,
        expansion: impl Into<Cow<'static, str>>,
        value: impl ToString,
    ) -> Self {
        Self {
            included: true,
            ..Self::new(resource, expansion, value)
        }
    }
}

impl Refusal {
    /// One wrong parameter with its whole sentence.
    pub fn invalid_parameter(
        parameter: impl Into<Cow<'static, str>>,
        value: impl ToString,
        message: impl Into<String>,
    ) -> Self {
        let wrong = InvalidParameter {
            parameter: parameter.into(),
            values: vec![value.to_string()],
            message: message.into(),
        };
        Self::InvalidParameters(vec![wrong])
    }

    /// A value that cannot be what the parameter wants.
    pub fn invalid_value(parameter: impl Into<Cow<'static, str>>, value: impl ToString) -> Self {
        let (parameter, value) = (parameter.into(), value.to_string());
        let message = format!("The `{parameter}` query parameter value [{value}] is not valid");
        Self::invalid_parameter(parameter, value, message)
    }

    /// A required parameter that is missing or empty.
    pub fn missing_parameter(parameter: impl Into<Cow<'static, str>>) -> Self {
        let parameter = parameter.into();
        let message = format!("The `{parameter}` query parameter can not be empty");
        Self::InvalidParameters(vec![InvalidParameter {
            parameter,
            values: Vec::new(),
            message,
        }])
    }

    /// A reason that callers know by a word: `worded(No::Missing, "webhook_id", id,
    /// "WebhookIdInvalid: …")`.
    pub fn named_reason(
        kind: RefusalKind,
        parameter: &'static str,
        value: impl ToString,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::NamedReason {
            kind,
            parameter,
            value: value.to_string(),
            message: message.into(),
            code: None,
        }
    }

    /// A rule of the platform forbids it.
    pub fn forbidden(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::Forbidden {
            detail: detail.into(),
            code: None,
        }
    }

    /// A rule of the platform forbids it, and the legacy interface has a code for that.
    pub fn forbidden_with_code(code: u16, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::Forbidden {
            detail: detail.into(),
            code: Some(code),
        }
    }
}

/// Why a piece of work stopped: the caller's doing, or ours.
#[derive(Debug)]
pub enum Error {
    /// The request was refused.
    Refused(Refusal),
    /// Something of ours failed.
    Failed(Fault),
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
