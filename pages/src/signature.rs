//! Why an OAuth 1.0a signature does not hold.

use crate::field::collect_problems;
use crate::{FormField, FormProblem, HtmlPage, PageFrame, TextDifference};
use askama::Template;

/// What the server found.
pub struct SignatureReport {
    /// Whether the signature holds.
    pub is_valid: bool,
    /// The base string that the server builds.
    pub base_string: String,
    /// The developer's own, if it was given.
    pub client_base_string: Option<String>,
    /// The signature that the server expects; `None` where it may not be told.
    pub expected_signature: Option<String>,
    /// The signature that came.
    pub given_signature: String,
    /// Sentences about what is likely wrong, most likely first.
    pub hints: Vec<String>,
}

impl SignatureReport {
    /// The server's base string, cut where they part.
    pub fn server_difference(&self) -> Option<TextDifference<'_>> {
        TextDifference::compare(&self.base_string, self.client_base_string.as_deref()?)
    }

    /// The developer's base string, cut where they part.
    pub fn client_difference(&self) -> Option<TextDifference<'_>> {
        TextDifference::compare(self.client_base_string.as_deref()?, &self.base_string)
    }

    /// At which character they part, counted from one.
    pub fn difference_position(&self) -> Option<usize> {
        crate::difference::difference_position(&self.base_string, self.client_base_string.as_deref()?)
            .map(|shared| shared.saturating_add(1))
    }
}

/// Signature explainer. Form: `method`, `url`, `authorization`, `body`, `base_string`.
#[derive(Template)]
#[template(path = "signature.html")]
pub struct SignatureExplainerPage {
    /// The surroundings.
    pub frame: PageFrame,
    /// Where the form posts to.
    pub action: String,
    /// The request's method.
    pub method: FormField,
    /// The request's whole address.
    pub url: FormField,
    /// The `Authorization` header.
    pub authorization: FormField,
    /// The body, where it is form-encoded.
    pub body: FormField,
    /// The developer's own base string.
    pub base_string: FormField,
    /// What was found.
    pub report: Option<SignatureReport>,
}

impl HtmlPage for SignatureExplainerPage {
    const NAME: &'static str = "signature";

    fn title(&self) -> String {
        "Signature explainer".to_owned()
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn form_problems(&self) -> Vec<FormProblem> {
        collect_problems(&[
            ("method", &self.method),
            ("url", &self.url),
            ("authorization", &self.authorization),
            ("body", &self.body),
            ("base_string", &self.base_string),
        ])
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::tools::signature_states()
    }
}
