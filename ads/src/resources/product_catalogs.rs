//! Product catalogs: what a user sells, sets of it, and the feed from which it is imported (contract ads §4.17).
//!
//! They belong to the user, not to an account, and are seen and changed by that user only.

pub(crate) mod feed_schedule;
mod price;
mod product_fields;
pub mod product_sets;
pub mod products;
pub mod scheduled_feeds;
mod set_filters;

use ads_engine::engine::ensure_valid_params;
use ads_engine::{
    AccountContext, AdsRateClass, AdsRecord, CustomOperation, FieldRequirement, FieldSpec, IdFormat, Kind,
    OperationOutput, ParsedParams, RequiredRole, Resource,
};
use base::refusal::AdsProblem;
use base::{Error, Fault, Time, VocabularyWord};
use serde_json::{Value, json};
use store::ads::product_catalogs::{self, ProductCatalog};
use store::records::{RecordRow, RecordVisibility};

/// Names the ids of catalogs; the rows are in a table of their own.
static PRODUCT_CATALOG: Resource = Resource {
    name: "product_catalog",
    id: VocabularyWord::same_in_both("product_catalog_id"),
    label: "product catalog",
    id_format: IdFormat::Long,
    verbs: &[],
    ..Resource::DEFAULT
};

const CATALOG_WRITES: AdsRateClass = AdsRateClass::PerQuarterHour(20);
const NAME: FieldSpec = FieldSpec::text("name", 1, 255).required().update(FieldRequirement::Required);
const USER_ID: FieldSpec = FieldSpec::new("user_id", Kind::LONG);
const ID: FieldSpec = path_id("id", &PRODUCT_CATALOG);
/// The catalog in the paths of what it contains.
const CATALOG_ID: FieldSpec = path_id("product_catalog_id", &PRODUCT_CATALOG);

const fn path_id(name: &'static str, resource: &'static Resource) -> FieldSpec {
    FieldSpec::new(name, Kind::custom(resource)).required().update(FieldRequirement::Required)
}

pub static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get("getAdsProductCatalogs", "/product_catalogs", list_catalogs)
        .summary("The product catalog of the authenticated user, if there is one.")
        .requires_role(RequiredRole::Anyone)
        .rate_limited(AdsRateClass::PerQuarterHour(1_000))
        .params(&[USER_ID]),
    CustomOperation::post("createAdsProductCatalog", "/product_catalogs", create_catalog)
        .summary("Creates a product catalog.")
        .requires_role(RequiredRole::Anyone)
        .rate_limited(CATALOG_WRITES)
        .params(&[NAME, USER_ID]),
    CustomOperation::put("updateAdsProductCatalog", "/product_catalogs/{id}", rename_catalog)
        .summary("Renames a product catalog.")
        .requires_role(RequiredRole::Anyone)
        .rate_limited(CATALOG_WRITES)
        .params(&[ID, NAME]),
    CustomOperation::delete("deleteAdsProductCatalog", "/product_catalogs/{id}", delete_catalog)
        .summary("Deletes a product catalog with all that it contains, for good.")
        .requires_role(RequiredRole::Anyone)
        .rate_limited(CATALOG_WRITES)
        .params(&[ID]),
];

fn list_catalogs(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    require_own_user(ctx, params)?;
    let found = product_catalogs::find_by_user(ctx.tx, ctx.caller.user, ctx.caller.sandbox)?;
    let catalogs: Vec<Value> = found.iter().map(render_catalog).collect();
    Ok(OperationOutput::from_value(catalogs.into()).as_last_page())
}

fn create_catalog(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    require_own_user(ctx, params)?;
    let now = ctx.now();
    let catalog = ProductCatalog {
        id: ctx.tx.next_id::<()>().get(),
        user_id: ctx.caller.user,
        sandbox: ctx.caller.sandbox,
        name: params.text("name").unwrap_or_default().to_owned(),
        deleted: false,
        created_at: now,
        updated_at: now,
    };
    if !product_catalogs::insert(ctx.tx, &catalog)? {
        return Err(AdsProblem::invalid_attribute("user_id", "The user has a product catalog already").into());
    }
    Ok(OperationOutput::from_value(render_catalog(&catalog)))
}

fn rename_catalog(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let mut catalog = open_for_write(ctx, params, "id")?;
    params.text("name").unwrap_or_default().clone_into(&mut catalog.name);
    save_catalog(ctx, catalog)
}

/// What the catalog contains is pruned later.
fn delete_catalog(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let catalog = open_for_write(ctx, params, "id")?;
    save_catalog(ctx, ProductCatalog { deleted: true, ..catalog })
}

fn save_catalog(ctx: &mut AccountContext<'_, '_>, catalog: ProductCatalog) -> Result<OperationOutput, Error> {
    let catalog = ProductCatalog { updated_at: ctx.now(), ..catalog };
    product_catalogs::update(ctx.tx, &catalog)?;
    Ok(OperationOutput::from_value(render_catalog(&catalog)))
}

fn render_catalog(catalog: &ProductCatalog) -> Value {
    json!({ "id": catalog.id.to_string(), "name": catalog.name })
}

/// Nobody acts for another user here.
fn require_own_user(ctx: &AccountContext<'_, '_>, params: &ParsedParams) -> Result<(), Error> {
    ensure_valid_params(params)?;
    match params.int("user_id") {
        Some(user) if user != ctx.caller.user.get() => {
            let message = format!("The user {user} has no product catalog that you may use");
            Err(AdsProblem::invalid_parameter("user_id", user, message).with_code("NOT_FOUND").into())
        }
        _ => Ok(()),
    }
}

/// The caller's catalog that the path names; the catalogs of others are not found.
fn open_catalog(
    ctx: &mut AccountContext<'_, '_>,
    params: &ParsedParams,
    name: &'static str,
) -> Result<ProductCatalog, Error> {
    ensure_valid_params(params)?;
    let id = params.int(name).unwrap_or(-1);
    let found = product_catalogs::find_by_id(ctx.tx, id)?;
    let is_own = |found: &ProductCatalog| found.user_id == ctx.caller.user && found.sandbox == ctx.caller.sandbox;
    found.filter(is_own).ok_or_else(|| not_found(&PRODUCT_CATALOG, name, id))
}

/// Writers of a catalog are serialized, so that its limits hold.
fn open_for_write(
    ctx: &mut AccountContext<'_, '_>,
    params: &ParsedParams,
    name: &'static str,
) -> Result<ProductCatalog, Error> {
    product_catalogs::lock(ctx.tx, params.int(name).unwrap_or(-1))?;
    open_catalog(ctx, params, name)
}

fn not_found(resource: &'static Resource, name: &'static str, id: i64) -> Error {
    ads_engine::account_context::record_not_found(resource, name, id).into()
}

/// The declared fields of a row that is in a table of its own.
pub(crate) fn parse_body(
    resource: &'static Resource,
    id: i64,
    body: String,
    (created_at, updated_at): (Time, Time),
) -> Result<AdsRecord, Fault> {
    let level = RecordVisibility::Listed;
    AdsRecord::from_stored(
        resource,
        RecordRow { id, account_id: 0, level, deleted: false, created_at, updated_at, body },
    )
}

/// Sets the fields that were sent. Fields that were not are empty in a new record.
fn assign_fields(record: &mut AdsRecord, params: &ParsedParams, is_new: bool) {
    for field in record.resource.fields {
        match params.get(field.name.post) {
            Some(value) => record.set(field.name.post, value.clone()),
            None if is_new => record.set(field.name.post, field.default_value.to_value(field.kind)),
            None => {}
        }
    }
}
