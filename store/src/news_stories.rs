//! News stories and their search index.

use std::collections::BTreeSet;

use base::{Fault, PostId, Time};

use crate::Tx;
use crate::db::SqlRow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewsStoryState {
    /// Visible to operators only.
    Draft,
    Published,
    Deleted,
}

impl NewsStoryState {
    const fn to_number(self) -> i64 {
        match self {
            Self::Draft => 0,
            Self::Published => 1,
            Self::Deleted => 2,
        }
    }

    const fn from_number(number: i64) -> Self {
        match number {
            0 => Self::Draft,
            1 => Self::Published,
            _ => Self::Deleted,
        }
    }
}

/// A story as stored. A generated story has only topic and posts; its texts are derived from the posts when it is
/// read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewsStory {
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
    pub updated_at: Time,
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

macro_rules! columns {
    ($after:expr) => {
        concat!(
            "SELECT s.id, s.topic, s.state, s.name, s.category, s.hook, s.summary, s.disclaimer, \
             s.post_ids, s.created_at, s.updated_at FROM ",
            $after
        )
    };
}

fn story_from_row(row: &SqlRow<'_, '_>) -> Result<NewsStory, Fault> {
    let posts = row.text(8)?;
    Ok(NewsStory {
        id: row.int(0)?,
        topic: row.text(1)?,
        state: NewsStoryState::from_number(row.int(2)?),
        name: row.text(3)?,
        category: row.text(4)?,
        hook: row.text(5)?,
        summary: row.text(6)?,
        disclaimer: row.text(7)?,
        post_ids: posts.split(',').filter_map(PostId::parse).collect(),
        created_at: row.time(9)?,
        updated_at: row.time(10)?,
    })
}

pub fn find_by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<NewsStory>, Fault> {
    tx.query_row(columns!("story s WHERE s.id = $1"), &[id.into()], story_from_row)
}

/// The generated story about a topic.
pub fn find_by_topic(tx: &mut Tx<'_>, topic: &str) -> Result<Option<NewsStory>, Fault> {
    let sql = columns!("story s WHERE s.topic = $1 AND s.topic <> '' AND s.state = 1");
    tx.query_row(sql, &[topic.into()], story_from_row)
}

/// Newest first, with an id below `below`.
pub fn list(tx: &mut Tx<'_>, below: i64, limit: i64) -> Result<Vec<NewsStory>, Fault> {
    let sql = columns!("story s WHERE s.id < $1 ORDER BY s.id DESC LIMIT $2");
    tx.query_rows(sql, &[below.into(), limit.into()], story_from_row)
}

/// Published stories with a word, updated at `from` or later and before `below` (time and id); latest first.
pub fn list_by_word(
    tx: &mut Tx<'_>,
    word: &str,
    from: Time,
    below: (Time, i64),
    limit: i64,
) -> Result<Vec<NewsStory>, Fault> {
    let sql = columns!(
        "story_word w JOIN story s ON s.id = w.story_id WHERE w.word = $1 AND w.updated_at >= $2 \
         AND w.updated_at <= $3 AND (w.updated_at < $3 OR w.story_id < $4) AND s.state = 1 \
         ORDER BY w.updated_at DESC, w.story_id DESC LIMIT $5"
    );
    let (at, id) = below;
    let args = [word.into(), from.into(), at.into(), id.into(), limit.into()];
    tx.query_rows(sql, &args, story_from_row)
}

/// Replaces the story and, if it is published, its index words.
pub fn upsert(tx: &mut Tx<'_>, story: &NewsStory, words: &BTreeSet<String>) -> Result<(), Fault> {
    let sql = "INSERT INTO story (id, topic, state, name, category, hook, summary, disclaimer, \
               post_ids, created_at, updated_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
               ON CONFLICT (id) DO UPDATE SET state = excluded.state, name = excluded.name, \
               category = excluded.category, hook = excluded.hook, summary = excluded.summary, \
               disclaimer = excluded.disclaimer, post_ids = excluded.post_ids, \
               updated_at = excluded.updated_at";
    let posts: Vec<String> = story.post_ids.iter().map(PostId::to_string).collect();
    let posts = posts.join(",");
    let args = [
        story.id.into(),
        (&story.topic).into(),
        story.state.to_number().into(),
        (&story.name).into(),
        (&story.category).into(),
        (&story.hook).into(),
        (&story.summary).into(),
        (&story.disclaimer).into(),
        (&posts).into(),
        story.created_at.into(),
        story.updated_at.into(),
    ];
    tx.execute(sql, &args)?;
    let sql = "DELETE FROM story_word WHERE story_id = $1";
    tx.execute(sql, &[story.id.into()])?;
    for word in words {
        let sql = "INSERT INTO story_word (word, updated_at, story_id) VALUES ($1, $2, $3)";
        tx.execute(sql, &[word.into(), story.updated_at.into(), story.id.into()])?;
    }
    Ok(())
}
