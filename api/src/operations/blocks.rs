//! Blocks of users and of their direct messages.

use base::{Entitlement, Scope};
use web::endpoint::{BodySpec, Endpoint, per_day, per_quarter_hour};

use super::shared::{EDGE, OWN, READ, TARGET, USER, USER_FIELDS, page_params};
use crate::v2::blocks;

pub static BLOCKS: &[Endpoint] = &[
    Endpoint::get("getUsersBlocking", "/2/users/{id}/blocking", &blocks::list_blocked)
        .summary("Users whom the authenticated user blocks.")
        .permit("12", READ.with_scope(Scope::BlockRead))
        .limits(&[], &[per_quarter_hour(15)])
        .params(&[OWN, &page_params(1, 1_000, 100), USER_FIELDS]),
    Endpoint::post("blockUser", "/2/users/{id}/blocking", &blocks::block)
        .summary("Blocks a user as the authenticated user.")
        .permit("12", READ.with_scope(Scope::BlockWrite))
        .require_entitlement(Entitlement::Blocks)
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[OWN])
        .body(BodySpec::Json(&[TARGET])),
    Endpoint::delete("unblockUser", "/2/users/{source_user_id}/blocking/{target_user_id}", &blocks::unblock)
        .summary("Unblocks a user as the authenticated user.")
        .permit("12", READ.with_scope(Scope::BlockWrite))
        .require_entitlement(Entitlement::Blocks)
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[EDGE]),
    Endpoint::post("blockUsersDms", "/2/users/{id}/dm/block", &blocks::block_messages)
        .summary("Blocks direct messages from a user.")
        .permit("12", READ.with_scope(Scope::DmWrite))
        .limits(&[per_quarter_hour(25), per_day(1_000)], &[per_quarter_hour(10), per_day(400)])
        .params(&[USER]),
    Endpoint::post("unblockUsersDms", "/2/users/{id}/dm/unblock", &blocks::unblock_messages)
        .summary("Unblocks direct messages from a user.")
        .permit("12", READ.with_scope(Scope::DmWrite))
        .limits(&[per_quarter_hour(25), per_day(1_000)], &[per_quarter_hour(10), per_day(400)])
        .params(&[USER]),
];
