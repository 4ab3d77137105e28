//! The elements of an archive's data files, page by page, newest first.

use archive::{ArchivedMedia, ArchivedMediaKind};
use base::text::escape_html;
use base::{Fault, Id, PostId, Time, UserId};
use network::compose::PostTextDraft;
use network::visibility::{AuthorVisibilities, Viewer, Visibility};
use serde_json::{Value, json};
use store::Tx;
use store::media::Media;
use store::messages::{self, MessageEvent, MessageEventKind};
use store::polls::Poll;
use store::posts::{self, PageRange, Post, PostState};
use store::users::{self, User};
use store::{likes, lists, media};
use view::legacy_entities_json;

use crate::export::{OwnPost, load_own_posts};

/// Elements of a kind per transaction. The reader of archives takes elements of at most 4 MiB.
const PAGE_SIZE: i64 = 200;

/// The page of elements below an id.
pub(super) struct ElementQuery {
    /// `https://example.org`.
    pub(super) site: String,
    pub(super) user: UserId,
    pub(super) below: i64,
}

pub(super) struct ElementPage<T> {
    pub(super) elements: Vec<T>,
    /// Below which the next page is; none on the last one.
    pub(super) next: Option<i64>,
}

pub(super) type ElementPageResult<T = Value> = Result<ElementPage<T>, Fault>;

