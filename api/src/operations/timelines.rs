//! Timelines: a user's posts, mentions and home timeline.

use web::endpoint::{Endpoint, Kind, Parameter, per_quarter_hour};

use super::shared::{EXCLUDE, OWN, POST_FIELDS, READ, TIME_WINDOW, USER, page_params};
use crate::v2::timelines;

pub static TIMELINES: &[Endpoint] = &[
    Endpoint::get("getUsersPosts", "/2/users/{id}/<posts>", &timelines::list_user_posts)
        .summary("Posts of a user, newest first.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(10_000)], &[per_quarter_hour(900)])
        .params(&[USER, &page_params(5, 100, 10), TIME_WINDOW, EXCLUDE, POST_FIELDS]),
    Endpoint::get("getUsersMentions", "/2/users/{id}/mentions", &timelines::list_user_mentions)
        .summary("Posts that mention a user, newest first.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(450)], &[per_quarter_hour(300)])
        .params(&[USER, &page_params(5, 100, 10), TIME_WINDOW, POST_FIELDS]),
    Endpoint::get("getUsersTimeline", "/2/users/{id}/timelines/reverse_chronological", &timelines::list_home)
        .aliases(&["/2/users/{id}/timelines/reverse_cronological"])
        .summary("Posts of the authenticated user and of those they follow, newest first.")
        .permit("12", READ)
        .limits(&[], &[per_quarter_hour(180)])
        .params(&[OWN, &page_params(1, 100, 100), TIME_WINDOW, EXCLUDE, POST_FIELDS]),
    Endpoint::get(
        "getUsersByUsernamePosts",
        "/2/users/by/username/{username}/<posts>",
        &timelines::list_posts_by_username,
    )
    .summary("Posts of a user by username, newest first.")
    .permit("1A2", READ)
    .limits(&[per_quarter_hour(1_500)], &[per_quarter_hour(900)])
    .params(&[USERNAME, &page_params(5, 100, 10), TIME_WINDOW, EXCLUDE, POST_FIELDS]),
    Endpoint::get(
        "getUsersByUsernameMentions",
        "/2/users/by/username/{username}/mentions",
        &timelines::list_mentions_by_username,
    )
    .summary("Posts that mention a user by username, newest first.")
    .permit("1A2", READ)
    .limits(&[per_quarter_hour(450)], &[per_quarter_hour(180)])
    .params(&[USERNAME, &page_params(5, 100, 10), TIME_WINDOW, POST_FIELDS]),
];

const USERNAME: &[Parameter] = &[Parameter::path("username", Kind::USERNAME, "The username of the user.")];
