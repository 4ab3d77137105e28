//! Conversation cards: a medium, and hashtags that start a post when they are chosen.

use base::refusal::{AdsProblem, ProblemLocation};
use base::{Error, Refusal, VocabularyWord};
use serde_json::Value;
use store::ads::card_links::{self, CardDestination};

use crate::access::Who;
use crate::change::Change;
use crate::declare::{Delete, Field, Filter, Gate, Resource, Rule, Verb};
use crate::desk::Desk;
use crate::kind::Kind;
use crate::record::Record;
use crate::resources::card_media::{self, Frame, Known};
use crate::resources::cards_of_any_kind::SEQUENCE;

/// A conversation card with a video.
pub static VIDEO_CONVERSATION_CARD: Resource = Resource {
    name: "video_conversation_card",
    path: "cards/video_conversation",
    about: "video conversation card",
    fields: VIDEO_FIELDS,
    filters: &[Filter::ids("card_ids", "id", &VIDEO_CONVERSATION_CARD)],
    ..CONVERSATION
};

/// A conversation card with an image.
pub static IMAGE_CONVERSATION_CARD: Resource = Resource {
    name: "image_conversation_card",
    path: "cards/image_conversation",
    about: "image conversation card",
    fields: IMAGE_FIELDS,
    filters: &[Filter::ids("card_ids", "id", &IMAGE_CONVERSATION_CARD)],
    ..CONVERSATION
};

const CONVERSATION: Resource = Resource {
    id: VocabularyWord::same_in_both("card_id"),
    not_found: "CARD_NOT_FOUND",
    sequence: SEQUENCE,
    prefix: 80,
    reads: Who::CreativeReader,
    writes: Who::CreativeWriter,
    rules: &[
        Rule::Own(has_a_text_for_each_option),
        Rule::Own(has_a_title_or_a_choice),
        Rule::Within(write_hashtags),
        Rule::Within(has_fitting_media),
    ],
    gate: Some(Gate::new("CONVERSATION_CARD")),
    delete: Delete::Hard,
    computed: Some(computed),
    after: Some(after),
    ..Resource::DEFAULT
};

/// Posts lead to the page of the card, where it is answered.
fn after(desk: &mut Desk<'_, '_>, change: &Change) -> Result<(), Error> {
    let card = &change.record;
    let Some(uri) = card.int("uri") else {
        return Ok(());
    };
    if change.verb == Verb::Delete {
        return Ok(card_links::remove_links(desk.tx, uri)?);
    }
    let to = CardDestination {
        url: "",
        title: card.text("title"),
        media_key: card.text("media_key"),
    };
    Ok(card_links::set_destinations(desk.tx, uri, &[to])?)
}

// A number sign is one more than the twenty.
const fn option(name: &'static str) -> Field {
    Field::text(name, 1, 21).hidden()
}

