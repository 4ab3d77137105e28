//! Writing, editing and deleting posts (contract §11.1, §11.2).

use base::id::{first_at, kind};
use base::refusal::Subject;
use base::text::{LENGTH, weigh};
use base::{AppId, Fault, Id, PostId, Refusal, Stop, UserId};
use store::posts::{self, Beside, Post, State};
use store::users::User;
use store::{Tx, follows, log, media};

use crate::compose::{self, Reading};
use crate::users;
use crate::visibility::{Bar, bar_of_post};

/// Weighted length of a premium author's posts (spec §8).
pub const LONG_LENGTH: u32 = 25_000;
/// How long the same text may not be posted again.
const DUPLICATE_MS: i64 = 24 * 3600 * 1000;
/// How long a post can be edited (spec §8).
pub const EDIT_MS: i64 = 3600 * 1000;
/// How often.
const EDITS: i64 = 5;

/// Who posts, and through what.
#[derive(Clone, Copy, Debug)]
pub struct Author {
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
    /// The post it quotes.
    pub quote: Option<PostId>,
    /// Media of the author, by id.
    pub media_ids: Vec<Id<kind::Media>>,
    /// The version that it takes the place of.
    pub edit_of: Option<PostId>,
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
    /// An id that a seed brings along.
    pub id: Option<PostId>,
}

/// Writes a post.
pub fn create(tx: &mut Tx<'_>, author: &Author, new: &NewPost) -> Result<Post, Stop> {
    // Two equal posts at once must see each other.
    store::users::lock(tx, author.user_id)?;
    let user = users::active(tx, author.user_id)?;
    let reading = compose::read(tx, &new.text, new.reply_to.is_some())?;
    check_length(&user, &reading, new)?;
    let previous = new.edit_of.map(|id| editable(tx, &user, id)).transpose()?;
    let parent = new
        .reply_to
        .map(|id| replied_to(tx, author, &user, id))
        .transpose()?;
    let quoted = new.quote.map(|id| quotable(tx, &user, id)).transpose()?;
    check_self_serve(author, &reading)?;
    let media_keys = media_keys(tx, &user, &new.media_ids)?;
    let fingerprint = fingerprint(&reading.text, new, &media_keys);
    let since = first_at(tx.now().plus_ms(-DUPLICATE_MS));
    if previous.is_none() && posts::repeats(tx, user.id, &fingerprint, since)? {
        let detail = "You are not allowed to create a Tweet with duplicate content.";
        return Err(Refusal::forbidden_as(187, detail).into());
    }
    let targets = Targets {
        parent,
        quoted,
        previous,
    };
    let mentioned = mentioned(&reading, new, &targets, user.id);
    let post = assemble(tx, author, new, reading, &targets, media_keys);
    let beside = Beside {
        fingerprint: Some(fingerprint),
        mentioned,
        replaces: new.edit_of,
        ..Beside::default()
    };
    if !posts::insert(tx, &post, &beside)? {
        return Err(Fault::new(format!("the id {} is taken", post.id)).into());
    }
    log::append(tx, "post.create", user.id.get(), post.id.get(), "")?;
    Ok(post)
}

/// The posts that a new one has to do with.
struct Targets {
    parent: Option<Post>,
    quoted: Option<Post>,
    previous: Option<Post>,
}

fn assemble(
    tx: &mut Tx<'_>,
    author: &Author,
    new: &NewPost,
    reading: Reading,
    targets: &Targets,
    media_keys: String,
) -> Post {
    let id = new.id.unwrap_or_else(|| tx.next_id());
    let (parent, previous) = (targets.parent.as_ref(), targets.previous.as_ref());
    let inherited = previous.or(parent).map(|post| post.conversation_id);
    let settings = if new.reply_settings.is_empty() {
        "everyone"
    } else {
        &new.reply_settings
    };
    Post {
        id,
        author_id: author.user_id,
        created_at: id.created_at(),
        state: State::Live,
        text: reading.text,
        lang: reading.lang.to_owned(),
        conversation_id: inherited.unwrap_or(id),
        in_reply_to_post_id: new
            .reply_to
            .or(previous.and_then(|post| post.in_reply_to_post_id)),
        in_reply_to_user_id: parent
            .map(|post| post.author_id)
            .or(previous.and_then(|post| post.in_reply_to_user_id)),
        quoted_post_id: targets.quoted.as_ref().or(None).map(|post| post.id),
        repost_of_id: None,
        edit_root_id: previous.map(|post| post.edit_root_id.unwrap_or(post.id)),
        edits_remaining: previous.map_or(EDITS, |post| post.edits_remaining - 1),
        community_id: None,
        place_id: None,
        card_uri: new.card_uri.clone(),
        reply_settings: settings.to_owned(),
        nullcast: new.nullcast,
        followers_only: new.followers_only,
        possibly_sensitive: false,
        paid_partnership: new.paid_partnership,
        made_with_ai: new.made_with_ai,
        entities: reading.entities,
        short_entities: reading.short_entities,
        display_start: reading.display_start,
        display_end: reading.display_end,
        media_keys,
        poll_id: None,
        geo: String::new(),
        withheld: String::new(),
        app_id: author.app_id,
        like_count: 0,
        reply_count: 0,
        repost_count: 0,
        quote_count: 0,
        bookmark_count: 0,
        impression_count: 0,
    }
}

