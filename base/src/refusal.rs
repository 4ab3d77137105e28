//! Why a request was refused: what, which parameter, which value. Without a status: one file of
//! the HTTP floor speaks each reason in each of its dialects.

use std::borrow::Cow;

use crate::Fault;

/// A reason for saying no to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Parameters or body members that are wrong, in the contract's words (§3.3).
    Invalid(Vec<Wrong>),
    /// The thing named is not there.
    NotFound(Subject),
    /// The thing named is there, but not for this caller.
    NotVisible(Subject),
    /// The user named is suspended.
    Suspended(Subject),
    /// A field that this caller may not see.
    FieldNotVisible {
        /// The field, with its subfield: `non_public_metrics.impression_count`.
        field: Cow<'static, str>,
        /// Whose field.
        subject: Subject,
    },
    /// A rule of the platform forbids it.
    Forbidden {
        /// The sentence that is sent.
        detail: Cow<'static, str>,
        /// The legacy code, where the contract has one (§3.5).
        code: Option<u16>,
    },
    /// No credential, or one that proves nothing.
    Unauthenticated(Unproven),
    /// A valid credential of a kind that the operation does not take.
    WrongCredential {
        /// The kind that came.
        used: &'static str,
        /// The kinds that are taken, comma-separated.
        accepted: String,
    },
    /// The app's OAuth 1.0a access level is too low.
    AccessLevel,
    /// A scope is missing.
    ScopeMissing,
    /// The app lacks an entitlement.
    NotEnrolled {
        /// The entitlement.
        required: &'static str,
    },
    /// The rate limit is used up.
    TooMany,
    /// App-only credentials were not verified, or asked for too often (code 99).
    BearerRefused,
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
    Worded {
        /// What kind of no it is.
        no: No,
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
    RuleCap {
        /// How many it may have.
        most: usize,
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
    Connection(Connecting),
    /// No operation has this path.
    NoSuchPath,
    /// The path exists, but not with this method.
    MethodNotAllowed {
        /// The methods it has, comma-separated.
        allowed: String,
    },
    /// The operation is declared and not built yet.
    NotBuilt {
        /// Its method and path.
        operation: String,
    },
    /// The body is larger than the operation takes.
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The body did not arrive in time.
    TooSlow,
    /// The body's content type is not one that the operation reads.
    UnsupportedMedia {
        /// What it reads.
        expected: &'static str,
    },
    /// The platform is over capacity or shutting down; the caller may try again.
    Unavailable,
    /// Reasons that the advertising interface names by codes.
    Ads(Box<Declined>),
}

/// What is wrong with a request of the advertising interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declined {
    /// What is wrong with the request as a whole, or with its parameters.
    pub problems: Vec<Problem>,
    /// What is wrong with each item of a batch, in the batch's order.
    pub items: Vec<Vec<Problem>>,
    /// What was understood of the request (JSON), or empty.
    pub request: String,
}

impl Declined {
    /// The first sentence; empty where only items of a batch are wrong.
    pub fn first(&self) -> &str {
        let first = self.problems.first();
        first.map_or("", |problem| problem.message.as_str())
    }
}

/// One thing that is wrong, by the code that clients know it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The code, which fixes the status.
    pub code: &'static str,
    /// The whole sentence.
    pub message: String,
    /// What is at fault.
    pub at: At,
    /// The value at fault, if it helps.
    pub value: Option<String>,
}

/// What a problem is at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// The request itself.
    Request,
    /// A parameter of the request: how it is written, or that it is not there.
    Parameter(Cow<'static, str>),
    /// An attribute of the entity: a value that is sound by itself.
    Attribute(Cow<'static, str>),
}

impl Problem {
    /// A problem of the request itself.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            at: At::Request,
            value: None,
        }
    }

    /// A parameter that cannot be read, or is out of bounds.
    pub fn parameter(
        name: impl Into<Cow<'static, str>>,
        value: impl ToString,
        message: impl Into<String>,
    ) -> Self {
        Self {
            at: At::Parameter(name.into()),
            value: Some(value.to_string()),
            ..Self::new("INVALID_PARAMETER", message)
        }
    }

    /// A parameter that must be there and is not.
    pub fn missing(name: impl Into<Cow<'static, str>>) -> Self {
        let name = name.into();
        Self {
            message: format!("{name} is a required parameter"),
            at: At::Parameter(name),
            ..Self::new("MISSING_PARAMETER", "")
        }
    }

    /// A value that is sound by itself but may not stand in this entity.
    pub fn attribute(name: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            at: At::Attribute(name.into()),
            ..Self::new("INVALID", message)
        }
    }

    /// The same under another code.
    #[must_use]
    pub fn code(self, code: &'static str) -> Self {
        Self { code, ..self }
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::from(vec![problem])
    }
}

