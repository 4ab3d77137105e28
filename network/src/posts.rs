//! Writing, editing and deleting posts (contract §11.1, §11.2).

mod edits;
mod replies;

use base::id::{first_snowflake_at, marker};
use base::refusal::ResourceRef;
use base::text::{MAX_POST_WEIGHT, weigh_text};
use base::{AppId, Error, Fault, Id, PostId, Refusal, UserId};
use serde_json::{Map, Value};
use store::communities::Community;
use store::posts::{self, NewPostDetails, Post, PostState};
use store::users::User;
use store::{Tx, event_log};

pub use self::edits::{EDIT_WINDOW_MS, is_editable_kind};
use crate::compose::{self, ComposedText};
use crate::polls::NewPoll;
use crate::{communities, media, places, polls, users};

/// Weighted length of a premium author's posts (spec §8).
pub const MAX_LONG_LENGTH: u32 = 25_000;
/// How long the same text may not be posted again.
const DUPLICATE_WINDOW_MS: i64 = 24 * 3600 * 1000;

/// Who posts, and through what.
#[derive(Clone, Copy, Debug)]
pub struct PostAuthor {
    /// The user.
    pub user_id: UserId,
    /// The app.
    pub app_id: Option<AppId>,
    /// The app is a self-serve one, which may not reply or use cashtags freely.
    pub self_serve: bool,
}

/// A new post.
#[derive(Clone, Debug, Default)]
pub struct NewPost {
    /// The text.
    pub text: String,
    /// The post it replies to.
    pub reply_to: Option<PostId>,
    /// Users that the reply does not mention.
    pub exclude_reply_user_ids: Vec<UserId>,
    /// The reply begins with mentions of whom it replies to, where its text does not.
    pub auto_populate_reply_metadata: bool,
    /// The post it quotes.
    pub quote: Option<PostId>,
    /// Media of the author, by id.
    pub media_ids: Vec<Id<marker::MediaMarker>>,
    /// Users who are shown in them.
    pub tagged_user_ids: Vec<UserId>,
    /// The version that it takes the place of.
    pub edit_of: Option<PostId>,
    /// The poll it carries.
    pub poll: Option<NewPoll>,
    /// The place it is tagged with, as it is spoken; or empty.
    pub place_id: String,
    /// The community it goes to.
    pub community_id: Option<i64>,
    /// It goes to the home timelines of the author's followers as well as to the community.
    pub share_with_followers: bool,
    /// `following`, `mentionedUsers`, `subscribers`, `verified`; empty: everyone.
    pub reply_settings: String,
    /// For promotion only.
    pub nullcast: bool,
    /// For subscribers of the author only.
    pub followers_only: bool,
    /// Marked as made with AI.
    pub made_with_ai: bool,
    /// Marked as a paid partnership.
    pub paid_partnership: bool,
    /// The card it carries, or empty.
    pub card_uri: String,
    /// The address that opens a private conversation, or empty.
    pub direct_message_deep_link: String,
    /// An id that a seed brings along.
    pub id: Option<PostId>,
}

