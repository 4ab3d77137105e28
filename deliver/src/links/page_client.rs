//! An HTTP client for pages and files of strangers: bounded responses, few redirects, the address rules of webhooks.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base::Fault;
use bytes::Bytes;
use encoding_rs::{Encoding, UTF_8};
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION, USER_AGENT};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use network::link_facts::{DescribedImage, LinkDescription};
use url::Url;

use super::page_metadata::{PageImage, read_page_metadata};
use crate::webhooks::{CertificateAuthorities, TargetConnector, WebhookSettings};

const AGENT: &str = concat!("Locum-LinkFetcher/", env!("CARGO_PKG_VERSION"));
const MAX_REDIRECTS: usize = 5;
const DOWNLOAD_TIMEOUT: Duration = Duration::from_mins(1);
/// What follows is not read.
const MAX_PAGE_BYTES: usize = 1024 * 1024;
/// The dimensions are near the beginning.
const MAX_IMAGE_BYTES: usize = 256 * 1024;
const MAX_HEAD_BYTES: usize = 32 * 1024;
/// Where a page may declare its encoding.
const CHARSET_BYTES: usize = 1024;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchFailure {
    #[error("the URL or that of a redirect may not be fetched")]
    NotAllowed,
    #[error("more than 5 redirects")]
    TooManyRedirects,
    #[error("no answer in time")]
    TimedOut,
    #[error("the server answered with the status {0}")]
    Status(u16),
    #[error("the file has more than {0} bytes")]
    TooLarge(usize),
    #[error("{0}")]
    Broken(String),
}

type HttpClient = Client<HttpsConnector<TargetConnector>, Empty<Bytes>>;

#[derive(Clone)]
pub struct PageClient(Arc<PageClientInner>);

struct PageClientInner {
    connector: TargetConnector,
    authorities: CertificateAuthorities,
    /// For a page with its redirects, and for its image.
    timeout: Duration,
    /// Other ports than those of http and https.
    allows_any_port: bool,
    /// Created on first use, since loading the system's certificates takes a while.
    client: OnceLock<HttpClient>,
}

impl fmt::Debug for PageClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PageClient({:?})", self.0.connector)
    }
}

struct FoundResponse {
    url: Url,
    response: Response<Incoming>,
}

impl PageClient {
    pub fn new(settings: &WebhookSettings) -> Self {
        Self(Arc::new(PageClientInner {
            connector: TargetConnector::new(settings.targets.clone(), settings.resolver.clone(), settings.timeout),
            authorities: settings.authorities.clone(),
            timeout: settings.timeout,
            allows_any_port: settings.targets.allow_http,
            client: OnceLock::new(),
        }))
    }

    fn http_client(&self) -> Result<HttpClient, Fault> {
        if let Some(client) = self.0.client.get() {
            return Ok(client.clone());
        }
        let connector = self.0.connector.with_tls(&self.0.authorities)?;
        let made = Client::builder(TokioExecutor::new())
            .pool_max_idle_per_host(0)
            .http1_max_buf_size(MAX_HEAD_BYTES)
            .build(connector);
        Ok(self.0.client.get_or_init(|| made).clone())
    }

    /// What the page says about itself.
    pub(super) async fn fetch(&self, url: &str) -> Result<LinkDescription, FetchFailure> {
        let fetched = tokio::time::timeout(self.0.timeout, self.fetch_page(url)).await;
        let (mut page, base, image) = fetched.map_err(|_| FetchFailure::TimedOut)??;
        if let Some(image) = image.and_then(|image| Some((base.join(image.url.trim()).ok()?, image.size))) {
            // A page without its image is still worth showing.
            let found = tokio::time::timeout(self.0.timeout, self.describe_image(image)).await;
            page.images = found.ok().flatten().into_iter().collect();
        }
        Ok(page)
    }

    /// A whole file of at most `limit` bytes, within a minute.
    pub async fn download(&self, url: &str, limit: usize) -> Result<Vec<u8>, FetchFailure> {
        let start = Url::parse(url).map_err(|_| FetchFailure::NotAllowed)?;
        let download = async {
            let FoundResponse { response, .. } = self.follow_redirects(start, "*/*").await?;
            if response.status() != StatusCode::OK {
                return Err(FetchFailure::Status(response.status().as_u16()));
            }
            let bytes = read_start(response.into_body(), limit.saturating_add(1)).await?;
            if bytes.len() > limit { Err(FetchFailure::TooLarge(limit)) } else { Ok(bytes) }
        };
        tokio::time::timeout(DOWNLOAD_TIMEOUT, download).await.map_err(|_| FetchFailure::TimedOut)?
    }

    async fn fetch_page(&self, url: &str) -> Result<(LinkDescription, Url, Option<PageImage>), FetchFailure> {
        let start = Url::parse(url).map_err(|_| FetchFailure::NotAllowed)?;
        let FoundResponse { url: last, response } = self.follow_redirects(start, "text/html,*/*;q=0.1").await?;
        let (head, body) = response.into_parts();
        let mut page = LinkDescription {
            url: url.to_owned(),
            unwound_url: last.to_string(),
            status: Some(head.status.as_u16().into()),
            ..LinkDescription::default()
        };
        // An error page says nothing about the one that was linked.
        if !head.status.is_success() || !is_readable_page(&head.headers) {
            return Ok((page, last, None));
        }
        let bytes = read_start(body, MAX_PAGE_BYTES).await?;
        let metadata = read_page_metadata(&decode_page(&bytes, content_type(&head.headers)));
        (page.title, page.description) = (metadata.title, metadata.description);
        Ok((page, last, metadata.image))
    }

