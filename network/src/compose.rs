//! Analysis of a text when it is written: entities in the API's format, language and display range.

use std::collections::HashSet;

use base::text::{self, Entities};
use base::{Fault, UserId, sorted_distinct};
use serde_json::{Map, Value, json};
use store::{Tx, users};

use crate::annotations;

#[derive(Clone, Debug)]
pub struct ComposedText {
    /// NFC.
    pub text: String,
    /// BCP 47.
    pub lang: &'static str,
    /// Entities of the full text as in the API (JSON), or empty.
    pub entities: String,
    /// Entities of the shortened text of a long post (JSON), or empty.
    pub short_entities: String,
    /// What it is about, in the API's format (JSON), or empty.
    pub context_annotations: String,
    /// Without duplicates.
    pub mentioned: Vec<UserId>,
    pub(crate) cashtags: usize,
    /// Bytes of leading mentions of a reply and the space after them, which do not count towards the length.
    pub(crate) unweighted_bytes: usize,
    /// In code points.
    pub display_start: i64,
    /// In code points, exclusive.
    pub display_end: i64,
}

impl ComposedText {
    /// Users mentioned from a position in code points on, without duplicates.
    pub(crate) fn mentioned_from(&self, start: usize) -> Vec<UserId> {
        if start == 0 {
            return self.mentioned.clone();
        }
        let parsed: Value = serde_json::from_str(&self.entities).unwrap_or_default();
        let mentions = parsed.get("mentions").and_then(Value::as_array);
        let is_after = |mention: &&Value| Some(usize::try_from(mention.get("start")?.as_u64()?).ok()? >= start);
        let mentions = mentions.into_iter().flatten().filter(|mention| is_after(mention).unwrap_or(false));
        sorted_distinct(mentions.filter_map(|mention| UserId::parse(mention.get("id")?.as_str()?)))
    }
}

/// Mentions at the beginning of a reply that do not count towards its length.
pub(crate) const MAX_LEADING_MENTIONS: usize = 50;
/// A text without URLs of up to this many bytes is never a long post.
const ALWAYS_SHORT_BYTES: usize = 280;

/// A text with its entities, before mentions are resolved to users.
#[derive(Clone, Debug)]
pub struct PostTextDraft {
    text: String,
    entities: Entities,
    /// Of the shortened text of a long post, and where it is cut, in code points.
    short: Option<(Entities, i64)>,
}

impl PostTextDraft {
    /// Extracts entities: the expensive part, which needs no transaction.
    pub fn parse(text: &str) -> Self {
        let text = text::normalize(text).into_owned();
        let entities = text::extract_entities(&text);
        // A character weighs at most its bytes; only a URL may weigh more.
        let is_short = entities.urls.is_empty() && text.len() <= ALWAYS_SHORT_BYTES;
        let short = if is_short { None } else { text::truncate_with_ellipsis(&text) };
        // The ellipsis belongs to no name.
        let cut = |short: &str| i64::try_from(short.chars().count()).unwrap_or(0) - 1;
        Self { entities, short: short.map(|short| (text::extract_entities(&short), cut(&short))), text }
    }

    /// The detected language (BCP 47), or a code for what a post without a language contains.
    pub fn language(&self) -> &'static str {
        text::identify_post_language(&self.text, &self.entities)
    }

    /// As written.
    pub fn mentioned_usernames(&self) -> Vec<&str> {
        let mentions = self.entities.mentions.iter();
        mentions.map(|mention| mention.text.as_str()).collect()
    }

    /// As written.
    pub(crate) fn linked_urls(&self) -> impl Iterator<Item = &str> {
        self.entities.urls.iter().map(|url| url.text.as_str())
    }

    /// Where the text begins that is displayed after leading mentions.
    fn leading_mention_bytes(&self) -> usize {
        let last = self.entities.leading_mentions(&self.text).iter().take(MAX_LEADING_MENTIONS).next_back();
        let displayed = last.and_then(|mention| self.text.get(mention.bytes.end..));
        displayed.map_or(0, |displayed| self.text.len() - displayed.trim_start().len())
    }

    /// Resolves mentions against `known` users. Leading mentions of a reply are not displayed.
    pub fn compose(&self, known: &[(String, UserId)], is_reply: bool, lang: &'static str) -> ComposedText {
        let leading_bytes = if is_reply { self.leading_mention_bytes() } else { 0 };
        let leading = self.text.get(..leading_bytes).unwrap_or_default();
        let mentioned = sorted_distinct(known.iter().map(|(_, id)| *id));
        let short = self.short.as_ref().map(|(entities, _)| entities);
        ComposedText {
            lang,
            entities: render_entities(&self.entities, known),
            short_entities: short.map_or_else(String::new, |short| render_entities(short, known)),
            context_annotations: String::new(),
            mentioned,
            cashtags: self.entities.cashtags.len(),
            unweighted_bytes: leading_bytes,
            display_start: i64::try_from(leading.chars().count()).unwrap_or(0),
            display_end: i64::try_from(self.text.chars().count()).unwrap_or(0),
            text: self.text.clone(),
        }
    }
}

