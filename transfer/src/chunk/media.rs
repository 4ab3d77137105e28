//! Attachments.

use archive::{ArchivedMedia as Told, ArchivedMediaKind};
use base::{Fault, Id, Time, UserId};
use serde_json::{Value, json};
use store::Tx;
use store::media::{self, Media};

use super::desk::Desk;
use crate::names;
use crate::read::{Item, key_of};

/// Attachments that stand on a line of their own.
pub(crate) fn store(tx: &mut Tx<'_>, desk: &mut Desk, items: &[Item]) -> Result<(), Fault> {
    for item in items {
        let Item::Media(one) = item else { continue };
        let (file, path) = &**one;
        let of_post = file.post.and_then(|post| desk.posts.get(&post));
        let owner = match file.owner {
            Some(owner) => desk.person(Some(owner)),
            None => of_post.map(|seen| seen.author_id).or(desk.owner),
        };
        match owner {
            Some(owner) => keep(tx, desk, &file.media, path, owner)?,
            None => desk.report.skip("media", "nobody is known to own it", || {
                format!("media {}", file.media.id)
            }),
        }
    }
    Ok(())
}

/// Stores an attachment unless it is there.
pub(crate) fn keep(
    tx: &mut Tx<'_>,
    desk: &mut Desk,
    told: &Told,
    path: &str,
    owner: UserId,
) -> Result<(), Fault> {
    let is_photo = told.kind == ArchivedMediaKind::Photo;
    let url = |wanted: bool| {
        if wanted {
            told.url.clone()
        } else {
            String::new()
        }
    };
    let kind = match told.kind {
        ArchivedMediaKind::Photo => "photo",
        ArchivedMediaKind::Video => "video",
        ArchivedMediaKind::AnimatedGif => "animated_gif",
        ArchivedMediaKind::Subtitles => "subtitles",
    };
    let medium = Media {
        media_key: key_of(told),
        id: Id::new(told.id),
        owner_id: owner,
        kind: kind.to_owned(),
        path: path.to_owned(),
        url: url(is_photo),
        preview_image_url: url(!is_photo),
        width: i64::from(told.width),
        height: i64::from(told.height),
        duration_ms: told.duration_ms.unwrap_or(0),
        alt_text: told.alt.clone().unwrap_or_default(),
        variants: variants(told),
        created_at: names::time_of(told.id),
        content_type: told.content_type.clone(),
        size: told.size.unwrap_or(0),
        bit_rate: told.bit_rate.unwrap_or(0),
        sizes: told.sizes.clone(),
        uses: told.uses,
        expires_at: told.expires_at_ms.map(Time::from_ms),
    };
    if media::insert(tx, &medium)? {
        desk.came(told.id);
        desk.report.take("media");
        return Ok(());
    }
    desk.report.know("media");
    if !path.is_empty() {
        media::set_path(tx, &medium.media_key, path)?;
    }
    Ok(())
}

fn variants(told: &Told) -> String {
    if told.variants.is_empty() {
        return String::new();
    }
    let all = told.variants.iter().map(|variant| {
        let mut shown = json!({"content_type": variant.content_type, "url": variant.url});
        if let (Some(bitrate), Some(members)) = (variant.bitrate, shown.as_object_mut()) {
            members.insert("bit_rate".to_owned(), bitrate.into());
        }
        shown
    });
    all.collect::<Value>().to_string()
}