fn check_length(user: &User, reading: &Reading, new: &NewPost) -> Result<(), Refusal> {
    let empty = reading.text.trim().is_empty();
    if empty && new.media_ids.is_empty() && new.quote.is_none() && new.card_uri.is_empty() {
        return Err(Refusal::missing("text"));
    }
    let limit = if user.subscription_type == "None" {
        LENGTH
    } else {
        LONG_LENGTH
    };
    let weighed = weigh(&reading.text, 0..reading.free_bytes);
    // An empty text is no text to be judged; a medium or a quote stands for it.
    if weighed.weight <= limit && (weighed.sound || empty) {
        return Ok(());
    }
    let message = "Your Tweet text is too long. For more information on how Twitter determines \
                   text length see https://github.com/twitter/twitter-text.";
    let message = if weighed.weight > limit {
        message
    } else {
        "Your Tweet text is not valid."
    };
    Err(Refusal::invalid("text", shortened(&reading.text), message))
}

/// As much of a value as a refusal repeats.
fn shortened(text: &str) -> String {
    text.chars().take(100).collect()
}

/// The post to be edited, if this user may.
fn editable(tx: &mut Tx<'_>, user: &User, id: PostId) -> Result<Post, Stop> {
    let refuse = |detail: &'static str| Stop::from(Refusal::forbidden(detail));
    let post = posts::by_id(tx, id)?.filter(|post| post.state != State::Deleted);
    let post = post
        .filter(|post| post.author_id == user.id)
        .ok_or_else(|| {
            let message = "Your previous post ID is invalid.";
            Refusal::invalid("edit_options.previous_post_id", id, message)
        })?;
    if user.subscription_type == "None" {
        return Err(refuse("Editing posts needs a premium subscription."));
    }
    if post.state == State::Superseded {
        return Err(refuse("Only the newest version of a post can be edited."));
    }
    if !is_editable_kind(&post) {
        return Err(refuse("Posts of this kind cannot be edited."));
    }
    let first = post.edit_root_id.unwrap_or(post.id).created_at();
    if post.edits_remaining <= 0 || tx.now() > first.plus_ms(EDIT_MS) {
        return Err(refuse("This post can no longer be edited."));
    }
    Ok(post)
}

/// Whether a post is of a kind that can be edited (contract §11.2).
pub fn is_editable_kind(post: &Post) -> bool {
    let to_others = post
        .in_reply_to_user_id
        .is_some_and(|user| user != post.author_id);
    let special = post.repost_of_id.is_some() || post.poll_id.is_some() || post.nullcast;
    !(to_others || special || post.community_id.is_some())
}

/// The post to be replied to, if this user may.
fn replied_to(tx: &mut Tx<'_>, author: &Author, user: &User, id: PostId) -> Result<Post, Stop> {
    let Some(post) = posts::by_id(tx, id)? else {
        let message = "Your reply tweet ID is invalid.";
        return Err(Refusal::invalid("reply.in_reply_to_tweet_id", id, message).into());
    };
    check_visible(tx, user, &post)?;
    if post.author_id == user.id {
        return Ok(post);
    }
    let root = posts::by_id(tx, post.conversation_id)?;
    if let Some(root) = &root
        && !may_reply(tx, user, root)?
    {
        let detail = "The original Tweet author restricted who can reply to this Tweet.";
        return Err(Refusal::forbidden_as(433, detail).into());
    }
    if author.self_serve && !is_summoned(tx, user.id, &post)? {
        let detail = "Reply to this conversation is not allowed because you have not been \
                      mentioned or otherwise engaged by the author of the post you are replying to.";
        return Err(Refusal::forbidden(detail).into());
    }
    Ok(post)
}

/// Refuses a target of a reply or a quote that this user may not act on.
fn check_visible(tx: &mut Tx<'_>, user: &User, post: &Post) -> Result<(), Stop> {
    let Some(bar) = bar_of_post(tx, user.id, post)? else {
        return Ok(());
    };
    if bar == Bar::Blocked {
        let subject = Subject::new("tweet", "id", post.id);
        return Err(bar.refusal(subject).into());
    }
    let detail = "You attempted to reply to a Tweet that is deleted or not visible to you.";
    Err(Refusal::forbidden_as(385, detail).into())
}

