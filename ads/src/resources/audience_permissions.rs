//! Permissions for other accounts to use a custom audience.

use ads_engine::{
    AccountContext, AdsRecord, AnyAccountId, COUNT, CURSOR, CustomOperation, FeatureGate, FieldSpec, Kind, ListFilter,
    OperationData, OperationHandler, OperationOutput, ParsedParams, RequiredRole, Resource, SORT_BY, ValidationRule,
    WITH_TOTAL_COUNT, engine, feature_gates, listing,
};
use base::refusal::{AdsProblem, ProblemLocation};
use base::{Error, Refusal, VocabularyWord};
use store::records;

use crate::resources::accounts::{self, ACCOUNT};
use crate::resources::custom_audiences::{CUSTOM_AUDIENCE, require_own_audience};
use crate::resources::hash_key;

/// A permission for another account to use an audience; at most one per account.
pub static AUDIENCE_PERMISSION: Resource = Resource {
    name: "custom_audience_permission",
    id: VocabularyWord::same_in_both("custom_audience_permission_id"),
    path: "custom_audience_permissions",
    label: "permission",
    fields: &[
        FieldSpec::parent("custom_audience_id", &CUSTOM_AUDIENCE).required(),
        FieldSpec::new("granted_account_id", Kind::custom(&AnyAccountId))
            .label("Account ID")
            .help("Shown on its Account page, for example 18ce54d4x5t.")
            .required()
            .immutable(),
        FieldSpec::one_of("permission_level", LEVELS).label("Permission").required(),
        // A hash, so that a duplicate is found without scanning the audience's permissions.
        FieldSpec::new("pair", Kind::int(0, i64::MAX)).set_by_server().hidden(),
    ],
    filters: &[
        ListFilter::new("custom_audience_id", "custom_audience_id", Kind::custom(&CUSTOM_AUDIENCE)),
        ListFilter::ids("granted_account_ids", "granted_account_id", &ACCOUNT),
        ListFilter::ids("custom_audience_permission_ids", "id", &AUDIENCE_PERMISSION),
    ],
    verbs: &[],
    rules: &[ValidationRule::InContext(|_, change| {
        set_pair_key(&mut change.record);
        Ok(())
    })],
    ..Resource::DEFAULT
};

const LEVELS: &[&str] = &["READ_ONLY", "READ_WRITE"];
const AUDIENCE: FieldSpec = FieldSpec::reference("custom_audience_id", &CUSTOM_AUDIENCE).required();
const TAILORED: FieldSpec = FieldSpec::reference("tailored_audience_id", &CUSTOM_AUDIENCE).required();
const GRANTED: FieldSpec =
    FieldSpec::new("granted_account_id", Kind::custom(&AnyAccountId)).required().requires_features(&[SHARING_GATE]);
/// Required for sharing outside the business.
const SHARING_GATE: FeatureGate = FeatureGate::new("SHARE_AUDIENCE_OUTSIDE_BUSINESS").applies_always();
const LEVEL: FieldSpec = FieldSpec::one_of("permission_level", LEVELS).required();
const ACCOUNTS: FieldSpec = FieldSpec::new("granted_account_ids", Kind::custom(&ACCOUNT).list(1, 200));

