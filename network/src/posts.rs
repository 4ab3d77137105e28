//! Creation, editing and deletion of posts (contract core §11.1, §11.2).

mod edits;
mod replies;

use std::borrow::Cow;

use base::id::first_snowflake_at;
use base::refusal::ResourceRef;
use base::text::{MAX_POST_WEIGHT, weigh_text};
use base::{AppId, Error, Fault, MediaId, PostId, Refusal, Time, UserId, sorted_distinct};
use serde_json::{Map, Value};
use store::communities::Community;
use store::posts::{self, NewPostDetails, Post, PostState};
use store::users::User;
use store::{Tx, event_log};

pub use self::edits::{EDIT_WINDOW_MS, is_editable_kind};
pub use self::replies::message_link_recipient;
use crate::compose::{self, ComposedText};
use crate::media::MediaCaption;
use crate::polls::NewPoll;
use crate::reports::{self, HeldSubject, SubjectKind};
use crate::{blocked_terms, communities, media, places, polls, users};

/// Weighted length of a premium author's posts (contract core §11.1).
pub const MAX_LONG_LENGTH: u32 = 25_000;
/// As many as 280 code points may have.
const UNCHECKED_BYTES: usize = 1120;
/// Of a text of which people are told by how much it is too long.
const MAX_EXPLAINED_BYTES: usize = 30_000;
/// How long the same text may not be posted again.
const DUPLICATE_WINDOW_MS: i64 = 24 * 3600 * 1000;

/// The author and the app they use.
#[derive(Clone, Copy, Debug)]
pub struct PostAuthor {
    pub user_id: UserId,
    pub app_id: Option<AppId>,
    /// Whether it is a self-serve app, for which replies, quotes and cashtags are limited.
    pub self_serve: bool,
}

#[derive(Clone, Debug, Default)]
pub struct NewPost {
    pub text: String,
    pub reply_to: Option<PostId>,
    /// Users whom the reply does not mention.
    pub exclude_reply_user_ids: Vec<UserId>,
    /// Whether to prepend the mentions of a reply that the text lacks.
    pub auto_populate_reply_metadata: bool,
    pub quote: Option<PostId>,
    pub media_ids: Vec<MediaId>,
    /// Users tagged in the media.
    pub tagged_user_ids: Vec<UserId>,
    pub media_caption: MediaCaption,
    /// The version that it replaces.
    pub edit_of: Option<PostId>,
    pub poll: Option<NewPoll>,
    /// The public id of a place, or empty.
    pub place_id: String,
    pub community_id: Option<i64>,
    /// Whether a community post also appears in the home timelines of the author's followers.
    pub share_with_followers: bool,
    /// `following`, `mentionedUsers`, `subscribers`, `verified`; empty for everyone.
    pub reply_settings: String,
    /// Promoted-only.
    pub nullcast: bool,
    /// Visible to the author's subscribers only.
    pub followers_only: bool,
    pub made_with_ai: bool,
    pub paid_partnership: bool,
    /// May be empty.
    pub card_uri: String,
    /// The link that opens a private conversation, or empty.
    pub direct_message_deep_link: String,
    /// A given id, for generated demo data.
    pub id: Option<PostId>,
}

/// A new post that the rules allow, except that it may repeat another one.
struct CheckedPost {
    user: User,
    composed: ComposedText,
    /// Code points of the mentions that were added to what the author wrote.
    added_mentions: usize,
    /// The term because of which the post is held for a moderator.
    held: Option<String>,
    targets: PostTargets,
    media_keys: String,
}

/// Refused if [`create`] would refuse the post now, unless because it repeats another one.
pub(crate) fn check_new_post(tx: &mut Tx<'_>, author: &PostAuthor, new: &NewPost) -> Result<(), Error> {
    check_post_rules(tx, author, new)?;
    if let Some(poll) = &new.poll {
        poll.build_poll(tx, tx.next_id())?;
    }
    Ok(())
}

/// Who may reply to a post.
pub(crate) const REPLY_SETTINGS: [&str; 5] = ["everyone", "following", "mentionedUsers", "subscribers", "verified"];

