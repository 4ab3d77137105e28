//! Spaces and their topics: their fields and what those lead to.

use crate::Object;
use crate::shown::{Expansion, Json, Shown};

pub(crate) const FIELDS: &[Shown] = &[
    Shown::always("id", Json::Text, "Id of the space."),
    Shown::always(
        "state",
        Json::OneOf(&["live", "scheduled", "ended"]),
        "Whether it takes place.",
    ),
    Shown::asked("created_at", Json::Time, "When it was made."),
    Shown::asked("ended_at", Json::Time, "When it ended."),
    Shown::asked("is_ticketed", Json::Bool, "Whether it takes a ticket."),
    Shown::asked("lang", Json::Text, "Its language."),
    Shown::asked("participant_count", Json::Int, "Users in it."),
    Shown::asked("scheduled_start", Json::Time, "When it is to start."),
    Shown::asked("started_at", Json::Time, "When it started."),
    Shown::asked(
        "subscriber_count",
        Json::Int,
        "Users who want to be reminded.",
    ),
    Shown::asked("title", Json::Text, "Its title."),
    Shown::asked("updated_at", Json::Time, "When it last changed."),
    Shown::asked("creator_id", Json::Id, "Who made it."),
    Shown::asked("host_ids", Json::List(&Json::Id), "Its hosts."),
    Shown::asked(
        "invited_user_ids",
        Json::List(&Json::Id),
        "Who was invited to speak.",
    ),
    Shown::asked("speaker_ids", Json::List(&Json::Id), "Who has spoken."),
    Shown::asked("topic_ids", Json::List(&Json::Id), "Its topics."),
];

pub(crate) const EXPANSIONS: &[Expansion] = &[
    Expansion::new("creator_id", Object::User, "creator_id"),
    Expansion::new("host_ids", Object::User, "host_ids"),
    Expansion::new("invited_user_ids", Object::User, "invited_user_ids"),
    Expansion::new("speaker_ids", Object::User, "speaker_ids"),
    Expansion::new("topic_ids", Object::Topic, "topic_ids"),
];

pub(crate) const TOPIC_FIELDS: &[Shown] = &[
    Shown::always("id", Json::Id, "Id of the topic."),
    Shown::always("name", Json::Text, "Its name."),
    Shown::asked("description", Json::Text, "What it is about."),
];
