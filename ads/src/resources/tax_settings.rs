//! Tax settings of an account.

use ads_engine::engine::{ensure_valid_params, update};
use ads_engine::{
    AccountContext, AdsRecord, CustomOperation, FieldSpec, Kind, OperationOutput, ParsedParams, RecordChange,
    RequiredRole, Resource, ValidationRule,
};
use base::refusal::AdsProblem;
use base::{Error, VocabularyWord};
use serde_json::Value;

use crate::gazetteer::CountryCode;

/// Billing details; one record for each account.
pub static TAX_SETTINGS: Resource = Resource {
    name: "tax_settings",
    id: VocabularyWord::same_in_both("tax_settings_id"),
    path: "tax_settings",
    label: "tax settings",
    fields: FIELDS,
    verbs: &[],
    rules: &[
        ValidationRule::OnRecord(validate_tax_id),
        ValidationRule::OnRecord(validate_client),
        ValidationRule::InContext(|_, change| {
            fill_defaults(&mut change.record);
            Ok(())
        }),
    ],
    ..Resource::DEFAULT
};

const FIELDS: &[FieldSpec] = &[
    FieldSpec::text("address_city", 1, 255),
    FieldSpec::text("address_company", 1, 255).alias(&["address_name"]),
    FieldSpec::new("address_country", Kind::custom(&CountryCode)),
    FieldSpec::text("address_email", 3, 255),
    FieldSpec::text("address_first_name", 1, 255),
    FieldSpec::text("address_last_name", 1, 255),
    FieldSpec::text("address_postal_code", 1, 32),
    FieldSpec::text("address_region", 1, 255),
    FieldSpec::text("address_street1", 1, 255),
    FieldSpec::text("address_street2", 1, 255),
    FieldSpec::one_of("bill_to", &["ADVERTISER", "AGENCY", "NOT_SET"]).default_word("NOT_SET"),
    FieldSpec::one_of("business_relationship", &["SELF", "AGENCY"]).default_word("SELF"),
    FieldSpec::text("client_address_city", 1, 255),
    FieldSpec::text("client_address_company", 1, 255).alias(&["client_address_name"]),
    FieldSpec::new("client_address_country", Kind::custom(&CountryCode)),
    FieldSpec::text("client_address_email", 3, 255),
    FieldSpec::text("client_address_first_name", 1, 255),
    FieldSpec::text("client_address_last_name", 1, 255),
    FieldSpec::text("client_address_postal_code", 1, 32),
    FieldSpec::text("client_address_region", 1, 255),
    FieldSpec::text("client_address_street1", 1, 255),
    FieldSpec::text("client_address_street2", 1, 255),
    FieldSpec::one_of("invoice_jurisdiction", &["LOI_SAPIN", "NONE", "NOT_SET"]).default_word("NOT_SET"),
    FieldSpec::one_of("tax_category", &["BUSINESS_NO_VAT", "BUSINESS_WITH_VAT", "INDIVIDUAL"]),
    FieldSpec::text("tax_id", 1, 64),
    FieldSpec::text("tax_exemption_id", 1, 64),
];

pub static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get("getAdsTaxSettings", "tax_settings", get_tax_settings)
        .summary("The tax settings of an account.")
        .requires_role(RequiredRole::Admin),
    CustomOperation::put("updateAdsTaxSettings", "tax_settings", update_tax_settings)
        .summary("Changes the tax settings of an account.")
        .params(FIELDS),
];

fn validate_tax_id(change: &RecordChange) -> Result<(), AdsProblem> {
    let record = &change.record;
    if record.text("tax_category") == "BUSINESS_WITH_VAT" && record.text("tax_id").is_empty() {
        return Err(AdsProblem::at_parameter("tax_id", "INCLUSIVE_PARAMETERS", "BUSINESS_WITH_VAT needs tax_id"));
    }
    Ok(())
}

fn validate_client(change: &RecordChange) -> Result<(), AdsProblem> {
    let record = &change.record;
    if record.text("business_relationship") == "AGENCY" {
        return Ok(());
    }
    let client = FIELDS.iter().map(|field| field.name.post);
    let client = client.filter(|name| name.starts_with("client_"));
    match client.into_iter().find(|name| change.was_sent(name) && record.get(name).is_some()) {
        Some(name) => Err(AdsProblem::invalid_attribute(name, "Only an agency has a client")),
        None => Ok(()),
    }
}

fn get_tax_settings(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let record = load_settings(ctx)?;
    Ok(render_settings(ctx, &record))
}

fn update_tax_settings(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let record = load_settings(ctx)?;
    if ctx.find_record(&TAX_SETTINGS, record.id)?.is_none() {
        record.insert(ctx.tx)?;
    }
    let record = update(ctx, &TAX_SETTINGS, record.id, params)?;
    Ok(render_settings(ctx, &record))
}

/// The account's settings; defaults if it has none.
fn load_settings(ctx: &mut AccountContext<'_, '_>) -> Result<AdsRecord, Error> {
    let id = ctx.account_id()?;
    let found = ctx.find_record(&TAX_SETTINGS, id)?;
    let mut record = found.unwrap_or_else(|| AdsRecord::new(&TAX_SETTINGS, id, id, ctx.now()));
    fill_defaults(&mut record);
    Ok(record)
}

/// What is not set has its default, also after it was unset.
fn fill_defaults(record: &mut AdsRecord) {
    for field in FIELDS {
        if record.get(field.name.post).is_none() {
            record.set(field.name.post, field.default_value.to_value(field.kind));
        }
    }
}

fn render_settings(ctx: &AccountContext<'_, '_>, record: &AdsRecord) -> OperationOutput {
    let mut members = record.render_fields(ctx.caller.vocabulary);
    if record.text("business_relationship") != "AGENCY" {
        members.retain(|name, _| !name.starts_with("client_"));
    }
    OperationOutput::from_value(Value::Object(members))
}