fn check_post_rules(tx: &mut Tx<'_>, author: &PostAuthor, new: &NewPost) -> Result<CheckedPost, Error> {
    blocked_terms::prefetch(tx)?;
    crate::profile_fields::validate_choice("reply_settings", &new.reply_settings, &REPLY_SETTINGS)?;
    let user = users::find_writer(tx, author.user_id)?;
    let previous = new.edit_of.map(|id| edits::find_editable_post(tx, &user, id, new)).transpose()?;
    let replied = previous.as_ref().and_then(|post| post.in_reply_to_post_id);
    let is_reply = new.reply_to.or(replied).is_some();
    let counted = if is_reply { replies::skip_leading_mentions(&new.text) } else { &new.text };
    // Before the rest is analyzed, which takes longer.
    if counted.len() > UNCHECKED_BYTES && weigh_text(counted, 0..0).weight > max_weight(&user) {
        return Err(text_too_long(&new.text).into());
    }
    // Before the mentions of a post that the author may not see are added.
    let targets = resolve_targets(tx, author, &user, new, previous)?;
    let text = replies::prepend_mentions(tx, &user, new)?;
    let composed = compose::compose_text(tx, &text, is_reply)?;
    validate_text(&user, &composed, new, &targets)?;
    let shown = match &new.poll {
        Some(poll) => Cow::from(format!("{}\n{}", composed.text, poll.options.join("\n"))),
        None => Cow::from(&composed.text),
    };
    let held = blocked_terms::check_text(tx, "post", &shown, &composed.entities)?;
    check_self_serve_limits(author, &composed)?;
    let media_keys = resolve_media_keys(tx, &user, new)?;
    check_card_exists(tx, &new.card_uri)?;
    // Names are ASCII.
    let added_mentions = text.len() - new.text.len();
    Ok(CheckedPost { user, composed, added_mentions, held, targets, media_keys })
}

pub fn create(tx: &mut Tx<'_>, author: &PostAuthor, new: &NewPost) -> Result<Post, Error> {
    // Serializes posts of one author, for duplicate detection.
    store::users::lock(tx, author.user_id)?;
    let CheckedPost { user, composed, added_mentions, held, targets, media_keys } = check_post_rules(tx, author, new)?;
    let fingerprint = content_fingerprint(&composed.text, new, &media_keys);
    let since = first_snowflake_at(tx.now().plus_ms(-DUPLICATE_WINDOW_MS));
    if targets.previous.is_none() && posts::has_duplicate(tx, user.id, &fingerprint, since)? {
        let detail = "You are not allowed to create a Tweet with duplicate content.";
        return Err(Refusal::forbidden_with_code(187, detail).into());
    }
    let mentioned = list_mentioned_users(&composed, new, &targets, user.id);
    let event_body = creation_event_body(composed.mentioned_from(added_mentions), new, &targets);
    let mut post = build_post(tx, author, new, composed, &targets, media_keys);
    let poll = new.poll.as_ref();
    let poll = poll.map(|poll| poll.build_poll(tx, post.id)).transpose()?;
    post.limited |= held.is_some();
    post.possibly_sensitive |= media::has_sensitive_media(tx, &new.media_ids)?;
    post.poll_id = match &poll {
        Some(poll) => Some(poll.id),
        None => polls::find_card_poll(tx, &new.card_uri)?,
    };
    let details = NewPostDetails {
        fingerprint: Some(fingerprint),
        mentioned,
        replaces: new.edit_of,
        direct_message_deep_link: new.direct_message_deep_link.clone(),
        ..NewPostDetails::default()
    };
    if !posts::insert(tx, &post, &details)? {
        return Err(Fault::new(format!("the id {} is taken", post.id)).into());
    }
    store::media::add_post_uses(tx, &new.media_ids)?;
    media::set_captions(tx, author.user_id, &new.media_ids, &new.media_caption)?;
    store::media::tag_users(tx, post.id, &new.tagged_user_ids)?;
    if let Some(poll) = &poll {
        store::polls::insert(tx, poll)?;
    }
    event_log::append(tx, "post.create", user.id.get(), post.id.get(), &event_body)?;
    if let Some(term) = held {
        reports::report_held(tx, &HeldSubject::new(SubjectKind::Post, post.id.get(), user.id), &term)?;
    }
    Ok(post)
}

