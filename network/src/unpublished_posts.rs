//! Drafts and scheduled posts of members. Scheduled posts are published when they are due, by the same rules as any
//! other post; what is refused then stays with the reason, and is not tried again.

use base::refusal::ResourceRef;
use base::{AccountTimeZone, Error, Fault, PostId, Refusal, Time, UserId};
use store::Tx;
use store::posts::Post;
use store::unpublished_posts::{self, UnpublishedPost};

use crate::notifications::notify_user;
use crate::polls::NewPoll;
use crate::posts::{self, MAX_LONG_LENGTH, NewPost, PostAuthor, REPLY_SETTINGS};
use crate::{communities, media, users};

pub use store::unpublished_posts::{count, find_due, list_drafts, list_scheduled, next_due};

pub const MAX_DRAFTS: i64 = 100;
pub const MAX_SCHEDULED: i64 = 300;

const MINUTE_MS: i64 = 60_000;
/// How far ahead a post is scheduled at least.
const MIN_AHEAD_MS: i64 = MINUTE_MS;
/// How far ahead a post is scheduled at most.
const MAX_MONTHS_AHEAD: i32 = 12;
/// Posts overdue by more than this, after downtime, are not published; those of a clock that was moved are.
const MAX_LATENESS_MS: i64 = 24 * 60 * MINUTE_MS;
/// Attempts to publish when an internal error occurs.
const MAX_ATTEMPTS: i64 = 3;
/// The delay before the first retry; it grows by as much each time.
const RETRY_DELAY_MS: i64 = MINUTE_MS;

const MAX_CHOICES: usize = 4;
/// Characters of a choice, which is checked again when the post is published.
const MAX_CHOICE_LENGTH: usize = 100;
const SCHEDULED_PATH: &str = "/compose/scheduled";

/// Stores a draft, or a scheduled post if there is a time, in place of an earlier one that `id` names; returns its id.
/// A scheduled post is refused if it could not be published now.
pub fn save(
    tx: &mut Tx<'_>,
    user: UserId,
    id: Option<i64>,
    new: &NewPost,
    publish_at: Option<Time>,
) -> Result<i64, Error> {
    store::users::lock(tx, user)?;
    users::find_writer(tx, user)?;
    let earlier = id.map(|id| find_editable(tx, user, id)).transpose()?;
    check_bounds(new)?;
    media::find_attachable_media(tx, user, &new.media_ids)?;
    new.community_id.map(|id| communities::find(tx, id)).transpose()?;
    if let Some(at) = publish_at {
        check_publication_time(tx, at)?;
        posts::check_new_post(tx, &author(user), new)?;
    }
    let is_moved = earlier.as_ref().is_none_or(|post| post.scheduled_at.is_some() != publish_at.is_some());
    if is_moved {
        check_count(tx, user, publish_at.is_some())?;
    }
    let id = earlier.as_ref().map_or_else(|| tx.next_id::<()>().get(), |post| post.id);
    let post = build_row(id, user, new, publish_at);
    store::media::add_draft_uses(tx, &post.media_ids)?;
    match earlier {
        None => unpublished_posts::insert(tx, &post)?,
        Some(earlier) => {
            let now = tx.now();
            store::media::remove_draft_uses(tx, &earlier.media_ids, now)?;
            unpublished_posts::update(tx, &post)?;
        }
    }
    Ok(id)
}

fn check_bounds(new: &NewPost) -> Result<(), Refusal> {
    crate::profile_fields::validate_choice("reply_settings", &new.reply_settings, &REPLY_SETTINGS)?;
    if new.text.chars().count() > usize::try_from(MAX_LONG_LENGTH).unwrap_or(usize::MAX) {
        let message = "The text is longer than 25,000 characters.";
        return Err(Refusal::invalid_parameter("text", "", message));
    }
    let choices = new.poll.iter().flat_map(|poll| &poll.options);
    let is_long = |choice: &String| choice.chars().count() > MAX_CHOICE_LENGTH;
    if choices.clone().count() > MAX_CHOICES || choices.clone().any(is_long) {
        let message = "A poll has 2 to 4 choices of 1 to 25 characters.";
        return Err(Refusal::invalid_parameter("poll.options", "", message));
    }
    let is_empty = new.text.trim().is_empty() && new.media_ids.is_empty() && new.poll.is_none();
    if is_empty && new.quote.is_none() {
        return Err(Refusal::invalid_parameter("text", "", "There is nothing to keep yet: write something first."));
    }
    Ok(())
}

