//! Photos, videos and animated GIFs: their fields.

use base::VocabularyWord;
use store::media::Media;

use crate::out::Out;
use crate::shown::{Audience, Json, Member, Shown, Write};
use crate::wants::bits_for;
use crate::world::World;

/// A media object and what is known around it.
#[derive(Clone, Copy)]
pub(crate) struct MediaFacts<'a> {
    pub(crate) media: &'a Media,
    pub(crate) world: &'a World,
}

const OWNER_ONLY: u64 = bits_for(FIELDS, Audience::Owner);

/// Writes a media object with the fields of a mask.
pub(crate) fn write(out: &mut Out, facts: MediaFacts<'_>, mask: u64) {
    let owned = facts.world.viewer.user == Some(facts.media.owner_id);
    let seen = if owned { mask } else { mask & !OWNER_ONLY };
    out.record(FIELDS, seen, |out, write| {
        if let Write::Media(write) = write {
            write(out, facts);
        }
    });
}

/// The address of a media's own file, if it is kept here.
pub(crate) fn address(media: &Media, site: &str) -> Option<String> {
    let name = media.file_name().filter(|_| !site.is_empty())?;
    Some(format!("{site}/media/{name}"))
}

/// The same inside this answer: what no post carries has an address at the message that does,
/// where only its readers get it.
fn address_here(facts: MediaFacts<'_>, size: Option<&str>) -> Option<String> {
    let (media, site) = (facts.media, facts.world.site);
    let carrier = facts.world.carriers.get(&media.id.get());
    let Some(event) = carrier.filter(|_| media.uses == Some(0)) else {
        let address = address(media, site)?;
        return Some(size.map_or(address.clone(), |size| format!("{address}?name={size}")));
    };
    let path = match size {
        Some(size) => media.size_path(size)?,
        None => media.path.clone(),
    };
    let name = path.rsplit('/').next().filter(|_| !site.is_empty())?;
    let id = media.id;
    Some(format!(
        "{site}/2/dm_conversations/media/{event}/{id}/{name}"
    ))
}

/// The photo itself, or where an import says it was.
fn url(out: &mut Out, facts: MediaFacts<'_>) {
    match address_here(facts, None) {
        Some(address) if facts.media.kind == "photo" => out.text(&address),
        _ => out.text(&facts.media.url),
    }
}

/// A still of what moves: one that was made, or where an import says it was.
fn preview(out: &mut Out, facts: MediaFacts<'_>) {
    let made = facts.media.kind != "photo" && facts.media.size_path("small").is_some();
    match address_here(facts, Some("small")) {
        Some(address) if made => out.text(&address),
        _ => out.text(&facts.media.preview_image_url),
    }
}

/// The one file that is kept of what plays, or those that an import tells of.
fn variants(out: &mut Out, facts: MediaFacts<'_>) {
    let media = facts.media;
    let address = address_here(facts, None);
    let Some(address) = address.filter(|_| media.kind != "photo" && media.bit_rate > 0) else {
        out.raw(&media.variants);
        return;
    };
    out.array([address], |out, address| {
        out.object(|out| {
            out.member(VocabularyWord::same_in_both("bit_rate"), |out| {
                out.int(media.bit_rate)
            });
            let kind = &media.content_type;
            out.member(VocabularyWord::same_in_both("content_type"), |out| {
                out.text(kind)
            });
            out.member(VocabularyWord::same_in_both("url"), |out| {
                out.text(&address)
            });
        });
    });
}

/// The number in a media key: `3_123` → 123.
pub(crate) fn id_of(key: &str) -> Option<i64> {
    key.split_once('_')?.1.parse().ok()
}

const PLAYBACKS: &[Member] = &[
    Member::new("playback_0_count", Json::Int),
    Member::new("playback_25_count", Json::Int),
    Member::new("playback_50_count", Json::Int),
    Member::new("playback_75_count", Json::Int),
    Member::new("playback_100_count", Json::Int),
];

const PLAYBACKS_AND_VIEWS: &[Member] = &[
    Member::new("playback_0_count", Json::Int),
    Member::new("playback_25_count", Json::Int),
    Member::new("playback_50_count", Json::Int),
    Member::new("playback_75_count", Json::Int),
    Member::new("playback_100_count", Json::Int),
    Member::new("view_count", Json::Int),
];

const VIEWS: &[Member] = &[Member::new("view_count", Json::Int)];

const VARIANT: Json = Json::Object(&[
    Member::new("bit_rate", Json::Int),
    Member::new("content_type", Json::Text),
    Member::new("url", Json::Text),
]);

pub(crate) const FIELDS: &[Shown] = &[
    Shown::always("media_key", Json::Text, "What posts call it by.")
        .media(|out, facts| out.quoted(&facts.media.media_key)),
    Shown::always(
        "type",
        Json::OneOf(&["photo", "video", "animated_gif"]),
        "The kind of media.",
    )
    .media(|out, facts| out.quoted(&facts.media.kind)),
    Shown::asked("url", Json::Text, "Address of a photo.").media(url),
    Shown::asked("preview_image_url", Json::Text, "Address of a still.").media(preview),
    Shown::asked("width", Json::Int, "Pixels.").media(|out, facts| known(out, facts.media.width)),
    Shown::asked("height", Json::Int, "Pixels.").media(|out, facts| known(out, facts.media.height)),
    Shown::asked("duration_ms", Json::Int, "Milliseconds.")
        .media(|out, facts| known(out, facts.media.duration_ms)),
    Shown::asked(
        "alt_text",
        Json::Text,
        "A description for those who cannot see it.",
    )
    .media(|out, facts| out.text(&facts.media.alt_text)),
    Shown::asked(
        "variants",
        Json::List(&VARIANT),
        "The files it can be played from.",
    )
    .media(variants),
    Shown::asked(
        "public_metrics",
        Json::Object(VIEWS),
        "Figures of a video that everyone may see.",
    )
    .media(|out, facts| uncounted(out, facts, VIEWS)),
    Shown::asked(
        "non_public_metrics",
        Json::Object(PLAYBACKS),
        "Figures of a video for its owner.",
    )
    .only_for(Audience::Owner)
    .media(|out, facts| uncounted(out, facts, PLAYBACKS)),
    Shown::asked(
        "organic_metrics",
        Json::Object(PLAYBACKS_AND_VIEWS),
        "Figures of a video for its owner, without promotion.",
    )
    .only_for(Audience::Owner)
    .media(|out, facts| uncounted(out, facts, PLAYBACKS_AND_VIEWS)),
    Shown::asked(
        "promoted_metrics",
        Json::Object(PLAYBACKS_AND_VIEWS),
        "Figures of a video for its owner, of promotion only.",
    )
    .only_for(Audience::Owner),
];

/// A measure; nothing when it is unknown.
fn known(out: &mut Out, measure: i64) {
    if measure > 0 {
        out.int(measure);
    }
}

/// Nothing on the platform counts how videos are played, so nothing has been counted.
fn uncounted(out: &mut Out, facts: MediaFacts<'_>, figures: &[Member]) {
    if facts.media.kind == "photo" {
        return;
    }
    out.object(|out| {
        for figure in figures {
            out.count(VocabularyWord::same_in_both(figure.name.post), 0);
        }
    });
}
