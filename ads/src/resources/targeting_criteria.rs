//! Targeting criteria: whom a line item is shown to.

mod together;

use base::refusal::AdsProblem;
use base::{Error, UserId, VocabularyWord};
use serde_json::Value;
use store::records;
use store::users::User;

use crate::change::Change;
use crate::choices;
use crate::declare::{Field, Filter, Gate, Often, Resource, Rule, Verb};
use crate::desk::{Desk, not_found};
use crate::engine;
use crate::given::Given;
use crate::kind::Kind;
use crate::record::Record;
use crate::resources::campaigns::CAMPAIGN;
use crate::resources::categories::is_iab;
use crate::resources::custom_audiences;
use crate::resources::line_item_curated_categories::{self, MOST_LEFT_OUT};
use crate::resources::line_items::LINE_ITEM;
use crate::resources::promotable_users::PROMOTABLE_USER;
use crate::resources::targeting_options::{kind_of_place, label};
use crate::resources::{audiences_targeted, key, promotable_users};

/// What a line item's viewers must be, or must not.
pub static TARGETING_CRITERION: Resource = Resource {
    name: "targeting_criterion",
    id: VocabularyWord::same_in_both("targeting_criterion_id"),
    path: "targeting_criteria",
    about: "targeting criterion",
    not_found: "TARGETING_CRITERION_NOT_FOUND",
    fields: &[
        Field::parent("line_item_id", &LINE_ITEM).required(),
        Field::one_of("targeting_type", TYPES)
            .required()
            .fixed()
            .gated(GATES),
        Field::text("targeting_value", 1, 255).required().fixed(),
        Field::one_of("operator_type", &["EQ", "NE", "GTE", "LT"])
            .fixed()
            .or("EQ"),
        Field::text("name", 0, 255).kept(),
        // What is found again without a look at all of a line item's criteria.
        Field::new("same", Kind::Int(0, i64::MAX)).kept().hidden(),
        Field::new("alike", Kind::Int(0, i64::MAX)).kept().hidden(),
        Field::new("audience", Kind::Int(0, i64::MAX))
            .kept()
            .hidden(),
    ],
    filters: &[
        Filter::ids("line_item_ids", "line_item_id", &LINE_ITEM).required(),
        Filter::ids("targeting_criterion_ids", "id", &TARGETING_CRITERION),
        Filter::new("lang", "", Kind::Text(2, 5)),
    ],
    verbs: &[Verb::List, Verb::Get, Verb::Create, Verb::Delete],
    batch: 500,
    often: Often::More,
    rules: &[
        Rule::Own(takes_its_operator),
        Rule::Own(has_a_sound_value),
        Rule::Within(comes_in_a_batch),
        Rule::Within(names_what_there_is),
        Rule::Within(names_someone_of_the_account),
        Rule::Within(names_an_audience),
        Rule::Within(is_one_of_so_many),
    ],
    history: "TARGETING_CRITERIA",
    twin: Some(twin),
    after: Some(after),
    settles: Some(together::fit),
    computed: Some(places),
    ..Resource::DEFAULT
};

/// Types that accounts need a feature for.
const GATES: &[Gate] = &[
    Gate::new("AGE_TARGETING").of(&["AGE"]),
    Gate::new("EVENT_TARGETING").of(&["EVENT"]),
    Gate::new("ENGAGER_RETARGETING").of(&[
        "CAMPAIGN_ENGAGEMENT",
        "CAMPAIGN_ENGAGEMENT_LOOKALIKE",
        "ENGAGEMENT_TYPE",
        "USER_ENGAGEMENT",
        "USER_ENGAGEMENT_LOOKALIKE",
    ]),
    Gate::new("INSTALLED_APP_CATEGORY_TARGETING")
        .of(&["APP_STORE_CATEGORY", "APP_STORE_CATEGORY_LOOKALIKE"]),
];

