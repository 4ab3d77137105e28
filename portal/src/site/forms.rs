//! Validating forms and query strings of pages.

use std::collections::HashSet;
use std::sync::Arc;

use base::VocabularyWord;
use http::header::ORIGIN;
use pages::{MAX_PATH_LENGTH, PageErrorKind};
use web::request_context::RequestContext;
use web::uploads::{UploadForm, UploadProcessor, receive, receive_excerpt};
use web::{HttpReply, PublicOrigin};

use super::{BrowserVisit, MemberVisit, PageExit, errors};

const FETCH_SITE: &str = "sec-fetch-site";
pub const SESSION_CHANGED: &str = "Your session changed. Check and send again.";
/// What is read of a form in parts of somebody who is not signed in.
const MAX_VISITOR_FORM_BYTES: u64 = 8 * 1024 * 1024;

/// A form that came from one of our own pages, with a valid CSRF token.
pub struct SubmittedForm<'c> {
    call: &'c RequestContext,
}

impl SubmittedForm<'_> {
    /// Empty if the field is missing.
    pub fn text(&self, name: &'static str) -> String {
        let text = self.call.body().optional_text(VocabularyWord::same_in_both(name));
        text.unwrap_or_default().to_owned()
    }

    /// `None` if the field is missing or empty.
    pub fn optional_text(&self, name: &'static str) -> Option<String> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// The field `next`, if it is a local path.
    pub fn return_path(&self) -> Option<String> {
        local_path(&self.text("next")).map(str::to_owned)
    }
}

/// Validates the origin and CSRF token of a form. Call it before acting on a form.
pub async fn accept_form<'c>(call: &'c RequestContext, visit: &BrowserVisit) -> Result<SubmittedForm<'c>, PageExit> {
    let form = SubmittedForm { call };
    check_same_origin(call, visit)?;
    check_csrf_token(call, visit, &form.text("csrf")).await?;
    Ok(form)
}

/// As [`accept_form`], for a form in which people write: the flag is false if the CSRF token has expired. Then the form
/// is to be shown again with what was written, and must have no other effect.
pub(crate) async fn read_form<'c>(
    call: &'c RequestContext,
    visit: &BrowserVisit,
) -> Result<(SubmittedForm<'c>, bool), PageExit> {
    let form = SubmittedForm { call };
    check_same_origin(call, visit)?;
    let is_current = visit.verify_csrf_token(call, &form.text("csrf")).await?;
    Ok((form, is_current))
}

/// As [`accept_form`], for an operation that declares no members: returns the fields in their order.
pub async fn accept_raw_form(call: &RequestContext, visit: &BrowserVisit) -> Result<PageQuery, PageExit> {
    check_same_origin(call, visit)?;
    let fields = std::str::from_utf8(call.bytes()).map_err(|_| "The form is not valid UTF-8.".to_owned());
    let fields = fields.and_then(PageQuery::parse);
    let fields = fields.map_err(|advice| errors::exit_page(call, visit, PageErrorKind::InvalidRequest(advice)))?;
    check_csrf_token(call, visit, fields.get("csrf").unwrap_or_default()).await?;
    Ok(fields)
}

/// A form that may have a file, of a person who is signed in.
pub struct UploadSubmission {
    pub call: RequestContext,
    pub visit: MemberVisit,
    pub uploads: UploadProcessor,
    pub form: UploadForm,
}

/// Runs the handler of a form that may have a file. What the handler has not stored of the file is deleted.
pub async fn run_upload_form<F, H>(call: RequestContext, handle: F) -> Result<HttpReply, PageExit>
where
    F: FnOnce(Arc<UploadSubmission>) -> H,
    H: Future<Output = Result<HttpReply, PageExit>>,
{
    let refuse = |submission: Arc<UploadSubmission>| async move {
        let UploadSubmission { call, visit, .. } = &*submission;
        Err(errors::exit_page(call, visit, PageErrorKind::FormExpired))
    };
    run_text_form(call, handle, refuse).await
}

