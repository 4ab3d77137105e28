//! Cards of the kinds that preceded cards of components: a website, an app or direct messages, with an image or a video.
//!
//! The kinds differ by their fields only. The rules look at the fields that a kind has.

use std::collections::HashMap;

use ads_engine::engine::{self, ensure_valid_params};
use ads_engine::{
    AccountContext, AdsRecord, CustomOperation, FeatureGate, FieldSpec, Kind, ListFilter, MediaKeyText,
    OperationOutput, ParsedParams, RecordChange, RequiredRole, Resource, ResourceVerb, ValidationRule,
};
use base::refusal::AdsProblem;
use base::{Error, UserId, VocabularyWord};
use serde_json::Value;
use store::ads::card_links::{self, CardDestination};
use store::media::Media;
use store::users::{self, UserState};

use crate::gazetteer::gazetteer;
use crate::resources::account_apps;
use crate::resources::all_cards::SHORT_CARD_SEQUENCE;
use crate::resources::card_media::{self, AspectRatio, MediaByKey};
use crate::resources::cards::short_url;

/// A resource by its kind in lower case, in upper case and as a label, with the fields that not every kind has.
macro_rules! legacy_card {
    ($resource:ident, $kind:literal, $word:literal, $label:literal, $gate:expr, [$($field:expr),+]) => {
        pub static $resource: Resource = Resource {
            name: concat!($kind, "_card"),
            path: concat!("cards/", $kind),
            label: concat!($label, " card"),
            fields: &[
                NAME,
                $($field,)+
                URI,
                FieldSpec::one_of("card_type", &[$word]).set_by_server().default_word($word),
            ],
            filters: &[ListFilter::ids("card_ids", "id", &$resource)],
            constant_echo: &[("card_type", $kind)],
            feature_gate: $gate,
            ..LEGACY
        };
    };
}

macro_rules! website_card {
    ($resource:ident, $kind:literal, $word:literal, $label:literal, $title:literal) => {
        legacy_card!(
            $resource,
            $kind,
            $word,
            $label,
            None,
            [FieldSpec::text($title, 1, 70).required(), FieldSpec::url("website_url").required(), MEDIA]
        );
    };
}

macro_rules! app_card {
    ($resource:ident, $kind:literal, $word:literal, $label:literal, $gate:expr, [$($media:expr),+]) => {
        legacy_card!($resource, $kind, $word, $label, $gate, [
            FieldSpec::text("country_code", 2, 2).required(),
            FieldSpec::text("ipad_app_id", 1, 255),
            FieldSpec::text("iphone_app_id", 1, 255),
            FieldSpec::text("googleplay_app_id", 1, 255),
            FieldSpec::text("ipad_deep_link", 1, 2048),
            FieldSpec::text("iphone_deep_link", 1, 2048),
            FieldSpec::text("googleplay_deep_link", 1, 2048),
            APP_CTA,
            $($media),+
        ]);
    };
}

macro_rules! message_card {
    ($resource:ident, $kind:literal, $word:literal, $label:literal, [$($media:expr),+]) => {
        legacy_card!($resource, $kind, $word, $label, Some(FeatureGate::new("DIRECT_MESSAGE_CARD")), [
            FieldSpec::new("recipient_user_id", Kind::ID).required().immutable(),
            MESSAGE_FIELDS[0].required(),
            MESSAGE_FIELDS[1].required(),
            MESSAGE_FIELDS[2],
            MESSAGE_FIELDS[3],
            MESSAGE_FIELDS[4],
            MESSAGE_FIELDS[5],
            MESSAGE_FIELDS[6],
            MESSAGE_FIELDS[7],
            $($media),+
        ]);
    };
}

const VIDEO_APPS: Option<FeatureGate> = Some(FeatureGate::new("VIDEO_APP_DOWNLOAD_CARD"));

