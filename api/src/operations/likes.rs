//! Likes.

use base::{Entitlement, Scope};
use web::endpoint::{BodySpec, Endpoint, per_day, per_quarter_hour};

use super::shared::{OWN, POST, POST_FIELDS, POST_ID, POST_OF_USER, READ, USER, USER_FIELDS, page_params};
use crate::v2::likes;

pub static LIKES: &[Endpoint] = &[
    Endpoint::post("likePost", "/2/users/{id}/likes", &likes::like)
        .summary("Likes a post as the authenticated user.")
        .permit("12", READ.with_scope(Scope::LikeWrite))
        .require_entitlement(Entitlement::FollowsAndLikes)
        .limits(&[], &[per_quarter_hour(50), per_day(1_000)])
        .params(&[OWN])
        .body(BodySpec::Json(&[POST_ID])),
    Endpoint::delete("unlikePost", "/2/users/{id}/likes/{post_id}", &likes::unlike)
        .summary("Unlikes a post as the authenticated user.")
        .permit("12", READ.with_scope(Scope::LikeWrite))
        .require_entitlement(Entitlement::FollowsAndLikes)
        .limits(&[], &[per_quarter_hour(50), per_day(1_000)])
        .params(&[OWN, POST_OF_USER]),
    Endpoint::get("getPostsLikingUsers", "/2/<posts>/{id}/liking_users", &likes::list_liking_users)
        .summary("Users who like a post, newest like first.")
        .permit("12", READ.with_scope(Scope::LikeRead))
        .limits(&[per_quarter_hour(75)], &[per_quarter_hour(75)])
        .params(&[POST, &page_params(1, 100, 100), USER_FIELDS]),
    Endpoint::get("getUsersLikedPosts", "/2/users/{id}/<liked_posts>", &likes::list_liked_posts)
        .summary("Posts that a user likes, newest like first.")
        .permit("12", READ.with_scope(Scope::LikeRead))
        .limits(&[per_quarter_hour(75)], &[per_quarter_hour(75)])
        .params(&[USER, &page_params(5, 100, 100), POST_FIELDS]),
];
