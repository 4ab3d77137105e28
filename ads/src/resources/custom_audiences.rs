//! Custom audiences: people whom an advertiser knows, found among the users by digests.

use base::refusal::AdsProblem;
use base::{Error, VocabularyWord};
use serde_json::{Value, json};
use store::ads::audiences;
use store::records;

use crate::access::{Role, Who};
use crate::answer::Answer;
use crate::change::Change;
use crate::declare::{
    COUNT, CURSOR, Custom, Field, Filter, Need, Resource, Rule, SORT_BY, Verb, WITH_DELETED,
    WITH_TOTAL_COUNT,
};
use crate::desk::{Desk, not_found};
use crate::engine::{self, checked, show_one};
use crate::given::Given;
use crate::kind::Kind;
use crate::listing;
use crate::record::Record;
use crate::resources::accounts::ACCOUNT;
use crate::resources::audience_permissions;
use crate::resources::audience_users;
use crate::resources::audiences_targeted as targeted;
use crate::{matching, segments};

/// People whom an advertiser knows. Its size is worked out when nothing was written for a while.
pub static CUSTOM_AUDIENCE: Resource = Resource {
    name: "custom_audience",
    id: VocabularyWord::same_in_both("custom_audience_id"),
    path: "custom_audiences",
    about: "custom audience",
    older: "tailored_audiences",
    not_found: "TAILORED_AUDIENCE_NOT_FOUND",
    fields: &[
        Field::text("name", 1, 255).required(),
        Field::text("description", 1, 1000),
        // Sent in a batch only: what is made by itself is a list of members.
        Field::one_of("audience_type", TYPES)
            .required()
            .fixed()
            .or("CRM"),
        Field::new("segments", Kind::Shape(segments::shape))
            .fixed()
            .hidden(),
        Field::new("audience_size", Kind::Int(0, i64::MAX)).kept(),
        Field::new("targetable", Kind::Bool).kept().or_flag(false),
        Field::text("partner_source", 1, 255).kept().or("OTHER"),
        Field::new("created_by", Kind::User).kept().hidden(),
        Field::new("processed", Kind::Bool)
            .kept()
            .hidden()
            .or_flag(false),
        // When its size is worked out anew.
        Field::new("due_at", Kind::Time).kept().hidden(),
    ],
    filters: &[
        Filter::ids("custom_audience_ids", "id", &CUSTOM_AUDIENCE),
        Filter::new("created_by", "created_by", Kind::User),
    ],
    prefix: 255,
    verbs: &[],
    batch: 10,
    batched: &[Verb::Create],
    reads: Who::AudienceReader,
    writes: Who::AudienceWriter,
    rules: &[
        Rule::Own(is_made_so),
        Rule::Within(has_a_name_of_its_own),
        Rule::Within(is_made_of_its_own),
    ],
    computed: Some(computed),
    after: Some(after),
    ..Resource::DEFAULT
};

/// Kinds of audiences, and what clients call one of them when they make it.
const TYPES: &[&str] = &["CRM", "WEB", "MOBILE", "FLEXIBLE", "MOBILE_AUDIENCE"];

const ID: Field = Field::reference("custom_audience_id", &CUSTOM_AUDIENCE)
    .required()
    .update(Need::Must);

