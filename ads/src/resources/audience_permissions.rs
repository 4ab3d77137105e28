//! Who else may use an account's custom audiences.

use base::refusal::{AdsProblem, ProblemLocation};
use base::{Error, VocabularyWord};
use store::records;

use crate::access::Who;
use crate::answer::Answer;
use crate::declare::{
    COUNT, CURSOR, Custom, Field, Filter, Gate, Resource, Rule, SORT_BY, WITH_TOTAL_COUNT,
};
use crate::desk::Desk;
use crate::engine::{self, show_one};
use crate::given::Given;
use crate::kind::Kind;
use crate::listing;
use crate::record::Record;
use crate::resources::accounts::{self, ACCOUNT};
use crate::resources::custom_audiences::{CUSTOM_AUDIENCE, need_own};
use crate::resources::{features, key};

/// Another account's permission to use an audience. There is one for each account.
pub static AUDIENCE_PERMISSION: Resource = Resource {
    name: "custom_audience_permission",
    id: VocabularyWord::same_in_both("custom_audience_permission_id"),
    path: "custom_audience_permissions",
    about: "permission",
    fields: &[
        Field::parent("custom_audience_id", &CUSTOM_AUDIENCE).required(),
        Field::new("granted_account_id", Kind::Account)
            .required()
            .fixed(),
        Field::one_of("permission_level", LEVELS).required(),
        // What is found again without a look at all of an audience's.
        Field::new("pair", Kind::Int(0, i64::MAX)).kept().hidden(),
    ],
    filters: &[
        Filter::new(
            "custom_audience_id",
            "custom_audience_id",
            Kind::Reference(&CUSTOM_AUDIENCE, false),
        ),
        Filter::ids("granted_account_ids", "granted_account_id", &ACCOUNT),
        Filter::ids("custom_audience_permission_ids", "id", &AUDIENCE_PERMISSION),
    ],
    verbs: &[],
    rules: &[Rule::Within(|_, change| {
        note_pair(&mut change.record);
        Ok(())
    })],
    ..Resource::DEFAULT
};

const LEVELS: &[&str] = &["READ_ONLY", "READ_WRITE"];
const AUDIENCE: Field = Field::reference("custom_audience_id", &CUSTOM_AUDIENCE).required();
const TAILORED: Field = Field::reference("tailored_audience_id", &CUSTOM_AUDIENCE).required();
const GRANTED: Field = Field::new("granted_account_id", Kind::Account)
    .required()
    .gated(&[BEYOND]);
/// To whom beyond the business audiences are shared.
const BEYOND: Gate = Gate::new("SHARE_AUDIENCE_OUTSIDE_BUSINESS").always();
const LEVEL: Field = Field::one_of("permission_level", LEVELS).required();
const ACCOUNTS: Field = Field::new("granted_account_ids", Kind::Ids(&ACCOUNT, 200));

