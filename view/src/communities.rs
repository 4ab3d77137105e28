//! Community fields and responses.

use base::refusal::ResourceRef;
use base::{Refusal, VocabularyWord};
use store::communities::Community;

use crate::field_schema::JsonFieldType;
use crate::object::{ObjectField, ObjectKind, RenderedObject};
use crate::{FieldSelection, RenderOptions, ResponsePayload};

pub fn render_communities(page: &[Community], selection: &FieldSelection, options: RenderOptions) -> ResponsePayload {
    ResponsePayload::from_objects::<Community>(page.iter(), selection, options, 256)
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

const JOIN_POLICIES: &[&str] = &[
    "Open",
    "RestrictedJoinRequestsDisabled",
    "RestrictedJoinRequestsRequireAdminApproval",
    "RestrictedJoinRequestsRequireModeratorApproval",
    "SuperFollowRequired",
];

type CommunityField = ObjectField<Community>;

impl RenderedObject for Community {
    type Context<'a> = &'a Self;

    const NAME: VocabularyWord = VocabularyWord::same_in_both("Community");
    const FIELDS_PARAM: VocabularyWord = VocabularyWord::same_in_both("community.fields");
    const FIELDS: &'static [ObjectField<Self>] = FIELDS;
}

impl ObjectKind {
    pub const COMMUNITY: Self = Community::KIND;
}

const FIELDS: &[CommunityField] = &[
    CommunityField::default_field("id", JsonFieldType::Id, "Id of the community.")
        .writer(|out, community| out.write_id(community.id)),
    CommunityField::default_field("name", JsonFieldType::Text, "Its name.")
        .writer(|out, community| out.write_nonempty_text(&community.name)),
    CommunityField::requested_field("access", JsonFieldType::OneOf(&["Public", "Closed"]), "Who sees its posts.")
        .writer(|out, community| out.write_nonempty_text(&community.access)),
    CommunityField::requested_field("created_at", JsonFieldType::Time, "When it was made.")
        .writer(|out, community| out.write_time(community.created_at)),
    CommunityField::requested_field("description", JsonFieldType::Text, "What it is for.")
        .writer(|out, community| out.write_nonempty_text(&community.description)),
    CommunityField::requested_field("join_policy", JsonFieldType::OneOf(JOIN_POLICIES), "Who may join.")
        .writer(|out, community| out.write_nonempty_text(&community.join_policy)),
    CommunityField::requested_field("member_count", JsonFieldType::Int, "Its members.")
        .writer(|out, community| out.write_int(community.member_count)),
];
