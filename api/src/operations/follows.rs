//! Follows.

use base::{Entitlement, Scope};
use web::endpoint::{BodySpec, Endpoint, per_quarter_hour};

use super::shared::{EDGE, OWN, READ, TARGET, USER, USER_FIELDS, page_params};
use crate::v2::follows;

pub static FOLLOWS: &[Endpoint] = &[
    Endpoint::post("followUser", "/2/users/{id}/following", &follows::follow)
        .summary("Follows a user, or requests to follow, as the authenticated user.")
        .permit("12", READ.with_scope(Scope::FollowsWrite))
        .require_entitlement(Entitlement::FollowsAndLikes)
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[OWN])
        .body(BodySpec::Json(&[TARGET])),
    Endpoint::delete("unfollowUser", "/2/users/{source_user_id}/following/{target_user_id}", &follows::unfollow)
        .summary("Unfollows a user as the authenticated user.")
        .permit("12", READ.with_scope(Scope::FollowsWrite))
        .require_entitlement(Entitlement::FollowsAndLikes)
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[EDGE]),
    Endpoint::get("getUsersFollowing", "/2/users/{id}/following", &follows::list_following)
        .summary("Users whom a user follows, newest follow first.")
        .permit("1A2", READ.with_scope(Scope::FollowsRead))
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(300)])
        .params(&[USER, &page_params(1, 1_000, 100), USER_FIELDS]),
    Endpoint::get("getUsersFollowers", "/2/users/{id}/followers", &follows::list_followers)
        .summary("Users who follow a user, newest follow first.")
        .permit("1A2", READ.with_scope(Scope::FollowsRead))
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(300)])
        .params(&[USER, &page_params(1, 1_000, 100), USER_FIELDS]),
];
