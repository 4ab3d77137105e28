//! Lists, their members and their followers.

use base::{Scope, Scopes};
use web::endpoint::{BodySpec, Endpoint, Kind, Parameter, per_quarter_hour};

use super::shared::{LIST, LIST_FIELDS, OWN, POST_FIELDS, READ, USER, USER_FIELDS, page_params};
use crate::v2::lists;

pub static LISTS: &[Endpoint] = &[
    Endpoint::get("getListsById", "/2/lists/{id}", &lists::get)
        .summary("A list by id.")
        .permit("1A2", SEE)
        .limits(&[per_quarter_hour(75)], &[per_quarter_hour(75)])
        .params(&[LIST, LIST_FIELDS]),
    Endpoint::get("getUsersOwnedLists", "/2/users/{id}/owned_lists", &lists::list_owned)
        .summary("Lists that a user owns.")
        .permit("1A2", SEE)
        .limits(&[per_quarter_hour(15)], &[per_quarter_hour(15)])
        .params(&[USER, &page_params(1, 100, 100), LIST_FIELDS]),
    Endpoint::post("createLists", "/2/lists", &lists::create)
        .summary("Creates a list for the authenticated user.")
        .permit("12", SEE.with_scope(Scope::ListWrite))
        .limits(&[], &[per_quarter_hour(300)])
        .body(BodySpec::Json(&[Parameter::member("name", Kind::text(1, 25)).as_required(), DESCRIPTION, PRIVATE]))
        .creates(),
    Endpoint::put("updateLists", "/2/lists/{id}", &lists::update)
        .summary("Updates a list of the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[per_quarter_hour(300)])
        .params(&[LIST])
        .body(BodySpec::Json(&[Parameter::member("name", Kind::text(1, 25)), DESCRIPTION, PRIVATE])),
    Endpoint::delete("deleteLists", "/2/lists/{id}", &lists::delete)
        .summary("Deletes a list of the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[per_quarter_hour(300)])
        .params(&[LIST]),
    Endpoint::get("getListsPosts", "/2/lists/{id}/<posts>", &lists::list_posts)
        .summary("Posts of a list's members, newest first; those of a private list need the scope `list.read` too.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(900)], &[per_quarter_hour(900)])
        .params(&[LIST, &page_params(1, 100, 100), POST_FIELDS]),
];

pub static LIST_MEMBERS: &[Endpoint] = &[
    Endpoint::get("getListsMembers", "/2/lists/{id}/members", &lists::list_members)
        .summary("Members of a list.")
        .permit("1A2", SEE)
        .limits(&[per_quarter_hour(900)], &[per_quarter_hour(900)])
        .params(&[LIST, &page_params(1, 100, 100), USER_FIELDS]),
    Endpoint::get("getUsersListMemberships", "/2/users/{id}/list_memberships", &lists::list_memberships)
        .summary("Lists that a user is a member of.")
        .permit("1A2", SEE)
        .limits(&[per_quarter_hour(75)], &[per_quarter_hour(75)])
        .params(&[USER, &page_params(1, 100, 100), LIST_FIELDS]),
    Endpoint::post("addListsMember", "/2/lists/{id}/members", &lists::add_member)
        .summary("Adds a user to a list of the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[per_quarter_hour(300)])
        .params(&[LIST])
        .body(BodySpec::Json(&[Parameter::member("user_id", Kind::ID).as_required()])),
    Endpoint::delete("removeListsMemberByUserId", "/2/lists/{id}/members/{user_id}", &lists::remove_member)
        .summary("Removes a user from a list of the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[per_quarter_hour(300)])
        .params(&[LIST, &[Parameter::path_id("user_id", "The id of the user.")]]),
];

pub static LIST_FOLLOWS: &[Endpoint] = &[
    Endpoint::get("getListsFollowers", "/2/lists/{id}/followers", &lists::list_followers)
        .summary("Users who follow a list.")
        .permit("1A2", SEE)
        .limits(&[per_quarter_hour(180)], &[per_quarter_hour(180)])
        .params(&[LIST, &page_params(1, 100, 100), USER_FIELDS]),
    Endpoint::get("getUsersFollowedLists", "/2/users/{id}/followed_lists", &lists::list_followed)
        .summary("Lists that a user follows.")
        .permit("1A2", SEE)
        .limits(&[per_quarter_hour(15)], &[per_quarter_hour(15)])
        .params(&[USER, &page_params(1, 100, 100), LIST_FIELDS]),
    Endpoint::post("followList", "/2/users/{id}/followed_lists", &lists::follow)
        .summary("Follows a list as the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[OWN])
        .body(BodySpec::Json(&[LIST_ID])),
    Endpoint::delete("unfollowList", "/2/users/{id}/followed_lists/{list_id}", &lists::unfollow)
        .summary("Unfollows a list as the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[OWN, LIST_OF_USER]),
    Endpoint::get("getUsersPinnedLists", "/2/users/{id}/pinned_lists", &lists::list_pinned)
        .summary("Lists that the authenticated user pinned.")
        .permit("12", SEE)
        .limits(&[per_quarter_hour(15)], &[per_quarter_hour(15)])
        .params(&[OWN, LIST_FIELDS]),
    Endpoint::post("pinList", "/2/users/{id}/pinned_lists", &lists::pin)
        .summary("Pins a list as the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[OWN])
        .body(BodySpec::Json(&[LIST_ID])),
    Endpoint::delete("unpinList", "/2/users/{id}/pinned_lists/{list_id}", &lists::unpin)
        .summary("Unpins a list of the authenticated user.")
        .permit("12", MANAGE)
        .limits(&[], &[per_quarter_hour(50)])
        .params(&[OWN, LIST_OF_USER]),
];

const SEE: Scopes = READ.with_scope(Scope::ListRead);
const MANAGE: Scopes = READ.with_scope(Scope::ListWrite);
const DESCRIPTION: Parameter = Parameter::member("description", Kind::text(0, 100));
const PRIVATE: Parameter = Parameter::member("private", Kind::BOOL);
const LIST_ID: Parameter = Parameter::member("list_id", Kind::ID).as_required();
const LIST_OF_USER: &[Parameter] = &[Parameter::path_id("list_id", "The id of the list.")];
