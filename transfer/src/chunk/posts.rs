//! Posts, including those that replace a placeholder.

mod post_row;

use std::collections::BTreeSet;

use archive::ArchivedPost;
use base::{Fault, Id, PostId, Time, UserId, sorted_distinct};
use network::{communities, polls};
use store::Tx;
use store::imports::{self, ImportedPostSummary};
use store::posts::{self, NewPostDetails, PostState};

use super::batch_state::{ImportBatchState, UNKNOWN_USER};
use super::{media, placeholders, user_resolver};
use crate::reader::PreparedPost;
use post_row::{PostReferences, build_post_row};

/// Expects posts in the order of their ids.
pub(crate) fn store(tx: &mut Tx<'_>, batch: &mut ImportBatchState, all: &[&PreparedPost]) -> Result<(), Fault> {
    let mut ids = BTreeSet::new();
    for post in all {
        let post = &post.post;
        let source = post.repost_of.as_ref().and_then(|repost| repost.id);
        let targets = [post.in_reply_to_post, post.quoted_post, source];
        ids.insert(post.id);
        ids.extend(targets.into_iter().flatten());
        ids.extend(&post.edit_history);
    }
    load_known_posts(tx, batch, ids.into_iter().collect())?;
    if tx.is_shared() {
        // What is read between inserts keeps them from being sent together.
        load_known_reposts(tx, batch, all)?;
        for post in all {
            post_row::resolve_mentions(tx, batch, post)?;
        }
    }
    all.iter().try_for_each(|post| store_post(tx, batch, post))
}

pub(super) fn load_known_posts(tx: &mut Tx<'_>, batch: &mut ImportBatchState, ids: Vec<i64>) -> Result<(), Fault> {
    let summary = imports::find_posts(tx, &ids)?;
    batch.known_posts.extend(summary.into_iter().map(|summary| (summary.id.get(), summary)));
    Ok(())
}

fn load_known_reposts(tx: &mut Tx<'_>, batch: &mut ImportBatchState, all: &[&PreparedPost]) -> Result<(), Fault> {
    let pairs = all.iter().filter_map(|imported| {
        let source = imported.post.repost_of.as_ref()?.id?;
        Some((PostId::new(source), batch.find_user(imported.post.author)?))
    });
    let pairs: Vec<(PostId, UserId)> = pairs.collect();
    if !pairs.is_empty() {
        batch.known_reposts.extend(imports::list_reposts(tx, &pairs)?);
    }
    Ok(())
}

/// Whether the author may repost the post; the importer has to know all reposts in advance where inserts are not
/// answered one by one.
fn may_repost(tx: &Tx<'_>, batch: &mut ImportBatchState, post: &posts::Post) -> bool {
    let repost = post.repost_of_id.filter(|_| tx.is_shared() && post.state == PostState::Live);
    repost.is_none_or(|source| batch.known_reposts.insert((source, post.author_id, post.nullcast)))
}

/// Likes or reposts of an imported post, to which those that happen here are added.
const MAX_IMPORTED_COUNT: i64 = 1_000_000_000_000;

fn store_post(tx: &mut Tx<'_>, batch: &mut ImportBatchState, imported: &PreparedPost) -> Result<(), Fault> {
    let id = imported.post.id;
    let existing = batch.known_posts.get(&id).copied();
    if existing.is_some_and(|summary| summary.state != PostState::Placeholder) {
        batch.report.count_known("post");
        return Ok(());
    }
    let Some(author) = batch.find_user(imported.post.author) else {
        return store_orphan(tx, batch, imported);
    };
    if let Some(reason) = find_archive_problem(tx, batch, imported, author)? {
        batch.report.skip("post", reason, || format!("post {id}"));
        return Ok(());
    }
    let references = resolve_references(tx, batch, imported, author)?;
    let keys = store_media(tx, batch, imported, author)?;
    let (post, mentioned) = build_post_row(tx, batch, imported, author, &references, keys)?;
    let details = NewPostDetails {
        imported_likes: imported.post.like_count.clamp(0, MAX_IMPORTED_COUNT),
        imported_reposts: imported.post.repost_count.clamp(0, MAX_IMPORTED_COUNT),
        direct_message_deep_link: imported.post.message_link.clone(),
        ..NewPostDetails::default()
    };
    let stored = match existing {
        None => may_repost(tx, batch, &post) && imports::insert_missing_post(tx, &post, &details)?,
        Some(_) => {
            may_fill_placeholder(tx, &post)?
                && may_repost(tx, batch, &post)
                && posts::replace_placeholder(tx, &post, &details)?
        }
    };
    if !stored {
        let reason = "its author reposted the same post already";
        batch.report.skip("post", reason, || format!("post {id}"));
        return Ok(());
    }
    count_media_uses(tx, imported, &post)?;
    batch.track_post(id);
    batch.report.count_stored("post");
    let summary = ImportedPostSummary {
        id: post.id,
        author_id: author,
        state: post.state,
        conversation_id: post.conversation_id,
        has_text: true,
    };
    batch.known_posts.insert(id, summary);
    if existing.is_some() {
        batch.report.placeholders.completed_posts += 1;
        propagate_conversation(tx, batch, &summary)?;
    }
    if post.state == PostState::Live {
        batch.count_post(&post, 1);
        for user in mentioned {
            imports::insert_mention(tx, user, post.id)?;
        }
        store_poll(tx, batch, &imported.post)?;
    }
    Ok(())
}