/// The body of the log entry: the replaced version and the concerned users, so that log readers can skip irrelevant
/// posts without loading them.
fn creation_event_body(mentioned: Vec<UserId>, new: &NewPost, targets: &PostTargets) -> String {
    let replied = targets.parent.as_ref().map(|post| post.author_id);
    let quoted = targets.quoted.as_ref().map(|post| post.author_id);
    let mut body = Map::new();
    let string_value = |id: Option<String>| id.map(Value::String);
    let members = [
        ("previous_post_id", string_value(new.edit_of.map(|id| id.to_string()))),
        ("replied_user_id", string_value(replied.map(|id| id.to_string()))),
        ("quoted_user_id", string_value(quoted.map(|id| id.to_string()))),
        ("mentioned_ids", (!mentioned.is_empty()).then(|| mentioned.iter().map(UserId::to_string).collect())),
        ("nullcast", new.nullcast.then_some(Value::Bool(true))),
    ];
    for (name, value) in members {
        if let Some(value) = value {
            body.insert(name.to_owned(), value);
        }
    }
    if body.is_empty() { String::new() } else { Value::Object(body).to_string() }
}

/// Everything a new post refers to.
struct PostTargets {
    parent: Option<Post>,
    quoted: Option<Post>,
    previous: Option<Post>,
    community: Option<Community>,
    /// The public id.
    place_id: Option<String>,
}

fn resolve_targets(
    tx: &mut Tx<'_>,
    author: &PostAuthor,
    user: &User,
    new: &NewPost,
    previous: Option<Post>,
) -> Result<PostTargets, Error> {
    // An edit keeps the targets of the first version, which were checked then.
    let is_new = previous.is_none();
    let parent = new.reply_to.filter(|_| is_new);
    let parent = parent.map(|id| replies::find_replyable_post(tx, author, user, id));
    let parent = parent.transpose()?;
    replies::check_excluded_users(tx, &new.exclude_reply_user_ids)?;
    let quoted = new.quote.filter(|_| is_new);
    let quoted = quoted.map(|id| replies::find_quotable_post(tx, author, user, id)).transpose()?;
    // Replies to posts in a closed community stay in it.
    let closed_parent = parent.as_ref().filter(|post| post.members_only);
    let community = closed_parent.and_then(|post| post.community_id).or(new.community_id);
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
    composed: ComposedText,
    targets: &PostTargets,
    media_keys: String,
) -> Post {
    let id = new.id.unwrap_or_else(|| tx.next_id());
    let (parent, previous) = (targets.parent.as_ref(), targets.previous.as_ref());
    let inherited = previous.or(parent).map(|post| post.conversation_id);
    let was_set = |switch: fn(&Post) -> bool| previous.is_some_and(switch);
    let community = targets.community.as_ref();
    Post {
        id,
        author_id: author.user_id,
        created_at: id.created_at(),
        state: PostState::Live,
        text: composed.text,
        lang: composed.lang.to_owned(),
        conversation_id: inherited.unwrap_or(id),
        in_reply_to_post_id: parent.map(|post| post.id).or(previous.and_then(|post| post.in_reply_to_post_id)),
        in_reply_to_user_id: parent.map(|post| post.author_id).or(previous.and_then(|post| post.in_reply_to_user_id)),
        quoted_post_id: (targets.quoted.as_ref().map(|post| post.id)).or(previous.and_then(|post| post.quoted_post_id)),
        repost_of_id: None,
        edit_root_id: previous.map(|post| post.edit_root_id.unwrap_or(post.id)),
        edits_remaining: edits::remaining_edits(previous),
        community_id: community.map(|community| community.id),
        place_id: targets.place_id.clone(),
        card_uri: new.card_uri.clone(),
        reply_settings: replies::resolve_reply_settings(new, previous),
        nullcast: new.nullcast,
        followers_only: new.followers_only || was_set(|post| post.followers_only),
        possibly_sensitive: was_set(|post| post.possibly_sensitive),
        paid_partnership: new.paid_partnership || was_set(|post| post.paid_partnership),
        made_with_ai: new.made_with_ai || was_set(|post| post.made_with_ai),
        entities: composed.entities,
        short_entities: composed.short_entities,
        context_annotations: composed.context_annotations,
        display_start: composed.display_start,
        display_end: composed.display_end,
        media_keys,
        poll_id: None,
        geo: String::new(),
        withheld: previous.map_or_else(String::new, |post| post.withheld.clone()),
        app_id: author.app_id,
        unshared: community.is_some() && !new.share_with_followers,
        members_only: community.is_some_and(communities::is_closed),
        limited: previous.is_some_and(|post| post.limited),
        like_count: 0,
        reply_count: 0,
        repost_count: 0,
        quote_count: 0,
        bookmark_count: 0,
        impression_count: 0,
    }
}

