//! Uploads: what may be sent, by whom, and what becomes of it (contract §7.12).

use base::id::kind;
use base::refusal::Subject;
use base::{Id, Refusal, Stop, Time, UserId};
use store::media::Media;
use store::uploads::{self, MediaUpload, UploadSegment, UploadState};
use store::{Tx, event_log, media};

use crate::users;

/// How long what nobody posts is kept.
pub const LIFE_MS: i64 = 24 * 3600 * 1000;
/// How long a process may be at an upload before another takes it.
pub const LEASE_MS: i64 = 60 * 1000;
/// Uploads of one user that receive segments at the same time.
const OPEN: i64 = 100;

/// A kind of media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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

impl Kind {
    /// The kind that a category announces; clients write `tweet_image` and `TweetImage`.
    pub fn of_category(category: &str) -> Option<Self> {
        Some(
            match category.replace('_', "").to_ascii_lowercase().as_str() {
                "tweetimage" | "dmimage" => Self::Photo,
                "tweetgif" | "dmgif" => Self::AnimatedGif,
                "tweetvideo" | "dmvideo" => Self::Video,
                "amplifyvideo" => Self::AmplifyVideo,
                "subtitles" => Self::Subtitles,
                _ => return None,
            },
        )
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
    pub const fn prefix(self) -> i64 {
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
    pub kind: Option<Kind>,
    /// Bytes; none where they are not announced.
    pub total_bytes: Option<i64>,
    /// As many as its kind may have.
    pub limit: i64,
    /// Others who may post it.
    pub shared_with: Vec<UserId>,
}

/// What the bytes of an upload turned out to be.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its kind.
    pub kind: Kind,
    /// The label that it is served under.
    pub content_type: &'static str,
    /// The ending of its file's name.
    pub ending: &'static str,
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

impl Found {
    /// The key of what an upload becomes: the one that was told, or one of its kind.
    pub fn key(&self, upload: &MediaUpload) -> String {
        if upload.media_key.is_empty() {
            format!("{}_{}", self.kind.prefix(), upload.id)
        } else {
            upload.media_key.clone()
        }
    }

    /// Where its file is; without the random part of its name nobody finds it.
    pub fn path(&self, upload: &MediaUpload) -> String {
        let key = self.key(upload);
        let shard = key.get(key.len().saturating_sub(2)..).unwrap_or_default();
        format!("{shard}/{key}.{}.{}", upload.token, self.ending)
    }
}

/// Begins an upload.
pub fn begin(tx: &mut Tx<'_>, owner: UserId, new: &NewUpload) -> Result<MediaUpload, Stop> {
    users::active(tx, owner)?;
    if let Some(total) = new.total_bytes.filter(|total| *total > new.limit) {
        let message = format!(
            "`total_bytes` is more than {} for this kind of media.",
            new.limit
        );
        return Err(Refusal::invalid("total_bytes", total, message).into());
    }
    for user in &new.shared_with {
        if store::users::find_by_id(tx, *user)?.is_none() {
            let message = "Your additional owners are invalid.";
            return Err(Refusal::invalid("additional_owners", user, message).into());
        }
    }
    if uploads::count_receiving(tx, owner, OPEN)? >= OPEN {
        let detail = "Too many uploads are open: finish some of them first.";
        return Err(Refusal::forbidden(detail).into());
    }
    let id: Id<kind::Media> = tx.next_id();
    let key = new.kind.map(|kind| format!("{}_{id}", kind.prefix()));
    let upload = MediaUpload {
        id,
        media_key: key.unwrap_or_default(),
        owner_id: owner,
        kind: new.kind.map(Kind::name).unwrap_or_default().to_owned(),
        token: tx.rng().token(16)?,
        total_bytes: new.total_bytes.unwrap_or(0),
        state: UploadState::Receiving,
        failure_reason: String::new(),
        progress_percent: 0,
        leased_until: Time::from_ms(0),
        alt_text: String::new(),
        shared_with: new.shared_with.clone(),
        expires_at: tx.now().plus_ms(LIFE_MS),
    };
    uploads::insert(tx, &upload)?;
    Ok(upload)
}

/// An upload of a user.
pub fn own(tx: &mut Tx<'_>, owner: UserId, id: Id<kind::Media>) -> Result<MediaUpload, Stop> {
    let now = tx.now();
    let found = uploads::find_by_id(tx, id)?
        .filter(|upload| upload.owner_id == owner && upload.expires_at > now);
    found.ok_or_else(|| Refusal::NotFound(Subject::new("media", "id", id)).into())
}

/// Whether an upload takes a segment.
pub fn takes(
    tx: &mut Tx<'_>,
    owner: UserId,
    id: Id<kind::Media>,
    segment: UploadSegment,
    limit: i64,
) -> Result<MediaUpload, Stop> {
    let upload = open(tx, owner, id)?;
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
        return Err(Refusal::invalid("media", segment.size, message).into());
    }
    Ok(upload)
}

/// Notes a segment whose bytes are stored.
pub fn add_segment(
    tx: &mut Tx<'_>,
    owner: UserId,
    id: Id<kind::Media>,
    segment: UploadSegment,
    limit: i64,
) -> Result<MediaUpload, Stop> {
    let upload = takes(tx, owner, id, segment, limit)?;
    uploads::upsert_segment(tx, id, segment.index, segment.size)?;
    Ok(upload)
}

/// An upload of a user that takes segments.
pub fn open(tx: &mut Tx<'_>, owner: UserId, id: Id<kind::Media>) -> Result<MediaUpload, Stop> {
    let upload = own(tx, owner, id)?;
    if upload.state == UploadState::Receiving {
        return Ok(upload);
    }
    let message = "The upload is finalized already.";
    Err(Refusal::invalid("id", id, message).into())
}

/// The segments of an upload that is to end: all of them must be there.
pub fn complete(tx: &mut Tx<'_>, upload: &MediaUpload) -> Result<Vec<UploadSegment>, Stop> {
    let segments = uploads::list_segments(tx, upload.id)?;
    let refuse = |message: &str| Stop::from(Refusal::invalid("id", upload.id, message));
    if segments.is_empty() {
        return Err(refuse("No segment was uploaded."));
    }
    let sum: i64 = segments.iter().map(|segment| segment.size).sum();
    if upload.total_bytes > 0 && sum != upload.total_bytes {
        return Err(refuse(
            "Segments do not add up to provided total file size.",
        ));
    }
    let mut places = (0_i64..).zip(&segments);
    if places.any(|(place, segment)| segment.index != place) {
        return Err(refuse("Segments do not follow each other: one is missing."));
    }
    Ok(segments)
}

/// Ends the receiving of an upload: it waits for the background work, or whoever ended it works
/// on it now. An upload that was ended before stays as it is.
pub fn end(tx: &mut Tx<'_>, upload: &mut MediaUpload, later: bool) -> Result<(), Stop> {
    if upload.state != UploadState::Receiving {
        return Ok(());
    }
    complete(tx, upload)?;
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
pub fn publish(tx: &mut Tx<'_>, upload: &MediaUpload, found: &Found) -> Result<Media, Stop> {
    // It may have been described while it was looked at: whoever describes it meanwhile waits.
    let moved = uploads::transition(tx, upload.id, upload.state, UploadState::Succeeded)?;
    let current = uploads::find_by_id(tx, upload.id)?;
    let alt_text = current.map(|upload| upload.alt_text).unwrap_or_default();
    let made = Media {
        media_key: found.key(upload),
        id: upload.id,
        owner_id: upload.owner_id,
        kind: found.kind.name().to_owned(),
        path: found.path(upload),
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
    use super::Kind;

    #[test]
    fn a_category_is_known_however_clients_write_it() {
        for written in ["tweet_image", "TweetImage", "TWEET_IMAGE", "DmImage"] {
            assert_eq!(Kind::of_category(written), Some(Kind::Photo), "{written}");
        }
        assert_eq!(Kind::of_category("AmplifyVideo"), Some(Kind::AmplifyVideo));
        assert_eq!(Kind::of_category("tweet"), None);
    }
}
