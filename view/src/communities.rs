//! Community fields and responses.

use base::Refusal;
use base::refusal::ResourceRef;
use store::communities::Community;

use crate::field_schema::{FieldDefinition, FieldWriter, JsonFieldType};
use crate::json_writer::JsonWriter;
use crate::{FieldSelection, ObjectKind, RenderOptions, ResponsePayload};

pub fn render_communities(page: &[Community], selection: &FieldSelection, options: RenderOptions) -> ResponsePayload {
    let mask = selection.included_mask(ObjectKind::Community);
    ResponsePayload::from_rows(options, page, 256, |out, community| {
        write(out, community, mask);
    })
}

/// Renders the result of a lookup by id; `data` is an object.
pub fn render_community(
    found: Option<&Community>,
    id: i64,
    selection: &FieldSelection,
    options: RenderOptions,
) -> ResponsePayload {
    match found {
        Some(community) => render_communities(std::slice::from_ref(community), selection, options).into_single(),
        None => ResponsePayload {
            errors: vec![Refusal::NotFound(ResourceRef::new("community", "id", id))],
            ..ResponsePayload::default()
        },
    }
}

fn write(out: &mut JsonWriter, community: &Community, mask: u64) {
    out.write_fields(FIELDS, mask, |out, write| {
        if let FieldWriter::Community(write) = write {
            write(out, community);
        }
    });
}

const JOIN_POLICIES: &[&str] = &[
    "Open",
    "RestrictedJoinRequestsDisabled",
    "RestrictedJoinRequestsRequireAdminApproval",
    "RestrictedJoinRequestsRequireModeratorApproval",
    "SuperFollowRequired",
];

pub(crate) const FIELDS: &[FieldDefinition] = &[
    FieldDefinition::default_field("id", JsonFieldType::Id, "Id of the community.")
        .community_writer(|out, community| out.write_id(community.id)),
    FieldDefinition::default_field("name", JsonFieldType::Text, "Its name.")
        .community_writer(|out, community| out.write_nonempty_text(&community.name)),
    FieldDefinition::requested_field("access", JsonFieldType::OneOf(&["Public", "Closed"]), "Who sees its posts.")
        .community_writer(|out, community| out.write_nonempty_text(&community.access)),
    FieldDefinition::requested_field("created_at", JsonFieldType::Time, "When it was made.")
        .community_writer(|out, community| out.write_time(community.created_at)),
    FieldDefinition::requested_field("description", JsonFieldType::Text, "What it is for.")
        .community_writer(|out, community| out.write_nonempty_text(&community.description)),
    FieldDefinition::requested_field("join_policy", JsonFieldType::OneOf(JOIN_POLICIES), "Who may join.")
        .community_writer(|out, community| out.write_nonempty_text(&community.join_policy)),
    FieldDefinition::requested_field("member_count", JsonFieldType::Int, "Its members.")
        .community_writer(|out, community| out.write_int(community.member_count)),
];