/// What can be done with them.
pub static OPERATIONS: &[Custom] = &[
    Custom::get(
        "getAdsAudiences",
        "custom_audiences",
        "Custom audiences of an account, or those that others let it use.",
        list,
    )
    .who(Who::AudienceReader)
    .aliases(&["tailored_audiences"])
    .params(&[
        Field::one_of("permission_scope", &["OWNER", "SHARED"]).or("OWNER"),
        Field::new("custom_audience_ids", Kind::Ids(&CUSTOM_AUDIENCE, 200))
            .alias(&["tailored_audience_ids"]),
        COUNT,
        CURSOR,
        SORT_BY,
        Field::text("q", 1, 255),
        WITH_DELETED,
        WITH_TOTAL_COUNT,
    ]),
    Custom::get(
        "getAdsAudience",
        "custom_audiences/{custom_audience_id}",
        "A custom audience of the account, or one that it may use.",
        one,
    )
    .who(Who::AudienceReader)
    .aliases(&["tailored_audiences/{custom_audience_id}"])
    .params(&[ID, WITH_DELETED]),
    Custom::change(
        "POST",
        "createAdsAudience",
        "custom_audiences",
        "Creates a custom audience without members.",
        create,
    )
    .who(Who::AudienceWriter)
    .aliases(&["tailored_audiences"])
    .params(&[
        Field::text("name", 1, 255).required(),
        Field::text("description", 1, 1000),
    ]),
    Custom::change(
        "PUT",
        "updateAdsAudience",
        "custom_audiences/{custom_audience_id}",
        "Changes a custom audience's name or description.",
        update,
    )
    .who(Who::AudienceWriter)
    .aliases(&["tailored_audiences/{custom_audience_id}"])
    .params(&[
        ID,
        Field::text("name", 1, 255).required().update(Need::May),
        Field::text("description", 1, 1000),
    ]),
    Custom::change(
        "DELETE",
        "deleteAdsAudience",
        "custom_audiences/{custom_audience_id}",
        "Deletes a custom audience: it comes to nobody any more.",
        delete,
    )
    .who(Who::AudienceWriter)
    .aliases(&["tailored_audiences/{custom_audience_id}"])
    .params(&[ID]),
    Custom::get(
        "getAdsAudienceTargeted",
        "custom_audiences/{custom_audience_id}/targeted",
        "Line items that target a custom audience, by campaign.",
        targeted::list,
    )
    .who(Who::CampaignReader)
    .aliases(&["tailored_audiences/{custom_audience_id}/targeted"])
    .params(&[
        ID,
        Field::new("with_active", Kind::Bool).or_flag(true),
        CURSOR,
    ]),
    Custom::change(
        "POST",
        "changeAdsAudienceUsers",
        "custom_audiences/{custom_audience_id}/users",
        "Adds and removes members of a custom audience: all of them or none.",
        audience_users::change,
    )
    .who(Who::AudienceWriter)
    .aliases(&["tailored_audiences/{custom_audience_id}/users"])
    .params(&[ID])
    .json()
    .often(crate::declare::Often::Account(1500))
    .body(audience_users::BYTES),
];

/// The kind of audiences that are made of others.
pub const FLEXIBLE: &str = "FLEXIBLE";

/// What an account may do with an audience.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Everything: it is its own.
    Own,
    /// Read it and write its members.
    Write,
    /// Read it.
    Read,
}

/// An audience that is there for the account, and what the account may do with it.
pub fn find(
    desk: &mut Desk<'_, '_>,
    id: i64,
    with_deleted: bool,
) -> Result<Option<(Record, Hold)>, Error> {
    let Some(row) = records::find_by_id(desk.tx, CUSTOM_AUDIENCE.name, id)? else {
        return Ok(None);
    };
    let record = Record::stored(&CUSTOM_AUDIENCE, &row)?;
    if record.account_id != desk.account_id()? {
        if record.deleted {
            return Ok(None);
        }
        let permission = audience_permissions::granted(desk, id)?;
        let hold = permission.map(|one| match one.text("permission_level") {
            "READ_WRITE" => Hold::Write,
            _ => Hold::Read,
        });
        let hold = hold.filter(|_| !is_partner(desk));
        return Ok(hold.map(|hold| (record, hold)));
    }
    let known = with_deleted || !record.deleted;
    let own = !is_partner(desk) || record.int("created_by") == Some(desk.caller.user.get());
    Ok((known && own).then_some((record, Hold::Own)))
}

/// Partners see the audiences that they brought, and no others.
fn is_partner(desk: &Desk<'_, '_>) -> bool {
    let account = desk.account();
    account.is_ok_and(|account| account.role == Role::PartnerAudienceManager)
}