/// Why an archive, which somebody may have edited, may not contain the post.
fn find_archive_problem(
    tx: &mut Tx<'_>,
    batch: &ImportBatchState,
    imported: &PreparedPost,
    author: UserId,
) -> Result<Option<&'static str>, Fault> {
    if !batch.is_archive {
        return Ok(None);
    }
    if batch.owner != Some(author) {
        return Ok(Some("it is not by the owner of the archive"));
    }
    match imported.post.community_id {
        Some(id) if store::communities::find_by_id(tx, id)?.is_some() && !communities::is_member(tx, id, author)? => {
            Ok(Some("its author is not in its community"))
        }
        _ => Ok(None),
    }
}

/// Without votes: archives have their numbers and not who voted.
fn store_poll(tx: &mut Tx<'_>, batch: &mut ImportBatchState, post: &ArchivedPost) -> Result<(), Fault> {
    let Some(poll) = post.poll.as_ref().filter(|_| post.repost_of.is_none()) else {
        return Ok(());
    };
    let label = || format!("post {}", post.id);
    let (published_at, ends_at) = (Time::from_ms(post.created_at_ms), Time::from_ms(poll.ends_at_ms));
    let options = poll.options.iter().map(|option| option.label.clone()).collect();
    let built = polls::build_imported_poll(tx, PostId::new(post.id), published_at, options, ends_at);
    let Ok(built) = built else {
        batch.report.skip("poll", "its options or its end are invalid", label);
        return Ok(());
    };
    if !store::polls::insert_imported(tx, &built)? {
        batch.report.count_known("poll");
        return Ok(());
    }
    batch.report.count_stored("poll");
    if poll.options.iter().any(|option| option.votes > 0) {
        batch.report.skip("poll_vote", "it is not known who voted", label);
    }
    Ok(())
}

/// A user may repost a post only once.
fn may_fill_placeholder(tx: &mut Tx<'_>, post: &posts::Post) -> Result<bool, Fault> {
    match post.repost_of_id {
        Some(source) => Ok(!imports::has_reposted(tx, source, post.author_id, post.nullcast)?),
        None => Ok(true),
    }
}

/// A post without an author becomes a placeholder with a text.
fn store_orphan(tx: &mut Tx<'_>, batch: &mut ImportBatchState, imported: &PreparedPost) -> Result<(), Fault> {
    let id = PostId::new(imported.post.id);
    placeholders::ensure(tx, batch, id, UNKNOWN_USER, Some(&imported.draft))?;
    let reason = "its author is unknown: its text is kept in a placeholder";
    batch.report.skip("post", reason, || format!("post {id}"));
    Ok(())
}

