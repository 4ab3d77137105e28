//! Direct messages.

use base::{Scope, Scopes};
use web::endpoint::{BodySpec, Endpoint, Kind, MAX_TEXT, Parameter, per_day, per_quarter_hour};

use super::shared::{CONVERSATION_ID, DM_FIELDS, READ, page_params};
use crate::v2::messages;

pub static MESSAGES: &[Endpoint] = &[
    Endpoint::post("createDirectMessagesConversation", "/2/dm_conversations", &messages::create_conversation)
        .summary("Creates a group conversation with its first message.")
        .permit("12", SEND)
        .limits(&[per_day(1_440)], &[per_quarter_hour(15), per_day(1_440)])
        .body(BodySpec::Json(&[
            Parameter::member("conversation_type", Kind::one_of(&["Group"])).as_required(),
            Parameter::member("participant_ids", Kind::ID.list(2, 49)).as_required(),
            Parameter::member("message", Kind::object(MESSAGE)).as_required(),
        ]))
        .creates(),
    Endpoint::post(
        "createDirectMessagesByParticipantId",
        "/2/dm_conversations/with/{participant_id}/messages",
        &messages::send_to_user,
    )
    .summary("Sends a direct message to a user.")
    .permit("12", SEND)
    .limits(&[per_day(1_440)], &[per_quarter_hour(15), per_day(1_440)])
    .params(&[PARTICIPANT])
    .body(BodySpec::Json(MESSAGE))
    .creates(),
    Endpoint::post(
        "createDirectMessagesByConversationId",
        "/2/dm_conversations/{dm_conversation_id}/messages",
        &messages::send,
    )
    .summary("Sends a message to a conversation.")
    .permit("12", SEND)
    .limits(&[per_day(1_440)], &[per_quarter_hour(15), per_day(1_440)])
    .params(&[&[Parameter::path("dm_conversation_id", Kind::pattern(&CONVERSATION_ID), "The id of the conversation.")]])
    .body(BodySpec::Json(MESSAGE))
    .creates(),
    Endpoint::get("getDirectMessagesEvents", "/2/dm_events", &messages::list_events)
        .summary("Message events of the authenticated user's conversations, newest first.")
        .permit("12", SEE)
        .limits(&[], &[per_quarter_hour(15)])
        .params(&[&page_params(1, 100, 100), EVENT_TYPES, DM_FIELDS]),
    Endpoint::get("getDirectMessagesEventsById", "/2/dm_events/{event_id}", &messages::get_event)
        .summary("A message event by id.")
        .permit("12", SEE)
        .limits(&[], &[per_quarter_hour(15)])
        .params(&[EVENT, DM_FIELDS]),
    Endpoint::delete("deleteDirectMessagesEvents", "/2/dm_events/{event_id}", &messages::delete_event)
        .summary("Removes a message event for the authenticated user.")
        .permit("12", Scopes::from_slice(&[Scope::DmRead, Scope::DmWrite]))
        .limits(&[per_day(4_000)], &[per_quarter_hour(300), per_day(1_500)])
        .params(&[EVENT]),
    Endpoint::get(
        "getDirectMessagesEventsByConversationId",
        "/2/dm_conversations/{id}/dm_events",
        &messages::list_conversation_events,
    )
    .summary("Message events of a conversation, newest first.")
    .permit("12", SEE)
    .limits(&[], &[per_quarter_hour(15)])
    .params(&[
        &[Parameter::path("id", Kind::pattern(&CONVERSATION_ID), "The id of the conversation.")],
        &page_params(1, 100, 100),
        EVENT_TYPES,
        DM_FIELDS,
    ]),
    Endpoint::get(
        "getDirectMessagesEventsByParticipantId",
        "/2/dm_conversations/with/{participant_id}/dm_events",
        &messages::list_events_with_user,
    )
    .summary("Message events of the conversation with a user, newest first.")
    .permit("12", SEE)
    .limits(&[], &[per_quarter_hour(15)])
    .params(&[PARTICIPANT, &page_params(1, 100, 100), EVENT_TYPES, DM_FIELDS]),
    Endpoint::get(
        "dmConversationsMediaDownload",
        "/2/dm_conversations/media/{dm_id}/{media_id}/{resource_id}",
        &messages::download_media,
    )
    .summary("A media file attached to a direct message.")
    .permit("2", Scopes::from_slice(&[Scope::DmRead]))
    .params(&[&[
        Parameter::path("dm_id", Kind::text(1, 64), "The id of the message."),
        Parameter::path("media_id", Kind::text(1, 64), "The id of the media in the message."),
        Parameter::path("resource_id", Kind::text(1, 256), "The name of the file."),
    ]]),
];

const SEE: Scopes = READ.with_scope(Scope::DmRead);
const SEND: Scopes = READ.with_scope(Scope::DmWrite);

const PARTICIPANT: &[Parameter] = &[Parameter::path_id("participant_id", "The id of the other user.")];
const EVENT: &[Parameter] = &[Parameter::path_id("event_id", "The id of the message event.")];
const EVENT_TYPES: &[Parameter] = &[Parameter::query(
    "event_types",
    Kind::one_of(&["MessageCreate", "ParticipantsJoin", "ParticipantsLeave"]).list(1, 3),
    "The event types to return; all by default.",
)];

const MESSAGE: &[Parameter] = &[
    Parameter::member("text", Kind::text(1, MAX_TEXT)),
    Parameter::member("attachments", Kind::object(&[Parameter::member("media_id", Kind::ID).as_required()]).list(1, 1)),
];
