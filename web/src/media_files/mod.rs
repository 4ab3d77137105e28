//! Serves media files, in whole or in part.

mod playback_recording;
mod subtitles;

use std::time::Duration;

use base::refusal::ResourceRef;
use base::{Error, Fault, Refusal};
use edge::Body;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use http::Method;
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, LAST_MODIFIED,
    RANGE, X_CONTENT_TYPE_OPTIONS,
};
use media::{FileRange, FileStore, GetRange, MediaFormat};
use store::media::Media;
use tokio::time::timeout;

pub use self::playback_recording::PlaybackRecording;
use self::subtitles::send_subtitles;
use crate::endpoint::{Kind, Parameter};
use crate::reply::HttpReply;
use crate::request_context::RequestContext;
use crate::uploads::{storage_fault, storage_unavailable};

/// For the head of a response, and between its parts: less than balancers wait (docs/scaling.md).
const STORAGE_TIMEOUT: Duration = Duration::from_secs(4);
const OCTET_STREAM: &str = "application/octet-stream";
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Of operations that send media files to browsers.
pub const SUBTITLES_PARAM: Parameter =
    Parameter::query("subtitles", Kind::text(2, 2), "A language: the subtitles of the video in it, as WebVTT.");

/// Who may read a file, which decides who may store it and which sites may show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaFileReaders {
    Everyone,
    /// The caller of the API.
    Caller,
    /// The person signed in, whose browser would also send the cookie for the pages of other sites.
    SignedInPerson,
}

impl MediaFileReaders {
    /// Short enough for deleted media to disappear.
    const fn cache_control(self) -> &'static str {
        match self {
            Self::Everyone => "public, max-age=3600",
            Self::Caller | Self::SignedInPerson => "private, max-age=3600",
        }
    }

    const fn resource_policy(self) -> &'static str {
        match self {
            Self::Everyone | Self::Caller => "cross-origin",
            Self::SignedInPerson => "same-origin",
        }
    }
}

/// The file or the requested range, or the subtitles of a video in the language of the parameter `subtitles`; none if it
/// is missing.
pub fn send_media_file<'a>(
    call: &'a RequestContext,
    media: &'a Media,
    path: &'a str,
    readers: MediaFileReaders,
    recording: Option<PlaybackRecording>,
) -> BoxFuture<'a, Result<Option<HttpReply>, Error>> {
    Box::pin(async move {
        let reply = find_file(call, media, path, readers, recording);
        timeout(STORAGE_TIMEOUT, reply).await.unwrap_or_else(|_| Err(slow_storage().into()))
    })
}

fn slow_storage() -> Fault {
    Fault::new("the file store took too long").into_transient()
}

async fn find_file(
    call: &RequestContext,
    media: &Media,
    path: &str,
    readers: MediaFileReaders,
    recording: Option<PlaybackRecording>,
) -> Result<Option<HttpReply>, Error> {
    // The operation of the API has no such parameter.
    let language = if readers == MediaFileReaders::Caller { None } else { call.query_text("subtitles") };
    if let Some(language) = language {
        return send_subtitles(call, media, language, readers).await;
    }
    let uploads = call.uploads()?;
    let files = uploads.files();
    let Some(length) = files.size(path).await.map_err(storage_unavailable)? else {
        return Ok(None);
    };
    let content_type = detect_content_type(files, media, path).await?;
    let etag = format!("\"{}-{}-{length:x}\"", media.id, path.len());
    let headers = file_headers(media, content_type, &etag, readers);
    let request_headers = &call.head().headers;
    if is_not_modified(request_headers, &etag, media) {
        return Ok(Some(HttpReply { headers, ..HttpReply::empty(304) }));
    }
    // Only GET has ranges (RFC 9110 §14.2).
    let is_get = call.head().method == Method::GET;
    let range_request = if is_get { parse_range(request_headers, &etag, length) } else { RangeRequest::Whole };
    file_reply(call, (path, length), range_request, headers, recording).await.map(Some)
}

/// As detected at upload, else as detected now.
async fn detect_content_type(files: &FileStore, media: &Media, path: &str) -> Result<&'static str, Error> {
    let format = if media.content_type.is_empty() {
        let head = files.read_head(path).await.map_err(storage_unavailable)?;
        MediaFormat::sniff(&head)
    } else {
        path.rsplit('.').next().and_then(MediaFormat::from_extension)
    };
    Ok(format.map_or(OCTET_STREAM, MediaFormat::content_type))
}