const fn text(name: &'static str, other: &'static [&'static str]) -> Field {
    Field::text(name, 1, 280).alias(other).hidden()
}

const NAME: Field = Field::text("name", 1, 80).required();
const TITLE: Field = Field::text("title", 1, 23).hidden();
const MEDIA: Field = Field::new("media_key", Kind::MediaKey).required().hidden();
const THANKS: Field = Field::text("thank_you_text", 1, 23).required().hidden();
const THANKS_URL: Field = Field::url("thank_you_url").hidden();
const UNLOCKED_IMAGE: Field = Field::new("unlocked_image_media_key", Kind::MediaKey)
    .hidden()
    .gated(UNLOCKED);
const UNLOCKED_VIDEO: Field = Field::new("unlocked_video_media_key", Kind::MediaKey)
    .hidden()
    .gated(UNLOCKED);
const UNLOCKED: &[Gate] = &[Gate::new("CONVERSATION_CARD_UNLOCK")];
const FOUR: &[Gate] = &[Gate::new("CONVERSATION_CARD_FOUR_OPTIONS")];
const POSTER: Field = Field::new("poster_media_key", Kind::MediaKey).hidden();
const URI: Field = Field::new("uri", Kind::Long).kept().hidden();

const VIDEO_FIELDS: &[Field] = &[
    NAME,
    TITLE,
    MEDIA,
    option("first_cta").required(),
    text("first_cta_tweet", &["first_cta_post"]).required(),
    option("second_cta"),
    text("second_cta_tweet", &["second_cta_post"]),
    option("third_cta").gated(FOUR),
    text("third_cta_tweet", &["third_cta_post"]),
    option("fourth_cta").gated(FOUR),
    text("fourth_cta_tweet", &["fourth_cta_post"]),
    THANKS,
    THANKS_URL,
    UNLOCKED_IMAGE,
    UNLOCKED_VIDEO,
    POSTER,
    URI,
    Field::one_of("card_type", &["VIDEO_CONVERSATION"])
        .kept()
        .or("VIDEO_CONVERSATION"),
];

const IMAGE_FIELDS: &[Field] = &[
    NAME,
    TITLE,
    MEDIA,
    option("first_cta").required(),
    text("first_cta_tweet", &["first_cta_post"]).required(),
    option("second_cta"),
    text("second_cta_tweet", &["second_cta_post"]),
    option("third_cta").gated(FOUR),
    text("third_cta_tweet", &["third_cta_post"]),
    option("fourth_cta").gated(FOUR),
    text("fourth_cta_tweet", &["fourth_cta_post"]),
    THANKS,
    THANKS_URL,
    UNLOCKED_IMAGE,
    URI,
    Field::one_of("card_type", &["IMAGE_CONVERSATION"])
        .kept()
        .or("IMAGE_CONVERSATION"),
];

/// The options of a card, each with the text of its post.
pub const OPTIONS: [(&str, &str); 4] = [
    ("first_cta", "first_cta_tweet"),
    ("second_cta", "second_cta_tweet"),
    ("third_cta", "third_cta_tweet"),
    ("fourth_cta", "fourth_cta_tweet"),
];

fn has_a_text_for_each_option(change: &Change) -> Result<(), AdsProblem> {
    let has = |name| change.record.get(name).is_some();
    for (option, text) in OPTIONS {
        let (missing, needing) = match (has(option), has(text)) {
            (true, false) => (text, option),
            (false, true) => (option, text),
            _ => continue,
        };
        return Err(AdsProblem {
            location: ProblemLocation::Parameter(missing.into()),
            ..AdsProblem::new("INCLUSIVE_PARAMETERS", format!("{needing} needs {missing}"))
        });
    }
    Ok(())
}

fn has_a_title_or_a_choice(change: &Change) -> Result<(), AdsProblem> {
    let has = |name| change.record.get(name).is_some();
    if has("title") || has("second_cta") {
        return Ok(());
    }
    let message = "title is required where second_cta is not set";
    Err(AdsProblem {
        message: message.to_owned(),
        ..AdsProblem::missing_parameter("title")
    })
}

/// Options are hashtags; the number sign may be left out when they are sent.
fn write_hashtags(_: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    if change.verb == Verb::Delete {
        return Ok(());
    }
    let mut problems = Vec::new();
    for (option, _) in OPTIONS {
        let sent = change.record.text(option);
        if sent.is_empty() {
            continue;
        }
        let word = sent.strip_prefix('#').unwrap_or(sent);
        if (1..=20).contains(&word.chars().count()) && !word.contains(['#', ' ']) {
            let hashtag = format!("#{word}");
            change.record.set(option, hashtag);
            continue;
        }
        let message =
            format!("Expected a hashtag of 1 to 20 characters, got \"{sent}\" for {option}");
        problems.push(AdsProblem::invalid_parameter(option, sent, message));
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(Refusal::from(problems).into())
}

/// The fields of a record that name media.
fn media_fields(card: &Record) -> impl Iterator<Item = (&'static str, &str)> {
    let fields = card.of.fields.iter();
    let fields = fields.filter(|field| matches!(field.kind, Kind::MediaKey));
    fields.filter_map(|field| {
        let key = card.text(field.name.post);
        (!key.is_empty()).then_some((field.name.post, key))
    })
}

fn keys(card: &Record) -> Vec<&str> {
    media_fields(card).map(|(_, key)| key).collect()
}

fn is_video(card: &Record) -> bool {
    card.of.name == VIDEO_CONVERSATION_CARD.name
}

fn has_fitting_media(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    if change.verb == Verb::Delete {
        return card_media::carry(desk, &keys(&change.record), &[]);
    }
    if change.is_new() {
        let uri = desk.tx.next_id::<()>().get();
        change.record.set("uri", uri);
    }
    let mut problems = Vec::new();
    for (name, key) in media_fields(&change.record).filter(|(name, _)| change.changes(name)) {
        let media = match card_media::need(desk, name, key) {
            Ok(media) => media,
            Err(Error::Refused(Refusal::Ads(declined))) => {
                problems.extend(declined.problems);
                continue;
            }
            Err(other) => return Err(other),
        };
        let checked = match name {
            "media_key" if is_video(&change.record) => {
                card_media::check_video(name, &media, &[Frame::Film])
            }
            "media_key" => card_media::check_image(name, &media, &[Frame::Wide]),
            "unlocked_video_media_key" => {
                card_media::check_video(name, &media, &[Frame::Film, Frame::Square])
            }
            "unlocked_image_media_key" if !is_video(&change.record) => {
                card_media::check_image(name, &media, &[Frame::Banner])
            }
            _ if card_media::is_image(&media) => Ok(()),
            _ => {
                let message = format!("{key} is not an image");
                Err(AdsProblem::invalid_parameter(name, key, message).with_code("INVALID_IMAGE"))
            }
        };
        problems.extend(checked.err());
    }
    if !problems.is_empty() {
        return Err(Refusal::from(problems).into());
    }
    let before = change.before.as_ref().map(keys).unwrap_or_default();
    card_media::carry(desk, &before, &keys(&change.record))
}

fn computed(
    desk: &mut Desk<'_, '_>,
    cards: &[Record],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let known = card_media::find(desk, cards.iter().flat_map(keys))?;
    let all = cards.iter().map(|card| members(desk, card, &known));
    Ok(all.collect())
}

/// What is set; of a deleted card nothing but its name is told.
fn members(desk: &Desk<'_, '_>, card: &Record, known: &Known) -> Vec<(&'static str, Value)> {
    if card.deleted {
        return Vec::new();
    }
    let uri = card.int("uri").unwrap_or(0);
    let mut all = vec![("card_uri", Value::from(format!("card://{uri}")))];
    let single = ["title", "media_key", "thank_you_text", "thank_you_url"];
    let options = OPTIONS
        .into_iter()
        .flat_map(|(option, text)| [option, text]);
    for name in single.into_iter().chain(options) {
        all.extend(card.get(name).map(|value| (name, value.clone())));
    }
    let media = |name: &str| {
        let mut fields = media_fields(card);
        let (_, key) = fields.find(|(field, _)| *field == name)?;
        known.get(key)
    };
    if let Some(main) = media("media_key") {
        all.push(("media_url", card_media::url(desk, main)));
        if is_video(card) {
            let (wide, high) = card_media::aspect(main);
            let poster = media("poster_media_key").map(|poster| card_media::url(desk, poster));
            let poster = poster.unwrap_or_else(|| card_media::poster(desk, main));
            all.extend([
                ("poster_media_url", poster),
                ("video_width", wide.to_string().into()),
                ("video_height", high.to_string().into()),
                ("video_owner_id", main.owner_id.to_string().into()),
            ]);
        } else {
            all.push(("image_display_width", main.width.to_string().into()));
            all.push(("image_display_height", main.height.to_string().into()));
        }
    }
    for (name, url) in [
        ("unlocked_image_media_key", "unlocked_image_url"),
        ("unlocked_video_media_key", "unlocked_video_url"),
    ] {
        all.extend(media(name).map(|media| (url, card_media::url(desk, media))));
    }
    all
}
