//! Media in the legacy format.

use serde_json::{Value, json};

use crate::legacy_statuses::entity_indices;
use crate::media::{MediaRenderContext, PlayableFile, playable_files, response_file_url};

/// A photo or film whose entity is at a link, or at no place in the text if that is `null`.
pub(crate) fn legacy_media_json(ctx: MediaRenderContext<'_>, link: &Value) -> Value {
    let media = ctx.media;
    let is_photo = media.kind == "photo";
    let (path, imported) = if is_photo {
        (Some(media.path.clone()), &media.url)
    } else {
        (media.size_path("small"), &media.preview_image_url)
    };
    let file = path.and_then(|path| response_file_url(ctx, &path));
    let still = file.as_ref().unwrap_or(imported);
    let own = json!({ "start": 0, "end": 0, "url": still, "expanded_url": still, "display_url": still });
    let link = if link.is_null() { &own } else { link };
    let mut shown = json!({
        "id": media.id.get(),
        "id_str": media.id.to_string(),
        "indices": entity_indices(link),
        "media_url": still,
        "media_url_https": still,
        "url": link.get("url"),
        "display_url": link.get("display_url"),
        "expanded_url": link.get("expanded_url"),
        "type": media.kind,
        "sizes": { "large": { "w": media.width, "h": media.height, "resize": "fit" } },
    });
    if let Some(members) = shown.as_object_mut() {
        if !media.alt_text.is_empty() {
            members.insert("ext_alt_text".to_owned(), media.alt_text.as_str().into());
        }
        if !is_photo {
            members.insert("video_info".to_owned(), video_info(ctx));
        }
    }
    shown
}

fn video_info(ctx: MediaRenderContext<'_>) -> Value {
    let media = ctx.media;
    let files = playable_files(media, |path| response_file_url(ctx, path));
    let variants: Vec<Value> = if files.is_empty() {
        let imported: Vec<Value> = serde_json::from_str(&media.variants).unwrap_or_default();
        let convert = |variant: &Value| {
            let member = |name| variant.get(name);
            json!({ "bitrate": member("bit_rate"), "content_type": member("content_type"), "url": member("url") })
        };
        imported.iter().map(convert).collect()
    } else {
        let convert = |file: PlayableFile| json!({ "bitrate": file.bit_rate, "content_type": file.content_type, "url": file.url });
        files.into_iter().map(convert).collect()
    };
    let divisor = greatest_common_divisor(media.width, media.height).max(1);
    let mut info = json!({ "aspect_ratio": [media.width / divisor, media.height / divisor], "variants": variants });
    if let Some(members) = info.as_object_mut().filter(|_| media.kind == "video") {
        members.insert("duration_millis".to_owned(), media.duration_ms.into());
    }
    info
}

const fn greatest_common_divisor(mut one: i64, mut other: i64) -> i64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}
