//! Follows, blocks, mutes and likes.

use std::collections::{BTreeSet, HashSet};

use base::id::first_snowflake_at;
use base::{Fault, PostId, Time, UserId};
use store::Tx;
use store::follows;
use store::graph::{self, RelationKind};
use store::imports::{self, EdgeKind, ImportedEdges};
use store::posts::PostState;

use super::batch_state::{ImportBatchState, UNKNOWN_USER};
use super::{placeholders, posts};
use crate::reader::{PreparedLike, PreparedRecord, edge_name};

/// The bits of an id below its time.
const ID_LOW_BITS: i64 = (1 << 22) - 1;

pub(crate) fn store(tx: &mut Tx<'_>, batch: &mut ImportBatchState, items: &[PreparedRecord]) -> Result<(), Fault> {
    let likes = items.iter().filter_map(|item| match item {
        PreparedRecord::Like(prepared) => Some(prepared.like.post),
        _ => None,
    });
    let unknown = likes.filter(|post| !batch.known_posts.contains_key(post));
    let unknown = unknown.collect();
    posts::load_known_posts(tx, batch, unknown)?;
    let has_requests = imports::has_follow_requests(tx)?;
    let users = items.iter().filter_map(|item| match item {
        PreparedRecord::Edge(EdgeKind::Follow | EdgeKind::Block, relation) => Some([relation.from, relation.to]),
        _ => None,
    });
    let users = users.flatten().filter_map(|user| batch.find_user(user));
    let users: BTreeSet<UserId> = users.collect();
    let users: Vec<UserId> = users.into_iter().collect();
    batch.verified_users = follows::filter_verified(tx, &users)?.into_iter().collect();
    if batch.is_archive {
        batch.accounts = imports::list_accounts(tx, &users)?.into_iter().collect();
    }
    let mut inserted = InsertedEdges::default();
    if tx.is_shared() {
        inserted.insert_follows(tx, batch, items)?;
        inserted.insert_likes(tx, batch, items)?;
    }
    for item in items {
        match item {
            PreparedRecord::Edge(kind, relation) => {
                let users = (batch.find_user(relation.from), batch.find_user(relation.to));
                let (Some(from), Some(to)) = users else {
                    let reason = "the owner of the archive is unknown";
                    batch.report.skip(edge_name(*kind), reason, || format!("{relation:?}"));
                    continue;
                };
                let id = relation.id.unwrap_or_else(|| tx.next_id::<()>().get());
                let Some(kind) = permitted_kind(batch, *kind, (from, to)) else {
                    skip_follow_of_another(tx, batch, (from, to))?;
                    continue;
                };
                store_edge(tx, batch, &mut inserted, kind, (from, to), id)?;
                if has_requests && kind == EdgeKind::Follow {
                    graph::delete(tx, RelationKind::Request, from, to)?;
                }
            }
            PreparedRecord::Like(prepared) => store_like(tx, batch, &mut inserted, prepared)?,
            _ => {}
        }
    }
    Ok(())
}

/// What an edge of the source becomes here: follows of protected accounts are requested. None for follows of others than the
/// archive's owner who have an account here.
fn permitted_kind(batch: &ImportBatchState, kind: EdgeKind, (from, to): (UserId, UserId)) -> Option<EdgeKind> {
    if kind != EdgeKind::Follow || !batch.is_archive || from == to {
        return Some(kind);
    }
    if batch.owner != Some(from) && batch.accounts.contains_key(&from) {
        return None;
    }
    let needs_approval = batch.owner != Some(to) && batch.accounts.get(&to) == Some(&true);
    Some(if needs_approval { EdgeKind::Request } else { kind })
}

fn skip_follow_of_another(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    (from, to): (UserId, UserId),
) -> Result<(), Fault> {
    let name = edge_name(EdgeKind::Follow);
    if follows::exists(tx, from, to)? {
        batch.report.count_known(name);
    } else {
        let reason = "its follower has an account here and has not followed";
        batch.report.skip(name, reason, || format!("from {from} to {to}"));
    }
    Ok(())
}

fn store_edge(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    inserted: &mut InsertedEdges,
    kind: EdgeKind,
    (from, to): (UserId, UserId),
    id: i64,
) -> Result<(), Fault> {
    let name = edge_name(kind);
    if from == to {
        batch.report.skip(name, "from an account to itself", || format!("user {from}"));
        return Ok(());
    }
    let is_new = match &mut inserted.follows {
        Some(follows) if kind == EdgeKind::Follow => follows.remove(&(from.get(), to.get())),
        _ => imports::insert_edge(tx, kind, from, to, id)?,
    };
    if !is_new {
        if matches!(kind, EdgeKind::Follow | EdgeKind::Request) && is_blocked(tx, from, to)? {
            batch.report.skip(name, "one of the two users blocks the other", || format!("from {from} to {to}"));
        } else {
            batch.report.count_known(name);
        }
        return Ok(());
    }
    batch.track_id(id);
    batch.report.count_stored(name);
    match kind {
        EdgeKind::Follow => shift_follow_counts(batch, from, to, 1),
        EdgeKind::Block => {
            for (from, to) in [(from, to), (to, from)] {
                if imports::delete_follow_between(tx, from, to)? {
                    shift_follow_counts(batch, from, to, -1);
                }
            }
        }
        EdgeKind::Mute | EdgeKind::Request | EdgeKind::DmBlock => {}
    }
    Ok(())
}

