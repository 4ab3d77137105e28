//! Conversation cards: a medium, and hashtags that start a post.

use ads_engine::{
    AccountContext, AdsRecord, DeleteMode, FeatureGate, FieldSpec, Kind, ListFilter, MediaKeyText, RecordChange,
    RequiredRole, Resource, ResourceVerb, ValidationRule,
};
use base::refusal::AdsProblem;
use base::{Error, Refusal, Vocabulary, VocabularyWord};
use serde_json::Value;
use store::ads::card_links::{self, CardDestination};
use store::media::Media;

use crate::resources::all_cards::SHORT_CARD_SEQUENCE;
use crate::resources::card_media::{self, AspectRatio, MediaByKey};

pub static VIDEO_CONVERSATION_CARD: Resource = Resource {
    name: "video_conversation_card",
    path: "cards/video_conversation",
    label: "video conversation card",
    fields: VIDEO_FIELDS,
    filters: &[ListFilter::ids("card_ids", "id", &VIDEO_CONVERSATION_CARD)],
    ..CONVERSATION
};

pub static IMAGE_CONVERSATION_CARD: Resource = Resource {
    name: "image_conversation_card",
    path: "cards/image_conversation",
    label: "image conversation card",
    fields: IMAGE_FIELDS,
    filters: &[ListFilter::ids("card_ids", "id", &IMAGE_CONVERSATION_CARD)],
    ..CONVERSATION
};

const CONVERSATION: Resource = Resource {
    id: VocabularyWord::same_in_both("card_id"),
    not_found: "CARD_NOT_FOUND",
    sequence: SHORT_CARD_SEQUENCE,
    max_name_prefix: 80,
    read_role: RequiredRole::CreativeReader,
    write_role: RequiredRole::CreativeWriter,
    rules: &[
        ValidationRule::OnRecord(|change| validate_option_text(change, OPTIONS[0])),
        ValidationRule::OnRecord(|change| validate_option_text(change, OPTIONS[1])),
        ValidationRule::OnRecord(|change| validate_option_text(change, OPTIONS[2])),
        ValidationRule::OnRecord(|change| validate_option_text(change, OPTIONS[3])),
        ValidationRule::OnRecord(validate_title),
        ValidationRule::InContext(normalize_hashtags),
        ValidationRule::InContext(validate_media),
    ],
    feature_gate: Some(FeatureGate::new("CONVERSATION_CARD")),
    delete_mode: DeleteMode::Hard,
    compute_fields: Some(computed_fields),
    after_change: Some(sync_card_link),
    ..Resource::DEFAULT
};

/// Posts link to the card's page, where viewers answer it.
fn sync_card_link(ctx: &mut AccountContext<'_, '_>, change: &RecordChange) -> Result<(), Error> {
    let card = &change.record;
    let Some(uri) = card.int("uri") else {
        return Ok(());
    };
    if change.verb == ResourceVerb::Delete {
        return Ok(card_links::remove_links(ctx.tx, uri)?);
    }
    let to = CardDestination { url: "", title: card.text("title"), media_key: card.text("media_key") };
    Ok(card_links::set_destinations(ctx.tx, uri, &[to])?)
}

// Twenty characters and the number sign.
const fn option_field(name: &'static str, label: &'static str) -> FieldSpec {
    FieldSpec::text(name, 1, 21).label(label).hidden()
}

