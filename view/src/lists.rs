//! List fields and expansions.

use base::{Fault, VocabularyWord, sorted_distinct};
use network::visibility::{Visibility, list_visibility};
use store::lists::List;
use store::{Tx, users};

use crate::field_schema::{ExpansionTarget, JsonFieldType};
use crate::loaded_objects::LoadedObjects;
use crate::object::{ObjectExpansion, ObjectField, ObjectKind, RenderedObject};
use crate::response::ResponseRenderer;
use crate::{LookupKeys, RenderRequest, ResponsePayload};

type ListField = ObjectField<List>;
type ListExpansion = ObjectExpansion<List>;

impl RenderedObject for List {
    type Context<'a> = &'a Self;

    const NAME: VocabularyWord = VocabularyWord::same_in_both("List");
    const FIELDS_PARAM: VocabularyWord = VocabularyWord::same_in_both("list.fields");
    const FIELDS: &'static [ObjectField<Self>] = FIELDS;
    const EXPANSIONS: &'static [ObjectExpansion<Self>] = EXPANSIONS;
}

impl ObjectKind {
    pub const LIST: Self = List::KIND;
}

const FIELDS: &[ListField] = &[
    ListField::default_field("id", JsonFieldType::Id, "Id of the list.").writer(|out, list| out.write_id(list.id)),
    ListField::default_field("name", JsonFieldType::Text, "Its name.").writer(|out, list| out.write_text(&list.name)),
    ListField::requested_field("created_at", JsonFieldType::Time, "When it was made.")
        .writer(|out, list| out.write_time(list.created_at)),
    ListField::requested_field("description", JsonFieldType::Text, "What it is for.")
        .writer(|out, list| out.write_nonempty_text(&list.description)),
    ListField::requested_field("follower_count", JsonFieldType::Int, "Users who follow it.")
        .writer(|out, list| out.write_int(list.follower_count)),
    ListField::requested_field("member_count", JsonFieldType::Int, "Users on it.")
        .writer(|out, list| out.write_int(list.member_count)),
    ListField::requested_field("private", JsonFieldType::Bool, "Only its owner sees it.")
        .writer(|out, list| out.write_bool(list.private)),
    ListField::requested_field("owner_id", JsonFieldType::Id, "Who made it.")
        .writer(|out, list| out.write_id(list.owner_id.get())),
];

const EXPANSIONS: &[ListExpansion] =
    &[ListExpansion::new("owner_id", "owner_id").resolver(|list, to| to.push(ExpansionTarget::User(list.owner_id)))];

/// Renders a page in order; lists that are not visible are omitted.
pub fn render_lists(tx: &mut Tx<'_>, request: &RenderRequest, page: &[List]) -> Result<ResponsePayload, Fault> {
    let owners = sorted_distinct(page.iter().map(|list| list.owner_id));
    let owners = users::find_by_ids(tx, &owners)?;
    let objects = LoadedObjects::load_for_objects::<List>(tx, request.viewer, owners, page.iter(), &request.selection)?;
    let is_visible = |list: &&List| {
        let owner = objects.users.get(list.owner_id);
        list_visibility(request.viewer, list, owner) == Visibility::Visible
    };
    let shown: Vec<&List> = page.iter().filter(is_visible).collect();
    let renderer = ResponseRenderer { objects: &objects, request };
    Ok(renderer.render_response::<List>(&shown, Vec::new(), 256))
}

/// Renders the result of a lookup by id; `data` is an object.
pub fn render_list(
    tx: &mut Tx<'_>,
    request: &RenderRequest,
    found: Option<List>,
    keys: LookupKeys<'_, i64>,
) -> Result<ResponsePayload, Fault> {
    let page: Vec<List> = found.into_iter().collect();
    let response = render_lists(tx, request, &page)?;
    Ok(response.single_or_not_found("list", keys))
}
