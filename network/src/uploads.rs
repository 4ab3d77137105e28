//! Media uploads: limits, permissions and results (contract core §7.12).

use base::refusal::ResourceRef;
use base::{Error, Fault, MediaId, Refusal, Time, UserId};
use store::media::Media;
use store::uploads::{self, MediaUpload, UploadSegment, UploadState};
use store::{Tx, event_log, media};

use crate::users;

/// How long media that are not attached to anything are stored.
pub const UNATTACHED_TTL_MS: i64 = 24 * 3600 * 1000;
/// How long a process has an upload reserved.
pub const LEASE_MS: i64 = 60 * 1000;
/// Receiving uploads per user.
const MAX_OPEN_UPLOADS: i64 = 100;
/// Uploads that wait for processing; while there are more, no variants are made.
const MAX_WAITING_UPLOADS: i64 = 1000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UploadKind {
    #[default]
    Photo,
    AnimatedGif,
    Video,
    /// A video for advertisements.
    AmplifyVideo,
    Subtitles,
}

impl UploadKind {
    /// Accepts `tweet_image` and `TweetImage` alike.
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

    /// The name in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Photo => "photo",
            Self::AnimatedGif => "animated_gif",
            Self::Video | Self::AmplifyVideo => "video",
            Self::Subtitles => "subtitles",
        }
    }

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

#[derive(Clone, Debug, Default)]
pub struct NewUpload {
    /// If given, the media key is announced at once.
    pub kind: Option<UploadKind>,
    /// None if not announced.
    pub total_bytes: Option<i64>,
    /// The maximum size of this kind, in bytes.
    pub limit: i64,
    /// Other users who may post it.
    pub shared_with: Vec<UserId>,
}

/// The result of processing an upload.
#[derive(Clone, Debug, Default)]
pub struct ProcessedUpload {
    pub kind: UploadKind,
    pub content_type: &'static str,
    pub extension: &'static str,
    /// Bytes.
    pub size: i64,
    /// Pixels.
    pub width: i64,
    /// Pixels.
    pub height: i64,
    /// 0 for photos.
    pub duration_ms: i64,
    /// Bits per second; 0 for photos.
    pub bit_rate: i64,
    /// The suffixes of the smaller images, comma-separated.
    pub sizes: String,
    /// The suffixes of the variants with their bits per second, comma-separated.
    pub variant_files: String,
}

impl ProcessedUpload {
    /// The announced key, or one for the detected kind.
    pub fn media_key(&self, upload: &MediaUpload) -> String {
        if upload.media_key.is_empty() {
            format!("{}_{}", self.kind.key_prefix(), upload.id)
        } else {
            upload.media_key.clone()
        }
    }

    /// The path of the file. Its name contains a random part, so that it cannot be guessed.
    pub fn file_path(&self, upload: &MediaUpload) -> String {
        let key = self.media_key(upload);
        let shard = key.get(key.len().saturating_sub(2)..).unwrap_or_default();
        format!("{shard}/{key}.{}.{}", upload.token, self.extension)
    }
}

pub fn initialize(tx: &mut Tx<'_>, owner: UserId, new: &NewUpload) -> Result<MediaUpload, Error> {
    // Concurrent calls must count each other's uploads.
    store::users::lock(tx, owner)?;
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
    let id: MediaId = tx.next_id();
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

/// Refused if it has expired or belongs to another user. `parameter` is the id's name in the request.
pub fn find_owned_upload(
    tx: &mut Tx<'_>,
    owner: UserId,
    id: MediaId,
    parameter: &'static str,
) -> Result<MediaUpload, Error> {
    let now = tx.now();
    let found = uploads::find_by_id(tx, id)?.filter(|upload| upload.owner_id == owner && upload.expires_at > now);
    found.ok_or_else(|| Refusal::NotFound(ResourceRef::new("media", parameter, id)).into())
}

/// Refused if the segments would exceed the announced size or `limit`, in bytes.
pub fn check_segment(
    tx: &mut Tx<'_>,
    owner: UserId,
    id: MediaId,
    segment: UploadSegment,
    limit: i64,
) -> Result<MediaUpload, Error> {
    let upload = find_open_upload(tx, owner, id)?;
    let others = uploads::list_segments(tx, id)?;
    let others = others.iter().filter(|other| other.index != segment.index);
    let sum: i64 = others.map(|other| other.size).sum();
    let max = if upload.total_bytes > 0 { upload.total_bytes } else { limit };
    if sum.saturating_add(segment.size) > max {
        let message = format!("The segments are larger than the total of {max} bytes.");
        return Err(Refusal::invalid_parameter("media", segment.size, message).into());
    }
    Ok(upload)
}

/// Records a stored segment, after [`check_segment`].
pub fn add_segment(
    tx: &mut Tx<'_>,
    owner: UserId,
    id: MediaId,
    segment: UploadSegment,
    limit: i64,
) -> Result<MediaUpload, Error> {
    let upload = check_segment(tx, owner, id, segment, limit)?;
    uploads::upsert_segment(tx, id, segment.index, segment.size)?;
    Ok(upload)
}

/// Refused if the upload does not receive segments.
pub fn find_open_upload(tx: &mut Tx<'_>, owner: UserId, id: MediaId) -> Result<MediaUpload, Error> {
    let upload = find_owned_upload(tx, owner, id, "id")?;
    if upload.state == UploadState::Receiving {
        return Ok(upload);
    }
    let message = "The upload is finalized already.";
    Err(Refusal::invalid_parameter("id", id, message).into())
}

/// Refused unless all segments are present.
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
    let mut expected = (0_i64..).zip(&segments);
    if expected.any(|(index, segment)| segment.index != index) {
        return Err(refuse("Segments do not follow each other: one is missing."));
    }
    Ok(segments)
}