/// Version 5 of the API has other names for the same operations.
pub static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get(
        "getAdsAudiencePermissions",
        "custom_audiences/{custom_audience_id}/permissions",
        list_permissions,
    )
    .summary("Accounts that may use a custom audience.")
    .requires_role(RequiredRole::AudienceReader)
    .aliases(&["tailored_audiences/{custom_audience_id}/permissions"])
    .params(&[
        AUDIENCE,
        ACCOUNTS,
        FieldSpec::new("custom_audience_permission_ids", Kind::custom(&AUDIENCE_PERMISSION).list(1, 200))
            .alias(&["tailored_audience_permission_ids"]),
        COUNT,
        CURSOR,
        SORT_BY,
        WITH_TOTAL_COUNT,
    ]),
    CustomOperation::post(
        "grantAdsAudiencePermission",
        "custom_audiences/{custom_audience_id}/permissions",
        grant_permission,
    )
    .summary("Lets an account use a custom audience, or use it in another way than before.")
    .requires_role(RequiredRole::AudienceWriter)
    .aliases(&["tailored_audiences/{custom_audience_id}/permissions"])
    .params(&[AUDIENCE, GRANTED, LEVEL]),
    CustomOperation::delete(
        "revokeAdsAudiencePermission",
        "custom_audiences/{custom_audience_id}/permissions/{custom_audience_permission_id}",
        revoke_permission,
    )
    .summary("Ends an account's use of a custom audience; line items that target it keep running.")
    .requires_role(RequiredRole::AudienceWriter)
    .aliases(&["tailored_audiences/{custom_audience_id}/permissions/{custom_audience_permission_id}"])
    .params(&[AUDIENCE, FieldSpec::reference("custom_audience_permission_id", &AUDIENCE_PERMISSION).required()]),
    CustomOperation::get(
        "getAdsTailoredPermissions",
        "tailored_audiences/{tailored_audience_id}/permissions",
        |ctx, params| call_with_v5_names(ctx, params, list_permissions),
    )
    .summary("Accounts that may use a tailored audience.")
    .version("5")
    .requires_role(RequiredRole::AudienceReader)
    .params(&[
        TAILORED,
        ACCOUNTS,
        FieldSpec::new("tailored_audience_permission_ids", Kind::custom(&AUDIENCE_PERMISSION).list(1, 200)),
        COUNT,
        CURSOR,
        SORT_BY,
        WITH_TOTAL_COUNT,
    ]),
    CustomOperation::post(
        "grantAdsTailoredPermission",
        "tailored_audiences/{tailored_audience_id}/permissions",
        |ctx, params| call_with_v5_names(ctx, params, grant_permission),
    )
    .summary("Lets an account use a tailored audience, or use it in another way than before.")
    .version("5")
    .requires_role(RequiredRole::AudienceWriter)
    .params(&[TAILORED, GRANTED, LEVEL]),
    CustomOperation::delete(
        "revokeAdsTailoredPermission",
        "tailored_audiences/{tailored_audience_id}/permissions/{tailored_audience_permission_id}",
        |ctx, params| call_with_v5_names(ctx, params, revoke_permission),
    )
    .summary("Ends an account's use of a tailored audience; line items that target it keep running.")
    .version("5")
    .requires_role(RequiredRole::AudienceWriter)
    .params(&[TAILORED, FieldSpec::reference("tailored_audience_permission_id", &AUDIENCE_PERMISSION).required()]),
];

/// Names of parameters in version 5, and the current ones.
const V5_NAMES: [(&str, &str); 3] = [
    ("tailored_audience_id", "custom_audience_id"),
    ("tailored_audience_permission_id", "custom_audience_permission_id"),
    ("tailored_audience_permission_ids", "custom_audience_permission_ids"),
];

fn to_current_names(params: &ParsedParams) -> ParsedParams {
    let mut same = params.clone();
    for (old, new) in V5_NAMES {
        if let Some(value) = params.get(old) {
            same.insert(new, value.clone());
        }
    }
    same
}

/// Refusals name the parameter as the caller did.
fn to_v5_names(error: Error) -> Error {
    let Error::Refused(Refusal::Ads(mut refusal)) = error else { return error };
    for problem in &mut refusal.problems {
        let old = V5_NAMES.iter().find(|(_, new)| problem.is_at_parameter(new));
        if let Some((old, _)) = old {
            problem.location = ProblemLocation::Parameter((*old).into());
        }
    }
    Refusal::Ads(refusal).into()
}

/// Translates a response to version 5. Quotation marks inside values are escaped, so member names are
/// unambiguous.
fn call_with_v5_names(
    ctx: &mut AccountContext<'_, '_>,
    params: &ParsedParams,
    handler: OperationHandler,
) -> Result<OperationOutput, Error> {
    let mut output = handler(ctx, &to_current_names(params)).map_err(to_v5_names)?;
    let mut json = String::new();
    output.data.write_json(&mut json, ctx.caller.vocabulary);
    output.data = OperationData::Json(json.replace("\"custom_audience_id\":", "\"tailored_audience_id\":"));
    Ok(output)
}

fn list_permissions(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    require_own_audience(ctx, params)?;
    if params.has("custom_audience_permission_ids") {
        // An id alone would also find permissions for other audiences.
        let audience = params.int("custom_audience_id").unwrap_or(-1);
        let mut own = ctx.list_visible_records(&AUDIENCE_PERMISSION, "custom_audience_id", audience)?;
        let ids = params.ints("custom_audience_permission_ids");
        own.retain(|record| ids.contains(&record.id));
        return listing::list_in_memory(ctx, &AUDIENCE_PERMISSION, params, own);
    }
    listing::list(ctx, &AUDIENCE_PERMISSION, params)
}

