//! A/B tests: which people see which campaigns or line items, so that their results can be compared (contract ads
//! §4.16).

mod participants;
pub mod user_groups;

use std::collections::HashMap;

use ads_engine::{
    AccountContext, AdsRecord, FieldSpec, InputFormat, JsonShape, Kind, ListFilter, ParsedParams, RecordChange,
    Resource, ResourceVerb, ValidationRule, field_kind::format_time, listing,
};
use base::refusal::AdsProblem;
use base::time::DAY_MS;
use base::{Error, Fault, Refusal, Time, UserId, VocabularyWord, sorted_distinct};
use serde_json::{Value, json};
use store::Tx;
use store::ledger::AdEntity;
use store::records::{self, FieldRange};
use store::users::{self, User};

use crate::resources::campaigns::CAMPAIGN;
use crate::resources::line_items::LINE_ITEM;
use crate::resources::servability::accept_any_shape;
use user_groups::UserGroup;

pub static AB_TEST: Resource = Resource {
    name: "ab_test",
    id: VocabularyWord::same_in_both("ab_test_id"),
    path: "ab_tests",
    label: "A/B test",
    fields: &[
        FieldSpec::text("name", 1, 255).required(),
        FieldSpec::text("description", 1, 1000),
        FieldSpec::one_of("entity_type", ENTITY_TYPES).required().immutable(),
        FieldSpec::new(START_TIME, Kind::TIME).required(),
        FieldSpec::new(END_TIME, Kind::TIME).required(),
        FieldSpec::new(USER_GROUPS, Kind::custom(&user_groups::USER_GROUPS_SHAPE)).required(),
        // The campaigns that take part, or whose line items do.
        FieldSpec::new(CAMPAIGN_IDS, Kind::custom(&JsonShape::new(accept_any_shape))).set_by_server().hidden(),
        FieldSpec::new(CREATED_BY, Kind::ID).set_by_server().hidden(),
        FieldSpec::new(UPDATED_BY, Kind::ID).set_by_server().hidden(),
    ],
    filters: &[
        ListFilter::ids("ab_test_ids", "id", &AB_TEST),
        // Those without a field are read by `list_ranges`.
        ListFilter::new("live_during", "", Kind::TIME.list(2, 2)),
        ListFilter::new("status", "", Kind::one_of(STATUSES)),
        ListFilter::new("user_id", "", Kind::LONG),
        ListFilter::new("username", "", Kind::USERNAME),
    ],
    max_name_prefix: 80,
    input_format: InputFormat::Json,
    rules: &[
        ValidationRule::InContext(assign_group_ids),
        ValidationRule::InContext(validate_period),
        ValidationRule::InContext(participants::validate_participants),
        ValidationRule::InContext(enforce_test_limit),
        ValidationRule::InContext(|ctx, change| {
            record_user(ctx.caller.user, change);
            Ok(())
        }),
    ],
    list_ranges: Some(list_ranges),
    compute_fields: Some(computed_fields),
    ..Resource::DEFAULT
};

const ENTITY_TYPES: &[&str] = &["CAMPAIGN", "LINE_ITEM"];
const STATUSES: &[&str] = &["SCHEDULED", "LIVE", "COMPLETED"];
const START_TIME: &str = "start_time";
const END_TIME: &str = "end_time";
const USER_GROUPS: &str = "user_groups";
const CAMPAIGN_IDS: &str = "campaign_ids";
const CREATED_BY: &str = "created_by_id";
const UPDATED_BY: &str = "updated_by_id";
/// Of tests that have not ended, for each account.
const MAX_UNFINISHED_TESTS: usize = 100;

/// The resource of a test's entities.
fn entity_resource(test: &AdsRecord) -> &'static Resource {
    if test.text("entity_type") == "LINE_ITEM" { &LINE_ITEM } else { &CAMPAIGN }
}

/// The ledger's kind of a test's entities.
pub fn entity_kind(test: &AdsRecord) -> AdEntity {
    if test.text("entity_type") == "LINE_ITEM" { AdEntity::LineItem } else { AdEntity::Campaign }
}

/// The start, included, and the end, excluded.
pub fn period(test: &AdsRecord) -> (Time, Time) {
    let time = |name| test.time(name).unwrap_or(Time::from_ms(0));
    (time(START_TIME), time(END_TIME))
}

pub fn status(test: &AdsRecord, now: Time) -> &'static str {
    match period(test) {
        (start, _) if now < start => "SCHEDULED",
        (_, end) if now < end => "LIVE",
        _ => "COMPLETED",
    }
}

/// The tests of an account that end after a time, now or at most a day ago, and are not deleted; the first to end first.
pub fn list_unfinished(tx: &mut Tx<'_>, accounts: &[i64], at: Time) -> Result<Vec<AdsRecord>, Fault> {
    let rows = records::list_accounts_above(tx, AB_TEST.name, accounts, (END_TIME, at.ms()))?;
    AdsRecord::from_rows(&AB_TEST, rows)
}

/// The test that has not ended and in which a campaign of an account, or its line items, take part.
pub fn find_unfinished_of(
    tx: &mut Tx<'_>,
    (account, campaign): (i64, i64),
    now: Time,
) -> Result<Option<AdsRecord>, Fault> {
    let tests = list_unfinished(tx, &[account], now)?;
    Ok(tests.into_iter().find(|test| has_campaign(test, &[campaign])))
}

/// Whether one of the campaigns, or its line items, take part in a test.
fn has_campaign(test: &AdsRecord, campaigns: &[i64]) -> bool {
    let mut own = test.items(CAMPAIGN_IDS).iter().filter_map(Value::as_i64);
    own.any(|id| campaigns.contains(&id))
}

