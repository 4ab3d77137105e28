//! Scheduled feeds: a file of products that the server fetches at regular times.

use ads_engine::{
    AccountContext, AccountTimeZone, AdsRecord, CustomKind, CustomOperation, FieldSpec, IdFormat, JsonShape, Kind,
    OperationOutput, ParsedParams, RequiredRole, Resource, ViolationKind,
};
use base::refusal::AdsProblem;
use base::{Error, Fault, VocabularyWord};
use serde_json::{Value, json};
use store::ads::product_catalogs::{self, ScheduledFeed};

use super::feed_schedule::{next_import, parse_local_time, validate_repeat};
use super::{CATALOG_ID, assign_fields, not_found, open_catalog, open_for_write, parse_body, path_id};
use crate::resources::servability::accept_any_shape;

pub(super) static SCHEDULED_FEED: Resource = Resource {
    name: "scheduled_feed",
    id: VocabularyWord::same_in_both("scheduled_feed_id"),
    label: "scheduled feed",
    id_format: IdFormat::Long,
    fields: &[
        URL,
        FORMAT,
        FREQUENCY,
        REPEAT,
        START_TIME,
        TIME_ZONE,
        // The outcome of the last import.
        FieldSpec::new(LAST_IMPORT, Kind::custom(&JsonShape::new(accept_any_shape))).set_by_server(),
    ],
    verbs: &[],
    ..Resource::DEFAULT
};

pub(crate) const LAST_IMPORT: &str = "last_import";
const URL: FieldSpec = FieldSpec::url("feed_url").required();
const FORMAT: FieldSpec = FieldSpec::one_of("feed_format", &["CSV", "TSV", "XML"]).required();
const FREQUENCY: FieldSpec = FieldSpec::one_of("frequency", &["HOURLY", "DAILY", "WEEKLY"]).required();
const REPEAT: FieldSpec = FieldSpec::text("repeat", 1, 10);
const START_TIME: FieldSpec = FieldSpec::new("start_time", Kind::custom(&LocalTimeText)).required();
const TIME_ZONE: FieldSpec = FieldSpec::new("time_zone", Kind::custom(&TimeZoneName)).required();
const ID: FieldSpec = path_id("id", &SCHEDULED_FEED);

const LIST_PATH: &str = "/product_catalogs/{product_catalog_id}/scheduled_feeds";
const PATH: &str = "/product_catalogs/{product_catalog_id}/scheduled_feeds/{id}";

pub static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get("getAdsScheduledFeeds", LIST_PATH, list_feeds)
        .summary("The scheduled feed of a catalog, if it has one.")
        .requires_role(RequiredRole::Anyone)
        .params(&[CATALOG_ID]),
    CustomOperation::post("createAdsScheduledFeed", LIST_PATH, create_feed)
        .summary("Creates the scheduled feed of a catalog.")
        .requires_role(RequiredRole::Anyone)
        .params(&[CATALOG_ID, URL, FORMAT, FREQUENCY, REPEAT, START_TIME, TIME_ZONE]),
    CustomOperation::put("updateAdsScheduledFeed", PATH, update_feed)
        .summary("Changes a scheduled feed.")
        .requires_role(RequiredRole::Anyone)
        .params(&[CATALOG_ID, ID, URL, FORMAT, FREQUENCY, REPEAT, START_TIME, TIME_ZONE]),
    CustomOperation::delete("deleteAdsScheduledFeed", PATH, delete_feed)
        .summary("Deletes a scheduled feed; its products stay.")
        .requires_role(RequiredRole::Anyone)
        .params(&[CATALOG_ID, ID]),
];

/// `HH:MM`.
#[derive(Debug)]
struct LocalTimeText;

impl CustomKind for LocalTimeText {
    fn read_text(&self, text: &str) -> Result<Value, ViolationKind> {
        parse_local_time(text).map(|_| text.into()).ok_or(ViolationKind::Malformed)
    }

    fn describe_expected(&self, _limit: Option<usize>) -> String {
        "a time as HH:MM".to_owned()
    }
}

/// A name of the IANA time zone database.
#[derive(Debug)]
struct TimeZoneName;

