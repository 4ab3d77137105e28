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
pub fn media_url(media: &Media, site: &str) -> Option<String> {
    file_url(&media.path, site)
}

pub(crate) fn file_url(path: &str, site: &str) -> Option<String> {
    let name = path.rsplit('/').next().filter(|name| !name.is_empty() && !site.is_empty())?;
    Some(format!("{site}/media/{name}"))
}

/// The URL of the stored still of a video or animated GIF, if there is one.
pub(crate) fn still_url(media: &Media, site: &str) -> Option<String> {
    media.size_path("small").and_then(|path| file_url(&path, site))
}

/// The URL of one of the files. Media attached only to a message have URLs below the message, accessible to its
/// participants.
pub(crate) fn response_file_url(ctx: MediaRenderContext<'_>, path: &str) -> Option<String> {
    let (media, site) = (ctx.media, ctx.objects.site);
    let carrier = ctx.objects.message_by_media.get(&media.id.get());
    let Some(event) = carrier.filter(|_| media.uses == Some(0)) else {
        return file_url(path, site.files_url);
    };
    let site = site.url;
    let name = path.rsplit('/').next().filter(|name| !name.is_empty() && !site.is_empty())?;
    let id = media.id;
    Some(format!("{site}/2/dm_conversations/media/{event}/{id}/{name}"))
}

/// The photo itself, or its original URL from an import.
fn write_url(out: &mut JsonWriter, ctx: MediaRenderContext<'_>) {
    match response_file_url(ctx, &ctx.media.path) {
        Some(address) if ctx.media.kind == "photo" => out.write_nonempty_text(&address),
        _ => out.write_nonempty_text(&ctx.media.url),
    }
}

/// The generated preview, or its original URL from an import.
fn write_preview_image_url(out: &mut JsonWriter, ctx: MediaRenderContext<'_>) {
    let still = ctx.media.size_path("small").filter(|_| ctx.media.kind != "photo");
    match still.and_then(|path| response_file_url(ctx, &path)) {
        Some(address) => out.write_nonempty_text(&address),
        None => out.write_nonempty_text(&ctx.media.preview_image_url),
    }
}

/// A file that a video or animated GIF can be played from.
pub struct PlayableFile {
    pub bit_rate: i64,
    pub content_type: String,
    pub url: String,
}

/// The stored files of a video or animated GIF, by bit rate. A GIF is left out if there is a video of it.
pub fn playable_files(media: &Media, url: impl Fn(&str) -> Option<String>) -> Vec<PlayableFile> {
    // A GIF of one frame has no duration.
    let is_stored = media.bit_rate > 0 || media.kind == "animated_gif" && !media.path.is_empty();
    if media.kind == "photo" || !is_stored {
        return Vec::new();
    }
    let made = media.variant_files().filter_map(|variant| {
        let content_type = "video/mp4".to_owned();
        Some(PlayableFile { bit_rate: variant.bit_rate, content_type, url: url(&variant.path)? })
    });
    let mut files: Vec<PlayableFile> = made.collect();
    if media.kind != "animated_gif" || files.is_empty() {
        let content_type = media.content_type.clone();
        files.extend(url(&media.path).map(|url| PlayableFile { bit_rate: media.bit_rate, content_type, url }));
    }
    files.sort_by_key(|file| file.bit_rate);
    files
}

/// The stored files, or the variants of an import.
fn write_variants(out: &mut JsonWriter, ctx: MediaRenderContext<'_>) {
    let files = playable_files(ctx.media, |path| response_file_url(ctx, path));
    if files.is_empty() {
        out.write_raw(&ctx.media.variants);
        return;
    }
    out.write_array(files, |out, file| {
        out.write_object(|out| {
            out.write_plain_member("bit_rate", |out| out.write_int(file.bit_rate));
            out.write_plain_member("content_type", |out| out.write_nonempty_text(&file.content_type));
            out.write_plain_member("url", |out| out.write_nonempty_text(&file.url));
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