/// What can be done with them, under the names of either version.
pub static OPERATIONS: &[Custom] = &[
    Custom::get(
        "getAdsAudiencePermissions",
        "custom_audiences/{custom_audience_id}/permissions",
        "Accounts that may use a custom audience.",
        list,
    )
    .who(Who::AudienceReader)
    .aliases(&["tailored_audiences/{custom_audience_id}/permissions"])
    .params(&[
        AUDIENCE,
        ACCOUNTS,
        Field::new(
            "custom_audience_permission_ids",
            Kind::Ids(&AUDIENCE_PERMISSION, 200),
        )
        .alias(&["tailored_audience_permission_ids"]),
        COUNT,
        CURSOR,
        SORT_BY,
        WITH_TOTAL_COUNT,
    ]),
    Custom::change(
        "POST",
        "grantAdsAudiencePermission",
        "custom_audiences/{custom_audience_id}/permissions",
        "Lets an account use a custom audience, or use it in another way than before.",
        grant,
    )
    .who(Who::AudienceWriter)
    .aliases(&["tailored_audiences/{custom_audience_id}/permissions"])
    .params(&[AUDIENCE, GRANTED, LEVEL]),
    Custom::change(
        "DELETE",
        "revokeAdsAudiencePermission",
        "custom_audiences/{custom_audience_id}/permissions/{custom_audience_permission_id}",
        "Ends an account's use of a custom audience; what targets it already goes on.",
        revoke,
    )
    .who(Who::AudienceWriter)
    .aliases(&[
        "tailored_audiences/{custom_audience_id}/permissions/{custom_audience_permission_id}",
    ])
    .params(&[
        AUDIENCE,
        Field::reference("custom_audience_permission_id", &AUDIENCE_PERMISSION).required(),
    ]),
    Custom::get(
        "getAdsTailoredPermissions",
        "tailored_audiences/{tailored_audience_id}/permissions",
        "Accounts that may use a tailored audience.",
        |desk, given| Ok(older(list(desk, &newer(given))?)),
    )
    .version("5")
    .who(Who::AudienceReader)
    .params(&[
        TAILORED,
        ACCOUNTS,
        Field::new(
            "tailored_audience_permission_ids",
            Kind::Ids(&AUDIENCE_PERMISSION, 200),
        ),
        COUNT,
        CURSOR,
        SORT_BY,
        WITH_TOTAL_COUNT,
    ]),
    Custom::change(
        "POST",
        "grantAdsTailoredPermission",
        "tailored_audiences/{tailored_audience_id}/permissions",
        "Lets an account use a tailored audience, or use it in another way than before.",
        |desk, given| Ok(older(grant(desk, &newer(given))?)),
    )
    .version("5")
    .who(Who::AudienceWriter)
    .params(&[TAILORED, GRANTED, LEVEL]),
    Custom::change(
        "DELETE",
        "revokeAdsTailoredPermission",
        "tailored_audiences/{tailored_audience_id}/permissions/{tailored_audience_permission_id}",
        "Ends an account's use of a tailored audience; what targets it already goes on.",
        |desk, given| Ok(older(revoke(desk, &newer(given))?)),
    )
    .version("5")
    .who(Who::AudienceWriter)
    .params(&[
        TAILORED,
        Field::reference("tailored_audience_permission_id", &AUDIENCE_PERMISSION).required(),
    ]),
];

/// What was given under the names of version 5, under the usual ones.
fn newer(given: &Given) -> Given {
    let mut same = given.clone();
    for (old, new) in [
        ("tailored_audience_id", "custom_audience_id"),
        (
            "tailored_audience_permission_id",
            "custom_audience_permission_id",
        ),
        (
            "tailored_audience_permission_ids",
            "custom_audience_permission_ids",
        ),
    ] {
        if let Some(value) = given.get(old) {
            same.put(new, value.clone());
        }
    }
    same
}

/// An answer in the names of version 5. A quotation mark inside a value is written otherwise.
fn older(mut answer: Answer) -> Answer {
    answer.data = answer
        .data
        .replace("\"custom_audience_id\":", "\"tailored_audience_id\":");
    answer
}

fn list(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    need_own(desk, given)?;
    if given.has("custom_audience_permission_ids") {
        // Ids alone would lead to other audiences' as well.
        let audience = given.int("custom_audience_id").unwrap_or(-1);
        let mut own = desk.shown(&AUDIENCE_PERMISSION, "custom_audience_id", audience)?;
        let asked = given.ints("custom_audience_permission_ids");
        own.retain(|record| asked.contains(&record.id));
        return listing::of_records(desk, &AUDIENCE_PERMISSION, given, own);
    }
    listing::list(desk, &AUDIENCE_PERMISSION, given)
}

fn grant(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    let audience = need_own(desk, given)?;
    let to = given.int("granted_account_id").unwrap_or(-1);
    may_share(desk, to)?;
    let known = find(desk, audience.id, to)?;
    let record = match known {
        Some(known) => engine::update(desk, &AUDIENCE_PERMISSION, known.id, given)?,
        None => engine::create(desk, &AUDIENCE_PERMISSION, given)?,
    };
    Ok(Answer::raw(show_one(desk, &record)?))
}

