//! Owned content of a post, and its borrowed form for the query language.

use query::{ContextAnnotation, QueryableLink, UserHandle};
use serde_json::Value;
use store::link_facts::LinkFacts;
use store::posts::Post;

use crate::link_facts::KnownLinks;

/// An account's id and username.
pub(super) type AccountName = (i64, String);

#[derive(Clone, Debug, Default)]
pub(super) struct PostContent {
    text: String,
    lang: String,
    hashtags: Vec<String>,
    cashtags: Vec<String>,
    mentions: Vec<AccountName>,
    links: Vec<ContentLink>,
    /// Names of annotations of the text.
    annotation_names: Vec<String>,
    contexts: Vec<ContentContext>,
    images: bool,
    video: bool,
    animation: bool,
}

#[derive(Clone, Debug, Default)]
struct ContentContext {
    domain: u64,
    entity: u64,
    name: String,
}

#[derive(Clone, Debug, Default)]
struct ContentLink {
    url: String,
    expanded: String,
    unwound: String,
    title: String,
    description: String,
}

impl PostContent {
    pub(super) fn from_post(post: &Post, known: &KnownLinks) -> Self {
        let mut content = Self { text: post.text.clone(), lang: post.lang.clone(), ..Self::default() };
        // The prefix of a media key is its kind.
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
            content.read_entities(&entities, known);
        }
        if !post.context_annotations.is_empty()
            && let Ok(Value::Array(contexts)) = serde_json::from_str(&post.context_annotations)
        {
            content.contexts = contexts.iter().filter_map(read_context).collect();
        }
        content
    }

    fn read_entities(&mut self, entities: &Value, known: &KnownLinks) {
        self.hashtags = entity_texts(entities, "hashtags", "tag");
        self.cashtags = entity_texts(entities, "cashtags", "tag");
        self.annotation_names = entity_texts(entities, "annotations", "normalized_text");
        let mentions = entity_list(entities, "mentions").iter();
        self.mentions = mentions
            .map(|mention| {
                let id = entity_text(mention, "id").parse().unwrap_or(0);
                (id, entity_text(mention, "username").to_owned())
            })
            .collect();
        let links = entity_list(entities, "urls").iter();
        self.blank_links(links.clone());
        self.links = links
            .map(|link| {
                let text = |name| entity_text(link, name).to_owned();
                let facts = known.find(entity_text(link, "expanded_url"));
                let fact = |name, known: fn(&LinkFacts) -> &String| match entity_text(link, name) {
                    "" => facts.map(known).cloned().unwrap_or_default(),
                    stored => stored.to_owned(),
                };
                ContentLink {
                    url: text("url"),
                    expanded: text("expanded_url"),
                    unwound: fact("unwound_url", |facts| &facts.unwound_url),
                    title: fact("title", |facts| &facts.title),
                    description: fact("description", |facts| &facts.description),
                }
            })
            .collect();
    }

    /// Words inside links are not words of the text. Links in the order of the text.
    fn blank_links<'e>(&mut self, links: impl Iterator<Item = &'e Value>) {
        let position = |link: &Value, name| link.get(name)?.as_u64().and_then(|at| usize::try_from(at).ok());
        let mut ranges = links.filter_map(|link| Some(position(link, "start")?..position(link, "end")?)).peekable();
        if ranges.peek().is_none() {
            return;
        }
        let blank = |(at, letter)| {
            while ranges.next_if(|range| range.end <= at).is_some() {}
            if ranges.peek().is_some_and(|range| range.contains(&at)) { ' ' } else { letter }
        };
        self.text = self.text.chars().enumerate().map(blank).collect();
    }

    pub(super) fn add_mention(&mut self, user: AccountName) {
        if !self.mentions.iter().any(|(id, _)| *id == user.0) {
            self.mentions.push(user);
        }
    }

    /// The reposted user according to the text of an imported repost without its original.
    pub(super) fn reposted_username(&self) -> &str {
        let after_prefix = self.text.strip_prefix("RT @");
        after_prefix.and_then(|text| text.split_once(':')).map_or("", |(name, _)| name)
    }

    /// Borrows the content; the result owns the lists that the query language refers to.
    pub(super) fn borrow_content(&self) -> BorrowedContent<'_> {
        let tags = |tags| Iterator::map(<[String]>::iter(tags), String::as_str).collect();
        let mentions = self.mentions.iter();
        let links = self.links.iter().map(|link| QueryableLink {
            url: &link.url,
            expanded: &link.expanded,
            unwound: &link.unwound,
            title: &link.title,
            description: &link.description,
        });
        let found = self.annotation_names.iter().map(|name| ContextAnnotation { name, ..ContextAnnotation::default() });
        let contexts = self.contexts.iter().map(|context| ContextAnnotation {
            domain: Some(context.domain),
            entity: context.entity,
            name: &context.name,
        });
        BorrowedContent {
            content: self,
            hashtags: tags(&self.hashtags),
            cashtags: tags(&self.cashtags),
            mentions: mentions.map(to_handle).collect(),
            links: links.collect(),
            annotations: found.chain(contexts).collect(),
        }
    }
}

pub(super) fn to_handle((id, username): &AccountName) -> UserHandle<'_> {
    UserHandle { id: *id, username }
}

fn entity_list<'a>(entities: &'a Value, kind: &str) -> &'a [Value] {
    let list = entities.get(kind).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

fn entity_text<'a>(entity: &'a Value, name: &str) -> &'a str {
    entity.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn read_context(context: &Value) -> Option<ContentContext> {
    let (domain, entity) = (context.get("domain")?, context.get("entity")?);
    let id = |part| entity_text(part, "id").parse().ok();
    Some(ContentContext { domain: id(domain)?, entity: id(entity)?, name: entity_text(entity, "name").to_owned() })
}

fn entity_texts(entities: &Value, kind: &str, name: &str) -> Vec<String> {
    let list = entity_list(entities, kind).iter();
    list.map(|entity| entity_text(entity, name).to_owned()).collect()
}

/// A content as the query language reads it.
pub(super) struct BorrowedContent<'a> {
    content: &'a PostContent,
    hashtags: Vec<&'a str>,
    cashtags: Vec<&'a str>,
    mentions: Vec<UserHandle<'a>>,
    links: Vec<QueryableLink<'a>>,
    annotations: Vec<ContextAnnotation<'a>>,
}

impl BorrowedContent<'_> {
    /// A post with this content and nothing else.
    pub(super) fn to_query_post(&self) -> query::QueryablePost<'_> {
        query::QueryablePost {
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
            ..query::QueryablePost::default()
        }
    }
}