pub(super) type LoadElements<T = Value> = fn(&mut Tx<'_>, &ElementQuery) -> ElementPageResult<T>;

impl<T> ElementPage<T> {
    pub(super) fn last(elements: Vec<T>) -> Self {
        Self { elements, next: None }
    }
}

impl ElementQuery {
    pub(super) fn range(&self) -> PageRange {
        PageRange { below: self.below, ..PageRange::newest(PAGE_SIZE) }
    }
}

/// A full page is followed by another one.
fn next_below<R>(rows: &[R], id: impl Fn(&R) -> i64) -> Option<i64> {
    let is_full = i64::try_from(rows.len()).is_ok_and(|count| count >= PAGE_SIZE);
    rows.last().map(id).filter(|_| is_full)
}

pub(super) fn edge_page<K>(rows: &[(K, i64)], element: impl Fn(&K) -> Value) -> ElementPage<Value> {
    let elements = rows.iter().map(|(key, _)| element(key)).collect();
    ElementPage { elements, next: next_below(rows, |(_, id)| *id) }
}

fn find_owner(tx: &mut Tx<'_>, user: UserId) -> Result<User, Fault> {
    users::find_by_id(tx, user)?.ok_or_else(|| Fault::new("the owner of an archive is gone"))
}

pub(super) fn load_account(tx: &mut Tx<'_>, query: &ElementQuery) -> ElementPageResult {
    let user = find_owner(tx, query.user)?;
    Ok(ElementPage::last(vec![json!({ "account": {
        "email": user.email,
        "createdVia": "web",
        "username": user.username,
        "accountId": user.id.to_string(),
        "createdAt": user.created_at.to_string(),
        "accountDisplayName": user.name,
    } })]))
}

pub(super) fn load_profile(tx: &mut Tx<'_>, query: &ElementQuery) -> ElementPageResult {
    let user = find_owner(tx, query.user)?;
    Ok(ElementPage::last(vec![json!({ "profile": {
        "description": {
            "bio": escape_html(&user.description),
            "website": user.url,
            "location": escape_html(&user.location),
        },
        "avatarMediaUrl": user.profile_image_url,
        "headerMediaUrl": user.profile_banner_url,
    } })]))
}

pub(super) fn load_posts(tx: &mut Tx<'_>, query: &ElementQuery) -> ElementPageResult {
    let found = load_own_posts(tx, query.user, query.below, PAGE_SIZE)?;
    let now = tx.now();
    let elements = found.iter().map(|post| json!({ "tweet": post_json(post, &query.site, now) })).collect();
    Ok(ElementPage { elements, next: next_below(&found, |own| own.post.id) })
}

fn post_json(own: &OwnPost, site: &str, now: Time) -> Value {
    let OwnPost { post, entities, poll } = own;
    let id_text = |id: Option<i64>| id.map(|id| id.to_string());
    let (text, entities) = match &post.repost_of {
        Some(repost) => {
            let text = format!("RT @{}: {}", repost.handle, repost.text);
            let author = repost.author.map(|author| (repost.handle.clone(), UserId::new(author)));
            let known: Vec<(String, UserId)> = author.into_iter().collect();
            let entities = PostTextDraft::parse(&text).compose(&known, false, "und").entities;
            (text, entities)
        }
        None => (post.text.clone(), entities.clone()),
    };
    let name = |id: UserId| {
        let mention = post.mentions.iter().find(|mention| mention.id == Some(id.get()));
        mention.map(|mention| mention.name.clone())
    };
    let mut entities = legacy_entities_json(&entities, &text, name);
    entities.values_mut().filter_map(Value::as_array_mut).flatten().for_each(write_numbers_as_text);
    if let Some(poll) = poll {
        entities.insert("polls".to_owned(), json!([poll_json(poll, now)]));
    }
    let media: Vec<Value> = post.media.iter().map(|media| media_json(post.id, media, site)).collect();
    json!({
        "id": post.id.to_string(),
        "id_str": post.id.to_string(),
        "created_at": Time::from_ms(post.created_at_ms).to_legacy_string(),
        "full_text": escape_html(&text),
        "lang": post.lang,
        "favorite_count": post.like_count.to_string(),
        "retweet_count": post.repost_count.to_string(),
        "possibly_sensitive": post.possibly_sensitive,
        "in_reply_to_status_id_str": id_text(post.in_reply_to_post),
        "in_reply_to_user_id_str": id_text(post.in_reply_to_user),
        "quoted_status_id_str": id_text(post.quoted_post),
        "community_id_str": id_text(post.community_id),
        "members_only": post.members_only,
        "unshared": post.unshared,
        "followers_only": post.followers_only,
        "entities": entities,
        "extended_entities": { "media": media },
    })
}

/// The ids and indices of an entity are texts in archives.
fn write_numbers_as_text(entity: &mut Value) {
    let write = |number: &mut Value| *number = number.to_string().into();
    entity.get_mut("indices").and_then(Value::as_array_mut).into_iter().flatten().for_each(write);
    entity.get_mut("id").filter(|id| id.is_number()).into_iter().for_each(write);
}

/// As in the API, with the votes of members.
fn poll_json(poll: &Poll, now: Time) -> Value {
    let options = poll.options.iter();
    let options =
        options.map(|option| json!({ "position": option.number, "label": option.label, "votes": option.votes }));
    json!({
        "id": poll.id.to_string(),
        "options": options.collect::<Value>(),
        "duration_minutes": poll.duration_minutes,
        "end_datetime": poll.ends_at.to_string(),
        "voting_status": if poll.is_open(now) { "open" } else { "closed" },
    })
}

fn media_json(post: i64, media: &ArchivedMedia, site: &str) -> Value {
    let file = media.files.first();
    let address = file.map_or_else(|| media.url.clone(), |name| format!("{site}/media/{name}"));
    let is_photo = media.kind == ArchivedMediaKind::Photo;
    let mut json = json!({
        "id_str": media.id.to_string(),
        "type": match media.kind {
            ArchivedMediaKind::Video => "video",
            ArchivedMediaKind::AnimatedGif => "animated_gif",
            ArchivedMediaKind::Photo | ArchivedMediaKind::Subtitles => "photo",
        },
        "url": format!("{site}/i/web/status/{post}"),
        "media_url_https": if is_photo { &address } else { &media.url },
        "ext_alt_text": media.alt,
        "sizes": { "large": { "w": media.width.to_string(), "h": media.height.to_string() } },
    });
    if let (false, Some(members)) = (is_photo, json.as_object_mut()) {
        let kind = if media.content_type.is_empty() { "video/mp4" } else { media.content_type.as_str() };
        let bitrate = media.bit_rate.unwrap_or(0).to_string();
        let variant = json!({ "content_type": kind, "url": address, "bitrate": bitrate });
        let duration = media.duration_ms.unwrap_or(0).to_string();
        members.insert("video_info".to_owned(), json!({ "duration_millis": duration, "variants": [variant] }));
    }
    json
}

fn account_json(key: &str, user: UserId, site: &str) -> Value {
    let link = format!("{site}/intent/user?user_id={user}");
    json!({ key: { "accountId": user.to_string(), "userLink": link } })
}

/// Accounts to which the owner has a relation; `key` names them in the archive.
pub(super) fn load_accounts(
    tx: &mut Tx<'_>,
    query: &ElementQuery,
    key: &str,
    load_page: impl FnOnce(&mut Tx<'_>, UserId, &PageRange) -> Result<Vec<(UserId, i64)>, Fault>,
) -> ElementPageResult {
    let found = load_page(tx, query.user, &query.range())?;
    Ok(edge_page(&found, |other| account_json(key, *other, &query.site)))
}

pub(super) fn load_likes(tx: &mut Tx<'_>, query: &ElementQuery) -> ElementPageResult {
    let found = likes::page_by_user(tx, query.user, &query.range())?;
    let posts = VisiblePosts::load(tx, query, &found)?;
    Ok(edge_page(&found, |post| json!({ "like": posts.to_json(*post) })))
}

/// Posts that the owner has liked or bookmarked and may see now.
pub(super) struct VisiblePosts<'q> {
    posts: Vec<Post>,
    site: &'q str,
}

impl<'q> VisiblePosts<'q> {
    pub(super) fn load(tx: &mut Tx<'_>, query: &'q ElementQuery, found: &[(i64, i64)]) -> Result<Self, Fault> {
        let ids: Vec<PostId> = found.iter().map(|(post, _)| PostId::new(*post)).collect();
        let mut posts = posts::find_by_ids(tx, &ids)?;
        let authors: Vec<UserId> = posts.iter().map(|post| post.author_id).collect();
        let authors = users::find_by_ids(tx, &authors)?;
        let mut visibilities = AuthorVisibilities::load(tx, Viewer::user(query.user), &authors)?;
        visibilities.admit_posts(tx, &posts)?;
        let is_visible = |post: &Post| visibilities.post_visibility(post) == Visibility::Visible;
        posts.retain(|post| post.state == PostState::Live && is_visible(post));
        Ok(Self { posts, site: &query.site })
    }

    /// Without the text of a post that the owner may not see.
    pub(super) fn to_json(&self, id: i64) -> Value {
        let post = self.posts.iter().find(|post| post.id.get() == id);
        let text = post.map(|post| escape_html(&post.text)).unwrap_or_default();
        let link = format!("{}/i/web/status/{id}", self.site);
        json!({ "tweetId": id.to_string(), "fullText": text, "expandedUrl": link })
    }
}

pub(super) fn load_lists(tx: &mut Tx<'_>, query: &ElementQuery) -> ElementPageResult {
    let owner = find_owner(tx, query.user)?;
    let found = lists::page_by_owner(tx, query.user, true, &query.range())?;
    let element = |list: &lists::List| {
        let name = list.name.replace('/', "-");
        json!({ "userListInfo": { "url": format!("{}/{}/lists/{name}", query.site, owner.username) } })
    };
    Ok(ElementPage { elements: found.iter().map(element).collect(), next: next_below(&found, |list| list.id) })
}

/// An element for each conversation of a page of messages.
pub(super) fn load_messages(tx: &mut Tx<'_>, query: &ElementQuery) -> ElementPageResult {
    let ElementPage { elements: mut events, next } = load_message_page(tx, query)?;
    let media = load_message_media(tx, &events)?;
    events.sort_unstable_by_key(|event| (event.conversation.id, std::cmp::Reverse(event.id)));
    let conversations = events.chunk_by(|one, other| one.conversation.id == other.conversation.id);
    let elements = conversations.filter_map(|events| {
        let name = events.first()?.conversation.to_string();
        let events: Vec<Value> = events.iter().map(|event| event_json(event, &media, &query.site)).collect();
        Some(json!({ "dmConversation": { "conversationId": name, "messages": events } }))
    });
    Ok(ElementPage { elements: elements.collect(), next })
}

fn load_message_page(tx: &mut Tx<'_>, query: &ElementQuery) -> ElementPageResult<MessageEvent> {
    let found = messages::inbox_with_conversations(tx, query.user, &query.range())?;
    let ids: Vec<i64> = found.iter().map(|(event, _)| *event).collect();
    Ok(ElementPage { elements: messages::find_events(tx, &ids)?, next: next_below(&found, |(event, _)| *event) })
}

fn load_message_media(tx: &mut Tx<'_>, events: &[MessageEvent]) -> Result<Vec<Media>, Fault> {
    let ids: Vec<i64> = events.iter().filter_map(|event| event.media_id).map(Id::get).collect();
    if ids.is_empty() { Ok(Vec::new()) } else { media::find_by_ids(tx, &ids) }
}

/// The media of a message and the name of its file, if it is stored.
fn attached_file<'m>(event: &MessageEvent, media: &'m [Media]) -> Option<(&'m Media, &'m str)> {
    let item = media.iter().find(|item| event.media_id == Some(item.id))?;
    Some((item, item.file_name()?))
}

