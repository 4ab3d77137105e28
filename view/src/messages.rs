//! Direct message fields and responses.

use base::{Fault, VocabularyWord};
use store::Tx;
use store::messages::{MessageEvent, MessageEventKind};

use crate::field_schema::{ExpansionTarget, JsonFieldType, JsonMember};
use crate::json_writer::JsonWriter;
use crate::loaded_objects::LoadedObjects;
use crate::object::{ObjectExpansion, ObjectField, ObjectKind, RenderedObject};
use crate::position_shifts::escape_entities;
use crate::posts::shorten_message_links;
use crate::response::ResponseRenderer;
use crate::users::ENTITIES;
use crate::{LookupKeys, RenderRequest, ResponsePayload};

const EVENT_TYPES: &[&str] =
    &[MessageEventKind::Message.name(), MessageEventKind::Join.name(), MessageEventKind::Leave.name()];

const REFERENCE: JsonFieldType = JsonFieldType::Object(&[JsonMember::new("id", JsonFieldType::Id)]);

type MessageField = ObjectField<MessageEvent>;
type MessageExpansion = ObjectExpansion<MessageEvent>;

impl RenderedObject for MessageEvent {
    type Context<'a> = &'a Self;

    const NAME: VocabularyWord = VocabularyWord::same_in_both("DmEvent");
    const FIELDS_PARAM: VocabularyWord = VocabularyWord::same_in_both("dm_event.fields");
    const FIELDS: &'static [ObjectField<Self>] = FIELDS;
    const EXPANSIONS: &'static [ObjectExpansion<Self>] = EXPANSIONS;
}

impl ObjectKind {
    pub const DM_EVENT: Self = MessageEvent::KIND;
}

const FIELDS: &[MessageField] = &[
    MessageField::default_field("id", JsonFieldType::Id, "Id of the event.")
        .writer(|out, event| out.write_id(event.id)),
    MessageField::default_field("event_type", JsonFieldType::OneOf(EVENT_TYPES), "What happened.")
        .writer(|out, event| out.write_text(event.kind.name())),
    MessageField::default_field("text", JsonFieldType::Text, "The text of a message, `&`, `<` and `>` escaped.")
        .absent_for_some()
        .writer(|out, event| {
            if event.kind == MessageEventKind::Message {
                out.write_html_escaped(&event.text);
            }
        }),
    MessageField::requested_field(
        "attachments",
        JsonFieldType::Object(&[
            JsonMember::new("media_keys", JsonFieldType::List(&JsonFieldType::Text)),
            JsonMember::new("card_ids", JsonFieldType::List(&JsonFieldType::Id)),
        ]),
        "Media and cards it carries.",
    )
    .writer(write_attachments),
    MessageField::requested_field("created_at", JsonFieldType::Time, "When it happened.").writer(|out, event| {
        out.write_time(base::Id::<()>::new(event.id).created_at());
    }),
    MessageField::requested_field("dm_conversation_id", JsonFieldType::Text, "The conversation it belongs to.")
        .writer(|out, event| out.write_text(&event.conversation.to_string())),
    MessageField::requested_field(
        "entities",
        JsonFieldType::Object(ENTITIES),
        "Links, hashtags, mentions and cashtags of the text.",
    )
    .writer(|out, event| out.write_raw(&escape_entities(&event.entities, &event.text))),
    MessageField::default_field("participant_ids", JsonFieldType::List(&JsonFieldType::Id), "Who joined or left.")
        .absent_for_some()
        .writer(|out, event| {
            if event.kind != MessageEventKind::Message {
                out.write_array(&event.participant_ids, |out, user| out.write_id(user.get()));
            }
        }),
    MessageField::requested_field("referenced_posts", JsonFieldType::List(&REFERENCE), "Posts that the text links to.")
        .tweet_name("referenced_tweets")
        .writer(write_referenced_posts),
    MessageField::requested_field("sender_id", JsonFieldType::Id, "Who sent it.")
        .writer(|out, event| out.write_id(event.sender_id.get())),
];

const EXPANSIONS: &[MessageExpansion] = &[
    MessageExpansion::new("attachments.media_keys", "attachments").resolver(push_media),
    MessageExpansion::new("participant_ids", "participant_ids")
        .resolver(|event, to| to.extend(event.participant_ids.iter().copied().map(ExpansionTarget::User))),
    MessageExpansion::new("referenced_posts", "referenced_posts")
        .tweet_name("referenced_tweets.id")
        .resolver(|event, to| to.extend(event.post_ids.iter().copied().map(ExpansionTarget::Post))),
    MessageExpansion::new("sender_id", "sender_id")
        .resolver(|event, to| to.push(ExpansionTarget::User(event.sender_id))),
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
    request: &RenderRequest,
    page: &[MessageEvent],
) -> Result<ResponsePayload, Fault> {
    let (viewer, selection) = (request.viewer, &request.selection);
    let mut page = page.to_vec();
    for event in &mut page {
        shorten_message_links(event, selection.site());
    }
    let mut objects = LoadedObjects::load_for_objects::<MessageEvent>(tx, viewer, Vec::new(), page.iter(), selection)?;
    let carried = page.iter().filter_map(|event| Some((event.media_id?.get(), event.id)));
    objects.message_by_media.extend(carried);
    let renderer = ResponseRenderer { objects: &objects, request };
    let page: Vec<&MessageEvent> = page.iter().collect();
    Ok(renderer.render_response::<MessageEvent>(&page, Vec::new(), 384))
}

/// Renders the result of a lookup by id; `data` is an object.
pub fn render_message_event(
    tx: &mut Tx<'_>,
    request: &RenderRequest,
    event: Option<MessageEvent>,
    keys: LookupKeys<'_, i64>,
) -> Result<ResponsePayload, Fault> {
    let page: Vec<MessageEvent> = event.into_iter().collect();
    let response = render_message_events(tx, request, &page)?;
    Ok(response.single_or_not_found("dm_event", keys))
}
