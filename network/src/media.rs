//! Media: permission to post them, descriptions and subtitles.

use std::collections::HashMap;

use base::refusal::ResourceRef;
use base::{Error, Fault, Id, MediaId, Refusal, UserId};
use serde_json::{Map, Value};
use store::media::{self, Media};
use store::posts::Post;
use store::{Tx, posts, uploads, users};

use crate::uploads::{UNATTACHED_TTL_MS, find_owned_upload};
use crate::users::find_writer;

/// Photos per post.
const MAX_PHOTOS: usize = 4;

/// The media for a post, in order: up to four photos, one animated GIF or one video. Refuses media that are not ready
/// or not the user's to post.
pub fn find_attachable_media(tx: &mut Tx<'_>, user: UserId, ids: &[MediaId]) -> Result<Vec<Media>, Error> {
    let numbers: Vec<i64> = ids.iter().map(|id| id.get()).collect();
    let found = media::find_by_ids(tx, &numbers)?;
    let mut all: Vec<Media> = Vec::with_capacity(ids.len());
    for id in ids {
        let item = found.iter().find(|item| item.id == *id);
        match item {
            Some(item) if is_usable(tx, user, item)? && all.iter().all(|other| other.id != *id) => {
                all.push(item.clone());
            }
            _ => {
                let message = "Your media IDs are invalid.";
                return Err(Refusal::invalid_parameter("media.media_ids", id, message).into());
            }
        }
    }
    let has = |kind: &str| all.iter().any(|item| item.kind == kind);
    if all.len() > 1 && has("animated_gif") {
        let message = "Animated GIFs are not allowed when uploading multiple images.";
        return Err(legacy_refusal(323, message).into());
    }
    if all.len() > MAX_PHOTOS || all.len() > 1 && has("video") {
        return Err(legacy_refusal(324, "The validation of media ids failed.").into());
    }
    Ok(all)
}

/// The media for a message. Refused if it is not ready or not the user's to post.
pub(crate) fn find_sendable_media(tx: &mut Tx<'_>, user: UserId, id: MediaId) -> Result<Media, Error> {
    if let Some(item) = media::find_by_id(tx, id)?
        && is_usable(tx, user, &item)?
    {
        return Ok(item);
    }
    let message = "Your media IDs are invalid.";
    Err(Refusal::invalid_parameter("attachments.media_id", id, message).into())
}

fn legacy_refusal(code: u16, message: &'static str) -> Refusal {
    Refusal::Legacy { code, message: message.into() }
}

fn is_usable(tx: &mut Tx<'_>, user: UserId, item: &Media) -> Result<bool, Fault> {
    let is_available = item.expires_at.is_none_or(|end| end > tx.now());
    let is_postable = is_available && !item.is_withheld() && item.kind != "subtitles";
    Ok(is_postable && (item.owner_id == user || media::is_shared(tx, item.id, user)?))
}

pub(crate) fn parse_media_keys(keys: &str) -> Vec<MediaId> {
    let numbers = keys.split(',').filter_map(|key| key.split_once('_'));
    numbers.filter_map(|(_, id)| Id::parse(id)).collect()
}

/// Media of a post and its earlier versions.
pub fn list_attached_media(tx: &mut Tx<'_>, post: &Post) -> Result<Vec<MediaId>, Fault> {
    let Some(root) = post.edit_root_id else {
        return Ok(parse_media_keys(&post.media_keys));
    };
    let versions = posts::list_versions(tx, root)?;
    let versions = posts::find_by_ids(tx, &versions)?;
    let keys = versions.iter().map(|version| parse_media_keys(&version.media_keys));
    Ok(keys.flatten().collect())
}

/// Sets the description of a user's media or upload.
pub fn set_alt_text(tx: &mut Tx<'_>, user: UserId, id: MediaId, alt_text: &str) -> Result<(), Error> {
    find_writer(tx, user)?;
    let exists = |tx: &mut Tx<'_>| {
        let found = media::find_by_id(tx, id)?;
        Ok::<_, Fault>(found.is_some_and(|item| item.owner_id == user))
    };
    if !exists(tx)? {
        let upload = find_owned_upload(tx, user, id, "id")?;
        uploads::set_alt_text(tx, upload.id, alt_text)?;
        // The media may have been created while waiting for the lock.
        if !exists(tx)? {
            return Ok(());
        }
    }
    Ok(media::set_alt_text(tx, id, alt_text)?)
}

const SENSITIVE_MEDIA_WARNING: &str = "sensitive_media_warning";
const TITLE: &str = "title";
const DESCRIPTION: &str = "description";

/// What a post says of its media.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MediaCaption {
    /// May be empty.
    pub title: String,
    /// May be empty.
    pub description: String,
}