fn file_headers(media: &Media, content_type: &'static str, etag: &str, readers: MediaFileReaders) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let disposition = if content_type == OCTET_STREAM { "attachment" } else { "inline" };
    let fixed = [
        (CONTENT_TYPE, content_type),
        (CONTENT_DISPOSITION, disposition),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
        (RESOURCE_POLICY, readers.resource_policy()),
        (ACCEPT_RANGES, "bytes"),
        (CACHE_CONTROL, readers.cache_control()),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(value) = HeaderValue::from_str(etag) {
        headers.insert(ETAG, value);
    }
    if let Ok(value) = HeaderValue::from_str(&last_modified(media)) {
        headers.insert(LAST_MODIFIED, value);
    }
    headers
}

fn last_modified(media: &Media) -> String {
    let seconds = u64::try_from(media.created_at.seconds()).unwrap_or(0);
    let since = std::time::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
    since.map(httpdate::fmt_http_date).unwrap_or_default()
}

fn header_text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

fn is_not_modified(request_headers: &HeaderMap, etag: &str, media: &Media) -> bool {
    match (header_text(request_headers, &IF_NONE_MATCH), header_text(request_headers, &IF_MODIFIED_SINCE)) {
        (Some(tags), _) => {
            tags.split(',').map(|one| one.trim().trim_start_matches("W/")).any(|one| one == etag || one == "*")
        }
        (None, Some(since)) => since == last_modified(media),
        _ => false,
    }
}

enum RangeRequest {
    Whole,
    Range(u64, u64),
    None,
}

/// Multiple ranges are answered with the whole file (RFC 9110 §14.2).
fn parse_range(request_headers: &HeaderMap, etag: &str, length: u64) -> RangeRequest {
    let unchanged = header_text(request_headers, &IF_RANGE).is_none_or(|known| known == etag);
    let range = header_text(request_headers, &RANGE).filter(|_| unchanged);
    let Some(range) = range.and_then(|range| range.strip_prefix("bytes=")) else {
        return RangeRequest::Whole;
    };
    let Some((first, last)) = range.trim().split_once('-').filter(|_| !range.contains(',')) else {
        return RangeRequest::Whole;
    };
    let number = |text: &str| text.parse::<u64>().ok();
    let end = length.saturating_sub(1);
    let (first, last) = match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => (first, last.min(end)),
        (Some(first), None) if last.is_empty() => (first, end),
        (None, Some(0)) if first.is_empty() => return RangeRequest::None,
        (None, Some(count)) if first.is_empty() => (length.saturating_sub(count), end),
        _ => return RangeRequest::Whole,
    };
    if first >= length {
        return RangeRequest::None;
    }
    RangeRequest::Range(first, last)
}

async fn file_reply(
    call: &RequestContext,
    (path, length): (&str, u64),
    range_request: RangeRequest,
    mut headers: HeaderMap,
    recording: Option<PlaybackRecording>,
) -> Result<HttpReply, Error> {
    let (status, range, count) = match range_request {
        RangeRequest::Whole => (200, None, length),
        RangeRequest::Range(first, last) => {
            let shown = format!("bytes {first}-{last}/{length}");
            insert_header(&mut headers, CONTENT_RANGE, &shown);
            let end = last.saturating_add(1);
            (206, Some(GetRange::Bounded(first..end)), end - first)
        }
        RangeRequest::None => {
            insert_header(&mut headers, CONTENT_RANGE, &format!("bytes */{length}"));
            return Ok(HttpReply { headers, ..HttpReply::empty(416) });
        }
    };
    let content = call.uploads()?.files().read(path, range).await.map_err(storage_unavailable)?;
    let content = content.ok_or_else(|| Refusal::NotFound(ResourceRef::new("media", "file", path)))?;
    insert_header(&mut headers, CONTENT_LENGTH, &count.to_string());
    Ok(HttpReply { headers, body: stream_body(call, content, recording), ..HttpReply::empty(status) })
}

fn insert_header(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

fn stream_body(call: &RequestContext, content: FileRange, recording: Option<PlaybackRecording>) -> Body {
    let FileRange { size, range, bytes } = content;
    let mut recording = recording.map(|recording| recording.begin(range.start, size));
    let parts = futures_util::stream::unfold(bytes, |mut bytes| async {
        let part = timeout(STORAGE_TIMEOUT, bytes.next()).await;
        let part = part.map_or_else(|_| Some(Err(slow_storage())), |part| part.map(|part| part.map_err(storage_fault)));
        part.map(|part| (part, bytes))
    });
    call.body_of_parts(parts.inspect(move |part| {
        if let (Some(recording), Ok(bytes)) = (&mut recording, part) {
            recording.count(bytes.len());
        }
    }))
}
