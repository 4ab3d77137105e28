//! Entities of the text as it is sent.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::text::{REPOST_LENGTH, media_link, media_link_place, stands_alone};
use super::{PostFacts, media_keys};

/// As JSON, or empty.
pub(crate) fn of_sent(facts: PostFacts<'_>) -> Cow<'_, str> {
    let stored = of_words(facts);
    match media_link(facts) {
        Some(link) => Cow::Owned(with_media(facts, &stored, &link)),
        None => stored,
    }
}

/// Without the link to media that ends it.
fn of_words(facts: PostFacts<'_>) -> Cow<'_, str> {
    let post = facts.post;
    if facts.is_long() {
        return Cow::Borrowed(&post.short_entities);
    }
    match facts.original().filter(|_| !stands_alone(post)) {
        Some(original) => of_repost(original).map_or(Cow::Borrowed(""), Cow::Owned),
        None => Cow::Borrowed(&post.entities),
    }
}

/// Of `RT @author: …`: the author, and those of the original as far as its text is sent.
fn of_repost(original: PostFacts<'_>) -> Option<String> {
    let author = original.author()?;
    let handle = author.username.chars().count();
    // `RT @`, the handle, a colon and a space.
    let before = handle + 6;
    let length = original.post.text.chars().count() + before;
    let end = if length > REPOST_LENGTH {
        REPOST_LENGTH - 1
    } else {
        length
    };
    let parsed = serde_json::from_str(&original.post.entities).ok();
    let mut all: Map<String, Value> = parsed.unwrap_or_default();
    for list in all.values_mut().filter_map(Value::as_array_mut) {
        list.retain_mut(|entity| moved(entity, before, end).is_some());
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

/// Moves an entity behind what stands before it; none when it does not end before `end`.
fn moved(entity: &mut Value, before: usize, end: usize) -> Option<()> {
    let place = |entity: &Value, name| usize::try_from(entity.get(name)?.as_u64()?).ok();
    let (from, to) = (place(entity, "start")?, place(entity, "end")?);
    if to + before > end {
        return None;
    }
    let members = entity.as_object_mut()?;
    members.insert("start".to_owned(), json!(from + before));
    members.insert("end".to_owned(), json!(to + before));
    Some(())
}

/// What is shown of an address at most.
const DISPLAYED: usize = 30;

/// Entities with the link to media that ends the text: one for each of them.
fn with_media(facts: PostFacts<'_>, stored: &str, link: &str) -> String {
    let (start, end) = media_link_place(facts, link);
    let plain = link.split_once("://").map_or(link, |(_, rest)| rest);
    let display: String = plain.chars().take(DISPLAYED).chain(['…']).collect();
    let links = media_keys(facts.post).map(|key| {
        json!({ "start": start, "end": end, "url": link, "expanded_url": link,
            "display_url": display, "media_key": key })
    });
    let parsed = serde_json::from_str(stored).ok();
    let mut all: Map<String, Value> = parsed.unwrap_or_default();
    let urls = all.entry("urls").or_insert_with(|| json!([]));
    if let Some(urls) = urls.as_array_mut() {
        urls.extend(links);
    }
    Value::Object(all).to_string()
}
