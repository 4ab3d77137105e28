//! Polls: their fields.

use crate::shown::{Json, Member, Shown};

const OPTION: Json = Json::Object(&[
    Member::new("position", Json::Int),
    Member::new("label", Json::Text),
    Member::new("votes", Json::Int),
]);

pub(crate) const FIELDS: &[Shown] = &[
    Shown::always("id", Json::Id, "Id of the poll."),
    Shown::always("options", Json::List(&OPTION), "What can be voted for."),
    Shown::asked(
        "voting_status",
        Json::OneOf(&["open", "closed"]),
        "Whether votes are taken.",
    ),
    Shown::asked("end_datetime", Json::Time, "When it ends."),
    Shown::asked("duration_minutes", Json::Int, "How long it lasts."),
];