fn grant_permission(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let audience = require_own_audience(ctx, params)?;
    let to = params.int("granted_account_id").unwrap_or(-1);
    validate_sharing(ctx, to)?;
    let known = find_permission(ctx, audience.id, to)?;
    let record = match known {
        Some(known) => engine::update(ctx, &AUDIENCE_PERMISSION, known.id, params)?,
        None => engine::create(ctx, &AUDIENCE_PERMISSION, params)?,
    };
    OperationOutput::from_record(ctx, record)
}

/// Audiences may be shared within a business, or outside it if an operator allows that.
fn validate_sharing(ctx: &mut AccountContext<'_, '_>, to: i64) -> Result<(), Error> {
    let own = ctx.account()?.record.clone();
    let other = accounts::find(ctx.tx, to)?;
    let other =
        other.filter(|other| !other.deleted && other.flag("sandbox") == own.flag("sandbox")).ok_or_else(|| {
            let written = ACCOUNT.id_format.format(to.max(0));
            let message = format!("The account {written} was not found");
            AdsProblem::invalid_parameter("granted_account_id", written, message).with_code("ACCOUNT_NOT_FOUND")
        })?;
    if other.id == own.id {
        let message = "An account's own audiences need no permission";
        return Err(AdsProblem::invalid_attribute("granted_account_id", message).into());
    }
    let business = own.text("business_id");
    if !business.is_empty() && business == other.text("business_id") {
        return Ok(());
    }
    feature_gates::require_gate(ctx, &SHARING_GATE, ProblemLocation::Parameter("granted_account_id".into()))
}

fn revoke_permission(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let audience = require_own_audience(ctx, params)?;
    let id = params.int("custom_audience_permission_id").unwrap_or(-1);
    let known = ctx.find_record(&AUDIENCE_PERMISSION, id)?;
    let is_its = |known: &AdsRecord| known.int("custom_audience_id") == Some(audience.id);
    if !known.is_some_and(|known| is_its(&known)) {
        return Err(ctx.not_found_problem(&AUDIENCE_PERMISSION, id).into());
    }
    let record = engine::delete(ctx, &AUDIENCE_PERMISSION, id)?;
    OperationOutput::from_record(ctx, record)
}

fn pair_key(audience: i64, account: i64) -> i64 {
    hash_key(&[&audience.to_string(), &account.to_string()])
}

fn set_pair_key(record: &mut AdsRecord) {
    let number = |name| record.int(name).unwrap_or(0);
    let pair = pair_key(number("custom_audience_id"), number("granted_account_id"));
    record.set("pair", pair);
}

/// The permission of an account for any audience.
fn find_permission(ctx: &mut AccountContext<'_, '_>, audience: i64, account: i64) -> Result<Option<AdsRecord>, Error> {
    let pair = pair_key(audience, account);
    for row in records::list_all_by_field(ctx.tx, AUDIENCE_PERMISSION.name, "pair", &[pair])? {
        let record = AdsRecord::from_stored(&AUDIENCE_PERMISSION, row)?;
        let same =
            record.int("custom_audience_id") == Some(audience) && record.int("granted_account_id") == Some(account);
        if same {
            return Ok(Some(record));
        }
    }
    Ok(None)
}

/// The permission of this account for another account's audience.
pub fn find_granted_permission(ctx: &mut AccountContext<'_, '_>, audience: i64) -> Result<Option<AdsRecord>, Error> {
    let account = ctx.account_id()?;
    find_permission(ctx, audience, account)
}

pub fn list_shared_audiences(ctx: &mut AccountContext<'_, '_>) -> Result<Vec<AdsRecord>, Error> {
    let account = ctx.account_id()?;
    let mut ids = Vec::new();
    for row in records::list_all_by_field(ctx.tx, AUDIENCE_PERMISSION.name, "granted_account_id", &[account])? {
        let record = AdsRecord::from_stored(&AUDIENCE_PERMISSION, row)?;
        ids.extend(record.int("custom_audience_id"));
    }
    let mut all = Vec::with_capacity(ids.len());
    for row in records::find_by_ids(ctx.tx, CUSTOM_AUDIENCE.name, &ids)? {
        let record = AdsRecord::from_stored(&CUSTOM_AUDIENCE, row)?;
        if !record.deleted {
            all.push(record);
        }
    }
    Ok(all)
}
