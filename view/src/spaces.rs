//! Space and topic fields and responses.

use std::collections::HashMap;

use base::id::encode_base62;
use base::refusal::ResourceRef;
use base::{Fault, Refusal, UserId, VocabularyWord, sorted_distinct};
use network::visibility::{Visibility, space_visibility};
use store::spaces::{self as stored, Space, SpaceRole, SpaceTopic};
use store::{Tx, users};

use crate::field_schema::{ExpansionTarget, JsonFieldType};
use crate::json_writer::JsonWriter;
use crate::loaded_objects::LoadedObjects;
use crate::object::{IncludedKind, ObjectExpansion, ObjectField, ObjectKind, RenderedObject};
use crate::response::{ResponseRenderer, push_distinct};
use crate::{FieldSelection, LookupKeys, RenderRequest, ResponsePayload};

#[derive(Clone, Copy)]
pub(crate) struct SpaceRenderContext<'a> {
    pub(crate) space: &'a Space,
    relations: &'a SpaceRelations,
}

#[derive(Debug, Default)]
struct SpaceRelations {
    users_by_role: HashMap<(i64, SpaceRole), Vec<UserId>>,
    topics: HashMap<i64, Vec<i64>>,
}

impl<'a> SpaceRenderContext<'a> {
    fn users_with_role(self, role: SpaceRole) -> &'a [UserId] {
        let those = self.relations.users_by_role.get(&(self.space.id, role));
        those.map(Vec::as_slice).unwrap_or_default()
    }

    fn topic_ids(self) -> &'a [i64] {
        let topics = self.relations.topics.get(&self.space.id);
        topics.map(Vec::as_slice).unwrap_or_default()
    }
}

type SpaceField = ObjectField<Space>;
type SpaceExpansion = ObjectExpansion<Space>;

impl RenderedObject for Space {
    type Context<'a> = SpaceRenderContext<'a>;

    const NAME: VocabularyWord = VocabularyWord::same_in_both("Space");
    const FIELDS_PARAM: VocabularyWord = VocabularyWord::same_in_both("space.fields");
    const FIELDS: &'static [ObjectField<Self>] = FIELDS;
    const EXPANSIONS: &'static [ObjectExpansion<Self>] = EXPANSIONS;
}

impl ObjectKind {
    pub const SPACE: Self = Space::KIND;
}

