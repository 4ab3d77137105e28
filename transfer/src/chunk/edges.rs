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

pub(crate) fn store(tx: &mut Tx<'_>, desk: &mut ImportBatchState, items: &[PreparedRecord]) -> Result<(), Fault> {
    let likes = items.iter().filter_map(|item| match item {
        PreparedRecord::Like(one) => Some(one.like.post),
        _ => None,
    });
    let unknown = likes.filter(|post| !desk.known_posts.contains_key(post));
    let unknown = unknown.collect();
    posts::load_known_posts(tx, desk, unknown)?;
    let waiting = imports::has_follow_requests(tx)?;
    let ends = items.iter().filter_map(|item| match item {
        PreparedRecord::Edge(EdgeKind::Follow | EdgeKind::Block, tie) => Some([tie.from, tie.to]),
        _ => None,
    });
    let ends = ends.flatten().filter_map(|end| desk.find_user(end));
    let ends: BTreeSet<UserId> = ends.collect();
    let ends: Vec<UserId> = ends.into_iter().collect();
    desk.verified_users = follows::filter_verified(tx, &ends)?.into_iter().collect();
    for item in items {
        match item {
            PreparedRecord::Edge(kind, tie) => {
                let ends = (desk.find_user(tie.from), desk.find_user(tie.to));
                let (Some(from), Some(to)) = ends else {
                    let why = "nobody is known to own the archive";
                    desk.report.skip(edge_name(*kind), why, || format!("{tie:?}"));
                    continue;
                };
                let id = tie.id.unwrap_or_else(|| tx.next_id::<()>().get());
                store_edge(tx, desk, *kind, (from, to), id)?;
                if waiting && *kind == EdgeKind::Follow {
                    graph::delete(tx, RelationKind::Request, from, to)?;
                }
            }
            PreparedRecord::Like(one) => store_like(tx, desk, one)?,
            _ => {}
        }
    }
    Ok(())
}

fn store_edge(
    tx: &mut Tx<'_>,
    desk: &mut ImportBatchState,
    kind: EdgeKind,
    (from, to): (UserId, UserId),
    id: i64,
) -> Result<(), Fault> {
    let name = edge_name(kind);
    if from == to {
        desk.report
            .skip(name, "from an account to itself", || format!("user {from}"));
        return Ok(());
    }
    if !imports::insert_edge(tx, kind, from, to, id)? {
        if kind == EdgeKind::Follow && is_blocked(tx, from, to)? {
            desk.report.skip(name, "one of the two blocks the other", || {
                format!("from {from} to {to}")
            });
        } else {
            desk.report.count_known(name);
        }
        return Ok(());
    }
    desk.track_id(id);
    desk.report.count_stored(name);
    match kind {
        EdgeKind::Follow => shift_follow_counts(desk, from, to, 1),
        EdgeKind::Block => {
            for (from, to) in [(from, to), (to, from)] {
                if imports::delete_follow_between(tx, from, to)? {
                    shift_follow_counts(desk, from, to, -1);
                }
            }
        }
        EdgeKind::Mute | EdgeKind::Request | EdgeKind::DmBlock => {}
    }
    Ok(())
}

fn is_blocked(tx: &mut Tx<'_>, one: UserId, other: UserId) -> Result<bool, Fault> {
    Ok(graph::exists(tx, RelationKind::Block, one, other)? || graph::exists(tx, RelationKind::Block, other, one)?)
}

fn shift_follow_counts(desk: &mut ImportBatchState, from: UserId, to: UserId, by: i64) {
    let verified = desk.verified_users.contains(&from);
    desk.user_delta(from).following += by;
    let followed = desk.user_delta(to);
    followed.followers += by;
    if verified {
        followed.verified_followers += by;
    }
}

fn store_like(tx: &mut Tx<'_>, desk: &mut ImportBatchState, one: &PreparedLike) -> Result<(), Fault> {
    let like = &one.like;
    let Some(user) = desk.find_user(like.user) else {
        let why = "nobody is known to own the archive";
        desk.report.skip("like", why, || format!("post {}", like.post));
        return Ok(());
    };
    let post = PostId::new(like.post);
    let seen = placeholders::ensure(tx, desk, post, UNKNOWN_USER, one.draft.as_ref())?;
    if seen.state == PostState::Deleted {
        desk.report
            .skip("like", "the post was deleted here", || format!("post {post}"));
        return Ok(());
    }
    if imports::insert_like(tx, user, post, like_id(like.at_ms, user, post))? {
        desk.user_delta(user).likes += 1;
        desk.post_delta(post).likes += 1;
        desk.report.count_stored("like");
    } else {
        desk.report.count_known("like");
    }
    Ok(())
}

/// The id of a like: its time, or else the post's; the low bits distinguish it from others in the
/// same millisecond.
fn like_id(at_ms: Option<i64>, user: UserId, post: PostId) -> i64 {
    let time = at_ms.map_or(post.get(), |at| first_snowflake_at(Time::from_ms(at)));
    let mixed = user.get().wrapping_mul(0x09e3_7799_b97f_4a7c) ^ post.get();
    let mixed = mixed.wrapping_mul(0x2545_f491_4f6c_dd1d);
    (time & !ID_LOW_BITS) | ((mixed >> 20) & ID_LOW_BITS)
}
