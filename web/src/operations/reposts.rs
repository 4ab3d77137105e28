//! Reposts.

use base::{Scope, Scopes};

use super::shared::{OWN, POST, POST_FIELDS, POST_ID, PUBLISHING, READ, USER_FIELDS, page};
use crate::endpoint::{Body, Endpoint, Param, quarter};
use crate::v2;

/// Reposts, made, undone and listed.
pub static REPOSTS: &[Endpoint] = &[
    Endpoint::new("repostPost", "POST", "/2/users/{id}/<reposts>")
        .act(v2::reposts::create)
        .about("Reposts a post as the authenticated user.")
        .permit("12", READ.with_scope(Scope::TweetWrite))
        .limits(&[], &[quarter(50)])
        .shares(&PUBLISHING)
        .params(&[OWN])
        .body(Body::Json(&[POST_ID])),
    Endpoint::new(
        "unrepostPost",
        "DELETE",
        "/2/users/{id}/<reposts>/{source_post_id}",
    )
    .act(v2::reposts::delete)
    .about("Undoes a repost of the authenticated user.")
    .permit("12", READ.with_scope(Scope::TweetWrite))
    .limits(&[], &[quarter(50)])
    .params(&[OWN, SOURCE]),
    Endpoint::new("getPostsRepostedBy", "GET", "/2/<posts>/{id}/<reposted_by>")
        .act(v2::reposts::users)
        .about("Users who reposted a post, newest repost first.")
        .permit("1A2", READ)
        .limits(&[quarter(75)], &[quarter(75)])
        .params(&[POST, &page(1, 100, 100), USER_FIELDS]),
    Endpoint::new("getUsersRepostsOfMe", "GET", "/2/users/reposts_of_me")
        .act(v2::reposts::of_me)
        .about("Posts of the authenticated user that others reposted.")
        .permit(
            "12",
            Scopes::from_slice(&[Scope::TweetRead, Scope::TimelineRead]),
        )
        .limits(&[], &[quarter(75)])
        .params(&[&page(1, 100, 100), POST_FIELDS]),
];

const SOURCE: &[Param] = &[
    Param::id("source_post_id", "The id of the post that was reposted.").also(&["source_tweet_id"]),
];