const FIELDS: &[SpaceField] = &[
    SpaceField::default_field("id", JsonFieldType::Text, "Id of the space.")
        .writer(|out, ctx| out.write_text(&encode_base62(ctx.space.id))),
    SpaceField::default_field(
        "state",
        JsonFieldType::OneOf(&["live", "scheduled", "ended"]),
        "Whether it takes place.",
    )
    .writer(|out, ctx| out.write_text(ctx.space.state.name())),
    SpaceField::requested_field("created_at", JsonFieldType::Time, "When it was made.")
        .writer(|out, ctx| out.write_time(ctx.space.created_at)),
    SpaceField::requested_field("ended_at", JsonFieldType::Time, "When it ended.")
        .writer(|out, ctx| out.write_option(ctx.space.ended_at, JsonWriter::write_time)),
    SpaceField::requested_field("is_ticketed", JsonFieldType::Bool, "Whether it takes a ticket.")
        .writer(|out, ctx| out.write_bool(ctx.space.ticketed)),
    SpaceField::requested_field("lang", JsonFieldType::Text, "Its language.")
        .writer(|out, ctx| out.write_nonempty_text(&ctx.space.lang)),
    SpaceField::requested_field("participant_count", JsonFieldType::Int, "Users in it.")
        .writer(|out, ctx| out.write_int(ctx.space.participant_count)),
    SpaceField::requested_field("scheduled_start", JsonFieldType::Time, "When it is to start.")
        .writer(|out, ctx| out.write_option(ctx.space.scheduled_start, JsonWriter::write_time)),
    SpaceField::requested_field("started_at", JsonFieldType::Time, "When it started.")
        .writer(|out, ctx| out.write_option(ctx.space.started_at, JsonWriter::write_time)),
    SpaceField::requested_field("subscriber_count", JsonFieldType::Int, "Users who want to be reminded.")
        .writer(|out, ctx| out.write_int(ctx.space.subscriber_count)),
    SpaceField::requested_field("title", JsonFieldType::Text, "Its title.")
        .writer(|out, ctx| out.write_nonempty_text(&ctx.space.title)),
    SpaceField::requested_field("updated_at", JsonFieldType::Time, "When it last changed.")
        .writer(|out, ctx| out.write_time(ctx.space.updated_at)),
    SpaceField::requested_field("creator_id", JsonFieldType::Id, "Who made it.")
        .writer(|out, ctx| out.write_id(ctx.space.creator_id.get())),
    SpaceField::requested_field("host_ids", JsonFieldType::List(&JsonFieldType::Id), "Its hosts.")
        .writer(|out, ctx| write_user_ids(out, ctx.users_with_role(SpaceRole::Host))),
    SpaceField::requested_field(
        "invited_user_ids",
        JsonFieldType::List(&JsonFieldType::Id),
        "Who was invited to speak.",
    )
    .writer(|out, ctx| write_user_ids(out, ctx.users_with_role(SpaceRole::Invited))),
    SpaceField::requested_field("speaker_ids", JsonFieldType::List(&JsonFieldType::Id), "Who has spoken.")
        .writer(|out, ctx| write_user_ids(out, ctx.users_with_role(SpaceRole::Speaker))),
    SpaceField::requested_field("topic_ids", JsonFieldType::List(&JsonFieldType::Id), "Its topics.").writer(
        |out, ctx| {
            if !ctx.topic_ids().is_empty() {
                out.write_array(ctx.topic_ids(), |out, id| out.write_id(*id));
            }
        },
    ),
];

const EXPANSIONS: &[SpaceExpansion] = &[
    SpaceExpansion::new("creator_id", "creator_id")
        .resolver(|ctx, to| to.push(ExpansionTarget::User(ctx.space.creator_id))),
    SpaceExpansion::new("host_ids", "host_ids").resolver(|ctx, to| push_users_with_role(ctx, SpaceRole::Host, to)),
    SpaceExpansion::new("invited_user_ids", "invited_user_ids")
        .resolver(|ctx, to| push_users_with_role(ctx, SpaceRole::Invited, to)),
    SpaceExpansion::new("speaker_ids", "speaker_ids")
        .resolver(|ctx, to| push_users_with_role(ctx, SpaceRole::Speaker, to)),
    SpaceExpansion::new("topic_ids", "topic_ids")
        .resolver(|ctx, to| to.extend(ctx.topic_ids().iter().copied().map(ExpansionTarget::Topic))),
];

type TopicField = ObjectField<SpaceTopic>;

impl RenderedObject for SpaceTopic {
    type Context<'a> = &'a Self;

    const NAME: VocabularyWord = VocabularyWord::same_in_both("Topic");
    const FIELDS_PARAM: VocabularyWord = VocabularyWord::same_in_both("topic.fields");
    const FIELDS: &'static [ObjectField<Self>] = TOPIC_FIELDS;
    const INCLUDED: Option<(IncludedKind, VocabularyWord)> =
        Some((IncludedKind::Topic, VocabularyWord::same_in_both("topics")));
}

impl ObjectKind {
    pub const TOPIC: Self = SpaceTopic::KIND;
}

const TOPIC_FIELDS: &[TopicField] = &[
    TopicField::default_field("id", JsonFieldType::Id, "Id of the topic.").writer(|out, topic| out.write_id(topic.id)),
    TopicField::default_field("name", JsonFieldType::Text, "Its name.")
        .writer(|out, topic| out.write_text(&topic.name)),
    TopicField::requested_field("description", JsonFieldType::Text, "What it is about.")
        .writer(|out, topic| out.write_nonempty_text(&topic.description)),
];