/// Types of criteria.
pub const TYPES: &[&str] = &[
    "AGE",
    "APP_LIST",
    "APP_STORE_CATEGORY",
    "APP_STORE_CATEGORY_LOOKALIKE",
    "BROAD_KEYWORD",
    "CAMPAIGN_ENGAGEMENT",
    "CAMPAIGN_ENGAGEMENT_LOOKALIKE",
    "CONTENT_PUBLISHER_USER",
    "CONVERSATION",
    "CUSTOM_AUDIENCE",
    "CUSTOM_AUDIENCE_EXPANDED",
    "DEVICE",
    "ENGAGEMENT_TYPE",
    "EVENT",
    "EXACT_KEYWORD",
    "FOLLOWERS_OF_USER",
    "GENDER",
    "IAB_CATEGORY",
    "INTEREST",
    "LANGUAGE",
    "LIVE_TV_EVENT",
    "LOCATION",
    "NETWORK_ACTIVATION_DURATION",
    "NETWORK_OPERATOR",
    "PHRASE_KEYWORD",
    "PLATFORM",
    "PLATFORM_VERSION",
    "SIMILAR_TO_FOLLOWERS_OF_USER",
    "TV_SHOW",
    "UNORDERED_KEYWORD",
    "USER_ENGAGEMENT",
    "USER_ENGAGEMENT_LOOKALIKE",
    "WIFI_ONLY",
];

/// Age buckets (contract §9.4).
pub const AGES: &[&str] = &[
    "AGE_13_TO_24",
    "AGE_13_TO_34",
    "AGE_13_TO_49",
    "AGE_13_TO_54",
    "AGE_OVER_13",
    "AGE_18_TO_34",
    "AGE_18_TO_49",
    "AGE_18_TO_54",
    "AGE_OVER_18",
    "AGE_21_TO_34",
    "AGE_21_TO_49",
    "AGE_21_TO_54",
    "AGE_OVER_21",
    "AGE_25_TO_49",
    "AGE_25_TO_54",
    "AGE_OVER_25",
    "AGE_35_TO_49",
    "AGE_35_TO_54",
    "AGE_OVER_35",
    "AGE_OVER_50",
];

const ENGAGEMENTS: &[&str] = &[
    "IMPRESSION",
    "ENGAGEMENT",
    "VIDEO_VIEW",
    "VIDEO_VIEW_PARTIAL",
    "VIDEO_VIEW_COMPLETE",
];

fn takes_its_operator(change: &Change) -> Result<(), AdsProblem> {
    let record = &change.record;
    let (kind, operator) = (record.text("targeting_type"), record.text("operator_type"));
    let allowed: &[&str] = match kind {
        kind if kind.ends_with("_KEYWORD") => &["EQ", "NE"],
        "CUSTOM_AUDIENCE" | "IAB_CATEGORY" => &["EQ", "NE"],
        "PLATFORM_VERSION" => &["EQ", "GTE"],
        "NETWORK_ACTIVATION_DURATION" => &["LT", "GTE"],
        "APP_LIST" | "CONTENT_PUBLISHER_USER" => &["NE"],
        _ => &["EQ"],
    };
    if allowed.contains(&operator) {
        return Ok(());
    }
    let message = format!("{kind} takes {}, not {operator}", allowed.join(", "));
    Err(AdsProblem::invalid_attribute("operator_type", message))
}

fn has_a_sound_value(change: &Change) -> Result<(), AdsProblem> {
    let record = &change.record;
    sound(
        record.text("targeting_type"),
        record.text("targeting_value"),
    )
}

/// Whether a value is one that a type of criteria may have.
pub fn sound(kind: &str, value: &str) -> Result<(), AdsProblem> {
    let digits = value.bytes().all(|byte| byte.is_ascii_digit());
    let sound = match kind {
        "AGE" => AGES.contains(&value),
        "GENDER" => ["1", "2"].contains(&value),
        "WIFI_ONLY" => value == "1",
        "ENGAGEMENT_TYPE" => ENGAGEMENTS.contains(&value),
        "LOCATION" => value.len() == 16 && value.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "IAB_CATEGORY" => is_iab(value),
        "PLATFORM" => ["0", "1", "2", "3", "4"].contains(&value),
        "FOLLOWERS_OF_USER"
        | "SIMILAR_TO_FOLLOWERS_OF_USER"
        | "CONTENT_PUBLISHER_USER"
        | "NETWORK_ACTIVATION_DURATION"
        | "INTEREST" => digits && value.len() < 20,
        _ => !value.trim().is_empty(),
    };
    if sound {
        return Ok(());
    }
    let message = format!("\"{value}\" is no value of {kind}");
    let code = if kind == "IAB_CATEGORY" {
        "INVALID_IAB_CATEGORY"
    } else {
        "INVALID_PARAMETER"
    };
    Err(AdsProblem::invalid_parameter("targeting_value", value, message).with_code(code))
}

