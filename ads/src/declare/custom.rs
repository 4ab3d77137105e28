//! Operations that are written by hand, and lists that are the same for everyone.

use base::Error;
use serde_json::Value;

use super::{Field, Gate, Often, Sends};
use crate::access::Who;
use crate::answer::Answer;
use crate::desk::Desk;
use crate::given::Given;

/// An operation that is written by hand.
#[derive(Debug)]
pub struct Custom {
    /// Its name in the OpenAPI document.
    pub id: &'static str,
    /// The HTTP method.
    pub method: &'static str,
    /// The path below the account, or from the version on where it begins with a slash.
    pub path: &'static str,
    /// Other paths that lead to it.
    pub aliases: &'static [&'static str],
    /// One sentence.
    pub about: &'static str,
    /// The version in its path: 12, or 5.
    pub version: &'static str,
    /// Who may do it.
    pub who: Who,
    /// Whether it exists in the sandbox only.
    pub sandbox: bool,
    /// How its parameters are sent.
    pub sends: Sends,
    /// Its parameters, those of its path beyond the account included.
    pub params: &'static [Field],
    /// Whether it changes anything.
    pub writes: bool,
    /// How often it may be called.
    pub often: Often,
    /// Whether it looks into the index of posts.
    pub searches: bool,
    /// The largest body it takes; 0: as large as usual.
    pub body: usize,
    /// The feature that an account needs for it.
    pub gate: Option<Gate>,
    /// Does it.
    pub act: fn(&mut Desk<'_, '_>, &Given) -> Result<Answer, Error>,
}

/// A list that is the same for everyone, from data that is built in.
#[derive(Debug)]
pub struct Reference {
    /// Its name in the OpenAPI document.
    pub id: &'static str,
    /// The path from the version on.
    pub path: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// By what it may be filtered: the parameter and the member that must be equal.
    pub filters: &'static [(Field, &'static str)],
    /// The data: a JSON array.
    pub rows: fn() -> Vec<Value>,
    /// Whether it comes in pages.
    pub pages: Option<(i64, i64)>,
    /// Whether the parameter `q` finds names, and how.
    pub finds: bool,
    /// Whether `total_count` is always there.
    pub counts: bool,
    /// The older `data_type` member, or empty.
    pub data_type: &'static str,
    /// How often it may be called.
    pub often: Often,
}

impl Reference {
    /// What most of them are.
    pub const DEFAULT: Self = Self {
        id: "",
        path: "",
        about: "",
        filters: &[],
        rows: Vec::new,
        pages: None,
        finds: false,
        counts: false,
        data_type: "",
        often: Often::Rarely,
    };
}

impl Custom {
    /// A read of a member of the account.
    pub const fn get(
        id: &'static str,
        path: &'static str,
        about: &'static str,
        act: fn(&mut Desk<'_, '_>, &Given) -> Result<Answer, Error>,
    ) -> Self {
        Self {
            id,
            method: "GET",
            path,
            aliases: &[],
            about,
            version: "12",
            who: Who::Member,
            sandbox: false,
            sends: Sends::Params,
            params: &[],
            writes: false,
            often: Often::Usual,
            searches: false,
            body: 0,
            gate: None,
            act,
        }
    }

    /// A change.
    pub const fn change(
        method: &'static str,
        id: &'static str,
        path: &'static str,
        about: &'static str,
        act: fn(&mut Desk<'_, '_>, &Given) -> Result<Answer, Error>,
    ) -> Self {
        Self {
            method,
            writes: true,
            who: Who::Admin,
            often: Often::Minute(450),
            ..Self::get(id, path, about, act)
        }
    }

    /// Is asked by a POST, and changes nothing.
    #[must_use]
    pub const fn posts(self) -> Self {
        Self {
            method: "POST",
            often: Often::Minute(450),
            ..self
        }
    }

    /// Is for these people.
    #[must_use]
    pub const fn who(self, who: Who) -> Self {
        Self { who, ..self }
    }

    /// Takes these parameters.
    #[must_use]
    pub const fn params(self, params: &'static [Field]) -> Self {
        Self { params, ..self }
    }

    /// Exists in the sandbox only.
    #[must_use]
    pub const fn in_sandbox(self) -> Self {
        Self {
            sandbox: true,
            ..self
        }
    }

    /// Is found under these paths too.
    #[must_use]
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// Takes a JSON object.
    #[must_use]
    pub const fn json(self) -> Self {
        Self {
            sends: Sends::Json,
            ..self
        }
    }

    /// Takes bodies of so many bytes.
    #[must_use]
    pub const fn body(self, body: usize) -> Self {
        Self { body, ..self }
    }

    /// May be called that often.
    #[must_use]
    pub const fn often(self, often: Often) -> Self {
        Self { often, ..self }
    }

    /// Looks into the index of posts, which is waited for.
    #[must_use]
    pub const fn searching(self) -> Self {
        Self {
            searches: true,
            ..self
        }
    }

    /// Is for accounts with a feature.
    #[must_use]
    pub const fn gated(self, gate: Gate) -> Self {
        Self {
            gate: Some(gate),
            ..self
        }
    }

    /// Is of this version.
    #[must_use]
    pub const fn version(self, version: &'static str) -> Self {
        Self { version, ..self }
    }
}