fn validate_text(user: &User, composed: &ComposedText, new: &NewPost, targets: &PostTargets) -> Result<(), Refusal> {
    let empty = new.text.trim().is_empty();
    let has_attachment = !new.media_ids.is_empty() || !new.card_uri.is_empty() || new.poll.is_some();
    let has_quote = new.quote.is_some() || targets.previous.as_ref().is_some_and(|post| post.quoted_post_id.is_some());
    if empty && !has_attachment && !has_quote {
        return Err(Refusal::missing_parameter("text"));
    }
    let limit = max_weight(user);
    let weight = weigh_text(&composed.text, 0..composed.unweighted_bytes);
    // An empty text is allowed with media or a quote.
    if weight.weight <= limit && (weight.is_valid || empty) {
        return Ok(());
    }
    if weight.weight > limit {
        return Err(text_too_long(&composed.text));
    }
    Err(Refusal::invalid_parameter("text", truncate_value(&composed.text), "Your Tweet text is not valid."))
}

/// Of the texts of a user's posts.
pub fn max_weight(user: &User) -> u32 {
    if user.subscription_type == "None" { MAX_POST_WEIGHT } else { MAX_LONG_LENGTH }
}

/// By how much the text of a post is too heavy; none if it is not, or so long that weighing it would take long.
pub fn excess_weight(user: &User, new: &NewPost) -> Option<u32> {
    let counted = if new.reply_to.is_some() { replies::skip_leading_mentions(&new.text) } else { &new.text };
    let is_short = counted.len() <= MAX_EXPLAINED_BYTES;
    let weight = is_short.then(|| weigh_text(counted, 0..0).weight)?;
    weight.checked_sub(max_weight(user)).filter(|excess| *excess > 0)
}

fn text_too_long(text: &str) -> Refusal {
    let message = "Your Tweet text is too long. For more information on how Twitter determines \
                   text length see https://github.com/twitter/twitter-text.";
    Refusal::invalid_parameter("text", truncate_value(text), message)
}

/// The part of a value that a refusal repeats.
fn truncate_value(text: &str) -> String {
    text.chars().take(100).collect()
}

fn check_self_serve_limits(author: &PostAuthor, composed: &ComposedText) -> Result<(), Refusal> {
    if author.self_serve && composed.cashtags > 1 {
        return Err(Refusal::forbidden("A post may contain at most one cashtag."));
    }
    Ok(())
}

/// The media keys, in order. Refuses media that the author may not post.
fn resolve_media_keys(tx: &mut Tx<'_>, user: &User, new: &NewPost) -> Result<String, Error> {
    let attached_media = media::find_attachable_media(tx, user.id, &new.media_ids)?;
    let tagged_users = store::users::find_by_ids(tx, &new.tagged_user_ids)?;
    let unknown = new.tagged_user_ids.iter();
    let mut unknown = unknown.filter(|id| tagged_users.iter().all(|user| user.id != **id));
    if let Some(id) = unknown.next() {
        let message = "Your tagged user IDs are invalid.";
        return Err(Refusal::invalid_parameter("media.tagged_user_ids", id, message).into());
    }
    let keys: Vec<&str> = attached_media.iter().map(|string_value| string_value.media_key.as_str()).collect();
    Ok(keys.join(","))
}

pub fn has_card(tx: &mut Tx<'_>, uri: &str) -> Result<bool, Fault> {
    let id = uri.strip_prefix("card://").and_then(|id| id.parse().ok());
    match id {
        Some(id) => Ok(polls::find_card_poll(tx, uri)?.is_some() || store::ads::cards::exists(tx, id)?),
        None => Ok(false),
    }
}

fn check_card_exists(tx: &mut Tx<'_>, uri: &str) -> Result<(), Error> {
    if uri.is_empty() || has_card(tx, uri)? {
        return Ok(());
    }
    Err(Refusal::invalid_parameter("card_uri", truncate_value(uri), "There is no such card.").into())
}

