//! Advertising accounts.

use ads_engine::engine::{delete, ensure_valid_params, get, update};
use ads_engine::{
    AccountContext, AdsRecord, AdsRole, COUNT, CURSOR, CustomOperation, FieldRequirement, FieldSpec, Kind, ListFilter,
    OperationOutput, ParsedParams, RawParam, RequiredRole, Resource, SORT_BY, WITH_DELETED, WITH_TOTAL_COUNT, listing,
    parse_value,
};
use base::refusal::AdsProblem;
use base::{Error, Fault, Refusal, UserId, VocabularyWord};
use serde_json::{Value, json};
use store::{Tx, ads, records};

use crate::resources::{features, promotable_users};

/// An account is its own account, and is found through roles.
pub static ACCOUNT: Resource = Resource {
    name: "account",
    id: VocabularyWord::same_in_both("account_id"),
    path: "",
    label: "account",
    not_found: "ACCOUNT_NOT_FOUND",
    fields: &[
        FieldSpec::text("name", 1, 255).required(),
        FieldSpec::text("business_name", 0, 255).set_by_server(),
        FieldSpec::text("business_id", 0, 20).set_by_server(),
        FieldSpec::text("timezone", 1, 64).set_by_server().default_word("America/Los_Angeles"),
        FieldSpec::new("timezone_switch_at", Kind::TIME).set_by_server(),
        FieldSpec::one_of("industry_type", INDUSTRIES),
        APPROVAL_STATUS,
        FieldSpec::new("sandbox", Kind::BOOL).set_by_server().hidden(),
        FieldSpec::new("features", Kind::one_of(features::ALL_FEATURES).list(1, features::ALL_FEATURES.len()))
            .set_by_server()
            .hidden(),
        FieldSpec::one_of("feature_gates", features::GATE_MODES).set_by_server().hidden().default_word("lenient"),
        FieldSpec::new("line_item_limit", Kind::int(1, MAX_LINE_ITEMS))
            .set_by_server()
            .hidden()
            .default_number(MAX_LINE_ITEMS),
        FieldSpec::new("campaign_limit", Kind::int(1, MAX_CAMPAIGNS)).set_by_server().hidden().default_number(200),
        // `exact`, or rounded.
        FieldSpec::one_of("estimate", &["rounded", "exact"]).set_by_server().hidden(),
        FieldSpec::new("refused", Kind::one_of(OPT_IN_FEATURES).list(1, OPT_IN_FEATURES.len()))
            .set_by_server()
            .hidden(),
    ],
    filters: &[ListFilter::ids("account_ids", "id", &ACCOUNT)],
    max_name_prefix: 255,
    account_resources: super::RESOURCES,
    verbs: &[],
    ..Resource::DEFAULT
};

/// Of accounts and creatives.
pub const APPROVAL_STATUS: FieldSpec = FieldSpec::one_of("approval_status", &["ACCEPTED", "UNDER_REVIEW", "REJECTED"])
    .set_by_server()
    .default_word("ACCEPTED");

/// The maximum limit of active campaigns that an operator may set.
pub const MAX_CAMPAIGNS: i64 = 8000;

/// The maximum limit of active line items, which is also the default.
pub const MAX_LINE_ITEMS: i64 = 8000;

const INDUSTRIES: &[&str] = &[
    "AGENCY",
    "BUSINESS_TO_BUSINESS",
    "ONLINE_SERVICES",
    "EDUCATION",
    "FINANCIAL",
    "HEALTH",
    "GOVERNMENT",
    "MEDIA",
    "MOBILE",
    "RESTAURANT",
    "RETAIL",
    "TECHNOLOGY",
    "TRAVEL",
    "OTHER",
];

pub static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get("getAdsAccounts", "/accounts", list_accounts)
        .summary("Accounts that the user has a role on.")
        .requires_role(RequiredRole::Anyone)
        .params(&[
            FieldSpec::new("account_ids", Kind::custom(&ACCOUNT).list(1, 200)),
            COUNT,
            CURSOR,
            SORT_BY,
            FieldSpec::text("q", 1, 255),
            WITH_DELETED,
            WITH_TOTAL_COUNT,
        ]),
    CustomOperation::get("getAdsAccount", "", get_account).summary("An account.").params(&[WITH_DELETED]),
    CustomOperation::post("createAdsAccount", "/accounts", create_account)
        .summary("Sandbox only: creates an account.")
        .requires_role(RequiredRole::Anyone)
        .sandbox_only(),
    CustomOperation::put("updateAdsAccount", "", update_account).summary("Changes an account.").params(&[
        FieldSpec::text("name", 1, 255).alias(&["account_name"]).required().update(FieldRequirement::Optional),
        FieldSpec::one_of("industry_type", INDUSTRIES),
    ]),
    CustomOperation::delete("deleteAdsAccount", "", delete_account)
        .summary("Sandbox only: deletes an account.")
        .sandbox_only(),
];