    async fn follow_redirects(&self, mut url: Url, accept: &'static str) -> Result<FoundResponse, FetchFailure> {
        for _ in 0..=MAX_REDIRECTS {
            let response = self.request(&url, accept).await?;
            let is_redirect = matches!(
                response.status(),
                StatusCode::MOVED_PERMANENTLY
                    | StatusCode::FOUND
                    | StatusCode::SEE_OTHER
                    | StatusCode::TEMPORARY_REDIRECT
                    | StatusCode::PERMANENT_REDIRECT
            );
            let target = response.headers().get(LOCATION).filter(|_| is_redirect);
            let Some(target) = target else {
                return Ok(FoundResponse { url, response });
            };
            let target = target.to_str().ok().and_then(|target| url.join(target).ok());
            url = target.ok_or(FetchFailure::NotAllowed)?;
        }
        Err(FetchFailure::TooManyRedirects)
    }

    /// The connector checks the address.
    async fn request(&self, url: &Url, accept: &'static str) -> Result<Response<Incoming>, FetchFailure> {
        let is_web = matches!(url.scheme(), "http" | "https");
        let has_credentials = !url.username().is_empty() || url.password().is_some();
        let is_port_allowed = url.port().is_none() || self.0.allows_any_port;
        if !is_web || has_credentials || !is_port_allowed {
            return Err(FetchFailure::NotAllowed);
        }
        let mut plain = url.clone();
        plain.set_fragment(None);
        let broken = |error: &dyn fmt::Display| FetchFailure::Broken(error.to_string());
        let request = Request::get(plain.as_str())
            .header(USER_AGENT, AGENT)
            .header(ACCEPT, accept)
            .header(ACCEPT_ENCODING, "identity")
            .body(Empty::new())
            .map_err(|error| broken(&error))?;
        let client = self.http_client().map_err(|error| broken(&error))?;
        client.request(request).await.map_err(|error| broken(&error))
    }

    /// With the size that the page says, or that the image has.
    async fn describe_image(&self, (url, size): (Url, Option<(i64, i64)>)) -> Option<DescribedImage> {
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        let (width, height) = match size {
            Some(size) => size,
            None => self.measure_image(url.clone()).await?,
        };
        Some(DescribedImage { url: url.to_string(), width, height })
    }

    async fn measure_image(&self, url: Url) -> Option<(i64, i64)> {
        let FoundResponse { response, .. } = self.follow_redirects(url, "image/*").await.ok()?;
        if response.status() != StatusCode::OK {
            return None;
        }
        let bytes = read_start(response.into_body(), MAX_IMAGE_BYTES).await.ok()?;
        let (width, height) = media::read_image_dimensions(&bytes)?;
        Some((width.into(), height.into()))
    }
}

fn content_type(headers: &HeaderMap) -> &str {
    headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn is_readable_page(headers: &HeaderMap) -> bool {
    let kind = content_type(headers).split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_page = matches!(kind.as_str(), "" | "text/html" | "application/xhtml+xml");
    let is_plain = headers.get(CONTENT_ENCODING).is_none_or(|encoding| encoding == "identity");
    is_page && is_plain
}

/// Up to `limit` bytes; the connection is closed after them.
async fn read_start(mut body: Incoming, limit: usize) -> Result<Vec<u8>, FetchFailure> {
    let mut bytes = Vec::new();
    while bytes.len() < limit
        && let Some(frame) = body.frame().await
    {
        let frame = frame.map_err(|error| FetchFailure::Broken(error.to_string()))?;
        let missing = limit - bytes.len();
        let data = frame.data_ref().map(Bytes::as_ref).unwrap_or_default();
        bytes.extend_from_slice(data.get(..missing.min(data.len())).unwrap_or_default());
    }
    Ok(bytes)
}

/// By its byte order mark, its header, or what it declares in its beginning; UTF-8 without any of them.
fn decode_page(bytes: &[u8], content_type: &str) -> String {
    let start = bytes.get(..CHARSET_BYTES.min(bytes.len())).unwrap_or_default();
    let declared = find_charset(&String::from_utf8_lossy(start));
    let encoding = find_charset(content_type).or(declared).unwrap_or(UTF_8);
    encoding.decode(bytes).0.into_owned()
}

/// The encoding after the first `charset=`.
fn find_charset(text: &str) -> Option<&'static Encoding> {
    let text = text.to_ascii_lowercase();
    let (_, label) = text.split_once("charset=")?;
    let label = label.trim_start_matches(['"', '\'', ' ']);
    let end = label.find(|letter: char| !letter.is_ascii_alphanumeric() && !"-_:.".contains(letter));
    Encoding::for_label(label.get(..end.unwrap_or(label.len()))?.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::decode_page;

    #[test]
    fn page_is_decoded_as_it_says() {
        for (bytes, content_type, text) in [
            (&b"<title>Caf\xc3\xa9</title>"[..], "text/html", "<title>Café</title>"),
            (b"<title>Caf\xe9</title>", "text/html; charset=\"ISO-8859-1\"", "<title>Café</title>"),
            (b"<meta charset=windows-1252><p>\x80", "", "<meta charset=windows-1252><p>€"),
            (b"<meta charset=nonsense>\xff", "", "<meta charset=nonsense>\u{fffd}"),
        ] {
            assert_eq!(decode_page(bytes, content_type), text);
        }
    }
}
