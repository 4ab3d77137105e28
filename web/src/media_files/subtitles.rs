//! Serves the subtitles of a video to its readers.

use base::Error;
use http::header::CONTENT_LENGTH;
use media::{MediaFormat, SUBTITLE_BYTES, convert_to_web_vtt};
use store::media::Media;

use super::{MediaFileReaders, file_headers, insert_header, is_not_modified};
use crate::reply::HttpReply;
use crate::request_context::RequestContext;
use crate::uploads::storage_unavailable;

/// As `WebVTT`; none if the video has no subtitles in the language.
pub(super) async fn send_subtitles(
    call: &RequestContext,
    video: &Media,
    language: &str,
    readers: MediaFileReaders,
) -> Result<Option<HttpReply>, Error> {
    let (video, language) = (video.id, language.to_owned());
    let found = call.read(move |tx| {
        let file = store::media::find_subtitles(tx, video, &language)?;
        Ok(file.map(|file| store::media::find_by_id(tx, file)).transpose()?.flatten())
    });
    let Some(subtitles) = found.await? else { return Ok(None) };
    let (uploads, path) = (call.uploads()?, &subtitles.path);
    let size = uploads.files().size(path).await.map_err(storage_unavailable)?;
    if size.is_none_or(|size| size > SUBTITLE_BYTES) {
        return Ok(None);
    }
    let etag = format!("\"{}-vtt\"", subtitles.id);
    let mut headers = file_headers(&subtitles, MediaFormat::Vtt.content_type(), &etag, readers);
    headers.remove(http::header::ACCEPT_RANGES);
    if is_not_modified(&call.head().headers, &etag, &subtitles) {
        return Ok(Some(HttpReply { headers, ..HttpReply::empty(304) }));
    }
    let file = uploads.files().read_whole(path).await.map_err(storage_unavailable)?;
    Ok(file.map(|file| {
        let text = convert_to_web_vtt(&file);
        insert_header(&mut headers, CONTENT_LENGTH, &text.len().to_string());
        HttpReply { headers, body: text.into(), ..HttpReply::empty(200) }
    }))
}
