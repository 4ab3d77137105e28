//! Communities: their fields.

use crate::shown::{Json, Shown};

const JOINING: &[&str] = &[
    "Open",
    "RestrictedJoinRequestsDisabled",
    "RestrictedJoinRequestsRequireAdminApproval",
    "RestrictedJoinRequestsRequireModeratorApproval",
    "SuperFollowRequired",
];

pub(crate) const FIELDS: &[Shown] = &[
    Shown::always("id", Json::Id, "Id of the community."),
    Shown::always("name", Json::Text, "Its name."),
    Shown::asked(
        "access",
        Json::OneOf(&["Public", "Closed"]),
        "Who sees its posts.",
    ),
    Shown::asked("created_at", Json::Time, "When it was made."),
    Shown::asked("description", Json::Text, "What it is for."),
    Shown::asked("join_policy", Json::OneOf(JOINING), "Who may join."),
    Shown::asked("member_count", Json::Int, "Its members."),
];
