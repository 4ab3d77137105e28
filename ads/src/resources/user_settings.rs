//! What a user wants to hear of an account.

use base::refusal::AdsProblem;
use base::{Error, UserId, VocabularyWord};
use serde_json::Value;
use store::records;

use crate::access::{Role, Who};
use crate::answer::Answer;
use crate::change::Change;
use crate::declare::{Custom, Field, Need, Resource, Rule};
use crate::desk::Desk;
use crate::engine::{checked, update};
use crate::given::Given;
use crate::kind::Kind;
use crate::letters;
use crate::record::Record;

/// A user's settings on an account.
pub static USER_SETTINGS: Resource = Resource {
    name: "user_settings",
    id: VocabularyWord::same_in_both("user_settings_id"),
    path: "user_settings",
    about: "user settings",
    fields: &[
        Field::new("user_id", Kind::User).kept(),
        EMAIL,
        PHONE,
        EXTENSION,
        TYPES,
        // When the next weekly letter is written.
        Field::new("digest_at", Kind::Time).kept().hidden(),
    ],
    // Found by account and user.
    filters: &[crate::declare::Filter::new(
        "user_id",
        "user_id",
        Kind::User,
    )],
    verbs: &[],
    rules: &[Rule::Own(can_be_reached), Rule::Within(letters::plan)],
    ..Resource::DEFAULT
};

const EMAIL: Field = Field::text("notification_email", 3, 255).or("");
const PHONE: Field = Field::text("contact_phone", 3, 32).or("");
const EXTENSION: Field = Field::text("contact_phone_extension", 1, 16).or("");
const TYPES: Field = Field::new(
    "subscribed_email_types",
    Kind::SomeOf(&["ACCOUNT_PERFORMANCE", "PERFORMANCE_IMPROVEMENT"]),
)
.alias(&["subscribe_email_types", "subscribed_campaign_events"]);
const USER: Field = Field::new("user_id", Kind::User)
    .required()
    .update(Need::Must);

/// Reading and changing them.
pub static OPERATIONS: &[Custom] = &[
    Custom::get(
        "getAdsUserSettings",
        "user_settings/{user_id}",
        "A user's settings on an account.",
        show,
    )
    .params(&[USER]),
    Custom::change(
        "PUT",
        "updateAdsUserSettings",
        "user_settings/{user_id}",
        "Changes the authenticated user's settings on an account.",
        change,
    )
    .who(Who::Member)
    .params(&[USER, EMAIL, PHONE, EXTENSION, TYPES]),
];

fn can_be_reached(change: &Change) -> Result<(), AdsProblem> {
    let record = &change.record;
    let email = record.text("notification_email");
    let parts = email.split_once('@');
    let addressed = parts.is_some_and(|(name, host)| {
        !name.is_empty() && host.contains('.') && !email.contains(char::is_whitespace)
    });
    if !email.is_empty() && !addressed {
        let message = format!("\"{email}\" is no e-mail address");
        return Err(AdsProblem::invalid_parameter(
            "notification_email",
            email,
            message,
        ));
    }
    let dials = |letter: char| letter.is_ascii_digit() || "+-() .".contains(letter);
    for name in ["contact_phone", "contact_phone_extension"] {
        let number = record.text(name);
        if !number.chars().all(dials) {
            let message = format!("\"{number}\" is no phone number");
            return Err(AdsProblem::invalid_parameter(name, number, message));
        }
    }
    Ok(())
}

fn show(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let user = UserId::new(given.int("user_id").unwrap_or(0));
    if user != desk.caller.user && desk.account()?.role != Role::Admin {
        return Err(not_yours());
    }
    let record = settings(desk, user)?;
    Ok(spoken(desk, &record))
}

fn change(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let user = UserId::new(given.int("user_id").unwrap_or(0));
    // Nobody else's, not even for an administrator.
    if user != desk.caller.user {
        return Err(not_yours());
    }
    let mut record = settings(desk, user)?;
    if record.id == 0 {
        record.id = records::next_id(desk.tx, USER_SETTINGS.name)?;
        records::insert(desk.tx, USER_SETTINGS.name, &record.to_store())?;
    }
    let record = update(desk, &USER_SETTINGS, record.id, given)?;
    Ok(spoken(desk, &record))
}

fn not_yours() -> Error {
    let message = "These are the settings of another user";
    AdsProblem::new("ACTION_NOT_ALLOWED", message).into()
}

/// A user's settings; of one who never said anything, empty ones.
fn settings(desk: &mut Desk<'_, '_>, user: UserId) -> Result<Record, Error> {
    let account = desk.account_id()?;
    let found = desk.with(&USER_SETTINGS, "user_id", user.get())?;
    if let Some(found) = found.into_iter().next() {
        return Ok(found);
    }
    // Whoever has no role here has no settings either.
    if store::ads::find_access(desk.tx, user, account)?.is_none() {
        let message = format!("The user {user} has no role on this account");
        return Err(AdsProblem::invalid_parameter("user_id", user, message)
            .with_code("USER_NOT_FOUND")
            .into());
    }
    let mut record = Record::new(&USER_SETTINGS, 0, account, desk.now());
    for field in USER_SETTINGS.fields {
        record.set(field.name.post, field.default.value(field.kind));
    }
    record.set("user_id", user.get());
    Ok(record)
}

fn spoken(desk: &Desk<'_, '_>, record: &Record) -> Answer {
    let mut members = record.spoken(desk.caller.speech);
    // What was unset is empty.
    for (_, value) in members.iter_mut().filter(|(_, value)| value.is_null()) {
        *value = "".into();
    }
    Answer::one(&Value::Object(members))
}