website_card!(WEBSITE_CARD, "website", "WEBSITE", "website", "website_title");
website_card!(VIDEO_WEBSITE_CARD, "video_website", "VIDEO_WEBSITE", "video website", "title");
app_card!(IMAGE_APP_DOWNLOAD_CARD, "image_app_download", "IMAGE_APP_DOWNLOAD", "image app download", None, [MEDIA]);
app_card!(
    VIDEO_APP_DOWNLOAD_CARD,
    "video_app_download",
    "VIDEO_APP_DOWNLOAD",
    "video app download",
    VIDEO_APPS,
    [MEDIA, POSTER]
);
message_card!(IMAGE_MESSAGE_CARD, "image_direct_message", "IMAGE_DIRECT_MESSAGE", "image direct message", [MEDIA]);
message_card!(
    VIDEO_MESSAGE_CARD,
    "video_direct_message",
    "VIDEO_DIRECT_MESSAGE",
    "video direct message",
    [MEDIA, POSTER]
);

pub static LEGACY_CARDS: [&Resource; 6] = [
    &WEBSITE_CARD,
    &VIDEO_WEBSITE_CARD,
    &IMAGE_APP_DOWNLOAD_CARD,
    &VIDEO_APP_DOWNLOAD_CARD,
    &IMAGE_MESSAGE_CARD,
    &VIDEO_MESSAGE_CARD,
];

const LEGACY: Resource = Resource {
    id: VocabularyWord::same_in_both("card_id"),
    not_found: "CARD_NOT_FOUND",
    sequence: SHORT_CARD_SEQUENCE,
    max_name_prefix: 80,
    read_role: RequiredRole::CreativeReader,
    write_role: RequiredRole::CreativeWriter,
    rules: &[
        ValidationRule::OnRecord(validate_apps),
        ValidationRule::OnRecord(validate_message_options),
        ValidationRule::InContext(validate_recipient),
        ValidationRule::InContext(validate_media),
    ],
    compute_fields: Some(computed_fields),
    after_change: Some(sync_links_and_apps),
    ..Resource::DEFAULT
};

const NAME: FieldSpec = FieldSpec::text("name", 1, 80).required();
const MEDIA: FieldSpec = FieldSpec::new("media_key", Kind::custom(&MediaKeyText)).required();
const POSTER: FieldSpec = FieldSpec::new("poster_media_key", Kind::custom(&MediaKeyText)).hidden();
const URI: FieldSpec = FieldSpec::new("uri", Kind::LONG).set_by_server().hidden();
const APP_CTA: FieldSpec =
    FieldSpec::one_of("app_cta", &["BOOK", "CONNECT", "INSTALL", "OPEN", "ORDER", "PLAY", "SHOP"])
        .default_word("INSTALL");
const MESSAGE_FIELDS: [FieldSpec; 8] = [
    FieldSpec::text("first_cta", 1, 24),
    FieldSpec::new("first_cta_welcome_message_id", Kind::ID),
    FieldSpec::text("second_cta", 1, 24),
    FieldSpec::new("second_cta_welcome_message_id", Kind::ID),
    FieldSpec::text("third_cta", 1, 24),
    FieldSpec::new("third_cta_welcome_message_id", Kind::ID),
    FieldSpec::text("fourth_cta", 1, 24),
    FieldSpec::new("fourth_cta_welcome_message_id", Kind::ID),
];

/// The operating system of an app, and the fields of its id and deep link.
const APPS: [(&str, &str, &str); 3] = [
    ("iOS", "ipad_app_id", "ipad_deep_link"),
    ("iOS", "iphone_app_id", "iphone_deep_link"),
    ("Android", "googleplay_app_id", "googleplay_deep_link"),
];
/// The choices of a card of direct messages, each with its welcome message.
const MESSAGE_OPTIONS: [(&str, &str); 4] = [
    ("first_cta", "first_cta_welcome_message_id"),
    ("second_cta", "second_cta_welcome_message_id"),
    ("third_cta", "third_cta_welcome_message_id"),
    ("fourth_cta", "fourth_cta_welcome_message_id"),
];

pub static OPERATIONS: &[CustomOperation] =
    &[CustomOperation::put("updateAdsImageDirectMessageCardById", "cards/image_direct_message", update_message_card)
        .summary("Changes an image direct message card that a parameter names.")
        .requires_role(RequiredRole::CreativeWriter)
        .params(&[
            FieldSpec::reference("card_id", &IMAGE_MESSAGE_CARD).required(),
            FieldSpec::text("name", 1, 80),
            MESSAGE_FIELDS[0],
            MESSAGE_FIELDS[1],
            MESSAGE_FIELDS[2],
            MESSAGE_FIELDS[3],
            MESSAGE_FIELDS[4],
            MESSAGE_FIELDS[5],
            MESSAGE_FIELDS[6],
            MESSAGE_FIELDS[7],
            FieldSpec::new("media_key", Kind::custom(&MediaKeyText)),
        ])];

