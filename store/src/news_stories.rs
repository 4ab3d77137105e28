//! News stories and their search index.

use std::collections::BTreeSet;

use base::{Fault, PostId, Time};

use crate::Tx;
use crate::db::{DeclaredRow, insert, insert_with, select, sql, stored_enum, table};

stored_enum! {
    pub enum NewsStoryState {
        /// Visible to operators only.
        Draft = 0,
        Published = 1,
        Deleted = 2,
    }
}

table! {
    /// A story as stored. A generated story has only topic and posts; its texts are derived from the posts when it is
    /// read.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct NewsStory in "story" {
        pub id: i64,
        /// Empty for a story by an operator.
        pub topic: String,
        pub state: NewsStoryState,
        pub name: String,
        pub category: String,
        /// The first sentence.
        pub hook: String,
        pub summary: String,
        pub disclaimer: String,
        /// Most central first.
        pub post_ids: Vec<PostId>,
        pub created_at: Time,
    }
    read_only {
        pub updated_at: Time as "story.updated_at",
    }
}

/// A story with all texts, as in the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewsStoryDetails {
    pub id: i64,
    pub name: String,
    pub category: String,
    pub hook: String,
    pub summary: String,
    pub keywords: Vec<String>,
    /// Hashtags of its posts.
    pub topics: Vec<String>,
    /// Usernames that its posts mention.
    pub mentioned_usernames: Vec<String>,
    /// Cashtags of its posts.
    pub tickers: Vec<String>,
    pub post_ids: Vec<PostId>,
    pub disclaimer: String,
    pub updated_at: Time,
}

pub fn find_by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<NewsStory>, Fault> {
    tx.query_row(select!(NewsStory, "WHERE id = $1"), &[id.into()])
}

/// The generated story about a topic.
pub fn find_by_topic(tx: &mut Tx<'_>, topic: &str) -> Result<Option<NewsStory>, Fault> {
    let sql = select!(NewsStory, "WHERE topic = $1 AND topic <> '' AND state = 1");
    tx.query_row(sql, &[topic.into()])
}

/// Newest first, with an id below `below`.
pub fn list(tx: &mut Tx<'_>, below: i64, limit: i64) -> Result<Vec<NewsStory>, Fault> {
    let sql = select!(NewsStory, "WHERE id < $1 ORDER BY id DESC LIMIT $2");
    tx.query_rows(sql, &[below.into(), limit.into()])
}

/// Published stories with a word, updated at `from` or later and before `below` (time and id); latest first.
pub fn list_by_word(
    tx: &mut Tx<'_>,
    word: &str,
    from: Time,
    below: (Time, i64),
    limit: i64,
) -> Result<Vec<NewsStory>, Fault> {
    let sql = sql!(
        "SELECT ",
        NewsStory::COLUMNS,
        " FROM story_word w JOIN story ON id = w.story_id WHERE w.word = \
         $1 AND w.updated_at >= $2 AND w.updated_at <= $3 AND (w.updated_at < $3 OR w.story_id < $4) AND state = 1 \
         ORDER BY w.updated_at DESC, w.story_id DESC LIMIT $5"
    );
    let (at, id) = below;
    let args = [word.into(), from.into(), at.into(), id.into(), limit.into()];
    tx.query_rows(sql, &args)
}

pub fn lock(tx: &mut Tx<'_>, id: i64) -> Result<(), Fault> {
    tx.lock_row("SELECT id FROM story WHERE id = $1 FOR UPDATE", &[id.into()])
}

/// Replaces the story and, if it is published, its index words.
pub fn upsert(tx: &mut Tx<'_>, story: &NewsStory, words: &BTreeSet<String>) -> Result<(), Fault> {
    insert_with!(
        " ON CONFLICT (id) DO UPDATE SET state = excluded.state, name = excluded.name, category = excluded.category, \
         hook = excluded.hook, summary = excluded.summary, disclaimer = excluded.disclaimer, \
         post_ids = excluded.post_ids, updated_at = excluded.updated_at",
        tx,
        NewsStory,
        story,
        updated_at = story.updated_at
    )?;
    index_words(tx, story, words)
}

/// Replaces the index words.
pub fn index_words(tx: &mut Tx<'_>, story: &NewsStory, words: &BTreeSet<String>) -> Result<(), Fault> {
    let sql = "DELETE FROM story_word WHERE story_id = $1";
    tx.execute_later(sql, &[story.id.into()])?;
    for word in words {
        insert!(tx, "story_word", word = word, updated_at = story.updated_at, story_id = story.id)?;
    }
    Ok(())
}
