//! Notification settings of a user on an account.

use ads_engine::engine::{ensure_valid_params, update};
use ads_engine::{
    AccountContext, AccountTimeZone, AdsRecord, AdsRole, CustomOperation, FieldRequirement, FieldSpec, Kind,
    OperationOutput, ParsedParams, RecordChange, RequiredRole, Resource, ValidationRule,
};
use base::refusal::AdsProblem;
use base::{Error, Time, UserId, VocabularyWord};
use serde_json::Value;
use store::records;

pub static USER_SETTINGS: Resource = Resource {
    name: "user_settings",
    id: VocabularyWord::same_in_both("user_settings_id"),
    path: "user_settings",
    label: "user settings",
    fields: &[
        FieldSpec::new("user_id", Kind::ID).set_by_server(),
        EMAIL,
        PHONE,
        EXTENSION,
        TYPES,
        // When the next weekly email is due.
        FieldSpec::new("digest_at", Kind::TIME).set_by_server().hidden(),
    ],
    // Looked up by account and user.
    filters: &[ads_engine::ListFilter::new("user_id", "user_id", Kind::ID)],
    verbs: &[],
    rules: &[
        ValidationRule::OnRecord(validate_email),
        ValidationRule::OnRecord(|change| validate_number(change, "contact_phone")),
        ValidationRule::OnRecord(|change| validate_number(change, "contact_phone_extension")),
        ValidationRule::InContext(schedule_digest),
    ],
    ..Resource::DEFAULT
};

pub const PERFORMANCE_EMAIL_TYPE: &str = "ACCOUNT_PERFORMANCE";
const EMAIL: FieldSpec = FieldSpec::text("notification_email", 3, 255).default_word("");
const PHONE: FieldSpec = FieldSpec::text("contact_phone", 3, 32).default_word("");
const EXTENSION: FieldSpec = FieldSpec::text("contact_phone_extension", 1, 16).default_word("");
const TYPES: FieldSpec = FieldSpec::new(
    "subscribed_email_types",
    Kind::one_of(&[PERFORMANCE_EMAIL_TYPE, "PERFORMANCE_IMPROVEMENT"]).list(1, 2),
)
.alias(&["subscribe_email_types", "subscribed_campaign_events"]);
const USER: FieldSpec = FieldSpec::new("user_id", Kind::ID).required().update(FieldRequirement::Required);

pub static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get("getAdsUserSettings", "user_settings/{user_id}", get_user_settings)
        .summary("A user's settings on an account.")
        .params(&[USER]),
    CustomOperation::put("updateAdsUserSettings", "user_settings/{user_id}", update_user_settings)
        .summary("Changes the authenticated user's settings on an account.")
        .requires_role(RequiredRole::Member)
        .params(&[USER, EMAIL, PHONE, EXTENSION, TYPES]),
];

fn validate_email(change: &RecordChange) -> Result<(), AdsProblem> {
    let email = change.record.text("notification_email");
    let parts = email.split_once('@');
    let addressed = parts
        .is_some_and(|(name, host)| !name.is_empty() && host.contains('.') && !email.contains(char::is_whitespace));
    if !email.is_empty() && !addressed {
        let message = format!("\"{email}\" is no e-mail address");
        return Err(AdsProblem::invalid_parameter("notification_email", email, message));
    }
    Ok(())
}

fn validate_number(change: &RecordChange, name: &'static str) -> Result<(), AdsProblem> {
    let number = change.record.text(name);
    if number.chars().all(|letter| letter.is_ascii_digit() || "+-() .".contains(letter)) {
        return Ok(());
    }
    let message = format!("\"{number}\" is not a phone number");
    Err(AdsProblem::invalid_parameter(name, number, message))
}

fn get_user_settings(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let user = UserId::new(params.int("user_id").unwrap_or(0));
    if user != ctx.caller.user && ctx.account()?.role != AdsRole::Admin {
        return Err(not_own_settings());
    }
    let record = load_settings(ctx, user)?;
    Ok(render_settings(ctx, &record))
}

fn update_user_settings(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let user = UserId::new(params.int("user_id").unwrap_or(0));
    // Administrators, too, see only their own settings.
    if user != ctx.caller.user {
        return Err(not_own_settings());
    }
    let mut record = load_settings(ctx, user)?;
    if record.id == 0 {
        record.id = records::next_id(ctx.tx, USER_SETTINGS.name)?;
        record.insert(ctx.tx)?;
    }
    let record = update(ctx, &USER_SETTINGS, record.id, params)?;
    Ok(render_settings(ctx, &record))
}

fn not_own_settings() -> Error {
    let message = "These are the settings of another user";
    AdsProblem::new("ACTION_NOT_ALLOWED", message).into()
}

/// A user's settings; empty ones if there are none.
fn load_settings(ctx: &mut AccountContext<'_, '_>, user: UserId) -> Result<AdsRecord, Error> {
    let account = ctx.account_id()?;
    let found = ctx.list_records(&USER_SETTINGS, "user_id", user.get())?;
    if let Some(found) = found.into_iter().next() {
        return Ok(found);
    }
    // Users without a role on the account have no settings.
    if store::ads::find_access(ctx.tx, user, account)?.is_none() {
        let message = format!("The user {user} has no role on this account");
        return Err(AdsProblem::invalid_parameter("user_id", user, message).with_code("USER_NOT_FOUND").into());
    }
    let mut record = AdsRecord::new(&USER_SETTINGS, 0, account, ctx.now());
    for field in USER_SETTINGS.fields {
        record.set(field.name.post, field.default_value.to_value(field.kind));
    }
    record.set("user_id", user.get());
    Ok(record)
}

fn render_settings(ctx: &AccountContext<'_, '_>, record: &AdsRecord) -> OperationOutput {
    let mut members = record.render_fields(ctx.caller.vocabulary);
    // Unset values are rendered as empty texts.
    for (_, value) in members.iter_mut().filter(|(_, value)| value.is_null()) {
        *value = "".into();
    }
    OperationOutput::from_value(Value::Object(members))
}

/// Schedules the next digest when a user opts in, or clears it.
fn schedule_digest(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    let now = ctx.now();
    let zone = AccountTimeZone::from_name(ctx.account()?.record.text("timezone"));
    let record = &mut change.record;
    let asks =
        record.has("subscribed_email_types", PERFORMANCE_EMAIL_TYPE) && !record.text("notification_email").is_empty();
    let planned = record.time("digest_at");
    let at = asks.then(|| planned.unwrap_or_else(|| zone.next_week_start(now)));
    record.set("digest_at", at.map(Time::ms));
    Ok(())
}