/// Writes a post.
pub fn create(tx: &mut Tx<'_>, author: &PostAuthor, new: &NewPost) -> Result<Post, Error> {
    // Two equal posts at once must see each other.
    store::users::lock(tx, author.user_id)?;
    let user = users::find_active(tx, author.user_id)?;
    let previous = new
        .edit_of
        .map(|id| edits::find_editable_post(tx, &user, id, new))
        .transpose()?;
    let text = replies::prepend_mentions(tx, &user, new)?;
    let replied = previous.as_ref().and_then(|post| post.in_reply_to_post_id);
    let reading = compose::compose_text(tx, &text, new.reply_to.or(replied).is_some())?;
    validate_text(&user, &reading, new)?;
    let targets = resolve_targets(tx, author, &user, new, previous)?;
    check_self_serve_limits(author, &reading)?;
    let media_keys = resolve_media_keys(tx, &user, new)?;
    let fingerprint = content_fingerprint(&reading.text, new, &media_keys);
    let since = first_snowflake_at(tx.now().plus_ms(-DUPLICATE_WINDOW_MS));
    if targets.previous.is_none() && posts::has_duplicate(tx, user.id, &fingerprint, since)? {
        let detail = "You are not allowed to create a Tweet with duplicate content.";
        return Err(Refusal::forbidden_with_code(187, detail).into());
    }
    let mentioned = list_mentioned_users(&reading, new, &targets, user.id);
    let told = creation_event_body(&reading, new, &targets);
    let mut post = build_post(tx, author, new, reading, &targets, media_keys);
    let poll = new.poll.as_ref();
    let poll = poll.map(|poll| poll.build_poll(tx, post.id)).transpose()?;
    post.poll_id = match &poll {
        Some(poll) => Some(poll.id),
        None => polls::find_card_poll(tx, &new.card_uri)?,
    };
    let beside = NewPostDetails {
        fingerprint: Some(fingerprint),
        mentioned,
        replaces: new.edit_of,
        direct_message_deep_link: new.direct_message_deep_link.clone(),
        ..NewPostDetails::default()
    };
    if !posts::insert(tx, &post, &beside)? {
        return Err(Fault::new(format!("the id {} is taken", post.id)).into());
    }
    store::media::add_post_uses(tx, &new.media_ids)?;
    store::media::tag_users(tx, post.id, &new.tagged_user_ids)?;
    if let Some(poll) = &poll {
        store::polls::insert(tx, poll)?;
    }
    event_log::append(tx, "post.create", user.id.get(), post.id.get(), &told)?;
    Ok(post)
}

/// What the log tells of a new post: the version that it replaces, and whom else it concerns.
/// Whoever follows the log need not look at posts that concern nobody who asks.
fn creation_event_body(reading: &ComposedText, new: &NewPost, targets: &PostTargets) -> String {
    let replied = targets.parent.as_ref().map(|post| post.author_id);
    let quoted = targets.quoted.as_ref().map(|post| post.author_id);
    let mut written = if new.auto_populate_reply_metadata {
        // Those who are addressed at the start are so by being replied to.
        reading.displayed_mentions()
    } else {
        reading.mentioned.clone()
    };
    written.retain(|user| Some(*user) != replied);
    let mut body = Map::new();
    let one = |id: Option<String>| id.map(Value::String);
    let members = [
        ("previous_post_id", one(new.edit_of.map(|id| id.to_string()))),
        ("replied_user_id", one(replied.map(|id| id.to_string()))),
        ("quoted_user_id", one(quoted.map(|id| id.to_string()))),
        (
            "mentioned_ids",
            (!written.is_empty()).then(|| written.iter().map(UserId::to_string).collect()),
        ),
    ];
    for (name, value) in members {
        if let Some(value) = value {
            body.insert(name.to_owned(), value);
        }
    }
    if body.is_empty() {
        String::new()
    } else {
        Value::Object(body).to_string()
    }
}

/// What a new post has to do with.
struct PostTargets {
    parent: Option<Post>,
    quoted: Option<Post>,
    previous: Option<Post>,
    community: Option<Community>,
    /// As it is spoken.
    place_id: Option<String>,
}

fn resolve_targets(
    tx: &mut Tx<'_>,
    author: &PostAuthor,
    user: &User,
    new: &NewPost,
    previous: Option<Post>,
) -> Result<PostTargets, Error> {
    // An edit keeps what it replies to and quotes; that was looked at when it was first written.
    let first = previous.is_none();
    let parent = new.reply_to.filter(|_| first);
    let parent = parent.map(|id| replies::find_replyable_post(tx, author, user, id));
    let parent = parent.transpose()?;
    replies::check_excluded_users(tx, &new.exclude_reply_user_ids)?;
    let quoted = new.quote.filter(|_| first);
    let quoted = quoted.map(|id| replies::find_quotable_post(tx, user, id)).transpose()?;
    // A reply does not carry out of a closed community what was said in it.
    let inside = parent.as_ref().filter(|post| post.members_only);
    let community = new.community_id.or(inside.and_then(|post| post.community_id));
    let community = community.map(|id| communities::find_postable_community(tx, user.id, id));
    let place = Some(new.place_id.as_str()).filter(|place| !place.is_empty());
    let place = place.map(|place| places::resolve_tagged_place(tx, place)).transpose()?;
    replies::check_deep_link(tx, &new.direct_message_deep_link)?;
    Ok(PostTargets {
        parent,
        quoted,
        place_id: place.or_else(|| previous.as_ref()?.place_id.clone()),
        community: community.transpose()?,
        previous,
    })
}

