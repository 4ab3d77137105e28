//! Users whose posts an account may promote.

use std::collections::HashMap;

use ads_engine::{
    AccountContext, AdsRecord, FieldSpec, Kind, ListFilter, ParsedParams, Resource, ResourceVerb, engine,
};
use base::{Error, UserId, VocabularyWord};
use serde_json::Value;
use store::Tx;

/// The account's own user, or another user who agreed to being reposted.
pub static PROMOTABLE_USER: Resource = Resource {
    name: "promotable_user",
    id: VocabularyWord::same_in_both("promotable_user_id"),
    path: "promotable_users",
    label: "promotable user",
    not_found: "PROMOTABLE_USER_NOT_FOUND",
    fields: &[
        FieldSpec::new("user_id", Kind::ID).immutable(),
        FieldSpec::new("promotable_user_type", Kind::word(USER_TYPES)).immutable(),
    ],
    filters: &[ListFilter::ids("promotable_user_ids", "id", &PROMOTABLE_USER)],
    verbs: &[ResourceVerb::List, ResourceVerb::Get],
    ..Resource::DEFAULT
};

const USER_TYPES: &[VocabularyWord] =
    &[VocabularyWord::same_in_both("FULL"), VocabularyWord::new("REPOSTS_ONLY", "RETWEETS_ONLY")];

/// Adds a promotable user. Operators do so with the user's consent.
pub fn add(ctx: &mut AccountContext<'_, '_>, user: UserId, kind: &str) -> Result<AdsRecord, Error> {
    if let Some(known) = find_by_user(ctx, user)? {
        return Ok(known);
    }
    let mut params = ParsedParams::default();
    params.insert("user_id", user.get().into());
    params.insert("promotable_user_type", Value::from(kind));
    engine::create(ctx, &PROMOTABLE_USER, &params)
}

pub fn list_all(ctx: &mut AccountContext<'_, '_>) -> Result<Vec<AdsRecord>, Error> {
    let account = ctx.account_id()?;
    let rows = store::records::list_by_account(ctx.tx, PROMOTABLE_USER.name, account)?;
    Ok(AdsRecord::from_rows(&PROMOTABLE_USER, rows)?)
}

pub fn find_by_user(ctx: &mut AccountContext<'_, '_>, user: UserId) -> Result<Option<AdsRecord>, Error> {
    let all = list_all(ctx)?;
    Ok(all.into_iter().find(|one| one.int("user_id") == Some(user.get())))
}

pub fn find_own_user(ctx: &mut AccountContext<'_, '_>) -> Result<Option<UserId>, Error> {
    let account = ctx.account_id()?;
    Ok(find_own_users(ctx.tx, &[account])?.remove(&account))
}

/// Each account's own user; accounts without one are omitted.
pub fn find_own_users(tx: &mut Tx<'_>, accounts: &[i64]) -> Result<HashMap<i64, UserId>, Error> {
    let rows = store::records::list_by_accounts(tx, PROMOTABLE_USER.name, accounts)?;
    let mut all = AdsRecord::from_rows(&PROMOTABLE_USER, rows)?;
    all.retain(|one| one.text("promotable_user_type") == "FULL");
    // Of several, the oldest.
    all.sort_unstable_by_key(|one| std::cmp::Reverse(one.id));
    let own = all.iter().filter_map(|one| Some((one.account_id, UserId::new(one.int("user_id")?))));
    Ok(own.collect())
}
