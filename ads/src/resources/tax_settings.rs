//! Tax settings of an account.

use base::refusal::{AdsProblem, ProblemLocation};
use base::{Error, VocabularyWord};
use serde_json::Value;
use store::records;

use crate::access::Who;
use crate::answer::Answer;
use crate::change::Change;
use crate::declare::{Custom, Field, Resource, Rule};
use crate::desk::Desk;
use crate::engine::{checked, update};
use crate::given::Given;
use crate::record::Record;

/// What an account is billed under. Each account has one set of them.
pub static TAX_SETTINGS: Resource = Resource {
    name: "tax_settings",
    id: VocabularyWord::same_in_both("tax_settings_id"),
    path: "tax_settings",
    about: "tax settings",
    fields: FIELDS,
    verbs: &[],
    rules: &[Rule::Own(has_a_number), Rule::Own(has_a_client)],
    ..Resource::DEFAULT
};

const FIELDS: &[Field] = &[
    Field::text("address_city", 1, 255),
    Field::text("address_company", 1, 255).alias(&["address_name"]),
    Field::text("address_country", 2, 2),
    Field::text("address_email", 3, 255),
    Field::text("address_first_name", 1, 255),
    Field::text("address_last_name", 1, 255),
    Field::text("address_postal_code", 1, 32),
    Field::text("address_region", 1, 255),
    Field::text("address_street1", 1, 255),
    Field::text("address_street2", 1, 255),
    Field::one_of("bill_to", &["ADVERTISER", "AGENCY", "NOT_SET"]).or("NOT_SET"),
    Field::one_of("business_relationship", &["SELF", "AGENCY"]).or("SELF"),
    Field::text("client_address_city", 1, 255),
    Field::text("client_address_company", 1, 255).alias(&["client_address_name"]),
    Field::text("client_address_country", 2, 2),
    Field::text("client_address_email", 3, 255),
    Field::text("client_address_first_name", 1, 255),
    Field::text("client_address_last_name", 1, 255),
    Field::text("client_address_postal_code", 1, 32),
    Field::text("client_address_region", 1, 255),
    Field::text("client_address_street1", 1, 255),
    Field::text("client_address_street2", 1, 255),
    Field::one_of("invoice_jurisdiction", &["LOI_SAPIN", "NONE", "NOT_SET"]).or("NOT_SET"),
    Field::one_of(
        "tax_category",
        &["BUSINESS_NO_VAT", "BUSINESS_WITH_VAT", "INDIVIDUAL"],
    ),
    Field::text("tax_id", 1, 64),
    Field::text("tax_exemption_id", 1, 64),
];

/// Reading and changing them.
pub static OPERATIONS: &[Custom] = &[
    Custom::get(
        "getAdsTaxSettings",
        "tax_settings",
        "The tax settings of an account.",
        show,
    )
    .who(Who::Admin),
    Custom::change(
        "PUT",
        "updateAdsTaxSettings",
        "tax_settings",
        "Changes the tax settings of an account.",
        change,
    )
    .params(FIELDS),
];

fn has_a_number(change: &Change) -> Result<(), AdsProblem> {
    let record = &change.record;
    if record.text("tax_category") == "BUSINESS_WITH_VAT" && record.text("tax_id").is_empty() {
        let problem = AdsProblem {
            location: ProblemLocation::Parameter("tax_id".into()),
            ..AdsProblem::new("INCLUSIVE_PARAMETERS", "BUSINESS_WITH_VAT needs tax_id")
        };
        return Err(problem);
    }
    Ok(())
}

fn has_a_client(change: &Change) -> Result<(), AdsProblem> {
    let record = &change.record;
    if record.text("business_relationship") == "AGENCY" {
        return Ok(());
    }
    let client = FIELDS.iter().map(|field| field.name.post);
    let client = client.filter(|name| name.starts_with("client_"));
    match client
        .into_iter()
        .find(|name| change.sent(name) && record.get(name).is_some())
    {
        Some(name) => Err(AdsProblem::invalid_attribute(
            name,
            "Only an agency has a client",
        )),
        None => Ok(()),
    }
}

fn show(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let record = settings(desk)?;
    Ok(spoken(desk, &record))
}

fn change(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let record = settings(desk)?;
    if desk.find(&TAX_SETTINGS, record.id)?.is_none() {
        records::insert(desk.tx, TAX_SETTINGS.name, &record.to_store())?;
    }
    let record = update(desk, &TAX_SETTINGS, record.id, given)?;
    Ok(spoken(desk, &record))
}

/// An account's settings; of one that never said anything, what that means.
fn settings(desk: &mut Desk<'_, '_>) -> Result<Record, Error> {
    let id = desk.account_id()?;
    if let Some(found) = desk.find(&TAX_SETTINGS, id)? {
        return Ok(found);
    }
    let mut record = Record::new(&TAX_SETTINGS, id, id, desk.now());
    for field in FIELDS {
        record.set(field.name.post, field.default.value(field.kind));
    }
    Ok(record)
}

fn spoken(desk: &Desk<'_, '_>, record: &Record) -> Answer {
    let mut members = record.spoken(desk.caller.speech);
    if record.text("business_relationship") != "AGENCY" {
        members.retain(|name, _| !name.starts_with("client_"));
    }
    Answer::one(&Value::Object(members))
}
