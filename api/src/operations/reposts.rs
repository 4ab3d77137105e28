//! Reposts.

use base::{Scope, Scopes};
use web::endpoint::{BodySpec, Endpoint, Parameter, per_quarter_hour};

use super::shared::{OWN, POST, POST_FIELDS, POST_ID, PUBLISHING, READ, USER_FIELDS, page_params};
use crate::v2::reposts;

pub static REPOSTS: &[Endpoint] = &[
    Endpoint::post("repostPost", "/2/users/{id}/<reposts>", &reposts::create)
        .summary("Reposts a post as the authenticated user.")
        .permit("12", READ.with_scope(Scope::TweetWrite))
        .limits(&[], &[per_quarter_hour(50)])
        .share_limit(&PUBLISHING)
        .params(&[OWN])
        .body(BodySpec::Json(&[POST_ID])),
    Endpoint::delete("unrepostPost", "/2/users/{id}/<reposts>/{source_post_id}", &reposts::delete)
        .summary("Undoes a repost of the authenticated user.")
        .permit("12", READ.with_scope(Scope::TweetWrite))
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[OWN, SOURCE]),
    Endpoint::get("getPostsRepostedBy", "/2/<posts>/{id}/<reposted_by>", &reposts::list_users)
        .summary("Users who reposted a post, newest repost first.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(75)], &[per_quarter_hour(75)])
        .params(&[POST, &page_params(1, 100, 100), USER_FIELDS]),
    Endpoint::get("getUsersRepostsOfMe", "/2/users/reposts_of_me", &reposts::list_reposts_of_me)
        .summary("Posts of the authenticated user that others reposted.")
        .permit("12", Scopes::from_slice(&[Scope::TweetRead, Scope::TimelineRead]))
        .limits(&[], &[per_quarter_hour(75)])
        .params(&[&page_params(1, 100, 100), POST_FIELDS]),
];

const SOURCE: &[Parameter] =
    &[Parameter::path_id("source_post_id", "The id of the post that was reposted.").aliases(&["source_tweet_id"])];
