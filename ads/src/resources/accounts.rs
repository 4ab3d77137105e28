//! Advertising accounts.

use base::refusal::AdsProblem;
use base::{Error, UserId, VocabularyWord};
use serde_json::json;
use store::{Tx, ads, records};

use crate::access::{Role, Who};
use crate::answer::Answer;
use crate::declare::{
    COUNT, CURSOR, Custom, Field, Filter, Need, Resource, SORT_BY, WITH_DELETED, WITH_TOTAL_COUNT,
};
use crate::desk::Desk;
use crate::engine::{checked, delete, get, show_all, show_one, update};
use crate::given::Given;
use crate::kind::Kind;
use crate::listing;
use crate::record::Record;
use crate::resources::{features, promotable_users};

/// An account. It is its own account, and found by who has a role on it.
pub static ACCOUNT: Resource = Resource {
    name: "account",
    id: VocabularyWord::same_in_both("account_id"),
    path: "",
    about: "account",
    not_found: "ACCOUNT_NOT_FOUND",
    fields: &[
        Field::text("name", 1, 255).required(),
        Field::text("business_name", 0, 255).kept(),
        Field::text("business_id", 0, 20).kept(),
        Field::text("timezone", 1, 64)
            .kept()
            .or("America/Los_Angeles"),
        Field::new("timezone_switch_at", Kind::Time).kept(),
        Field::one_of("industry_type", INDUSTRIES),
        Field::one_of("approval_status", &["ACCEPTED", "UNDER_REVIEW", "REJECTED"])
            .kept()
            .or("ACCEPTED"),
        Field::new("sandbox", Kind::Bool).kept().hidden(),
        Field::new("features", Kind::SomeOf(features::ALL))
            .kept()
            .hidden(),
        Field::one_of("feature_gates", features::GATES)
            .kept()
            .hidden()
            .or("lenient"),
        Field::new("line_item_limit", Kind::Int(1, MOST_LINE_ITEMS))
            .kept()
            .hidden()
            .or_number(MOST_LINE_ITEMS),
        Field::new("campaign_limit", Kind::Int(1, MOST_CAMPAIGNS))
            .kept()
            .hidden()
            .or_number(200),
        // Whether estimates are told as they are: `exact`, or rounded.
        Field::one_of("estimate", &["rounded", "exact"])
            .kept()
            .hidden(),
        Field::new("refused", Kind::SomeOf(LISTED)).kept().hidden(),
    ],
    filters: &[Filter::ids("account_ids", "id", &ACCOUNT)],
    prefix: 255,
    verbs: &[],
    ..Resource::DEFAULT
};

/// As many active campaigns as an operator may allow.
pub const MOST_CAMPAIGNS: i64 = 8000;

/// As many active line items as an operator may allow, and as an account has when none says otherwise.
pub const MOST_LINE_ITEMS: i64 = 8000;

const INDUSTRIES: &[&str] = &[
    "AGENCY",
    "BUSINESS_TO_BUSINESS",
    "ONLINE_SERVICES",
    "EDUCATION",
    "FINANCIAL",
    "HEALTH",
    "GOVERNMENT",
    "MEDIA",
    "MOBILE",
    "RESTAURANT",
    "RETAIL",
    "TECHNOLOGY",
    "TRAVEL",
    "OTHER",
];

/// What can be done to accounts.
pub static OPERATIONS: &[Custom] = &[
    Custom::get(
        "getAdsAccounts",
        "/accounts",
        "Accounts that the user has a role on.",
        list,
    )
    .who(Who::Anyone)
    .params(&[
        Field::new("account_ids", Kind::Ids(&ACCOUNT, 200)),
        COUNT,
        CURSOR,
        SORT_BY,
        Field::text("q", 1, 255),
        WITH_DELETED,
        WITH_TOTAL_COUNT,
    ]),
    Custom::get("getAdsAccount", "", "An account.", one).params(&[WITH_DELETED]),
    Custom::change(
        "POST",
        "createAdsAccount",
        "/accounts",
        "Sandbox only: creates an account.",
        create,
    )
    .who(Who::Anyone)
    .in_sandbox(),
    Custom::change("PUT", "updateAdsAccount", "", "Changes an account.", change).params(&[
        Field::text("name", 1, 255)
            .alias(&["account_name"])
            .required()
            .update(Need::May),
        Field::one_of("industry_type", INDUSTRIES),
    ]),
    Custom::change(
        "DELETE",
        "deleteAdsAccount",
        "",
        "Sandbox only: deletes an account.",
        remove,
    )
    .in_sandbox(),
];