const fn post_text_field(name: &'static str, other: &'static [&'static str], label: &'static str) -> FieldSpec {
    FieldSpec::text(name, 1, 280).alias(other).label(label).hidden()
}

const FIRST_POST: FieldSpec = post_text_field("first_cta_tweet", &["first_cta_post"], "Post text for the hashtag")
    .help("Prefilled when people choose the hashtag.")
    .required();

const NAME: FieldSpec = FieldSpec::text("name", 1, 80).label("Name").help("Only visible to your team.").required();
const TITLE: FieldSpec = FieldSpec::text("title", 1, 23)
    .label("Title")
    .help("At most 23 characters. Required if there is only one hashtag.")
    .hidden();
const MEDIA: FieldSpec = FieldSpec::new("media_key", Kind::custom(&MediaKeyText)).required().hidden();
const VIDEO: FieldSpec = MEDIA.label("Video").help("From the media library, 16:9.");
const IMAGE: FieldSpec = MEDIA.label("Image").help("From the media library, 1.91:1, at least 800 pixels wide.");
const THANK_YOU_TEXT: FieldSpec = FieldSpec::text("thank_you_text", 1, 23)
    .label("Thank-you text")
    .help("Shown after people post. At most 23 characters.")
    .required()
    .hidden();
const THANK_YOU_URL: FieldSpec = FieldSpec::url("thank_you_url").label("Thank-you URL").hidden();
const UNLOCKED_IMAGE: FieldSpec =
    FieldSpec::new("unlocked_image_media_key", Kind::custom(&MediaKeyText)).hidden().requires_features(UNLOCK_GATES);
const UNLOCKED_VIDEO: FieldSpec =
    FieldSpec::new("unlocked_video_media_key", Kind::custom(&MediaKeyText)).hidden().requires_features(UNLOCK_GATES);
const UNLOCK_GATES: &[FeatureGate] = &[FeatureGate::new("CONVERSATION_CARD_UNLOCK")];
const FOUR_OPTIONS_GATES: &[FeatureGate] = &[FeatureGate::new("CONVERSATION_CARD_FOUR_OPTIONS")];
const POSTER: FieldSpec = FieldSpec::new("poster_media_key", Kind::custom(&MediaKeyText)).hidden();
const URI: FieldSpec = FieldSpec::new("uri", Kind::LONG).set_by_server().hidden();

const VIDEO_FIELDS: &[FieldSpec] = &[
    NAME,
    TITLE,
    VIDEO,
    option_field("first_cta", "Hashtag").help("At most 20 characters.").required(),
    FIRST_POST,
    option_field("second_cta", "Second hashtag").advanced(),
    post_text_field("second_cta_tweet", &["second_cta_post"], "Post text for the second hashtag").advanced(),
    option_field("third_cta", "Third hashtag").advanced().requires_features(FOUR_OPTIONS_GATES),
    post_text_field("third_cta_tweet", &["third_cta_post"], "Post text for the third hashtag").advanced(),
    option_field("fourth_cta", "Fourth hashtag").advanced().requires_features(FOUR_OPTIONS_GATES),
    post_text_field("fourth_cta_tweet", &["fourth_cta_post"], "Post text for the fourth hashtag").advanced(),
    THANK_YOU_TEXT,
    THANK_YOU_URL,
    UNLOCKED_IMAGE,
    UNLOCKED_VIDEO,
    POSTER,
    URI,
    FieldSpec::one_of("card_type", &["VIDEO_CONVERSATION"]).set_by_server().default_word("VIDEO_CONVERSATION"),
];

const IMAGE_FIELDS: &[FieldSpec] = &[
    NAME,
    TITLE,
    IMAGE,
    option_field("first_cta", "Hashtag").help("At most 20 characters.").required(),
    FIRST_POST,
    option_field("second_cta", "Second hashtag").advanced(),
    post_text_field("second_cta_tweet", &["second_cta_post"], "Post text for the second hashtag").advanced(),
    option_field("third_cta", "Third hashtag").advanced().requires_features(FOUR_OPTIONS_GATES),
    post_text_field("third_cta_tweet", &["third_cta_post"], "Post text for the third hashtag").advanced(),
    option_field("fourth_cta", "Fourth hashtag").advanced().requires_features(FOUR_OPTIONS_GATES),
    post_text_field("fourth_cta_tweet", &["fourth_cta_post"], "Post text for the fourth hashtag").advanced(),
    THANK_YOU_TEXT,
    THANK_YOU_URL,
    UNLOCKED_IMAGE,
    URI,
    FieldSpec::one_of("card_type", &["IMAGE_CONVERSATION"]).set_by_server().default_word("IMAGE_CONVERSATION"),
];

/// An option of a card, the text of its post, and the name of that text in the newer vocabulary, which has both (contract
/// ads §2).
type CardOption = (&'static str, &'static str, &'static str);

pub const OPTIONS: [CardOption; 4] = [
    ("first_cta", "first_cta_tweet", "first_cta_post"),
    ("second_cta", "second_cta_tweet", "second_cta_post"),
    ("third_cta", "third_cta_tweet", "third_cta_post"),
    ("fourth_cta", "fourth_cta_tweet", "fourth_cta_post"),
];

fn validate_option_text(change: &RecordChange, (option, text, _): CardOption) -> Result<(), AdsProblem> {
    let has = |name| change.record.get(name).is_some();
    let (missing, needing) = match (has(option), has(text)) {
        (true, false) => (text, option),
        (false, true) => (option, text),
        _ => return Ok(()),
    };
    Err(AdsProblem::at_parameter(missing, "INCLUSIVE_PARAMETERS", format!("{needing} needs {missing}")))
}

fn validate_title(change: &RecordChange) -> Result<(), AdsProblem> {
    let has = |name| change.record.get(name).is_some();
    if has("title") || has("second_cta") {
        return Ok(());
    }
    let message = "title is required where second_cta is not set";
    Err(AdsProblem { message: message.to_owned(), ..AdsProblem::missing_parameter("title") })
}

/// Normalizes hashtags; the number sign is optional in requests.
fn normalize_hashtags(_: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if change.verb == ResourceVerb::Delete {
        return Ok(());
    }
    let mut problems = Vec::new();
    for (option, ..) in OPTIONS {
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
        let message = format!("Expected a hashtag of 1 to 20 characters, got \"{sent}\" for {option}");
        problems.push(AdsProblem::invalid_parameter(option, sent, message));
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(Refusal::from(problems).into())
}

fn is_video(card: &AdsRecord) -> bool {
    card.resource.name == VIDEO_CONVERSATION_CARD.name
}

fn validate_media(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    card_media::update_card_media(ctx, change, check_format)
}

fn check_format(card: &AdsRecord, name: &'static str, media: &Media) -> Result<(), AdsProblem> {
    match name {
        "media_key" if is_video(card) => card_media::check_video(name, media, &[AspectRatio::Widescreen]),
        "media_key" => card_media::check_image(name, media, &[AspectRatio::Wide]),
        "unlocked_video_media_key" => {
            card_media::check_video(name, media, &[AspectRatio::Widescreen, AspectRatio::Square])
        }
        "unlocked_image_media_key" if !is_video(card) => card_media::check_image(name, media, &[AspectRatio::Banner]),
        _ if card_media::is_image(media) => Ok(()),
        _ => {
            let message = format!("{} is not an image", media.media_key);
            Err(AdsProblem::invalid_parameter(name, &media.media_key, message).with_code("INVALID_IMAGE"))
        }
    }
}

fn computed_fields(
    ctx: &mut AccountContext<'_, '_>,
    cards: &[AdsRecord],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let known = card_media::find_by_keys(ctx, cards.iter().flat_map(card_media::card_media_keys))?;
    let all = cards.iter().map(|card| card_fields(ctx, card, &known));
    Ok(all.collect())
}

/// The fields that are set; of a deleted card only the name.
fn card_fields(
    ctx: &AccountContext<'_, '_>,
    card: &AdsRecord,
    media_by_key: &MediaByKey,
) -> Vec<(&'static str, Value)> {
    if card.deleted {
        return Vec::new();
    }
    let uri = card.int("uri").unwrap_or(0);
    let mut all = vec![("card_uri", Value::from(format!("card://{uri}")))];
    let single = ["title", "media_key", "thank_you_text", "thank_you_url"];
    let options = OPTIONS.into_iter().flat_map(|(option, text, _)| [option, text]);
    for name in single.into_iter().chain(options) {
        all.extend(card.get(name).map(|value| (name, value.clone())));
    }
    if ctx.caller.vocabulary == Vocabulary::Post {
        let texts = OPTIONS.into_iter();
        all.extend(texts.filter_map(|(_, text, newer)| card.get(text).map(|value| (newer, value.clone()))));
    }
    let media = |name: &str| {
        let mut fields = card_media::media_fields(card);
        let (_, key) = fields.find(|(field, _)| *field == name)?;
        media_by_key.get(key)
    };
    if let Some(main) = media("media_key") {
        all.push(("media_url", card_media::media_url(ctx, main)));
        if is_video(card) {
            let (wide, high) = card_media::aspect_ratio(main);
            let poster = media("poster_media_key").map(|poster| card_media::media_url(ctx, poster));
            let poster = poster.unwrap_or_else(|| card_media::poster_url(ctx, main));
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
    for (name, url) in
        [("unlocked_image_media_key", "unlocked_image_url"), ("unlocked_video_media_key", "unlocked_video_url")]
    {
        all.extend(media(name).map(|media| (url, card_media::media_url(ctx, media))));
    }
    all
}
