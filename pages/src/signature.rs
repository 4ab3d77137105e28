//! Why an OAuth 1.0a signature does not hold.

use crate::field::problems;
use crate::{Difference, Field, Frame, Page, Problem};
use askama::Template;

/// What the server found.
pub struct Explained {
    /// Whether the signature holds.
    pub holds: bool,
    /// The base string that the server builds.
    pub base_string: String,
    /// The developer's own, if it was given.
    pub theirs: Option<String>,
    /// The signature that the server expects; `None` where it may not be told.
    pub expected: Option<String>,
    /// The signature that came.
    pub given: String,
    /// Sentences about what is likely wrong, most likely first.
    pub hints: Vec<String>,
}

impl Explained {
    /// The server's base string, cut where they part.
    pub fn of_ours(&self) -> Option<Difference<'_>> {
        Difference::of(&self.base_string, self.theirs.as_deref()?)
    }

    /// The developer's base string, cut where they part.
    pub fn of_theirs(&self) -> Option<Difference<'_>> {
        Difference::of(self.theirs.as_deref()?, &self.base_string)
    }

    /// At which character they part, counted from one.
    pub fn character(&self) -> Option<usize> {
        crate::difference::position(&self.base_string, self.theirs.as_deref()?)
            .map(|shared| shared.saturating_add(1))
    }
}

/// Signature explainer. Form: `method`, `url`, `authorization`, `body`, `base_string`.
#[derive(Template)]
#[template(path = "signature.html")]
pub struct SignatureExplainer {
    /// The surroundings.
    pub frame: Frame,
    /// Where the form posts to.
    pub action: String,
    /// The request's method.
    pub method: Field,
    /// The request's whole address.
    pub url: Field,
    /// The `Authorization` header.
    pub authorization: Field,
    /// The body, where it is form-encoded.
    pub body: Field,
    /// The developer's own base string.
    pub base_string: Field,
    /// What was found.
    pub explained: Option<Explained>,
}

impl Page for SignatureExplainer {
    const NAME: &'static str = "signature";

    fn title(&self) -> String {
        "Signature explainer".to_owned()
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn problems(&self) -> Vec<Problem> {
        problems(&[
            ("method", &self.method),
            ("url", &self.url),
            ("authorization", &self.authorization),
            ("body", &self.body),
            ("base_string", &self.base_string),
        ])
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::tools::signature()
    }
}
