//! `locum news`.

use std::time::Duration;

use base::{Error, Id, PostId};
use clap::{Args, Subcommand};
use network::news;
use network::topics::{self, TOPICS_READER};
use serde_json::{Value, json};
use store::Tx;
use store::news_stories::{NewsStory, NewsStoryState};

use super::find;
use super::limit::LimitArgs;
use crate::Instance;

#[derive(Clone, Debug, Subcommand)]
pub enum NewsCommand {
    /// Create a story
    Create(NewStoryArgs),
    /// Publish a draft
    Publish {
        /// The id
        story: String,
    },
    /// Delete a story
    Delete {
        /// The id
        story: String,
    },
    /// List stories, including drafts, newest first
    List {
        /// Start before this id
        #[arg(long)]
        before: Option<String>,
        #[command(flatten)]
        limit: LimitArgs,
    },
    /// Recompute trends and stories from recent posts now
    Refresh,
}

#[derive(Args, Clone, Debug)]
pub struct NewStoryArgs {
    /// The headline: 1–100 characters
    name: String,
    /// The category
    #[arg(long, default_value = "News")]
    category: String,
    /// The hook: the first sentence
    #[arg(long, default_value = "", hide_default_value = true)]
    hook: String,
    /// The summary
    #[arg(long, default_value = "", hide_default_value = true)]
    summary: String,
    /// The disclaimer
    #[arg(long, default_value = "", hide_default_value = true)]
    disclaimer: String,
    /// The id of a related post; repeatable up to ten times
    #[arg(long = "post", value_name = "POST")]
    posts: Vec<String>,
    /// Create a draft that only operators see
    #[arg(long)]
    draft: bool,
}

pub(super) async fn execute(instance: &Instance, command: NewsCommand) -> Result<Value, Error> {
    match command {
        NewsCommand::Create(new) => {
            let posts: Result<Vec<PostId>, Error> = new.posts.iter().map(|text| find::post_id(text)).collect();
            let story = news::NewNewsStory {
                name: new.name,
                category: new.category,
                hook: new.hook,
                summary: new.summary,
                disclaimer: new.disclaimer,
                post_ids: posts?,
                publish: !new.draft,
            };
            let made = instance.write(move |tx| news::create(tx, &story));
            Ok(render_story(&made.await?))
        }
        NewsCommand::Publish { story } => change_story(instance, &story, news::publish).await,
        NewsCommand::Delete { story } => change_story(instance, &story, news::delete).await,
        NewsCommand::List { before, limit: LimitArgs { limit } } => {
            let before = before.map_or(Ok(i64::MAX), |text| parse_id(&text))?;
            let read = instance.store.read(move |tx| Ok(store::news_stories::list(tx, before, limit)?));
            Ok(read.await?.iter().map(render_story).collect())
        }
        NewsCommand::Refresh => {
            read_to_log_end(instance).await?;
            let (trends, stories) = refresh_trends(instance).await?;
            Ok(json!({ "trends": trends, "stories": stories }))
        }
    }
}

/// Returns whether any entries were read.
pub async fn follow_event_log(instance: &Instance) -> Result<bool, Error> {
    let mut something = false;
    while TOPICS_READER.process_unread(&instance.store, topics::count_topics).await? > 0 {
        something = true;
    }
    Ok(something)
}

const LOG_POLL_INTERVAL: Duration = Duration::from_millis(50);
const MAX_LOG_POLLS: u32 = 100;

async fn read_to_log_end(instance: &Instance) -> Result<(), Error> {
    let end = instance.store.wait_for_log_end(LOG_POLL_INTERVAL * MAX_LOG_POLLS).await?;
    for _ in 0..MAX_LOG_POLLS {
        follow_event_log(instance).await?;
        let there = instance.store.read(move |tx| Ok(topics::has_read(tx, end)?));
        if there.await? {
            return Ok(());
        }
        tokio::time::sleep(LOG_POLL_INTERVAL).await;
    }
    Ok(())
}

/// Returns the number of trends and the number of changed stories.
pub async fn refresh_trends(instance: &Instance) -> Result<(usize, usize), Error> {
    let outlook = instance.store.read(|tx| Ok(news::compute_update(tx)?)).await?;
    let trends = outlook.trend_count();
    if outlook.is_unchanged() {
        return Ok((trends, 0));
    }
    let store = move |tx: &mut Tx<'_>| Ok(news::store_update(tx, &outlook)?);
    Ok((trends, instance.write(store).await?))
}

async fn change_story(
    instance: &Instance,
    story: &str,
    act: fn(&mut Tx<'_>, i64) -> Result<NewsStory, Error>,
) -> Result<Value, Error> {
    let id = parse_id(story)?;
    let changed = instance.write(move |tx| act(tx, id));
    Ok(render_story(&changed.await?))
}

fn parse_id(text: &str) -> Result<i64, Error> {
    let id = Id::<()>::parse(text);
    id.map(Id::get).ok_or_else(|| find::not_found("story", text))
}

fn render_story(story: &NewsStory) -> Value {
    let posts: Vec<String> = story.post_ids.iter().map(PostId::to_string).collect();
    json!({
        "id": story.id.to_string(),
        "topic": story.topic,
        "state": match story.state {
            NewsStoryState::Draft => "draft",
            NewsStoryState::Published => "published",
            NewsStoryState::Deleted => "deleted",
        },
        "name": story.name,
        "category": story.category,
        "posts": posts,
        "updated_at": story.updated_at.to_string(),
    })
}
