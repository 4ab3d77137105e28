//! Sets of the products of a catalog: those that were chosen, or those that filters match at the moment.

use ads_engine::{
    AccountContext, AdsRecord, CustomOperation, FieldRequirement, FieldSpec, IdFormat, Kind, OperationOutput,
    ParsedParams, RequiredRole, Resource,
};
use base::refusal::AdsProblem;
use base::{Error, Fault, Refusal, Time, VocabularyWord, sorted_distinct};
use serde_json::{Map, Value, json};
use store::ads::product_catalogs::{self, ProductSet};

use super::products::{merchant_id, parse_product};
use super::set_filters::{FILTERS_SHAPE, SetFilter};
use super::{CATALOG_ID, assign_fields, not_found, open_catalog, open_for_write, parse_body, path_id};

/// Of a catalog.
const MAX_SETS: i64 = 200;
const MAX_KEYS: usize = 50;
/// Ids of products in an answer.
const MAX_LISTED: usize = 1_000;
/// Products that are read at once.
const BATCH_SIZE: i64 = 1_000;

static PRODUCT_SET: Resource = Resource {
    name: "product_set",
    id: VocabularyWord::same_in_both("product_set_id"),
    label: "product set",
    id_format: IdFormat::Long,
    fields: &[NAME, DESCRIPTION, TYPE, FILTERS, PRODUCT_KEYS],
    verbs: &[],
    ..Resource::DEFAULT
};

const NAME: FieldSpec = FieldSpec::text("name", 1, 255).required();
const DESCRIPTION: FieldSpec = FieldSpec::text("description", 1, 1000);
const TYPE: FieldSpec = FieldSpec::one_of("type", &["MANUAL", "FILTERED"]).required().update(FieldRequirement::Ignored);
const FILTERS: FieldSpec = FieldSpec::new("filters", Kind::custom(&FILTERS_SHAPE)).update(FieldRequirement::Ignored);
const PRODUCT_KEYS: FieldSpec = FieldSpec::new("product_keys", Kind::ID.list(1, MAX_KEYS));
const ID: FieldSpec = path_id("id", &PRODUCT_SET);

const PATH: &str = "/product_catalogs/{product_catalog_id}/product_sets/{id}";

pub static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get("getAdsProductSet", PATH, get_set)
        .summary("A product set, with the products that are in it now.")
        .requires_role(RequiredRole::Anyone)
        .params(&[CATALOG_ID, ID]),
    CustomOperation::post("createAdsProductSet", "/product_catalogs/{product_catalog_id}/product_sets", create_set)
        .summary("Creates a product set.")
        .requires_role(RequiredRole::Anyone)
        .params(&[CATALOG_ID, NAME, DESCRIPTION, TYPE, FILTERS, PRODUCT_KEYS])
        .takes_json(),
    CustomOperation::put("updateAdsProductSet", PATH, update_set)
        .summary("Changes a product set of the type MANUAL.")
        .requires_role(RequiredRole::Anyone)
        .params(&[CATALOG_ID, ID, NAME, DESCRIPTION, PRODUCT_KEYS])
        .takes_json(),
    CustomOperation::delete("deleteAdsProductSet", PATH, delete_set)
        .summary("Deletes a product set for good.")
        .requires_role(RequiredRole::Anyone)
        .params(&[CATALOG_ID, ID]),
];

fn get_set(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let catalog = open_catalog(ctx, params, "product_catalog_id")?;
    let set = find_set(ctx, catalog.id, params)?;
    let members = list_members(ctx, catalog.id, &set)?;
    Ok(answer(&set, Some(members)))
}

fn create_set(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let catalog = open_for_write(ctx, params, "product_catalog_id")?;
    let (needed, excluded) =
        if params.text("type") == Some("FILTERED") { ("filters", "product_keys") } else { ("product_keys", "filters") };
    if params.has(excluded) {
        return Err(ads_engine::listing::exclusive_params(excluded, "type"));
    }
    if !params.has(needed) {
        return Err(AdsProblem::missing_parameter(needed).into());
    }
    require_products(ctx, catalog.id, params)?;
    if product_catalogs::count_sets(ctx.tx, catalog.id)? >= MAX_SETS {
        let message = format!("The catalog has {MAX_SETS} product sets, which is its limit");
        return Err(AdsProblem::invalid_attribute("product_catalog_id", message).into());
    }
    let mut set = AdsRecord::new(&PRODUCT_SET, ctx.tx.next_id::<()>().get(), 0, ctx.now());
    assign_fields(&mut set, params, true);
    product_catalogs::insert_set(ctx.tx, &to_row(catalog.id, &set))?;
    answer_write(ctx, catalog.id, &set, params)
}

