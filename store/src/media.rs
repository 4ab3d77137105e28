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

/// The media objects after an id, oldest first.
pub fn list(tx: &mut Tx<'_>, after: i64, limit: i64) -> Result<Vec<Media>, Fault> {
    let sql = columns!("SELECT ", " FROM media WHERE id > $1 ORDER BY id LIMIT $2");
    tx.rows(sql, &[after.into(), limit.into()], read)
}

/// Adds a media object; false when its key or its id is taken.
pub fn insert(tx: &mut Tx<'_>, media: &Media) -> Result<bool, Fault> {
    let sql = columns!(
        "INSERT INTO media (",
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING"
    );
    let args = [
        (&media.media_key).into(),
        media.id.into(),
        media.owner_id.into(),
        (&media.kind).into(),
        (&media.path).into(),
        (&media.url).into(),
        (&media.preview_image_url).into(),
        media.width.into(),
        media.height.into(),
        media.duration_ms.into(),
        (&media.alt_text).into(),
        (&media.variants).into(),
        media.created_at.into(),
    ];
    Ok(tx.exec(sql, &args)? > 0)
}

/// Says where the bytes of a media object are that had none.
pub fn set_path(tx: &mut Tx<'_>, media_key: &str, path: &str) -> Result<bool, Fault> {
    let sql = "UPDATE media SET path = $1 WHERE media_key = $2 AND path = ''";
    Ok(tx.exec(sql, &[path.into(), media_key.into()])? > 0)
}
