//! Media objects, which a post's `media_keys` refer to.

use std::collections::HashMap;

use base::{Fault, MediaId, PostId, Time, UserId};

use crate::Tx;
use crate::db::{insert_new, insert_new_later, select, table};
use crate::playbacks;

table! {
    #[derive(Clone, Debug)]
    pub struct Media in "media" {
        /// `<prefix>_<id>`: prefix 3 for a photo, 7 or 13 for a video, 16 for an animated GIF.
        pub media_key: String,
        pub id: MediaId,
        pub owner_id: UserId,
        /// `photo`, `video` or `animated_gif`.
        pub kind: String,
        /// The path of the file in the media folder, or empty.
        pub path: String,
        /// The URL of a photo, or empty.
        pub url: String,
        /// The URL of a still, or empty.
        pub preview_image_url: String,
        /// Pixels; 0 if unknown.
        pub width: i64,
        /// Pixels; 0 if unknown.
        pub height: i64,
        /// 0 for a photo.
        pub duration_ms: i64,
        pub alt_text: String,
        /// Variants as in the API (JSON), or empty.
        pub variants: String,
        pub created_at: Time,
        /// Empty if it was not detected.
        pub content_type: String,
        /// Bytes; 0 if unknown.
        pub size: i64,
        /// Bits per second; 0 for photos.
        pub bit_rate: i64,
        /// The smaller images next to the file, comma-separated: `small.jpg,medium.jpg`.
        pub sizes: String,
        /// The number of posts with this media; unknown for imported ones; -1 if it is only kept for an appeal against
        /// the removal of its post.
        pub uses: Option<i64>,
        /// When it is deleted, unless a post, draft or message uses it by then.
        pub expires_at: Option<Time>,
        /// Videos next to the file with their bits per second, comma-separated: `320p.mp4:632000,720p.mp4:2176000`.
        pub variant_files: String,
    }
}

/// A video that was made from the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantFile {
    pub path: String,
    /// Bits per second; 0 for that of an animated GIF.
    pub bit_rate: i64,
}

impl Media {
    /// The file's name, which is also the last segment of its URL.
    pub fn file_name(&self) -> Option<&str> {
        let name = self.path.rsplit('/').next()?;
        (!name.is_empty()).then_some(name)
    }

    /// Whether its files are being deleted; see [`claim_expired`].
    pub fn is_being_removed(&self) -> bool {
        self.expires_at.is_some_and(|end| end.ms() == 0)
    }

    /// Whether nothing uses it any more. Its files are deleted soon.
    pub fn has_expired(&self, now: Time) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }

    /// Whether it is only kept for an appeal against the removal of its post.
    pub fn is_withheld(&self) -> bool {
        self.uses.is_some_and(|uses| uses < 0)
    }

    /// The path of the smaller image of a size.
    pub fn size_path(&self, size: &str) -> Option<String> {
        let mut sizes = self.sizes.split(',');
        let ending = sizes.find(|one| one.split('.').next() == Some(size) && !one.is_empty())?;
        let (stem, _) = self.path.rsplit_once('.')?;
        Some(format!("{stem}.{ending}"))
    }

    pub fn variant_files(&self) -> impl Iterator<Item = VariantFile> {
        let stem = self.path.rsplit_once('.').map(|(stem, _)| stem);
        let variants = self.variant_files.split(',').filter_map(|one| one.rsplit_once(':'));
        variants.filter_map(move |(suffix, bit_rate)| {
            Some(VariantFile { path: format!("{}.{suffix}", stem?), bit_rate: bit_rate.parse().ok()? })
        })
    }

    pub fn file_paths(&self) -> Vec<String> {
        let sizes = self.sizes.split(',').filter_map(|one| one.split('.').next());
        let mut all: Vec<String> = sizes.filter_map(|size| self.size_path(size)).collect();
        all.extend(self.variant_files().map(|variant| variant.path));
        if !self.path.is_empty() {
            all.push(self.path.clone());
        }
        all
    }

    /// The path of the file with this name, which is the last segment of its URL.
    pub fn find_path(&self, name: &str) -> Option<String> {
        self.file_paths().into_iter().find(|path| path.rsplit('/').next() == Some(name))
    }
}