fn list(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    let accesses = ads::list_access_by_user(desk.tx, desk.caller.user)?;
    let ids: Vec<i64> = accesses.iter().map(|access| access.account_id).collect();
    let mut own = Vec::with_capacity(ids.len());
    for row in records::find_by_ids(desk.tx, ACCOUNT.name, &ids)? {
        let record = Record::stored(&ACCOUNT, &row)?;
        if record.flag("sandbox") == desk.caller.sandbox {
            own.push(record);
        }
    }
    if given.has("account_ids") {
        let asked = given.ints("account_ids");
        own.retain(|record| asked.contains(&record.id));
    }
    listing::of_records(desk, &ACCOUNT, given, own)
}

fn one(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    let record = get(desk, &ACCOUNT, given)?;
    Ok(Answer::raw(show_one(desk, &record)?))
}

fn create(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let new = NewAccount {
        name: "Sandbox account".to_owned(),
        sandbox: true,
        ..NewAccount::default()
    };
    let record = make(desk.tx, desk.caller.user, &new)?;
    Ok(Answer::raw(show_all(desk, &[record])?).last_page())
}

fn change(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    let id = desk.account_id()?;
    let record = update(desk, &ACCOUNT, id, given)?;
    Ok(Answer::raw(show_one(desk, &record)?))
}

fn remove(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let id = desk.account_id()?;
    let record = delete(desk, &ACCOUNT, id)?;
    Ok(Answer::raw(show_one(desk, &record)?))
}

/// A new account.
#[derive(Clone, Debug, Default)]
pub struct NewAccount {
    /// Its name.
    pub name: String,
    /// Its time zone (IANA), or empty for the usual one.
    pub timezone: String,
    /// Its industry, or empty.
    pub industry_type: String,
    /// Whether it is in the sandbox.
    pub sandbox: bool,
}

/// Accounts of production come right after this number, which no other service's do.
const FIRST: i64 = 1 << 52;
/// Those of the sandbox come after this one.
const FIRST_SANDBOX: i64 = 1_000_000_000;

/// Makes an account: its maker administers it and is the user whom it promotes.
pub fn make(tx: &mut Tx<'_>, user: UserId, new: &NewAccount) -> Result<Record, Error> {
    network::users::find_active(tx, user)?;
    let number = records::next_id(tx, ACCOUNT.name)?;
    let first = if new.sandbox { FIRST_SANDBOX } else { FIRST };
    let id = first.saturating_add(number);
    let mut record = Record::new(&ACCOUNT, id, id, tx.now());
    for field in ACCOUNT.fields {
        record.set(field.name.post, field.default.value(field.kind));
    }
    record.set("name", new.name.clone());
    if !new.timezone.is_empty() {
        record.set("timezone", new.timezone.clone());
    }
    if !new.industry_type.is_empty() {
        record.set("industry_type", new.industry_type.clone());
    }
    record.set("sandbox", i64::from(new.sandbox));
    record.set("features", json!(features::FRESH));
    records::insert(tx, ACCOUNT.name, &record.to_store())?;
    let access = ads::AdsAccountAccess {
        user_id: user,
        account_id: id,
        role: Role::Admin.name().to_owned(),
        can_compose: true,
    };
    ads::grant_access(tx, &access)?;
    let mut desk = Desk::of_operator(tx, user, record.clone());
    promotable_users::add(&mut desk, user, "FULL")?;
    Ok(record)
}

/// What operators open to accounts one by one; a new account has it.
pub const LISTED: &[&str] = &["ACCOUNT_HISTORY", "RECOMMENDATIONS"];

/// Whether the account may use what is opened one by one.
pub fn allows(desk: &Desk<'_, '_>, what: &str) -> Result<(), Error> {
    if desk.account()?.record.has("refused", what) {
        let message = format!("{what} is not open to this account");
        return Err(AdsProblem::new("FEATURE_NOT_AVAILABLE", message).into());
    }
    Ok(())
}

/// The account with an id, for an operator.
pub fn find(tx: &mut Tx<'_>, id: i64) -> Result<Option<Record>, Error> {
    let row = records::find_by_id(tx, ACCOUNT.name, id)?;
    Ok(row.map(|row| Record::stored(&ACCOUNT, &row)).transpose()?)
}