/// Leading mentions of a reply are not displayed.
pub fn compose_text(tx: &mut Tx<'_>, text: &str, is_reply: bool) -> Result<ComposedText, Fault> {
    let draft = PostTextDraft::parse(text);
    let known = resolve_mentions(tx, &draft)?;
    let mut composed = draft.compose(&known, is_reply, draft.language());
    let found = annotations::annotate_text(tx, &draft.text, &draft.entities)?;
    if let Some((_, cut)) = draft.short {
        let is_shown = |name: &&Value| name.get("end").and_then(Value::as_i64).is_some_and(|last| last < cut);
        add_annotations(&mut composed.short_entities, found.names.iter().filter(is_shown).cloned().collect());
    }
    add_annotations(&mut composed.entities, found.names);
    composed.context_annotations = found.contexts;
    Ok(composed)
}

fn add_annotations(entities: &mut String, names: Vec<Value>) {
    if names.is_empty() {
        return;
    }
    let mut members: Map<String, Value> = serde_json::from_str(entities).unwrap_or_default();
    members.insert("annotations".to_owned(), Value::Array(names));
    *entities = Value::Object(members).to_string();
}

/// Users whom one text mentions; further ones are plain text.
const MAX_MENTIONED_USERS: usize = 100;

/// The mentioned users who exist, with their usernames.
pub(crate) fn resolve_mentions(tx: &mut Tx<'_>, draft: &PostTextDraft) -> Result<Vec<(String, UserId)>, Fault> {
    let mut seen = HashSet::new();
    let mut usernames = draft.mentioned_usernames();
    usernames.retain(|username| seen.insert(username.to_ascii_lowercase()));
    usernames.truncate(MAX_MENTIONED_USERS);
    let known = users::find_by_usernames(tx, &usernames)?;
    Ok(known.into_iter().map(|user| (user.username, user.id)).collect())
}

/// JSON, or empty.
pub fn render_profile_entities(url: &str, description: &str) -> String {
    let mut all = Map::new();
    if !url.is_empty() {
        let end = url.chars().count();
        all.insert("url".to_owned(), json!({ "urls": [render_url_entity(0, end, url)] }));
    }
    let found = text::extract_entities(description);
    let mentions = found.mentions.iter();
    let mentions: Vec<Value> =
        mentions.map(|mention| json!({"start": mention.start, "end": mention.end, "username": mention.text})).collect();
    let mut members = render_tags_and_links(&found);
    if !mentions.is_empty() {
        members.insert("mentions".to_owned(), Value::Array(mentions));
    }
    if !members.is_empty() {
        all.insert("description".to_owned(), Value::Object(members));
    }
    if all.is_empty() { String::new() } else { Value::Object(all).to_string() }
}

/// Entities in the API's format; mentions of unknown users are omitted.
fn render_entities(found: &Entities, known: &[(String, UserId)]) -> String {
    let mut members = render_tags_and_links(found);
    let mentions = found.mentions.iter().filter_map(|mention| {
        let user = known.iter().find(|(name, _)| name.eq_ignore_ascii_case(&mention.text))?;
        Some(json!({
            "start": mention.start,
            "end": mention.end,
            "username": user.0,
            "id": user.1.to_string(),
        }))
    });
    let mentions: Vec<Value> = mentions.collect();
    if !mentions.is_empty() {
        members.insert("mentions".to_owned(), Value::Array(mentions));
    }
    if members.is_empty() { String::new() } else { Value::Object(members).to_string() }
}

fn render_tags_and_links(found: &Entities) -> Map<String, Value> {
    let tag = |entity: &text::Entity| json!({"start": entity.start, "end": entity.end, "tag": entity.text});
    let lists = [
        ("urls", found.urls.iter().map(|url| render_url_entity(url.start, url.end, &url.text)).collect()),
        ("hashtags", found.hashtags.iter().map(tag).collect()),
        ("cashtags", found.cashtags.iter().map(tag).collect::<Vec<_>>()),
    ];
    let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
    lists.map(|(name, list)| (name.to_owned(), Value::Array(list))).collect()
}

/// Maximum length of a displayed URL, in characters.
const DISPLAY_URL_LENGTH: usize = 30;

fn render_url_entity(start: usize, end: usize, url: &str) -> Value {
    let has_scheme = url.contains("://");
    let expanded = if has_scheme { url.to_owned() } else { format!("http://{url}") };
    let plain = expanded.split_once("://").map_or(url, |(_, rest)| rest);
    let plain = plain.strip_prefix("www.").unwrap_or(plain);
    let mut display: String = plain.chars().take(DISPLAY_URL_LENGTH).collect();
    if plain.chars().count() > DISPLAY_URL_LENGTH {
        display.push('…');
    }
    json!({
        "start": start,
        "end": end,
        "url": expanded,
        "expanded_url": expanded,
        "display_url": display,
    })
}