fn update_set(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let catalog = open_for_write(ctx, params, "product_catalog_id")?;
    let mut set = find_set(ctx, catalog.id, params)?;
    if set.text("type") == "FILTERED" {
        return Err(AdsProblem::invalid_attribute("type", "Product sets of type FILTERED cannot be changed").into());
    }
    require_products(ctx, catalog.id, params)?;
    assign_fields(&mut set, params, false);
    if set.items("product_keys").is_empty() {
        return Err(AdsProblem::missing_parameter("product_keys").into());
    }
    product_catalogs::update_set(ctx.tx, &to_row(catalog.id, &set))?;
    answer_write(ctx, catalog.id, &set, params)
}

fn delete_set(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let catalog = open_for_write(ctx, params, "product_catalog_id")?;
    let set = find_set(ctx, catalog.id, params)?;
    let output = answer_write(ctx, catalog.id, &set, params)?;
    product_catalogs::delete_set(ctx.tx, set.id)?;
    Ok(output)
}

fn find_set(ctx: &mut AccountContext<'_, '_>, catalog: i64, params: &ParsedParams) -> Result<AdsRecord, Error> {
    let id = params.int("id").unwrap_or(-1);
    let found = product_catalogs::find_set(ctx.tx, catalog, id)?;
    let row = found.ok_or_else(|| not_found(&PRODUCT_SET, "id", id))?;
    let at = Time::from_ms(0);
    Ok(parse_body(&PRODUCT_SET, row.id, row.body, (at, at))?)
}

fn to_row(catalog: i64, set: &AdsRecord) -> ProductSet {
    ProductSet { id: set.id, catalog_id: catalog, body: set.to_stored().body }
}

/// The products that were sent must be in the catalog.
fn require_products(ctx: &mut AccountContext<'_, '_>, catalog: i64, params: &ParsedParams) -> Result<(), Error> {
    let keys = params.ints("product_keys");
    let known: Vec<i64> = product_catalogs::find_products(ctx.tx, catalog, &keys)?.iter().map(|row| row.id).collect();
    let unknown = keys.iter().filter(|key| !known.contains(key));
    let problems: Vec<AdsProblem> = unknown
        .map(|key| {
            let message = format!("The product {key} was not found");
            AdsProblem::invalid_parameter("product_keys", key, message).with_code("NOT_FOUND")
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(Refusal::from(problems).into()) }
}

/// The merchant's ids of the products in a set, in the order in which they were added, and how many there are.
fn list_members(
    ctx: &mut AccountContext<'_, '_>,
    catalog: i64,
    set: &AdsRecord,
) -> Result<(Vec<String>, usize), Fault> {
    if set.text("type") == "MANUAL" {
        let keys = sorted_distinct(set.items("product_keys").iter().filter_map(Value::as_i64));
        let mut rows = product_catalogs::find_products(ctx.tx, catalog, &keys)?;
        rows.sort_by_key(|row| row.id);
        let ids: Result<Vec<String>, Fault> = rows.iter().map(merchant_id).collect();
        return ids.map(|ids| (ids.clone(), ids.len()));
    }
    let filters = SetFilter::list(set.items("filters"));
    let (mut ids, mut count, mut after) = (Vec::new(), 0, 0);
    loop {
        let rows = product_catalogs::list_all_products(ctx.tx, catalog, (after, BATCH_SIZE))?;
        let Some(last) = rows.last() else {
            return Ok((ids, count));
        };
        after = last.id;
        for row in &rows {
            let product = parse_product(row)?;
            if filters.iter().all(|filter| filter.matches(&product)) {
                count += 1;
                if ids.len() < MAX_LISTED {
                    ids.push(product.text("id").to_owned());
                }
            }
        }
    }
}

/// Filters are not evaluated, which takes long, in a transaction that writes. The members of a JSON body that are parameters
/// are echoed.
fn answer_write(
    ctx: &mut AccountContext<'_, '_>,
    catalog: i64,
    set: &AdsRecord,
    params: &ParsedParams,
) -> Result<OperationOutput, Error> {
    let members = if set.text("type") == "MANUAL" { Some(list_members(ctx, catalog, set)?) } else { None };
    let mut output = answer(set, members);
    let sent: Map<String, Value> = params.json.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
    let is_declared = |name: &String| PRODUCT_SET.field(name).is_some();
    output.echo_params.extend(sent.into_iter().filter(|(name, _)| is_declared(name)));
    Ok(output)
}

/// With the products in it and how many there are, if that is known.
fn answer(set: &AdsRecord, members: Option<(Vec<String>, usize)>) -> OperationOutput {
    let (product_ids, product_count) = members.unzip();
    OperationOutput::from_value(json!({
        "id": set.id.to_string(),
        "name": set.text("name"),
        "description": set.get("description"),
        "type": set.text("type"),
        "filters": set.items("filters"),
        "product_ids": product_ids,
        "product_count": product_count,
        "processing_status": if product_count.is_some() { "DONE" } else { "PROCESSING" },
    }))
}
