//! Uploads: what may be sent, by whom, and what becomes of it (contract §7.12).

use base::id::marker;
use base::refusal::ResourceRef;
use base::{Error, Id, Refusal, Time, UserId};
use store::media::Media;
use store::uploads::{self, MediaUpload, UploadSegment, UploadState};
use store::{Tx, event_log, media};

use crate::users;

/// How long what nobody posts is kept.
pub const UNATTACHED_TTL_MS: i64 = 24 * 3600 * 1000;
/// How long a process may be at an upload before another takes it.
pub const LEASE_MS: i64 = 60 * 1000;
/// Uploads of one user that receive segments at the same time.
const MAX_OPEN_UPLOADS: i64 = 100;

/// A kind of media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadKind {
    /// A picture.
    Photo,
    /// A picture that moves.
    AnimatedGif,
    /// A video.
    Video,
    /// A video for advertisements.
    AmplifyVideo,
    /// The words of a video.
    Subtitles,
}

impl UploadKind {
    /// The kind that a category announces; clients write `tweet_image` and `TweetImage`.
    pub fn from_category(category: &str) -> Option<Self> {
        Some(match category.replace('_', "").to_ascii_lowercase().as_str() {
            "tweetimage" | "dmimage" => Self::Photo,
            "tweetgif" | "dmgif" => Self::AnimatedGif,
            "tweetvideo" | "dmvideo" => Self::Video,
            "amplifyvideo" => Self::AmplifyVideo,
            "subtitles" => Self::Subtitles,
            _ => return None,
        })
    }

    /// What it is stored as.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Photo => "photo",
            Self::AnimatedGif => "animated_gif",
            Self::Video | Self::AmplifyVideo => "video",
            Self::Subtitles => "subtitles",
        }
    }

    /// What its keys begin with.
    pub const fn key_prefix(self) -> i64 {
        match self {
            Self::Photo => 3,
            Self::AnimatedGif => 16,
            Self::Video => 7,
            Self::AmplifyVideo => 13,
            Self::Subtitles => 0,
        }
    }
}

/// An upload to begin.
#[derive(Clone, Debug, Default)]
pub struct NewUpload {
    /// Its kind, where it is known; its key is told then.
    pub kind: Option<UploadKind>,
    /// Bytes; none where they are not announced.
    pub total_bytes: Option<i64>,
    /// As many as its kind may have.
    pub limit: i64,
    /// Others who may post it.
    pub shared_with: Vec<UserId>,
}

/// What the bytes of an upload turned out to be.
#[derive(Clone, Debug)]
pub struct ProcessedUpload {
    /// Its kind.
    pub kind: UploadKind,
    /// The label that it is served under.
    pub content_type: &'static str,
    /// The ending of its file's name.
    pub extension: &'static str,
    /// Bytes.
    pub size: i64,
    /// Pixels.
    pub width: i64,
    /// Pixels.
    pub height: i64,
    /// Milliseconds; 0 for what does not play.
    pub duration_ms: i64,
    /// Bits a second; 0 for what does not play.
    pub bit_rate: i64,
    /// The endings of the smaller pictures beside it, comma-separated.
    pub sizes: String,
}

impl ProcessedUpload {
    /// The key of what an upload becomes: the one that was told, or one of its kind.
    pub fn media_key(&self, upload: &MediaUpload) -> String {
        if upload.media_key.is_empty() {
            format!("{}_{}", self.kind.key_prefix(), upload.id)
        } else {
            upload.media_key.clone()
        }
    }

    /// Where its file is; without the random part of its name nobody finds it.
    pub fn file_path(&self, upload: &MediaUpload) -> String {
        let key = self.media_key(upload);
        let shard = key.get(key.len().saturating_sub(2)..).unwrap_or_default();
        format!("{shard}/{key}.{}.{}", upload.token, self.extension)
    }
}

/// Begins an upload.
pub fn initialize(tx: &mut Tx<'_>, owner: UserId, new: &NewUpload) -> Result<MediaUpload, Error> {
    users::find_active(tx, owner)?;
    if let Some(total) = new.total_bytes.filter(|total| *total > new.limit) {
        let message = format!("`total_bytes` is more than {} for this kind of media.", new.limit);
        return Err(Refusal::invalid_parameter("total_bytes", total, message).into());
    }
    for user in &new.shared_with {
        if store::users::find_by_id(tx, *user)?.is_none() {
            let message = "Your additional owners are invalid.";
            return Err(Refusal::invalid_parameter("additional_owners", user, message).into());
        }
    }
    if uploads::count_receiving(tx, owner, MAX_OPEN_UPLOADS)? >= MAX_OPEN_UPLOADS {
        let detail = "Too many uploads are open: finish some of them first.";
        return Err(Refusal::forbidden(detail).into());
    }
    let id: Id<marker::MediaMarker> = tx.next_id();
    let key = new.kind.map(|kind| format!("{}_{id}", kind.key_prefix()));
    let upload = MediaUpload {
        id,
        media_key: key.unwrap_or_default(),
        owner_id: owner,
        kind: new.kind.map(UploadKind::name).unwrap_or_default().to_owned(),
        token: tx.rng().random_token(16)?,
        total_bytes: new.total_bytes.unwrap_or(0),
        state: UploadState::Receiving,
        failure_reason: String::new(),
        progress_percent: 0,
        leased_until: Time::from_ms(0),
        alt_text: String::new(),
        shared_with: new.shared_with.clone(),
        expires_at: tx.now().plus_ms(UNATTACHED_TTL_MS),
    };
    uploads::insert(tx, &upload)?;
    Ok(upload)
}