/// Types whose criteria only go together.
pub const BATCHED: &[&str] = &["IAB_CATEGORY", "CONTENT_PUBLISHER_USER"];

fn comes_in_a_batch(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    let kind = change.record.text("targeting_type");
    if change.verb == Verb::Delete || desk.batch.is_some() || !BATCHED.contains(&kind) {
        return Ok(());
    }
    let message = format!("Criteria of {kind} are made in a batch only");
    let problem = AdsProblem::invalid_parameter("targeting_type", kind, message);
    Err(problem.with_code("INVALID_TARGETING_TYPE").into())
}

/// Options are those that are listed; campaigns and users are the account's own.
fn names_what_there_is(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    if change.verb == Verb::Delete {
        return Ok(());
    }
    let kind = change.record.text("targeting_type").to_owned();
    let value = change.record.text("targeting_value").to_owned();
    let own = match kind.strip_suffix("_LOOKALIKE").unwrap_or(&kind) {
        "CAMPAIGN_ENGAGEMENT" => &CAMPAIGN,
        "USER_ENGAGEMENT" => &PROMOTABLE_USER,
        one if one == "LANGUAGE" || one == "LIVE_TV_EVENT" || choices::KINDS.contains(&one) => {
            if label(desk.tx, one, &value)?.is_some() {
                return Ok(());
            }
            let message = format!("\"{value}\" is no value of {kind}");
            return Err(AdsProblem::invalid_parameter("targeting_value", value, message).into());
        }
        _ => return Ok(()),
    };
    let id = own.ids.read("targeting_value", &value)?;
    let found = desk.find(own, id)?.filter(|found| !found.deleted);
    let Some(found) = found else {
        return Err(not_found(own, "targeting_value", id).into());
    };
    change.record.set("targeting_value", found.written_id());
    Ok(())
}

/// Followers are targeted of the account's own user only.
fn names_someone_of_the_account(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    if change.verb == Verb::Delete {
        return Ok(());
    }
    let kind = change.record.text("targeting_type").to_owned();
    let value = change.record.text("targeting_value").to_owned();
    let name = match named(desk, &kind, &value)? {
        Some(user) => user.username,
        None => label(desk.tx, &kind, &value)?.unwrap_or(value),
    };
    change.record.set("name", name);
    Ok(())
}

/// The user whom a criterion names, if its type names one: someone who is there, and where it is
/// about followers the account's own.
pub fn named(desk: &mut Desk<'_, '_>, kind: &str, value: &str) -> Result<Option<User>, Error> {
    if !(kind.ends_with("OF_USER") || kind == "CONTENT_PUBLISHER_USER") {
        return Ok(None);
    }
    let user = UserId::parse(value).unwrap_or_else(|| UserId::new(0));
    let own = kind != "FOLLOWERS_OF_USER" || promotable_users::full(desk)? == Some(user);
    let found = store::users::find_by_id(desk.tx, user)?.filter(|_| own);
    if found.is_some() {
        return Ok(found);
    }
    let message = format!("The user {value} cannot be targeted by this account");
    Err(AdsProblem::invalid_attribute("targeting_value", message)
        .with_code("INVALID_USER_ID")
        .into())
}

/// How many criteria of a kind a line item may have.
fn most(kind: &str) -> i64 {
    match kind {
        kind if kind.ends_with("_KEYWORD") => 1000,
        "LOCATION" => 2000,
        "INTEREST" | "SIMILAR_TO_FOLLOWERS_OF_USER" => 100,
        "AGE" | "EVENT" => 1,
        "CONTENT_PUBLISHER_USER" => 50,
        _ => i64::MAX,
    }
}

