//! Timelines: a user's posts, their mentions, their home.

use super::shared::{EXCLUDE, OWN, POST_FIELDS, READ, TIME_WINDOW, USER, page};
use crate::endpoint::{Endpoint, Kind, Param, quarter};
use crate::v2;

/// Posts by a user, about a user and for a user.
pub static TIMELINES: &[Endpoint] = &[
    Endpoint::new("getUsersPosts", "GET", "/2/users/{id}/<posts>")
        .act(v2::timelines::of_user)
        .about("Posts of a user, newest first.")
        .permit("1A2", READ)
        .limits(&[quarter(10_000)], &[quarter(900)])
        .params(&[USER, &page(5, 100, 10), TIME_WINDOW, EXCLUDE, POST_FIELDS]),
    Endpoint::new("getUsersMentions", "GET", "/2/users/{id}/mentions")
        .act(v2::timelines::mentions)
        .about("Posts that mention a user, newest first.")
        .permit("1A2", READ)
        .limits(&[quarter(450)], &[quarter(300)])
        .params(&[USER, &page(5, 100, 10), TIME_WINDOW, POST_FIELDS]),
    Endpoint::new(
        "getUsersTimeline",
        "GET",
        "/2/users/{id}/timelines/reverse_chronological",
    )
    .aliases(&["/2/users/{id}/timelines/reverse_cronological"])
    .act(v2::timelines::home)
    .about("Posts of the authenticated user and of those they follow, newest first.")
    .permit("12", READ)
    .limits(&[], &[quarter(180)])
    .params(&[OWN, &page(1, 100, 100), TIME_WINDOW, EXCLUDE, POST_FIELDS]),
    Endpoint::new(
        "getUsersByUsernamePosts",
        "GET",
        "/2/users/by/username/{username}/<posts>",
    )
    .act(v2::timelines::of_username)
    .about("Posts of the user of this username, newest first.")
    .permit("1A2", READ)
    .limits(&[quarter(1_500)], &[quarter(900)])
    .params(&[
        USERNAME,
        &page(5, 100, 10),
        TIME_WINDOW,
        EXCLUDE,
        POST_FIELDS,
    ]),
    Endpoint::new(
        "getUsersByUsernameMentions",
        "GET",
        "/2/users/by/username/{username}/mentions",
    )
    .act(v2::timelines::mentions_of_username)
    .about("Posts that mention the user of this username, newest first.")
    .permit("1A2", READ)
    .limits(&[quarter(450)], &[quarter(180)])
    .params(&[USERNAME, &page(5, 100, 10), TIME_WINDOW, POST_FIELDS]),
];

const USERNAME: &[Param] = &[Param::path(
    "username",
    Kind::Username,
    "The username of the user.",
)];