fn check_publication_time(tx: &Tx<'_>, at: Time) -> Result<(), Refusal> {
    let message = if at < tx.now().plus_ms(MIN_AHEAD_MS) {
        "Choose a time at least one minute from now."
    } else if at <= AccountTimeZone::default().plus_months(tx.now(), MAX_MONTHS_AHEAD) {
        return Ok(());
    } else {
        "Choose a time within the next year."
    };
    Err(Refusal::invalid_parameter("publish_at", at, message))
}

fn check_count(tx: &mut Tx<'_>, user: UserId, scheduled: bool) -> Result<(), Error> {
    let (max, noun) = if scheduled { (MAX_SCHEDULED, "scheduled posts") } else { (MAX_DRAFTS, "drafts") };
    if count(tx, user, scheduled)? < max {
        return Ok(());
    }
    Err(Refusal::forbidden(format!("You have {max} {noun}, which is the limit. Delete some first.")).into())
}

fn build_row(id: i64, user: UserId, new: &NewPost, publish_at: Option<Time>) -> UnpublishedPost {
    let choices = new.poll.iter().flat_map(|poll| &poll.options);
    let choices: Vec<String> = choices.map(|choice| choice.replace('\n', " ")).collect();
    UnpublishedPost {
        id,
        user_id: user,
        scheduled_at: publish_at,
        due_at: publish_at,
        attempts: 0,
        problem: String::new(),
        text: new.text.clone(),
        in_reply_to_post_id: new.reply_to,
        quoted_post_id: new.quote,
        media_ids: new.media_ids.clone(),
        poll_choices: choices.join("\n"),
        poll_minutes: new.poll.as_ref().map_or(0, |poll| poll.duration_minutes),
        reply_settings: new.reply_settings.clone(),
        community_id: new.community_id,
        shared: new.share_with_followers,
    }
}

/// The choices of its poll; none without one.
pub fn poll_choices(post: &UnpublishedPost) -> Vec<String> {
    post.poll_choices.lines().filter(|choice| !choice.is_empty()).map(str::to_owned).collect()
}

fn to_new_post(post: &UnpublishedPost) -> NewPost {
    let options = poll_choices(post);
    NewPost {
        text: post.text.clone(),
        reply_to: post.in_reply_to_post_id,
        auto_populate_reply_metadata: post.in_reply_to_post_id.is_some(),
        quote: post.quoted_post_id,
        media_ids: post.media_ids.clone(),
        poll: (!options.is_empty()).then_some(NewPoll { options, duration_minutes: post.poll_minutes }),
        reply_settings: post.reply_settings.clone(),
        community_id: post.community_id,
        share_with_followers: post.shared,
        ..NewPost::default()
    }
}

const fn author(user: UserId) -> PostAuthor {
    PostAuthor { user_id: user, app_id: None, self_serve: false }
}

