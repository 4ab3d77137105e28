//! Promoted accounts: users whom a line item recommends to follow.

use ads_engine::{
    AccountContext, AdsRecord, FieldSpec, Kind, ListFilter, ParsedParams, RecordChange, Resource, ResourceVerb,
    ValidationRule,
};
use base::refusal::AdsProblem;
use base::{Error, UserId, VocabularyWord};

use crate::resources::accounts::APPROVAL_STATUS;
use crate::resources::line_items::{
    CREATIVE_STATUS, LINE_ITEM, find_same_creative, recount_creatives, require_product_type,
};
use crate::resources::promotable_users;

pub static PROMOTED_ACCOUNT: Resource = Resource {
    name: "promoted_account",
    id: VocabularyWord::same_in_both("promoted_account_id"),
    path: "promoted_accounts",
    label: "promoted account",
    not_found: "PROMOTED_ACCOUNT_NOT_FOUND",
    fields: &[
        FieldSpec::parent("line_item_id", &LINE_ITEM).required(),
        FieldSpec::new("user_id", Kind::ID).label("User ID").help("The account’s own user.").required().immutable(),
        CREATIVE_STATUS,
        APPROVAL_STATUS,
    ],
    filters: &[
        ListFilter::ids("line_item_ids", "line_item_id", &LINE_ITEM),
        ListFilter::ids("promoted_account_ids", "id", &PROMOTED_ACCOUNT),
    ],
    constant_sorts: &["paused"],
    verbs: &[ResourceVerb::List, ResourceVerb::Get, ResourceVerb::Create, ResourceVerb::Delete],
    rules: &[
        ValidationRule::OnReference("line_item_id", validate_product_type),
        ValidationRule::InContext(validate_user),
    ],
    history_name: "PROMOTED_ACCOUNT",
    list_guard: Some(validate_line_item_filter),
    find_duplicate: Some(|ctx, record| find_same_creative(ctx, record, &["user_id"])),
    after_change: Some(recount_creatives),
    ..Resource::DEFAULT
};

fn validate_product_type(_: &RecordChange, item: &AdsRecord) -> Result<(), AdsProblem> {
    require_product_type(item, &["PROMOTED_ACCOUNT"], "promoted accounts")
}

/// Requires the account's own user, whom others can follow.
fn validate_user(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if change.verb == ResourceVerb::Delete {
        return Ok(());
    }
    let user = UserId::new(change.record.int("user_id").unwrap_or(0));
    let own = promotable_users::find_own_user(ctx)? == Some(user);
    let found = store::users::find_by_id(ctx.tx, user)?;
    let open = found.is_some_and(|user| user.is_public());
    if own && open {
        return Ok(());
    }
    let message = format!("The user {user} cannot be promoted by this account");
    Err(AdsProblem::invalid_attribute("user_id", message).with_code("INVALID_USER_ID").into())
}

fn validate_line_item_filter(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<(), Error> {
    if !params.has("line_item_ids") {
        return Ok(());
    }
    let ids = params.ints("line_item_ids");
    for id in &ids {
        let item = ctx.find_record(&LINE_ITEM, *id)?;
        if item.is_some_and(|item| item.text("product_type") == "PROMOTED_ACCOUNT") {
            return Ok(());
        }
    }
    let message = "None of these line items takes promoted accounts";
    let sent: Vec<String> = ids.iter().map(|id| LINE_ITEM.id_format.format(*id)).collect();
    Err(AdsProblem::invalid_parameter("line_item_ids", sent.join(","), message)
        .with_code("INCOMPATIBLE_LINE_ITEM")
        .into())
}
