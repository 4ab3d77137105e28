//! Promoted accounts: users whom a line item recommends to follow.

use base::refusal::AdsProblem;
use base::{Error, UserId, VocabularyWord};
use store::users::UserState;

use crate::change::Change;
use crate::declare::{Field, Filter, Resource, Rule, Verb};
use crate::desk::Desk;
use crate::given::Given;
use crate::kind::Kind;
use crate::record::Record;
use crate::resources::line_items::{LINE_ITEM, count_creatives, sells};
use crate::resources::promotable_users;

/// A user whom a line item recommends.
pub static PROMOTED_ACCOUNT: Resource = Resource {
    name: "promoted_account",
    id: VocabularyWord::same_in_both("promoted_account_id"),
    path: "promoted_accounts",
    about: "promoted account",
    not_found: "PROMOTED_ACCOUNT_NOT_FOUND",
    fields: &[
        Field::parent("line_item_id", &LINE_ITEM).required(),
        Field::new("user_id", Kind::User).required().fixed(),
        Field::one_of("entity_status", &["ACTIVE"])
            .kept()
            .or("ACTIVE"),
        Field::one_of("approval_status", &["ACCEPTED", "UNDER_REVIEW", "REJECTED"])
            .kept()
            .or("ACCEPTED"),
    ],
    filters: &[
        Filter::ids("line_item_ids", "line_item_id", &LINE_ITEM),
        Filter::ids("promoted_account_ids", "id", &PROMOTED_ACCOUNT),
    ],
    verbs: &[Verb::List, Verb::Get, Verb::Create, Verb::Delete],
    rules: &[
        Rule::Beside("line_item_id", sells_accounts),
        Rule::Within(is_eligible),
    ],
    history: "PROMOTED_ACCOUNT",
    looks: Some(some_line_item_sells_accounts),
    twin: Some(twin),
    after: Some(after),
    ..Resource::DEFAULT
};

fn sells_accounts(_: &Change, item: &Record) -> Result<(), AdsProblem> {
    sells(item, &["PROMOTED_ACCOUNT"], "promoted accounts")
}

/// The account's own user, if others may follow it.
fn is_eligible(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    if change.verb == Verb::Delete {
        return Ok(());
    }
    let user = UserId::new(change.record.int("user_id").unwrap_or(0));
    let own = promotable_users::full(desk)? == Some(user);
    let found = store::users::find_by_id(desk.tx, user)?;
    let open = found.is_some_and(|user| user.state == UserState::Active && !user.protected);
    if own && open {
        return Ok(());
    }
    let message = format!("The user {user} cannot be promoted by this account");
    Err(AdsProblem::invalid_attribute("user_id", message)
        .with_code("INVALID_USER_ID")
        .into())
}

fn some_line_item_sells_accounts(desk: &mut Desk<'_, '_>, given: &Given) -> Result<(), Error> {
    if !given.has("line_item_ids") {
        return Ok(());
    }
    for id in given.ints("line_item_ids") {
        let item = desk.find(&LINE_ITEM, id)?;
        if item.is_some_and(|item| item.text("product_type") == "PROMOTED_ACCOUNT") {
            return Ok(());
        }
    }
    let message = "None of these line items takes promoted accounts";
    Err(AdsProblem::invalid_parameter("line_item_ids", "", message)
        .with_code("INCOMPATIBLE_LINE_ITEM")
        .into())
}

fn twin(desk: &mut Desk<'_, '_>, record: &Record) -> Result<Option<Record>, Error> {
    let item = record.int("line_item_id").unwrap_or(0);
    let all = desk.with(&PROMOTED_ACCOUNT, "line_item_id", item)?;
    let same = |other: &Record| other.get("user_id") == record.get("user_id");
    Ok(all.into_iter().find(same))
}

fn after(desk: &mut Desk<'_, '_>, change: &Change) -> Result<(), Error> {
    count_creatives(desk, change.record.int("line_item_id").unwrap_or(0))
}
