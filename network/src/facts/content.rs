//! What a post holds, owned, and lent in the form in which the language reads it.

use query::{Annotation, Handle, Link};
use serde_json::Value;
use store::posts::Post;

/// An account's id and username.
pub(super) type Name = (i64, String);

/// Text, links and entities of a post.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    text: String,
    lang: String,
    hashtags: Vec<String>,
    cashtags: Vec<String>,
    mentions: Vec<Name>,
    links: Vec<Address>,
    /// What was found in the text, by name.
    found: Vec<String>,
    images: bool,
    video: bool,
    animation: bool,
}

/// A link, owned.
#[derive(Clone, Debug, Default)]
struct Address {
    url: String,
    expanded: String,
    unwound: String,
    title: String,
    description: String,
}

impl Content {
    pub(super) fn of(post: &Post) -> Self {
        let mut content = Self {
            text: post.text.clone(),
            lang: post.lang.clone(),
            ..Self::default()
        };
        // What stands before the low line says what kind of media it is.
        for key in post.media_keys.split(',') {
            match key.split_once('_').map(|(prefix, _)| prefix) {
                Some("3") => content.images = true,
                Some("7" | "13") => content.video = true,
                Some("16") => content.animation = true,
                _ => {}
            }
        }
        if !post.entities.is_empty()
            && let Ok(entities) = serde_json::from_str::<Value>(&post.entities)
        {
            content.take(&entities);
        }
        content
    }

    fn take(&mut self, entities: &Value) {
        self.hashtags = texts(entities, "hashtags", "tag");
        self.cashtags = texts(entities, "cashtags", "tag");
        self.found = texts(entities, "annotations", "normalized_text");
        let mentions = listed(entities, "mentions").iter();
        self.mentions = mentions
            .map(|mention| {
                let id = said(mention, "id").parse().unwrap_or(0);
                (id, said(mention, "username").to_owned())
            })
            .collect();
        let links = listed(entities, "urls").iter();
        self.links = links
            .map(|link| {
                let text = |name| said(link, name).to_owned();
                Address {
                    url: text("url"),
                    expanded: text("expanded_url"),
                    unwound: text("unwound_url"),
                    title: text("title"),
                    description: text("description"),
                }
            })
            .collect();
    }

    /// Who is reposted, as the text of a repost says that was imported without its original.
    pub(super) fn reposted_name(&self) -> &str {
        let behind = self.text.strip_prefix("RT @");
        behind
            .and_then(|text| text.split_once(':'))
            .map_or("", |(name, _)| name)
    }

    /// Lends it: what is asked for its parts holds them as long as the loan.
    pub(super) fn lend(&self) -> Loan<'_> {
        let tags = |tags| Iterator::map(<[String]>::iter(tags), String::as_str).collect();
        let mentions = self.mentions.iter();
        let links = self.links.iter().map(|link| Link {
            url: &link.url,
            expanded: &link.expanded,
            unwound: &link.unwound,
            title: &link.title,
            description: &link.description,
        });
        let found = self.found.iter().map(|name| Annotation {
            name,
            ..Annotation::default()
        });
        Loan {
            content: self,
            hashtags: tags(&self.hashtags),
            cashtags: tags(&self.cashtags),
            mentions: mentions.map(handle).collect(),
            links: links.collect(),
            annotations: found.collect(),
        }
    }
}

pub(super) fn handle((id, username): &Name) -> Handle<'_> {
    Handle { id: *id, username }
}

fn listed<'a>(entities: &'a Value, kind: &str) -> &'a [Value] {
    let list = entities.get(kind).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

fn said<'a>(entity: &'a Value, name: &str) -> &'a str {
    entity.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn texts(entities: &Value, kind: &str, name: &str) -> Vec<String> {
    let list = listed(entities, kind).iter();
    list.map(|entity| said(entity, name).to_owned()).collect()
}

/// A content as the language reads it.
pub(super) struct Loan<'a> {
    content: &'a Content,
    hashtags: Vec<&'a str>,
    cashtags: Vec<&'a str>,
    mentions: Vec<Handle<'a>>,
    links: Vec<Link<'a>>,
    annotations: Vec<Annotation<'a>>,
}

impl Loan<'_> {
    /// A post with this content and nothing else.
    pub(super) fn post(&self) -> query::Post<'_> {
        query::Post {
            text: &self.content.text,
            lang: &self.content.lang,
            hashtags: &self.hashtags,
            cashtags: &self.cashtags,
            mentions: &self.mentions,
            links: &self.links,
            annotations: &self.annotations,
            images: self.content.images,
            video: self.content.video,
            animation: self.content.animation,
            ..query::Post::default()
        }
    }
}
