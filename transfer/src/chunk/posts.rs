//! Posts: new ones, and those that a placeholder was waiting for.

mod build;

use std::collections::BTreeSet;

use base::{Fault, PostId, UserId};
use store::Tx;
use store::imports::{self, ImportedPostSummary};
use store::posts::{self, NewPostDetails, PostState};

use super::desk::{Desk, NOBODY};
use super::{media, people, placeholders};
use crate::read::Prepared;
use build::{Place, build};

/// Stores posts, which come in the order of their ids.
pub(crate) fn store(tx: &mut Tx<'_>, desk: &mut Desk, all: &[&Prepared]) -> Result<(), Fault> {
    let mut ids = BTreeSet::new();
    for post in all {
        let post = &post.post;
        let source = post.repost_of.as_ref().and_then(|repost| repost.id);
        let targets = [post.in_reply_to_post, post.quoted_post, source];
        ids.insert(post.id);
        ids.extend(targets.into_iter().flatten());
        ids.extend(&post.edit_history);
    }
    look_up(tx, desk, ids.into_iter().collect())?;
    all.iter().try_for_each(|post| store_one(tx, desk, post))
}

/// Finds out which posts are there.
pub(super) fn look_up(tx: &mut Tx<'_>, desk: &mut Desk, ids: Vec<i64>) -> Result<(), Fault> {
    let seen = imports::find_posts(tx, &ids)?;
    desk.posts
        .extend(seen.into_iter().map(|seen| (seen.id.get(), seen)));
    Ok(())
}

fn store_one(tx: &mut Tx<'_>, desk: &mut Desk, told: &Prepared) -> Result<(), Fault> {
    let id = told.post.id;
    let there = desk.posts.get(&id).copied();
    if there.is_some_and(|seen| seen.state != PostState::Placeholder) {
        desk.report.know("post");
        return Ok(());
    }
    let Some(author) = desk.person(told.post.author) else {
        return store_orphan(tx, desk, told);
    };
    let place = place(tx, desk, told, author)?;
    let keys = store_media(tx, desk, told, author)?;
    let (post, mentioned) = build(tx, desk, told, author, &place, keys)?;
    let beside = NewPostDetails {
        imported_likes: told.post.like_count.max(0),
        imported_reposts: told.post.repost_count.max(0),
        direct_message_deep_link: told.post.message_link.clone(),
        ..NewPostDetails::default()
    };
    let stored = match there {
        None => posts::insert_without_counts(tx, &post, &beside)?,
        Some(_) => is_free(tx, &post)? && posts::replace_placeholder(tx, &post, &beside)?,
    };
    if !stored {
        let why = "its author reposted the same post already";
        desk.report.skip("post", why, || format!("post {id}"));
        return Ok(());
    }
    desk.post_came(id);
    desk.report.take("post");
    let seen = ImportedPostSummary {
        id: post.id,
        author_id: author,
        state: post.state,
        conversation_id: post.conversation_id,
        has_text: true,
    };
    desk.posts.insert(id, seen);
    if there.is_some() {
        desk.report.placeholders.completed_posts += 1;
        pass_on(tx, desk, &seen)?;
    }
    if post.state == PostState::Live {
        desk.count(&post, 1);
        for user in mentioned {
            imports::insert_mention(tx, user, post.id)?;
        }
    }
    Ok(())
}

/// A repost may be put in the place of its placeholder unless there is another one like it.
fn is_free(tx: &mut Tx<'_>, post: &posts::Post) -> Result<bool, Fault> {
    match post.repost_of_id {
        Some(source) => Ok(!imports::has_reposted(
            tx,
            source,
            post.author_id,
            post.nullcast,
        )?),
        None => Ok(true),
    }
}

/// A post without an author is a placeholder with a text.
fn store_orphan(tx: &mut Tx<'_>, desk: &mut Desk, told: &Prepared) -> Result<(), Fault> {
    let id = PostId::new(told.post.id);
    placeholders::ensure(tx, desk, id, NOBODY, Some(&told.draft))?;
    let why = "its author is not told: a placeholder keeps its text";
    desk.report.skip("post", why, || format!("post {id}"));
    Ok(())
}

