//! What is read out of a text when it is written: entities in the interface's form, language,
//! the part that is displayed.

use base::text::{self, Entities};
use base::{Fault, UserId};
use serde_json::{Map, Value, json};
use store::{Tx, users};

/// A text, read.
#[derive(Clone, Debug)]
pub struct ComposedText {
    /// NFC.
    pub text: String,
    /// BCP 47.
    pub lang: &'static str,
    /// Entities of the whole text as the interface shows them, or empty.
    pub entities: String,
    /// Entities of the shortened text of a long post, or empty.
    pub short_entities: String,
    /// Users that it mentions, once each.
    pub mentioned: Vec<UserId>,
    /// Cashtags in it.
    pub(crate) cashtags: usize,
    /// Bytes at the start that are mentions of those replied to: they weigh nothing.
    pub(crate) unweighted_bytes: usize,
    /// Where the text to be displayed starts, in code points.
    pub display_start: i64,
    /// Where it ends.
    pub display_end: i64,
}

impl ComposedText {
    /// Users whom the text mentions behind what it begins with as a reply, once each.
    pub(crate) fn displayed_mentions(&self) -> Vec<UserId> {
        let parsed: Value = serde_json::from_str(&self.entities).unwrap_or_default();
        let mentions = parsed.get("mentions").and_then(Value::as_array);
        let mentions = mentions.into_iter().flatten();
        let shown = mentions.filter(|mention| {
            let start = mention.get("start").and_then(Value::as_i64);
            start.is_some_and(|start| start >= self.display_start)
        });
        let mut ids: Vec<UserId> = shown
            .filter_map(|mention| UserId::parse(mention.get("id")?.as_str()?))
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

/// Bytes of a text without addresses that is no long post, whatever its letters.
const ALWAYS_SHORT_BYTES: usize = 280;

/// A text as far as it can be read without knowing who is there.
#[derive(Clone, Debug)]
pub struct PostTextDraft {
    text: String,
    entities: Entities,
    /// Of the shortened text of a long post.
    short_entities: Option<Entities>,
}

impl PostTextDraft {
    /// Looks for entities; the costly part, which needs no transaction.
    pub fn parse(text: &str) -> Self {
        let text = text::normalize(text).into_owned();
        let entities = text::extract_entities(&text);
        // A letter weighs no more than its bytes; only an address may weigh more than it has.
        let surely_short = entities.urls.is_empty() && text.len() <= ALWAYS_SHORT_BYTES;
        let short = if surely_short {
            None
        } else {
            text::truncate_with_ellipsis(&text)
        };
        Self {
            entities,
            short_entities: short.map(|short| text::extract_entities(&short)),
            text,
        }
    }

    /// The language that the text seems to be in (BCP 47).
    pub fn language(&self) -> &'static str {
        text::identify_language(&self.text)
    }

    /// Handles that it mentions, as they are written.
    pub fn mentioned_usernames(&self) -> Vec<&str> {
        let mentions = self.entities.mentions.iter();
        mentions.map(|mention| mention.text.as_str()).collect()
    }

    /// Addresses that it links to, as they are written.
    pub(crate) fn linked_urls(&self) -> impl Iterator<Item = &str> {
        self.entities.urls.iter().map(|url| url.text.as_str())
    }

    /// Reads the text, knowing who is there. In a reply the mentions at its start are not
    /// displayed.
    pub fn compose(&self, known: &[(String, UserId)], is_reply: bool, lang: &'static str) -> ComposedText {
        let leading = if is_reply {
            self.entities.leading_mentions(&self.text)
        } else {
            &[]
        };
        let last = leading.last();
        let free_bytes = last.map_or(0, |mention| mention.bytes.end);
        let shown = self.text.get(free_bytes..).unwrap_or_default();
        let gap = shown.chars().take_while(|letter| letter.is_whitespace()).count();
        let start = last.map_or(0, |mention| mention.end + gap);
        let mut mentioned: Vec<UserId> = known.iter().map(|(_, id)| *id).collect();
        mentioned.sort_unstable();
        mentioned.dedup();
        let short = self.short_entities.as_ref();
        ComposedText {
            lang,
            entities: render_entities(&self.entities, known),
            short_entities: short.map_or_else(String::new, |short| render_entities(short, known)),
            mentioned,
            cashtags: self.entities.cashtags.len(),
            unweighted_bytes: free_bytes,
            display_start: i64::try_from(start).unwrap_or(0),
            display_end: i64::try_from(self.text.chars().count()).unwrap_or(0),
            text: self.text.clone(),
        }
    }
}

/// Reads a post's text. In a reply the mentions at its start are not displayed.
pub fn compose_text(tx: &mut Tx<'_>, text: &str, is_reply: bool) -> Result<ComposedText, Fault> {
    let draft = PostTextDraft::parse(text);
    let known = resolve_mentions(tx, &draft)?;
    Ok(draft.compose(&known, is_reply, draft.language()))
}

/// Those whom a text mentions and who are there.
pub(crate) fn resolve_mentions(tx: &mut Tx<'_>, draft: &PostTextDraft) -> Result<Vec<(String, UserId)>, Fault> {
    let known = users::find_by_usernames(tx, &draft.mentioned_usernames())?;
    Ok(known.into_iter().map(|user| (user.username, user.id)).collect())
}

/// The entities of a profile's URL and biography, or empty.
pub fn render_profile_entities(url: &str, description: &str) -> String {
    let mut all = Map::new();
    if !url.is_empty() {
        let end = url.chars().count();
        all.insert("url".to_owned(), json!({ "urls": [render_url_entity(0, end, url)] }));
    }
    let found = text::extract_entities(description);
    let mentions = found.mentions.iter();
    let mentions: Vec<Value> = mentions
        .map(|mention| json!({"start": mention.start, "end": mention.end, "username": mention.text}))
        .collect();
    let mut members = render_tags_and_links(&found);
    if !mentions.is_empty() {
        members.insert("mentions".to_owned(), Value::Array(mentions));
    }
    if !members.is_empty() {
        all.insert("description".to_owned(), Value::Object(members));
    }
    if all.is_empty() {
        String::new()
    } else {
        Value::Object(all).to_string()
    }
}

/// Entities in the interface's form; a mention of nobody is none.
fn render_entities(found: &Entities, known: &[(String, UserId)]) -> String {
    let mut members = render_tags_and_links(found);
    let mentions = found.mentions.iter().filter_map(|mention| {
        let user = known
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(&mention.text))?;
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
    if members.is_empty() {
        String::new()
    } else {
        Value::Object(members).to_string()
    }
}

fn render_tags_and_links(found: &Entities) -> Map<String, Value> {
    let tag = |entity: &text::Entity| json!({"start": entity.start, "end": entity.end, "tag": entity.text});
    let lists = [
        (
            "urls",
            found
                .urls
                .iter()
                .map(|url| render_url_entity(url.start, url.end, &url.text))
                .collect(),
        ),
        ("hashtags", found.hashtags.iter().map(tag).collect()),
        ("cashtags", found.cashtags.iter().map(tag).collect::<Vec<_>>()),
    ];
    let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
    lists
        .map(|(name, list)| (name.to_owned(), Value::Array(list)))
        .collect()
}

/// What is shown of an address at most.
const DISPLAY_URL_LENGTH: usize = 30;

fn render_url_entity(start: usize, end: usize, url: &str) -> Value {
    let has_scheme = url.contains("://");
    let expanded = if has_scheme {
        url.to_owned()
    } else {
        format!("http://{url}")
    };
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
