//! Cards: a medium and where it leads, made of components.

use std::collections::HashMap;

use base::refusal::{AdsProblem, ProblemLocation};
use base::{Error, Refusal, VocabularyWord};
use serde_json::{Map, Value};
use store::ads::card_links::{self, CardDestination};
use store::media::Media;

use crate::access::Who;
use crate::change::Change;
use crate::declare::{Field, Filter, Resource, Rule, Sends, Verb};
use crate::desk::Desk;
use crate::kind::{Ids, Kind};
use crate::record::Record;
use crate::resources::account_apps;
use crate::resources::card_components::{self as components, each, media_keys};
use crate::resources::card_media::{self, Frame, Known};

/// A card.
pub static CARD: Resource = Resource {
    name: "card",
    id: VocabularyWord::same_in_both("card_id"),
    path: "cards",
    about: "card",
    ids: Ids::Long,
    not_found: "CARD_NOT_FOUND",
    fields: &[
        Field::text("name", 1, 80).required(),
        Field::new("components", Kind::Shape(components::of_card)).hidden(),
        Field::new("slides", Kind::Shape(components::of_slides)).hidden(),
        Field::one_of("card_type", TYPES).kept(),
    ],
    filters: &[
        Filter::words("card_types", "card_type", TYPES),
        Filter::ids("card_id", "id", &CARD).alias(&["card_ids"]),
        // A card's address ends with its id.
        Filter::new("card_uris", "id", Kind::CardUris(200)),
        // Nothing makes cards of that kind: there are none to be added.
        Filter::new("include_legacy_cards", "", Kind::Bool),
    ],
    count: (100, 200),
    prefix: 80,
    reads: Who::CreativeReader,
    writes: Who::CreativeWriter,
    sends: Sends::Json,
    rules: &[Rule::Within(compose)],
    computed: Some(computed),
    after: Some(after),
    ..Resource::DEFAULT
};

const TYPES: &[&str] = &[
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

fn parts(card: &Record) -> (&'static str, &[Value]) {
    match card.items("slides") {
        [] => ("components", card.items("components")),
        slides => ("slides", slides),
    }
}

fn keys(card: &Record) -> Vec<&str> {
    let (_, parts) = parts(card);
    each(parts).flat_map(media_keys).collect()
}

/// What was sent takes the place of what was there; the media decide what the card is called.
fn compose(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    if change.verb == Verb::Delete {
        return Ok(());
    }
    let sent = |name| change.sent(name) && change.record.get(name).is_some();
    match (sent("components"), sent("slides")) {
        (true, true) => {
            let message = "components and slides cannot be used together";
            let problem = AdsProblem {
                location: ProblemLocation::Parameter("slides".into()),
                ..AdsProblem::new("EXCLUSIVE_PARAMETERS", message)
            };
            return Err(problem.into());
        }
        (true, false) => change.record.set("slides", Value::Null),
        (false, true) => change.record.set("components", Value::Null),
        (false, false) if parts(&change.record).1.is_empty() => {
            return Err(AdsProblem::missing_parameter("components").into());
        }
        (false, false) => return Ok(()),
    }
    let media = checked_media(desk, &change.record)?;
    let images = media.iter().filter(|one| card_media::is_image(one)).count();
    let kind = match images {
        0 => "VIDEO",
        all if all == media.len() => "IMAGE",
        _ => "MIXED_MEDIA",
    };
    let (name, all) = parts(&change.record);
    let all: Vec<Value> = each(all).cloned().collect();
    let kind = components::card_type(&all, name == "slides", kind);
    change.record.set("card_type", kind);
    let before = change.before.as_ref().map(keys).unwrap_or_default();
    card_media::carry(desk, &before, &keys(&change.record))
}

/// The media of a card, or everything that is wrong with them.
fn checked_media(desk: &mut Desk<'_, '_>, card: &Record) -> Result<Vec<Media>, Error> {
    let (name, _) = parts(card);
    let (mut all, mut problems) = (Vec::new(), Vec::new());
    for key in keys(card) {
        match card_media::need(desk, name, key) {
            Ok(media) => {
                let checked = if card_media::is_image(&media) {
                    card_media::check_image(name, &media, &[Frame::Wide, Frame::Square])
                } else {
                    card_media::check_video(name, &media, &[Frame::Film, Frame::Square])
                };
                problems.extend(checked.err());
                all.push(media);
            }
            Err(Error::Refused(Refusal::Ads(declined))) => problems.extend(declined.problems),
            Err(other) => return Err(other),
        }
    }
    if problems.is_empty() {
        return Ok(all);
    }
    Err(Refusal::from(problems).into())
}

/// Apps that cards lead to are apps of the account; sites are led to by short links.
fn after(desk: &mut Desk<'_, '_>, change: &Change) -> Result<(), Error> {
    if change.verb == Verb::Delete {
        return Ok(card_links::remove_links(desk.tx, change.record.id)?);
    }
    card_links::set_destinations(desk.tx, change.record.id, &destinations(&change.record))?;
    let (_, all) = parts(&change.record);
    for destination in each(all).filter_map(|part| part.get("destination")) {
        for (system, name) in [
            ("Android", "googleplay_app_id"),
            ("iOS", "ios_app_store_identifier"),
        ] {
            let id = destination.get(name).and_then(Value::as_str);
            account_apps::note(desk, system, id.unwrap_or_default())?;
        }
    }
    Ok(())
}

/// The sites that a card leads to, each once.
fn destinations(card: &Record) -> Vec<CardDestination<'_>> {
    let (_, all) = parts(card);
    let groups: Vec<&[Value]> = match all.first() {
        Some(Value::Array(_)) => all
            .iter()
            .filter_map(Value::as_array)
            .map(Vec::as_slice)
            .collect(),
        _ => vec![all],
    };
    let mut found: Vec<CardDestination<'_>> = Vec::new();
    for group in groups {
        let media = group.iter().flat_map(media_keys).next();
        let leads = group.iter().find_map(|part| {
            let url = site(part)?;
            let title = part.get("title").and_then(Value::as_str);
            Some((url, title.unwrap_or_default()))
        });
        let Some((url, title)) = leads.filter(|(url, _)| found.iter().all(|one| one.url != *url))
        else {
            continue;
        };
        found.push(CardDestination {
            url,
            title,
            media_key: media.unwrap_or_default(),
        });
    }
    found
}