/// Inserts placeholders for missing posts that the post refers to, and resolves its version
/// history.
fn resolve_references(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    imported: &PreparedPost,
    author: UserId,
) -> Result<PostReferences, Fault> {
    let post = &imported.post;
    let mut references = PostReferences::default();
    let addressee = post.in_reply_to_user.and_then(|id| batch.find_user(Some(id)));
    if let Some(parent) = post.in_reply_to_post.filter(|parent| *parent != post.id) {
        let parent = PostId::new(parent);
        let addressee_id = addressee.unwrap_or(UNKNOWN_USER);
        let summary = placeholders::ensure(tx, batch, parent, addressee_id, None)?;
        references.parent = Some(summary);
    }
    let parent_author = references.parent.map(|summary| summary.author_id);
    let parent_author = parent_author.filter(|author| *author != UNKNOWN_USER);
    references.addressee = addressee.or(parent_author);
    if let Some(quoted) = post.quoted_post.filter(|quoted| *quoted != post.id) {
        placeholders::ensure(tx, batch, PostId::new(quoted), UNKNOWN_USER, None)?;
        references.quoted = Some(PostId::new(quoted));
    }
    if let Some(repost) = &post.repost_of {
        let source_author = match repost.author {
            Some(author) => batch.find_user(Some(author)),
            None => user_resolver::find_or_create_by_handle(tx, batch, &repost.handle)?,
        };
        let source = repost.id.filter(|source| *source != post.id);
        let source = source.map_or_else(|| tx.next_id(), PostId::new);
        let text = imported.source.as_ref();
        let text = text.filter(|_| !repost.text.is_empty());
        placeholders::ensure(tx, batch, source, source_author.unwrap_or(UNKNOWN_USER), text)?;
        references.source = Some(source);
    }
    resolve_versions(tx, batch, imported, author, &mut references)?;
    Ok(references)
}

/// The newest version is the live one, whatever the order in which they are imported.
fn resolve_versions(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    imported: &PreparedPost,
    author: UserId,
    references: &mut PostReferences,
) -> Result<(), Fault> {
    let post = &imported.post;
    let is_own = |version: &&i64| {
        let known = batch.known_posts.get(*version);
        known.is_none_or(|known| known.author_id == author || known.state == PostState::Placeholder)
    };
    let Some(root) = post.edit_history.iter().filter(is_own).min().copied() else {
        return Ok(());
    };
    let root = PostId::new(root);
    references.root = Some(root);
    let conversation = batch.known_posts.get(&root.get()).map(|summary| summary.conversation_id);
    references.root_conversation = conversation;
    for version in &post.edit_history {
        let Some(summary) = batch.known_posts.get(version).copied() else {
            continue;
        };
        let is_version = matches!(summary.state, PostState::Live | PostState::Superseded);
        if !is_version || summary.author_id != author {
            continue;
        }
        if *version > post.id {
            references.superseded = true;
        } else if *version < post.id && summary.state == PostState::Live {
            supersede_version(tx, batch, summary, root)?;
        }
    }
    Ok(())
}

fn supersede_version(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    summary: ImportedPostSummary,
    root: PostId,
) -> Result<(), Fault> {
    let Some(old) = posts::find_by_id(tx, summary.id)? else {
        return Ok(());
    };
    imports::mark_superseded(tx, summary.id, root)?;
    batch.track_changed_post(summary.id.get());
    batch.count_post(&old, -1);
    batch.known_posts.insert(summary.id.get(), ImportedPostSummary { state: PostState::Superseded, ..summary });
    Ok(())
}

fn store_media(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    imported: &PreparedPost,
    author: UserId,
) -> Result<String, Fault> {
    let mut keys: Vec<String> = Vec::with_capacity(imported.post.media.len());
    for (attached, path) in imported.post.media.iter().zip(&imported.paths) {
        if !media::store_attachment(tx, batch, attached, path, author)? {
            continue;
        }
        let key = crate::reader::media_key(attached);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    Ok(keys.join(","))
}

/// Of media with a known number of uses, it includes the posts that are imported.
fn count_media_uses(tx: &mut Tx<'_>, imported: &PreparedPost, post: &posts::Post) -> Result<(), Fault> {
    let is_attached = |key: &str| post.media_keys.split(',').any(|attached| attached == key);
    let media = imported.post.media.iter();
    let media = media.filter(|media| media.uses.is_none() && is_attached(&crate::reader::media_key(media)));
    store::media::add_post_uses(tx, &sorted_distinct(media.map(|media| Id::new(media.id))))
}

fn propagate_conversation(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    root: &ImportedPostSummary,
) -> Result<(), Fault> {
    if root.conversation_id == root.id {
        return Ok(());
    }
    let mut parents = vec![root.id.get()];
    while !parents.is_empty() {
        let children = imports::list_replies(tx, &parents)?;
        for child in &children {
            imports::set_conversation(tx, *child, root.conversation_id)?;
            batch.track_changed_post(*child);
            if let Some(summary) = batch.known_posts.get_mut(child) {
                summary.conversation_id = root.conversation_id;
            }
        }
        parents = children;
    }
    Ok(())
}
