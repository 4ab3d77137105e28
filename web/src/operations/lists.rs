//! Lists, their members and their followers.

use base::{Scope, Scopes};

use super::shared::{LIST, LIST_FIELDS, OWN, POST_FIELDS, READ, USER, USER_FIELDS, page};
use crate::endpoint::{Body, Endpoint, Member, Param, Shape, quarter};
use crate::v2;

/// Lists, kept and shown.
pub static LISTS: &[Endpoint] = &[
    Endpoint::new("getListsById", "GET", "/2/lists/{id}")
        .about("The list of this id.")
        .permit("1A2", SEE)
        .limits(&[quarter(75)], &[quarter(75)])
        .params(&[LIST, LIST_FIELDS])
        .act(v2::lists::by_id),
    Endpoint::new("getUsersOwnedLists", "GET", "/2/users/{id}/owned_lists")
        .about("Lists that a user owns.")
        .permit("1A2", SEE)
        .limits(&[quarter(15)], &[quarter(15)])
        .params(&[USER, &page(1, 100, 100), LIST_FIELDS])
        .act(v2::lists::owned),
    Endpoint::new("createLists", "POST", "/2/lists")
        .about("Creates a list for the authenticated user.")
        .permit("12", SEE.with_scope(Scope::ListWrite))
        .limits(&[], &[quarter(300)])
        .body(Body::Json(&[
            Member::new("name", Shape::Text(1, 25)).required(),
            DESCRIPTION,
            PRIVATE,
        ]))
        .success(201)
        .act(v2::lists::create),
    Endpoint::new("updateLists", "PUT", "/2/lists/{id}")
        .about("Changes a list of the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[quarter(300)])
        .params(&[LIST])
        .body(Body::Json(&[
            Member::new("name", Shape::Text(1, 25)),
            DESCRIPTION,
            PRIVATE,
        ]))
        .act(v2::lists::update),
    Endpoint::new("deleteLists", "DELETE", "/2/lists/{id}")
        .about("Deletes a list of the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[quarter(300)])
        .params(&[LIST])
        .act(v2::lists::delete),
    Endpoint::new("getListsPosts", "GET", "/2/lists/{id}/<posts>")
        .about("Posts of a list's members, newest first.")
        .permit("1A2", SEE)
        .limits(&[quarter(900)], &[quarter(900)])
        .params(&[LIST, &page(1, 100, 100), POST_FIELDS])
        .act(v2::lists::posts),
];

/// Members of lists.
pub static LIST_MEMBERS: &[Endpoint] = &[
    Endpoint::new("getListsMembers", "GET", "/2/lists/{id}/members")
        .about("Members of a list.")
        .permit("1A2", SEE)
        .limits(&[quarter(900)], &[quarter(900)])
        .params(&[LIST, &page(1, 100, 100), USER_FIELDS])
        .act(v2::lists::members),
    Endpoint::new(
        "getUsersListMemberships",
        "GET",
        "/2/users/{id}/list_memberships",
    )
    .about("Lists that a user is a member of.")
    .permit("1A2", SEE)
    .limits(&[quarter(75)], &[quarter(75)])
    .params(&[USER, &page(1, 100, 100), LIST_FIELDS])
    .act(v2::lists::memberships),
    Endpoint::new("addListsMember", "POST", "/2/lists/{id}/members")
        .about("Adds a user to a list of the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[quarter(300)])
        .params(&[LIST])
        .body(Body::Json(&[Member::new("user_id", Shape::Id).required()]))
        .act(v2::lists::add_member),
    Endpoint::new(
        "removeListsMemberByUserId",
        "DELETE",
        "/2/lists/{id}/members/{user_id}",
    )
    .about("Removes a user from a list of the authenticated user.")
    .permit("12", MANAGE)
    .limits(&[], &[quarter(300)])
    .params(&[LIST, &[Param::id("user_id", "The id of the user.")]])
    .act(v2::lists::remove_member),
];

/// Followers of lists, and lists that are pinned.
pub static LIST_FOLLOWS: &[Endpoint] = &[
    Endpoint::new("getListsFollowers", "GET", "/2/lists/{id}/followers")
        .about("Users who follow a list.")
        .permit("1A2", SEE)
        .limits(&[quarter(180)], &[quarter(180)])
        .params(&[LIST, &page(1, 100, 100), USER_FIELDS])
        .act(v2::lists::followers),
    Endpoint::new(
        "getUsersFollowedLists",
        "GET",
        "/2/users/{id}/followed_lists",
    )
    .about("Lists that a user follows.")
    .permit("1A2", SEE)
    .limits(&[quarter(15)], &[quarter(15)])
    .params(&[USER, &page(1, 100, 100), LIST_FIELDS])
    .act(v2::lists::followed),
    Endpoint::new("followList", "POST", "/2/users/{id}/followed_lists")
        .about("Follows a list as the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[quarter(50)])
        .params(&[OWN])
        .body(Body::Json(&[LIST_ID]))
        .act(v2::lists::follow),
    Endpoint::new(
        "unfollowList",
        "DELETE",
        "/2/users/{id}/followed_lists/{list_id}",
    )
    .about("Ends the authenticated user's follow of a list.")
    .permit("12", MANAGE)
    .limits(&[], &[quarter(50)])
    .params(&[OWN, LIST_OF_USER])
    .act(v2::lists::unfollow),
    Endpoint::new("getUsersPinnedLists", "GET", "/2/users/{id}/pinned_lists")
        .about("Lists that the authenticated user pinned.")
        .permit("12", SEE)
        .limits(&[quarter(15)], &[quarter(15)])
        .params(&[OWN, LIST_FIELDS])
        .act(v2::lists::pinned),
    Endpoint::new("pinList", "POST", "/2/users/{id}/pinned_lists")
        .about("Pins a list as the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[quarter(50)])
        .params(&[OWN])
        .body(Body::Json(&[LIST_ID]))
        .act(v2::lists::pin),
    Endpoint::new(
        "unpinList",
        "DELETE",
        "/2/users/{id}/pinned_lists/{list_id}",
    )
    .about("Unpins a list of the authenticated user.")
    .permit("12", MANAGE)
    .limits(&[], &[quarter(50)])
    .params(&[OWN, LIST_OF_USER])
    .act(v2::lists::unpin),
];

const SEE: Scopes = READ.with_scope(Scope::ListRead);
const MANAGE: Scopes = READ.with_scope(Scope::ListWrite);
const DESCRIPTION: Member = Member::new("description", Shape::Text(0, 100));
const PRIVATE: Member = Member::new("private", Shape::Bool);
const LIST_ID: Member = Member::new("list_id", Shape::Id).required();
const LIST_OF_USER: &[Param] = &[Param::id("list_id", "The id of the list.")];
