//! Which world a request is for: that of its host, or that of its credentials.

use edge::{Body, find_rare_header};
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST};
use http::uri::PathAndQuery;
use http::{HeaderMap, Request, Uri};
use web::control::WORLD_HEADER;

use super::credentials::MARK_LENGTH;
use super::registry::WorldRegistry;

const WORLD_DOMAIN: &str = ".localhost";
/// Before the name of a world and a path in it.
const WORLD_PATH: &str = "/i/worlds/";
/// Larger forms contain media, and come with an `Authorization` header.
const MAX_FORM_BYTES: usize = 64 * 1024;
const FORM_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);
/// The console shows the world of its host: a browser may be signed in to several.
pub(super) const CONSOLE_PREFIX: &str = "/console";

/// The name in `X-Locum-World`, or of `<name>.localhost`.
pub(super) fn named_by_host(request: &Request<Body>) -> Option<String> {
    let headers = request.headers();
    if let Some(name) = find_rare_header(headers, &WORLD_HEADER) {
        return Some(String::from_utf8_lossy(name.as_bytes()).into_owned());
    }
    let host = request.uri().host().or_else(|| headers.get(HOST)?.to_str().ok())?;
    let label = without_port(host).strip_suffix(WORLD_DOMAIN)?;
    let is_world = !label.is_empty() && !label.contains('.') && !label.starts_with("ads-api-sandbox");
    is_world.then(|| label.to_ascii_lowercase())
}

/// What precedes the paths of a world, for links that carry no credentials.
pub(super) fn world_path(name: &str) -> String {
    format!("{WORLD_PATH}{name}")
}

/// The name in a path such as `/i/worlds/NAME/media/1.png`, which is `/media/1.png` from then on.
pub(super) fn named_by_path(request: &mut Request<Body>) -> Option<String> {
    let target = request.uri().path_and_query()?.as_str().strip_prefix(WORLD_PATH)?;
    let (name, rest) = target.split_at(target.find('/')?);
    let (name, rest) = (name.to_owned(), rest.parse::<PathAndQuery>().ok()?);
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = Some(rest);
    *request.uri_mut() = Uri::from_parts(parts).ok()?;
    Some(name)
}

fn without_port(host: &str) -> &str {
    let digits = host.bytes().rev().take_while(u8::is_ascii_digit).count();
    let rest = host.get(..host.len() - digits).unwrap_or_default();
    rest.strip_suffix(':').unwrap_or(host)
}

/// The world whose mark is in the request's head or, if there may be credentials in it, in its form.
pub(super) async fn named_by_credentials(request: &mut Request<Body>, worlds: &WorldRegistry) -> Option<String> {
    let found = named_by_head(request, worlds);
    if found.is_some() || !is_small_form(request.headers()) {
        return found;
    }
    let body = std::mem::take(request.body_mut());
    // On an error, the client is gone, or sends what its head does not say.
    let bytes = body.collect_bytes(MAX_FORM_BYTES, FORM_TIMEOUT).await.ok()?;
    let found = worlds.find_marked(&String::from_utf8_lossy(&bytes));
    *request.body_mut() = Body::from(bytes);
    found
}

fn named_by_head(request: &Request<Body>, worlds: &WorldRegistry) -> Option<String> {
    let headers = request.headers();
    if let Some(credentials) = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()) {
        return match credentials.split_once(' ') {
            Some((scheme, encoded)) if scheme.eq_ignore_ascii_case("basic") => {
                let plain = data_encoding::BASE64.decode(encoded.trim().as_bytes()).ok()?;
                worlds.find_marked(&String::from_utf8_lossy(&plain))
            }
            _ => worlds.find_marked(credentials),
        };
    }
    if let Some(found) = request.uri().query().and_then(|query| worlds.find_marked(query)) {
        return Some(found);
    }
    if request.uri().path().starts_with(CONSOLE_PREFIX) {
        return None;
    }
    headers.get_all(COOKIE).iter().find_map(|cookie| worlds.find_marked(cookie.to_str().ok()?))
}

fn is_small_form(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value: &http::HeaderValue| value.to_str().ok());
    let is_form = text(CONTENT_TYPE).is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
    let length = text(CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok());
    is_form && !headers.contains_key(AUTHORIZATION) && length.is_some_and(|length| length <= MAX_FORM_BYTES)
}

/// The ends of the words of a text that may be marks of worlds.
pub(super) fn mark_candidates(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter_map(|word| word.get(word.len().checked_sub(MARK_LENGTH)?..))
}

#[cfg(test)]
mod tests {
    use edge::Body;
    use http::Request;

    use super::{mark_candidates, named_by_host, named_by_path};

    #[test]
    fn host_and_header_name_a_world() {
        let name = |host: &str| named_by_host(&Request::builder().header("host", host).body(Body::empty()).unwrap());
        assert_eq!(name("t1.localhost:8080").as_deref(), Some("t1"));
        assert_eq!(name("T1.localhost").as_deref(), Some("t1"));
        for host in ["localhost", "127.0.0.1:80", "api.example.com", "a.b.localhost", "ads-api-sandbox.localhost:1"] {
            assert_eq!(name(host), None, "{host}");
        }
        let request = Request::builder().header("x-locum-world", "two").body(Body::empty()).unwrap();
        assert_eq!(named_by_host(&request).as_deref(), Some("two"));
        let request = Request::builder().header("x-locum-world", "t\u{e9}st".as_bytes()).body(Body::empty()).unwrap();
        assert_eq!(named_by_host(&request).as_deref(), Some("t\u{e9}st"), "of no world, rather than none");
    }

    #[test]
    fn path_that_names_a_world_leads_to_the_rest_of_it() {
        let named = |target: &str| {
            let mut request = Request::builder().uri(target).body(Body::empty()).unwrap();
            (named_by_path(&mut request), request.uri().to_string())
        };
        let found = (Some("t1".to_owned()), "/media/1.png?name=small".to_owned());
        assert_eq!(named("/i/worlds/t1/media/1.png?name=small"), found);
        let absolute = (Some("t1".to_owned()), "http://api.example/t/abc".to_owned());
        assert_eq!(named("http://api.example/i/worlds/t1/t/abc"), absolute);
        for target in ["/i/worlds/t1", "/i/worlds", "/media/1.png"] {
            assert_eq!(named(target), (None, target.to_owned()));
        }
    }

    #[test]
    fn marks_are_looked_for_at_the_ends_of_words() {
        let found: Vec<_> = mark_candidates(r#"OAuth oauth_token="12-abcdefWORLD1", x="ab:1:at""#).collect();
        assert_eq!(found, ["WORLD1"]);
    }
}
