//! What comes in: forms that we have shown ourselves, and queries.

use base::VocabularyWord;
use http::HeaderMap;
use http::header::{HOST, ORIGIN};
use pages::Wrong;

use super::{Front, Turn, Visit, errors};
use crate::call::Call;

const FETCH_SITE: &str = "sec-fetch-site";
/// The longest address that is come back to.
const LONGEST: usize = 8000;

/// A form that this browser was shown by us, and sent.
pub(crate) struct Form<'c> {
    call: &'c Call,
}

impl Form<'_> {
    /// A field; empty where it is not there.
    pub(crate) fn text(&self, name: &'static str) -> String {
        let text = self.call.body().text_if(VocabularyWord::same_in_both(name));
        text.unwrap_or_default().to_owned()
    }

    /// A field that is there and not empty.
    pub(crate) fn given(&self, name: &'static str) -> Option<String> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// Where to go afterwards: one of our own paths.
    pub(crate) fn next(&self) -> Option<String> {
        own_path(&self.text("next")).map(str::to_owned)
    }
}

/// Takes a form, unless another site made the browser send it. To be called before anything that
/// a form does.
pub(crate) async fn taken<'c>(call: &'c Call, visit: &Visit) -> Result<Form<'c>, Turn> {
    let form = Form { call };
    comes_from_us(call, visit)?;
    confirmed(call, visit, &form.text("csrf")).await?;
    Ok(form)
}

/// Goes on where the browser says nothing against a form's coming from one of our pages: what can
/// be known before the form is read.
pub(crate) fn comes_from_us(call: &Call, visit: &Visit) -> Result<(), Turn> {
    if is_own(&call.home.front, &call.head().headers) {
        return Ok(());
    }
    Err(expired(call, visit)?)
}

/// Goes on where the token of a form is one that this browser was given.
pub(crate) async fn confirmed(call: &Call, visit: &Visit, token: &str) -> Result<(), Turn> {
    if visit.sent(call, token).await? {
        return Ok(());
    }
    Err(expired(call, visit)?)
}

fn expired(call: &Call, visit: &Visit) -> Result<Turn, Turn> {
    let page = errors::page(call, visit, Wrong::FormExpired, None)?;
    Ok(page.status(403).into())
}

/// Whether a form was sent from one of our own pages, as far as the browser says.
fn is_own(front: &Front, headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let config = &front.config;
    let origins = config.origins.iter().chain([&config.base_url]);
    let is_known = |origin: &str| {
        let mut origins = origins.clone();
        origins.any(|own| own.trim_end_matches('/').eq_ignore_ascii_case(origin))
            || (config.dev && is_loopback(origin, text(HOST.as_str())))
    };
    came_from_us(text(FETCH_SITE), text(ORIGIN.as_str()), is_known)
}

/// Judges what a browser says about where a form stood. Pages that tell the next site nothing make
/// it say `null` of themselves, so that `sec-fetch-site` decides, where there is one.
pub(super) fn came_from_us(
    site: Option<&str>,
    origin: Option<&str>,
    is_known: impl Fn(&str) -> bool,
) -> bool {
    let site_fits = matches!(site, None | Some("same-origin" | "none"));
    site_fits
        && match origin {
            None | Some("null") => true,
            Some(origin) => is_known(origin),
        }
}

/// In development the same server is met under several names of one machine.
pub(super) fn is_loopback(origin: &str, host: Option<&str>) -> bool {
    let Some(authority) = origin.strip_prefix("http://") else {
        return false;
    };
    let name = authority
        .rsplit_once(':')
        .map_or(authority, |(name, _)| name);
    matches!(name, "localhost" | "127.0.0.1" | "[::1]") && host == Some(authority)
}

/// A path of our own that a browser may be sent to: nothing that any browser reads as another
/// site.
pub(crate) fn own_path(next: &str) -> Option<&str> {
    let plain = next
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let own = next.starts_with('/') && !next.starts_with("//");
    (own && plain && next.len() <= LONGEST).then_some(next)
}

/// The query of a page: what is unknown is passed over, what has no value is not there, and
/// nothing may come twice (RFC 6749 §3.1).
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// The query of a request, or what is wrong with it.
    pub(crate) fn of(call: &Call) -> Result<Self, String> {
        Self::read(call.head().uri.query().unwrap_or_default())
    }

    /// Reads a query.
    pub(crate) fn read(query: &str) -> Result<Self, String> {
        let pairs = base::percent::parse_form(query)
            .map_err(|bad| format!("The query cannot be read: {bad}."))?;
        for (at, (name, value)) in pairs.iter().enumerate() {
            if pairs.iter().take(at).any(|(before, _)| before == name) {
                return Err(format!("A parameter came twice: {name}."));
            }
            if value.contains('\0') {
                return Err(format!(
                    "A parameter has a value that it cannot have: {name}."
                ));
            }
        }
        Ok(Self(pairs))
    }

    /// A parameter that has a value.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.raw(name).filter(|value| !value.is_empty())
    }

    /// A parameter, even without a value.
    pub(crate) fn raw(&self, name: &str) -> Option<&str> {
        let mut pairs = self.0.iter();
        pairs
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}
