//! People whom an account's advertisements do not reach, whatever they target: one list for an
//! account, of digests of addresses and phone numbers (contract §4.14).

use base::refusal::AdsProblem;
use base::{Error, VocabularyWord};
use serde_json::json;
use store::ads::audiences;
use store::{Tx, records};

use crate::access::Who;
use crate::answer::Answer;
use crate::change::Change;
use crate::declare::{Custom, Field, Often, Resource, Rule, Verb};
use crate::desk::Desk;
use crate::given::Given;
use crate::kind::Kind;
use crate::record::Record;
use crate::resources::accounts::ACCOUNT;
use crate::resources::audience_users::{self, Takes};
use crate::resources::custom_audiences::reasons;

/// The list. Its members are kept and matched as those of audiences are, so both count their ids
/// together.
pub static DO_NOT_REACH_LIST: Resource = Resource {
    name: "do_not_reach_list",
    id: VocabularyWord::same_in_both("do_not_reach_list_id"),
    path: "do_not_reach_lists",
    about: "do-not-reach list",
    sequence: "custom_audience",
    fields: &[
        Field::text("name", 1, 255).kept().or("Do Not Reach List"),
        Field::text("description", 1, 1000).fixed(),
        Field::new("list_size", Kind::Int(0, i64::MAX)).kept(),
        Field::new("targetable", Kind::Bool).kept().or_flag(false),
        Field::new("processed", Kind::Bool)
            .kept()
            .hidden()
            .or_flag(false),
        // When its size is worked out anew.
        Field::new("due_at", Kind::Time).kept().hidden(),
    ],
    verbs: &[Verb::List, Verb::Create, Verb::Delete],
    rules: &[Rule::Within(is_the_only_one)],
    computed: Some(|_, lists| Ok(lists.iter().map(|list| vec![reasons(list)]).collect())),
    after: Some(after),
    ..Resource::DEFAULT
};

/// What is done with it beside that.
pub static OPERATIONS: &[Custom] = &[Custom::change(
    "POST",
    "changeAdsDoNotReachUsers",
    "/batch/accounts/{account_id}/do_not_reach_lists/{do_not_reach_list_id}/users",
    "Adds and removes people whom advertisements do not reach: all of them or none.",
    change,
)
.who(Who::CampaignWriter)
.params(&[Field::reference("do_not_reach_list_id", &DO_NOT_REACH_LIST).required()])
.json()
.often(Often::Account(1500))
.body(audience_users::BYTES)];

fn is_the_only_one(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    let account = desk.account_id()?;
    if change.is_new() && list_of(desk.tx, account)?.is_some() {
        let message = "The account has a do-not-reach list already";
        return Err(AdsProblem::invalid_attribute("account_id", message).into());
    }
    Ok(())
}

/// The list of an account.
pub fn list_of(tx: &mut Tx<'_>, account: i64) -> Result<Option<i64>, Error> {
    let lists = records::list_by_account(tx, DO_NOT_REACH_LIST.name, account)?;
    Ok(lists.first().map(|list| list.id))
}

fn after(desk: &mut Desk<'_, '_>, change: &Change) -> Result<(), Error> {
    if change.verb == Verb::Delete {
        audiences::delete(desk.tx, change.record.id)?;
    }
    Ok(())
}

fn change(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    crate::engine::checked(given)?;
    let id = given.int(DO_NOT_REACH_LIST.id.post).unwrap_or(-1);
    let list: Record = desk.need(&DO_NOT_REACH_LIST, id)?;
    let count = audience_users::write(desk, &list, given, Takes::Contacts)?;
    let counts = json!([{ "success_count": count, "total_count": count }]);
    let params = json!({
        "account_id": ACCOUNT.ids.write(list.account_id),
        "do_not_reach_list_id": list.written_id(),
    });
    let mut answer = Answer::one(&counts);
    answer.requests = Some(vec![json!({ "params": params })]);
    Ok(answer)
}
