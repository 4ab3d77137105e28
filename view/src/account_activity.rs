//! Posts and people in the form of the older interface, as account activity tells of them
//! (contract §10.3): fixed objects whose members are there even where nothing is in them.

use std::collections::{BTreeSet, HashMap};

use base::text::unescape_html;
use base::{AppId, Fault, PostId, UserId, Vocabulary};
use network::visibility::{Viewer, Visibility};
use serde_json::{Map, Value, json};
use store::media::Media;
use store::posts::Post;
use store::users::User;
use store::{Tx, apps};

use crate::media::{address, id_of};
use crate::posts::{PostFacts, media_keys, sent, sent_entities};
use crate::world::World;
use crate::{Object, Wants, older_user};

/// Letters of a text that is not extended.
const SHORT: usize = 140;

/// A user as those who take part in something are told of.
pub fn person(user: &User) -> Value {
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

/// A post as a viewer sees it; none where that one may not.
pub fn older_post(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    post: Post,
    site: &'static str,
) -> Result<Option<Value>, Fault> {
    let mut wants = Wants::whole(Object::Post, Vocabulary::Post);
    wants.served_from(site);
    let id = post.id;
    let mut world = World::of_posts(tx, viewer, vec![post], &wants)?;
    // Here long texts are sent whole, beside their beginning.
    world.shorts.clear();
    let apps = apps_of(tx, &world)?;
    let older = Older {
        world: &world,
        apps: &apps,
        site,
    };
    let post = world.posts.get(id);
    Ok(post.and_then(|post| older.post(post, true)))
}

/// How posts are written in the form of the older interface where they are asked for.
#[derive(Clone, Copy, Debug)]
pub struct StatusForm {
    /// Texts are whole, as `full_text`; otherwise long ones are cut, as `text`.
    pub extended: bool,
    /// Of authors only their ids are there.
    pub trim_user: bool,
}

/// Posts in the form of the older interface, each by its id; those that the viewer may not see are
/// left out.
pub fn older_statuses(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    posts: Vec<Post>,
    form: StatusForm,
    site: &'static str,
) -> Result<Vec<(PostId, Value)>, Fault> {
    let mut wants = Wants::whole(Object::Post, Vocabulary::Post);
    wants.served_from(site);
    let ids: Vec<PostId> = posts.iter().map(|post| post.id).collect();
    let mut world = World::of_posts(tx, viewer, posts, &wants)?;
    world.shorts.clear();
    let apps = apps_of(tx, &world)?;
    let older = Older {
        world: &world,
        apps: &apps,
        site,
    };
    let statuses = ids.into_iter().filter_map(|id| {
        let post = world.posts.get(id)?;
        let mut status = older.post(post, true)?;
        shape(&mut status, form, post.display_start);
        Some((id, status))
    });
    Ok(statuses.collect())
}

/// Leaves to a post what is asked for of it.
fn shape(status: &mut Value, form: StatusForm, start: i64) {
    let Some(members) = status.as_object_mut() else {
        return;
    };
    // Streams alone have these.
    for name in ["filter_level", "timestamp_ms"] {
        members.remove(name);
    }
    let whole = members.remove("extended_tweet");
    if form.extended {
        let text = members.remove("text").unwrap_or_default();
        members.insert("truncated".to_owned(), false.into());
        if let Some(Value::Object(whole)) = whole {
            members.extend(whole);
        } else {
            let letters = unescape_html(text.as_str().unwrap_or_default())
                .chars()
                .count();
            members.insert("full_text".to_owned(), text);
            members.insert("display_text_range".to_owned(), json!([start, letters]));
        }
    }
    if form.trim_user
        && let Some(user) = members.get_mut("user")
    {
        *user = json!({ "id": user.get("id"), "id_str": user.get("id_str") });
    }
    for name in ["retweeted_status", "quoted_status"] {
        if let Some(other) = members.get_mut(name) {
            shape(other, form, 0);
        }
    }
}

/// What posts were written with, as they name it.
fn apps_of(tx: &mut Tx<'_>, world: &World) -> Result<HashMap<AppId, String>, Fault> {
    let posts = world.posts.items().iter();
    let ids: BTreeSet<AppId> = posts.filter_map(|post| post.app_id).collect();
    let mut names = HashMap::new();
    for id in ids {
        if let Some(app) = apps::find_by_id(tx, id)? {
            let (url, name) = (escaped(&app.website_url), escaped(&app.name));
            names.insert(id, format!("<a href=\"{url}\" rel=\"nofollow\">{name}</a>"));
        }
    }
    Ok(names)
}

struct Older<'a> {
    world: &'a World,
    apps: &'a HashMap<AppId, String>,
    site: &'static str,
}

