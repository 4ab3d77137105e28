//! Community fields and responses.

use base::refusal::ResourceRef;
use base::{Refusal, VocabularyWord};
use store::communities::Community;

use crate::field_schema::JsonFieldType;
use crate::object::{ObjectField, ObjectKind, RenderedObject};
use crate::{RenderRequest, ResponsePayload};

pub fn render_communities(request: &RenderRequest, page: &[Community]) -> ResponsePayload {
    ResponsePayload::from_objects::<Community>(request, page.iter(), 256)
}

/// Renders the result of a lookup by id; `data` is an object.
pub fn render_community(request: &RenderRequest, found: Option<&Community>, id: i64) -> ResponsePayload {
    match found {
        Some(community) => render_communities(request, std::slice::from_ref(community)).into_single(),
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