fn content_fingerprint(text: &str, new: &NewPost, media_keys: &str) -> Vec<u8> {
    let targets = [new.reply_to.map(PostId::get), new.quote.map(PostId::get), new.community_id];
    let targets = targets.map(|id| id.map(|id| id.to_string()).unwrap_or_default());
    let nullcast = if new.nullcast { "nullcast" } else { "" };
    let mut parts = vec![text.trim(), media_keys, &new.card_uri, &new.direct_message_deep_link, nullcast];
    parts.extend(targets.iter().map(String::as_str));
    parts.extend(new.poll.iter().flat_map(|poll| &poll.options).map(String::as_str));
    base::secret::digest(&parts.join("\u{0}")).into_iter().take(16).collect()
}

/// Users whose mentions timeline includes the post: those it mentions, and the author it replies to.
fn list_mentioned_users(composed: &ComposedText, new: &NewPost, targets: &PostTargets, author: UserId) -> Vec<UserId> {
    let parent = targets.parent.iter().map(|post| post.author_id);
    let parent = parent.filter(|user| !new.exclude_reply_user_ids.contains(user));
    let mut all: Vec<UserId> = composed.mentioned.iter().copied().chain(parent).collect();
    all.retain(|user| *user != author);
    sorted_distinct(all)
}

/// Deletes all versions of a post.
pub fn delete(tx: &mut Tx<'_>, user: UserId, id: PostId) -> Result<(), Error> {
    // An edit at the same time would leave its version.
    store::users::lock(tx, user)?;
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
    let expires_at = tx.now();
    let deleted = delete_with_media(tx, &newest, expires_at)?;
    if deleted.is_empty() {
        return Err(Refusal::NotFound(ResourceRef::new("tweet", "id", id)).into());
    }
    Ok(record_deletions(tx, &deleted)?)
}

/// Deletes all versions of a live post of an account that is erased.
pub fn erase(tx: &mut Tx<'_>, post: &Post) -> Result<(), Fault> {
    let expires_at = tx.now();
    let deleted = delete_with_media(tx, post, expires_at)?;
    record_deletions(tx, &deleted)
}

/// Deletes all versions of a live post for a moderator. Clients that keep copies are told that it may come back. Its
/// files are kept until `expires_at`, and are served to nobody meanwhile, unless something else uses them.
pub fn remove(tx: &mut Tx<'_>, post: &Post, expires_at: Time) -> Result<(), Error> {
    let attached_media = media::list_attached_media(tx, post)?;
    let deleted = delete_with_media(tx, post, expires_at)?;
    if deleted.is_empty() {
        return Err(Refusal::NotFound(ResourceRef::new("tweet", "id", post.id)).into());
    }
    store::media::withhold_unused(tx, &attached_media)?;
    for (version, author) in &deleted {
        store::media::remove_tags(tx, *version)?;
        let body = if *version == post.id { REMOVAL_BODY } else { "" };
        event_log::append(tx, "post.delete", author.get(), version.get(), body)?;
    }
    Ok(())
}

/// The body of the log entry about a post that a moderator removed.
const REMOVAL_BODY: &str = r#"{"removed":true}"#;

/// Its files, unless something else uses them, are deleted at `expires_at`.
fn delete_with_media(tx: &mut Tx<'_>, newest: &Post, expires_at: Time) -> Result<Vec<(PostId, UserId)>, Fault> {
    let attached_media = media::list_attached_media(tx, newest)?;
    let deleted = posts::delete(tx, newest)?;
    if !deleted.is_empty() {
        store::media::remove_post_uses(tx, &attached_media, expires_at)?;
    }
    Ok(deleted)
}

/// Deletes some of the reposts, likes and bookmarks that deleted posts have left. Returns false if none has any.
pub fn continue_removal(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let Some(post) = posts::find_incomplete_removal(tx)? else {
        return Ok(false);
    };
    let deleted = posts::continue_removal(tx, post)?;
    record_deletions(tx, &deleted)?;
    Ok(true)
}

/// Logs deletions in their authors' names and removes media tags.
pub(crate) fn record_deletions(tx: &mut Tx<'_>, deleted: &[(PostId, UserId)]) -> Result<(), Fault> {
    for (post, author) in deleted {
        store::media::remove_tags(tx, *post)?;
        event_log::append(tx, "post.delete", author.get(), post.get(), "")?;
    }
    Ok(())
}
