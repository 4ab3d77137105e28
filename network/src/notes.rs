//! Community notes: writing, rating, evaluation and deletion, and the posts eligible for notes
//! (contract core §7.10).

mod claims;

use base::id::first_snowflake_at;
use base::refusal::ResourceRef;
use base::{Error, Fault, PostId, Refusal, UserId};
use serde_json::json;
use store::notes::{self, CommunityNote, NoteFeedQuery};
use store::posts::{PageRange, PostState};
use store::{Tx, event_log};

use crate::audit::{self, AuditAction, AuditActor};
use crate::users;
use crate::visibility::find_interactable_post;

pub use claims::{score_bucket, score_claims};

const NO_WRITER: &str = "User must be an API Note Writer to access this endpoint.";
const TWICE: &str = "User already created a note for this post.";
const MISLEADING: &str = "misinformed_or_potentially_misleading";

#[derive(Clone, Debug)]
pub struct NewNote {
    pub post_id: PostId,
    /// Whether it is in the test pool rather than the public one.
    pub test_mode: bool,
    /// 1–280 weighted characters, with the URL of a source.
    pub text: String,
    /// `misinformed_or_potentially_misleading` or `not_misleading`.
    pub classification: String,
    /// At least one if the post is misleading.
    pub misleading_tags: Vec<String>,
    pub trustworthy_sources: bool,
    /// Whether it is about the post's media.
    pub media_note: bool,
}

/// Returns false if nothing changed.
pub fn set_writer(tx: &mut Tx<'_>, user: UserId, is_writer: bool) -> Result<bool, Error> {
    users::find_active(tx, user)?;
    let changed = notes::set_note_writer(tx, user, is_writer)?;
    if changed {
        let body = json!({ "note_writer": is_writer });
        event_log::append(tx, "user.note_writer", user.get(), user.get(), &body.to_string())?;
        let actor = AuditActor::operator();
        audit::append(
            tx,
            &actor,
            AuditAction::USER_UPDATE,
            None,
            &json!({ "user_id": user.to_string(), "note_writer": is_writer }),
        )?;
    }
    Ok(changed)
}

/// An author can write one note per post and pool.
pub fn create(tx: &mut Tx<'_>, author: UserId, new: &NewNote) -> Result<CommunityNote, Error> {
    users::find_writer(tx, author)?;
    if !notes::is_note_writer(tx, author)? {
        return Err(Refusal::forbidden(NO_WRITER).into());
    }
    let text = validate_note_text(&new.text)?;
    let mut tags: Vec<&str> = Vec::new();
    for tag in &new.misleading_tags {
        if !tags.contains(&tag.as_str()) {
            tags.push(tag);
        }
    }
    if new.classification == MISLEADING && tags.is_empty() {
        let message = format!("A note that is {MISLEADING} needs at least one of `misleading_tags`");
        return Err(Refusal::invalid_parameter("info.misleading_tags", "[]", message).into());
    }
    let post = find_note_target(tx, author, new.post_id)?;
    let note = CommunityNote {
        id: tx.next_id::<()>().get(),
        author_id: author,
        post_id: post,
        test_mode: new.test_mode,
        score: score_claims(&text),
        text,
        classification: new.classification.clone(),
        misleading_tags: tags.join(","),
        trustworthy_sources: new.trustworthy_sources,
        media_note: new.media_note,
        helpful: 0,
        not_helpful: 0,
    };
    if !notes::insert(tx, &note)? {
        return Err(Refusal::forbidden(TWICE).into());
    }
    append_note_event(tx, "note.create", author, &note)?;
    Ok(note)
}

