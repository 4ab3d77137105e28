//! Polls, votes, and polls that have ended.

use base::{Fault, PostId, Time, UserId};

use crate::Tx;
use crate::db::{DeclaredRow, insert, insert_new, row, sql};

#[derive(Clone, Debug)]
pub struct Poll {
    pub id: i64,
    pub post_id: PostId,
    pub duration_minutes: i64,
    pub ends_at: Time,
    pub options: Vec<PollChoice>,
}

row! {
    #[derive(Clone, Debug)]
    pub struct PollChoice from "poll_option" {
        /// From 1.
        pub number: i64 as "choice",
        pub label: String,
        pub votes: i64,
    }
}

impl Poll {
    /// Whether it was created without a post.
    pub fn is_standalone(&self) -> bool {
        self.post_id.get() == self.id
    }

    pub fn is_open(&self, now: Time) -> bool {
        now < self.ends_at
    }
}

pub fn insert(tx: &mut Tx<'_>, poll: &Poll) -> Result<(), Fault> {
    let (minutes, ends_at) = (poll.duration_minutes, poll.ends_at);
    insert!(tx, "poll", id = poll.id, post_id = poll.post_id, duration_minutes = minutes, ends_at = ends_at)?;
    insert_options(tx, poll)
}

fn insert_options(tx: &mut Tx<'_>, poll: &Poll) -> Result<(), Fault> {
    for option in &poll.options {
        insert!(tx, "poll_option", poll_id = poll.id, choice = option.number, label = &option.label)?;
    }
    Ok(())
}

/// Stores the poll of an imported post; nobody is told that it has ended. Returns false if the post has a poll.
pub fn insert_imported(tx: &mut Tx<'_>, poll: &Poll) -> Result<bool, Fault> {
    let (minutes, ends_at) = (poll.duration_minutes, poll.ends_at);
    let closed_at = (!poll.is_open(tx.now())).then_some(ends_at);
    if !insert_new!(
        tx,
        "poll",
        id = poll.id,
        post_id = poll.post_id,
        duration_minutes = minutes,
        ends_at = ends_at,
        closed_at = closed_at
    )? {
        return Ok(false);
    }
    insert_options(tx, poll)?;
    let sql = "UPDATE post SET poll_id = $1 WHERE id = $2";
    tx.execute_later(sql, &[poll.id.into(), poll.post_id.into()])?;
    Ok(true)
}

/// Stores a poll that is not part of a post; `post_id` is its own id. Posts may refer to it.
pub fn insert_standalone(tx: &mut Tx<'_>, poll: &Poll) -> Result<(), Fault> {
    insert(tx, poll)
}

pub fn find_standalone(tx: &mut Tx<'_>, id: i64) -> Result<Option<Poll>, Fault> {
    let found = find_by_id(tx, id)?;
    Ok(found.filter(Poll::is_standalone))
}

/// Also deletes its votes.
pub fn delete_standalone(tx: &mut Tx<'_>, id: i64) -> Result<(), Fault> {
    delete_by_post(tx, PostId::new(id))
}

/// Unknown ids are skipped.
pub fn find_by_ids(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<Poll>, Fault> {
    let sql = sql!(
        "SELECT id, post_id, duration_minutes, ends_at, ",
        PollChoice::COLUMNS,
        " FROM poll JOIN poll_option ON poll_id = id WHERE id = $1"
    );
    let mut rows: Vec<(i64, PostId, i64, Time, PollChoice)> = tx.query_by_keys(sql, ids, &[])?;
    rows.sort_by_key(|(id, .., choice)| (*id, choice.number));
    let mut polls: Vec<Poll> = Vec::new();
    for (id, post_id, duration_minutes, ends_at, choice) in rows {
        match polls.last_mut().filter(|poll| poll.id == id) {
            Some(poll) => poll.options.push(choice),
            None => polls.push(Poll { id, post_id, duration_minutes, ends_at, options: vec![choice] }),
        }
    }
    Ok(polls)
}

pub fn find_by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<Poll>, Fault> {
    Ok(find_by_ids(tx, &[id])?.pop())
}

pub fn find_vote(tx: &mut Tx<'_>, poll: i64, user: UserId) -> Result<Option<i64>, Fault> {
    let sql = "SELECT choice FROM poll_vote WHERE poll_id = $1 AND user_id = $2";
    tx.query_row(sql, &[poll.into(), user.into()])
}

/// Returns false if the user has voted before or the poll is gone.
pub fn insert_vote(tx: &mut Tx<'_>, poll: i64, user: UserId, choice: i64) -> Result<bool, Fault> {
    if tx.is_shared() {
        let sql = "SELECT id FROM poll WHERE id = $1 FOR SHARE";
        if !tx.row_exists(sql, &[poll.into()])? {
            return Ok(false);
        }
    }
    if !insert_new!(tx, "poll_vote", poll_id = poll, user_id = user, choice = choice, at = tx.now())? {
        return Ok(false);
    }
    let sql = "UPDATE poll_option SET votes = votes + 1 WHERE poll_id = $1 AND choice = $2";
    tx.execute_later(sql, &[poll.into(), choice.into()])?;
    Ok(true)
}

/// Polls that have ended but are not closed.
pub fn list_ended(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT id FROM poll WHERE closed_at IS NULL AND ends_at <= $1 ORDER BY ends_at LIMIT $2";
    tx.query_rows(sql, &[tx.now().into(), limit.into()])
}

/// When the next poll ends that has not ended yet.
pub fn next_end(tx: &mut Tx<'_>) -> Result<Option<Time>, Fault> {
    let sql = "SELECT MIN(ends_at) FROM poll WHERE closed_at IS NULL AND ends_at > $1";
    Ok(tx.query_row::<Option<Time>>(sql, &[tx.now().into()])?.flatten())
}

/// The posts with a poll and their authors: the post it was created with, or all posts with its card.
pub fn list_posts_with_poll(tx: &mut Tx<'_>, poll: i64) -> Result<Vec<(PostId, UserId)>, Fault> {
    let sql = "SELECT p.id, p.author_id FROM poll l JOIN post p ON p.id = l.post_id WHERE l.id = $1";
    let mut all = tx.query_rows(sql, &[poll.into()])?;
    let sql = "SELECT id, author_id FROM post WHERE poll_id = $1 AND card_uri <> '' AND state = 0 ORDER BY id";
    all.extend(tx.query_rows::<(PostId, UserId)>(sql, &[poll.into()])?);
    Ok(all)
}

/// Returns false if the poll was closed before.
pub fn mark_closed(tx: &mut Tx<'_>, poll: i64) -> Result<bool, Fault> {
    let sql = "UPDATE poll SET closed_at = $1 WHERE id = $2 AND closed_at IS NULL";
    Ok(tx.execute(sql, &[tx.now().into(), poll.into()])? > 0)
}

/// Also deletes its votes.
pub(crate) fn delete_by_post(tx: &mut Tx<'_>, post: PostId) -> Result<(), Fault> {
    let steps = [
        // Locks the polls: a concurrent vote is either counted before or finds its poll gone.
        "UPDATE poll SET closed_at = 0 WHERE post_id = $1",
        "DELETE FROM poll_vote WHERE poll_id IN (SELECT id FROM poll WHERE post_id = $1)",
        "DELETE FROM poll_option WHERE poll_id IN (SELECT id FROM poll WHERE post_id = $1)",
        "DELETE FROM poll WHERE post_id = $1",
    ];
    steps.into_iter().try_for_each(|sql| tx.execute_later(sql, &[post.into()]))
}
