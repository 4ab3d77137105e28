//! Blocks, of users and of their direct messages.

use base::{Entitlement, Scope};

use super::shared::{EDGE, OWN, READ, TARGET, USER, USER_FIELDS, page};
use crate::endpoint::{Body, Endpoint, day, quarter};
use crate::v2;

/// Blocks, set, lifted and listed.
pub static BLOCKS: &[Endpoint] = &[
    Endpoint::new("getUsersBlocking", "GET", "/2/users/{id}/blocking")
        .act(v2::blocks::blocking)
        .about("Users whom the authenticated user blocks.")
        .permit("12", READ.with_scope(Scope::BlockRead))
        .limits(&[], &[quarter(15)])
        .params(&[OWN, &page(1, 1_000, 100), USER_FIELDS]),
    Endpoint::new("blockUser", "POST", "/2/users/{id}/blocking")
        .act(v2::blocks::block)
        .about("Blocks a user as the authenticated user.")
        .permit("12", READ.with_scope(Scope::BlockWrite))
        .needs(Entitlement::Blocks)
        .limits(&[], &[quarter(50)])
        .params(&[OWN])
        .body(Body::Json(&[TARGET])),
    Endpoint::new(
        "unblockUser",
        "DELETE",
        "/2/users/{source_user_id}/blocking/{target_user_id}",
    )
    .act(v2::blocks::unblock)
    .about("Lifts a block of the authenticated user.")
    .permit("12", READ.with_scope(Scope::BlockWrite))
    .needs(Entitlement::Blocks)
    .limits(&[], &[quarter(50)])
    .params(&[EDGE]),
    Endpoint::new("blockUsersDms", "POST", "/2/users/{id}/dm/block")
        .act(v2::blocks::block_messages)
        .about("Refuses direct messages of a user.")
        .permit("12", READ.with_scope(Scope::DmWrite))
        .limits(&[quarter(25), day(1_000)], &[quarter(10), day(400)])
        .params(&[USER]),
    Endpoint::new("unblockUsersDms", "POST", "/2/users/{id}/dm/unblock")
        .act(v2::blocks::unblock_messages)
        .about("Accepts direct messages of a user again.")
        .permit("12", READ.with_scope(Scope::DmWrite))
        .limits(&[quarter(25), day(1_000)], &[quarter(10), day(400)])
        .params(&[USER]),
];