/// The collection addresses this card by a parameter, unlike the others.
fn update_message_card(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let id = engine::path_record_id(&IMAGE_MESSAGE_CARD, params)?;
    let card = engine::update(ctx, &IMAGE_MESSAGE_CARD, id, params)?;
    OperationOutput::from_record(ctx, card)
}

fn has_field(card: &AdsRecord, name: &str) -> bool {
    card.resource.field(name).is_some()
}

fn inclusive_params(missing: &'static str, needing: &str) -> AdsProblem {
    AdsProblem::at_parameter(missing, "INCLUSIVE_PARAMETERS", format!("{needing} needs {missing}"))
}

fn validate_apps(change: &RecordChange) -> Result<(), AdsProblem> {
    let card = &change.record;
    if !has_field(card, "country_code") {
        return Ok(());
    }
    let country = card.text("country_code");
    if gazetteer().find_country(&country.to_ascii_uppercase()).is_none() {
        let message = format!("\"{country}\" is not the code of a country, for country_code");
        return Err(AdsProblem::invalid_parameter("country_code", country, message));
    }
    if let Some((_, id, link)) = APPS.iter().find(|(_, id, link)| card.get(link).is_some() && card.get(id).is_none()) {
        return Err(inclusive_params(id, link));
    }
    if APPS.iter().all(|(_, id, _)| card.get(id).is_none()) {
        return Err(AdsProblem::missing_parameter("googleplay_app_id"));
    }
    Ok(())
}

fn validate_message_options(change: &RecordChange) -> Result<(), AdsProblem> {
    let card = &change.record;
    if !has_field(card, "first_cta") {
        return Ok(());
    }
    for (option, message) in MESSAGE_OPTIONS {
        match (card.get(option).is_some(), card.get(message).is_some()) {
            (true, false) => return Err(inclusive_params(message, option)),
            (false, true) => return Err(inclusive_params(option, message)),
            _ => {}
        }
    }
    Ok(())
}

fn validate_recipient(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if !change.is_new() || !has_field(&change.record, "recipient_user_id") {
        return Ok(());
    }
    let id = change.record.int("recipient_user_id").unwrap_or(0);
    let user = users::find_by_id(ctx.tx, UserId::new(id))?;
    if user.is_some_and(|user| user.state == UserState::Active) {
        return Ok(());
    }
    let message = format!("The user {id} was not found");
    Err(AdsProblem::invalid_parameter("recipient_user_id", id.to_string(), message).with_code("USER_NOT_FOUND").into())
}

fn is_video(card: &AdsRecord) -> bool {
    card.text("card_type").starts_with("VIDEO")
}

fn validate_media(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    card_media::update_card_media(ctx, change, check_format)
}

/// Cards of direct messages take one aspect ratio only.
fn check_format(card: &AdsRecord, name: &'static str, media: &Media) -> Result<(), AdsProblem> {
    let for_messages = has_field(card, "first_cta");
    if name == "media_key" && is_video(card) {
        let ratios = [AspectRatio::Widescreen, AspectRatio::Square];
        return card_media::check_video(name, media, if for_messages { &ratios[..1] } else { &ratios });
    }
    let ratios = [AspectRatio::Wide, AspectRatio::Square, AspectRatio::Widescreen];
    let count = match name {
        "poster_media_key" => 3,
        _ if for_messages => 1,
        _ => 2,
    };
    card_media::check_image(name, media, ratios.get(..count).unwrap_or(&ratios))
}

