//! Files that are attached to posts and profiles, stored as the upload endpoints do.

use base::{Error, Fault, MediaId, SplitRefusal, UserId};
use media::MediaRejection;
use network::uploads::UploadKind;
use store::Tx;
use web::error_formats::error_message;
use web::request_context::RequestContext;
use web::uploads::{IncomingFile, UploadProcessor};

pub(crate) const MAX_ATTACHED: usize = 4;
/// Characters.
const MAX_DESCRIPTION: usize = 1000;

/// Asks for a file that was sent and not kept.
pub(crate) const CHOOSE_AGAIN: &str = "Choose the file again.";

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
    let stored = processor.create_media(user, file, UploadKind::Video, Vec::new());
    let stored = match stored.await.split_refusal()? {
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
