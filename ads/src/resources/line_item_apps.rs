//! The apps that a line item advertises.

use ads_engine::{AccountContext, FieldSpec, ListFilter, RecordChange, Resource, ResourceVerb};
use base::{Error, VocabularyWord};

use crate::resources::account_apps;
use crate::resources::app_event_tags::{OS_TYPES, system_name};
use crate::resources::line_items::LINE_ITEM;

pub static LINE_ITEM_APP: Resource = Resource {
    name: "line_item_app",
    id: VocabularyWord::same_in_both("line_item_app_id"),
    path: "line_item_apps",
    label: "line item app",
    not_found: "LINE_ITEM_APP_NOT_FOUND",
    fields: &[
        FieldSpec::parent("line_item_id", &LINE_ITEM).required(),
        FieldSpec::one_of("os_type", OS_TYPES).required(),
        FieldSpec::text("app_store_identifier", 1, 255).required(),
    ],
    filters: &[
        ListFilter::ids("line_item_ids", "line_item_id", &LINE_ITEM),
        ListFilter::ids("line_item_app_ids", "id", &LINE_ITEM_APP),
    ],
    verbs: &[ResourceVerb::List, ResourceVerb::Get, ResourceVerb::Create, ResourceVerb::Delete],
    after_change: Some(record_app),
    ..Resource::DEFAULT
};

fn record_app(ctx: &mut AccountContext<'_, '_>, change: &RecordChange) -> Result<(), Error> {
    if change.verb == ResourceVerb::Delete {
        return Ok(());
    }
    let system = system_name(change.record.text("os_type"));
    account_apps::ensure_app(ctx, system, change.record.text("app_store_identifier"))
}