/// Refused if there is none, or if it is another user's.
pub fn find_own(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<UnpublishedPost, Error> {
    let post = unpublished_posts::find_by_id(tx, id)?.filter(|post| post.user_id == user);
    post.ok_or_else(|| Refusal::NotFound(ResourceRef::new("draft", "id", id)).into())
}

/// As [`find_own`], for a form that may have been open for long.
fn find_editable(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<UnpublishedPost, Error> {
    find_own(tx, user, id).map_err(|error| match error {
        Error::Refused(_) => Refusal::forbidden("This draft was published or deleted in the meantime.").into(),
        failed @ Error::Failed(_) => failed,
    })
}

/// Returns false if the user has no such draft or scheduled post, or no longer.
pub fn delete(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<bool, Error> {
    store::users::lock(tx, user)?;
    match find_own(tx, user, id) {
        Ok(post) => Ok(remove(tx, &post)?),
        Err(Error::Refused(_)) => Ok(false),
        Err(failed) => Err(failed),
    }
}

/// Publishes `new` in place of a draft or scheduled post.
pub fn publish_instead(tx: &mut Tx<'_>, user: UserId, id: i64, new: &NewPost) -> Result<Post, Error> {
    store::users::lock(tx, user)?;
    let draft = find_editable(tx, user, id)?;
    let post = posts::create(tx, &author(user), new)?;
    remove(tx, &draft)?;
    Ok(post)
}

/// Publishes a draft or scheduled post at once; none if the user has no such one, or no longer.
pub fn publish_now(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<Option<PostId>, Error> {
    store::users::lock(tx, user)?;
    let draft = unpublished_posts::find_by_id(tx, id)?.filter(|post| post.user_id == user);
    let Some(draft) = draft else { return Ok(None) };
    let post = posts::create(tx, &author(user), &to_new_post(&draft))?;
    remove(tx, &draft)?;
    Ok(Some(post.id))
}

/// Deletes at most `limit` drafts and as many scheduled posts of an account that is erased; returns how many.
pub fn delete_some(tx: &mut Tx<'_>, user: UserId, limit: i64) -> Result<usize, Fault> {
    let mut found = list_drafts(tx, user, 0, limit)?;
    found.extend(list_scheduled(tx, user, 0, limit)?);
    for post in &found {
        remove(tx, post)?;
    }
    Ok(found.len())
}

fn remove(tx: &mut Tx<'_>, post: &UnpublishedPost) -> Result<bool, Fault> {
    let is_there = unpublished_posts::delete(tx, post.id)?;
    if is_there {
        let now = tx.now();
        store::media::remove_draft_uses(tx, &post.media_ids, now)?;
    }
    Ok(is_there)
}

/// Publishes a due post, and removes it from those that are scheduled. If a rule refuses it, it keeps the reason, and
/// its user is told. `explain` turns a refusal into a sentence.
pub fn publish_due(tx: &mut Tx<'_>, id: i64, explain: fn(&Refusal) -> String) -> Result<(), Error> {
    let Some(post) = claim_due(tx, id)? else { return Ok(()) };
    let at = post.scheduled_at.unwrap_or_else(|| tx.now());
    if tx.has_live_clock() && tx.now().ms().saturating_sub(at.ms()) > MAX_LATENESS_MS {
        let problem = "This site was not running when the post was due.";
        return Ok(mark_refused(tx, post, problem)?);
    }
    match posts::create(tx, &author(post.user_id), &to_new_post(&post)) {
        Ok(_) => {
            remove(tx, &post)?;
            Ok(())
        }
        Err(Error::Refused(refusal)) => Ok(mark_refused(tx, post, &explain(&refusal))?),
        Err(failed) => Err(failed),
    }
}

/// Has a due post tried again later after an internal error, or refuses it after the last attempt.
pub fn postpone(tx: &mut Tx<'_>, id: i64) -> Result<(), Error> {
    let Some(mut post) = claim_due(tx, id)? else { return Ok(()) };
    post.attempts = post.attempts.saturating_add(1);
    if post.attempts >= MAX_ATTEMPTS {
        return Ok(mark_refused(tx, post, "The site had an error when it tried to publish the post.")?);
    }
    post.due_at = Some(tx.now().plus_ms(RETRY_DELAY_MS.saturating_mul(post.attempts)));
    Ok(unpublished_posts::update(tx, &post)?)
}

/// In the order of locks of everything else that changes what a user has scheduled.
fn claim_due(tx: &mut Tx<'_>, id: i64) -> Result<Option<UnpublishedPost>, Fault> {
    let Some(post) = unpublished_posts::find_by_id(tx, id)? else { return Ok(None) };
    store::users::lock(tx, post.user_id)?;
    if !unpublished_posts::claim_due(tx, id)? {
        return Ok(None);
    }
    unpublished_posts::find_by_id(tx, id)
}

fn mark_refused(tx: &mut Tx<'_>, mut post: UnpublishedPost, problem: &str) -> Result<(), Fault> {
    post.due_at = None;
    problem.clone_into(&mut post.problem);
    unpublished_posts::update(tx, &post)?;
    notify_user(tx, post.user_id, "A scheduled post was not published.", SCHEDULED_PATH)
}
