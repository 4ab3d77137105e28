//! Follows, blocks, mutes and likes.

use std::collections::BTreeSet;

use base::id::first_snowflake_at;
use base::{Fault, PostId, Time, UserId};
use store::Tx;
use store::follows;
use store::graph::{self, RelationKind};
use store::imports::{self, EdgeKind};
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
                store_edge(tx, batch, *kind, (from, to), id)?;
                if has_requests && *kind == EdgeKind::Follow {
                    graph::delete(tx, RelationKind::Request, from, to)?;
                }
            }
            PreparedRecord::Like(prepared) => store_like(tx, batch, prepared)?,
            _ => {}
        }
    }
    Ok(())
}

fn store_edge(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    kind: EdgeKind,
    (from, to): (UserId, UserId),
    id: i64,
) -> Result<(), Fault> {
    let name = edge_name(kind);
    if from == to {
        batch.report.skip(name, "from an account to itself", || format!("user {from}"));
        return Ok(());
    }
    if !imports::insert_edge(tx, kind, from, to, id)? {
        if kind == EdgeKind::Follow && is_blocked(tx, from, to)? {
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

fn store_like(tx: &mut Tx<'_>, batch: &mut ImportBatchState, prepared: &PreparedLike) -> Result<(), Fault> {
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
    if imports::insert_like(tx, user, post, like_id(like.at_ms, user, post))? {
        batch.user_delta(user).likes += 1;
        batch.post_delta(post).likes += 1;
        batch.report.count_stored("like");
    } else {
        batch.report.count_known("like");
    }
    Ok(())
}

/// The id of a like: its time, or else the post's; the low bits distinguish it from others in the
/// same millisecond.
fn like_id(at_ms: Option<i64>, user: UserId, post: PostId) -> i64 {
    let time = at_ms.map_or(post.get(), |at| first_snowflake_at(Time::from_ms(at)));
    let hash = user.get().wrapping_mul(0x09e3_7799_b97f_4a7c) ^ post.get();
    let hash = hash.wrapping_mul(0x2545_f491_4f6c_dd1d);
    (time & !ID_LOW_BITS) | ((hash >> 20) & ID_LOW_BITS)
}
