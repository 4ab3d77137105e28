//! Curated categories: sets of publishers that the operator puts together for some countries.

use base::refusal::AdsProblem;
use base::{Error, Fault, VocabularyWord};
use serde_json::Value;
use store::{Tx, records};

use crate::access::Who;
use crate::answer::Answer;
use crate::declare::{Custom, Field, Need, Resource};
use crate::desk::{Desk, EVERYONE};
use crate::engine::{checked, show_one};
use crate::given::Given;
use crate::kind::{Ids, Kind};
use crate::listing;
use crate::record::Record;
use crate::resources::publishers;

/// A set of publishers; it belongs to no account.
pub static CURATED_CATEGORY: Resource = Resource {
    name: "curated_category",
    id: VocabularyWord::same_in_both("curated_category_id"),
    path: "curated_categories",
    about: "curated category",
    ids: Ids::Twelve,
    fields: &[
        Field::text("name", 1, 255).required(),
        Field::text("description", 0, 1000).or(""),
        Field::new("country_codes", Kind::Texts(200, 2)).required(),
        Field::new("publisher_user_ids", Kind::Longs(1000)).required(),
    ],
    verbs: &[],
    shows_deleted: false,
    computed: Some(computed),
    ..Resource::DEFAULT
};

/// Reading them.
pub static OPERATIONS: &[Custom] = &[
    Custom::get(
        "getAdsCuratedCategories",
        "curated_categories",
        "Curated categories in these countries.",
        list,
    )
    .who(Who::CampaignReader)
    .params(&[
        Field::new("country_codes", Kind::Texts(200, 2)).required(),
        crate::declare::CURSOR,
    ]),
    Custom::get(
        "getAdsCuratedCategory",
        "curated_categories/{id}",
        "A curated category.",
        show,
    )
    .who(Who::CampaignReader)
    .params(&[Field::text("id", 1, 64).required().update(Need::Must)]),
];

fn list(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let asked = countries("country_codes", &given.texts("country_codes"))?;
    let mut found = all(desk.tx)?;
    found.retain(|category| {
        let codes = category.texts("country_codes");
        codes.iter().any(|code| asked.iter().any(|one| one == code))
    });
    let total = found.len();
    let answer = listing::of_records(desk, &CURATED_CATEGORY, given, found)?;
    Ok(answer.total(total))
}

fn show(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let id = CURATED_CATEGORY
        .ids
        .read("id", given.text("id").unwrap_or_default())?;
    let found = find(desk.tx, id)?;
    let missing = || crate::desk::not_found(&CURATED_CATEGORY, "id", id);
    let found = found.ok_or_else(missing)?;
    Ok(Answer::raw(show_one(desk, &found)?))
}

/// All of them that are there.
pub fn all(tx: &mut Tx<'_>) -> Result<Vec<Record>, Fault> {
    let rows = records::list_by_account(tx, CURATED_CATEGORY.name, EVERYONE)?;
    rows.iter()
        .map(|row| Record::stored(&CURATED_CATEGORY, row))
        .collect()
}

/// One that is there.
pub fn find(tx: &mut Tx<'_>, id: i64) -> Result<Option<Record>, Fault> {
    let row = records::find_by_id(tx, CURATED_CATEGORY.name, id)?;
    let row = row.filter(|row| !row.deleted);
    row.map(|row| Record::stored(&CURATED_CATEGORY, &row))
        .transpose()
}

/// Codes of countries in capital letters, each of two.
pub fn countries(name: &'static str, codes: &[String]) -> Result<Vec<String>, AdsProblem> {
    let mut all = Vec::new();
    for code in codes {
        if code.len() != 2 || !code.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            let message = format!("Expected two letters of ISO 3166-1, got \"{code}\" for {name}");
            return Err(AdsProblem::invalid_parameter(name, code, message));
        }
        let code = code.to_ascii_uppercase();
        if !all.contains(&code) {
            all.push(code);
        }
    }
    Ok(all)
}

fn computed(
    desk: &mut Desk<'_, '_>,
    records: &[Record],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let members = |record: &Record| -> Vec<i64> {
        let ids = record.items("publisher_user_ids").iter();
        ids.filter_map(Value::as_i64).collect()
    };
    let videos = publishers::videos(desk, records.iter().flat_map(members))?;
    let rows = records.iter().map(|record| {
        let counts = members(record).into_iter();
        let sum: i64 = counts
            .filter_map(|id| videos.get(&id))
            .map(|videos| videos.monetized)
            .sum();
        vec![("videos_monetized_in_last_thirty_days", sum.into())]
    });
    Ok(rows.collect())
}