fn list_accounts(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let accesses = ads::list_access_by_user(ctx.tx, ctx.caller.user)?;
    let ids: Vec<i64> = accesses.iter().map(|access| access.account_id).collect();
    let mut own = Vec::with_capacity(ids.len());
    for row in records::find_by_ids(ctx.tx, ACCOUNT.name, &ids)? {
        let record = AdsRecord::from_stored(&ACCOUNT, row)?;
        if record.flag("sandbox") == ctx.caller.sandbox {
            own.push(record);
        }
    }
    if params.has("account_ids") {
        let asked = params.ints("account_ids");
        own.retain(|record| asked.contains(&record.id));
    }
    listing::list_in_memory(ctx, &ACCOUNT, params, own)
}

fn get_account(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let record = get(ctx, &ACCOUNT, params)?;
    OperationOutput::from_record(ctx, record)
}

fn create_account(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let new = NewAdsAccount { name: "Sandbox account".to_owned(), sandbox: true, ..NewAdsAccount::default() };
    let record = insert(ctx.tx, ctx.caller.user, &new)?;
    Ok(OperationOutput::from_records(ctx, vec![record])?.as_last_page())
}

fn update_account(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let id = ctx.account_id()?;
    let record = update(ctx, &ACCOUNT, id, params)?;
    OperationOutput::from_record(ctx, record)
}

fn delete_account(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let id = ctx.account_id()?;
    let record = delete(ctx, &ACCOUNT, id)?;
    OperationOutput::from_record(ctx, record)
}

#[derive(Clone, Debug, Default)]
pub struct NewAdsAccount {
    pub name: String,
    /// IANA; empty for the default.
    pub timezone: String,
    /// Empty for none.
    pub industry_type: String,
    pub sandbox: bool,
}

/// The ids of production accounts are above this number, which no other service uses; those of sandbox accounts are
/// below.
pub const PRODUCTION_ID_BASE: i64 = 1 << 52;
const SANDBOX_ID_BASE: i64 = 1_000_000_000;

/// Creates an account. Its creator becomes its administrator and its promotable user.
pub fn insert(tx: &mut Tx<'_>, user: UserId, new: &NewAdsAccount) -> Result<AdsRecord, Error> {
    network::users::find_active(tx, user)?;
    let number = records::next_id(tx, ACCOUNT.name)?;
    let first = if new.sandbox { SANDBOX_ID_BASE } else { PRODUCTION_ID_BASE };
    let id = first.saturating_add(number);
    let mut record = AdsRecord::new(&ACCOUNT, id, id, tx.now());
    for field in ACCOUNT.fields {
        record.set(field.name.post, field.default_value.to_value(field.kind));
    }
    record.set("name", parse_field("name", &new.name)?);
    for (name, text) in [("timezone", &new.timezone), ("industry_type", &new.industry_type)] {
        if !text.is_empty() {
            record.set(name, parse_field(name, text)?);
        }
    }
    record.set("sandbox", i64::from(new.sandbox));
    record.set("features", json!(features::DEFAULT_FEATURES));
    record.insert(tx)?;
    let access = ads::AdsAccountAccess {
        user_id: user,
        account_id: id,
        role: AdsRole::Admin.name().to_owned(),
        can_compose: true,
    };
    ads::grant_access(tx, &access)?;
    let mut ctx = AccountContext::new_for_operator(tx, user, record.clone());
    promotable_users::add(&mut ctx, user, "FULL")?;
    Ok(record)
}

fn parse_field(name: &'static str, text: &str) -> Result<Value, Error> {
    let kind = ACCOUNT.field(name).ok_or_else(|| Fault::new(format!("accounts have no field {name}")))?.kind;
    let read = parse_value(kind, name, RawParam::Text(&[text.to_owned()]));
    Ok(read.map_err(|problem| Refusal::invalid_parameter(name, text, problem.message))?)
}

/// Features that operators enable per account; enabled on a new account.
pub const OPT_IN_FEATURES: &[&str] = &["ACCOUNT_HISTORY", "RECOMMENDATIONS"];

pub fn require_opt_in_feature(ctx: &AccountContext<'_, '_>, what: &str) -> Result<(), Error> {
    if ctx.account()?.record.has("refused", what) {
        let message = format!("{what} is not open to this account");
        return Err(AdsProblem::new("FEATURE_NOT_AVAILABLE", message).into());
    }
    Ok(())
}

pub fn find(tx: &mut Tx<'_>, id: i64) -> Result<Option<AdsRecord>, Error> {
    Ok(AdsRecord::find(tx, &ACCOUNT, id)?)
}