/// As [`run_upload_form`], for a form in which people write: `show_again` shows it with what was written if its CSRF
/// token has expired, and must have no other effect.
pub async fn run_text_form<F, H, S, A>(
    mut call: RequestContext,
    handle: F,
    show_again: S,
) -> Result<HttpReply, PageExit>
where
    F: FnOnce(Arc<UploadSubmission>) -> H,
    H: Future<Output = Result<HttpReply, PageExit>>,
    S: FnOnce(Arc<UploadSubmission>) -> A,
    A: Future<Output = Result<HttpReply, PageExit>>,
{
    let visit = BrowserVisit::from_call(&call).await?;
    let uploads = call.uploads()?;
    if visit.person.is_none() {
        let excerpt = receive_excerpt(&mut call, MAX_VISITOR_FORM_BYTES).await;
        return Err(visit.exit_excerpt(&call, &excerpt));
    }
    let visit = MemberVisit::from_visit(&call, visit)?;
    check_same_origin(&call, &visit)?;
    let form = receive(&mut call, uploads.files()).await?;
    let submission = Arc::new(UploadSubmission { call, visit, uploads, form });
    let UploadSubmission { call, visit, form, .. } = &*submission;
    if visit.verify_csrf_token(call, form.text("csrf").unwrap_or_default()).await? {
        return handle(submission).await;
    }
    show_again(submission).await
}

/// Refuses forms that the browser says came from another site, before the body is read.
pub(crate) fn check_same_origin(call: &RequestContext, visit: &BrowserVisit) -> Result<(), PageExit> {
    if is_same_origin(call) {
        return Ok(());
    }
    Err(errors::exit_page(call, visit, PageErrorKind::FormExpired))
}

pub(crate) async fn check_csrf_token(call: &RequestContext, visit: &BrowserVisit, token: &str) -> Result<(), PageExit> {
    if visit.verify_csrf_token(call, token).await? {
        return Ok(());
    }
    Err(errors::exit_page(call, visit, PageErrorKind::FormExpired))
}

fn is_same_origin(call: &RequestContext) -> bool {
    let (config, head) = (&call.state.page_context.config, call.head());
    let text = |name: &str| head.headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let used = head.public_origin();
    let origins = config.origins.iter().chain([&config.base_url]);
    let is_known = |origin: &str| {
        let mut origins = origins.clone();
        origins.any(|own| own.trim_end_matches('/').eq_ignore_ascii_case(origin))
            || (config.dev && is_loopback(origin, used))
            || call.state.emulated_sites.is_same_site(origin, used)
    };
    is_trusted_origin(text(FETCH_SITE), text(ORIGIN.as_str()), is_known)
}

/// Decides by `Sec-Fetch-Site` and `Origin`. Our pages send no referrer, which makes browsers send `Origin: null` for
/// their forms.
pub(super) fn is_trusted_origin(site: Option<&str>, origin: Option<&str>, is_known: impl Fn(&str) -> bool) -> bool {
    let site_fits = matches!(site, None | Some("same-origin" | "none"));
    site_fits
        && match origin {
            None | Some("null") => true,
            Some(origin) => is_known(origin),
        }
}

/// In development the server is reachable under several loopback names.
pub(super) fn is_loopback(origin: &str, used: PublicOrigin<'_>) -> bool {
    let Some((scheme, authority)) = origin.split_once("://") else {
        return false;
    };
    let name = authority.rsplit_once(':').map_or(authority, |(name, _)| name);
    matches!(name, "localhost" | "127.0.0.1" | "[::1]") && scheme == used.scheme && used.host == Some(authority)
}

/// `Some` if no browser would resolve the path to another site.
pub fn local_path(next: &str) -> Option<&str> {
    let plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let own = next.starts_with('/') && !next.starts_with("//");
    (own && plain && next.len() <= MAX_PATH_LENGTH).then_some(next)
}

/// A query string in which no parameter may repeat (RFC 6749 §3.1).
#[derive(Clone, Debug, Default)]
pub struct PageQuery(Vec<(String, String)>);

impl PageQuery {
    /// Ignores what is malformed, such as what was added to a shared link.
    pub fn from_call(call: &RequestContext) -> Result<Self, String> {
        Self::from_pairs(base::percent::parse_form_leniently(call.head().uri.query().unwrap_or_default()))
    }

    pub fn parse(query: &str) -> Result<Self, String> {
        let pairs = base::percent::parse_form(query).map_err(|bad| format!("The query string is malformed: {bad}."))?;
        Self::from_pairs(pairs)
    }

    fn from_pairs(pairs: Vec<(String, String)>) -> Result<Self, String> {
        let mut names = HashSet::with_capacity(pairs.len());
        for (name, value) in &pairs {
            if !names.insert(name) {
                return Err(format!("The parameter {name} appears more than once."));
            }
            if value.contains('\0') {
                return Err(format!("The parameter {name} has an invalid value."));
            }
        }
        Ok(Self(pairs))
    }

    /// `None` if the parameter is missing or empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.get_raw(name).filter(|value| !value.is_empty())
    }

    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// `Some("")` for a parameter without a value.
    pub(crate) fn get_raw(&self, name: &str) -> Option<&str> {
        let mut pairs = self.0.iter();
        pairs.find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