impl Older<'_> {
    /// A post with what it quotes and reposts, unless it may not be seen.
    fn post(&self, post: &Post, whole: bool) -> Option<Value> {
        let world = self.world;
        let author = world.users.get(post.author_id)?;
        if world.sight(post) != Visibility::Visible {
            return None;
        }
        let facts = PostFacts { post, world };
        let text = sent(facts);
        let entities = self.entities(post, &sent_entities(facts));
        let (id, at) = (post.id, post.created_at);
        let replied = post.in_reply_to_user_id;
        let handle = replied.and_then(|user| Some(&world.users.get(user)?.username));
        let mut shown = json!({
            "created_at": at.to_legacy_string(),
            "id": id.get(),
            "id_str": id.to_string(),
            "source": post.app_id.and_then(|app| self.apps.get(&app)),
            "in_reply_to_status_id": post.in_reply_to_post_id.map(base::Id::get),
            "in_reply_to_status_id_str": post.in_reply_to_post_id.map(|id| id.to_string()),
            "in_reply_to_user_id": replied.map(base::Id::get),
            "in_reply_to_user_id_str": replied.map(|id| id.to_string()),
            "in_reply_to_screen_name": handle,
            "user": older_user(author, false),
            "geo": null,
            "coordinates": null,
            "place": null,
            "contributors": null,
            "is_quote_status": post.quoted_post_id.is_some(),
            "quote_count": post.quote_count,
            "reply_count": post.reply_count,
            "retweet_count": post.repost_count,
            "favorite_count": post.like_count,
            "favorited": false,
            "retweeted": false,
            "possibly_sensitive": post.possibly_sensitive,
            "filter_level": "low",
            "lang": post.lang,
            "timestamp_ms": at.ms().to_string(),
        });
        let members = shown.as_object_mut()?;
        say_text(members, &text, post, entities);
        let other = |id| world.posts.get(id).filter(|_| whole);
        if let Some(quoted) = post.quoted_post_id {
            members.insert("quoted_status_id".to_owned(), quoted.get().into());
            members.insert("quoted_status_id_str".to_owned(), quoted.to_string().into());
            let quoted = other(quoted).and_then(|post| self.post(post, false));
            members.extend(quoted.map(|post| ("quoted_status".to_owned(), post)));
        }
        let original = post.repost_of_id.and_then(other);
        let original = original.and_then(|post| self.post(post, false));
        members.extend(original.map(|post| ("retweeted_status".to_owned(), post)));
        Some(shown)
    }

    /// Entities in the older form, with names and media.
    fn entities(&self, post: &Post, stored: &str) -> Map<String, Value> {
        let name = |id| Some(self.world.users.get(id)?.name.clone());
        let (mut all, link) = entities_of(stored, name);
        let media = media_keys(post).filter_map(|key| self.world.media.get(id_of(key)?));
        let media: Vec<Value> = media.map(|media| self.media(media, &link)).collect();
        if !media.is_empty() {
            all.insert("media".to_owned(), Value::Array(media));
        }
        all
    }

    fn media(&self, media: &Media, link: &Value) -> Value {
        let file = address(media, self.site);
        let still = file.as_deref().unwrap_or(match media.kind.as_str() {
            "photo" => &media.url,
            _ => &media.preview_image_url,
        });
        let own = json!({ "start": 0, "end": 0, "url": still, "expanded_url": still, "display_url": still });
        let link = if link.is_null() { &own } else { link };
        json!({
            "id": media.id.get(),
            "id_str": media.id.to_string(),
            "indices": place(link),
            "media_url": still,
            "media_url_https": still,
            "url": link.get("url"),
            "display_url": link.get("display_url"),
            "expanded_url": link.get("expanded_url"),
            "type": media.kind,
            "sizes": { "large": { "w": media.width, "h": media.height, "resize": "fit" } },
        })
    }
}

/// Entities in the older form, from those of the present one, where nobody is known by name.
pub fn older_entities(stored: &str) -> Value {
    Value::Object(entities_of(stored, |_| None).0)
}

/// The same where some are, and the link to media that ends the text.
fn entities_of(
    stored: &str,
    name: impl Fn(UserId) -> Option<String>,
) -> (Map<String, Value>, Value) {
    let stored: Value = serde_json::from_str(stored).unwrap_or_default();
    let list = |name: &str| {
        let list = stored.get(name).and_then(Value::as_array);
        list.cloned().unwrap_or_default()
    };
    let tags = |name| -> Value {
        let tags = list(name);
        let tags = tags.iter();
        tags.map(|tag| json!({ "text": tag.get("tag"), "indices": place(tag) }))
            .collect()
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
            "indices": place(mention),
        })
    });
    all.insert("user_mentions".to_owned(), mentions.collect());
    let (media, urls): (Vec<Value>, Vec<Value>) = list("urls")
        .into_iter()
        .partition(|url| url.get("media_key").is_some());
    let urls = urls.iter().map(|url| {
        json!({
            "url": url.get("url"),
            "expanded_url": url.get("expanded_url"),
            "display_url": url.get("display_url"),
            "indices": place(url),
        })
    });
    all.insert("urls".to_owned(), urls.collect());
    (all, media.into_iter().next().unwrap_or_default())
}

/// A text with its entities: of a long one its beginning, and all of it beside.
fn say_text(members: &mut Map<String, Value>, text: &str, post: &Post, all: Map<String, Value>) {
    let mut say = |name: &str, value: Value| {
        members.insert(name.to_owned(), value);
    };
    let extended = all.get("media").cloned();
    let extended = extended.map(|media| json!({ "media": media }));
    let letters = text.chars().count();
    if letters <= SHORT {
        say("text", escaped(text).into());
        say("truncated", false.into());
        say("entities", Value::Object(all));
        if let Some(media) = extended {
            say("extended_entities", media);
        }
        return;
    }
    let beginning: String = text.chars().take(SHORT - 1).chain(['…']).collect();
    say("text", escaped(&beginning).into());
    say("truncated", true.into());
    say("entities", Value::Object(within(&all, SHORT - 1)));
    let mut whole = json!({
        "full_text": escaped(text),
        "display_text_range": [post.display_start, letters],
        "entities": all,
    });
    if let (Some(media), Some(whole)) = (extended, whole.as_object_mut()) {
        whole.insert("extended_entities".to_owned(), media);
    }
    say("extended_tweet", whole);
}

/// Entities that end before a place.
fn within(all: &Map<String, Value>, end: usize) -> Map<String, Value> {
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

fn place(entity: &Value) -> Value {
    json!([entity.get("start"), entity.get("end")])
}

/// Text as the interfaces send it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
