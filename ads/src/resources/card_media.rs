//! Media of cards: ownership, dimensions and metadata.

use std::collections::HashMap;

use ads_engine::{AccountContext, AdsRecord, MediaKeyText, RecordChange, ResourceVerb};
use base::refusal::AdsProblem;
use base::time::DAY_MS;
use base::{Error, Id, MediaId, Refusal, sorted_distinct};
use serde_json::{Value, json};
use store::media::{self, Media};

use crate::resources::media_library;

/// How long a medium that nothing uses any longer is kept.
pub const UNUSED_MEDIA_MS: i64 = DAY_MS;
const MAX_IMAGE_BYTES: i64 = 3 * 1024 * 1024;
const MIN_IMAGE_WIDTH: i64 = 800;

#[derive(Clone, Copy, Debug)]
pub enum AspectRatio {
    Square,
    /// 1.91:1.
    Wide,
    /// 16:9.
    Widescreen,
    /// 5:2.
    Banner,
}

impl AspectRatio {
    const fn proportions(self) -> (i64, i64) {
        match self {
            Self::Square => (1, 1),
            Self::Wide => (191, 100),
            Self::Widescreen => (16, 9),
            Self::Banner => (5, 2),
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::Square => "1:1",
            Self::Wide => "1.91:1",
            Self::Widescreen => "16:9",
            Self::Banner => "5:2",
        }
    }

    /// Allows a deviation of 2 %, since pixels are whole. Media of unknown size match.
    fn matches_media(self, media: &Media) -> bool {
        let (width, height) = self.proportions();
        let (here, there) = (media.width.saturating_mul(height), media.height.saturating_mul(width));
        here.abs_diff(there).saturating_mul(50) <= there.unsigned_abs()
    }
}

pub type MediaByKey = HashMap<String, Media>;

fn media_id_from_key(key: &str) -> Option<i64> {
    key.split_once('_')?.1.parse().ok()
}

pub fn find_by_keys<'k>(
    ctx: &mut AccountContext<'_, '_>,
    keys: impl IntoIterator<Item = &'k str>,
) -> Result<MediaByKey, Error> {
    let keys: Vec<&str> = sorted_distinct(keys);
    let ids: Vec<i64> = keys.iter().copied().filter_map(media_id_from_key).collect();
    if ids.is_empty() {
        return Ok(MediaByKey::new());
    }
    let all = media::find_by_ids(ctx.tx, &ids)?.into_iter();
    let all = all.map(|one| (one.media_key.clone(), one));
    Ok(all.filter(|(key, _)| keys.contains(&key.as_str())).collect())
}

/// Requires a medium of the account's library.
pub fn require_library_media(ctx: &mut AccountContext<'_, '_>, name: &str, key: &str) -> Result<Media, Error> {
    let is_in_library = media_library::find_library_media(ctx, key)?.is_some();
    let found = find_by_keys(ctx, [key])?.remove(key).filter(|_| is_in_library);
    found.ok_or_else(|| media_library::media_not_found(name.to_owned(), key).into())
}

/// The media keys of a card, with their fields.
pub fn media_fields(card: &AdsRecord) -> impl Iterator<Item = (&'static str, &str)> {
    let fields = card.resource.fields.iter();
    let fields = fields.filter(|field| field.kind.downcast::<MediaKeyText>().is_some());
    let all = fields.map(|field| (field.name.post, card.text(field.name.post)));
    all.filter(|(_, key)| !key.is_empty())
}

pub fn card_media_keys(card: &AdsRecord) -> Vec<&str> {
    media_fields(card).map(|(_, key)| key).collect()
}

/// Requires media of the library that pass a check; collects all problems.
pub fn require_all_usable<'k>(
    ctx: &mut AccountContext<'_, '_>,
    fields: impl Iterator<Item = (&'static str, &'k str)>,
    check: impl Fn(&'static str, &Media) -> Result<(), AdsProblem>,
) -> Result<Vec<Media>, Error> {
    let (mut all, mut problems) = (Vec::new(), Vec::new());
    for (name, key) in fields {
        match require_library_media(ctx, name, key) {
            Ok(media) => {
                problems.extend(check(name, &media).err());
                all.push(media);
            }
            Err(Error::Refused(Refusal::Ads(declined))) => problems.extend(declined.problems),
            Err(other) => return Err(other),
        }
    }
    if problems.is_empty() { Ok(all) } else { Err(Refusal::from(problems).into()) }
}