/// Audiences are shared within a business, or by whom an operator lets share them beyond it.
fn may_share(desk: &mut Desk<'_, '_>, to: i64) -> Result<(), Error> {
    let own = desk.account()?.record.clone();
    let other = accounts::find(desk.tx, to)?;
    let other = other
        .filter(|other| !other.deleted && other.flag("sandbox") == own.flag("sandbox"))
        .ok_or_else(|| {
            let written = ACCOUNT.ids.write(to.max(0));
            let message = format!("The account {written} was not found");
            AdsProblem::invalid_parameter("granted_account_id", written, message)
                .with_code("ACCOUNT_NOT_FOUND")
        })?;
    if other.id == own.id {
        let message = "An account's own audiences need no permission";
        return Err(AdsProblem::invalid_attribute("granted_account_id", message).into());
    }
    let business = own.text("business_id");
    if !business.is_empty() && business == other.text("business_id") {
        return Ok(());
    }
    features::pass(
        desk,
        &BEYOND,
        ProblemLocation::Parameter("granted_account_id".into()),
    )
}

fn revoke(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    let audience = need_own(desk, given)?;
    let id = given.int("custom_audience_permission_id").unwrap_or(-1);
    let known = desk.find(&AUDIENCE_PERMISSION, id)?;
    let is_its = |known: &Record| known.int("custom_audience_id") == Some(audience.id);
    if !known.is_some_and(|known| is_its(&known)) {
        return Err(desk.not_found(&AUDIENCE_PERMISSION, id).into());
    }
    let record = engine::delete(desk, &AUDIENCE_PERMISSION, id)?;
    Ok(Answer::raw(show_one(desk, &record)?))
}

fn pair(audience: i64, account: i64) -> i64 {
    key(&[&audience.to_string(), &account.to_string()])
}

fn note_pair(record: &mut Record) {
    let of = |name| record.int(name).unwrap_or(0);
    let pair = pair(of("custom_audience_id"), of("granted_account_id"));
    record.set("pair", pair);
}

/// The permission that an account has for an audience, whoever's it is.
fn find(desk: &mut Desk<'_, '_>, audience: i64, account: i64) -> Result<Option<Record>, Error> {
    let pair = pair(audience, account);
    for row in records::list_all_by_field(desk.tx, AUDIENCE_PERMISSION.name, ("pair", pair))? {
        let record = Record::stored(&AUDIENCE_PERMISSION, &row)?;
        let same = record.int("custom_audience_id") == Some(audience)
            && record.int("granted_account_id") == Some(account);
        if same {
            return Ok(Some(record));
        }
    }
    Ok(None)
}

/// The permission that this account has for another's audience.
pub fn granted(desk: &mut Desk<'_, '_>, audience: i64) -> Result<Option<Record>, Error> {
    let account = desk.account_id()?;
    find(desk, audience, account)
}

/// Audiences of others that this account may use.
pub fn shared(desk: &mut Desk<'_, '_>) -> Result<Vec<Record>, Error> {
    let account = desk.account_id()?;
    let field = ("granted_account_id", account);
    let mut ids = Vec::new();
    for row in records::list_all_by_field(desk.tx, AUDIENCE_PERMISSION.name, field)? {
        let record = Record::stored(&AUDIENCE_PERMISSION, &row)?;
        ids.extend(record.int("custom_audience_id"));
    }
    let mut all = Vec::with_capacity(ids.len());
    for row in records::find_by_ids(desk.tx, CUSTOM_AUDIENCE.name, &ids)? {
        let record = Record::stored(&CUSTOM_AUDIENCE, &row)?;
        if !record.deleted {
            all.push(record);
        }
    }
    Ok(all)
}