/// Sets metadata of a user's media or upload, as in the API. What was set before under other names stays.
pub fn set_metadata(tx: &mut Tx<'_>, user: UserId, id: MediaId, metadata: &Map<String, Value>) -> Result<(), Error> {
    // Serializes changes of the same metadata.
    users::lock(tx, user)?;
    find_writer(tx, user)?;
    if media::find_by_id(tx, id)?.is_none_or(|item| item.owner_id != user) {
        find_owned_upload(tx, user, id, "id")?;
    }
    Ok(merge_metadata(tx, id, metadata)?)
}

fn merge_metadata(tx: &mut Tx<'_>, id: MediaId, metadata: &Map<String, Value>) -> Result<(), Fault> {
    let mut all = list_metadata(tx, &[id])?.remove(&id).unwrap_or_default();
    all.extend(metadata.clone());
    media::set_metadata(tx, id, &Value::Object(all).to_string())
}

fn list_metadata(tx: &mut Tx<'_>, ids: &[MediaId]) -> Result<HashMap<MediaId, Map<String, Value>>, Fault> {
    let stored = media::list_metadata(tx, ids)?.into_iter();
    Ok(stored.map(|(id, metadata)| (id, serde_json::from_str(&metadata).unwrap_or_default())).collect())
}

/// Whether the owner of some of these media warned of what they show.
pub(crate) fn has_sensitive_media(tx: &mut Tx<'_>, ids: &[MediaId]) -> Result<bool, Fault> {
    let is_sensitive = |metadata: &Map<String, Value>| {
        let warning = metadata.get(SENSITIVE_MEDIA_WARNING).and_then(Value::as_object);
        warning.is_some_and(|warning| warning.values().any(|warned| *warned == true))
    };
    Ok(!ids.is_empty() && list_metadata(tx, ids)?.values().any(is_sensitive))
}

/// Other users' media, which an author may be allowed to post, keep their captions.
pub(crate) fn set_captions(
    tx: &mut Tx<'_>,
    author: UserId,
    ids: &[MediaId],
    caption: &MediaCaption,
) -> Result<(), Fault> {
    let texts = [(TITLE, &caption.title), (DESCRIPTION, &caption.description)].into_iter();
    let texts = texts.filter(|(_, text)| !text.is_empty());
    let texts: Map<String, Value> = texts.map(|(name, text)| (name.to_owned(), text.clone().into())).collect();
    if texts.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = ids.iter().map(|id| id.get()).collect();
    let mut own = media::find_by_ids(tx, &ids)?;
    own.retain(|item| item.owner_id == author);
    own.iter().try_for_each(|item| merge_metadata(tx, item.id, &texts))
}

/// Media without a caption are left out.
pub fn find_captions(tx: &mut Tx<'_>, ids: &[MediaId]) -> Result<HashMap<MediaId, MediaCaption>, Fault> {
    let read = |metadata: &Map<String, Value>| {
        let text = |name| metadata.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        MediaCaption { title: text(TITLE), description: text(DESCRIPTION) }
    };
    let all = list_metadata(tx, ids)?.into_iter().map(|(id, metadata)| (id, read(&metadata)));
    Ok(all.filter(|(_, caption)| *caption != MediaCaption::default()).collect())
}

fn find_owned_media(
    tx: &mut Tx<'_>,
    user: UserId,
    id: MediaId,
    kind: &str,
    parameter: &'static str,
) -> Result<Media, Error> {
    let found = media::find_by_id(tx, id)?;
    let found = found.filter(|item| item.owner_id == user && item.kind == kind && !item.is_being_removed());
    found.ok_or_else(|| Refusal::NotFound(ResourceRef::new("media", parameter, id)).into())
}

pub fn add_subtitles(
    tx: &mut Tx<'_>,
    user: UserId,
    video: MediaId,
    language: &str,
    subtitles: MediaId,
    display_name: &str,
) -> Result<(), Error> {
    // Two files for one language must not both replace the one before.
    users::lock(tx, user)?;
    find_owned_media(tx, user, video, "video", "id")?;
    find_owned_media(tx, user, subtitles, "subtitles", "subtitles.id")?;
    let before = media::find_subtitles(tx, video, language)?;
    media::set_subtitles(tx, video, language, subtitles, display_name)?;
    media::add_post_uses(tx, &[subtitles])?;
    Ok(release_subtitles(tx, before)?)
}

/// They can be added again for as long as an upload without a use.
fn release_subtitles(tx: &mut Tx<'_>, subtitles: Option<MediaId>) -> Result<(), Fault> {
    let expires_at = tx.now().plus_ms(UNATTACHED_TTL_MS);
    media::remove_post_uses(tx, subtitles.as_slice(), expires_at)
}

pub fn remove_subtitles(tx: &mut Tx<'_>, user: UserId, video: MediaId, language: &str) -> Result<(), Error> {
    users::lock(tx, user)?;
    find_owned_media(tx, user, video, "video", "id")?;
    let before = media::find_subtitles(tx, video, language)?;
    media::remove_subtitles(tx, video, language)?;
    Ok(release_subtitles(tx, before)?)
}