/// The address for apps.
fn media_urls(event: &MessageEvent, media: &[Media], site: &str) -> Vec<String> {
    let file = attached_file(event, media);
    let urls = file.map(|(item, name)| format!("{site}/2/dm_conversations/media/{}/{}/{name}", event.id, item.id));
    urls.into_iter().collect()
}

fn event_json(event: &MessageEvent, media: &[Media], site: &str) -> Value {
    let created_at = Id::<()>::new(event.id).created_at().to_string();
    let sender = event.sender_id;
    let users: Vec<String> = event.participant_ids.iter().map(UserId::to_string).collect();
    match event.kind {
        MessageEventKind::Message => {
            let pair = event.conversation.pair;
            let recipient = pair.map(|(one, other)| if one == sender { other } else { one }.to_string());
            json!({ "messageCreate": {
                "recipientId": recipient,
                "text": escape_html(&event.text),
                "mediaUrls": media_urls(event, media, site),
                "senderId": sender.to_string(),
                "id": event.id.to_string(),
                "createdAt": created_at,
            } })
        }
        MessageEventKind::Join => json!({ "participantsJoin": {
            "initiatingUserId": sender.to_string(), "userIds": users, "createdAt": created_at,
        } }),
        MessageEventKind::Leave => json!({ "participantsLeave": { "userIds": users, "createdAt": created_at } }),
    }
}

