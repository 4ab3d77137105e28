//! Scheduled posts, published when they are due (contract ads §8.4).

use ads_engine::field_kind::format_time;
use ads_engine::{
    AccountContext, AdsRecord, CONSOLE_APP_ID, CustomOperation, DeleteMode, FieldSpec, IdFormat, Kind, ListFilter,
    RecordChange, RequiredRole, Resource, ResourceVerb, ValidationRule,
};
use base::refusal::AdsProblem;
use base::time::MINUTE_MS;
use base::{AccountTimeZone, AppId, Error, Time, VocabularyWord};
use serde_json::Value;
use store::records;

use crate::resources::compositions::{
    self, LIST_PARAMS, card_field, media_keys_field, name_field, nullcast_field, text_field, validate_composition,
};
use crate::resources::line_items::LINE_ITEM;
use crate::resources::scheduled_promoted_posts::SCHEDULED_PROMOTED_POST;

pub static SCHEDULED_POST: Resource = Resource {
    name: "scheduled_post",
    id: VocabularyWord::new("scheduled_post_id", "scheduled_tweet_id"),
    id_format: IdFormat::Long,
    path: "scheduled_<posts>",
    label: "scheduled post",
    fields: &[
        name_field(),
        text_field(),
        FieldSpec::new("user_id", Kind::ID).set_by_server(),
        FieldSpec::new("as_user_id", Kind::LONG).required().immutable().hidden(),
        nullcast_field(),
        card_field(),
        media_keys_field(),
        FieldSpec::new("scheduled_at", Kind::TIME)
            .label("Scheduled for")
            .help("A whole minute within the next year.")
            .required(),
        FieldSpec::one_of("scheduled_status", STATES).set_by_server().default_word("SCHEDULED"),
        FieldSpec::new("completed_at", Kind::TIME).set_by_server(),
        FieldSpec::new("post_id", Kind::LONG).legacy_name("tweet_id").set_by_server(),
        // When the publisher examines the post, while it is unpublished.
        FieldSpec::new("due_at", Kind::TIME).set_by_server().hidden(),
        FieldSpec::new("attempts", Kind::int(0, 100)).set_by_server().hidden(),
        FieldSpec::new("app_id", Kind::LONG).set_by_server().hidden(),
        FieldSpec::text("error", 0, 500).set_by_server().hidden(),
    ],
    filters: &[ListFilter::new("user_id", "user_id", Kind::ID)],
    page_size: (100, 200),
    supports_list_extras: false,
    verbs: &[ResourceVerb::Get, ResourceVerb::Create, ResourceVerb::Update, ResourceVerb::Delete],
    read_role: RequiredRole::CreativeReader,
    write_role: RequiredRole::PostWriter,
    rules: &[
        ValidationRule::InContext(validate_still_scheduled),
        ValidationRule::InContext(validate_composition),
        ValidationRule::InContext(validate_promotions),
        ValidationRule::InContext(validate_scheduled_at),
    ],
    delete_mode: DeleteMode::Hard,
    shows_deleted: false,
    after_change: Some(hide_promotions),
    ..Resource::DEFAULT
};

const STATES: &[&str] = &["SCHEDULED", "SUCCESS", "FAILED", "DELETED"];

pub static OPERATIONS: &[CustomOperation] =
    &[CustomOperation::get("getAdsScheduledPosts", "scheduled_<posts>", |ctx: &mut AccountContext<'_, '_>, params| {
        compositions::list(ctx, &SCHEDULED_POST, params)
    })
    .summary("A page of scheduled posts of a user.")
    .requires_role(RequiredRole::CreativeReader)
    .params(LIST_PARAMS)];

/// How far ahead a post may be scheduled.
const MAX_MONTHS_AHEAD: i32 = 12;
/// Posts of a user within a window.
const MAX_POSTS_PER_WINDOW: usize = 30;
const WINDOW_MINUTES: i64 = 15;

/// Published and failed posts cannot be changed.
fn validate_still_scheduled(_: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    let before = change.before.as_ref();
    if before.is_some_and(|before| before.text("scheduled_status") != "SCHEDULED") {
        let message = "The post is no longer scheduled";
        return Err(AdsProblem::new("ACTION_NOT_ALLOWED", message).into());
    }
    if change.verb == ResourceVerb::Delete {
        change.record.set("scheduled_status", "DELETED");
    }
    Ok(())
}