/// The audience that the path names.
pub fn need(desk: &mut Desk<'_, '_>, given: &Given) -> Result<(Record, Hold), Error> {
    checked(given)?;
    let id = given.int("custom_audience_id").unwrap_or(-1);
    let found = find(desk, id, given.flag("with_deleted"))?;
    let missing = || not_found(&CUSTOM_AUDIENCE, CUSTOM_AUDIENCE.id.post, id);
    found.ok_or_else(|| missing().into())
}

/// The same, which must be the account's own.
pub fn need_own(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Record, Error> {
    let (record, hold) = need(desk, given)?;
    if hold == Hold::Own {
        return Ok(record);
    }
    Err(not_allowed("Only its owner may do this with an audience"))
}

/// The audience that a criterion names: one that the account owns or may use, and that comes to
/// enough people.
pub fn targetable(desk: &mut Desk<'_, '_>, value: &str) -> Result<Record, Error> {
    let id = CUSTOM_AUDIENCE.ids.read("targeting_value", value)?;
    let Some((audience, _)) = find(desk, id, false)? else {
        return Err(not_found(&CUSTOM_AUDIENCE, "targeting_value", id).into());
    };
    if audience.flag("targetable") {
        return Ok(audience);
    }
    let message = format!("The audience {value} cannot be targeted (yet)");
    Err(AdsProblem::invalid_attribute("targeting_value", message).into())
}

/// That an account may not do something with an audience.
pub fn not_allowed(message: &str) -> Error {
    AdsProblem::new("ACTION_NOT_ALLOWED", message).into()
}

fn list(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    if given.text("permission_scope") == Some("SHARED") {
        let mut shared = audience_permissions::shared(desk)?;
        if is_partner(desk) {
            shared.clear();
        }
        if given.has("custom_audience_ids") {
            let asked = given.ints("custom_audience_ids");
            shared.retain(|record| asked.contains(&record.id));
        }
        return listing::of_records(desk, &CUSTOM_AUDIENCE, given, shared);
    }
    let mut given = given.clone();
    if is_partner(desk) {
        given.put("created_by", desk.caller.user.get().into());
    }
    listing::list(desk, &CUSTOM_AUDIENCE, &given)
}

fn one(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    let (record, _) = need(desk, given)?;
    Ok(Answer::raw(show_one(desk, &record)?))
}

fn create(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    let record = engine::create(desk, &CUSTOM_AUDIENCE, given)?;
    Ok(Answer::raw(show_one(desk, &record)?))
}

fn update(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    let id = need_own(desk, given)?.id;
    let record = engine::update(desk, &CUSTOM_AUDIENCE, id, given)?;
    Ok(Answer::raw(show_one(desk, &record)?))
}

fn delete(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    let id = need_own(desk, given)?.id;
    let record = engine::delete(desk, &CUSTOM_AUDIENCE, id)?;
    Ok(Answer::raw(show_one(desk, &record)?))
}

/// A batch makes audiences out of others; what members of a list are is uploaded.
fn is_made_so(change: &Change) -> Result<(), AdsProblem> {
    if !change.is_new() || !change.sent("audience_type") {
        return Ok(());
    }
    let segments = change.record.get("segments");
    match (change.record.text("audience_type"), segments) {
        ("FLEXIBLE", None) => Err(AdsProblem::missing_parameter("segments")),
        ("FLEXIBLE", Some(segments)) if segments::is_bounded(segments) => Ok(()),
        ("FLEXIBLE", Some(_)) => {
            let message = "The segments say only who is not in the audience";
            Err(AdsProblem::invalid_attribute("segments", message))
        }
        ("MOBILE" | "MOBILE_AUDIENCE", _) => {
            let message = "Nothing is known of what people do in apps";
            Err(AdsProblem::new("FEATURE_NOT_AVAILABLE", message))
        }
        (other, _) => {
            let message = format!("Expected FLEXIBLE, got \"{other}\" for audience_type");
            Err(AdsProblem::invalid_parameter(
                "audience_type",
                other,
                message,
            ))
        }
    }
}

/// The audiences that one is made of are the account's own, or lent to it, and lists of members.
fn is_made_of_its_own(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    if !change.is_new() || change.record.text("audience_type") != FLEXIBLE {
        return Ok(());
    }
    let segments = change.record.get("segments").cloned().unwrap_or_default();
    let name = CUSTOM_AUDIENCE.id.post;
    for id in segments::parts(&segments) {
        let Some((part, _)) = find(desk, id, false)? else {
            return Err(not_found(&CUSTOM_AUDIENCE, name, id).into());
        };
        if part.text("audience_type") == FLEXIBLE {
            let id = part.written_id();
            let message = format!("The audience {id} is made of others itself");
            return Err(AdsProblem::invalid_attribute(name, message).into());
        }
    }
    change.record.set("due_at", desk.now().ms());
    Ok(())
}

fn has_a_name_of_its_own(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    if change.is_new() {
        change.record.set("created_by", desk.caller.user.get());
    }
    if change.verb == Verb::Delete || !change.changes("name") {
        return Ok(());
    }
    let name = change.record.text("name").to_owned();
    let (account, key) = (desk.account_id()?, change.record.name_key());
    for row in records::list_by_name(desk.tx, CUSTOM_AUDIENCE.name, account, &key)? {
        let other = Record::stored(&CUSTOM_AUDIENCE, &row)?;
        if other.id != change.record.id && other.text("name") == name {
            let message = format!("There is an audience with the name \"{name}\" already");
            return Err(AdsProblem::invalid_attribute("name", message).into());
        }
    }
    Ok(())
}

fn after(desk: &mut Desk<'_, '_>, change: &Change) -> Result<(), Error> {
    if change.verb == Verb::Create
        && let Some(segments) = change.record.get("segments")
    {
        let parts = segments::parts(segments);
        audiences::set_component_audiences(desk.tx, change.record.id, &parts)?;
    }
    if change.verb != Verb::Delete {
        return Ok(());
    }
    for whole in audiences::list_containing_audiences(desk.tx, change.record.id)? {
        matching::put_on(desk.tx, whole)?;
    }
    audiences::delete(desk.tx, change.record.id)?;
    targeted::changed(desk.tx, change.record.id)
}

fn computed(
    desk: &mut Desk<'_, '_>,
    records: &[Record],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let account = desk.account_id()?;
    let mut all = Vec::with_capacity(records.len());
    for record in records {
        let own = record.account_id == account;
        let level = if own {
            "READ_WRITE".to_owned()
        } else {
            let permission = audience_permissions::granted(desk, record.id)?;
            permission.map_or_else(
                || "READ_ONLY".to_owned(),
                |one| one.text("permission_level").to_owned(),
            )
        };
        let kind = record.text("audience_type");
        let mut members = vec![
            (
                "targetable_types",
                json!([kind, format!("EXCLUDED_{kind}")]),
            ),
            reasons(record),
            ("permission_level", level.into()),
            (
                "owner_account_id",
                ACCOUNT.ids.write(record.account_id).into(),
            ),
            ("is_owner", own.into()),
        ];
        if let Some(segments) = record.get("segments") {
            members.push(("metadata", json!([{ "segments": segments }])));
        }
        all.push(members);
    }
    Ok(all)
}

/// Why a list of people cannot be used (yet).
pub fn reasons(record: &Record) -> (&'static str, Value) {
    let reasons: &[&str] = match (record.flag("processed"), record.flag("targetable")) {
        (false, _) => &["PROCESSING", "TOO_SMALL"],
        (true, false) => &["TOO_SMALL"],
        (true, true) => &[],
    };
    ("reasons_not_targetable", json!(reasons))
}