/// Makes sure that what the post points to is there, and finds its place among its versions.
fn place(
    tx: &mut Tx<'_>,
    desk: &mut Desk,
    told: &Prepared,
    author: UserId,
) -> Result<Place, Fault> {
    let post = &told.post;
    let mut place = Place::default();
    let addressee = post.in_reply_to_user.and_then(|id| desk.person(Some(id)));
    if let Some(parent) = post.in_reply_to_post.filter(|parent| *parent != post.id) {
        let parent = PostId::new(parent);
        let whose = addressee.unwrap_or(NOBODY);
        let seen = placeholders::ensure(tx, desk, parent, whose, None)?;
        place.parent = Some(seen);
    }
    let parent_author = place.parent.map(|seen| seen.author_id);
    let parent_author = parent_author.filter(|author| *author != NOBODY);
    place.addressee = addressee.or(parent_author);
    if let Some(quoted) = post.quoted_post.filter(|quoted| *quoted != post.id) {
        placeholders::ensure(tx, desk, PostId::new(quoted), NOBODY, None)?;
        place.quoted = Some(PostId::new(quoted));
    }
    if let Some(repost) = &post.repost_of {
        let whose = match repost.author {
            Some(author) => desk.person(Some(author)),
            None => people::of_handle(tx, desk, &repost.handle)?,
        };
        let source = repost.id.filter(|source| *source != post.id);
        let source = source.map_or_else(|| tx.next_id(), PostId::new);
        let text = told.source.as_ref();
        let text = text.filter(|_| !repost.text.is_empty());
        placeholders::ensure(tx, desk, source, whose.unwrap_or(NOBODY), text)?;
        place.source = Some(source);
    }
    versions(tx, desk, told, author, &mut place)?;
    Ok(place)
}

/// The newest version that is there is the live one, in whatever order they come.
fn versions(
    tx: &mut Tx<'_>,
    desk: &mut Desk,
    told: &Prepared,
    author: UserId,
    place: &mut Place,
) -> Result<(), Fault> {
    let post = &told.post;
    let Some(root) = post.edit_history.iter().min().copied() else {
        return Ok(());
    };
    let root = PostId::new(root);
    place.root = Some(root);
    let conversation = desk.posts.get(&root.get()).map(|seen| seen.conversation_id);
    place.root_conversation = conversation;
    for version in &post.edit_history {
        let Some(seen) = desk.posts.get(version).copied() else {
            continue;
        };
        let is_version = matches!(seen.state, PostState::Live | PostState::Superseded);
        if !is_version || seen.author_id != author {
            continue;
        }
        if *version > post.id {
            place.superseded = true;
        } else if *version < post.id && seen.state == PostState::Live {
            supersede(tx, desk, seen, root)?;
        }
    }
    Ok(())
}

fn supersede(
    tx: &mut Tx<'_>,
    desk: &mut Desk,
    seen: ImportedPostSummary,
    root: PostId,
) -> Result<(), Fault> {
    let Some(old) = posts::find_by_id(tx, seen.id)? else {
        return Ok(());
    };
    imports::mark_superseded(tx, seen.id, root)?;
    desk.count(&old, -1);
    desk.posts.insert(
        seen.id.get(),
        ImportedPostSummary {
            state: PostState::Superseded,
            ..seen
        },
    );
    Ok(())
}

fn store_media(
    tx: &mut Tx<'_>,
    desk: &mut Desk,
    told: &Prepared,
    author: UserId,
) -> Result<String, Fault> {
    let mut keys: Vec<String> = Vec::with_capacity(told.post.media.len());
    for (attached, path) in told.post.media.iter().zip(&told.paths) {
        media::keep(tx, desk, attached, path, author)?;
        let key = crate::read::key_of(attached);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    Ok(keys.join(","))
}

/// Tells the answers to a post that has become known which conversation they belong to.
fn pass_on(tx: &mut Tx<'_>, desk: &mut Desk, root: &ImportedPostSummary) -> Result<(), Fault> {
    if root.conversation_id == root.id {
        return Ok(());
    }
    let mut parents = vec![root.id.get()];
    while !parents.is_empty() {
        let children = imports::list_replies(tx, &parents)?;
        for child in &children {
            imports::set_conversation(tx, *child, root.conversation_id)?;
            if let Some(seen) = desk.posts.get_mut(child) {
                seen.conversation_id = root.conversation_id;
            }
        }
        parents = children;
    }
    Ok(())
}
