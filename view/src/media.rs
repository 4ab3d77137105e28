//! Media fields: photos, videos and animated GIFs.

use base::VocabularyWord;
use store::media::Media;

use crate::field_schema::{FieldAudience, JsonFieldType, JsonMember};
use crate::json_writer::JsonWriter;
use crate::loaded_objects::LoadedObjects;
use crate::object::{IncludedKind, ObjectField, ObjectKind, RenderedObject, audience_mask};

#[derive(Clone, Copy)]
pub(crate) struct MediaRenderContext<'a> {
    pub(crate) media: &'a Media,
    pub(crate) objects: &'a LoadedObjects,
}

const OWNER_ONLY: u64 = audience_mask(FIELDS, FieldAudience::Owner);

/// The URL of the stored file, if there is one.
pub(crate) fn media_url(media: &Media, site: &str) -> Option<String> {
    let name = media.file_name().filter(|_| !site.is_empty())?;
    Some(format!("{site}/media/{name}"))
}

/// Like [`media_url`]; media attached only to a message have a URL below the message, accessible to its
/// participants.
fn response_media_url(ctx: MediaRenderContext<'_>, size: Option<&str>) -> Option<String> {
    let (media, site) = (ctx.media, ctx.objects.site.url);
    let carrier = ctx.objects.message_by_media.get(&media.id.get());
    let Some(event) = carrier.filter(|_| media.uses == Some(0)) else {
        let address = media_url(media, site)?;
        return Some(size.map_or(address.clone(), |size| format!("{address}?name={size}")));
    };
    let path = match size {
        Some(size) => media.size_path(size)?,
        None => media.path.clone(),
    };
    let name = path.rsplit('/').next().filter(|_| !site.is_empty())?;
    let id = media.id;
    Some(format!("{site}/2/dm_conversations/media/{event}/{id}/{name}"))
}

/// The photo itself, or its original URL from an import.
fn write_url(out: &mut JsonWriter, ctx: MediaRenderContext<'_>) {
    match response_media_url(ctx, None) {
        Some(address) if ctx.media.kind == "photo" => out.write_nonempty_text(&address),
        _ => out.write_nonempty_text(&ctx.media.url),
    }
}

/// The generated preview, or its original URL from an import.
fn write_preview_image_url(out: &mut JsonWriter, ctx: MediaRenderContext<'_>) {
    let made = ctx.media.kind != "photo" && ctx.media.size_path("small").is_some();
    match response_media_url(ctx, Some("small")) {
        Some(address) if made => out.write_nonempty_text(&address),
        _ => out.write_nonempty_text(&ctx.media.preview_image_url),
    }
}

/// The stored file, or the variants of an import.
fn write_variants(out: &mut JsonWriter, ctx: MediaRenderContext<'_>) {
    let media = ctx.media;
    let address = response_media_url(ctx, None);
    let Some(address) = address.filter(|_| media.kind != "photo" && media.bit_rate > 0) else {
        out.write_raw(&media.variants);
        return;
    };
    out.write_array([address], |out, address| {
        out.write_object(|out| {
            out.write_plain_member("bit_rate", |out| out.write_int(media.bit_rate));
            let kind = &media.content_type;
            out.write_plain_member("content_type", |out| out.write_nonempty_text(kind));
            out.write_plain_member("url", |out| out.write_nonempty_text(&address));
        });
    });
}

/// The number in a media key: `3_123` → 123.
pub(crate) fn id_from_media_key(key: &str) -> Option<i64> {
    key.split_once('_')?.1.parse().ok()
}

const PLAYBACKS: &[JsonMember] = PLAYBACKS_AND_VIEWS.split_at(5).0;

const PLAYBACKS_AND_VIEWS: &[JsonMember] = &[
    JsonMember::new("playback_0_count", JsonFieldType::Int),
    JsonMember::new("playback_25_count", JsonFieldType::Int),
    JsonMember::new("playback_50_count", JsonFieldType::Int),
    JsonMember::new("playback_75_count", JsonFieldType::Int),
    JsonMember::new("playback_100_count", JsonFieldType::Int),
    JsonMember::new("view_count", JsonFieldType::Int),
];

const VIEWS: &[JsonMember] = PLAYBACKS_AND_VIEWS.split_at(5).1;

const VARIANT: JsonFieldType = JsonFieldType::Object(&[
    JsonMember::new("bit_rate", JsonFieldType::Int),
    JsonMember::new("content_type", JsonFieldType::Text),
    JsonMember::new("url", JsonFieldType::Text),
]);

type MediaField = ObjectField<Media>;

impl RenderedObject for Media {
    type Context<'a> = MediaRenderContext<'a>;