/// Finishes receiving. The upload is queued with `later`, otherwise claimed by the caller. A finished upload stays as
/// it is.
pub fn finalize(tx: &mut Tx<'_>, upload: &mut MediaUpload, later: bool) -> Result<(), Error> {
    if upload.state != UploadState::Receiving {
        return Ok(());
    }
    require_all_segments(tx, upload)?;
    let transitioned = if later {
        uploads::transition(tx, upload.id, UploadState::Receiving, UploadState::Pending)?
    } else {
        let until = tx.now().plus_ms(LEASE_MS);
        uploads::start_processing(tx, upload.id, until)?
    };
    if !transitioned {
        return Ok(());
    }
    upload.state = if later { UploadState::Pending } else { UploadState::Processing };
    Ok(())
}

/// Creates the media object of a processed upload. With `needs_variants`, its variants are made later, unless too many
/// uploads wait. Refused if the upload is gone, as after the erasure of the account.
pub fn publish_media(
    tx: &mut Tx<'_>,
    upload: &MediaUpload,
    found: &ProcessedUpload,
    needs_variants: bool,
) -> Result<Media, Error> {
    // The description may have changed during processing; concurrent changes wait for this transaction.
    if !uploads::transition(tx, upload.id, upload.state, UploadState::Succeeded)? {
        let gone = || Refusal::NotFound(ResourceRef::new("media", "media_id", upload.id));
        return Ok(media::find_by_id(tx, upload.id)?.ok_or_else(gone)?);
    }
    let current = uploads::find_by_id(tx, upload.id)?;
    let alt_text = current.map(|upload| upload.alt_text).unwrap_or_default();
    let media_object = Media {
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
        variant_files: found.variant_files.clone(),
    };
    if media::insert(tx, &media_object)? {
        for user in &upload.shared_with {
            media::share(tx, upload.id, *user)?;
        }
        if needs_variants && !is_queue_full(tx)? {
            uploads::request_variants(tx, upload.id)?;
        }
        let owner = upload.owner_id.get();
        event_log::append(tx, "media.create", owner, upload.id.get(), "")?;
    }
    Ok(media_object)
}

/// Whether so many uploads wait that no more variants should be made.
pub fn is_queue_full(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    Ok(uploads::count_waiting(tx, MAX_WAITING_UPLOADS)? >= MAX_WAITING_UPLOADS)
}

/// Records the variants of a published media object, or that there are none. Returns false if the media object was
/// deleted or another worker was faster.
pub fn publish_variants(tx: &mut Tx<'_>, id: MediaId, made: Option<(&str, &str)>) -> Result<bool, Error> {
    if !uploads::finish_variants(tx, id)? {
        return Ok(false);
    }
    match made {
        Some((sizes, variant_files)) => Ok(media::set_variant_files(tx, id, sizes, variant_files)?),
        None => Ok(true),
    }
}

#[cfg(test)]
mod tests {
    use super::UploadKind;

    #[test]
    fn a_category_is_known_however_clients_write_it() {
        for written in ["tweet_image", "TweetImage", "TWEET_IMAGE", "DmImage"] {
            assert_eq!(UploadKind::from_category(written), Some(UploadKind::Photo), "{written}");
        }
        assert_eq!(UploadKind::from_category("AmplifyVideo"), Some(UploadKind::AmplifyVideo));
        assert_eq!(UploadKind::from_category("tweet"), None);
    }
}