/// Whether the test had begun before the change.
fn had_begun(change: &RecordChange, now: Time) -> bool {
    change.before.as_ref().is_some_and(|before| status(before, now) != "SCHEDULED")
}

/// Groups keep their ids; new ones get one.
fn assign_group_ids(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if !change.was_sent(USER_GROUPS) {
        return Ok(());
    }
    let mut known = change.before.as_ref().map(UserGroup::list).unwrap_or_default();
    let mut groups = UserGroup::list(&change.record);
    for group in &mut groups {
        group.id = match group.take_known_id(&mut known) {
            Some(id) => id,
            None if group.id == 0 || change.is_new() => records::next_id(ctx.tx, "ab_test_user_group")?,
            None => return Err(group.not_found().into()),
        };
    }
    change.record.set(USER_GROUPS, user_groups::to_json(&groups));
    Ok(())
}

fn validate_period(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    let now = ctx.now();
    let was = change.before.as_ref().map(|before| status(before, now));
    let mut problems = Vec::new();
    for name in [START_TIME, END_TIME] {
        let time = change.record.time(name).unwrap_or(now);
        if change.verb == ResourceVerb::Delete || !change.changes_field(name) {
            continue;
        }
        if was == Some("COMPLETED") || was == Some("LIVE") && name == START_TIME {
            let message = format!("{name} does not change any more: the test is {}", was.unwrap_or_default());
            problems.push(AdsProblem::invalid_attribute(name, message));
        } else if time <= now {
            let message = format!("{name} must be in the future");
            problems.push(AdsProblem::invalid_parameter(name, format_time(time), message));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Refusal::from(problems).into()) }
}

/// The time that a test lasts at least.
fn validate_duration(test: &AdsRecord, days: i64) -> Result<(), AdsProblem> {
    let (start, end) = period(test);
    if end.ms().saturating_sub(start.ms()) >= days * DAY_MS {
        return Ok(());
    }
    let why = if days > 1 { " of apps" } else { "" };
    let message = format!("An A/B test{why} takes at least {days} {}", if days == 1 { "day" } else { "days" });
    Err(AdsProblem::invalid_attribute(END_TIME, message))
}

fn enforce_test_limit(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    let (account, now) = (ctx.account_id()?, ctx.now());
    if !change.is_new() || list_unfinished(ctx.tx, &[account], now)?.len() < MAX_UNFINISHED_TESTS {
        return Ok(());
    }
    let message = format!("The account has {MAX_UNFINISHED_TESTS} A/B tests that have not ended, which is its limit");
    Err(AdsProblem::invalid_attribute("account_id", message).into())
}

fn record_user(user: UserId, change: &mut RecordChange) {
    let user = user.get();
    if change.is_new() {
        change.record.set(CREATED_BY, user);
    }
    if change.verb == ResourceVerb::Delete || change.has_any_change() {
        change.record.set(UPDATED_BY, user);
    }
}

fn list_ranges(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<Vec<FieldRange>, Error> {
    let now = ctx.now().ms();
    let until = |field, max| FieldRange { field, min: 0, max };
    let after = |field, min: i64| FieldRange { field, min: min.saturating_add(1), max: i64::MAX };
    let mut ranges = match params.text("status") {
        Some("SCHEDULED") => vec![after(START_TIME, now)],
        Some("LIVE") => vec![until(START_TIME, now), after(END_TIME, now)],
        Some(_) => vec![until(END_TIME, now)],
        None => Vec::new(),
    };
    if params.has("live_during") {
        let [from, to] = params.ints("live_during")[..] else {
            return Err(wrong_period(params));
        };
        if from > to {
            return Err(wrong_period(params));
        }
        ranges.extend([until(START_TIME, to), after(END_TIME, from)]);
    }
    let user = match (params.int("user_id"), params.text("username")) {
        (Some(_), Some(_)) => return Err(listing::exclusive_params("username", "user_id")),
        (id, None) => id,
        (None, Some(name)) => users::find_by_username(ctx.tx, name)?.map(|user| user.id.get()).or(Some(-1)),
    };
    ranges.extend(user.map(|user| FieldRange { field: CREATED_BY, min: user, max: user }));
    Ok(ranges)
}

fn wrong_period(params: &ParsedParams) -> Error {
    let shown: Vec<String> = params.ints("live_during").into_iter().map(|ms| format_time(Time::from_ms(ms))).collect();
    let message = "Expected an earlier and a later time in ISO 8601 for live_during";
    AdsProblem::invalid_parameter("live_during", shown.join(","), message).into()
}

fn computed_fields(
    ctx: &mut AccountContext<'_, '_>,
    tests: &[AdsRecord],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let now = ctx.now();
    let ids = tests.iter().flat_map(|test| [CREATED_BY, UPDATED_BY].map(|name| test.int(name)));
    let ids: Vec<UserId> = sorted_distinct(ids.flatten()).into_iter().map(UserId::new).collect();
    let users = users::find_by_ids(ctx.tx, &ids)?.into_iter();
    let users: HashMap<i64, User> = users.map(|user| (user.id.get(), user)).collect();
    let user = |id: Option<i64>| {
        let id = id?;
        let username = users.get(&id).map(|user| &user.username);
        Some(json!({ "user_id": id.to_string(), "username": username }))
    };
    let fields = |test: &AdsRecord| {
        vec![
            ("status", status(test, now).into()),
            ("created_by", user(test.int(CREATED_BY)).into()),
            ("updated_by", user(test.int(UPDATED_BY)).into()),
        ]
    };
    Ok(tests.iter().map(fields).collect())
}
