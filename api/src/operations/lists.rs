//! Lists, their members and their followers.

use base::{Scope, Scopes};
use web::endpoint::{BodySpec, Endpoint, Kind, Parameter, per_quarter_hour};

use super::shared::{LIST, LIST_FIELDS, OWN, POST_FIELDS, READ, USER, USER_FIELDS, page_params};
use crate::v2;

pub static LISTS: &[Endpoint] = &[
    Endpoint::new("getListsById", "GET", "/2/lists/{id}")
        .summary("A list by id.")
        .permit("1A2", SEE)
        .limits(&[per_quarter_hour(75)], &[per_quarter_hour(75)])
        .params(&[LIST, LIST_FIELDS])
        .handler(&v2::lists::get),
    Endpoint::new("getUsersOwnedLists", "GET", "/2/users/{id}/owned_lists")
        .summary("Lists that a user owns.")
        .permit("1A2", SEE)
        .limits(&[per_quarter_hour(15)], &[per_quarter_hour(15)])
        .params(&[USER, &page_params(1, 100, 100), LIST_FIELDS])
        .handler(&v2::lists::list_owned),
    Endpoint::new("createLists", "POST", "/2/lists")
        .summary("Creates a list for the authenticated user.")
        .permit("12", SEE.with_scope(Scope::ListWrite))
        .limits(&[], &[per_quarter_hour(300)])
        .body(BodySpec::Json(&[Parameter::member("name", Kind::text(1, 25)).as_required(), DESCRIPTION, PRIVATE]))
        .success_status(201)
        .handler(&v2::lists::create),
    Endpoint::new("updateLists", "PUT", "/2/lists/{id}")
        .summary("Updates a list of the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[per_quarter_hour(300)])
        .params(&[LIST])
        .body(BodySpec::Json(&[Parameter::member("name", Kind::text(1, 25)), DESCRIPTION, PRIVATE]))
        .handler(&v2::lists::update),
    Endpoint::new("deleteLists", "DELETE", "/2/lists/{id}")
        .summary("Deletes a list of the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[per_quarter_hour(300)])
        .params(&[LIST])
        .handler(&v2::lists::delete),
    Endpoint::new("getListsPosts", "GET", "/2/lists/{id}/<posts>")
        .summary("Posts of a list's members, newest first; those of a private list need the scope `list.read` too.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(900)], &[per_quarter_hour(900)])
        .params(&[LIST, &page_params(1, 100, 100), POST_FIELDS])
        .handler(&v2::lists::list_posts),
];

pub static LIST_MEMBERS: &[Endpoint] = &[
    Endpoint::new("getListsMembers", "GET", "/2/lists/{id}/members")
        .summary("Members of a list.")
        .permit("1A2", SEE)
        .limits(&[per_quarter_hour(900)], &[per_quarter_hour(900)])
        .params(&[LIST, &page_params(1, 100, 100), USER_FIELDS])
        .handler(&v2::lists::list_members),
    Endpoint::new("getUsersListMemberships", "GET", "/2/users/{id}/list_memberships")
        .summary("Lists that a user is a member of.")
        .permit("1A2", SEE)
        .limits(&[per_quarter_hour(75)], &[per_quarter_hour(75)])
        .params(&[USER, &page_params(1, 100, 100), LIST_FIELDS])
        .handler(&v2::lists::list_memberships),
    Endpoint::new("addListsMember", "POST", "/2/lists/{id}/members")
        .summary("Adds a user to a list of the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[per_quarter_hour(300)])
        .params(&[LIST])
        .body(BodySpec::Json(&[Parameter::member("user_id", Kind::ID).as_required()]))
        .handler(&v2::lists::add_member),
    Endpoint::new("removeListsMemberByUserId", "DELETE", "/2/lists/{id}/members/{user_id}")
        .summary("Removes a user from a list of the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[per_quarter_hour(300)])
        .params(&[LIST, &[Parameter::path_id("user_id", "The id of the user.")]])
        .handler(&v2::lists::remove_member),
];

pub static LIST_FOLLOWS: &[Endpoint] = &[
    Endpoint::new("getListsFollowers", "GET", "/2/lists/{id}/followers")
        .summary("Users who follow a list.")
        .permit("1A2", SEE)
        .limits(&[per_quarter_hour(180)], &[per_quarter_hour(180)])
        .params(&[LIST, &page_params(1, 100, 100), USER_FIELDS])
        .handler(&v2::lists::list_followers),
    Endpoint::new("getUsersFollowedLists", "GET", "/2/users/{id}/followed_lists")
        .summary("Lists that a user follows.")
        .permit("1A2", SEE)
        .limits(&[per_quarter_hour(15)], &[per_quarter_hour(15)])
        .params(&[USER, &page_params(1, 100, 100), LIST_FIELDS])
        .handler(&v2::lists::list_followed),
    Endpoint::new("followList", "POST", "/2/users/{id}/followed_lists")
        .summary("Follows a list as the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[OWN])
        .body(BodySpec::Json(&[LIST_ID]))
        .handler(&v2::lists::follow),
    Endpoint::new("unfollowList", "DELETE", "/2/users/{id}/followed_lists/{list_id}")
        .summary("Unfollows a list as the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[OWN, LIST_OF_USER])
        .handler(&v2::lists::unfollow),
    Endpoint::new("getUsersPinnedLists", "GET", "/2/users/{id}/pinned_lists")
        .summary("Lists that the authenticated user pinned.")
        .permit("12", SEE)
        .limits(&[per_quarter_hour(15)], &[per_quarter_hour(15)])
        .params(&[OWN, LIST_FIELDS])
        .handler(&v2::lists::list_pinned),
    Endpoint::new("pinList", "POST", "/2/users/{id}/pinned_lists")
        .summary("Pins a list as the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[OWN])
        .body(BodySpec::Json(&[LIST_ID]))
        .handler(&v2::lists::pin),
    Endpoint::new("unpinList", "DELETE", "/2/users/{id}/pinned_lists/{list_id}")
        .summary("Unpins a list of the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[OWN, LIST_OF_USER])
        .handler(&v2::lists::unpin),
];

const SEE: Scopes = READ.with_scope(Scope::ListRead);
const MANAGE: Scopes = READ.with_scope(Scope::ListWrite);
const DESCRIPTION: Parameter = Parameter::member("description", Kind::text(0, 100));
const PRIVATE: Parameter = Parameter::member("private", Kind::BOOL);
const LIST_ID: Parameter = Parameter::member("list_id", Kind::ID).as_required();
const LIST_OF_USER: &[Parameter] = &[Parameter::path_id("list_id", "The id of the list.")];