/// An upload of a user.
pub fn find_owned_upload(tx: &mut Tx<'_>, owner: UserId, id: Id<marker::MediaMarker>) -> Result<MediaUpload, Error> {
    let now = tx.now();
    let found = uploads::find_by_id(tx, id)?.filter(|upload| upload.owner_id == owner && upload.expires_at > now);
    found.ok_or_else(|| Refusal::NotFound(ResourceRef::new("media", "id", id)).into())
}

/// Whether an upload takes a segment.
pub fn check_segment(
    tx: &mut Tx<'_>,
    owner: UserId,
    id: Id<marker::MediaMarker>,
    segment: UploadSegment,
    limit: i64,
) -> Result<MediaUpload, Error> {
    let upload = find_open_upload(tx, owner, id)?;
    let others = uploads::list_segments(tx, id)?;
    let others = others.iter().filter(|other| other.index != segment.index);
    let sum: i64 = others.map(|other| other.size).sum();
    let most = if upload.total_bytes > 0 {
        upload.total_bytes
    } else {
        limit
    };
    if sum.saturating_add(segment.size) > most {
        let message = format!("The segments are larger than the total of {most} bytes.");
        return Err(Refusal::invalid_parameter("media", segment.size, message).into());
    }
    Ok(upload)
}

/// Notes a segment whose bytes are stored.
pub fn add_segment(
    tx: &mut Tx<'_>,
    owner: UserId,
    id: Id<marker::MediaMarker>,
    segment: UploadSegment,
    limit: i64,
) -> Result<MediaUpload, Error> {
    let upload = check_segment(tx, owner, id, segment, limit)?;
    uploads::upsert_segment(tx, id, segment.index, segment.size)?;
    Ok(upload)
}

/// An upload of a user that takes segments.
pub fn find_open_upload(tx: &mut Tx<'_>, owner: UserId, id: Id<marker::MediaMarker>) -> Result<MediaUpload, Error> {
    let upload = find_owned_upload(tx, owner, id)?;
    if upload.state == UploadState::Receiving {
        return Ok(upload);
    }
    let message = "The upload is finalized already.";
    Err(Refusal::invalid_parameter("id", id, message).into())
}

/// The segments of an upload that is to end: all of them must be there.
pub fn require_all_segments(tx: &mut Tx<'_>, upload: &MediaUpload) -> Result<Vec<UploadSegment>, Error> {
    let segments = uploads::list_segments(tx, upload.id)?;
    let refuse = |message: &str| Error::from(Refusal::invalid_parameter("id", upload.id, message));
    if segments.is_empty() {
        return Err(refuse("No segment was uploaded."));
    }
    let sum: i64 = segments.iter().map(|segment| segment.size).sum();
    if upload.total_bytes > 0 && sum != upload.total_bytes {
        return Err(refuse("Segments do not add up to provided total file size."));
    }
    let mut places = (0_i64..).zip(&segments);
    if places.any(|(place, segment)| segment.index != place) {
        return Err(refuse("Segments do not follow each other: one is missing."));
    }
    Ok(segments)
}

/// Ends the receiving of an upload: it waits for the background work, or whoever ended it works
/// on it now. An upload that was ended before stays as it is.
pub fn finalize(tx: &mut Tx<'_>, upload: &mut MediaUpload, later: bool) -> Result<(), Error> {
    if upload.state != UploadState::Receiving {
        return Ok(());
    }
    require_all_segments(tx, upload)?;
    let moved = if later {
        uploads::transition(tx, upload.id, UploadState::Receiving, UploadState::Pending)?
    } else {
        let until = tx.now().plus_ms(LEASE_MS);
        uploads::start_processing(tx, upload.id, until)?
    };
    if !moved {
        return Ok(());
    }
    upload.state = if later {
        UploadState::Pending
    } else {
        UploadState::Processing
    };
    Ok(())
}

/// Makes media of an upload whose file is in its place.
pub fn publish_media(tx: &mut Tx<'_>, upload: &MediaUpload, found: &ProcessedUpload) -> Result<Media, Error> {
    // It may have been described while it was looked at: whoever describes it meanwhile waits.
    let moved = uploads::transition(tx, upload.id, upload.state, UploadState::Succeeded)?;
    let current = uploads::find_by_id(tx, upload.id)?;
    let alt_text = current.map(|upload| upload.alt_text).unwrap_or_default();
    let made = Media {
        media_key: found.media_key(upload),
        id: upload.id,
        owner_id: upload.owner_id,
        kind: found.kind.name().to_owned(),
        path: found.file_path(upload),
        url: String::new(),
        preview_image_url: String::new(),
        width: found.width,
        height: found.height,
        duration_ms: found.duration_ms,
        alt_text,
        variants: String::new(),
        created_at: tx.now(),
        content_type: found.content_type.to_owned(),
        size: found.size,
        bit_rate: found.bit_rate,
        sizes: found.sizes.clone(),
        uses: Some(0),
        expires_at: Some(upload.expires_at),
    };
    if moved && media::insert(tx, &made)? {
        for user in &upload.shared_with {
            media::share(tx, upload.id, *user)?;
        }
        let owner = upload.owner_id.get();
        event_log::append(tx, "media.create", owner, upload.id.get(), "")?;
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::UploadKind;

    #[test]
    fn a_category_is_known_however_clients_write_it() {
        for written in ["tweet_image", "TweetImage", "TWEET_IMAGE", "DmImage"] {
            assert_eq!(UploadKind::from_category(written), Some(UploadKind::Photo), "{written}");
        }
        assert_eq!(
            UploadKind::from_category("AmplifyVideo"),
            Some(UploadKind::AmplifyVideo)
        );
        assert_eq!(UploadKind::from_category("tweet"), None);
    }
}
