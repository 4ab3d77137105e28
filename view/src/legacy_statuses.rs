//! Posts and users in the format of the legacy API, as used by account activity events (contract
//! core §10.3): fixed objects whose members are present even if empty.

use std::collections::{BTreeSet, HashMap};

use base::short_links::{LinkSource, ShortLinkTarget};
use base::text::URL_WEIGHT;
use base::{AppId, Fault, PostId, SiteLinks, UserId, Vocabulary};
use network::visibility::{Viewer, Visibility};
use serde_json::{Map, Value, json};
use store::messages::MessageEvent;
use store::posts::Post;
use store::users::User;
use store::{Tx, apps, media, users};

use crate::legacy_media::legacy_media_json;
use crate::legacy_places::{legacy_place_json, legacy_points};
use crate::loaded_objects::LoadedObjects;
use crate::media::{MediaRenderContext, id_from_media_key};
use crate::position_shifts::escape_legacy_entities;
use crate::posts::{
    PostRenderContext, display_text_range, display_url, media_keys, mentioned_users, sent_entities, sent_text,
    text_without_link,
};
use crate::{FieldSelection, ObjectKind, legacy_user_json};

/// The maximum length of `text` in compatibility mode, in characters.
const SHORT_TEXT_CHARS: usize = 140;

pub fn legacy_participant_json(user: &User) -> Value {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    json!({
        "id": user.id.to_string(),
        "created_timestamp": user.created_at.ms().to_string(),
        "name": user.name,
        "screen_name": user.username,
        "location": text(&user.location),
        "description": text(&user.description),
        "url": text(&user.url),
        "protected": user.protected,
        "verified": user.verified,
        "followers_count": user.followers_count,
        "friends_count": user.following_count,
        "statuses_count": user.post_count,
        "profile_image_url_https": text(&user.profile_image_url),
    })
}

/// A post as a viewer sees it, in the form of streams and webhooks; `None` if the viewer may not.
pub fn legacy_post_json(tx: &mut Tx<'_>, viewer: Viewer, post: Post, site: SiteLinks) -> Result<Option<Value>, Fault> {
    let mut statuses = render_statuses(tx, viewer, vec![post], None, site)?;
    Ok(statuses.pop().map(|(_, status)| status))
}

/// The options of the legacy format.
#[derive(Clone, Copy, Debug)]
pub struct StatusForm {
    /// Full texts as `full_text`; otherwise long texts are truncated, as `text`.
    pub extended: bool,
    /// Render authors as ids only.
    pub trim_user: bool,
}

/// Posts in the legacy format by id; posts the viewer may not see are omitted.
pub fn legacy_statuses_json(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    posts: Vec<Post>,
    form: StatusForm,
    site: SiteLinks,
) -> Result<Vec<(PostId, Value)>, Fault> {
    render_statuses(tx, viewer, posts, Some(form), site)
}

fn render_statuses(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    posts: Vec<Post>,
    form: Option<StatusForm>,
    site: SiteLinks,
) -> Result<Vec<(PostId, Value)>, Fault> {
    let mut selection = FieldSelection::all_public_fields(ObjectKind::POST, Vocabulary::Post);
    selection.set_site(site);
    let ids: Vec<PostId> = posts.iter().map(|post| post.id).collect();
    let mut objects = LoadedObjects::load_for_posts(tx, viewer, posts, &selection)?;
    // This format contains the full text in addition to the truncated one.
    objects.short_texts.clear();
    let apps = load_source_links(tx, &objects)?;
    let older = LegacyRenderer { objects: &objects, source_links: &apps, form };
    let statuses = ids.into_iter().filter_map(|id| Some((id, older.render_post(objects.posts.get(id)?, true)?)));
    Ok(statuses.collect())
}

