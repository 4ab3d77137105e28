//! Direct messages: their fields and what those lead to.

use crate::Object;
use crate::shown::{Expansion, Json, Member, Shown};
use crate::users::ENTITIES;

const KINDS: &[&str] = &["MessageCreate", "ParticipantsJoin", "ParticipantsLeave"];

const REFERENCE: Json = Json::Object(&[Member::new("id", Json::Id)]);

pub(crate) const FIELDS: &[Shown] = &[
    Shown::always("id", Json::Id, "Id of the event."),
    Shown::always("event_type", Json::OneOf(KINDS), "What happened."),
    Shown::always("text", Json::Text, "The text of a message."),
    Shown::asked(
        "attachments",
        Json::Object(&[
            Member::new("media_keys", Json::List(&Json::Text)),
            Member::new("card_ids", Json::List(&Json::Id)),
        ]),
        "Media and cards it carries.",
    ),
    Shown::asked("created_at", Json::Time, "When it happened."),
    Shown::asked(
        "dm_conversation_id",
        Json::Text,
        "The conversation it belongs to.",
    ),
    Shown::asked(
        "entities",
        Json::Object(ENTITIES),
        "Links, hashtags, mentions and cashtags of the text.",
    ),
    Shown::asked(
        "participant_ids",
        Json::List(&Json::Id),
        "Who joined or left.",
    ),
    Shown::asked(
        "referenced_posts",
        Json::List(&REFERENCE),
        "Posts that the text links to.",
    )
    .tweet("referenced_tweets"),
    Shown::asked("sender_id", Json::Id, "Who sent it."),
];

pub(crate) const EXPANSIONS: &[Expansion] = &[
    Expansion::new("attachments.media_keys", Object::Media, "attachments"),
    Expansion::new("participant_ids", Object::User, "participant_ids"),
    Expansion::new("referenced_posts", Object::Post, "referenced_posts")
        .tweet("referenced_tweets.id"),
    Expansion::new("sender_id", Object::User, "sender_id"),
];
