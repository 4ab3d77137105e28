//! Cards: a medium and its destination, built from components.

use std::collections::HashMap;

use ads_engine::{
    AccountContext, AdsRecord, CardUriText, FieldSpec, IdFormat, InputFormat, JsonShape, Kind, ListExtension,
    ListFilter, RecordChange, RequiredRole, Resource, ResourceVerb, ValidationRule,
};
use base::refusal::AdsProblem;
use base::{Error, VocabularyWord};
use serde_json::{Map, Value};
use store::ads::card_links::{self, CardDestination};
use store::media::Media;

use crate::resources::account_apps;
use crate::resources::card_components::{self as components, iter_components, media_keys};
use crate::resources::card_media::{self, AspectRatio, MediaByKey};
use crate::resources::legacy_cards::LEGACY_CARDS;

pub static CARD: Resource = Resource {
    name: "card",
    id: VocabularyWord::same_in_both("card_id"),
    path: "cards",
    label: "card",
    id_format: IdFormat::Long,
    not_found: "CARD_NOT_FOUND",
    fields: &[
        FieldSpec::text("name", 1, 80).label("Name").help("Only visible to your team.").required(),
        FieldSpec::new("components", Kind::custom(&JsonShape::new(components::parse_card_components))).hidden(),
        FieldSpec::new("slides", Kind::custom(&JsonShape::new(components::parse_slides))).hidden(),
        FieldSpec::one_of("card_type", CARD_TYPES).set_by_server(),
    ],
    filters: &[
        ListFilter::one_of_words("card_types", "card_type", CARD_TYPES),
        ListFilter::ids("card_id", "id", &CARD).alias(&["card_ids"]),
        // A card URI ends with the card's id.
        ListFilter::new("card_uris", "id", Kind::custom(&CardUriText).list(1, 200)),
        // Read where the list is extended.
        ListFilter::new("include_legacy_cards", "", Kind::BOOL),
    ],
    list_extension: Some(ListExtension { flag: "include_legacy_cards", resources: &LEGACY_CARDS, id_field: "uri" }),
    page_size: (100, 200),
    max_name_prefix: 80,
    read_role: RequiredRole::CreativeReader,
    write_role: RequiredRole::CreativeWriter,
    input_format: InputFormat::Json,
    rules: &[ValidationRule::InContext(apply_components)],
    compute_fields: Some(computed_fields),
    after_change: Some(sync_links_and_apps),
    ..Resource::DEFAULT
};

const CARD_TYPES: &[&str] = &[
    "IMAGE_APP",
    "IMAGE_CAROUSEL_APP",
    "IMAGE_CAROUSEL_WEBSITE",
    "IMAGE_MULTI_DEST_CAROUSEL_WEBSITE",
    "IMAGE_WEBSITE",
    "MIXED_MEDIA_MULTI_DEST_CAROUSEL_WEBSITE",
    "MIXED_MEDIA_SINGLE_DEST_CAROUSEL_APP",
    "MIXED_MEDIA_SINGLE_DEST_CAROUSEL_WEBSITE",
    "VIDEO_APP",
    "VIDEO_CAROUSEL_APP",
    "VIDEO_CAROUSEL_WEBSITE",
    "VIDEO_MULTI_DEST_CAROUSEL_WEBSITE",
    "VIDEO_WEBSITE",
];

fn card_parts(card: &AdsRecord) -> (&'static str, &[Value]) {
    match card.items("slides") {
        [] => ("components", card.items("components")),
        slides => ("slides", slides),
    }
}

fn card_media_keys(card: &AdsRecord) -> Vec<&str> {
    let (_, parts) = card_parts(card);
    iter_components(parts).flat_map(media_keys).collect()
}

/// Replaces the components; the media determine the card type.
fn apply_components(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if change.verb == ResourceVerb::Delete {
        return card_media::update_media_references(ctx, &card_media_keys(&change.record), &[]);
    }
    let sent = |name| change.was_sent(name) && change.record.get(name).is_some();
    match (sent("components"), sent("slides")) {
        (true, true) => {
            let message = "components and slides cannot be used together";
            return Err(AdsProblem::at_parameter("slides", "EXCLUSIVE_PARAMETERS", message).into());
        }
        (true, false) => change.record.set("slides", Value::Null),
        (false, true) => change.record.set("components", Value::Null),
        (false, false) if card_parts(&change.record).1.is_empty() => {
            return Err(AdsProblem::missing_parameter("components").into());
        }
        (false, false) => return Ok(()),
    }
    let media = validate_media(ctx, &change.record)?;
    let images = media.iter().filter(|one| card_media::is_image(one)).count();
    let kind = match images {
        0 => "VIDEO",
        all if all == media.len() => "IMAGE",
        _ => "MIXED_MEDIA",
    };
    let (name, all) = card_parts(&change.record);
    let all: Vec<Value> = iter_components(all).cloned().collect();
    let kind = components::card_type(&all, name == "slides", kind);
    change.record.set("card_type", kind);
    let before = change.before.as_ref().map(card_media_keys).unwrap_or_default();
    card_media::update_media_references(ctx, &before, &card_media_keys(&change.record))
}