/// The `source` markup of each app.
fn load_source_links(tx: &mut Tx<'_>, objects: &LoadedObjects) -> Result<HashMap<AppId, String>, Fault> {
    let posts = objects.posts.items().iter();
    let ids: BTreeSet<AppId> = posts.filter_map(|post| post.app_id).collect();
    let mut names = HashMap::new();
    for id in ids {
        if let Some(app) = apps::find_by_id(tx, id)? {
            let (url, name) = (escape_html(&app.website_url), escape_html(&app.name));
            names.insert(id, format!("<a href=\"{url}\" rel=\"nofollow\">{name}</a>"));
        }
    }
    Ok(names)
}

struct LegacyRenderer<'a> {
    objects: &'a LoadedObjects,
    source_links: &'a HashMap<AppId, String>,
    /// `None` for streams and webhooks, which send both texts of a truncated post.
    form: Option<StatusForm>,
}

impl LegacyRenderer<'_> {
    /// Renders a post with its quoted and reposted posts; `None` if it is not visible.
    fn render_post(&self, post: &Post, whole: bool) -> Option<Value> {
        let objects = self.objects;
        let author = objects.users.get(post.author_id)?;
        if objects.post_visibility(post) != Visibility::Visible {
            return None;
        }
        let (id, at) = (post.id, post.created_at);
        let replied = post.in_reply_to_user_id;
        let handle = replied.and_then(|user| Some(&objects.users.get(user)?.username));
        let (coordinates, geo) = legacy_points(&post.geo).unzip();
        let place = post.place_id.as_deref().and_then(network::places::parse_place_id);
        let place = place.and_then(|id| objects.places.get(id));
        let mut shown = json!({
            "created_at": at.to_legacy_string(),
            "id": id.get(),
            "id_str": id.to_string(),
            "source": post.app_id.and_then(|app| self.source_links.get(&app)),
            "in_reply_to_status_id": post.in_reply_to_post_id.map(base::Id::get),
            "in_reply_to_status_id_str": post.in_reply_to_post_id.map(|id| id.to_string()),
            "in_reply_to_user_id": replied.map(base::Id::get),
            "in_reply_to_user_id_str": replied.map(|id| id.to_string()),
            "in_reply_to_screen_name": handle,
            "user": self.render_author(author),
            "geo": geo,
            "coordinates": coordinates,
            "place": place.map(legacy_place_json),
            "contributors": null,
            "is_quote_status": post.quoted_post_id.is_some(),
            "quote_count": post.quote_count,
            "reply_count": post.reply_count,
            "retweet_count": post.repost_count,
            "favorite_count": post.like_count,
            "favorited": false,
            "retweeted": false,
            "possibly_sensitive": post.possibly_sensitive,
            "lang": post.lang,
        });
        let members = shown.as_object_mut()?;
        if self.form.is_none() {
            members.insert("filter_level".to_owned(), "low".into());
            members.insert("timestamp_ms".to_owned(), at.ms().to_string().into());
        }
        self.insert_text(members, PostRenderContext { post, objects });
        let other = |id| objects.posts.get(id).filter(|_| whole);
        if let Some(quoted) = post.quoted_post_id {
            members.insert("quoted_status_id".to_owned(), quoted.get().into());
            members.insert("quoted_status_id_str".to_owned(), quoted.to_string().into());
            let quoted = other(quoted).and_then(|post| self.render_post(post, false));
            members.extend(quoted.map(|post| ("quoted_status".to_owned(), post)));
        }
        let original = post.repost_of_id.and_then(other);
        let original = original.and_then(|post| self.render_post(post, false));
        members.extend(original.map(|post| ("retweeted_status".to_owned(), post)));
        Some(shown)
    }

    /// Entities in the legacy format, with user names and media.
    fn render_entities(&self, post: &Post, stored: &str) -> Map<String, Value> {
        let name = |id| Some(self.objects.users.get(id)?.name.clone());
        let (mut all, link) = convert_entities(stored, name);
        let media = media_keys(post).filter_map(|key| self.objects.media.get(id_from_media_key(key)?));
        let render = |media| legacy_media_json(MediaRenderContext { media, objects: self.objects }, &link);
        let media: Vec<Value> = media.map(render).collect();
        if !media.is_empty() {
            all.insert("media".to_owned(), Value::Array(media));
        }
        all
    }

    fn render_author(&self, author: &User) -> Value {
        if self.form.is_some_and(|form| form.trim_user) {
            json!({ "id": author.id.get(), "id_str": author.id.to_string() })
        } else {
            legacy_user_json(author, false)
        }
    }

    /// Inserts the text and its entities. Unless full texts are requested, a long text is truncated.
    fn insert_text(&self, members: &mut Map<String, Value>, ctx: PostRenderContext<'_>) {
        let text = sent_text(ctx);
        let mut entities = self.render_entities(ctx.post, &sent_entities(ctx));
        let is_extended = self.form.is_some_and(|form| form.extended);
        let is_truncated = !is_extended && own_length(ctx, &entities) > SHORT_TEXT_CHARS;
        let beginning = is_truncated.then(|| truncate_status(&text, ctx.post, &entities, self.objects.site));
        escape_legacy_entities(&mut entities, &text);
        let mut whole = Map::new();
        if let Some(media) = entities.get("media") {
            whole.insert("extended_entities".to_owned(), json!({ "media": media }));
        }
        whole.insert("entities".to_owned(), entities.into());
        let name = if is_extended || is_truncated {
            whole.insert("display_text_range".to_owned(), json!(display_text_range(ctx)));
            "full_text"
        } else {
            "text"
        };
        whole.insert(name.to_owned(), escape_html(&text).into());
        members.insert("truncated".to_owned(), is_truncated.into());
        let Some((beginning, mut entities)) = beginning else {
            members.extend(whole);
            return;
        };
        escape_legacy_entities(&mut entities, &beginning);
        members.insert("text".to_owned(), escape_html(&beginning).into());
        members.insert("entities".to_owned(), entities.into());
        if self.form.is_none() {
            members.insert("extended_tweet".to_owned(), whole.into());
        }
    }
}