fn is_blocked(tx: &mut Tx<'_>, user: UserId, other: UserId) -> Result<bool, Fault> {
    Ok(graph::exists(tx, RelationKind::Block, user, other)? || graph::exists(tx, RelationKind::Block, other, user)?)
}

fn shift_follow_counts(batch: &mut ImportBatchState, from: UserId, to: UserId, change: i64) {
    let verified = batch.verified_users.contains(&from);
    batch.user_delta(from).following += change;
    let deltas = batch.user_delta(to);
    deltas.followers += change;
    if verified {
        deltas.verified_followers += change;
    }
}

fn store_like(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    inserted: &mut InsertedEdges,
    prepared: &PreparedLike,
) -> Result<(), Fault> {
    let like = &prepared.like;
    let Some(user) = batch.find_user(like.user) else {
        let reason = "the owner of the archive is unknown";
        batch.report.skip("like", reason, || format!("post {}", like.post));
        return Ok(());
    };
    let post = PostId::new(like.post);
    let summary = placeholders::ensure(tx, batch, post, UNKNOWN_USER, prepared.draft.as_ref())?;
    if summary.state == PostState::Deleted {
        batch.report.skip("like", "the post was deleted here", || format!("post {post}"));
        return Ok(());
    }
    let is_new = match &mut inserted.likes {
        Some(likes) => likes.remove(&(user.get(), post.get())),
        None => imports::insert_like(tx, user, post, like_id(like.at_ms, user, post))?,
    };
    if is_new {
        batch.user_delta(user).likes += 1;
        batch.post_delta(post).likes += 1;
        batch.report.count_stored("like");
    } else {
        batch.report.count_known("like");
    }
    Ok(())
}

/// What was inserted in one statement for the whole chunk; each is taken out once. None if edges are inserted one by one.
#[derive(Default)]
struct InsertedEdges {
    follows: Option<HashSet<(i64, i64)>>,
    likes: Option<HashSet<(i64, i64)>>,
}

impl InsertedEdges {
    /// Blocks delete follows of the same chunk, so that the order matters.
    fn insert_follows(
        &mut self,
        tx: &mut Tx<'_>,
        batch: &ImportBatchState,
        items: &[PreparedRecord],
    ) -> Result<(), Fault> {
        if items.iter().any(|item| matches!(item, PreparedRecord::Edge(EdgeKind::Block, _))) {
            return Ok(());
        }
        let follows = items.iter().filter_map(|item| match item {
            PreparedRecord::Edge(EdgeKind::Follow, relation) => {
                let (from, to) = (batch.find_user(relation.from)?, batch.find_user(relation.to)?);
                permitted_kind(batch, EdgeKind::Follow, (from, to)).filter(|kind| *kind == EdgeKind::Follow)?;
                let id = relation.id.unwrap_or_else(|| tx.next_id::<()>().get());
                (from != to).then(|| (from.get(), to.get(), id))
            }
            _ => None,
        });
        let follows: Vec<_> = follows.collect();
        self.follows = Some(imports::insert_edges(tx, ImportedEdges::Follows, &follows)?);
        Ok(())
    }

    fn insert_likes(
        &mut self,
        tx: &mut Tx<'_>,
        batch: &mut ImportBatchState,
        items: &[PreparedRecord],
    ) -> Result<(), Fault> {
        let mut likes = Vec::new();
        for item in items {
            if let PreparedRecord::Like(prepared) = item
                && let Some(user) = batch.find_user(prepared.like.user)
            {
                let post = PostId::new(prepared.like.post);
                let summary = placeholders::ensure(tx, batch, post, UNKNOWN_USER, prepared.draft.as_ref())?;
                if summary.state != PostState::Deleted {
                    likes.push((user.get(), post.get(), like_id(prepared.like.at_ms, user, post)));
                }
            }
        }
        self.likes = Some(imports::insert_edges(tx, ImportedEdges::Likes, &likes)?);
        Ok(())
    }
}

/// The id of a like: its time, or else the post's; the low bits distinguish it from others in the
/// same millisecond.
fn like_id(at_ms: Option<i64>, user: UserId, post: PostId) -> i64 {
    let time = at_ms.map_or(post.get(), |at| first_snowflake_at(Time::from_ms(at)));
    let hash = user.get().wrapping_mul(0x09e3_7799_b97f_4a7c) ^ post.get();
    let hash = hash.wrapping_mul(0x2545_f491_4f6c_dd1d);
    (time & !ID_LOW_BITS) | ((hash >> 20) & ID_LOW_BITS)
}
