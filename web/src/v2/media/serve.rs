//! The files of media, under names that nobody guesses.

use base::refusal::ResourceRef;
use base::{Error, Id, Refusal};
use edge::{Body, BodyError};
use futures_util::StreamExt;
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue,
    IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, LAST_MODIFIED, RANGE, X_CONTENT_TYPE_OPTIONS,
};
use media::{FileRange, FileStore, GetRange, MediaFormat};
use store::media::Media;

use crate::call::Call;
use crate::endpoint::Pending;
use crate::reply::Reply;
use crate::uploads::broken;

const UNKNOWN: &str = "application/octet-stream";
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// `GET /media/{name}`.
pub(crate) fn file(call: Call) -> Pending {
    Box::pin(async move {
        let name = call.path_text("file")?.to_owned();
        let missing = || Error::from(Refusal::NotFound(ResourceRef::new("media", "file", &name)));
        let key = name.split('.').next().unwrap_or_default();
        let id = key.split_once('_').and_then(|(_, id)| Id::parse(id));
        let id = id.ok_or_else(missing)?;
        // What only messages carry is for their readers, who get it there.
        let found = call.read(move |tx| {
            let private = store::media::is_message_only(tx, id)?;
            Ok(store::media::find_by_id(tx, id)?.filter(|_| !private))
        });
        let found = found.await?;
        let media = found.filter(|media| media.file_name() == Some(name.as_str()));
        let media = media.ok_or_else(missing)?;
        let size = call.text("name").unwrap_or_default();
        let path = media.size_path(size).unwrap_or_else(|| media.path.clone());
        send(&call, &media, &path, EVERYONE)
            .await?
            .ok_or_else(missing)
    })
}

/// Long enough to spare the way, short enough for what is deleted to be gone.
const EVERYONE: &str = "public, max-age=3600";
/// What only one caller may have.
pub(crate) const CALLER: &str = "private, max-age=3600";

/// A file of a media, or the part of it that is asked for; none when it is not there.
pub(crate) async fn send(
    call: &Call,
    media: &Media,
    path: &str,
    cache: &'static str,
) -> Result<Option<Reply>, Error> {
    let uploads = call.uploads()?;
    let files = uploads.files();
    let Some(length) = files.size(path).await.map_err(broken)? else {
        return Ok(None);
    };
    let label = label(files, media, path).await?;
    let tag = format!("\"{}-{}-{length:x}\"", media.id, path.len());
    let head = dressed(media, label, &tag, cache);
    let asked = &call.head().headers;
    if is_known(asked, &tag, media) {
        return Ok(Some(Reply {
            headers: head,
            ..Reply::empty(304)
        }));
    }
    let part = range(asked, &tag, length);
    answer(files, path, length, part, head).await.map(Some)
}

/// What the bytes are: as they were found when they came, or as they look now.
async fn label(files: &FileStore, media: &Media, path: &str) -> Result<&'static str, Error> {
    let format = if media.content_type.is_empty() {
        let head = files.read_head(path).await.map_err(broken)?;
        MediaFormat::sniff(&head)
    } else {
        path.rsplit('.')
            .next()
            .and_then(MediaFormat::from_extension)
    };
    Ok(format.map_or(UNKNOWN, MediaFormat::content_type))
}

/// Headers of a file that nothing is made of but what it is.
fn dressed(media: &Media, label: &'static str, tag: &str, cache: &'static str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let way = if label == UNKNOWN {
        "attachment"
    } else {
        "inline"
    };
    let fixed = [
        (CONTENT_TYPE, label),
        (CONTENT_DISPOSITION, way),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
        (RESOURCE_POLICY, "cross-origin"),
        (ACCEPT_RANGES, "bytes"),
        (CACHE_CONTROL, cache),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(value) = HeaderValue::from_str(tag) {
        headers.insert(ETAG, value);
    }
    if let Ok(value) = HeaderValue::from_str(&modified(media)) {
        headers.insert(LAST_MODIFIED, value);
    }
    headers
}

fn modified(media: &Media) -> String {
    let seconds = u64::try_from(media.created_at.seconds()).unwrap_or(0);
    let since = std::time::UNIX_EPOCH.checked_add(std::time::Duration::from_secs(seconds));
    since.map(httpdate::fmt_http_date).unwrap_or_default()
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Whether the client has it already.
fn is_known(asked: &HeaderMap, tag: &str, media: &Media) -> bool {
    match (text(asked, &IF_NONE_MATCH), text(asked, &IF_MODIFIED_SINCE)) {
        (Some(tags), _) => tags
            .split(',')
            .map(|one| one.trim().trim_start_matches("W/"))
            .any(|one| one == tag || one == "*"),
        (None, Some(since)) => since == modified(media),
        _ => false,
    }
}

/// The part that is asked for.
enum Part {
    Whole,
    Range(u64, u64),
    None,
}

/// One range; more than one at a time are answered with the whole (RFC 9110 §14.2).
fn range(asked: &HeaderMap, tag: &str, length: u64) -> Part {
    let unchanged = text(asked, &IF_RANGE).is_none_or(|known| known == tag);
    let range = text(asked, &RANGE).filter(|_| unchanged);
    let Some(range) = range.and_then(|range| range.strip_prefix("bytes=")) else {
        return Part::Whole;
    };
    let Some((first, last)) = range
        .trim()
        .split_once('-')
        .filter(|_| !range.contains(','))
    else {
        return Part::Whole;
    };
    let number = |text: &str| text.parse::<u64>().ok();
    let end = length.saturating_sub(1);
    let (first, last) = match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => (first, last.min(end)),
        (Some(first), None) if last.is_empty() => (first, end),
        (None, Some(0)) if first.is_empty() => return Part::None,
        (None, Some(count)) if first.is_empty() => (length.saturating_sub(count), end),
        _ => return Part::Whole,
    };
    if first >= length {
        return Part::None;
    }
    Part::Range(first, last)
}

async fn answer(
    files: &FileStore,
    path: &str,
    length: u64,
    part: Part,
    mut head: HeaderMap,
) -> Result<Reply, Error> {
    let (status, range, count) = match part {
        Part::Whole => (200, None, length),
        Part::Range(first, last) => {
            let shown = format!("bytes {first}-{last}/{length}");
            insert(&mut head, CONTENT_RANGE, &shown);
            let end = last.saturating_add(1);
            (206, Some(GetRange::Bounded(first..end)), end - first)
        }
        Part::None => {
            insert(&mut head, CONTENT_RANGE, &format!("bytes */{length}"));
            return Ok(Reply {
                headers: head,
                ..Reply::empty(416)
            });
        }
    };
    let piece = files.read(path, range).await.map_err(broken)?;
    let piece = piece.ok_or_else(|| Refusal::NotFound(ResourceRef::new("media", "file", path)))?;
    insert(&mut head, CONTENT_LENGTH, &count.to_string());
    Ok(Reply {
        headers: head,
        body: body(piece),
        ..Reply::empty(status)
    })
}

fn insert(head: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        head.insert(name, value);
    }
}

fn body(piece: FileRange) -> Body {
    Body::stream(
        piece
            .bytes
            .map(|bytes| bytes.map_err(|_| BodyError::Broken)),
    )
}