    const NAME: VocabularyWord = VocabularyWord::same_in_both("Media");
    const FIELDS_PARAM: VocabularyWord = VocabularyWord::same_in_both("media.fields");
    const FIELDS: &'static [ObjectField<Self>] = FIELDS;
    const INCLUDED: Option<(IncludedKind, VocabularyWord)> =
        Some((IncludedKind::Media, VocabularyWord::same_in_both("media")));

    fn visible_fields(ctx: MediaRenderContext<'_>, mask: u64) -> u64 {
        let owned = ctx.objects.viewer.user == Some(ctx.media.owner_id);
        if owned { mask } else { mask & !OWNER_ONLY }
    }
}

impl ObjectKind {
    pub const MEDIA: Self = Media::KIND;
}

const FIELDS: &[MediaField] = &[
    MediaField::default_field("media_key", JsonFieldType::Text, "What posts call it by.")
        .writer(|out, ctx| out.write_text(&ctx.media.media_key)),
    MediaField::default_field("type", JsonFieldType::OneOf(&["photo", "video", "animated_gif"]), "The kind of media.")
        .writer(|out, ctx| out.write_text(&ctx.media.kind)),
    MediaField::requested_field("url", JsonFieldType::Text, "Address of a photo.").writer(write_url),
    MediaField::requested_field("preview_image_url", JsonFieldType::Text, "Address of a still.")
        .writer(write_preview_image_url),
    MediaField::requested_field("width", JsonFieldType::Int, "Pixels.")
        .writer(|out, ctx| write_positive(out, ctx.media.width)),
    MediaField::requested_field("height", JsonFieldType::Int, "Pixels.")
        .writer(|out, ctx| write_positive(out, ctx.media.height)),
    MediaField::requested_field("duration_ms", JsonFieldType::Int, "Milliseconds.")
        .writer(|out, ctx| write_positive(out, ctx.media.duration_ms)),
    MediaField::requested_field("alt_text", JsonFieldType::Text, "A description for those who cannot see it.")
        .writer(|out, ctx| out.write_nonempty_text(&ctx.media.alt_text)),
    MediaField::requested_field("variants", JsonFieldType::List(&VARIANT), "The files it can be played from.")
        .writer(write_variants),
    MediaField::requested_field(
        "public_metrics",
        JsonFieldType::Object(VIEWS),
        "Figures of a video that everyone may see.",
    )
    .writer(|out, ctx| write_metrics(out, ctx, VIEWS)),
    MediaField::requested_field(
        "non_public_metrics",
        JsonFieldType::Object(PLAYBACKS),
        "Figures of a video for its owner.",
    )
    .restrict_to(FieldAudience::Owner)
    .writer(|out, ctx| write_metrics(out, ctx, PLAYBACKS)),
    MediaField::requested_field(
        "organic_metrics",
        JsonFieldType::Object(PLAYBACKS_AND_VIEWS),
        "Figures of a video for its owner, without promotion.",
    )
    .restrict_to(FieldAudience::Owner)
    .writer(|out, ctx| write_metrics(out, ctx, PLAYBACKS_AND_VIEWS)),
    MediaField::requested_field(
        "promoted_metrics",
        JsonFieldType::Object(PLAYBACKS_AND_VIEWS),
        "Figures of a video for its owner, of promotion only.",
    )
    .restrict_to(FieldAudience::Owner),
];

/// Writes a dimension; nothing if it is unknown.
fn write_positive(out: &mut JsonWriter, measure: i64) {
    if measure > 0 {
        out.write_int(measure);
    }
}

/// The fields with metrics of playback.
pub(crate) fn metric_fields() -> u64 {
    let fields = FIELDS.iter().enumerate();
    let public = fields.filter(|(_, field)| field.definition.name.post == "public_metrics");
    public.fold(OWNER_ONLY, |mask, (index, _)| mask | 1 << index)
}

fn write_metrics(out: &mut JsonWriter, ctx: MediaRenderContext<'_>, members: &[JsonMember]) {
    if ctx.media.kind == "photo" {
        return;
    }
    let counts = ctx.objects.playbacks.get(&ctx.media.id.get()).copied().unwrap_or_default();
    out.write_object(|out| {
        for member in members {
            let count = match member.name.post {
                "playback_0_count" => counts.starts,
                "playback_25_count" => counts.quarters,
                "playback_50_count" => counts.halves,
                "playback_75_count" => counts.three_quarters,
                "playback_100_count" => counts.completions,
                _ => counts.views,
            };
            out.write_count(VocabularyWord::same_in_both(member.name.post), count);
        }
    });
}
