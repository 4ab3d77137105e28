//! Media objects: what a post's `media_keys` name.

use base::id::kind;
use base::{Fault, Id, Time, UserId};

use crate::Tx;
use crate::db::Row;

/// A media object as stored.
#[derive(Clone, Debug)]
pub struct Media {
    /// `<prefix>_<id>`: prefix 3 for a photo, 7 or 13 for a video, 16 for an animated GIF.
    pub media_key: String,
    /// The number after the prefix.
    pub id: Id<kind::Media>,
    /// Who uploaded it.
    pub owner_id: UserId,
    /// `photo`, `video` or `animated_gif`.
    pub kind: String,
    /// Where the bytes are, below the media folder, or empty.
    pub path: String,
    /// Address of a photo, or empty.
    pub url: String,
    /// Address of a still, or empty.
    pub preview_image_url: String,
    /// Pixels; 0 when unknown.
    pub width: i64,
    /// Pixels; 0 when unknown.
    pub height: i64,
    /// Milliseconds; 0 for a photo.
    pub duration_ms: i64,
    /// The description for those who cannot see it, or empty.
    pub alt_text: String,
    /// Variants as the interface shows them (JSON), or empty.
    pub variants: String,
    /// When it was uploaded.
    pub created_at: Time,
}

macro_rules! columns {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "media_key, id, owner_id, kind, path, url, preview_image_url, width, height, \
             duration_ms, alt_text, variants, created_at",
            $after
        )
    };
}

fn read(row: &Row<'_, '_>) -> Result<Media, Fault> {
    Ok(Media {
        media_key: row.text(0)?,
        id: row.id(1)?,
        owner_id: row.id(2)?,
        kind: row.text(3)?,
        path: row.text(4)?,
        url: row.text(5)?,
        preview_image_url: row.text(6)?,
        width: row.int(7)?,
        height: row.int(8)?,
        duration_ms: row.int(9)?,
        alt_text: row.text(10)?,
        variants: row.text(11)?,
        created_at: row.time(12)?,
    })
}

/// The media object with an id.
pub fn by_id(tx: &mut Tx<'_>, id: Id<kind::Media>) -> Result<Option<Media>, Fault> {
    tx.row(
        columns!("SELECT ", " FROM media WHERE id = $1"),
        &[id.into()],
        read,
    )
}

/// The media objects with these ids; unknown ones are left out.
pub fn by_ids(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<Media>, Fault> {
    tx.of_each(
        columns!("SELECT ", " FROM media WHERE id = $1"),
        ids,
        &[],
        read,
    )
}
