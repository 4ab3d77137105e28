//! Likes.

use base::{Entitlement, Scope};

use super::shared::{OWN, POST, POST_FIELDS, POST_ID, POST_OF_USER, READ, USER, USER_FIELDS, page};
use crate::endpoint::{Body, Endpoint, day, quarter};
use crate::v2;

/// Likes, given, taken back and listed.
pub static LIKES: &[Endpoint] = &[
    Endpoint::new("likePost", "POST", "/2/users/{id}/likes")
        .act(v2::likes::like)
        .about("Likes a post as the authenticated user.")
        .permit("12", READ.with_scope(Scope::LikeWrite))
        .needs(Entitlement::FollowsAndLikes)
        .limits(&[], &[quarter(50), day(1_000)])
        .params(&[OWN])
        .body(Body::Json(&[POST_ID])),
    Endpoint::new("unlikePost", "DELETE", "/2/users/{id}/likes/{post_id}")
        .act(v2::likes::unlike)
        .about("Takes a like of the authenticated user back.")
        .permit("12", READ.with_scope(Scope::LikeWrite))
        .needs(Entitlement::FollowsAndLikes)
        .limits(&[], &[quarter(50), day(1_000)])
        .params(&[OWN, POST_OF_USER]),
    Endpoint::new("getPostsLikingUsers", "GET", "/2/<posts>/{id}/liking_users")
        .act(v2::likes::of_post)
        .about("Users who like a post, newest like first.")
        .permit("12", READ.with_scope(Scope::LikeRead))
        .limits(&[quarter(75)], &[quarter(75)])
        .params(&[POST, &page(1, 100, 100), USER_FIELDS]),
    Endpoint::new("getUsersLikedPosts", "GET", "/2/users/{id}/<liked_posts>")
        .act(v2::likes::of_user)
        .about("Posts that a user likes, newest like first.")
        .permit("12", READ.with_scope(Scope::LikeRead))
        .limits(&[quarter(75)], &[quarter(75)])
        .params(&[USER, &page(5, 100, 100), POST_FIELDS]),
];