fn validate_note_text(text: &str) -> Result<String, Refusal> {
    let text = base::text::normalize(text.trim()).into_owned();
    if !base::text::weigh_text(&text, 0..0).permitted_280 {
        let message = "The `info.text` of a note must have 1 to 280 characters, by weight";
        return Err(Refusal::invalid_parameter("info.text", text, message));
    }
    let has_source = base::text::extract_entities(&text).urls.iter().any(|url| {
        let address = url.text.to_ascii_lowercase();
        address.starts_with("http://") || address.starts_with("https://")
    });
    if !has_source {
        let message = "The `info.text` of a note must contain a URL";
        return Err(Refusal::invalid_parameter("info.text", text, message));
    }
    Ok(text)
}

/// The post for a note: of a repost the original. Superseded versions are refused.
fn find_note_target(tx: &mut Tx<'_>, user: UserId, id: PostId) -> Result<PostId, Error> {
    let post = find_interactable_post(tx, user, id, "post_id")?;
    if post.state == PostState::Superseded {
        return Err(Refusal::forbidden("You are not permitted to perform this action.").into());
    }
    Ok(post.id)
}

fn append_note_event(tx: &mut Tx<'_>, kind: &str, actor: UserId, note: &CommunityNote) -> Result<(), Fault> {
    let body = json!({ "post_id": note.post_id.to_string(), "test_mode": note.test_mode });
    event_log::append(tx, kind, actor.get(), note.id, &body.to_string())
}

/// The score of a draft, in thousandths.
pub fn evaluate(tx: &mut Tx<'_>, user: UserId, id: PostId, text: &str) -> Result<i64, Error> {
    let text = base::text::normalize(text.trim());
    if text.is_empty() {
        return Err(Refusal::missing_parameter("note_text").into());
    }
    find_note_target(tx, user, id)?;
    Ok(score_claims(&text))
}

/// Notes of other users are refused as not found.
pub fn delete(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<(), Error> {
    let note = find(tx, id)?;
    if note.author_id != user {
        return Err(note_not_found(id).into());
    }
    notes::delete(tx, id)?;
    append_note_event(tx, "note.delete", user, &note)?;
    Ok(())
}

pub fn find(tx: &mut Tx<'_>, id: i64) -> Result<CommunityNote, Error> {
    notes::find_by_id(tx, id)?.ok_or_else(|| note_not_found(id).into())
}

fn note_not_found(id: i64) -> Refusal {
    Refusal::NotFound(ResourceRef::new("note", "id", id))
}

/// Replaces an earlier rating by the user; own notes are refused.
pub fn rate(tx: &mut Tx<'_>, id: i64, user: UserId, helpful: bool) -> Result<CommunityNote, Error> {
    // Concurrent ratings by the same user would corrupt the counters.
    store::users::lock(tx, user)?;
    users::find_active(tx, user)?;
    let note = find(tx, id)?;
    if note.author_id == user {
        return Err(Refusal::forbidden("Nobody rates a note of their own.").into());
    }
    notes::insert_rating(tx, id, user, helpful)?;
    let body = json!({ "helpful": helpful }).to_string();
    event_log::append(tx, "note.rate", user.get(), id, &body)?;
    find(tx, id)
}

/// Returns false if the user has already requested one.
pub fn request(tx: &mut Tx<'_>, user: UserId, id: PostId) -> Result<bool, Error> {
    users::find_active(tx, user)?;
    let post = find_note_target(tx, user, id)?;
    let new = notes::insert_request(tx, post, user)?;
    if new {
        event_log::append(tx, "note.request", user.get(), post.get(), "")?;
    }
    Ok(new)
}

/// Ratings required for a decision.
const MIN_RATINGS: i64 = 5;
/// Ratings from which a split is `insufficient_consensus`.
const MIN_CONSENSUS_RATINGS: i64 = 10;

/// The status by ratings. Without ratings: `needs_your_help`; fewer than five: `minimum_ratings_not_met`. Then two
/// thirds decide: `currently_rated_helpful` or `currently_rated_not_helpful`, or `firm_reject` if nine of ten or more
/// ratings are negative. Otherwise `needs_more_ratings`, and from ten ratings on `insufficient_consensus`.
pub const fn status(note: &CommunityNote) -> &'static str {
    let all = note.helpful + note.not_helpful;
    if all == 0 {
        "needs_your_help"
    } else if all < MIN_RATINGS {
        "minimum_ratings_not_met"
    } else if note.helpful * 3 >= all * 2 {
        "currently_rated_helpful"
    } else if all >= MIN_CONSENSUS_RATINGS && note.not_helpful * 10 >= all * 9 {
        "firm_reject"
    } else if note.not_helpful * 3 >= all * 2 {
        "currently_rated_not_helpful"
    } else if all < MIN_CONSENSUS_RATINGS {
        "needs_more_ratings"
    } else {
        "insufficient_consensus"
    }
}