/// Loads and validates the media of a card; collects all problems.
fn validate_media(ctx: &mut AccountContext<'_, '_>, card: &AdsRecord) -> Result<Vec<Media>, Error> {
    let (name, _) = card_parts(card);
    let fields = card_media_keys(card).into_iter().map(|key| (name, key));
    card_media::require_all_usable(ctx, fields, |name, media| {
        if card_media::is_image(media) {
            card_media::check_image(name, media, &[AspectRatio::Wide, AspectRatio::Square])
        } else if card_media::is_animation(media) {
            Ok(())
        } else {
            card_media::check_video(name, media, &[AspectRatio::Widescreen, AspectRatio::Square])
        }
    })
}

/// Records the advertised apps, and creates short links for URLs.
fn sync_links_and_apps(ctx: &mut AccountContext<'_, '_>, change: &RecordChange) -> Result<(), Error> {
    if change.verb == ResourceVerb::Delete {
        return Ok(card_links::remove_links(ctx.tx, change.record.id)?);
    }
    card_links::set_destinations(ctx.tx, change.record.id, &link_destinations(&change.record))?;
    let (_, all) = card_parts(&change.record);
    for destination in iter_components(all).filter_map(|part| part.get("destination")) {
        for (system, name) in [("Android", "googleplay_app_id"), ("iOS", "ios_app_store_identifier")] {
            let id = destination.get(name).and_then(Value::as_str);
            account_apps::ensure_app(ctx, system, id.unwrap_or_default())?;
        }
    }
    Ok(())
}

/// The URLs of a card, each once.
fn link_destinations(card: &AdsRecord) -> Vec<CardDestination<'_>> {
    let (_, all) = card_parts(card);
    let groups: Vec<&[Value]> = match all.first() {
        Some(Value::Array(_)) => all.iter().filter_map(Value::as_array).map(Vec::as_slice).collect(),
        _ => vec![all],
    };
    let mut found: Vec<CardDestination<'_>> = Vec::new();
    for group in groups {
        let media = group.iter().flat_map(media_keys).next();
        let leads = group.iter().find_map(|part| {
            let url = component_url(part)?;
            let title = part.get("title").and_then(Value::as_str);
            Some((url, title.unwrap_or_default()))
        });
        let Some((url, title)) = leads.filter(|(url, _)| found.iter().all(|one| one.url != *url)) else {
            continue;
        };
        found.push(CardDestination { url, title, media_key: media.unwrap_or_default() });
    }
    found
}

fn component_url(part: &Value) -> Option<&str> {
    part.get("destination")?.get("url")?.as_str()
}

/// Short link ids by card and URL.
type ShortLinks = HashMap<(i64, String), i64>;

fn computed_fields(
    ctx: &mut AccountContext<'_, '_>,
    cards: &[AdsRecord],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let known = card_media::find_by_keys(ctx, cards.iter().flat_map(card_media_keys))?;
    let ids: Vec<i64> = cards.iter().map(|card| card.id).collect();
    let links = card_links::list_by_cards(ctx.tx, &ids)?.into_iter();
    let links: ShortLinks = links.map(|link| ((link.card_id, link.url), link.id)).collect();
    let fields = |card: &AdsRecord| {
        let (name, all) = card_parts(card);
        let components = all.iter().map(|part| render_component(ctx, card, part, (&known, &links))).collect();
        vec![(name, Value::Array(components)), ("card_uri", format!("card://{}", card.id).into())]
    };
    Ok(cards.iter().map(fields).collect())
}

/// Of a link of a card.
pub(crate) fn short_url(ctx: &AccountContext<'_, '_>, link: i64) -> String {
    format!("{}/c/{link}", ctx.site.files_url)
}

/// Renders a component or slide with media metadata and short links.
fn render_component(
    ctx: &AccountContext<'_, '_>,
    card: &AdsRecord,
    part: &Value,
    facts: (&MediaByKey, &ShortLinks),
) -> Value {
    if let Value::Array(slide) = part {
        let parts = slide.iter();
        return parts.map(|part| render_component(ctx, card, part, facts)).collect();
    }
    let (known, links) = facts;
    let mut part = part.clone();
    let link = component_url(&part).and_then(|url| links.get(&(card.id, url.to_owned())));
    if let Some(link) = link
        && let Some(to) = part.get_mut("destination").and_then(Value::as_object_mut)
    {
        to.insert("tco_url".to_owned(), short_url(ctx, *link).into());
    }
    let media = media_keys(&part).into_iter().filter_map(|key| known.get(key));
    let media: Map<String, Value> =
        media.map(|one| (one.media_key.clone(), card_media::media_metadata(ctx, one))).collect();
    if let Some(members) = part.as_object_mut().filter(|_| !media.is_empty()) {
        members.insert("media_metadata".to_owned(), media.into());
    }
    part
}