/// The length of the text without the link to media or a card that ends it; longer links count as one of the public
/// service.
fn own_length(ctx: PostRenderContext<'_>, entities: &Map<String, Value>) -> usize {
    let letters = text_without_link(ctx).chars().count();
    let urls = url_ranges(entities).filter(|(_, end)| *end <= letters);
    let most = usize::try_from(URL_WEIGHT).unwrap_or(usize::MAX);
    let excess = urls.map(|(start, end)| end.saturating_sub(start).saturating_sub(most));
    letters.saturating_sub(excess.sum())
}

/// Where links are, in code points.
fn url_ranges(entities: &Map<String, Value>) -> impl Iterator<Item = (usize, usize)> {
    let index = |entity: &Value, path| usize::try_from(entity.pointer(path)?.as_u64()?).ok();
    let urls = entities.get("urls").and_then(Value::as_array).into_iter().flatten();
    urls.filter_map(move |url| Some((index(url, "/indices/0")?, index(url, "/indices/1")?)))
}

/// The text of a message, its entities and its media.
pub fn legacy_message_data_json(tx: &mut Tx<'_>, message: &MessageEvent, site: SiteLinks) -> Result<Value, Fault> {
    let mentioned = users::find_by_ids(tx, &mentioned_users(&message.entities))?;
    let name = |id| mentioned.iter().find(|user| user.id == id).map(|user| user.name.clone());
    let entities = legacy_entities_json(&message.entities, &message.text, name);
    let mut data = json!({ "text": escape_html(&message.text), "entities": entities });
    let attached = match message.media_id {
        Some(id) => media::find_by_id(tx, id)?,
        None => None,
    };
    if let (Some(media), Some(data)) = (attached, data.as_object_mut()) {
        let mut objects = LoadedObjects { site, ..LoadedObjects::default() };
        objects.message_by_media.insert(media.id.get(), message.id);
        let media = legacy_media_json(MediaRenderContext { media: &media, objects: &objects }, &Value::Null);
        data.insert("attachment".to_owned(), json!({ "type": "media", "media": media }));
    }
    Ok(data)
}

/// The stored entities of `text`, with positions in the escaped text.
pub fn legacy_entities_json(stored: &str, text: &str, name: impl Fn(UserId) -> Option<String>) -> Map<String, Value> {
    let (mut entities, _) = convert_entities(stored, name);
    escape_legacy_entities(&mut entities, text);
    entities
}

