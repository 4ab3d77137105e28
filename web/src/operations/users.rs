//! Users.

use super::shared::{NEXT_TOKEN, READ, USER, USER_FIELDS, USER_QUERY, max_results, page};
use crate::endpoint::{Endpoint, Kind, Param, quarter};
use crate::v2;

/// Users, looked up and searched.
pub static USERS: &[Endpoint] = &[
    Endpoint::new("getUsersByIds", "GET", "/2/users")
        .act(v2::users::by_ids)
        .about("Users of these ids.")
        .permit("1A2", READ)
        .limits(&[quarter(300)], &[quarter(900)])
        .params(&[
            &[Param::query("ids", Kind::Ids(1, 100), "The ids of the users.").required()],
            USER_FIELDS,
        ]),
    Endpoint::new("getUsersById", "GET", "/2/users/{id}")
        .act(v2::users::by_id)
        .about("The user of this id.")
        .permit("1A2", READ)
        .limits(&[quarter(300)], &[quarter(900)])
        .params(&[USER, USER_FIELDS]),
    Endpoint::new("getUsersByUsernames", "GET", "/2/users/by")
        .act(v2::users::by_usernames)
        .about("Users of these usernames.")
        .permit("1A2", READ)
        .limits(&[quarter(300)], &[quarter(900)])
        .params(&[
            &[Param::query(
                "usernames",
                Kind::Usernames(1, 100),
                "The usernames of the users.",
            )
            .required()],
            USER_FIELDS,
        ]),
    Endpoint::new(
        "getUsersByUsername",
        "GET",
        "/2/users/by/username/{username}",
    )
    .act(v2::users::by_username)
    .about("The user of this username.")
    .permit("1A2", READ)
    .limits(&[quarter(300)], &[quarter(900)])
    .params(&[
        &[Param::path(
            "username",
            Kind::Username,
            "The username of the user.",
        )],
        USER_FIELDS,
    ]),
    Endpoint::new("getUsersMe", "GET", "/2/users/me")
        .act(v2::users::me)
        .about("The authenticated user.")
        .permit("12", READ)
        .limits(&[], &[quarter(75)])
        .params(&[USER_FIELDS]),
    Endpoint::new("searchUsers", "GET", "/2/users/search")
        .act(v2::people::search)
        .about("Users whose name, username or description matches.")
        .permit("12", READ)
        .limits(&[quarter(300)], &[quarter(900)])
        .params(&[
            &[
                Param::query("query", Kind::Pattern(&USER_QUERY), "What to search for.").required(),
                max_results(1, 1_000, 100),
                NEXT_TOKEN,
            ],
            USER_FIELDS,
        ]),
    Endpoint::new("getUsersAffiliates", "GET", "/2/users/{id}/affiliates")
        .act(v2::people::affiliates)
        .about("Users who are affiliated with a user.")
        .permit("1A2", READ)
        .params(&[USER, &page(1, 1_000, 100), USER_FIELDS]),
];