/// Validates and retains the media of a card whose media keys are fields; gives a new card the id of its URI.
pub fn update_card_media(
    ctx: &mut AccountContext<'_, '_>,
    change: &mut RecordChange,
    check: fn(&AdsRecord, &'static str, &Media) -> Result<(), AdsProblem>,
) -> Result<(), Error> {
    if change.verb == ResourceVerb::Delete {
        return update_media_references(ctx, &card_media_keys(&change.record), &[]);
    }
    if change.is_new() {
        let uri = ctx.tx.next_id::<()>().get();
        change.record.set("uri", uri);
    }
    let changed = media_fields(&change.record).filter(|(name, _)| change.changes_field(name));
    require_all_usable(ctx, changed, |name, media| check(&change.record, name, media))?;
    let before = change.before.as_ref().map(card_media_keys).unwrap_or_default();
    update_media_references(ctx, &before, &card_media_keys(&change.record))
}

/// Whether it is a still image.
pub fn is_image(media: &Media) -> bool {
    media.kind == "photo"
}

/// Whether it is an animated GIF, which may have any aspect ratio.
pub fn is_animation(media: &Media) -> bool {
    media.kind == "animated_gif"
}

/// Refuses an image that is too small, too large or has another aspect ratio.
pub fn check_image(name: &str, media: &Media, frames: &[AspectRatio]) -> Result<(), AdsProblem> {
    let wrong = |message: String| {
        let problem = AdsProblem::invalid_parameter(name.to_owned(), &media.media_key, message);
        Err(problem.with_code("INVALID_IMAGE"))
    };
    if !is_image(media) {
        return wrong(format!("{} is not an image", media.media_key));
    }
    if media.size > MAX_IMAGE_BYTES {
        return wrong("An image of a card must be at most 3 MB".to_owned());
    }
    if media.width > 0 && media.width < MIN_IMAGE_WIDTH {
        return wrong(format!("An image of a card must be at least {MIN_IMAGE_WIDTH} pixels wide"));
    }
    if !frames.iter().any(|frame| frame.matches_media(media)) {
        return wrong(format!("Expected an aspect ratio of {}", format_ratios(frames)));
    }
    Ok(())
}

/// Refuses what is not a video, or has another aspect ratio.
pub fn check_video(name: &str, media: &Media, frames: &[AspectRatio]) -> Result<(), AdsProblem> {
    let wrong = |message: String| {
        let problem = AdsProblem::invalid_parameter(name.to_owned(), &media.media_key, message);
        Err(problem.with_code("INVALID_MEDIA"))
    };
    if media.kind != "video" {
        return wrong(format!("{} is not a video", media.media_key));
    }
    if !frames.iter().any(|frame| frame.matches_media(media)) {
        return wrong(format!("Expected an aspect ratio of {}", format_ratios(frames)));
    }
    Ok(())
}

fn format_ratios(frames: &[AspectRatio]) -> String {
    let names: Vec<&str> = frames.iter().map(|frame| frame.label()).collect();
    names.join(" or ")
}

/// Retains the media a card uses now and releases those it used before, since nothing else may reference them.
pub fn update_media_references(ctx: &mut AccountContext<'_, '_>, before: &[&str], now: &[&str]) -> Result<(), Error> {
    let ids = |these: &[&str], others: &[&str]| -> Vec<MediaId> {
        let only = these.iter().filter(|key| !others.contains(key));
        let ids = sorted_distinct(only.filter_map(|key| media_id_from_key(key)));
        ids.into_iter().map(Id::new).collect()
    };
    media::add_post_uses(ctx.tx, &ids(now, before))?;
    let goes_at = ctx.now().plus_ms(UNUSED_MEDIA_MS);
    Ok(media::remove_post_uses(ctx.tx, &ids(before, now), goes_at)?)
}

pub fn media_url(ctx: &AccountContext<'_, '_>, media: &Media) -> Value {
    match media.file_name().filter(|_| !ctx.site.files_url.is_empty()) {
        Some(name) => format!("{}/media/{name}", ctx.site.files_url).into(),
        None if media.url.is_empty() => Value::Null,
        None => media.url.clone().into(),
    }
}

pub fn poster_url(ctx: &AccountContext<'_, '_>, media: &Media) -> Value {
    match media.file_name().filter(|_| !ctx.site.files_url.is_empty()) {
        Some(name) if media.size_path("small").is_some() => {
            format!("{}/media/{name}?name=small", ctx.site.files_url).into()
        }
        _ if media.preview_image_url.is_empty() => Value::Null,
        _ => media.preview_image_url.clone().into(),
    }
}

/// Width and height in lowest terms.
pub fn aspect_ratio(media: &Media) -> (i64, i64) {
    if media.width <= 0 || media.height <= 0 {
        return AspectRatio::Widescreen.proportions();
    }
    let mut frames = [AspectRatio::Widescreen, AspectRatio::Square].into_iter();
    if let Some(frame) = frames.find(|frame| frame.matches_media(media)) {
        return frame.proportions();
    }
    let (mut one, mut other) = (media.width, media.height);
    while other != 0 {
        (one, other) = (other, one % other);
    }
    (media.width / one, media.height / one)
}

/// As legacy cards show it: seconds with three decimals.
pub fn duration_seconds(media: &Media) -> String {
    format!("{}.{:03}", media.duration_ms / 1000, media.duration_ms % 1000)
}

pub fn media_metadata(ctx: &AccountContext<'_, '_>, media: &Media) -> Value {
    let kind = match media.kind.as_str() {
        "photo" => "IMAGE",
        "animated_gif" => "GIF",
        _ => "VIDEO",
    };
    let mut metadata = json!({
        "type": kind,
        "url": media_url(ctx, media),
        "width": media.width,
        "height": media.height,
    });
    if let Some(members) = metadata.as_object_mut().filter(|_| kind == "VIDEO") {
        let (wide, high) = aspect_ratio(media);
        members.insert("video_duration".to_owned(), media.duration_ms.into());
        members.insert("video_aspect_ratio".to_owned(), format!("{wide}:{high}").into());
    }
    metadata
}