/// The names in the archive and the paths of the profile's pictures.
pub(super) fn list_profile_files(tx: &mut Tx<'_>, user: &User) -> Result<Vec<(String, String)>, Fault> {
    let mut found = Vec::new();
    for url in [&user.profile_image_url, &user.profile_banner_url] {
        let Some((_, name)) = url.rsplit_once("/media/") else { continue };
        let id = name.split('.').next().and_then(|key| key.rsplit_once('_')).and_then(|(_, id)| Id::parse(id));
        let Some(picture) = id.map(|id| media::find_by_id(tx, id)).transpose()?.flatten() else { continue };
        if picture.owner_id == user.id && picture.file_name() == Some(name) {
            found.push((format!("data/profile_media/{}-{name}", user.id), picture.path));
        }
    }
    Ok(found)
}

/// The names in the archive and the paths of the files that belong to a page of elements.
pub(super) fn list_post_files(tx: &mut Tx<'_>, query: &ElementQuery) -> ElementPageResult<(String, String)> {
    let found = load_own_posts(tx, query.user, query.below, PAGE_SIZE)?;
    let ids: Vec<i64> = found.iter().flat_map(|own| own.post.media.iter().map(|media| media.id)).collect();
    let known = media::find_by_ids(tx, &ids)?;
    let mut files = Vec::new();
    for OwnPost { post, .. } in &found {
        for attached in &post.media {
            let item = known.iter().find(|item| item.id.get() == attached.id);
            if let Some((item, name)) = item.and_then(|item| Some((item, item.file_name()?))) {
                files.push((format!("data/tweets_media/{}-{name}", post.id), item.path.clone()));
            }
        }
    }
    Ok(ElementPage { elements: files, next: next_below(&found, |own| own.post.id) })
}

/// The names in the archive and the paths of the files that belong to a page of elements.
pub(super) fn list_message_files(tx: &mut Tx<'_>, query: &ElementQuery) -> ElementPageResult<(String, String)> {
    let page = load_message_page(tx, query)?;
    let media = load_message_media(tx, &page.elements)?;
    let files = page.elements.iter().filter_map(|event| {
        let (item, name) = attached_file(event, &media)?;
        Some((format!("data/direct_messages_media/{}-{name}", event.id), item.path.clone()))
    });
    Ok(ElementPage { elements: files.collect(), next: page.next })
}