/// Converts entities with the names that are known; also returns the media link that ends the text.
fn convert_entities(stored: &str, name: impl Fn(UserId) -> Option<String>) -> (Map<String, Value>, Value) {
    let stored: Value = serde_json::from_str(stored).unwrap_or_default();
    let list = |name: &str| {
        let list = stored.get(name).and_then(Value::as_array);
        list.cloned().unwrap_or_default()
    };
    let tags = |name| -> Value {
        let tags = list(name);
        let tags = tags.iter();
        tags.map(|tag| json!({ "text": tag.get("tag"), "indices": entity_indices(tag) })).collect()
    };
    let mut all = Map::new();
    all.insert("hashtags".to_owned(), tags("hashtags"));
    all.insert("symbols".to_owned(), tags("cashtags"));
    let mentions = list("mentions");
    let mentions = mentions.iter().map(|mention| {
        let id = mention.get("id").and_then(Value::as_str);
        let id = id.and_then(UserId::parse);
        let handle = mention.get("username").and_then(Value::as_str);
        let known = id.and_then(&name);
        json!({
            "screen_name": handle,
            "name": known.as_deref().or(handle),
            "id": id.map(base::Id::get),
            "id_str": id.map(|id| id.to_string()),
            "indices": entity_indices(mention),
        })
    });
    all.insert("user_mentions".to_owned(), mentions.collect());
    let (media, urls): (Vec<Value>, Vec<Value>) =
        list("urls").into_iter().partition(|url| url.get("media_key").is_some());
    all.insert("urls".to_owned(), urls.iter().map(legacy_url_json).collect());
    (all, media.into_iter().next().unwrap_or_default())
}

/// The beginning of a long text with a link to the post, and the entities in it.
fn truncate_status(text: &str, post: &Post, all: &Map<String, Value>, site: SiteLinks) -> (String, Map<String, Value>) {
    let link = site.short_link(LinkSource::Post(post.id), ShortLinkTarget::Post);
    // The ellipsis, and a space before the link, which is ASCII.
    let room = link.as_ref().map_or(1, |link| link.len().saturating_add(2));
    let limit = SHORT_TEXT_CHARS.saturating_sub(room);
    // No part of a link is left.
    let end = url_ranges(all).find(|(start, end)| *start < limit && limit < *end).map_or(limit, |(start, _)| start);
    let mut beginning: String = text.chars().take(end).collect();
    beginning.truncate(beginning.trim_end().len());
    beginning.push('…');
    let mut entities = entities_before(all, end);
    if let Some(link) = link {
        beginning.push(' ');
        let start = beginning.chars().count();
        beginning.push_str(&link);
        let page = site.post_page(post.id);
        let entity = json!({ "url": link, "display_url": display_url(&page), "expanded_url": page,
            "indices": [start, start.saturating_add(link.len())] });
        if let Some(urls) = entities.get_mut("urls").and_then(Value::as_array_mut) {
            urls.push(entity);
        }
    }
    (beginning, entities)
}

/// Entities that end at or before `end`.
fn entities_before(all: &Map<String, Value>, end: usize) -> Map<String, Value> {
    let mut left = all.clone();
    left.remove("media");
    let end = u64::try_from(end).unwrap_or(u64::MAX);
    for list in left.values_mut().filter_map(Value::as_array_mut) {
        list.retain(|entity| {
            let last = entity.pointer("/indices/1").and_then(Value::as_u64);
            last.is_some_and(|last| last <= end)
        });
    }
    left
}

pub(crate) fn legacy_url_json(url: &Value) -> Value {
    json!({
        "url": url.get("url"),
        "expanded_url": url.get("expanded_url"),
        "display_url": url.get("display_url"),
        "indices": entity_indices(url),
    })
}

pub(crate) fn entity_indices(entity: &Value) -> Value {
    json!([entity.get("start"), entity.get("end")])
}

/// Escapes HTML as the API does.
fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