fn is_one_of_so_many(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    if change.verb == Verb::Delete {
        desk.criteria_alike.clear();
        return Ok(());
    }
    let record = &change.record;
    let kind = record.text("targeting_type").to_owned();
    let group = if kind.ends_with("_KEYWORD") {
        "KEYWORD"
    } else {
        kind.as_str()
    };
    let item = record.int("line_item_id").unwrap_or(0);
    let alike = alike(item, group);
    let value = record.text("targeting_value").to_lowercase();
    let same = key(&[
        &item.to_string(),
        &kind,
        &value,
        record.text("operator_type"),
    ]);
    change.record.set("same", same);
    change.record.set("alike", alike);
    let curated = line_item_curated_categories::of_item(desk, item)?.is_some();
    if kind == "IAB_CATEGORY" && curated {
        let message = "The line item has a curated category already";
        return Err(AdsProblem::invalid_attribute("targeting_type", message).into());
    }
    let limit = match kind.as_str() {
        "CONTENT_PUBLISHER_USER" if curated => MOST_LEFT_OUT,
        other => most(other),
    };
    let account = desk.account_id()?;
    let count = |desk: &mut Desk<'_, '_>, field, value| {
        records::count_by_field(desk.tx, TARGETING_CRITERION.name, account, (field, value))
    };
    if count(desk, "same", same)? > 0 {
        return Ok(());
    }
    // A batch counts once: what it deletes was deleted before.
    let there = match desk.criteria_alike.get(&alike) {
        Some(there) => *there,
        None => count(desk, "alike", alike)?,
    };
    if there < limit {
        desk.criteria_alike.insert(alike, there + 1);
        return Ok(());
    }
    let message = format!("A line item has at most {limit} criteria of {kind}");
    Err(AdsProblem::invalid_attribute("targeting_type", message).into())
}

/// What all criteria of a kind at a line item have in common.
pub fn alike(item: i64, kind: &str) -> i64 {
    key(&[&item.to_string(), kind])
}

/// The criteria of a kind at a line item.
pub fn of_kind(desk: &mut Desk<'_, '_>, item: i64, kind: &str) -> Result<Vec<Record>, Error> {
    desk.shown(&TARGETING_CRITERION, "alike", alike(item, kind))
}

/// Audiences are targeted that the account owns or may use, and that come to enough people.
fn names_an_audience(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    let kind = change.record.text("targeting_type").to_owned();
    if change.verb == Verb::Delete || !kind.starts_with("CUSTOM_AUDIENCE") {
        return Ok(());
    }
    let value = change.record.text("targeting_value").to_owned();
    let audience = custom_audiences::targetable(desk, &value)?;
    let id = audience.id;
    let other = if kind == "CUSTOM_AUDIENCE" {
        "CUSTOM_AUDIENCE_EXPANDED"
    } else {
        "CUSTOM_AUDIENCE"
    };
    let item = change.record.int("line_item_id").unwrap_or(0);
    let others = desk.shown(&TARGETING_CRITERION, "alike", alike(item, other))?;
    if others.iter().any(|one| one.int("audience") == Some(id)) {
        let message = "A line item targets an audience or those who are like it, and not both";
        return Err(AdsProblem::invalid_attribute("targeting_value", message).into());
    }
    let record = &mut change.record;
    record.set("targeting_value", audience.written_id());
    record.set("name", audience.text("name").to_owned());
    record.set("audience", id);
    Ok(())
}

/// Targets a platform by what follows from something else, unless single devices of it are.
pub fn add_platform(desk: &mut Desk<'_, '_>, item: i64, platform: &str) -> Result<(), Error> {
    for device in of_kind(desk, item, "DEVICE")? {
        let value = device.text("targeting_value");
        if together::platform_of(desk, value)? == Some(platform) {
            return Ok(());
        }
    }
    let mut given = Given::default();
    given.put("line_item_id", item.into());
    given.put("targeting_type", "PLATFORM".into());
    given.put("targeting_value", platform.into());
    engine::create(desk, &TARGETING_CRITERION, &given).map(|_| ())
}

fn after(desk: &mut Desk<'_, '_>, change: &Change) -> Result<(), Error> {
    let record = &change.record;
    if record.get("audience").is_none() {
        return Ok(());
    }
    audiences_targeted::look_at(desk, record.int("line_item_id").unwrap_or(0))
}

/// Places say which kind of place they are.
fn places(
    desk: &mut Desk<'_, '_>,
    all: &[Record],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let mut members = Vec::with_capacity(all.len());
    for one in all {
        let mut more = Vec::new();
        if one.text("targeting_type") == "LOCATION" {
            let kind = kind_of_place(desk.tx, one.text("targeting_value"))?;
            more.push(("location_type", kind.into()));
        }
        members.push(more);
    }
    Ok(members)
}

fn twin(desk: &mut Desk<'_, '_>, record: &Record) -> Result<Option<Record>, Error> {
    let same = record.int("same").unwrap_or(0);
    let all = desk.shown(&TARGETING_CRITERION, "same", same)?;
    Ok(all.into_iter().next())
}