fn write_user_ids(out: &mut JsonWriter, users: &[UserId]) {
    if !users.is_empty() {
        out.write_array(users, |out, user| out.write_id(user.get()));
    }
}

fn push_users_with_role<'a>(ctx: SpaceRenderContext<'a>, role: SpaceRole, targets: &mut Vec<ExpansionTarget<'a>>) {
    targets.extend(ctx.users_with_role(role).iter().copied().map(ExpansionTarget::User));
}

/// Renders spaces in order; those that are not visible are omitted.
pub fn render_spaces(tx: &mut Tx<'_>, request: &RenderRequest, page: &[Space]) -> Result<ResponsePayload, Fault> {
    render_space_lookup(tx, request, page, LookupKeys { parameter: "ids", values: &[] })
}

/// Renders the results of a lookup in the order found; each space that is not visible is an error.
pub fn render_space_lookup(
    tx: &mut Tx<'_>,
    request: &RenderRequest,
    spaces: &[Space],
    keys: LookupKeys<'_, String>,
) -> Result<ResponsePayload, Fault> {
    let around = SpaceRelations::load_relations(tx, spaces, &request.selection)?;
    let ctx = |space| SpaceRenderContext { space, relations: &around };
    let creators = sorted_distinct(spaces.iter().map(|space| space.creator_id));
    let creators = users::find_by_ids(tx, &creators)?;
    let roots = spaces.iter().map(ctx);
    let objects = LoadedObjects::load_for_objects::<Space>(tx, request.viewer, creators, roots, &request.selection)?;
    let is_visible =
        |space: &&Space| space_visibility(space, objects.users.get(space.creator_id)) == Visibility::Visible;
    let shown: Vec<_> = spaces.iter().filter(is_visible).map(ctx).collect();
    let errors = missing_space_errors(&shown, keys);
    let renderer = ResponseRenderer { objects: &objects, request };
    Ok(renderer.render_response::<Space>(&shown, errors, 384))
}

/// Renders the result of a lookup by id; `data` is an object.
pub fn render_space(
    tx: &mut Tx<'_>,
    request: &RenderRequest,
    space: Option<Space>,
    keys: LookupKeys<'_, String>,
) -> Result<ResponsePayload, Fault> {
    let space: Vec<Space> = space.into_iter().collect();
    render_space_lookup(tx, request, &space, keys).map(ResponsePayload::into_single)
}

/// The errors for keys that have no visible space, each once.
fn missing_space_errors(shown: &[SpaceRenderContext<'_>], keys: LookupKeys<'_, String>) -> Vec<Refusal> {
    let shown: Vec<String> = shown.iter().map(|ctx| encode_base62(ctx.space.id)).collect();
    let mut errors = Vec::new();
    for name in keys.values.iter().filter(|name| !shown.contains(name)) {
        push_distinct(&mut errors, Refusal::NotFound(ResourceRef::new("space", keys.parameter, name)));
    }
    errors
}

impl SpaceRelations {
    /// Loads only what the selected fields need.
    fn load_relations(tx: &mut Tx<'_>, spaces: &[Space], selection: &FieldSelection) -> Result<Self, Fault> {
        let requested = selection.root_mask::<Space>();
        let shows = |field| requested & Space::KIND.field_bit(field) != 0;
        let ids: Vec<i64> = spaces.iter().map(|space| space.id).collect();
        let mut around = Self::default();
        if shows("host_ids") || shows("invited_user_ids") || shows("speaker_ids") {
            for (space, role, user) in stored::list_hosts_and_speakers(tx, &ids)? {
                around.users_by_role.entry((space, role)).or_default().push(user);
            }
        }
        if shows("topic_ids") {
            for (space, topic) in stored::topics_by_spaces(tx, &ids)? {
                around.topics.entry(space).or_default().push(topic);
            }
        }
        Ok(around)
    }
}
