//! Space and topic fields and responses.

use std::collections::HashMap;

use base::id::encode_base62;
use base::refusal::ResourceRef;
use base::{Fault, Refusal, UserId};
use network::visibility::{Viewer, Visibility, space_visibility};
use store::spaces::{self as stored, Space, SpaceRole, SpaceTopic};
use store::{Tx, users};

use crate::field_schema::{Expansion, ExpansionResolver, FieldDefinition, FieldWriter, JsonFieldType};
use crate::field_selection::field_bit;
use crate::json_writer::JsonWriter;
use crate::loader::{ExpansionTarget, LoadedObjects};
use crate::response::ResponseRenderer;
use crate::{FieldSelection, LookupKeys, ObjectKind, RenderOptions, ResponsePayload};

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

pub(crate) const FIELDS: &[FieldDefinition] = &[
    FieldDefinition::default_field("id", JsonFieldType::Text, "Id of the space.")
        .space_writer(|out, ctx| out.write_text(&encode_base62(ctx.space.id))),
    FieldDefinition::default_field(
        "state",
        JsonFieldType::OneOf(&["live", "scheduled", "ended"]),
        "Whether it takes place.",
    )
    .space_writer(|out, ctx| out.write_text(ctx.space.state.name())),
    FieldDefinition::requested_field("created_at", JsonFieldType::Time, "When it was made.")
        .space_writer(|out, ctx| out.write_time(ctx.space.created_at)),
    FieldDefinition::requested_field("ended_at", JsonFieldType::Time, "When it ended.")
        .space_writer(|out, ctx| write_optional_time(out, ctx.space.ended_at)),
    FieldDefinition::requested_field("is_ticketed", JsonFieldType::Bool, "Whether it takes a ticket.")
        .space_writer(|out, ctx| out.write_bool(ctx.space.ticketed)),
    FieldDefinition::requested_field("lang", JsonFieldType::Text, "Its language.")
        .space_writer(|out, ctx| out.write_nonempty_text(&ctx.space.lang)),
    FieldDefinition::requested_field("participant_count", JsonFieldType::Int, "Users in it.")
        .space_writer(|out, ctx| out.write_int(ctx.space.participant_count)),
    FieldDefinition::requested_field("scheduled_start", JsonFieldType::Time, "When it is to start.")
        .space_writer(|out, ctx| write_optional_time(out, ctx.space.scheduled_start)),
    FieldDefinition::requested_field("started_at", JsonFieldType::Time, "When it started.")
        .space_writer(|out, ctx| write_optional_time(out, ctx.space.started_at)),
    FieldDefinition::requested_field("subscriber_count", JsonFieldType::Int, "Users who want to be reminded.")
        .space_writer(|out, ctx| out.write_int(ctx.space.subscriber_count)),
    FieldDefinition::requested_field("title", JsonFieldType::Text, "Its title.")
        .space_writer(|out, ctx| out.write_nonempty_text(&ctx.space.title)),
    FieldDefinition::requested_field("updated_at", JsonFieldType::Time, "When it last changed.")
        .space_writer(|out, ctx| out.write_time(ctx.space.updated_at)),
    FieldDefinition::requested_field("creator_id", JsonFieldType::Id, "Who made it.")
        .space_writer(|out, ctx| out.write_id(ctx.space.creator_id.get())),
    FieldDefinition::requested_field("host_ids", JsonFieldType::List(&JsonFieldType::Id), "Its hosts.")
        .space_writer(|out, ctx| write_user_ids(out, ctx.users_with_role(SpaceRole::Host))),
    FieldDefinition::requested_field(
        "invited_user_ids",
        JsonFieldType::List(&JsonFieldType::Id),
        "Who was invited to speak.",
    )
    .space_writer(|out, ctx| write_user_ids(out, ctx.users_with_role(SpaceRole::Invited))),
    FieldDefinition::requested_field("speaker_ids", JsonFieldType::List(&JsonFieldType::Id), "Who has spoken.")
        .space_writer(|out, ctx| write_user_ids(out, ctx.users_with_role(SpaceRole::Speaker))),
    FieldDefinition::requested_field("topic_ids", JsonFieldType::List(&JsonFieldType::Id), "Its topics.").space_writer(
        |out, ctx| {
            if !ctx.topic_ids().is_empty() {
                out.write_array(ctx.topic_ids(), |out, id| out.write_id(*id));
            }
        },
    ),
];

pub(crate) const EXPANSIONS: &[Expansion] = &[
    Expansion::new("creator_id", ObjectKind::User, "creator_id")
        .space_resolver(|ctx, to| to.push(ExpansionTarget::User(ctx.space.creator_id))),
    Expansion::new("host_ids", ObjectKind::User, "host_ids")
        .space_resolver(|ctx, to| push_users_with_role(ctx, SpaceRole::Host, to)),
    Expansion::new("invited_user_ids", ObjectKind::User, "invited_user_ids")
        .space_resolver(|ctx, to| push_users_with_role(ctx, SpaceRole::Invited, to)),
    Expansion::new("speaker_ids", ObjectKind::User, "speaker_ids")
        .space_resolver(|ctx, to| push_users_with_role(ctx, SpaceRole::Speaker, to)),
    Expansion::new("topic_ids", ObjectKind::Topic, "topic_ids")
        .space_resolver(|ctx, to| to.extend(ctx.topic_ids().iter().copied().map(ExpansionTarget::Topic))),
];

