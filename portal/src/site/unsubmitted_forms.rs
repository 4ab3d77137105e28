//! Forms of people who have to sign in first: what comes back afterwards, and what is shown to be copied.

use base::VocabularyWord;
use pages::{PageErrorKind, UnsubmittedForm};
use web::body::BodyContentType;
use web::endpoint::BodySpec;
use web::page_context;
use web::request_context::RequestContext;
use web::uploads::FormExcerpt;

use super::session::SignedInPerson;
use super::{BrowserVisit, PageExit, errors, forms, redirect_to};

/// Forms for posts, which take these fields from their query too.
const POST_FORMS: [&str; 2] = [pages::members::COMPOSE_PATH, super::compose::COMPOSE_PATH];
const POST_FORM_FIELDS: [&str; 6] = ["text", "in_reply_to", "quote", "community", "card", "of"];
/// Fields of buttons and hidden fields, and one that always has a value: what a person entered is in others.
const FIELDS_NOT_ENTERED: [&str; 19] = [
    "csrf",
    "next",
    "form",
    "shown",
    "act",
    "action",
    "id",
    "report",
    "application",
    "decision",
    "invitation",
    "rule",
    "webhook",
    "delivery",
    "remove",
    "part",
    "keep",
    "poll_minutes",
    "permission_id",
];

/// Longer texts, which the page about a form that was not submitted shows, so that they can be copied.
const SHOWN_AGAIN: [&str; 14] = [
    "text",
    "description",
    "choice1",
    "choice2",
    "choice3",
    "choice4",
    "reason",
    "answer",
    "rules",
    "about",
    "terms",
    "privacy",
    "term",
    "summary",
];

impl BrowserVisit {
    /// Visitors who are not signed in are sent to the sign-in page, and back here afterwards. If they have entered
    /// something that does not come back, they are told that the form was not submitted.
    pub fn require_sign_in(&self, call: &RequestContext) -> Result<&SignedInPerson, PageExit> {
        self.person.as_ref().ok_or_else(|| {
            let field = |name| field_of_body(call, name);
            let is_unread =
                matches!(call.endpoint().body, BodySpec::Multipart(_)) && call.content_type == BodyContentType::Other;
            if is_unread { self.exit_signed_out(call, field, false) } else { self.exit_to_sign_in(call, field) }
        })
    }

    /// As [`Self::require_sign_in`]. `field` is a field of the form.
    fn exit_to_sign_in<'f>(&self, call: &RequestContext, field: impl Fn(&'static str) -> &'f str) -> PageExit {
        let own = call.endpoint().path;
        let is_post_form = POST_FORMS.contains(&own) && call.head().method == http::Method::POST;
        let carried: &[&str] = if is_post_form { &POST_FORM_FIELDS } else { &[] };
        if list_entered_fields(call, &field).any(|name| !carried.contains(&name)) {
            return self.exit_signed_out(call, field, false);
        }
        if !is_post_form {
            return redirect_to(&sign_in_path(&return_path(call, field, page_context::DEFAULT_PATH))).into();
        }
        let path = sign_in_path(&post_form_path(own, &field));
        match forms::local_path(&path) {
            Some(path) => redirect_to(path).into(),
            None => self.exit_signed_out(call, field, false),
        }
    }

    /// As [`Self::require_sign_in`], for a form in parts.
    pub(super) fn exit_excerpt(&self, call: &RequestContext, excerpt: &FormExcerpt) -> PageExit {
        let field = |name| excerpt.text(name).unwrap_or_else(|| field_of_body(call, name));
        if excerpt.is_cut || excerpt.has_file {
            return self.exit_signed_out(call, field, excerpt.has_file);
        }
        self.exit_to_sign_in(call, field)
    }

    fn exit_signed_out<'f>(
        &self,
        call: &RequestContext,
        field: impl Fn(&'static str) -> &'f str,
        has_file: bool,
    ) -> PageExit {
        let form = UnsubmittedForm { has_file, ..unsubmitted_form(call, field, page_context::DEFAULT_PATH) };
        errors::exit_page(call, self, PageErrorKind::SignedOut(form))
    }

    /// Sends somebody who signed in too long ago to the sign-in page, and back here afterwards, or to `fallback` if the
    /// form has no page. If they have entered something, they are told that the form was not submitted.
    pub fn exit_to_sign_in_again(&self, call: &RequestContext, fallback: &'static str) -> PageExit {
        let field = |name| field_of_body(call, name);
        let form = unsubmitted_form(call, field, fallback);
        if list_entered_fields(call, field).next().is_some() {
            return errors::exit_page(call, self, PageErrorKind::SignInTooOld(form));
        }
        redirect_to(&format!("{}&switch=1", sign_in_path(&form.next))).into()
    }
}

fn sign_in_path(next: &str) -> String {
    format!("{}?next={}", page_context::SITE_LINKS.sign_in, base::percent::encode(next))
}

/// Fields of a form that a person has filled in.
fn list_entered_fields<'f>(
    call: &RequestContext,
    field: impl Fn(&'static str) -> &'f str,
) -> impl Iterator<Item = &'static str> {
    let members = match call.endpoint().body {
        BodySpec::Form(members) | BodySpec::Multipart(members) => members,
        _ => &[],
    };
    let names = members.iter().map(|member| member.name.post);
    names.filter(move |name| !FIELDS_NOT_ENTERED.contains(name) && !field(name).is_empty())
}

/// Empty if it is missing.
fn field_of_body<'c>(call: &'c RequestContext, name: &'static str) -> &'c str {
    call.body().optional_text(VocabularyWord::same_in_both(name)).unwrap_or_default()
}

/// What was entered, without files.
fn unsubmitted_form<'f>(
    call: &RequestContext,
    field: impl Fn(&'static str) -> &'f str,
    fallback: &'static str,
) -> UnsubmittedForm {
    let entered = list_entered_fields(call, &field).filter(|name| SHOWN_AGAIN.contains(name));
    let entered = entered.map(|name| field(name).to_owned()).collect();
    UnsubmittedForm { next: return_path(call, field, fallback), entered, has_file: false }
}

/// The page that was requested, or the page of the form that was sent; `fallback` if it has none.
fn return_path<'f>(call: &RequestContext, field: impl Fn(&'static str) -> &'f str, fallback: &'static str) -> String {
    let (head, own) = (call.head(), call.endpoint().path);
    let here = head.uri.path_and_query().map_or(page_context::DEFAULT_PATH, http::uri::PathAndQuery::as_str);
    let has_page = || call.state.endpoints.iter().any(|endpoint| endpoint.method == "GET" && endpoint.path == own);
    let path = match forms::local_path(field("next")) {
        _ if head.method != http::Method::POST => here,
        Some(next) => next,
        None if has_page() => here,
        None => fallback,
    };
    path.to_owned()
}

/// With what was entered.
fn post_form_path<'f>(path: &str, field: impl Fn(&'static str) -> &'f str) -> String {
    let entered = POST_FORM_FIELDS.iter().map(|name| (*name, field(name))).filter(|(_, text)| !text.is_empty());
    let pairs: Vec<_> = entered.map(|(name, text)| format!("{name}={}", base::percent::encode(text))).collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}
