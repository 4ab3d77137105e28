//! Entities of the rendered text.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use store::ads::card_links::CardLink;

use super::text::{REPOST_LENGTH, card_links, has_repost_prefix, link_range, media_link};
use super::{PostRenderContext, media_keys};
use crate::media::{id_from_media_key, media_url, still_url};

/// The entities as JSON, or an empty string.
pub(crate) fn sent_entities(ctx: PostRenderContext<'_>) -> Cow<'_, str> {
    let stored = text_entities(ctx);
    if let Some(link) = media_link(ctx) {
        return Cow::Owned(append_urls(&stored, media_link_entities(ctx, &link)));
    }
    let Some((_, first)) = card_links(ctx).next() else {
        return stored;
    };
    let range = link_range(ctx, &first);
    let links = card_links(ctx).map(|(card, link)| card_link_entity(ctx, card, &link, range));
    Cow::Owned(append_urls(&stored, links.collect()))
}

/// The entities without the link at the end of the text.
fn text_entities(ctx: PostRenderContext<'_>) -> Cow<'_, str> {
    let post = ctx.post;
    if let Some(short) = ctx.objects.short_texts.get(&post.id) {
        return Cow::Borrowed(&short.entities);
    }
    match ctx.original_post().filter(|_| !has_repost_prefix(post)) {
        Some(original) => repost_entities(original).map_or(Cow::Borrowed(""), Cow::Owned),
        None => Cow::Borrowed(ctx.full_entities()),
    }
}

/// For `RT @author: …`: the author, and the original's entities within the rendered text.
fn repost_entities(original: PostRenderContext<'_>) -> Option<String> {
    let author = original.author()?;
    let handle = author.username.chars().count();
    // `RT @`, the handle, a colon and a space.
    let before = handle + 6;
    let length = original.full_text().chars().count() + before;
    let end = if length > REPOST_LENGTH { REPOST_LENGTH - 1 } else { length };
    let parsed = serde_json::from_str(original.full_entities()).ok();
    let mut all: Map<String, Value> = parsed.unwrap_or_default();
    for list in all.values_mut().filter_map(Value::as_array_mut) {
        list.retain_mut(|entity| shift_entity(entity, before, end).is_some());
    }
    all.retain(|_, list| list.as_array().is_some_and(|list| !list.is_empty()));
    let mention = json!({
        "start": 3,
        "end": handle + 4,
        "username": author.username,
        "id": author.id.to_string(),
    });
    let mentions = all.entry("mentions").or_insert_with(|| json!([]));
    mentions.as_array_mut()?.insert(0, mention);
    Some(Value::Object(all).to_string())
}

/// Shifts an entity by a prefix; `None` if it does not end before `end`.
fn shift_entity(entity: &mut Value, before: usize, end: usize) -> Option<()> {
    let range = |entity: &Value, name| usize::try_from(entity.get(name)?.as_u64()?).ok();
    let (from, url) = (range(entity, "start")?, range(entity, "end")?);
    if url + before > end {
        return None;
    }
    let members = entity.as_object_mut()?;
    members.insert("start".to_owned(), json!(from + before));
    members.insert("end".to_owned(), json!(url + before));
    Some(())
}

/// In characters.
const DISPLAY_URL_LENGTH: usize = 30;

/// The display form of a URL.
pub(crate) fn display_url(address: &str) -> String {
    let plain = address.split_once("://").map_or(address, |(_, rest)| rest).trim_end_matches('/');
    if plain.chars().count() <= DISPLAY_URL_LENGTH {
        return plain.to_owned();
    }
    plain.chars().take(DISPLAY_URL_LENGTH).chain(['…']).collect()
}

/// One entity for each media file, all at the link that ends the text.
fn media_link_entities(ctx: PostRenderContext<'_>, link: &str) -> Vec<Value> {
    let (start, end) = link_range(ctx, link);
    let plain = link.split_once("://").map_or(link, |(_, rest)| rest);
    let display: String = plain.chars().take(DISPLAY_URL_LENGTH).chain(['…']).collect();
    let keys = media_keys(ctx.post);
    keys.map(|key| {
        json!({ "start": start, "end": end, "url": link, "expanded_url": link,
            "display_url": display, "media_key": key })
    })
    .collect()
}

/// The entity of a card link, with the card's content. All of them are at the first link at the end of the
/// text.
fn card_link_entity(ctx: PostRenderContext<'_>, card: &CardLink, link: &str, (start, end): (usize, usize)) -> Value {
    // The platform's own page of a card has no other URL.
    let to = Some(card.url.as_str()).filter(|url| !url.is_empty());
    let to = to.unwrap_or(link);
    let mut entity = json!({ "start": start, "end": end, "url": link, "expanded_url": to,
        "display_url": display_url(to), "title": card.title });
    let (objects, id) = (ctx.objects, id_from_media_key(&card.media_key));
    let media = id.and_then(|id| objects.media.get(id));
    let image = media.and_then(|media| {
        let moves = media.kind != "photo";
        let own =
            if moves { still_url(media, objects.site.files_url) } else { media_url(media, objects.site.files_url) };
        own.or_else(|| Some(media.preview_image_url.clone()).filter(|still| moves && !still.is_empty()))
    });
    if let (Some(image), Some(media), Some(members)) = (image, media, entity.as_object_mut()) {
        let image = json!({ "url": image, "width": media.width, "height": media.height });
        members.insert("images".to_owned(), json!([image]));
    }
    entity
}

/// Adds URL entities to stored entities.
fn append_urls(stored: &str, links: Vec<Value>) -> String {
    let parsed = serde_json::from_str(stored).ok();
    let mut all: Map<String, Value> = parsed.unwrap_or_default();
    let urls = all.entry("urls").or_insert_with(|| json!([]));
    if let Some(urls) = urls.as_array_mut() {
        urls.extend(links);
    }
    Value::Object(all).to_string()
}
