//! Files that are attached to posts and profiles, stored as the upload endpoints do.

use base::{Error, Fault, MediaId, SplitRefusal, UserId};
use media::{MediaFormat, MediaRejection};
use network::uploads::{self, NewUpload, UploadKind};
use store::Tx;
use store::media::Media;
use store::uploads::UploadSegment;
use web::error_formats::error_message;
use web::request_context::RequestContext;
use web::uploads::{IncomingFile, UploadProcessor, segment_path, storage_unavailable};

pub(crate) const MAX_ATTACHED: usize = 4;
/// Characters.
const MAX_DESCRIPTION: usize = 1000;

/// Stores a file and its description; the inner error is a sentence for the person.
pub(crate) async fn attach_file(
    call: &RequestContext,
    processor: &UploadProcessor,
    user: UserId,
    file: &IncomingFile,
    description: &str,
) -> Result<Result<MediaId, String>, Error> {
    if description.chars().count() > MAX_DESCRIPTION {
        return Ok(Err("The description is longer than 1,000 characters.".to_owned()));
    }
    let stored = match store_file(call, processor, user, file).await.split_refusal()? {
        Ok(Ok(stored)) => stored,
        Ok(Err(rejection)) => return Ok(Err(rejection_message(&rejection))),
        Err(refusal) => return Ok(Err(error_message(&refusal).to_owned())),
    };
    let (id, text) = (stored.id, description.to_owned());
    if !text.is_empty() {
        call.write(move |tx| network::media::set_alt_text(tx, user, id, &text)).await?;
    }
    Ok(Ok(id))
}

/// For the person who has chosen the file.
pub(crate) fn rejection_message(rejection: &MediaRejection) -> String {
    match rejection {
        MediaRejection::TooLarge(_) => format!("{rejection} Choose a smaller one, or reduce its resolution first."),
        _ => rejection.to_string(),
    }
}

pub(crate) async fn store_file(
    call: &RequestContext,
    processor: &UploadProcessor,
    user: UserId,
    file: &IncomingFile,
) -> Result<Result<Media, MediaRejection>, Error> {
    let (kind, limit) = match MediaFormat::sniff(&file.head) {
        None => return Ok(Err(MediaRejection::Unknown)),
        Some(MediaFormat::Mp4) => (Some(UploadKind::Video), media::VIDEO_BYTES),
        Some(MediaFormat::Gif) => (None, media::GIF_BYTES),
        Some(MediaFormat::Srt | MediaFormat::Vtt) => return Ok(Err(MediaRejection::CategoryMismatch)),
        Some(_) => (None, media::IMAGE_BYTES),
    };
    if file.size > limit {
        return Ok(Err(MediaRejection::TooLarge(limit)));
    }
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let new = NewUpload { kind, total_bytes: None, limit, shared_with: Vec::new() };
    let upload = call.write(move |tx| uploads::initialize(tx, user, &new)).await?;
    let segment = UploadSegment { index: 0, size: i64::try_from(file.size).unwrap_or(i64::MAX) };
    let moved = processor.files().rename(file.name(), &segment_path(upload.id, 0)).await;
    moved.map_err(storage_unavailable)?;
    let id = upload.id;
    let upload = call.write(move |tx| {
        let mut upload = uploads::add_segment(tx, user, id, segment, limit)?;
        uploads::finalize(tx, &mut upload, false)?;
        Ok(upload)
    });
    processor.finish_upload(&upload.await?).await
}

/// Id and description of those of some files that the user may post.
pub(crate) fn list_attached(tx: &mut Tx<'_>, user: UserId, ids: &[MediaId]) -> Result<Vec<(String, String)>, Fault> {
    let mut attached = Vec::with_capacity(ids.len());
    for id in ids {
        if let Some(media) = store::media::find_by_id(tx, *id)?
            && (media.owner_id == user || store::media::is_shared(tx, *id, user)?)
        {
            attached.push((media.id.to_string(), media.alt_text));
        }
    }
    Ok(attached)
}