pub(crate) const TOPIC_FIELDS: &[FieldDefinition] = &[
    FieldDefinition::default_field("id", JsonFieldType::Id, "Id of the topic.")
        .topic_writer(|out, topic| out.write_id(topic.id)),
    FieldDefinition::default_field("name", JsonFieldType::Text, "Its name.")
        .topic_writer(|out, topic| out.write_text(&topic.name)),
    FieldDefinition::requested_field("description", JsonFieldType::Text, "What it is about.")
        .topic_writer(|out, topic| out.write_nonempty_text(&topic.description)),
];

fn write_optional_time(out: &mut JsonWriter, at: Option<base::Time>) {
    if let Some(at) = at {
        out.write_time(at);
    }
}

fn write_user_ids(out: &mut JsonWriter, users: &[UserId]) {
    if !users.is_empty() {
        out.write_array(users, |out, user| out.write_id(user.get()));
    }
}

fn push_users_with_role<'a>(ctx: SpaceRenderContext<'a>, role: SpaceRole, targets: &mut Vec<ExpansionTarget<'a>>) {
    targets.extend(ctx.users_with_role(role).iter().copied().map(ExpansionTarget::User));
}

pub(crate) fn write_topic(out: &mut JsonWriter, topic: &SpaceTopic, mask: u64) {
    out.write_fields(TOPIC_FIELDS, mask, |out, write| {
        if let FieldWriter::Topic(write) = write {
            write(out, topic);
        }
    });
}

/// Renders spaces in order; those that are not visible are omitted.
pub fn render_spaces(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    page: &[Space],
    selection: &FieldSelection,
    options: RenderOptions,
) -> Result<ResponsePayload, Fault> {
    render_space_lookup(tx, viewer, page, selection, options, LookupKeys { parameter: "ids", values: &[] })
}

/// Renders the results of a lookup in the order found; each space that is not visible is an error.
pub fn render_space_lookup(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    spaces: &[Space],
    selection: &FieldSelection,
    options: RenderOptions,
    keys: LookupKeys<'_, String>,
) -> Result<ResponsePayload, Fault> {
    let around = SpaceRelations::load_relations(tx, spaces, selection)?;
    let ctx = |space| SpaceRenderContext { space, relations: &around };
    let mut creators: Vec<_> = spaces.iter().map(|space| space.creator_id).collect();
    creators.sort_unstable();
    creators.dedup();
    let creators = users::find_by_ids(tx, &creators)?;
    let mut targets = Vec::new();
    for expansion in selection.requested_expansions() {
        if let ExpansionResolver::Space(resolve) = expansion.resolver {
            for space in spaces {
                resolve(ctx(space), &mut targets);
            }
        }
    }
    let objects = LoadedObjects::load_for_targets(tx, viewer, creators, targets, selection)?;
    let is_visible =
        |space: &&Space| space_visibility(space, objects.users.get(space.creator_id)) == Visibility::Visible;
    let shown: Vec<_> = spaces.iter().filter(is_visible).map(ctx).collect();
    let errors = missing_space_errors(&shown, keys);
    let renderer = ResponseRenderer { objects: &objects, selection, options };
    let lead = |resolve, ctx, to: &mut Vec<_>| {
        if let ExpansionResolver::Space(resolve) = resolve {
            resolve(ctx, to);
        }
    };
    Ok(renderer.render_response(&shown, errors, 384, lead, write))
}

/// Renders the result of a lookup by id; `data` is an object.
pub fn render_space(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    space: Option<Space>,
    selection: &FieldSelection,
    options: RenderOptions,
    keys: LookupKeys<'_, String>,
) -> Result<ResponsePayload, Fault> {
    let space: Vec<Space> = space.into_iter().collect();
    render_space_lookup(tx, viewer, &space, selection, options, keys).map(ResponsePayload::into_single)
}

/// The errors for keys that have no visible space, each once.
fn missing_space_errors(shown: &[SpaceRenderContext<'_>], keys: LookupKeys<'_, String>) -> Vec<Refusal> {
    let shown: Vec<String> = shown.iter().map(|ctx| encode_base62(ctx.space.id)).collect();
    let mut errors = Vec::new();
    for name in keys.values.iter().filter(|name| !shown.contains(name)) {
        let refusal = Refusal::NotFound(ResourceRef::new("space", keys.parameter, name));
        if !errors.contains(&refusal) {
            errors.push(refusal);
        }
    }
    errors
}

fn write(out: &mut JsonWriter, ctx: SpaceRenderContext<'_>, mask: u64) {
    out.write_fields(FIELDS, mask, |out, write| {
        if let FieldWriter::Space(write) = write {
            write(out, ctx);
        }
    });
}

impl SpaceRelations {
    /// Loads only what the selected fields need.
    fn load_relations(tx: &mut Tx<'_>, spaces: &[Space], selection: &FieldSelection) -> Result<Self, Fault> {
        let shows = |field| selection.root_mask() & field_bit(ObjectKind::Space, field) != 0;
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
