//! List fields and expansions.

use base::Fault;
use network::visibility::{Viewer, Visibility, list_visibility};
use store::lists::List;
use store::{Tx, users};

use crate::field_schema::{Expansion, ExpansionResolver, FieldDefinition, FieldWriter, JsonFieldType};
use crate::json_writer::JsonWriter;
use crate::loader::{ExpansionTarget, LoadedObjects};
use crate::response::ResponseRenderer;
use crate::{FieldSelection, LookupKeys, ObjectKind, RenderOptions, ResponsePayload};

pub(crate) const FIELDS: &[FieldDefinition] = &[
    FieldDefinition::default_field("id", JsonFieldType::Id, "Id of the list.")
        .list_writer(|out, list| out.write_id(list.id)),
    FieldDefinition::default_field("name", JsonFieldType::Text, "Its name.")
        .list_writer(|out, list| out.write_text(&list.name)),
    FieldDefinition::requested_field("created_at", JsonFieldType::Time, "When it was made.")
        .list_writer(|out, list| out.write_time(list.created_at)),
    FieldDefinition::requested_field("description", JsonFieldType::Text, "What it is for.")
        .list_writer(|out, list| out.write_nonempty_text(&list.description)),
    FieldDefinition::requested_field("follower_count", JsonFieldType::Int, "Users who follow it.")
        .list_writer(|out, list| out.write_int(list.follower_count)),
    FieldDefinition::requested_field("member_count", JsonFieldType::Int, "Users on it.")
        .list_writer(|out, list| out.write_int(list.member_count)),
    FieldDefinition::requested_field("private", JsonFieldType::Bool, "Only its owner sees it.")
        .list_writer(|out, list| out.write_bool(list.private)),
    FieldDefinition::requested_field("owner_id", JsonFieldType::Id, "Who made it.")
        .list_writer(|out, list| out.write_id(list.owner_id.get())),
];

pub(crate) const EXPANSIONS: &[Expansion] =
    &[Expansion::new("owner_id", ObjectKind::User, "owner_id").list_resolver(push_owner)];

fn push_owner<'a>(list: &'a List, targets: &mut Vec<ExpansionTarget<'a>>) {
    targets.push(ExpansionTarget::User(list.owner_id));
}

/// Renders a page in order; lists that are not visible are omitted.
pub fn render_lists(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    page: &[List],
    selection: &FieldSelection,
    options: RenderOptions,
) -> Result<ResponsePayload, Fault> {
    let mut owners: Vec<_> = page.iter().map(|list| list.owner_id).collect();
    owners.sort_unstable();
    owners.dedup();
    let owners = users::find_by_ids(tx, &owners)?;
    let objects = LoadedObjects::load_for_targets(tx, viewer, owners, Vec::new(), selection)?;
    let is_visible = |list: &&List| {
        let owner = objects.users.get(list.owner_id);
        list_visibility(viewer, list, owner) == Visibility::Visible
    };
    let shown: Vec<&List> = page.iter().filter(is_visible).collect();
    let renderer = ResponseRenderer { objects: &objects, selection, options };
    let lead = |resolve, list, targets: &mut Vec<_>| {
        if let ExpansionResolver::List(resolve) = resolve {
            resolve(list, targets);
        }
    };
    Ok(renderer.render_response(&shown, Vec::new(), 256, lead, write))
}

/// Renders the result of a lookup by id; `data` is an object.
pub fn render_list(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    found: Option<List>,
    selection: &FieldSelection,
    options: RenderOptions,
    keys: LookupKeys<'_, i64>,
) -> Result<ResponsePayload, Fault> {
    let page: Vec<List> = found.into_iter().collect();
    let response = render_lists(tx, viewer, &page, selection, options)?;
    Ok(response.single_or_not_found("list", keys))
}

fn write(out: &mut JsonWriter, list: &List, mask: u64) {
    out.write_fields(FIELDS, mask, |out, write| {
        if let FieldWriter::List(write) = write {
            write(out, list);
        }
    });
}
