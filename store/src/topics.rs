//! Topics of public posts: posts per topic and hour, and current trends.

use base::{Fault, PostId, UserId};

use crate::Tx;
use crate::db::{insert, insert_new, row, select, table};

row! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct TopicCount from "topic_hour" {
        pub topic: String,
        pub posts: i64 as "CAST(SUM(posts) AS BIGINT) AS many",
    }
}

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct TrendingTopic in "trend" {
        pub topic: String,
        /// As people write it.
        pub name: String,
        /// Posts in the last day.
        pub posts: i64,
        /// Recent authors.
        pub authors: i64,
        /// The hour since 1970 in which it started to trend.
        pub since: i64,
    }
}

/// Counts a post for a topic and hour, at most once.
pub fn insert_topic_post(tx: &mut Tx<'_>, topic: &str, post: PostId, author: UserId, hour: i64) -> Result<(), Fault> {
    if !insert_new!(tx, "topic_post", topic = topic, post_id = post, author_id = author, hour = hour)? {
        return Ok(());
    }
    let is_sole_author = i64::from(count_author_posts(tx, topic, hour, author)? == 1);
    let sql = "INSERT INTO topic_hour (hour, topic, posts, authors) VALUES ($1, $2, 1, $3) ON CONFLICT (hour, topic) \
               DO UPDATE SET posts = topic_hour.posts + 1, authors = topic_hour.authors + excluded.authors";
    tx.execute_later(sql, &[hour.into(), topic.into(), is_sole_author.into()])
}

/// Removes a post from its topics; returns how many it had.
pub fn remove_post(tx: &mut Tx<'_>, post: PostId) -> Result<usize, Fault> {
    let sql = "SELECT topic, author_id, hour FROM topic_post WHERE post_id = $1";
    let rows: Vec<(String, UserId, i64)> = tx.query_rows(sql, &[post.into()])?;
    for (topic, author, hour) in &rows {
        let sql = "DELETE FROM topic_post WHERE topic = $1 AND post_id = $2";
        tx.execute_later(sql, &[topic.into(), post.into()])?;
        let is_sole_author = i64::from(count_author_posts(tx, topic, *hour, *author)? == 0);
        let sql = "UPDATE topic_hour SET posts = posts - 1, authors = authors - $1 WHERE hour = $2 AND topic = $3";
        tx.execute_later(sql, &[is_sole_author.into(), (*hour).into(), topic.into()])?;
    }
    Ok(rows.len())
}

fn count_author_posts(tx: &mut Tx<'_>, topic: &str, hour: i64, author: UserId) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(*) FROM topic_post WHERE topic = $1 AND hour = $2 AND author_id = $3";
    let args = [topic.into(), hour.into(), author.into()];
    tx.query_number(sql, &args)
}

/// An author's posts that have topics.
pub fn list_posts_by_author(tx: &mut Tx<'_>, author: UserId, limit: i64) -> Result<Vec<PostId>, Fault> {
    let sql = "SELECT DISTINCT post_id FROM topic_post WHERE author_id = $1 LIMIT $2";
    tx.query_rows(sql, &[author.into(), limit.into()])
}

/// Topics used by at least two authors from an hour on, most posts first.
pub fn list_most_used(tx: &mut Tx<'_>, from: i64, limit: i64) -> Result<Vec<TopicCount>, Fault> {
    let sql = select!(
        TopicCount,
        "WHERE hour >= $1 GROUP BY topic HAVING SUM(authors) >= 2 ORDER BY many DESC, topic LIMIT $2"
    );
    tx.query_rows(sql, &[from.into(), limit.into()])
}

/// From hour `from` (inclusive) to `to` (exclusive).
pub fn count_posts_between(tx: &mut Tx<'_>, topic: &str, from: i64, to: i64) -> Result<i64, Fault> {
    let sql = "SELECT CAST(COALESCE(SUM(posts), 0) AS BIGINT) FROM topic_hour \
               WHERE topic = $1 AND hour >= $2 AND hour < $3";
    let args = [topic.into(), from.into(), to.into()];
    tx.query_number(sql, &args)
}

/// The number of authors who used a topic from an hour on.
pub fn count_authors(tx: &mut Tx<'_>, topic: &str, from: i64) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(DISTINCT author_id) FROM topic_post WHERE topic = $1 AND hour >= $2";
    let args = [topic.into(), from.into()];
    tx.query_number(sql, &args)
}

pub fn list_newest_posts(tx: &mut Tx<'_>, topic: &str, limit: i64) -> Result<Vec<PostId>, Fault> {
    let sql = "SELECT post_id FROM topic_post WHERE topic = $1 ORDER BY post_id DESC LIMIT $2";
    tx.query_rows(sql, &[topic.into(), limit.into()])
}

/// Topics that authors used after a post; each topic once per author.
pub fn list_by_authors(tx: &mut Tx<'_>, authors: &[UserId], after: PostId) -> Result<Vec<String>, Fault> {
    let sql = "SELECT DISTINCT topic FROM topic_post WHERE author_id = $1 AND post_id > $2";
    tx.query_by_ids(sql, authors, &[after.into()])
}

/// Strongest first.
pub fn list_trends(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<TrendingTopic>, Fault> {
    let sql = select!(TrendingTopic, "ORDER BY place LIMIT $1");
    tx.query_rows(sql, &[limit.into()])
}

/// Strongest first.
pub fn replace_trends(tx: &mut Tx<'_>, trends: &[TrendingTopic]) -> Result<(), Fault> {
    tx.execute_later("DELETE FROM trend", &[])?;
    for (position, trend) in (0_i64..).zip(trends) {
        insert!(tx, TrendingTopic, trend, place = position)?;
    }
    Ok(())
}

/// Deletes at most `limit` topic hours before an hour, with their posts; returns how many.
pub fn prune(tx: &mut Tx<'_>, before: i64, limit: i64) -> Result<u64, Fault> {
    let sql = "SELECT hour, topic FROM topic_hour WHERE hour < $1 ORDER BY hour, topic LIMIT $2";
    let rows: Vec<(i64, String)> = tx.query_rows(sql, &[before.into(), limit.into()])?;
    let mut deleted = 0;
    for (hour, topic) in &rows {
        let args = [topic.into(), (*hour).into()];
        let sql = "DELETE FROM topic_post WHERE topic = $1 AND hour = $2";
        tx.execute_later(sql, &args)?;
        let sql = "DELETE FROM topic_hour WHERE topic = $1 AND hour = $2";
        deleted += tx.execute(sql, &args)?;
    }
    Ok(deleted)
}