impl From<Vec<Problem>> for Refusal {
    fn from(problems: Vec<Problem>) -> Self {
        Self::Ads(Box::new(Declined {
            problems,
            ..Declined::default()
        }))
    }
}

/// Kinds of no that say no more than their sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum No {
    /// What was asked is wrong.
    Wrong,
    /// It may not be.
    Forbidden,
    /// What was named is not there.
    Missing,
    /// Something is in the way.
    Conflict,
}

/// One wrong parameter or body member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Its name, as the caller wrote it.
    pub parameter: Cow<'static, str>,
    /// The values that are wrong; empty when the fault is that it is missing.
    pub values: Vec<String>,
    /// The whole sentence.
    pub message: String,
}

/// Why an app is not connected to a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connecting {
    /// It has as many connections as it may.
    TooMany,
    /// It has no rules by which posts could be chosen.
    NoRules,
}

/// What a refusal is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
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
pub enum Unproven {
    /// No `Authorization` at all.
    Missing,
    /// Garbled credentials on a legacy path (code 215).
    Garbled,
    /// A signature, key or nonce that does not hold (code 32).
    Signature,
    /// The token is unknown, expired or revoked (code 89).
    Token,
    /// The signature's timestamp is too far off (code 135).
    Timestamp,
    /// The application is suspended or gone (code 416).
    App,
}

impl Subject {
    /// The thing that a parameter of the request named.
    pub fn new(
        resource: &'static str,
        parameter: impl Into<Cow<'static, str>>,
        value: impl ToString,
    ) -> Self {
        Self {
            resource,
            parameter: parameter.into(),
            value: value.to_string(),
            included: false,
        }
    }

    /// The thing that an expansion led to.
    pub fn included(
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
    pub fn invalid(
        parameter: impl Into<Cow<'static, str>>,
        value: impl ToString,
        message: impl Into<String>,
    ) -> Self {
        let wrong = Wrong {
            parameter: parameter.into(),
            values: vec![value.to_string()],
            message: message.into(),
        };
        Self::Invalid(vec![wrong])
    }

    /// A value that cannot be what the parameter wants.
    pub fn not_valid(parameter: impl Into<Cow<'static, str>>, value: impl ToString) -> Self {
        let (parameter, value) = (parameter.into(), value.to_string());
        let message = format!("The `{parameter}` query parameter value [{value}] is not valid");
        Self::invalid(parameter, value, message)
    }

    /// A required parameter that is missing or empty.
    pub fn missing(parameter: impl Into<Cow<'static, str>>) -> Self {
        let parameter = parameter.into();
        let message = format!("The `{parameter}` query parameter can not be empty");
        Self::Invalid(vec![Wrong {
            parameter,
            values: Vec::new(),
            message,
        }])
    }

    /// A reason that callers know by a word: `worded(No::Missing, "webhook_id", id,
    /// "WebhookIdInvalid: …")`.
    pub fn worded(
        no: No,
        parameter: &'static str,
        value: impl ToString,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::Worded {
            no,
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
    pub fn forbidden_as(code: u16, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::Forbidden {
            detail: detail.into(),
            code: Some(code),
        }
    }
}

/// Why a piece of work stopped: the caller's doing, or ours.
#[derive(Debug)]
pub enum Stop {
    /// The request was refused.
    Refused(Refusal),
    /// Something of ours failed.
    Failed(Fault),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Refused(problem.into())
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault)
    }
}
