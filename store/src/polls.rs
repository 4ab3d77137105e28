//! Polls, votes, and polls that have ended.

use base::{Fault, PostId, Time, UserId};

use crate::Tx;
use crate::db::SqlRow;

#[derive(Clone, Debug)]
pub struct Poll {
    pub id: i64,
    pub post_id: PostId,
    pub duration_minutes: i64,
    pub ends_at: Time,
    pub options: Vec<PollChoice>,
}

#[derive(Clone, Debug)]
pub struct PollChoice {
    /// From 1.
    pub number: i64,
    pub label: String,
    pub votes: i64,
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
    let sql = "INSERT INTO poll (id, post_id, duration_minutes, ends_at) VALUES ($1, $2, $3, $4)";
    let args = [poll.id.into(), poll.post_id.into(), poll.duration_minutes.into(), poll.ends_at.into()];
    tx.execute(sql, &args)?;
    for option in &poll.options {
        let sql = "INSERT INTO poll_option (poll_id, choice, label) VALUES ($1, $2, $3)";
        let args = [poll.id.into(), option.number.into(), (&option.label).into()];
        tx.execute(sql, &args)?;
    }
    Ok(())
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

fn poll_from_row(row: &SqlRow<'_, '_>) -> Result<Poll, Fault> {
    Ok(Poll {
        id: row.int(0)?,
        post_id: row.id(1)?,
        duration_minutes: row.int(2)?,
        ends_at: row.time(3)?,
        options: vec![PollChoice { number: row.int(4)?, label: row.text(5)?, votes: row.int(6)? }],
    })
}

/// Unknown ids are skipped.
pub fn find_by_ids(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<Poll>, Fault> {
    let sql = "SELECT p.id, p.post_id, p.duration_minutes, p.ends_at, o.choice, o.label, o.votes \
               FROM poll p JOIN poll_option o ON o.poll_id = p.id WHERE p.id = $1";
    let mut rows = tx.query_by_keys(sql, ids, &[], poll_from_row)?;
    rows.sort_by_key(|row| (row.id, row.options.first().map(|option| option.number)));
    let mut polls: Vec<Poll> = Vec::new();
    for mut row in rows {
        match polls.last_mut().filter(|poll| poll.id == row.id) {
            Some(poll) => poll.options.append(&mut row.options),
            None => polls.push(row),
        }
    }
    Ok(polls)
}

pub fn find_by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<Poll>, Fault> {
    Ok(find_by_ids(tx, &[id])?.pop())
}

pub fn find_vote(tx: &mut Tx<'_>, poll: i64, user: UserId) -> Result<Option<i64>, Fault> {
    let sql = "SELECT choice FROM poll_vote WHERE poll_id = $1 AND user_id = $2";
    tx.query_row(sql, &[poll.into(), user.into()], |row| row.int(0))
}

/// Returns false if the user has voted before or the poll is gone.
pub fn insert_vote(tx: &mut Tx<'_>, poll: i64, user: UserId, choice: i64) -> Result<bool, Fault> {
    if tx.is_shared() {
        let sql = "SELECT id FROM poll WHERE id = $1 FOR SHARE";
        if tx.query_row(sql, &[poll.into()], |_| Ok(()))?.is_none() {
            return Ok(false);
        }
    }
    let sql = "INSERT INTO poll_vote (poll_id, user_id, choice, at) VALUES ($1, $2, $3, $4) \
               ON CONFLICT DO NOTHING";
    let args = [poll.into(), user.into(), choice.into(), tx.now().into()];
    if tx.execute(sql, &args)? == 0 {
        return Ok(false);
    }
    let sql = "UPDATE poll_option SET votes = votes + 1 WHERE poll_id = $1 AND choice = $2";
    tx.execute(sql, &[poll.into(), choice.into()])?;
    Ok(true)
}

/// Polls that have ended but are not closed.
pub fn list_ended(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT id FROM poll WHERE closed_at IS NULL AND ends_at <= $1 \
               ORDER BY ends_at LIMIT $2";
    tx.query_rows(sql, &[tx.now().into(), limit.into()], |row| row.int(0))
}

/// The posts with a poll and their authors: the post it was created with, or all posts with its card.
pub fn list_posts_with_poll(tx: &mut Tx<'_>, poll: i64) -> Result<Vec<(PostId, UserId)>, Fault> {
    let sql = "SELECT p.id, p.author_id FROM poll l JOIN post p ON p.id = l.post_id \
               WHERE l.id = $1";
    let mut all = tx.query_rows(sql, &[poll.into()], |row| Ok((row.id(0)?, row.id(1)?)))?;
    let sql = "SELECT id, author_id FROM post WHERE poll_id = $1 AND card_uri <> '' \
               AND state = 0 ORDER BY id";
    all.extend(tx.query_rows(sql, &[poll.into()], |row| Ok((row.id(0)?, row.id(1)?)))?);
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
    steps.into_iter().try_for_each(|sql| tx.execute(sql, &[post.into()]).map(|_| ()))
}
