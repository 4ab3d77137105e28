//! The explainer of OAuth 1.0a signatures.

use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame, TextDifference};
use askama::Template;
use base::Time;

#[derive(Template)]
#[template(path = "signature_report.html")]
pub struct SignatureReport {
    pub is_valid: bool,
    pub base_string: String,
    pub client_base_string: Option<String>,
    /// `None` if it must not be disclosed.
    pub expected_signature: Option<String>,
    pub given_signature: String,
    /// Sentences, the most likely cause first.
    pub hints: Vec<String>,
}

impl SignatureReport {
    pub fn server_difference(&self) -> Option<TextDifference<'_>> {
        TextDifference::compare(&self.base_string, self.client_base_string.as_deref()?)
    }

    pub fn client_difference(&self) -> Option<TextDifference<'_>> {
        TextDifference::compare(self.client_base_string.as_deref()?, &self.base_string)
    }

    /// In characters, from 1.
    pub fn difference_position(&self) -> Option<usize> {
        crate::difference::difference_position(&self.base_string, self.client_base_string.as_deref()?)
            .map(|shared| shared.saturating_add(1))
    }
}

/// Form fields: `method`, `url`, `authorization`, `body`, `base_string`.
#[derive(Template)]
#[template(path = "signature.html")]
pub struct SignatureExplainerPage {
    pub frame: PageFrame,
    pub action: String,
    pub method: FormField,
    pub url: FormField,
    pub authorization: FormField,
    pub body: FormField,
    pub base_string: FormField,
    pub report: Option<SignatureReport>,
}

/// Why the credentials of a request were refused.
#[derive(Template)]
#[template(path = "refused_request.html")]
pub struct RefusedRequestPage {
    pub frame: PageFrame,
    pub explainer_path: String,
    /// Method and URL.
    pub request_line: String,
    pub refused_at: Time,
    /// `None` if it is secret or missing.
    pub oauth1_header: Option<String>,
    /// Sentences, the most likely cause first.
    pub hints: Vec<String>,
    /// `None` if the request is not signed.
    pub report: Option<SignatureReport>,
}

impl RefusedRequestPage {
    pub const fn heading(&self) -> &'static str {
        match &self.report {
            Some(report) if report.is_valid => "The signature is valid",
            Some(_) => "The signature is not valid",
            None => "The credentials are not valid",
        }
    }
}

html_page!(RefusedRequestPage, |_| "Refused request".to_owned());

html_page!(SignatureExplainerPage, |_| "Signature explainer".to_owned(), |page| vec![
    ("method", &page.method),
    ("url", &page.url),
    ("authorization", &page.authorization),
    ("body", &page.body),
    ("base_string", &page.base_string)
]);
