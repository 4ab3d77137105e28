//! Calls to action over what is shown before videos.

use ads_engine::{
    AccountContext, AdsRecord, FieldSpec, ListFilter, RecordChange, Resource, ResourceVerb, ValidationRule,
};
use base::refusal::AdsProblem;
use base::{Error, VocabularyWord};

use crate::resources::line_items::LINE_ITEM;

/// A line item has at most one.
pub static PREROLL_CALL_TO_ACTION: Resource = Resource {
    name: "preroll_call_to_action",
    id: VocabularyWord::same_in_both("preroll_call_to_action_id"),
    path: "preroll_call_to_actions",
    label: "preroll call to action",
    legacy_path: "preroll_call_to_action",
    operation_ids: &[
        (ResourceVerb::List, "getAdsCallsToAction"),
        (ResourceVerb::Get, "getAdsCallToAction"),
        (ResourceVerb::Create, "createAdsCallToAction"),
        (ResourceVerb::Update, "updateAdsCallToAction"),
        (ResourceVerb::Delete, "deleteAdsCallToAction"),
    ],
    fields: &[
        FieldSpec::parent("line_item_id", &LINE_ITEM).required(),
        FieldSpec::one_of("call_to_action", &["GO_TO", "SEE_MORE", "SHOP", "VISIT_SITE", "WATCH_NOW"])
            .label("Button")
            .required(),
        FieldSpec::url("call_to_action_url").label("Destination URL").help("Starts with https://").required(),
    ],
    filters: &[
        ListFilter::ids("line_item_ids", "line_item_id", &LINE_ITEM),
        ListFilter::ids("preroll_call_to_action_ids", "id", &PREROLL_CALL_TO_ACTION),
    ],
    rules: &[
        ValidationRule::OnReference("line_item_id", validate_objective),
        ValidationRule::InContext(validate_single_call_to_action),
    ],
    ..Resource::DEFAULT
};

fn validate_objective(_: &RecordChange, item: &AdsRecord) -> Result<(), AdsProblem> {
    if item.text("objective") == "PREROLL_VIEWS" {
        return Ok(());
    }
    let message = "Only a line item with the objective PREROLL_VIEWS takes a call to action";
    Err(AdsProblem::invalid_attribute("line_item_id", message).with_code("INCOMPATIBLE_LINE_ITEM"))
}

fn validate_single_call_to_action(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if change.verb != ResourceVerb::Create {
        return Ok(());
    }
    let item = change.record.int("line_item_id").unwrap_or(0);
    if ctx.list_visible_records(&PREROLL_CALL_TO_ACTION, "line_item_id", item)?.is_empty() {
        return Ok(());
    }
    let message = "The line item has a call to action already";
    Err(AdsProblem::invalid_attribute("line_item_id", message).into())
}
