//! Curated categories: sets of publishers chosen by the operator for some countries.

use ads_engine::engine::ensure_valid_params;
use ads_engine::{
    AccountContext, AdsRecord, CustomOperation, FieldRequirement, FieldSpec, IdFormat, Kind, OperationOutput,
    ParsedParams, RawParam, RequiredRole, Resource, SHARED_ACCOUNT_ID, listing, parse_record_id, parse_value,
};
use base::refusal::AdsProblem;
use base::{Error, Fault, VocabularyWord};
use serde_json::Value;
use store::{Tx, records};

use crate::gazetteer::CountryCode;
use crate::resources::publishers;

/// A shared record; it belongs to no account.
pub static CURATED_CATEGORY: Resource = Resource {
    name: "curated_category",
    id: VocabularyWord::same_in_both("curated_category_id"),
    path: "curated_categories",
    label: "curated category",
    id_format: IdFormat::Twelve,
    fields: &[
        FieldSpec::text("name", 1, 255).required(),
        FieldSpec::text("description", 0, 1000).default_word(""),
        FieldSpec::new("country_codes", COUNTRY_CODES).required(),
        FieldSpec::new("publisher_user_ids", Kind::LONG.list(1, 1000)).required(),
    ],
    verbs: &[],
    shows_deleted: false,
    compute_fields: Some(computed_fields),
    ..Resource::DEFAULT
};

pub static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get("getAdsCuratedCategories", "curated_categories", list_curated_categories)
        .summary("Curated categories in these countries.")
        .requires_role(RequiredRole::CampaignReader)
        .params(&[FieldSpec::new("country_codes", COUNTRY_CODES).required(), ads_engine::CURSOR]),
    CustomOperation::get("getAdsCuratedCategory", "curated_categories/{id}", get_curated_category)
        .summary("A curated category.")
        .requires_role(RequiredRole::CampaignReader)
        .params(&[FieldSpec::text("id", 1, 64).required().update(FieldRequirement::Required)]),
];

fn list_curated_categories(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let countries = params.texts("country_codes");
    let mut found = list_all(ctx.tx)?;
    found.retain(|category| {
        let codes = category.texts("country_codes");
        codes.iter().any(|code| countries.iter().any(|one| one == code))
    });
    let total = found.len();
    let output = listing::list_in_memory(ctx, &CURATED_CATEGORY, params, found)?;
    Ok(output.with_total_count(total))
}

fn get_curated_category(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let id = parse_record_id(CURATED_CATEGORY.id_format, "id", params.text("id").unwrap_or_default())?;
    let found = find(ctx.tx, id)?;
    let missing = || ads_engine::account_context::record_not_found(&CURATED_CATEGORY, "id", id);
    let found = found.ok_or_else(missing)?;
    OperationOutput::from_record(ctx, found)
}

pub fn list_all(tx: &mut Tx<'_>) -> Result<Vec<AdsRecord>, Fault> {
    let rows = records::list_by_account(tx, CURATED_CATEGORY.name, SHARED_ACCOUNT_ID)?;
    AdsRecord::from_rows(&CURATED_CATEGORY, rows)
}

pub fn find(tx: &mut Tx<'_>, id: i64) -> Result<Option<AdsRecord>, Fault> {
    Ok(AdsRecord::find(tx, &CURATED_CATEGORY, id)?.filter(|category| !category.deleted))
}

/// Parses the codes of existing countries; returns them in uppercase, each once.
pub fn parse_country_codes(name: &'static str, codes: &[String]) -> Result<Vec<String>, AdsProblem> {
    let parsed = parse_value(COUNTRY_CODES, name, RawParam::Text(codes))?;
    let codes = parsed.as_array().into_iter().flatten();
    Ok(codes.filter_map(Value::as_str).map(str::to_owned).collect())
}

const COUNTRY_CODES: Kind = Kind::custom(&CountryCode).list(1, 200);

fn computed_fields(
    ctx: &mut AccountContext<'_, '_>,
    records: &[AdsRecord],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let members = |record: &AdsRecord| -> Vec<i64> {
        let ids = record.items("publisher_user_ids").iter();
        ids.filter_map(Value::as_i64).collect()
    };
    let videos = publishers::count_videos(ctx, records.iter().flat_map(members))?;
    let rows = records.iter().map(|record| {
        let counts = members(record).into_iter();
        let sum: i64 = counts.filter_map(|id| videos.get(&id)).map(|videos| videos.monetized).sum();
        vec![("videos_monetized_in_last_thirty_days", sum.into())]
    });
    Ok(rows.collect())
}