/// Line items that wait for the post must still be able to promote it.
fn validate_promotions(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    let is_content_changed = ["text", "card_uri", "media_keys"].iter().any(|name| change.changes_field(name));
    if change.verb != ResourceVerb::Update || !is_content_changed {
        return Ok(());
    }
    let id = change.record.id;
    for waiting in ctx.list_visible_records(&SCHEDULED_PROMOTED_POST, "scheduled_post_id", id)? {
        let item = ctx.find_record(&LINE_ITEM, waiting.int("line_item_id").unwrap_or(-1))?;
        let Some(item) = item.filter(|item| !item.deleted) else { continue };
        if !compositions::suits_line_item(ctx, &change.record, &item)? {
            let item = item.formatted_id();
            let message = format!("The line item {item} promotes the post, and this does not suit its objective");
            return Err(AdsProblem::new("INVALID_TWEET", message).into());
        }
    }
    Ok(())
}

fn validate_scheduled_at(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if change.verb == ResourceVerb::Delete {
        return Ok(());
    }
    if change.is_new() {
        let app = ctx.caller.app.filter(|app| *app != CONSOLE_APP_ID);
        let app = app.map(AppId::get);
        change.record.set("app_id", app.map_or(Value::Null, Value::from));
    }
    if !change.changes_field("scheduled_at") {
        return Ok(());
    }
    let scheduled_at = change.record.int("scheduled_at").unwrap_or(0);
    let at = scheduled_at - scheduled_at.rem_euclid(MINUTE_MS);
    let now = ctx.now();
    let latest = AccountTimeZone::default().plus_months(now, MAX_MONTHS_AHEAD);
    let wrong = |message: &str| {
        let written = format_time(Time::from_ms(scheduled_at));
        AdsProblem::invalid_parameter("scheduled_at", written, message)
    };
    if at <= now.ms() {
        return Err(wrong("scheduled_at must be in the future").into());
    }
    if at > latest.ms() {
        return Err(wrong("scheduled_at must be within one year").into());
    }
    if is_crowded(ctx, &change.record, at)? {
        let message = "No more than 30 posts of a user may be scheduled within 15 minutes";
        return Err(wrong(message).with_code("SCHEDULED_TWEET_LIMIT_EXCEEDED").into());
    }
    change.record.set("scheduled_at", at);
    change.record.set("due_at", at);
    Ok(())
}

/// Whether a window that contains a minute is full of the user's posts, in whatever accounts.
fn is_crowded(ctx: &mut AccountContext<'_, '_>, record: &AdsRecord, at: i64) -> Result<bool, Error> {
    let minutes: Vec<i64> = (1 - WINDOW_MINUTES..WINDOW_MINUTES).map(|minute| at + minute * MINUTE_MS).collect();
    let rows = records::list_all_by_field(ctx.tx, SCHEDULED_POST.name, "due_at", &minutes)?;
    let mut others = AdsRecord::from_rows(&SCHEDULED_POST, rows)?;
    others.retain(|other| other.id != record.id && other.get("user_id") == record.get("user_id"));
    let count_at = |minute: &i64| others.iter().filter(|other| other.int("due_at") == Some(*minute)).count();
    let counts: Vec<usize> = minutes.iter().map(count_at).collect();
    let length = usize::try_from(WINDOW_MINUTES).unwrap_or(1);
    Ok(counts.windows(length).any(|window| window.iter().sum::<usize>() >= MAX_POSTS_PER_WINDOW))
}

/// Deleting a post deletes its scheduled promotions.
fn hide_promotions(ctx: &mut AccountContext<'_, '_>, change: &RecordChange) -> Result<(), Error> {
    if change.verb == ResourceVerb::Delete {
        let account = ctx.account_id()?;
        let (kind, posts) = (SCHEDULED_PROMOTED_POST.name, [change.record.id]);
        records::hide_by_field(ctx.tx, kind, account, "scheduled_post_id", &posts)?;
    }
    Ok(())
}