fn build_post(
    tx: &mut Tx<'_>,
    author: &PostAuthor,
    new: &NewPost,
    reading: ComposedText,
    targets: &PostTargets,
    media_keys: String,
) -> Post {
    let id = new.id.unwrap_or_else(|| tx.next_id());
    let (parent, previous) = (targets.parent.as_ref(), targets.previous.as_ref());
    let inherited = previous.or(parent).map(|post| post.conversation_id);
    let kept = |switch: fn(&Post) -> bool| previous.is_some_and(switch);
    let community = targets.community.as_ref();
    Post {
        id,
        author_id: author.user_id,
        created_at: id.created_at(),
        state: PostState::Live,
        text: reading.text,
        lang: reading.lang.to_owned(),
        conversation_id: inherited.unwrap_or(id),
        in_reply_to_post_id: parent
            .map(|post| post.id)
            .or(previous.and_then(|post| post.in_reply_to_post_id)),
        in_reply_to_user_id: parent
            .map(|post| post.author_id)
            .or(previous.and_then(|post| post.in_reply_to_user_id)),
        quoted_post_id: (targets.quoted.as_ref().map(|post| post.id)).or(previous.and_then(|post| post.quoted_post_id)),
        repost_of_id: None,
        edit_root_id: previous.map(|post| post.edit_root_id.unwrap_or(post.id)),
        edits_remaining: edits::remaining_edits(previous),
        community_id: community.map(|community| community.id),
        place_id: targets.place_id.clone(),
        card_uri: new.card_uri.clone(),
        reply_settings: replies::resolve_reply_settings(new, previous),
        nullcast: new.nullcast,
        followers_only: new.followers_only || kept(|post| post.followers_only),
        possibly_sensitive: kept(|post| post.possibly_sensitive),
        paid_partnership: new.paid_partnership || kept(|post| post.paid_partnership),
        made_with_ai: new.made_with_ai || kept(|post| post.made_with_ai),
        entities: reading.entities,
        short_entities: reading.short_entities,
        display_start: reading.display_start,
        display_end: reading.display_end,
        media_keys,
        poll_id: None,
        geo: String::new(),
        withheld: previous.map_or_else(String::new, |post| post.withheld.clone()),
        app_id: author.app_id,
        unshared: community.is_some() && !new.share_with_followers,
        members_only: community.is_some_and(|community| community.access == "Closed"),
        like_count: 0,
        reply_count: 0,
        repost_count: 0,
        quote_count: 0,
        bookmark_count: 0,
        impression_count: 0,
    }
}

fn validate_text(user: &User, reading: &ComposedText, new: &NewPost) -> Result<(), Refusal> {
    let empty = new.text.trim().is_empty();
    let carries = !new.media_ids.is_empty() || !new.card_uri.is_empty() || new.poll.is_some();
    if empty && !carries && new.quote.is_none() {
        return Err(Refusal::missing_parameter("text"));
    }
    let limit = if user.subscription_type == "None" {
        MAX_POST_WEIGHT
    } else {
        MAX_LONG_LENGTH
    };
    let weighed = weigh_text(&reading.text, 0..reading.unweighted_bytes);
    // An empty text is no text to be judged; a medium or a quote stands for it.
    if weighed.weight <= limit && (weighed.is_valid || empty) {
        return Ok(());
    }
    let message = "Your Tweet text is too long. For more information on how Twitter determines \
                   text length see https://github.com/twitter/twitter-text.";
    let message = if weighed.weight > limit {
        message
    } else {
        "Your Tweet text is not valid."
    };
    Err(Refusal::invalid_parameter(
        "text",
        truncate_value(&reading.text),
        message,
    ))
}

