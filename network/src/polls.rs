//! Polls: created with a post, voted in, and closed when they end (contract core §6, §11.3).

use base::{Error, Fault, PostId, Refusal, Time, UserId};
use serde_json::json;
use store::polls::{self, Poll, PollChoice};
use store::{Tx, event_log};

use crate::users;
use crate::visibility::find_interactable_post;

#[derive(Clone, Debug, Default)]
pub struct NewPoll {
    /// 2–4 options of 1–25 characters.
    pub options: Vec<String>,
    /// 5–10,080 minutes.
    pub duration_minutes: i64,
}

const OPTION_COUNT: std::ops::RangeInclusive<usize> = 2..=4;
const LABEL_LENGTH: std::ops::RangeInclusive<usize> = 1..=25;
const DURATION_MINUTES: std::ops::RangeInclusive<i64> = 5..=10_080;
const MINUTE_MS: i64 = 60_000;

impl NewPoll {
    /// Validates the poll of a new post.
    pub(crate) fn build_poll(&self, tx: &Tx<'_>, post: PostId) -> Result<Poll, Refusal> {
        if !OPTION_COUNT.contains(&self.options.len()) {
            let message = "A poll has 2 to 4 options.";
            return Err(Refusal::invalid_parameter("poll.options", self.options.len(), message));
        }
        let mut options = Vec::with_capacity(self.options.len());
        for (choice, label) in (1..).zip(&self.options) {
            let label = base::text::normalize(label.trim()).into_owned();
            if !LABEL_LENGTH.contains(&label.chars().count()) {
                let message = "An option of a poll has 1 to 25 characters.";
                return Err(Refusal::invalid_parameter("poll.options", label, message));
            }
            if options.iter().any(|known: &PollChoice| known.label == label) {
                let message = "The options of a poll differ from each other.";
                return Err(Refusal::invalid_parameter("poll.options", label, message));
            }
            let votes = 0;
            options.push(PollChoice { number: choice, label, votes });
        }
        if !DURATION_MINUTES.contains(&self.duration_minutes) {
            let message = "A poll lasts 5 to 10080 minutes.";
            let parameter = "poll.duration_minutes";
            return Err(Refusal::invalid_parameter(parameter, self.duration_minutes, message));
        }
        Ok(Poll {
            id: tx.next_id::<base::id::marker::PollMarker>().get(),
            post_id: post,
            duration_minutes: self.duration_minutes,
            ends_at: tx.now().plus_ms(self.duration_minutes * MINUTE_MS),
            options,
        })
    }
}

/// The poll of a post that was published elsewhere, without votes. Refused if no new post could have it.
pub fn build_imported_poll(
    tx: &Tx<'_>,
    post: PostId,
    published_at: Time,
    options: Vec<String>,
    ends_at: Time,
) -> Result<Poll, Refusal> {
    // Times may be rounded to seconds.
    let lasts_ms = ends_at.ms().saturating_sub(published_at.ms()).saturating_add(MINUTE_MS / 2);
    let new = NewPoll { options, duration_minutes: lasts_ms.div_euclid(MINUTE_MS) };
    Ok(Poll { ends_at, ..new.build_poll(tx, post)? })
}

/// The poll of a card, if there is one. All posts with the card share its votes.
pub(crate) fn find_card_poll(tx: &mut Tx<'_>, uri: &str) -> Result<Option<i64>, Fault> {
    let id = uri.strip_prefix("card://");
    let id = id.and_then(base::Id::<base::id::marker::PollMarker>::parse);
    let found = id.map(|id| polls::find_standalone(tx, id.get())).transpose()?;
    Ok(found.flatten().map(|poll| poll.id))
}

/// Refused if the user may not see the post.
pub fn find(tx: &mut Tx<'_>, user: UserId, post: PostId) -> Result<Poll, Error> {
    let post = find_interactable_post(tx, user, post, "id")?;
    let poll = match post.poll_id {
        Some(id) => polls::find_by_id(tx, id)?,
        None => None,
    };
    poll.ok_or_else(|| Refusal::invalid_parameter("post", post.id, "This post has no poll.").into())
}

/// A vote is final. `choice` counts from 1.
pub fn vote(tx: &mut Tx<'_>, user: UserId, post: PostId, choice: i64) -> Result<Poll, Error> {
    users::find_writer(tx, user)?;
    let poll = find(tx, user, post)?;
    if !poll.is_open(tx.now()) {
        return Err(Refusal::forbidden("This poll is closed.").into());
    }
    if !poll.options.iter().any(|option| option.number == choice) {
        let message = format!("This poll has options 1 to {}.", poll.options.len());
        return Err(Refusal::invalid_parameter("option", choice, message).into());
    }
    if !polls::insert_vote(tx, poll.id, user, choice)? {
        return Err(Refusal::forbidden("You have already voted in this poll.").into());
    }
    let body = json!({ "poll_id": poll.id.to_string() }).to_string();
    let voted_post = if poll.is_standalone() { post } else { poll.post_id };
    event_log::append(tx, "poll.vote", user.get(), voted_post.get(), &body)?;
    find(tx, user, post)
}

/// Closes polls that have ended, with an event for each post that has the poll; returns how many.
pub fn close_ended_polls(tx: &mut Tx<'_>, limit: i64) -> Result<usize, Fault> {
    let ended = polls::list_ended(tx, limit)?;
    let count = ended.len();
    for poll in ended {
        if !polls::mark_closed(tx, poll)? {
            continue;
        }
        let body = json!({ "poll_id": poll.to_string() }).to_string();
        for (post, author) in polls::list_posts_with_poll(tx, poll)? {
            event_log::append(tx, "poll.close", author.get(), post.get(), &body)?;
        }
    }
    Ok(count)
}
