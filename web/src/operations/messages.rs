//! Direct messages.

use base::{Scope, Scopes};

use super::shared::{ANY_LENGTH, CONVERSATION_ID, DM_FIELDS, READ, page};
use crate::endpoint::{Body, Endpoint, Kind, Member, Param, Shape, day, quarter};
use crate::v2::messages;

/// Direct messages, sent, read and removed.
pub static MESSAGES: &[Endpoint] = &[
    Endpoint::new(
        "createDirectMessagesConversation",
        "POST",
        "/2/dm_conversations",
    )
    .act(messages::begin_group)
    .about("Begins a conversation of a group with its first message.")
    .permit("12", SEND)
    .limits(&[day(1_440)], &[quarter(15), day(1_440)])
    .body(Body::Json(&[
        Member::new("conversation_type", Shape::OneOf(&["Group"])).required(),
        Member::new("participant_ids", Shape::Array(&Shape::Id, 2, 49)).required(),
        Member::new("message", Shape::Object(MESSAGE)).required(),
    ]))
    .success(201),
    Endpoint::new(
        "createDirectMessagesByParticipantId",
        "POST",
        "/2/dm_conversations/with/{participant_id}/messages",
    )
    .act(messages::send_to)
    .about("Sends a message to a user.")
    .permit("12", SEND)
    .limits(&[day(1_440)], &[quarter(15), day(1_440)])
    .params(&[PARTICIPANT])
    .body(Body::Json(MESSAGE))
    .success(201),
    Endpoint::new(
        "createDirectMessagesByConversationId",
        "POST",
        "/2/dm_conversations/{dm_conversation_id}/messages",
    )
    .act(messages::send)
    .about("Sends a message to a conversation.")
    .permit("12", SEND)
    .limits(&[day(1_440)], &[quarter(15), day(1_440)])
    .params(&[&[Param::path(
        "dm_conversation_id",
        Kind::Pattern(&CONVERSATION_ID),
        "The id of the conversation.",
    )]])
    .body(Body::Json(MESSAGE))
    .success(201),
    Endpoint::new("getDirectMessagesEvents", "GET", "/2/dm_events")
        .act(messages::events)
        .about("Message events of the authenticated user's conversations, newest first.")
        .permit("12", SEE)
        .limits(&[], &[quarter(15)])
        .params(&[&page(1, 100, 100), EVENT_TYPES, DM_FIELDS]),
    Endpoint::new(
        "getDirectMessagesEventsById",
        "GET",
        "/2/dm_events/{event_id}",
    )
    .act(messages::by_id)
    .about("The message event of this id.")
    .permit("12", SEE)
    .limits(&[], &[quarter(15)])
    .params(&[EVENT, DM_FIELDS]),
    Endpoint::new(
        "deleteDirectMessagesEvents",
        "DELETE",
        "/2/dm_events/{event_id}",
    )
    .act(messages::remove)
    .about("Removes a message event for the authenticated user.")
    .permit("12", Scopes::from_slice(&[Scope::DmRead, Scope::DmWrite]))
    .limits(&[day(4_000)], &[quarter(300), day(1_500)])
    .params(&[EVENT]),
    Endpoint::new(
        "getDirectMessagesEventsByConversationId",
        "GET",
        "/2/dm_conversations/{id}/dm_events",
    )
    .act(messages::of_conversation)
    .about("Message events of a conversation, newest first.")
    .permit("12", SEE)
    .limits(&[], &[quarter(15)])
    .params(&[
        &[Param::path(
            "id",
            Kind::Pattern(&CONVERSATION_ID),
            "The id of the conversation.",
        )],
        &page(1, 100, 100),
        EVENT_TYPES,
        DM_FIELDS,
    ]),
    Endpoint::new(
        "getDirectMessagesEventsByParticipantId",
        "GET",
        "/2/dm_conversations/with/{participant_id}/dm_events",
    )
    .act(messages::with_user)
    .about("Message events of the conversation with a user, newest first.")
    .permit("12", SEE)
    .limits(&[], &[quarter(15)])
    .params(&[PARTICIPANT, &page(1, 100, 100), EVENT_TYPES, DM_FIELDS]),
    Endpoint::new(
        "dmConversationsMediaDownload",
        "GET",
        "/2/dm_conversations/media/{dm_id}/{media_id}/{resource_id}",
    )
    .act(messages::media)
    .about("The bytes of a media that a message carries.")
    .permit("2", Scopes::from_slice(&[Scope::DmRead]))
    .params(&[&[
        Param::path("dm_id", Kind::Text(1, 64), "The id of the message."),
        Param::path(
            "media_id",
            Kind::Text(1, 64),
            "The id of the media in the message.",
        ),
        Param::path("resource_id", Kind::Text(1, 256), "The name of the file."),
    ]]),
];

const SEE: Scopes = READ.with_scope(Scope::DmRead);
const SEND: Scopes = READ.with_scope(Scope::DmWrite);

const PARTICIPANT: &[Param] = &[Param::id("participant_id", "The id of the other user.")];
const EVENT: &[Param] = &[Param::id("event_id", "The id of the message event.")];
const EVENT_TYPES: &[Param] = &[Param::query(
    "event_types",
    Kind::SomeOf(&["MessageCreate", "ParticipantsJoin", "ParticipantsLeave"]),
    "Kinds of events to show; all when absent.",
)];

const MESSAGE: &[Member] = &[
    Member::new("text", Shape::Text(1, ANY_LENGTH)),
    Member::new(
        "attachments",
        Shape::Array(
            &Shape::Object(&[Member::new("media_id", Shape::Id).required()]),
            1,
            1,
        ),
    ),
];