pub fn find_by_id(tx: &mut Tx<'_>, id: MediaId) -> Result<Option<Media>, Fault> {
    tx.query_row(select!(Media, "WHERE id = $1"), &[id.into()])
}

/// Unknown ids are skipped.
pub fn find_by_ids(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<Media>, Fault> {
    tx.query_by_keys(select!(Media, "WHERE id = $1"), ids, &[])
}

/// Oldest first, after an id.
pub fn list(tx: &mut Tx<'_>, after: i64, limit: i64) -> Result<Vec<Media>, Fault> {
    let sql = select!(Media, "WHERE id > $1 ORDER BY id LIMIT $2");
    tx.query_rows(sql, &[after.into(), limit.into()])
}

/// Returns false if the key or the id is taken.
pub fn insert(tx: &mut Tx<'_>, media: &Media) -> Result<bool, Fault> {
    insert_new!(tx, Media, media)
}

/// Sets the path of a media object that has no file; returns false if it has one.
pub fn set_path(tx: &mut Tx<'_>, media_key: &str, path: &str) -> Result<bool, Fault> {
    let sql = "UPDATE media SET path = $1 WHERE media_key = $2 AND path = ''";
    Ok(tx.execute(sql, &[path.into(), media_key.into()])? > 0)
}

/// Returns false if there is no such media object, or its files are being deleted.
pub fn set_variant_files(tx: &mut Tx<'_>, id: MediaId, sizes: &str, variant_files: &str) -> Result<bool, Fault> {
    let sql =
        "UPDATE media SET sizes = $1, variant_files = $2 WHERE id = $3 AND (expires_at IS NULL OR expires_at > 0)";
    Ok(tx.execute(sql, &[sizes.into(), variant_files.into(), id.into()])? > 0)
}

pub fn set_alt_text(tx: &mut Tx<'_>, id: MediaId, text: &str) -> Result<(), Fault> {
    let sql = "UPDATE media SET alt_text = $1 WHERE id = $2";
    tx.execute_later(sql, &[text.into(), id.into()])
}

/// What was set for media or uploads, as in the API (JSON), in no particular order.
pub fn list_metadata(tx: &mut Tx<'_>, ids: &[MediaId]) -> Result<Vec<(MediaId, String)>, Fault> {
    tx.query_by_ids("SELECT media_id, metadata FROM media_metadata WHERE media_id = $1", ids, &[])
}

/// Replaces what was set for a media object or an upload.
pub fn set_metadata(tx: &mut Tx<'_>, id: MediaId, metadata: &str) -> Result<(), Fault> {
    let sql = "INSERT INTO media_metadata (media_id, metadata) VALUES ($1, $2) \
               ON CONFLICT (media_id) DO UPDATE SET metadata = excluded.metadata";
    tx.execute_later(sql, &[id.into(), metadata.into()])
}

/// Allows another user to post a media object.
pub fn share(tx: &mut Tx<'_>, id: MediaId, user: UserId) -> Result<(), Fault> {
    insert_new_later!(tx, "media_share", media_id = id, user_id = user)
}

/// Whether a user other than the owner may post a media object.
pub fn is_shared(tx: &mut Tx<'_>, id: MediaId, user: UserId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM media_share WHERE media_id = $1 AND user_id = $2";
    tx.row_exists(sql, &[id.into(), user.into()])
}

/// The users who may use media objects beside their owners, in order.
pub fn list_shared_users(tx: &mut Tx<'_>, ids: &[MediaId]) -> Result<Vec<(MediaId, UserId)>, Fault> {
    let mut all = tx.query_by_ids("SELECT media_id, user_id FROM media_share WHERE media_id = $1", ids, &[])?;
    all.sort_unstable();
    Ok(all)
}

/// Counts the uses of a media object that was just imported.
pub fn begin_imported_uses(tx: &mut Tx<'_>, id: MediaId) -> Result<(), Fault> {
    let sql = "UPDATE media SET imported_uses = 0 WHERE id = $1 AND uses IS NULL";
    tx.execute_later(sql, &[id.into()])
}

/// Counts a post that uses these media.
pub fn add_post_uses(tx: &mut Tx<'_>, ids: &[MediaId]) -> Result<(), Fault> {
    let sql = "UPDATE media SET uses = CASE WHEN uses < 0 THEN 1 ELSE uses + 1 END, \
               imported_uses = imported_uses + 1, expires_at = CASE WHEN expires_at = 0 THEN 0 END WHERE id = $1";
    ids.iter().try_for_each(|id| tx.execute_later(sql, &[(*id).into()]))
}

/// Uncounts a post that used these media; those no longer in use expire at `expires_at`.
pub fn remove_post_uses(tx: &mut Tx<'_>, ids: &[MediaId], expires_at: Time) -> Result<(), Fault> {
    let sql = "UPDATE media SET uses = CASE WHEN uses IS NULL AND imported_uses <= 1 THEN 0 ELSE uses - 1 END, \
               imported_uses = imported_uses - 1, expires_at = CASE WHEN COALESCE(uses, imported_uses) <= 1 \
               AND message_uses = 0 AND draft_uses = 0 THEN $1 ELSE expires_at END WHERE id = $2";
    ids.iter().try_for_each(|id| tx.execute_later(sql, &[expires_at.into(), (*id).into()]))
}

/// Keeps the media of a removed post, of which this is the last use, from being used or served until they expire.
pub fn withhold_unused(tx: &mut Tx<'_>, ids: &[MediaId]) -> Result<(), Fault> {
    let sql = "UPDATE media SET uses = -1 WHERE id = $1 AND uses = 0 AND message_uses = 0 AND draft_uses = 0";
    ids.iter().try_for_each(|id| tx.execute_later(sql, &[(*id).into()]))
}

pub fn add_message_use(tx: &mut Tx<'_>, id: MediaId) -> Result<(), Fault> {
    let sql = "UPDATE media SET message_uses = message_uses + 1, expires_at = CASE WHEN expires_at = 0 THEN 0 END \
               WHERE id = $1";
    tx.execute_later(sql, &[id.into()])
}

/// Uncounts a message that used this media; if it is no longer in use, it expires at `expires_at`.
pub fn remove_message_use(tx: &mut Tx<'_>, id: MediaId, expires_at: Time) -> Result<(), Fault> {
    let sql = "UPDATE media SET message_uses = message_uses - 1, expires_at = \
               CASE WHEN message_uses <= 1 AND uses = 0 AND draft_uses = 0 THEN $1 ELSE expires_at END WHERE id = $2";
    tx.execute_later(sql, &[expires_at.into(), id.into()])
}

/// Counts a draft or scheduled post that is going to use these media.
pub fn add_draft_uses(tx: &mut Tx<'_>, ids: &[MediaId]) -> Result<(), Fault> {
    let sql = "UPDATE media SET draft_uses = draft_uses + 1, expires_at = CASE WHEN expires_at = 0 THEN 0 END \
               WHERE id = $1";
    ids.iter().try_for_each(|id| tx.execute_later(sql, &[(*id).into()]))
}

/// Uncounts a draft or scheduled post; those media that are no longer in use expire at `expires_at`.
pub fn remove_draft_uses(tx: &mut Tx<'_>, ids: &[MediaId], expires_at: Time) -> Result<(), Fault> {
    let sql = "UPDATE media SET draft_uses = draft_uses - 1, expires_at = CASE WHEN draft_uses <= 1 AND uses = 0 \
               AND message_uses = 0 THEN $1 ELSE expires_at END WHERE id = $2";
    ids.iter().try_for_each(|id| tx.execute_later(sql, &[expires_at.into(), (*id).into()]))
}

/// Whether only messages use it, so that only their readers may see it, or it is withheld, so that nobody may.
pub fn is_private(tx: &mut Tx<'_>, id: MediaId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM media WHERE id = $1 AND (uses < 0 OR uses = 0 AND message_uses > 0)";
    tx.row_exists(sql, &[id.into()])
}

/// Records the users tagged in a post's media.
pub fn tag_users(tx: &mut Tx<'_>, post: PostId, users: &[UserId]) -> Result<(), Fault> {
    users.iter().try_for_each(|user| insert_new_later!(tx, "media_tag", post_id = post, user_id = *user))
}

pub fn remove_tags(tx: &mut Tx<'_>, post: PostId) -> Result<(), Fault> {
    let sql = "DELETE FROM media_tag WHERE post_id = $1";
    tx.execute_later(sql, &[post.into()])
}

pub fn list_expired(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<Media>, Fault> {
    let sql = select!(Media, "WHERE expires_at IS NOT NULL AND expires_at <= $1 ORDER BY expires_at LIMIT $2");
    let now = tx.now();
    tx.query_rows(sql, &[now.into(), limit.into()])
}

/// Keeps an expired media object from coming into use again, so that its files can be deleted; returns false if it has come
/// into use meanwhile.
pub fn claim_expired(tx: &mut Tx<'_>, id: MediaId) -> Result<bool, Fault> {
    let sql = "UPDATE media SET expires_at = 0 WHERE id = $1 AND expires_at IS NOT NULL AND expires_at <= $2";
    let now = tx.now();
    Ok(tx.execute(sql, &[id.into(), now.into()])? > 0)
}

/// Removes an expired media object and its subtitles; returns false if it was removed before.
pub fn remove_expired(tx: &mut Tx<'_>, id: MediaId) -> Result<bool, Fault> {
    let sql = "DELETE FROM media WHERE id = $1 AND expires_at IS NOT NULL AND expires_at <= $2";
    let now = tx.now();
    if tx.execute(sql, &[id.into(), now.into()])? == 0 {
        return Ok(false);
    }
    // The subtitles' own media expire with it, unless another video has them too.
    let sql = "UPDATE media SET expires_at = $1 WHERE id IN (SELECT media_id FROM subtitle WHERE video_id = $2) \
               AND NOT EXISTS (SELECT 1 FROM subtitle s WHERE s.media_id = media.id AND s.video_id <> $2)";
    tx.execute_later(sql, &[now.into(), id.into()])?;
    for sql in [
        "DELETE FROM media_share WHERE media_id = $1",
        "DELETE FROM media_metadata WHERE media_id = $1",
        "DELETE FROM subtitle WHERE video_id = $1",
    ] {
        tx.execute_later(sql, &[id.into()])?;
    }
    playbacks::delete_by_media(tx, id)?;
    Ok(true)
}

/// Replaces the subtitles in this language.
pub fn set_subtitles(
    tx: &mut Tx<'_>,
    video: MediaId,
    language: &str,
    subtitles: MediaId,
    display_name: &str,
) -> Result<(), Fault> {
    let sql = "INSERT INTO subtitle (video_id, language, media_id, display_name) \
               VALUES ($1, $2, $3, $4) ON CONFLICT (video_id, language) DO UPDATE \
               SET media_id = excluded.media_id, display_name = excluded.display_name";
    let args = [video.into(), language.into(), subtitles.into(), display_name.into()];
    tx.execute_later(sql, &args)
}

pub fn find_subtitles(tx: &mut Tx<'_>, video: MediaId, language: &str) -> Result<Option<MediaId>, Fault> {
    let sql = "SELECT media_id FROM subtitle WHERE video_id = $1 AND language = $2";
    tx.query_row(sql, &[video.into(), language.into()])
}

/// The languages of the subtitles of some media with their names, by media.
pub fn list_subtitles<'m>(
    tx: &mut Tx<'_>,
    media: impl IntoIterator<Item = &'m Media>,
) -> Result<HashMap<MediaId, Vec<(String, String)>>, Fault> {
    let videos = media.into_iter().filter(|media| media.kind == "video");
    let videos: Vec<i64> = videos.map(|video| video.id.get()).collect();
    let mut subtitles: HashMap<_, Vec<_>> = HashMap::new();
    if videos.is_empty() {
        return Ok(subtitles);
    }
    let sql = "SELECT video_id, language, display_name FROM subtitle WHERE video_id = $1";
    let mut found: Vec<(i64, String, String)> = tx.query_by_keys(sql, &videos, &[])?;
    found.sort_unstable();
    for (video, language, name) in found {
        subtitles.entry(MediaId::new(video)).or_default().push((language, name));
    }
    Ok(subtitles)
}

pub fn remove_subtitles(tx: &mut Tx<'_>, video: MediaId, language: &str) -> Result<(), Fault> {
    let sql = "DELETE FROM subtitle WHERE video_id = $1 AND language = $2";
    tx.execute_later(sql, &[video.into(), language.into()])
}
