//! Direct message fields and responses.

use base::Fault;
use network::visibility::Viewer;
use store::Tx;
use store::messages::{MessageEvent, MessageEventKind};

use crate::field_schema::{Expansion, ExpansionResolver, FieldDefinition, FieldWriter, JsonFieldType, JsonMember};
use crate::json_writer::JsonWriter;
use crate::loader::{ExpansionTarget, LoadedObjects};
use crate::response::ResponseRenderer;
use crate::users::ENTITIES;
use crate::{FieldSelection, LookupKeys, ObjectKind, RenderOptions, ResponsePayload};

const EVENT_TYPES: &[&str] =
    &[MessageEventKind::Message.name(), MessageEventKind::Join.name(), MessageEventKind::Leave.name()];

const REFERENCE: JsonFieldType = JsonFieldType::Object(&[JsonMember::new("id", JsonFieldType::Id)]);

pub(crate) const FIELDS: &[FieldDefinition] = &[
    FieldDefinition::default_field("id", JsonFieldType::Id, "Id of the event.")
        .message_writer(|out, event| out.write_id(event.id)),
    FieldDefinition::default_field("event_type", JsonFieldType::OneOf(EVENT_TYPES), "What happened.")
        .message_writer(|out, event| out.write_text(event.kind.name())),
    FieldDefinition::default_field("text", JsonFieldType::Text, "The text of a message, `&`, `<` and `>` escaped.")
        .absent_for_some()
        .message_writer(|out, event| {
            if event.kind == MessageEventKind::Message {
                out.write_html_escaped(&event.text);
            }
        }),
    FieldDefinition::requested_field(
        "attachments",
        JsonFieldType::Object(&[
            JsonMember::new("media_keys", JsonFieldType::List(&JsonFieldType::Text)),
            JsonMember::new("card_ids", JsonFieldType::List(&JsonFieldType::Id)),
        ]),
        "Media and cards it carries.",
    )
    .message_writer(write_attachments),
    FieldDefinition::requested_field("created_at", JsonFieldType::Time, "When it happened.").message_writer(
        |out, event| {
            out.write_time(base::Id::<()>::new(event.id).created_at());
        },
    ),
    FieldDefinition::requested_field("dm_conversation_id", JsonFieldType::Text, "The conversation it belongs to.")
        .message_writer(|out, event| out.write_text(&event.conversation.to_string())),
    FieldDefinition::requested_field(
        "entities",
        JsonFieldType::Object(ENTITIES),
        "Links, hashtags, mentions and cashtags of the text.",
    )
    .message_writer(|out, event| out.write_raw(&event.entities)),
    FieldDefinition::default_field("participant_ids", JsonFieldType::List(&JsonFieldType::Id), "Who joined or left.")
        .absent_for_some()
        .message_writer(|out, event| {
            if event.kind != MessageEventKind::Message {
                out.write_array(&event.participant_ids, |out, user| out.write_id(user.get()));
            }
        }),
    FieldDefinition::requested_field(
        "referenced_posts",
        JsonFieldType::List(&REFERENCE),
        "Posts that the text links to.",
    )
    .tweet_name("referenced_tweets")
    .message_writer(write_referenced_posts),
    FieldDefinition::requested_field("sender_id", JsonFieldType::Id, "Who sent it.")
        .message_writer(|out, event| out.write_id(event.sender_id.get())),
];

pub(crate) const EXPANSIONS: &[Expansion] = &[
    Expansion::new("attachments.media_keys", ObjectKind::Media, "attachments").message_resolver(push_media),
    Expansion::new("participant_ids", ObjectKind::User, "participant_ids")
        .message_resolver(|event, to| to.extend(event.participant_ids.iter().copied().map(ExpansionTarget::User))),
    Expansion::new("referenced_posts", ObjectKind::Post, "referenced_posts")
        .tweet_name("referenced_tweets.id")
        .message_resolver(|event, to| to.extend(event.post_ids.iter().copied().map(ExpansionTarget::Post))),
    Expansion::new("sender_id", ObjectKind::User, "sender_id")
        .message_resolver(|event, to| to.push(ExpansionTarget::User(event.sender_id))),
];

fn write_attachments(out: &mut JsonWriter, event: &MessageEvent) {
    if !event.media_key.is_empty() {
        out.write_object(|out| {
            out.write_plain_member("media_keys", |out| {
                out.write_array([&event.media_key], |out, key| out.write_text(key));
            });
        });
    }
}

fn write_referenced_posts(out: &mut JsonWriter, event: &MessageEvent) {
    if !event.post_ids.is_empty() {
        out.write_array(&event.post_ids, |out, post| {
            out.write_object(|out| out.write_plain_member("id", |out| out.write_id(post.get())));
        });
    }
}

fn push_media<'a>(event: &'a MessageEvent, targets: &mut Vec<ExpansionTarget<'a>>) {
    if !event.media_key.is_empty() {
        targets.push(ExpansionTarget::Media(&event.media_key));
    }
}

/// Renders events in order; the viewer may see all of them.
pub fn render_message_events(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    page: &[MessageEvent],
    selection: &FieldSelection,
    options: RenderOptions,
) -> Result<ResponsePayload, Fault> {
    let mut targets = Vec::new();
    for expansion in selection.requested_expansions() {
        if let ExpansionResolver::Message(resolve) = expansion.resolver {
            for event in page {
                resolve(event, &mut targets);
            }
        }
    }
    let mut objects = LoadedObjects::load_for_targets(tx, viewer, Vec::new(), targets, selection)?;
    let carried = page.iter().filter_map(|event| Some((event.media_id?.get(), event.id)));
    objects.message_by_media.extend(carried);
    let renderer = ResponseRenderer { objects: &objects, selection, options };
    let lead = |resolve, event, to: &mut Vec<_>| {
        if let ExpansionResolver::Message(resolve) = resolve {
            resolve(event, to);
        }
    };
    let page: Vec<&MessageEvent> = page.iter().collect();
    Ok(renderer.render_response(&page, Vec::new(), 384, lead, write))
}

/// Renders the result of a lookup by id; `data` is an object.
pub fn render_message_event(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    event: Option<MessageEvent>,
    selection: &FieldSelection,
    options: RenderOptions,
    keys: LookupKeys<'_, i64>,
) -> Result<ResponsePayload, Fault> {
    let page: Vec<MessageEvent> = event.into_iter().collect();
    let response = render_message_events(tx, viewer, &page, selection, options)?;
    Ok(response.single_or_not_found("dm_event", keys))
}

fn write(out: &mut JsonWriter, event: &MessageEvent, mask: u64) {
    out.write_fields(FIELDS, mask, |out, write| {
        if let FieldWriter::Message(write) = write {
            write(out, event);
        }
    });
}
