//! `locum news`.

use std::time::Duration;

use base::{Error, Id, PostId};
use clap::{Args, Subcommand};
use network::{news, topics};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::Tx;
use store::news_stories::{NewsStory, NewsStoryState};

use super::find;
use crate::world::World;

/// What may be done about news.
#[derive(Clone, Debug, Serialize, Deserialize, Subcommand)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NewsCommand {
    /// Writes a story
    Create(NewStory),
    /// Shows a draft to everyone
    Publish {
        /// Its id
        story: String,
    },
    /// Takes a story away
    Delete {
        /// Its id
        story: String,
    },
    /// Lists stories, newest first, drafts among them
    List {
        /// Begins before this id
        #[arg(long)]
        before: Option<String>,
        /// At most so many
        #[arg(long, default_value_t = 100)]
        limit: i64,
    },
    /// Works out trends and stories from the posts of the last hours at once
    Refresh,
}

/// A new story.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct NewStory {
    /// Its headline: 1–100 characters
    name: String,
    /// Its category
    #[arg(long, default_value = "News")]
    category: String,
    /// Its first sentence
    #[arg(long, default_value = "")]
    hook: String,
    /// What happened
    #[arg(long, default_value = "")]
    summary: String,
    /// A word of caution
    #[arg(long, default_value = "")]
    disclaimer: String,
    /// Id of a post it is about; up to ten
    #[arg(long = "post", value_name = "POST")]
    posts: Vec<String>,
    /// Shows it to operators only, until it is published
    #[arg(long)]
    draft: bool,
}

/// Entries of the log that are read in one transaction.
const ENTRIES: i64 = 500;

/// Does it.
pub(super) async fn execute(world: &World, command: NewsCommand) -> Result<Value, Error> {
    match command {
        NewsCommand::Create(new) => {
            let posts: Result<Vec<PostId>, Error> =
                new.posts.iter().map(|text| find::post(text)).collect();
            let story = news::NewNewsStory {
                name: new.name,
                category: new.category,
                hook: new.hook,
                summary: new.summary,
                disclaimer: new.disclaimer,
                post_ids: posts?,
                publish: !new.draft,
            };
            let made = world.store.write(move |tx| news::create(tx, &story));
            Ok(speak(&made.await?))
        }
        NewsCommand::Publish { story } => change(world, &story, news::publish).await,
        NewsCommand::Delete { story } => change(world, &story, news::delete).await,
        NewsCommand::List { before, limit } => {
            let before = before.map_or(Ok(i64::MAX), |text| number(&text))?;
            let read = world
                .store
                .read(move |tx| Ok(store::news_stories::list(tx, before, limit)?));
            Ok(read.await?.iter().map(speak).collect())
        }
        NewsCommand::Refresh => {
            catch_up(world).await?;
            let (trends, stories) = refresh(world).await?;
            Ok(json!({ "trends": trends, "stories": stories }))
        }
    }
}

/// Reads on in the log to its end; whether there was something.
pub(crate) async fn follow(world: &World) -> Result<bool, Error> {
    let mut something = false;
    while world.store.read(|tx| Ok(topics::is_behind(tx)?)).await? {
        let read = |tx: &mut Tx<'_>| Ok(topics::follow_log(tx, ENTRIES)?);
        if world.store.write(read).await? == 0 {
            break;
        }
        something = true;
    }
    Ok(something)
}

/// How often and how long the end of a log is waited for that others write to.
const LOOK_EACH: Duration = Duration::from_millis(50);
const LOOKS: u32 = 100;

/// Reads all that the log tells now. On a database server an entry can be read once all
/// transactions that are older have ended.
async fn catch_up(world: &World) -> Result<(), Error> {
    let end = world
        .store
        .read(|tx| Ok(store::event_log::highest_seq(tx)?))
        .await?;
    for _ in 0..LOOKS {
        follow(world).await?;
        let there = world.store.read(move |tx| Ok(topics::has_read(tx, end)?));
        if there.await? {
            return Ok(());
        }
        tokio::time::sleep(LOOK_EACH).await;
    }
    Ok(())
}

/// Works out what trends, and the stories; how many trend and how many stories changed.
pub(crate) async fn refresh(world: &World) -> Result<(usize, usize), Error> {
    let outlook = world.store.read(|tx| Ok(news::compute_update(tx)?)).await?;
    let trends = outlook.trend_count();
    if outlook.is_unchanged() {
        return Ok((trends, 0));
    }
    let store = move |tx: &mut Tx<'_>| Ok(news::store_update(tx, &outlook)?);
    Ok((trends, world.store.write(store).await?))
}

async fn change(
    world: &World,
    story: &str,
    act: fn(&mut Tx<'_>, i64) -> Result<NewsStory, Error>,
) -> Result<Value, Error> {
    let id = number(story)?;
    let changed = world.store.write(move |tx| act(tx, id));
    Ok(speak(&changed.await?))
}

fn number(text: &str) -> Result<i64, Error> {
    let id = Id::<()>::parse(text);
    id.map(Id::get).ok_or_else(|| find::unknown("story", text))
}

fn speak(story: &NewsStory) -> Value {
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
