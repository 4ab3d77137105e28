//! Publishers: users whom the operator lets advertisements be shown at the videos of.

use std::collections::BTreeMap;

use base::id::first_snowflake_at;
use base::{Error, Fault, UserId, VocabularyWord};
use serde_json::{Value, json};
use store::records;
use store::users::{User, UserState};
use store::{Tx, ledger, posts};

use crate::access::Who;
use crate::answer::Answer;
use crate::declare::{Custom, Field, Often, Resource};
use crate::desk::{Desk, EVERYONE};
use crate::engine::checked;
use crate::given::Given;
use crate::kind::{Ids, Kind};
use crate::record::Record;

/// How long a video counts.
const COUNTED_MS: i64 = 30 * 24 * 3_600_000;

/// A user as a publisher; it has the user's id, and belongs to no account.
pub static PUBLISHER: Resource = Resource {
    name: "publisher",
    id: VocabularyWord::same_in_both("publisher_id"),
    path: "publishers",
    about: "publisher",
    ids: Ids::Long,
    fields: &[
        Field::new("content_category_ids", Kind::Texts(15, 2)),
        Field::new("monetizable_country_codes", Kind::Texts(200, 2)),
        Field::new("promotion_eligible_country_codes", Kind::Texts(200, 2)),
        Field::new("monetization_restricted", Kind::Bool).or_flag(false),
    ],
    verbs: &[],
    ..Resource::DEFAULT
};

/// The list of them.
pub static OPERATIONS: &[Custom] = &[Custom::get(
    "getAdsPublishers",
    "/publishers",
    "Publishers of categories of content.",
    list,
)
.who(Who::Anyone)
.often(Often::Rarely)];

fn list(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let mut rows = Vec::new();
    for publisher in all(desk.tx)? {
        if let Some(user) = open(desk.tx, publisher.id)? {
            rows.push(spoken(&publisher, &user));
        }
    }
    Ok(Answer::one(&rows.into()).last_page())
}

/// A publisher as it is shown.
pub fn spoken(publisher: &Record, user: &User) -> Value {
    json!({
        "user_id": user.id.to_string(),
        "username": user.username,
        "content_category_ids": publisher.texts("content_category_ids"),
        "monetizable_country_codes": publisher.texts("monetizable_country_codes"),
        "promotion_eligible_country_codes": publisher.texts("promotion_eligible_country_codes"),
        "monetization_restricted": publisher.flag("monetization_restricted"),
    })
}

/// All publishers, those of users included who are away.
pub fn all(tx: &mut Tx<'_>) -> Result<Vec<Record>, Fault> {
    let rows = records::list_by_account(tx, PUBLISHER.name, EVERYONE)?;
    rows.iter()
        .map(|row| Record::stored(&PUBLISHER, row))
        .collect()
}

/// A user as a publisher.
pub fn of_user(tx: &mut Tx<'_>, user: UserId) -> Result<Option<Record>, Fault> {
    let row = records::find_by_id(tx, PUBLISHER.name, user.get())?;
    row.map(|row| Record::stored(&PUBLISHER, &row)).transpose()
}

/// The user behind a publisher, if everybody may see what they post.
fn open(tx: &mut Tx<'_>, id: i64) -> Result<Option<User>, Fault> {
    let user = store::users::find_by_id(tx, UserId::new(id))?;
    Ok(user.filter(|user| user.state == UserState::Active && !user.protected))
}

/// How many videos of the last thirty days a publisher has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Videos {
    /// Posted within that time.
    pub posted: i64,
    /// Those that something was shown before within that time, or what the operator lets count as
    /// them.
    pub monetized: i64,
}

/// The videos of some publishers of the last thirty days, by publisher. Those that show no
/// advertisements have none.
pub fn videos(
    desk: &mut Desk<'_, '_>,
    publishers: impl IntoIterator<Item = i64>,
) -> Result<BTreeMap<i64, Videos>, Fault> {
    let counts_posts = desk.house.counts_posts;
    let tx = &mut *desk.tx;
    let since = tx.now().plus_ms(-COUNTED_MS);
    let mut counts = BTreeMap::new();
    for id in publishers {
        if counts.contains_key(&id) {
            continue;
        }
        let known = of_user(tx, UserId::new(id))?;
        let sells = known.is_some_and(|one| !one.flag("monetization_restricted"));
        let mut count = Videos::default();
        if sells && open(tx, id)?.is_some() {
            let author = UserId::new(id);
            count.posted = posts::count_videos_since(tx, author, first_snowflake_at(since))?;
            count.monetized = if counts_posts {
                count.posted
            } else {
                ledger::count_videos_with_ads(tx, author, since)?
            };
        }
        counts.insert(id, count);
    }
    Ok(counts)
}

/// Of each category of content: how many publishers showed a video in the last thirty days, and
/// how many of their videos something was shown before.
pub fn by_category(desk: &mut Desk<'_, '_>) -> Result<BTreeMap<String, (i64, i64)>, Fault> {
    let all = all(desk.tx)?;
    let videos = videos(desk, all.iter().map(|one| one.id))?;
    let mut sums = BTreeMap::new();
    for publisher in &all {
        let count = videos.get(&publisher.id).copied().unwrap_or_default();
        if count == Videos::default() {
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