/// Whether the root's author lets this user reply.
fn may_reply(tx: &mut Tx<'_>, user: &User, root: &Post) -> Result<bool, Fault> {
    if root.author_id == user.id {
        return Ok(true);
    }
    match root.reply_settings.as_str() {
        "following" => follows::exists(tx, root.author_id, user.id),
        "mentionedUsers" => posts::mentions(tx, user.id, root.id),
        "verified" => Ok(user.verified),
        // Nobody can subscribe to anybody yet.
        "subscribers" => Ok(false),
        _ => Ok(true),
    }
}

/// Whether the author of a post called for this user, by a mention or by quoting them.
fn is_summoned(tx: &mut Tx<'_>, user: UserId, post: &Post) -> Result<bool, Fault> {
    if posts::mentions(tx, user, post.id)? {
        return Ok(true);
    }
    let Some(quoted) = post.quoted_post_id else {
        return Ok(false);
    };
    Ok(posts::by_id(tx, quoted)?.is_some_and(|quoted| quoted.author_id == user))
}

/// The post to be quoted, if this user may see it.
fn quotable(tx: &mut Tx<'_>, user: &User, id: PostId) -> Result<Post, Stop> {
    let Some(post) = posts::by_id(tx, id)? else {
        let message = "Your quote tweet ID is invalid.";
        return Err(Refusal::invalid("quote_tweet_id", id, message).into());
    };
    check_visible(tx, user, &post)?;
    Ok(post)
}

fn check_self_serve(author: &Author, reading: &Reading) -> Result<(), Refusal> {
    if author.self_serve && reading.cashtags > 1 {
        return Err(Refusal::forbidden(
            "A post may contain at most one cashtag.",
        ));
    }
    Ok(())
}

/// The keys of the author's own media, in order.
fn media_keys(tx: &mut Tx<'_>, user: &User, ids: &[Id<kind::Media>]) -> Result<String, Stop> {
    let numbers: Vec<i64> = ids.iter().map(|id| id.get()).collect();
    let found = media::by_ids(tx, &numbers)?;
    let mut keys = Vec::with_capacity(ids.len());
    for id in ids {
        let own = found
            .iter()
            .find(|medium| medium.id == *id && medium.owner_id == user.id);
        let Some(own) = own else {
            let message = "Your media IDs are invalid.";
            return Err(Refusal::invalid("media.media_ids", id, message).into());
        };
        keys.push(own.media_key.as_str());
    }
    Ok(keys.join(","))
}

fn fingerprint(text: &str, new: &NewPost, media_keys: &str) -> Vec<u8> {
    let targets = [new.reply_to, new.quote].map(|id| id.map_or(0, PostId::get));
    let whole = format!(
        "{}\u{0}{targets:?}\u{0}{media_keys}\u{0}{}",
        text.trim(),
        new.nullcast
    );
    base::secret::digest(&whole).into_iter().take(16).collect()
}

/// Whose mentions timeline the post goes to: those it names, and whom it replies to.
fn mentioned(reading: &Reading, new: &NewPost, targets: &Targets, author: UserId) -> Vec<UserId> {
    let parent = targets.parent.iter().map(|post| post.author_id);
    let parent = parent.filter(|user| !new.exclude_reply_user_ids.contains(user));
    let mut all: Vec<UserId> = reading.mentioned.iter().copied().chain(parent).collect();
    all.retain(|user| *user != author);
    all.sort_unstable();
    all.dedup();
    all
}

/// Deletes a post of the user, with all its versions.
pub fn delete(tx: &mut Tx<'_>, user: UserId, id: PostId) -> Result<(), Stop> {
    let post =
        posts::by_id(tx, id)?.filter(|post| matches!(post.state, State::Live | State::Superseded));
    let post = post.ok_or_else(|| Refusal::NotFound(Subject::new("tweet", "id", id)))?;
    if post.author_id != user {
        return Err(Refusal::forbidden("You are not authorized to delete this Tweet.").into());
    }
    let newest = match post.edit_root_id {
        Some(root) if post.state == State::Superseded => posts::newest_version(tx, root)?,
        _ => None,
    };
    let gone = posts::delete(tx, &newest.unwrap_or(post))?;
    if gone.is_empty() {
        return Err(Refusal::NotFound(Subject::new("tweet", "id", id)).into());
    }
    Ok(removed(tx, &gone)?)
}

/// Says of deleted posts that they are gone, each in its author's name.
pub(crate) fn removed(tx: &mut Tx<'_>, gone: &[(PostId, UserId)]) -> Result<(), Fault> {
    for (post, author) in gone {
        log::append(tx, "post.delete", author.get(), post.get(), "")?;
    }
    Ok(())
}
