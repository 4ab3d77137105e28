//! Follows.

use base::{Entitlement, Scope};

use super::shared::{EDGE, OWN, READ, TARGET, USER, USER_FIELDS, page};
use crate::endpoint::{Body, Endpoint, quarter};
use crate::v2;

/// Follows, begun, ended and listed.
pub static FOLLOWS: &[Endpoint] = &[
    Endpoint::new("followUser", "POST", "/2/users/{id}/following")
        .act(v2::follows::follow)
        .about("Follows a user, or asks to, as the authenticated user.")
        .permit("12", READ.with_scope(Scope::FollowsWrite))
        .needs(Entitlement::FollowsAndLikes)
        .limits(&[], &[quarter(50)])
        .params(&[OWN])
        .body(Body::Json(&[TARGET])),
    Endpoint::new(
        "unfollowUser",
        "DELETE",
        "/2/users/{source_user_id}/following/{target_user_id}",
    )
    .act(v2::follows::unfollow)
    .about("Ends a follow of the authenticated user.")
    .permit("12", READ.with_scope(Scope::FollowsWrite))
    .needs(Entitlement::FollowsAndLikes)
    .limits(&[], &[quarter(50)])
    .params(&[EDGE]),
    Endpoint::new("getUsersFollowing", "GET", "/2/users/{id}/following")
        .act(v2::follows::following)
        .about("Users whom a user follows, newest follow first.")
        .permit("1A2", READ.with_scope(Scope::FollowsRead))
        .limits(&[quarter(300)], &[quarter(300)])
        .params(&[USER, &page(1, 1_000, 100), USER_FIELDS]),
    Endpoint::new("getUsersFollowers", "GET", "/2/users/{id}/followers")
        .act(v2::follows::followers)
        .about("Users who follow a user, newest follow first.")
        .permit("1A2", READ.with_scope(Scope::FollowsRead))
        .limits(&[quarter(300)], &[quarter(300)])
        .params(&[USER, &page(1, 1_000, 100), USER_FIELDS]),
];
