//! The products of a catalog: listed, added and changed by the id that the merchant uses, and deleted.

use std::collections::{BTreeSet, HashMap};

use ads_engine::listing::{cursor_scope, parse_cursor};
use ads_engine::operations::field_params;
use ads_engine::{
    AccountContext, AdsRateClass, AdsRecord, CURSOR, CustomOperation, FieldRequirement, FieldSpec, JsonShape, Kind,
    OperationOutput, Parameter, ParsedParams, RequiredRole, cursor,
};
use base::refusal::AdsProblem;
use base::{Error, Fault, Time, Vocabulary};
use serde_json::{Map, Value, json};
use store::Tx;
use store::ads::product_catalogs::{self, CatalogProduct};
use store::records::OrderValue;

use super::product_fields::{MERCHANT_ID, PRODUCT, find_problems, group_key, normalize_words, render_product};
use super::{CATALOG_ID, assign_fields, open_catalog, open_for_write, parse_body};
use crate::resources::hash_key;

pub fn is_field(name: &str) -> bool {
    PRODUCT.field(name).is_some()
}

/// Of a catalog.
pub const MAX_PRODUCTS: usize = 20_000;
/// Of one request.
const MAX_CHANGES: usize = 25;
const MAX_DELETIONS: usize = 100;
const MAX_BODY_BYTES: usize = 1024 * 1024;

static PRODUCTS_SHAPE: JsonShape = JsonShape::new(parse_products)
    .with_schema(|| json!({ "type": "array", "items": { "type": "object" }, "minItems": 1, "maxItems": MAX_CHANGES }));
const PRODUCT_KEYS: FieldSpec = FieldSpec::new("product_keys", Kind::ID.list(1, MAX_DELETIONS)).required();

pub static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get("getAdsCatalogProducts", "/product_catalogs/{product_catalog_id}/products", list_products)
        .summary("A page of the products of a catalog; of a group of variants the first one, or all of one group.")
        .requires_role(RequiredRole::Anyone)
        .rate_limited(AdsRateClass::PerQuarterHour(1_000))
        .params(&[
            CATALOG_ID,
            FieldSpec::new("item_group_key", Kind::ID),
            FieldSpec::new("count", Kind::int(1, 100)).default_number(100),
            CURSOR,
        ]),
    CustomOperation::put(
        "changeAdsCatalogProducts",
        "/product_catalogs/{product_catalog_id}/products",
        change_products,
    )
    .summary("Adds products, or changes those whose id the catalog knows.")
    .requires_role(RequiredRole::Anyone)
    .rate_limited(AdsRateClass::PerQuarterHour(600))
    .params(&[
        CATALOG_ID,
        FieldSpec::new("products", Kind::custom(&PRODUCTS_SHAPE)).required().update(FieldRequirement::Required),
    ])
    .takes_json()
    .body_limit(MAX_BODY_BYTES),
    CustomOperation::delete(
        "deleteAdsCatalogProducts",
        "/product_catalogs/{product_catalog_id}/products",
        delete_products,
    )
    .summary("Deletes products for good.")
    .requires_role(RequiredRole::Anyone)
    .rate_limited(AdsRateClass::PerQuarterHour(150))
    .params(&[CATALOG_ID, PRODUCT_KEYS])
    .takes_json(),
];

fn parse_products(value: &Value) -> Result<Value, AdsProblem> {
    let is_list = value.as_array().is_some_and(|items| (1..=MAX_CHANGES).contains(&items.len()));
    if is_list {
        return Ok(value.clone());
    }
    let message = format!("Expected 1 to {MAX_CHANGES} products for products");
    Err(AdsProblem::at_parameter("products", "INVALID_PARAMETER", message))
}

fn list_products(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let catalog = open_catalog(ctx, params, "product_catalog_id")?;
    let scope = cursor_scope(ctx, &params.echo);
    let after = parse_cursor(ctx, &scope, params)?.map_or(0, |(_, id)| id);
    let count = params.int("count").unwrap_or(100);
    let group = params.int("item_group_key");
    let mut rows = product_catalogs::list_products(ctx.tx, catalog.id, group, (after, count + 1))?;
    let has_more = rows.len() > usize::try_from(count).unwrap_or(usize::MAX);
    if has_more {
        rows.pop();
    }
    let last = rows.last().filter(|_| has_more).map(|row| (OrderValue::Number(row.id), row.id));
    let next = last.map(|position| cursor::encode(&ctx.cursor_key, &scope, &position)).transpose()?;
    let products: Result<Vec<Value>, Fault> =
        rows.into_iter().map(|row| Ok(render_product(&parse_product(&row)?, row.group_key))).collect();
    Ok(OperationOutput { next_cursor: Some(next), ..OperationOutput::from_value(products?.into()) })
}

fn change_products(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let catalog = open_for_write(ctx, params, "product_catalog_id")?;
    let items = params.get("products").and_then(Value::as_array).cloned().unwrap_or_default();
    let items: Vec<Map<String, Value>> =
        items.into_iter().map(|item| if let Value::Object(members) = item { members } else { Map::new() }).collect();
    let repeated = find_repeated_ids(&items);
    let results = upsert_products(ctx.tx, catalog.id, items, &repeated)?;
    let results: Vec<Value> = results.iter().map(ProductChange::to_json).collect();
    Ok(OperationOutput::from_value(json!({ "products_response": results })))
}

