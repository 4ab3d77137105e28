//! `locum export`: people, posts and follows as JSON Lines that `locum import jsonl` reads.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use archive::{Mention, Record, Repost, Tie};
use base::{Fault, PostId, Stop, UserId};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::posts::{self, Post, Span};
use store::users::{self, User};
use store::{Tx, follows};

use super::execute::new_file;
use crate::world::World;

/// Where the lines go.
#[derive(Args, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Export {
    /// JSON Lines; the only form there is
    #[arg(long, default_value_t = true)]
    #[serde(default)]
    jsonl: bool,
    /// The file to write
    #[arg(required = true)]
    pub(super) file: Option<PathBuf>,
}

/// So many rows in one transaction.
const PAGE: i64 = 500;

/// Does it.
pub(super) async fn execute(world: &World, export: &Export) -> Result<Value, Stop> {
    let file = export
        .file
        .as_ref()
        .ok_or_else(|| Fault::new("no file was named"))?;
    to_file(world, file).await
}

/// How many of each were written.
#[derive(Default)]
struct Counts {
    users: u64,
    posts: u64,
    follows: u64,
}

impl Counts {
    const fn all(&self) -> u64 {
        self.users + self.posts + self.follows
    }
}

/// Writes everything to a new file.
pub(super) async fn to_file(world: &World, path: &Path) -> Result<Value, Stop> {
    new_file(path)?;
    let file = File::create_new(path).map_err(Fault::when("making the file"))?;
    let mut out = BufWriter::new(file);
    let mut counts = Counts::default();
    let mut after = UserId::new(0);
    loop {
        let found = world
            .store
            .read(move |tx| Ok(users::list(tx, after, PAGE)?));
        let found = found.await?;
        let Some(last) = found.last() else { break };
        after = last.id;
        for user in found {
            one_user(world, &user, &mut out, &mut counts).await?;
        }
        world.progress.at(counts.all(), None);
    }
    let file = out.into_inner().map_err(|error| lost(error.into_error()))?;
    file.sync_all().map_err(lost)?;
    Ok(json!({
        "file": path,
        "users": counts.users,
        "posts": counts.posts,
        "follows": counts.follows,
    }))
}

fn lost(error: std::io::Error) -> Fault {
    Fault::caused("writing the file", error)
}

async fn one_user(
    world: &World,
    user: &User,
    out: &mut impl Write,
    counts: &mut Counts,
) -> Result<(), Stop> {
    if matches!(user.state, users::State::Deleted) {
        return Ok(());
    }
    line(out, &Record::User(Box::new(spoken(user))))?;
    counts.users += 1;
    let (id, mut above) = (user.id, 0);
    loop {
        let page = world.store.read(move |tx| page(tx, id, above));
        let page = page.await?;
        let Some(newest) = page.first() else { break };
        above = newest.0.id.get();
        counts.posts += u64::try_from(page.len()).unwrap_or(0);
        for (post, versions) in page.into_iter().rev() {
            line(out, &Record::Post(Box::new(told(post, versions))))?;
        }
        world.progress.at(counts.all(), None);
    }
    let targets = world.store.read(move |tx| Ok(follows::targets(tx, id)?));
    for target in targets.await? {
        let tie = Tie {
            from: Some(id.get()),
            to: Some(target.get()),
        };
        line(out, &Record::Follow(tie))?;
        counts.follows += 1;
    }
    Ok(())
}

fn line(out: &mut impl Write, record: &Record) -> Result<(), Fault> {
    writeln!(out, "{}", record.to_line()).map_err(lost)
}

/// Posts of an author above an id, newest first, each with the ids of its versions.
fn page(tx: &mut Tx<'_>, author: UserId, above: i64) -> Result<Vec<(Post, Vec<PostId>)>, Stop> {
    let span = Span {
        above,
        rising: true,
        ..Span::newest(PAGE)
    };
    let mut all = Vec::new();
    for post in posts::of_author(tx, author, &span)? {
        let versions = match post.edit_root_id {
            Some(root) => posts::versions(tx, root)?,
            None => Vec::new(),
        };
        all.push((post, versions));
    }
    Ok(all)
}

fn spoken(user: &User) -> archive::User {
    archive::User {
        id: user.id.get(),
        handle: user.username.clone(),
        name: user.name.clone(),
        bio: user.description.clone(),
        location: user.location.clone(),
        website: user.url.clone(),
        created_at_ms: user.created_at.ms(),
        protected: user.protected,
        verified: user.verified,
        follower_count: user.followers_count,
        following_count: user.following_count,
        post_count: user.post_count,
        like_count: user.like_count,
        listed_count: user.listed_count,
        avatar_url: user.profile_image_url.clone(),
        banner_url: user.profile_banner_url.clone(),
    }
}

fn told(post: Post, versions: Vec<PostId>) -> archive::Post {
    let repost = |id: PostId| Repost {
        id: Some(id.get()),
        ..Repost::default()
    };
    archive::Post {
        id: post.id.get(),
        author: Some(post.author_id.get()),
        created_at_ms: post.created_at.ms(),
        lang: Some(post.lang).filter(|lang| lang != "und"),
        in_reply_to_post: post.in_reply_to_post_id.map(PostId::get),
        in_reply_to_user: post.in_reply_to_user_id.map(UserId::get),
        quoted_post: post.quoted_post_id.map(PostId::get),
        repost_of: post.repost_of_id.map(repost),
        mentions: mentions(&post.entities),
        edit_history: versions.into_iter().map(PostId::get).collect(),
        possibly_sensitive: post.possibly_sensitive,
        like_count: post.like_count,
        repost_count: post.repost_count,
        community_id: post.community_id,
        text: post.text,
        ..archive::Post::default()
    }
}

/// The mentions of a post's stored entities.
fn mentions(entities: &str) -> Vec<Mention> {
    let entities: Value = serde_json::from_str(entities).unwrap_or_default();
    let mentions = entities.get("mentions").and_then(Value::as_array);
    let mention = |value: &Value| {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        Mention {
            id: text("id").and_then(|id| id.parse().ok()),
            handle: text("username").unwrap_or_default(),
            name: String::new(),
        }
    };
    mentions.into_iter().flatten().map(mention).collect()
}