/// The age up to which posts are eligible.
const MAX_POST_AGE_MS: i64 = 7 * 24 * 3600 * 1000;
/// How many of the newest posts each feed considers.
const FEED_SIZES: [(&str, i64); 4] = [("small", 500), ("large", 2_000), ("xl", 5_000), ("xxl", 10_000)];

/// A feed selection: `feed_size: small, feed_lang: en`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteFeedSelection {
    size: i64,
    lang: String,
}

impl Default for NoteFeedSelection {
    fn default() -> Self {
        let [(_, size), ..] = FEED_SIZES;
        Self { size, lang: "en".to_owned() }
    }
}

impl NoteFeedSelection {
    /// None if it is not valid.
    pub fn parse(text: &str) -> Option<Self> {
        let (mut size, mut lang) = (None, None);
        for part in text.split(',') {
            let (name, value) = part.split_once(':')?;
            let value = value.trim();
            match name.trim() {
                "feed_size" if size.is_none() => {
                    let known = FEED_SIZES.iter().find(|(name, _)| *name == value)?;
                    size = Some(known.1);
                }
                "feed_lang" if lang.is_none() => {
                    let is_code = (2..=3).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_lowercase());
                    lang = is_code.then(|| value.to_owned());
                    lang.as_ref()?;
                }
                _ => return None,
            }
        }
        let defaults = Self::default();
        Some(Self { size: size.unwrap_or(defaults.size), lang: lang.unwrap_or(defaults.lang) })
    }
}

/// A page of eligible posts, newest first: public posts of the last week in the selected language, either among the
/// newest posts (as many as the feed's size) or with a request for a note; without the writer's own posts, and those
/// on which the writer has a note in this pool.
pub fn list_eligible_posts(
    tx: &mut Tx<'_>,
    writer: UserId,
    test_mode: bool,
    selection: &NoteFeedSelection,
    range: &PageRange,
) -> Result<Vec<PostId>, Fault> {
    let feed = NoteFeedQuery {
        writer,
        test_mode,
        lang: Some(&selection.lang).filter(|lang| *lang != "all").cloned().unwrap_or_default(),
        newest: notes::post_id_at_depth(tx, selection.size)?,
        oldest: first_snowflake_at(tx.now().plus_ms(-MAX_POST_AGE_MS)) - 1,
    };
    notes::eligible_posts(tx, &feed, range)
}

#[cfg(test)]
mod tests {
    use super::NoteFeedSelection;

    #[test]
    fn a_selection_is_read() {
        let chosen = |size, lang: &str| Some(NoteFeedSelection { size, lang: lang.to_owned() });
        for (text, wanted) in [
            ("feed_size: small, feed_lang: en", chosen(500, "en")),
            ("feed_lang:all,feed_size:xxl", chosen(10_000, "all")),
            ("feed_size: large", chosen(2_000, "en")),
            ("feed_lang: es", chosen(500, "es")),
            ("", None),
            ("feed_size", None),
            ("feed_size: huge", None),
            ("feed_lang: English", None),
            ("feed_size: xl, feed_size: xl", None),
            ("feed_color: red", None),
        ] {
            assert_eq!(NoteFeedSelection::parse(text), wanted, "{text}");
        }
    }
}
