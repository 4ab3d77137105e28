//! Users.

use web::endpoint::{Endpoint, Kind, Parameter, per_quarter_hour};

use super::shared::{NEXT_TOKEN, READ, USER, USER_FIELDS, USER_QUERY, max_results_param, page_params};
use crate::v2::{user_search, users};

pub static USERS: &[Endpoint] = &[
    Endpoint::get("getUsersByIds", "/2/users", &users::get_many)
        .summary("Users by ids.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(900)])
        .params(&[
            &[Parameter::query("ids", Kind::ID.list(1, 100), "The ids of the users.").as_required()],
            USER_FIELDS,
        ]),
    Endpoint::get("getUsersById", "/2/users/{id}", &users::get)
        .summary("A user by id.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(900)])
        .params(&[USER, USER_FIELDS]),
    Endpoint::get("getUsersByUsernames", "/2/users/by", &users::get_many_by_username)
        .summary("Users by usernames.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(900)])
        .params(&[
            &[Parameter::query("usernames", Kind::USERNAME.list(1, 100), "The usernames of the users.").as_required()],
            USER_FIELDS,
        ]),
    Endpoint::get("getUsersByUsername", "/2/users/by/username/{username}", &users::get_by_username)
        .summary("A user by username.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(900)])
        .params(&[&[Parameter::path("username", Kind::USERNAME, "The username of the user.")], USER_FIELDS]),
    Endpoint::get("getUsersMe", "/2/users/me", &users::get_me)
        .summary("The authenticated user.")
        .permit("12", READ)
        .limits(&[], &[per_quarter_hour(75)])
        .params(&[USER_FIELDS]),
    Endpoint::get("searchUsers", "/2/users/search", &user_search::search_users)
        .summary("Users whose name, username or description matches.")
        .permit("12", READ)
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(900)])
        .params(&[
            &[
                Parameter::query("query", Kind::pattern(&USER_QUERY), "What to search for.").as_required(),
                max_results_param(1, 1_000, 100),
                NEXT_TOKEN.aliases(&["pagination_token"]),
            ],
            USER_FIELDS,
        ]),
    Endpoint::get("getUsersAffiliates", "/2/users/{id}/affiliates", &user_search::list_affiliates)
        .summary("Users who are affiliated with a user.")
        .permit("1A2", READ)
        .params(&[USER, &page_params(1, 1_000, 100), USER_FIELDS]),
];