/// The site that a component leads to.
fn site(part: &Value) -> Option<&str> {
    part.get("destination")?.get("url")?.as_str()
}

/// The short links of cards: what they are for, by card and destination.
type Links = HashMap<(i64, String), i64>;

fn computed(
    desk: &mut Desk<'_, '_>,
    cards: &[Record],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let known = card_media::find(desk, cards.iter().flat_map(keys))?;
    let ids: Vec<i64> = cards.iter().map(|card| card.id).collect();
    let links = card_links::list_by_cards(desk.tx, &ids)?.into_iter();
    let links: Links = links
        .map(|link| ((link.card_id, link.url), link.id))
        .collect();
    let of = |card: &Record| {
        let (name, all) = parts(card);
        let told = all
            .iter()
            .map(|part| told(desk, card, part, (&known, &links)))
            .collect();
        vec![
            (name, Value::Array(told)),
            ("card_uri", format!("card://{}", card.id).into()),
        ]
    };
    Ok(cards.iter().map(of).collect())
}

/// A component, or the components of a slide, with what is known of the media and the short link.
fn told(desk: &Desk<'_, '_>, card: &Record, part: &Value, facts: (&Known, &Links)) -> Value {
    if let Value::Array(slide) = part {
        let parts = slide.iter();
        return parts.map(|part| told(desk, card, part, facts)).collect();
    }
    let (known, links) = facts;
    let mut part = part.clone();
    let link = site(&part).and_then(|url| links.get(&(card.id, url.to_owned())));
    if let Some(link) = link
        && let Some(to) = part.get_mut("destination").and_then(Value::as_object_mut)
    {
        let short = format!("{}/c/{link}", desk.site);
        to.insert("tco_url".to_owned(), short.into());
    }
    let media = media_keys(&part)
        .into_iter()
        .filter_map(|key| known.get(key));
    let media: Map<String, Value> = media
        .map(|one| (one.media_key.clone(), card_media::metadata(desk, one)))
        .collect();
    if let Some(members) = part.as_object_mut().filter(|_| !media.is_empty()) {
        members.insert("media_metadata".to_owned(), media.into());
    }
    part
}
