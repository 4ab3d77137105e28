//! Attachments.

use archive::{ArchivedMedia, ArchivedMediaKind};
use base::{Fault, Id, Time, UserId};
use serde_json::{Value, json};
use store::Tx;
use store::media::{self, Media};

use super::batch_state::ImportBatchState;
use crate::reader::{PreparedRecord, media_key};
use crate::sanitize;

pub(crate) fn store(tx: &mut Tx<'_>, batch: &mut ImportBatchState, items: &[PreparedRecord]) -> Result<(), Fault> {
    for item in items {
        let PreparedRecord::Media(prepared) = item else {
            continue;
        };
        let (file, path) = &**prepared;
        let known_post = file.post.and_then(|post| batch.known_posts.get(&post));
        let owner = match file.owner {
            Some(owner) => batch.find_user(Some(owner)),
            None => known_post.map(|summary| summary.author_id).or(batch.owner),
        };
        match owner {
            Some(owner) => drop(store_attachment(tx, batch, &file.media, path, owner)?),
            None => batch.report.skip("media", "its owner is unknown", || format!("media {}", file.media.id)),
        }
    }
    Ok(())
}

/// Returns false if an archive, which somebody may have edited, names a file of someone else.
pub(crate) fn store_attachment(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    imported: &ArchivedMedia,
    path: &str,
    owner: UserId,
) -> Result<bool, Fault> {
    if batch.is_archive
        && let Some(known) = media::find_by_id(tx, Id::new(imported.id))?
        && known.owner_id != owner
        && !media::is_shared(tx, known.id, owner)?
    {
        batch.report.skip("media", "it belongs to somebody else", || format!("media {}", imported.id));
        return Ok(false);
    }
    let is_photo = imported.kind == ArchivedMediaKind::Photo;
    let url = |wanted: bool| {
        if wanted { imported.url.clone() } else { String::new() }
    };
    let kind = match imported.kind {
        ArchivedMediaKind::Photo => "photo",
        ArchivedMediaKind::Video => "video",
        ArchivedMediaKind::AnimatedGif => "animated_gif",
        ArchivedMediaKind::Subtitles => "subtitles",
    };
    let medium = Media {
        media_key: media_key(imported),
        id: Id::new(imported.id),
        owner_id: owner,
        kind: kind.to_owned(),
        path: path.to_owned(),
        url: url(is_photo),
        preview_image_url: url(!is_photo),
        width: i64::from(imported.width),
        height: i64::from(imported.height),
        duration_ms: imported.duration_ms.unwrap_or(0),
        alt_text: imported.alt.clone().unwrap_or_default(),
        variants: variants_json(imported),
        created_at: sanitize::time_from_id(imported.id),
        content_type: imported.content_type.clone(),
        size: imported.size.unwrap_or(0),
        bit_rate: imported.bit_rate.unwrap_or(0),
        sizes: imported.sizes.clone(),
        uses: imported.uses,
        expires_at: imported.expires_at_ms.map(Time::from_ms),
        variant_files: imported.variant_files.clone(),
    };
    if media::insert(tx, &medium)? {
        media::begin_imported_uses(tx, medium.id)?;
        batch.track_id(imported.id);
        batch.report.count_stored("media");
        return Ok(true);
    }
    batch.report.count_known("media");
    if !path.is_empty() {
        media::set_path(tx, &medium.media_key, path)?;
    }
    Ok(true)
}

fn variants_json(imported: &ArchivedMedia) -> String {
    if imported.variants.is_empty() {
        return String::new();
    }
    let all = imported.variants.iter().map(|variant| {
        let mut json = json!({"content_type": variant.content_type, "url": variant.url});
        if let (Some(bitrate), Some(members)) = (variant.bitrate, json.as_object_mut()) {
            members.insert("bit_rate".to_owned(), bitrate.into());
        }
        json
    });
    all.collect::<Value>().to_string()
}