/// Records the advertised apps, and creates the short link of the card.
fn sync_links_and_apps(ctx: &mut AccountContext<'_, '_>, change: &RecordChange) -> Result<(), Error> {
    let card = &change.record;
    let uri = card.int("uri").unwrap_or(0);
    if change.verb == ResourceVerb::Delete {
        return Ok(card_links::remove_links(ctx.tx, uri)?);
    }
    if has_field(card, "country_code") {
        for (system, id, _) in APPS {
            account_apps::ensure_app(ctx, system, card.text(id))?;
        }
    }
    let title = ["website_title", "title", "name"].into_iter().find(|name| has_field(card, name));
    let title = title.map(|name| card.text(name)).unwrap_or_default();
    let url = destination_url(card);
    let to = url.as_deref().map(|url| CardDestination { url, title, media_key: card.text("media_key") });
    Ok(card_links::set_destinations(ctx.tx, uri, to.as_slice())?)
}

/// Where the card leads; `None` for direct messages, which are written in a client.
fn destination_url(card: &AdsRecord) -> Option<String> {
    if has_field(card, "website_url") {
        return Some(card.text("website_url").to_owned());
    }
    if !has_field(card, "country_code") {
        return None;
    }
    let id = |name: &str| card.get(name)?.as_str().map(base::percent::encode);
    if let Some(id) = id("googleplay_app_id") {
        return Some(format!("https://play.google.com/store/apps/details?id={id}"));
    }
    let country = card.text("country_code").to_ascii_lowercase();
    let id = id("iphone_app_id").or_else(|| id("ipad_app_id"))?;
    Some(format!("https://apps.apple.com/{country}/app/id{id}"))
}

/// The host of a URL, with its port.
fn display_url(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

fn computed_fields(
    ctx: &mut AccountContext<'_, '_>,
    cards: &[AdsRecord],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let known = card_media::find_by_keys(ctx, cards.iter().flat_map(card_media::card_media_keys))?;
    let uris: Vec<i64> = cards.iter().filter_map(|card| card.int("uri")).collect();
    let links: HashMap<i64, i64> =
        card_links::list_by_cards(ctx.tx, &uris)?.into_iter().map(|link| (link.card_id, link.id)).collect();
    Ok(cards.iter().map(|card| card_fields(ctx, card, &known, &links)).collect())
}

/// Sizes and durations are texts (contract ads §4.7).
fn card_fields(
    ctx: &AccountContext<'_, '_>,
    card: &AdsRecord,
    media_by_key: &MediaByKey,
    links_by_uri: &HashMap<i64, i64>,
) -> Vec<(&'static str, Value)> {
    let uri = card.int("uri").unwrap_or(0);
    let mut all = vec![("card_uri", Value::from(format!("card://{uri}")))];
    if has_field(card, "website_url") {
        let url = card.text("website_url");
        all.push(("website_display_url", display_url(url).into()));
        all.push(("website_dest_url", url.into()));
        if let Some(link) = links_by_uri.get(&uri) {
            all.push(("website_shortened_url", short_url(ctx, *link).into()));
        }
    }
    let media = |name: &str| {
        card_media::media_fields(card).find(|(field, _)| *field == name).and_then(|(_, key)| media_by_key.get(key))
    };
    let Some(main) = media("media_key") else {
        return all;
    };
    all.push(("media_url", card_media::media_url(ctx, main)));
    let (wide, high) = (main.width.to_string(), main.height.to_string());
    if card_media::is_image(main) {
        if has_field(card, "country_code") {
            all.push(("wide_app_image", card_media::media_url(ctx, main)));
        }
        all.push(("image_display_width", wide.into()));
        all.push(("image_display_height", high.into()));
        return all;
    }
    let (poster, size) = match media("poster_media_key") {
        Some(poster) => (card_media::media_url(ctx, poster), poster),
        None => (card_media::poster_url(ctx, main), main),
    };
    all.extend([
        ("poster_media_url", poster.clone()),
        ("video_url", card_media::media_url(ctx, main)),
        // Videos are stored as one file; there are no stream segments.
        ("video_hls_url", Value::Null),
        ("video_width", wide.into()),
        ("video_height", high.into()),
        ("video_poster_url", poster),
        ("video_poster_width", size.width.to_string().into()),
        ("video_poster_height", size.height.to_string().into()),
        ("video_owner_id", main.owner_id.to_string().into()),
        ("video_content_id", main.id.to_string().into()),
        ("content_duration_seconds", card_media::duration_seconds(main).into()),
    ]);
    all
}
