//! Follows, blocks, mutes and likes.

use std::collections::BTreeSet;

use base::id::first_snowflake_at;
use base::{Fault, PostId, Time, UserId};
use store::Tx;
use store::follows;
use store::graph::{self, RelationKind};
use store::imports::{self, EdgeKind};
use store::posts::PostState;

use super::desk::{Desk, NOBODY};
use super::{placeholders, posts};
use crate::read::{Item, Like, edge_name};

/// Bits of an id below its time.
const LOW: i64 = (1 << 22) - 1;

pub(crate) fn store(tx: &mut Tx<'_>, desk: &mut Desk, items: &[Item]) -> Result<(), Fault> {
    let likes = items.iter().filter_map(|item| match item {
        Item::Like(one) => Some(one.like.post),
        _ => None,
    });
    let unknown = likes.filter(|post| !desk.posts.contains_key(post));
    let unknown = unknown.collect();
    posts::look_up(tx, desk, unknown)?;
    let waiting = imports::has_follow_requests(tx)?;
    let ends = items.iter().filter_map(|item| match item {
        Item::Edge(EdgeKind::Follow | EdgeKind::Block, tie) => Some([tie.from, tie.to]),
        _ => None,
    });
    let ends = ends.flatten().filter_map(|end| desk.person(end));
    let ends: BTreeSet<UserId> = ends.collect();
    let ends: Vec<UserId> = ends.into_iter().collect();
    desk.verified = follows::filter_verified(tx, &ends)?.into_iter().collect();
    for item in items {
        match item {
            Item::Edge(kind, tie) => {
                let ends = (desk.person(tie.from), desk.person(tie.to));
                let (Some(from), Some(to)) = ends else {
                    let why = "nobody is known to own the archive";
                    desk.report
                        .skip(edge_name(*kind), why, || format!("{tie:?}"));
                    continue;
                };
                let id = tie.id.unwrap_or_else(|| tx.next_id::<()>().get());
                edge(tx, desk, *kind, (from, to), id)?;
                if waiting && *kind == EdgeKind::Follow {
                    graph::delete(tx, RelationKind::Request, from, to)?;
                }
            }
            Item::Like(one) => like(tx, desk, one)?,
            _ => {}
        }
    }
    Ok(())
}

fn edge(
    tx: &mut Tx<'_>,
    desk: &mut Desk,
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
            desk.report
                .skip(name, "one of the two blocks the other", || {
                    format!("from {from} to {to}")
                });
        } else {
            desk.report.know(name);
        }
        return Ok(());
    }
    desk.came(id);
    desk.report.take(name);
    match kind {
        EdgeKind::Follow => shift(desk, from, to, 1),
        EdgeKind::Block => {
            for (from, to) in [(from, to), (to, from)] {
                if imports::delete_follow_between(tx, from, to)? {
                    shift(desk, from, to, -1);
                }
            }
        }
        EdgeKind::Mute | EdgeKind::Request | EdgeKind::DmBlock => {}
    }
    Ok(())
}

/// Whether one of two users blocks the other.
fn is_blocked(tx: &mut Tx<'_>, one: UserId, other: UserId) -> Result<bool, Fault> {
    Ok(graph::exists(tx, RelationKind::Block, one, other)?
        || graph::exists(tx, RelationKind::Block, other, one)?)
}

fn shift(desk: &mut Desk, from: UserId, to: UserId, by: i64) {
    let verified = desk.verified.contains(&from);
    desk.shift_user(from).following += by;
    let followed = desk.shift_user(to);
    followed.followers += by;
    if verified {
        followed.verified_followers += by;
    }
}

fn like(tx: &mut Tx<'_>, desk: &mut Desk, one: &Like) -> Result<(), Fault> {
    let like = &one.like;
    let Some(user) = desk.person(like.user) else {
        let why = "nobody is known to own the archive";
        desk.report
            .skip("like", why, || format!("post {}", like.post));
        return Ok(());
    };
    let post = PostId::new(like.post);
    let seen = placeholders::ensure(tx, desk, post, NOBODY, one.draft.as_ref())?;
    if seen.state == PostState::Deleted {
        desk.report.skip("like", "the post was deleted here", || {
            format!("post {post}")
        });
        return Ok(());
    }
    if imports::insert_like(tx, user, post, like_id(like.at_ms, user, post))? {
        desk.shift_user(user).likes += 1;
        desk.shift_post(post).likes += 1;
        desk.report.take("like");
    } else {
        desk.report.know("like");
    }
    Ok(())
}

/// A like's own id: when it was, or else when the post was; below that, what tells it from others
/// of the same millisecond.
fn like_id(at_ms: Option<i64>, user: UserId, post: PostId) -> i64 {
    let time = at_ms.map_or(post.get(), |at| first_snowflake_at(Time::from_ms(at)));
    let mixed = user.get().wrapping_mul(0x09e3_7799_b97f_4a7c) ^ post.get();
    let mixed = mixed.wrapping_mul(0x2545_f491_4f6c_dd1d);
    (time & !LOW) | ((mixed >> 20) & LOW)
}