fn delete_products(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let catalog = open_for_write(ctx, params, "product_catalog_id")?;
    let keys = params.ints("product_keys");
    let known: BTreeSet<i64> =
        product_catalogs::find_products(ctx.tx, catalog.id, &keys)?.iter().map(|row| row.id).collect();
    known.iter().try_for_each(|id| product_catalogs::delete_product(ctx.tx, *id))?;
    let result = |key: &i64| {
        if known.contains(key) {
            return json!({ "product_key": key.to_string(), "failed_product_key": null, "message": null });
        }
        let message = format!("The product {key} was not found");
        json!({ "product_key": null, "failed_product_key": key.to_string(), "message": message })
    };
    let results: Vec<Value> = keys.iter().map(result).collect();
    let mut output = OperationOutput::from_value(json!({ "delete_products": results }));
    let texts: Vec<String> = keys.iter().map(i64::to_string).collect();
    output.echo_params.insert("product_keys".to_owned(), texts.into());
    Ok(output)
}

pub(super) fn parse_product(row: &CatalogProduct) -> Result<AdsRecord, Fault> {
    let at = Time::from_ms(0);
    parse_body(&PRODUCT, row.id, row.body.clone(), (at, at))
}

/// The merchant's id of a product.
pub(super) fn merchant_id(row: &CatalogProduct) -> Result<String, Fault> {
    Ok(parse_product(row)?.text(MERCHANT_ID).to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProductChangeStatus {
    Created,
    Updated,
    Unchanged,
    Failed,
}

/// What became of one product.
#[derive(Clone, Debug)]
pub struct ProductChange {
    /// The merchant's id; empty if it has none.
    pub id: String,
    pub key: Option<i64>,
    pub status: ProductChangeStatus,
    pub errors: Vec<String>,
}

impl ProductChange {
    fn failed(id: String, key: Option<i64>, errors: Vec<String>) -> Self {
        Self { id, key, status: ProductChangeStatus::Failed, errors }
    }

    fn to_json(&self) -> Value {
        let status = match self.status {
            ProductChangeStatus::Created => "CREATE_SUCCESS",
            ProductChangeStatus::Updated => "UPDATE_SUCCESS",
            ProductChangeStatus::Unchanged => "NO_CHANGE",
            ProductChangeStatus::Failed => "ERROR",
        };
        json!({
            "warnings": [],
            "errors": self.errors,
            "product_key": self.key.map(|key| key.to_string()),
            "id": self.id,
            "status": status,
        })
    }
}

fn item_id(item: &Map<String, Value>) -> String {
    match item.get(MERCHANT_ID) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// The ids that more than one item has.
pub fn find_repeated_ids(items: &[Map<String, Value>]) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    items.iter().map(item_id).filter(|id| !id.is_empty() && !seen.insert(id.clone())).collect()
}

/// Adds products, or changes those whose ids are known; each on its own. Items with repeated ids are refused. The
/// caller has locked the catalog.
pub fn upsert_products(
    tx: &mut Tx<'_>,
    catalog: i64,
    items: Vec<Map<String, Value>>,
    repeated: &BTreeSet<String>,
) -> Result<Vec<ProductChange>, Fault> {
    let declared = field_params(&PRODUCT, false);
    let keys: Vec<i64> = items.iter().map(|item| hash_key(&[&item_id(item)])).collect();
    let known = product_catalogs::find_products_of_merchant(tx, catalog, &keys)?;
    let mut known: HashMap<i64, CatalogProduct> = known.into_iter().map(|row| (row.merchant_key, row)).collect();
    let mut free =
        MAX_PRODUCTS.saturating_sub(usize::try_from(product_catalogs::count_products(tx, catalog)?).unwrap_or(0));
    let mut changes = Vec::with_capacity(items.len());
    for (item, merchant_key) in items.into_iter().zip(keys) {
        let (id, before) = (item_id(&item), known.remove(&merchant_key));
        let change = if repeated.contains(&id) {
            let message = format!("Several products have the id {id}");
            ProductChange::failed(id, before.map(|row| row.id), vec![message])
        } else if before.is_none() && free == 0 {
            let message = format!("The catalog has {MAX_PRODUCTS} products, which is its limit");
            ProductChange::failed(id, None, vec![message])
        } else {
            upsert_product(tx, (catalog, merchant_key), item, before, &declared)?
        };
        free = free.saturating_sub(usize::from(change.status == ProductChangeStatus::Created));
        changes.push(change);
    }
    Ok(changes)
}

fn upsert_product(
    tx: &mut Tx<'_>,
    (catalog, merchant_key): (i64, i64),
    mut item: Map<String, Value>,
    before: Option<CatalogProduct>,
    declared: &[Parameter],
) -> Result<ProductChange, Fault> {
    let (id, key) = (item_id(&item), before.as_ref().map(|row| row.id));
    normalize_words(&mut item);
    let params = ParsedParams::parse_item(declared, &item, Vocabulary::Post, true);
    if !params.problems.is_empty() {
        let messages = params.problems.into_iter().map(|problem| problem.message).collect();
        return Ok(ProductChange::failed(id, key, messages));
    }
    let mut product = match &before {
        Some(row) => parse_product(row)?,
        None => AdsRecord::new(&PRODUCT, tx.next_id::<()>().get(), 0, tx.now()),
    };
    assign_fields(&mut product, &params, before.is_none());
    let problems = find_problems(&product);
    if !problems.is_empty() {
        return Ok(ProductChange::failed(id, key, problems));
    }
    let group_key = group_key(catalog, &product);
    let body = product.to_stored().body;
    let row = CatalogProduct { id: product.id, catalog_id: catalog, merchant_key, group_key, body };
    let status = match before {
        None => {
            product_catalogs::insert_product(tx, &row)?;
            ProductChangeStatus::Created
        }
        Some(before) if before.body == row.body => ProductChangeStatus::Unchanged,
        Some(_) => {
            product_catalogs::update_product(tx, &row)?;
            ProductChangeStatus::Updated
        }
    };
    Ok(ProductChange { id, key: Some(row.id), status, errors: Vec::new() })
}
