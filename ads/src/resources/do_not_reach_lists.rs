//! The do-not-reach list: people an account's ads never reach, one list for each account, of hashed email
//! addresses and phone numbers (contract ads §4.14).

use std::collections::HashMap;

use ads_engine::{
    AccountContext, AdsRateClass, AdsRecord, CustomOperation, FieldSpec, Kind, OperationOutput, ParsedParams,
    RecordChange, RequiredRole, Resource, ResourceVerb, ValidationRule,
};
use base::refusal::AdsProblem;
use base::{Error, VocabularyWord};
use serde_json::json;
use store::ads::audiences;
use store::{Tx, records};

use crate::resources::accounts::ACCOUNT;
use crate::resources::audience_users::{self, AcceptedKeys};
use crate::resources::custom_audiences::reasons_not_targetable;

/// Members are stored and matched like those of custom audiences, so their ids must differ.
pub static DO_NOT_REACH_LIST: Resource = Resource {
    name: "do_not_reach_list",
    id: VocabularyWord::same_in_both("do_not_reach_list_id"),
    path: "do_not_reach_lists",
    label: "do-not-reach list",
    has_random_ids: true,
    fields: &[
        FieldSpec::text("name", 1, 255).set_by_server().default_word("Do Not Reach List"),
        FieldSpec::text("description", 1, 1000).label("Description").immutable(),
        FieldSpec::new("list_size", Kind::int(0, i64::MAX)).set_by_server(),
        FieldSpec::new("targetable", Kind::BOOL).set_by_server().default_flag(false),
        FieldSpec::new("processed", Kind::BOOL).set_by_server().hidden().default_flag(false),
        // When the size is computed next.
        FieldSpec::new("due_at", Kind::TIME).set_by_server().hidden(),
    ],
    verbs: &[ResourceVerb::List, ResourceVerb::Create, ResourceVerb::Delete],
    rules: &[ValidationRule::InContext(validate_single_list)],
    compute_fields: Some(|_, lists| Ok(lists.iter().map(|list| vec![reasons_not_targetable(list)]).collect())),
    after_change: Some(end_memberships),
    ..Resource::DEFAULT
};

pub static OPERATIONS: &[CustomOperation] = &[CustomOperation::post(
    "changeAdsDoNotReachUsers",
    "/batch/accounts/{account_id}/do_not_reach_lists/{do_not_reach_list_id}/users",
    change_list_members,
)
.summary("Adds and removes people whom advertisements do not reach: all of them or none.")
.requires_role(RequiredRole::CampaignWriter)
.params(&[FieldSpec::reference("do_not_reach_list_id", &DO_NOT_REACH_LIST).required()])
.takes_json()
.rate_limited(AdsRateClass::AccountPerMinute(1500))
.body_limit(audience_users::MAX_BODY_BYTES)];

fn validate_single_list(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    let account = ctx.account_id()?;
    if change.is_new() && find_list_id(ctx.tx, account)?.is_some() {
        let message = "The account has a do-not-reach list already";
        return Err(AdsProblem::invalid_attribute("account_id", message).into());
    }
    Ok(())
}

pub fn find_list_id(tx: &mut Tx<'_>, account: i64) -> Result<Option<i64>, Error> {
    Ok(find_list_ids(tx, &[account])?.remove(&account))
}

/// The lists of accounts, by account.
pub fn find_list_ids(tx: &mut Tx<'_>, accounts: &[i64]) -> Result<HashMap<i64, i64>, Error> {
    let lists = records::list_by_accounts(tx, DO_NOT_REACH_LIST.name, accounts)?;
    Ok(lists.into_iter().map(|list| (list.account_id, list.id)).collect())
}

fn end_memberships(ctx: &mut AccountContext<'_, '_>, change: &RecordChange) -> Result<(), Error> {
    if change.verb == ResourceVerb::Delete {
        audiences::delete(ctx.tx, change.record.id)?;
    }
    Ok(())
}

fn change_list_members(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ads_engine::engine::ensure_valid_params(params)?;
    let id = params.int(DO_NOT_REACH_LIST.id.post).unwrap_or(-1);
    let list: AdsRecord = ctx.require_record(&DO_NOT_REACH_LIST, id)?;
    let count = audience_users::write_members(ctx, &list, params, AcceptedKeys::Contacts)?;
    let counts = json!([{ "success_count": count, "total_count": count }]);
    let params = json!({
        "account_id": ACCOUNT.id_format.format(list.account_id),
        "do_not_reach_list_id": list.formatted_id(),
    });
    let mut output = OperationOutput::from_value(counts);
    output.item_requests = Some(vec![json!({ "params": params })]);
    Ok(output)
}
