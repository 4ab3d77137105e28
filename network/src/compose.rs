//! What is read out of a text when it is written: entities in the interface's form, language,
//! the part that is displayed.

use base::text::{self, Entities};
use base::{Fault, UserId};
use serde_json::{Map, Value, json};
use store::{Tx, users};

/// A text, read.
#[derive(Clone, Debug)]
pub struct Reading {
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
    pub(crate) free_bytes: usize,
    /// Where the text to be displayed starts, in code points.
    pub display_start: i64,
    /// Where it ends.
    pub display_end: i64,
}

impl Reading {
    /// Users whom the text mentions behind what it begins with as a reply, once each.
    pub(crate) fn mentioned_in_display(&self) -> Vec<UserId> {
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
const SURELY_SHORT: usize = 280;

/// A text as far as it can be read without knowing who is there.
#[derive(Clone, Debug)]
pub struct Draft {
    text: String,
    found: Entities,
    /// Of the shortened text of a long post.
    short: Option<Entities>,
}

impl Draft {
    /// Looks for entities; the costly part, which needs no transaction.
    pub fn of(text: &str) -> Self {
        let text = text::normalize(text).into_owned();
        let found = text::entities(&text);
        // A letter weighs no more than its bytes; only an address may weigh more than it has.
        let surely_short = found.urls.is_empty() && text.len() <= SURELY_SHORT;
        let short = if surely_short {
            None
        } else {
            text::short_first_part(&text)
        };
        Self {
            found,
            short: short.map(|short| text::entities(&short)),
            text,
        }
    }

    /// The language that the text seems to be in (BCP 47).
    pub fn language(&self) -> &'static str {
        text::language(&self.text)
    }

    /// Handles that it mentions, as they are written.
    pub fn names(&self) -> Vec<&str> {
        let mentions = self.found.mentions.iter();
        mentions.map(|mention| mention.text.as_str()).collect()
    }

    /// Addresses that it links to, as they are written.
    pub(crate) fn links(&self) -> impl Iterator<Item = &str> {
        self.found.urls.iter().map(|url| url.text.as_str())
    }

    /// Reads the text, knowing who is there. In a reply the mentions at its start are not
    /// displayed.
    pub fn read(&self, known: &[(String, UserId)], is_reply: bool, lang: &'static str) -> Reading {
        let leading = if is_reply {
            self.found.leading_mentions(&self.text)
        } else {
            &[]
        };
        let last = leading.last();
        let free_bytes = last.map_or(0, |mention| mention.bytes.end);
        let shown = self.text.get(free_bytes..).unwrap_or_default();
        let gap = shown
            .chars()
            .take_while(|letter| letter.is_whitespace())
            .count();
        let start = last.map_or(0, |mention| mention.end + gap);
        let mut mentioned: Vec<UserId> = known.iter().map(|(_, id)| *id).collect();
        mentioned.sort_unstable();
        mentioned.dedup();
        let short = self.short.as_ref();
        Reading {
            lang,
            entities: spoken(&self.found, known),
            short_entities: short.map_or_else(String::new, |short| spoken(short, known)),
            mentioned,
            cashtags: self.found.cashtags.len(),
            free_bytes,
            display_start: i64::try_from(start).unwrap_or(0),
            display_end: i64::try_from(self.text.chars().count()).unwrap_or(0),
            text: self.text.clone(),
        }
    }
}

/// Reads a post's text. In a reply the mentions at its start are not displayed.
pub fn read(tx: &mut Tx<'_>, text: &str, is_reply: bool) -> Result<Reading, Fault> {
    let draft = Draft::of(text);
    let known = known(tx, &draft)?;
    Ok(draft.read(&known, is_reply, draft.language()))
}

/// Those whom a text mentions and who are there.
pub(crate) fn known(tx: &mut Tx<'_>, draft: &Draft) -> Result<Vec<(String, UserId)>, Fault> {
    let known = users::find_by_usernames(tx, &draft.names())?;
    Ok(known
        .into_iter()
        .map(|user| (user.username, user.id))
        .collect())
}

/// The entities of a profile's URL and biography, or empty.
pub fn profile_entities(url: &str, description: &str) -> String {
    let mut all = Map::new();
    if !url.is_empty() {
        let end = url.chars().count();
        all.insert("url".to_owned(), json!({ "urls": [link(0, end, url)] }));
    }
    let found = text::entities(description);
    let mentions = found.mentions.iter();
    let mentions: Vec<Value> = mentions
        .map(
            |mention| json!({"start": mention.start, "end": mention.end, "username": mention.text}),
        )
        .collect();
    let mut members = tags_and_links(&found);
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
fn spoken(found: &Entities, known: &[(String, UserId)]) -> String {
    let mut members = tags_and_links(found);
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

fn tags_and_links(found: &Entities) -> Map<String, Value> {
    let tag = |entity: &text::Entity| json!({"start": entity.start, "end": entity.end, "tag": entity.text});
    let lists = [
        (
            "urls",
            found
                .urls
                .iter()
                .map(|url| link(url.start, url.end, &url.text))
                .collect(),
        ),
        ("hashtags", found.hashtags.iter().map(tag).collect()),
        (
            "cashtags",
            found.cashtags.iter().map(tag).collect::<Vec<_>>(),
        ),
    ];
    let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
    lists
        .map(|(name, list)| (name.to_owned(), Value::Array(list)))
        .collect()
}

/// What is shown of an address at most.
const DISPLAYED: usize = 30;

fn link(start: usize, end: usize, url: &str) -> Value {
    let has_scheme = url.contains("://");
    let expanded = if has_scheme {
        url.to_owned()
    } else {
        format!("http://{url}")
    };
    let plain = expanded.split_once("://").map_or(url, |(_, rest)| rest);
    let plain = plain.strip_prefix("www.").unwrap_or(plain);
    let mut display: String = plain.chars().take(DISPLAYED).collect();
    if plain.chars().count() > DISPLAYED {
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
