//! How a user is related to another one.

use base::{Fault, UserId};
use store::graph::{self, RelationKind};
use store::{Tx, follows};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relationship {
    pub is_following: bool,
    pub is_followed_by: bool,
    /// The user has asked to follow the other one.
    pub has_requested: bool,
    pub is_blocking: bool,
    pub is_blocked_by: bool,
    pub is_muting: bool,
}

pub fn load_relationship(tx: &mut Tx<'_>, user: UserId, other: UserId) -> Result<Relationship, Fault> {
    if user == other {
        return Ok(Relationship::default());
    }
    Ok(Relationship {
        is_following: follows::exists(tx, user, other)?,
        is_followed_by: follows::exists(tx, other, user)?,
        has_requested: graph::exists(tx, RelationKind::Request, user, other)?,
        is_blocking: graph::exists(tx, RelationKind::Block, user, other)?,
        is_blocked_by: graph::exists(tx, RelationKind::Block, other, user)?,
        is_muting: graph::exists(tx, RelationKind::Mute, user, other)?,
    })
}