/// As much of a value as a refusal repeats.
fn truncate_value(text: &str) -> String {
    text.chars().take(100).collect()
}

fn check_self_serve_limits(author: &PostAuthor, reading: &ComposedText) -> Result<(), Refusal> {
    if author.self_serve && reading.cashtags > 1 {
        return Err(Refusal::forbidden("A post may contain at most one cashtag."));
    }
    Ok(())
}

/// The keys of the media that the author may post, in order.
fn resolve_media_keys(tx: &mut Tx<'_>, user: &User, new: &NewPost) -> Result<String, Error> {
    let carried = media::find_attachable_media(tx, user.id, &new.media_ids)?;
    let known = store::users::find_by_ids(tx, &new.tagged_user_ids)?;
    let unknown = new.tagged_user_ids.iter();
    let mut unknown = unknown.filter(|id| known.iter().all(|user| user.id != **id));
    if let Some(id) = unknown.next() {
        let message = "Your tagged user IDs are invalid.";
        return Err(Refusal::invalid_parameter("media.tagged_user_ids", id, message).into());
    }
    let keys: Vec<&str> = carried.iter().map(|one| one.media_key.as_str()).collect();
    Ok(keys.join(","))
}

fn content_fingerprint(text: &str, new: &NewPost, media_keys: &str) -> Vec<u8> {
    let targets = [new.reply_to, new.quote].map(|id| id.map_or(0, PostId::get));
    let options = new.poll.as_ref().map(|poll| &poll.options);
    let whole = format!(
        "{}\u{0}{targets:?}\u{0}{media_keys}\u{0}{}\u{0}{options:?}\u{0}{:?}",
        text.trim(),
        new.nullcast,
        new.community_id
    );
    base::secret::digest(&whole).into_iter().take(16).collect()
}

/// Whose mentions timeline the post goes to: those it names, and whom it replies to.
fn list_mentioned_users(reading: &ComposedText, new: &NewPost, targets: &PostTargets, author: UserId) -> Vec<UserId> {
    let parent = targets.parent.iter().map(|post| post.author_id);
    let parent = parent.filter(|user| !new.exclude_reply_user_ids.contains(user));
    let mut all: Vec<UserId> = reading.mentioned.iter().copied().chain(parent).collect();
    all.retain(|user| *user != author);
    all.sort_unstable();
    all.dedup();
    all
}

/// Deletes a post of the user, with all its versions.
pub fn delete(tx: &mut Tx<'_>, user: UserId, id: PostId) -> Result<(), Error> {
    let post = posts::find_by_id(tx, id)?.filter(|post| matches!(post.state, PostState::Live | PostState::Superseded));
    let post = post.ok_or_else(|| Refusal::NotFound(ResourceRef::new("tweet", "id", id)))?;
    if post.author_id != user {
        return Err(Refusal::forbidden("You are not authorized to delete this Tweet.").into());
    }
    let newest = match post.edit_root_id {
        Some(root) if post.state == PostState::Superseded => posts::newest_version(tx, root)?,
        _ => None,
    };
    let newest = newest.unwrap_or(post);
    let carried = media::list_attached_media(tx, &newest)?;
    let gone = posts::delete(tx, &newest)?;
    if gone.is_empty() {
        return Err(Refusal::NotFound(ResourceRef::new("tweet", "id", id)).into());
    }
    let now = tx.now();
    store::media::remove_post_uses(tx, &carried, now)?;
    Ok(record_deletions(tx, &gone)?)
}

/// Says of deleted posts that they are gone, each in its author's name.
pub(crate) fn record_deletions(tx: &mut Tx<'_>, gone: &[(PostId, UserId)]) -> Result<(), Fault> {
    for (post, author) in gone {
        store::media::remove_tags(tx, *post)?;
        event_log::append(tx, "post.delete", author.get(), post.get(), "")?;
    }
    Ok(())
}
