//! Publishers: users whose videos may carry ads, by decision of the operator.

use std::collections::BTreeMap;

use ads_engine::engine::ensure_valid_params;
use ads_engine::{
    AccountContext, AdsRateClass, AdsRecord, CustomOperation, FieldSpec, IdFormat, Kind, OperationOutput, ParsedParams,
    RequiredRole, Resource, SHARED_ACCOUNT_ID,
};
use base::id::first_snowflake_at;
use base::{Error, Fault, UserId, VocabularyWord};
use serde_json::{Value, json};
use store::records;
use store::users::User;
use store::{Tx, ledger, posts};

use crate::gazetteer::CountryCode;

/// How long a video counts.
const COUNTING_WINDOW_MS: i64 = 30 * 24 * 3_600_000;

/// A shared record with the user's id.
pub static PUBLISHER: Resource = Resource {
    name: "publisher",
    id: VocabularyWord::same_in_both("publisher_id"),
    path: "publishers",
    label: "publisher",
    id_format: IdFormat::Long,
    fields: &[
        FieldSpec::new("content_category_ids", Kind::text(1, 2).list(1, 15)),
        FieldSpec::new("monetizable_country_codes", Kind::custom(&CountryCode).list(1, 200)),
        FieldSpec::new("promotion_eligible_country_codes", Kind::custom(&CountryCode).list(1, 200)),
        FieldSpec::new("monetization_restricted", Kind::BOOL).default_flag(false),
    ],
    verbs: &[],
    ..Resource::DEFAULT
};

pub static OPERATIONS: &[CustomOperation] = &[CustomOperation::get("getAdsPublishers", "/publishers", list_publishers)
    .summary("Publishers of categories of content.")
    .requires_role(RequiredRole::Anyone)
    .rate_limited(AdsRateClass::Low)];

fn list_publishers(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let mut rows = Vec::new();
    for publisher in list_all(ctx.tx)? {
        if let Some(user) = find_public_user(ctx.tx, publisher.id)? {
            rows.push(render_publisher(&publisher, &user));
        }
    }
    Ok(OperationOutput::from_value(rows.into()).as_last_page())
}

pub fn render_publisher(publisher: &AdsRecord, user: &User) -> Value {
    json!({
        "user_id": user.id.to_string(),
        "username": user.username,
        "content_category_ids": publisher.texts("content_category_ids"),
        "monetizable_country_codes": publisher.texts("monetizable_country_codes"),
        "promotion_eligible_country_codes": publisher.texts("promotion_eligible_country_codes"),
        "monetization_restricted": publisher.flag("monetization_restricted"),
    })
}

/// All publishers, including suspended users.
pub fn list_all(tx: &mut Tx<'_>) -> Result<Vec<AdsRecord>, Fault> {
    let rows = records::list_by_account(tx, PUBLISHER.name, SHARED_ACCOUNT_ID)?;
    AdsRecord::from_rows(&PUBLISHER, rows)
}

pub fn find_by_user(tx: &mut Tx<'_>, user: UserId) -> Result<Option<AdsRecord>, Fault> {
    AdsRecord::find(tx, &PUBLISHER, user.get())
}

/// The user behind a publisher, if the account is public.
fn find_public_user(tx: &mut Tx<'_>, id: i64) -> Result<Option<User>, Fault> {
    let user = store::users::find_by_id(tx, UserId::new(id))?;
    Ok(user.filter(User::is_public))
}

/// Videos of a publisher in the last thirty days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VideoCounts {
    pub posted: i64,
    /// Videos with ads in that time, or all if the configuration counts videos at once.
    pub monetized: i64,
}

/// Counts the videos of publishers in the last thirty days. Publishers without ads have none.
pub fn count_videos(
    ctx: &mut AccountContext<'_, '_>,
    publishers: impl IntoIterator<Item = i64>,
) -> Result<BTreeMap<i64, VideoCounts>, Fault> {
    let counts_posts = ctx.config.count_videos_immediately;
    let tx = &mut *ctx.tx;
    let since = tx.now().plus_ms(-COUNTING_WINDOW_MS);
    let mut counts = BTreeMap::new();
    for id in publishers {
        if counts.contains_key(&id) {
            continue;
        }
        let known = find_by_user(tx, UserId::new(id))?;
        let sells = known.is_some_and(|one| !one.flag("monetization_restricted"));
        let mut count = VideoCounts::default();
        if sells && find_public_user(tx, id)?.is_some() {
            let author = UserId::new(id);
            count.posted = posts::count_videos_since(tx, author, first_snowflake_at(since))?;
            count.monetized =
                if counts_posts { count.posted } else { ledger::count_videos_with_ads(tx, author, since)? };
        }
        counts.insert(id, count);
    }
    Ok(counts)
}

/// For each content category: publishers with a video in the last thirty days, and the number of their
/// monetized videos.
pub fn count_by_category(ctx: &mut AccountContext<'_, '_>) -> Result<BTreeMap<String, (i64, i64)>, Fault> {
    let all = list_all(ctx.tx)?;
    let videos = count_videos(ctx, all.iter().map(|one| one.id))?;
    let mut sums = BTreeMap::new();
    for publisher in &all {
        let count = videos.get(&publisher.id).copied().unwrap_or_default();
        if count == VideoCounts::default() {
            continue;
        }
        for category in publisher.texts("content_category_ids") {
            let (publishers, shown) = sums.entry(category.to_owned()).or_insert((0_i64, 0_i64));
            *publishers = publishers.saturating_add(i64::from(count.posted > 0));
            *shown = shown.saturating_add(count.monetized);
        }
    }
    Ok(sums)
}