impl CustomKind for TimeZoneName {
    fn read_text(&self, text: &str) -> Result<Value, ViolationKind> {
        AccountTimeZone::is_known(text).then(|| text.into()).ok_or(ViolationKind::Malformed)
    }

    fn describe_expected(&self, _limit: Option<usize>) -> String {
        "an IANA time zone".to_owned()
    }
}

fn list_feeds(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let catalog = open_catalog(ctx, params, "product_catalog_id")?;
    let feeds: Result<Vec<Value>, Fault> = product_catalogs::find_feed(ctx.tx, catalog.id)?
        .iter()
        .map(|row| Ok(render_feed(row, &parse_feed(row)?)))
        .collect();
    Ok(OperationOutput::from_value(feeds?.into()).as_last_page())
}

fn create_feed(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let catalog = open_for_write(ctx, params, "product_catalog_id")?;
    let now = ctx.now();
    let mut feed = AdsRecord::new(&SCHEDULED_FEED, ctx.tx.next_id::<()>().get(), 0, now);
    assign_fields(&mut feed, params, true);
    validate_repeat(&feed)?;
    let row = ScheduledFeed {
        id: feed.id,
        catalog_id: catalog.id,
        due_at: next_import(&feed, now),
        import_id: None,
        attempts: 0,
        body: feed.to_stored().body,
        created_at: now,
        updated_at: now,
    };
    if !product_catalogs::insert_feed(ctx.tx, &row)? {
        let message = "The catalog has a scheduled feed already";
        return Err(AdsProblem::invalid_attribute("product_catalog_id", message).into());
    }
    Ok(OperationOutput::from_value(render_feed(&row, &feed)))
}

/// An import that is running ends without further changes.
fn update_feed(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let catalog = open_for_write(ctx, params, "product_catalog_id")?;
    let row = find_feed(ctx, catalog.id, params)?;
    let mut feed = parse_feed(&row)?;
    if params.text("frequency").is_some_and(|new| new != feed.text("frequency")) {
        feed.set("repeat", Value::Null);
    }
    assign_fields(&mut feed, params, false);
    validate_repeat(&feed)?;
    let body = feed.to_stored().body;
    if body == row.body {
        return Ok(OperationOutput::from_value(render_feed(&row, &feed)));
    }
    let now = ctx.now();
    let due_at = next_import(&feed, now);
    let row = ScheduledFeed { due_at, import_id: None, attempts: 0, body, updated_at: now, ..row };
    product_catalogs::update_feed(ctx.tx, &row)?;
    Ok(OperationOutput::from_value(render_feed(&row, &feed)))
}

fn delete_feed(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let catalog = open_for_write(ctx, params, "product_catalog_id")?;
    let row = find_feed(ctx, catalog.id, params)?;
    product_catalogs::delete_feed(ctx.tx, row.id)?;
    Ok(OperationOutput::from_value(render_feed(&row, &parse_feed(&row)?)))
}

fn find_feed(ctx: &mut AccountContext<'_, '_>, catalog: i64, params: &ParsedParams) -> Result<ScheduledFeed, Error> {
    let id = params.int("id").unwrap_or(-1);
    let found = product_catalogs::find_feed(ctx.tx, catalog)?.filter(|row| row.id == id);
    found.ok_or_else(|| not_found(&SCHEDULED_FEED, "id", id))
}

pub(crate) fn parse_feed(row: &ScheduledFeed) -> Result<AdsRecord, Fault> {
    parse_body(&SCHEDULED_FEED, row.id, row.body.clone(), (row.created_at, row.updated_at))
}

fn render_feed(row: &ScheduledFeed, feed: &AdsRecord) -> Value {
    json!({
        "id": feed.id.to_string(),
        "product_catalog_id": row.catalog_id.to_string(),
        "feed_url": feed.text("feed_url"),
        "feed_format": feed.text("feed_format"),
        "frequency": feed.text("frequency"),
        "repeat": feed.get("repeat"),
        "start_time": feed.text("start_time"),
        "time_zone": feed.text("time_zone"),
        "next_import_at": row.import_id.is_none().then(|| row.due_at.to_string()),
        "last_import": feed.get(LAST_IMPORT),
        "created_at": feed.created_at.to_string(),
        "updated_at": feed.updated_at.to_string(),
    })
}
