//! Users whose posts an account may promote.

use base::{Error, UserId, VocabularyWord};
use serde_json::Value;

use crate::declare::{Field, Filter, Resource, Verb};
use crate::desk::Desk;
use crate::engine;
use crate::given::Given;
use crate::kind::Kind;
use crate::record::Record;

/// A user whose posts an account may promote: its own, or others who agreed to being reposted.
pub static PROMOTABLE_USER: Resource = Resource {
    name: "promotable_user",
    id: VocabularyWord::same_in_both("promotable_user_id"),
    path: "promotable_users",
    about: "promotable user",
    not_found: "PROMOTABLE_USER_NOT_FOUND",
    fields: &[
        Field::new("user_id", Kind::User).fixed(),
        Field::new("promotable_user_type", Kind::Word(TYPES)).fixed(),
    ],
    filters: &[Filter::ids("promotable_user_ids", "id", &PROMOTABLE_USER)],
    verbs: &[Verb::List, Verb::Get],
    ..Resource::DEFAULT
};

const TYPES: &[VocabularyWord] = &[
    VocabularyWord::same_in_both("FULL"),
    VocabularyWord::new("REPOSTS_ONLY", "RETWEETS_ONLY"),
];

/// Adds one: what an operator does after that user's consent.
pub fn add(desk: &mut Desk<'_, '_>, user: UserId, kind: &str) -> Result<Record, Error> {
    if let Some(known) = of_user(desk, user)? {
        return Ok(known);
    }
    let mut given = Given::default();
    given.put("user_id", user.get().into());
    given.put("promotable_user_type", Value::from(kind));
    engine::create(desk, &PROMOTABLE_USER, &given)
}

/// All of the account; there are few.
pub fn all(desk: &mut Desk<'_, '_>) -> Result<Vec<Record>, Error> {
    let account = desk.account_id()?;
    let rows = store::records::list_by_account(desk.tx, PROMOTABLE_USER.name, account)?;
    let all: Result<Vec<Record>, _> = rows
        .iter()
        .map(|row| Record::stored(&PROMOTABLE_USER, row))
        .collect();
    Ok(all?)
}

/// A user as a promotable one of the account.
pub fn of_user(desk: &mut Desk<'_, '_>, user: UserId) -> Result<Option<Record>, Error> {
    let all = all(desk)?;
    Ok(all
        .into_iter()
        .find(|one| one.int("user_id") == Some(user.get())))
}

/// The account's own user.
pub fn full(desk: &mut Desk<'_, '_>) -> Result<Option<UserId>, Error> {
    let all = all(desk)?;
    let full = all
        .into_iter()
        .find(|one| one.text("promotable_user_type") == "FULL");
    Ok(full.and_then(|one| one.int("user_id")).map(UserId::new))
}
