//! Recommendations: what of an account's advertising could do better, as changes to make.

use base::{Error, Vocabulary, VocabularyWord};
use serde_json::Value;
use store::records;

use crate::access::Who;
use crate::answer::Answer;
use crate::declare::{Custom, Field, Resource};
use crate::desk::Desk;
use crate::engine::{checked, show_all, show_one};
use crate::given::Given;
use crate::kind::{Ids, Kind};
use crate::record::Record;
use crate::resources::accounts::{self, ACCOUNT};
use crate::resources::funding_instruments::FUNDING_INSTRUMENT;
use crate::resources::servability::untouched;

/// What could do better of what a funding instrument pays for. One at a time is open.
pub static RECOMMENDATION: Resource = Resource {
    name: "recommendation",
    id: VocabularyWord::same_in_both("recommendation_id"),
    ids: Ids::Twelve,
    path: "recommendations",
    about: "recommendation",
    fields: &[
        Field::reference("funding_instrument_id", &FUNDING_INSTRUMENT).kept(),
        Field::one_of("status", &["PENDING", "APPLIED", "EXPIRED", "DISMISSED"]).kept(),
        Field::text("message", 1, 255).kept(),
        Field::text("subject", 1, 64).kept().hidden(),
        Field::new("changes", Kind::Shape(untouched))
            .kept()
            .hidden(),
        // An operator turned it down.
        Field::new("refused", Kind::Bool)
            .kept()
            .hidden()
            .or_flag(false),
    ],
    verbs: &[],
    shows_deleted: false,
    computed: Some(|_, records| Ok(records.iter().map(account).collect())),
    ..Resource::DEFAULT
};

const ID: Field = Field::reference("recommendation_id", &RECOMMENDATION).required();
const ONE: &str = "recommendations/{recommendation_id}";

/// What can be done with them, in either version.
pub static OPERATIONS: &[Custom] = &[
    Custom::get(
        "getAdsRecommendations",
        "recommendations",
        "Recommendations for an account that are open: at most one for each funding instrument.",
        list,
    )
    .version("5")
    .who(Who::CampaignReader),
    Custom::get(
        "getAdsRecommendation",
        ONE,
        "A recommendation, as a tree of changes.",
        one,
    )
    .version("5")
    .who(Who::CampaignReader)
    .params(&[ID]),
    Custom::get(
        "getAdsRecommendationsOfTwelve",
        "recommendations",
        "The same as in version 5.",
        list,
    )
    .who(Who::CampaignReader),
    Custom::get(
        "getAdsRecommendationOfTwelve",
        ONE,
        "The same as in version 5.",
        one,
    )
    .who(Who::CampaignReader)
    .params(&[ID]),
];

fn list(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    accounts::allows(desk, "RECOMMENDATIONS")?;
    let account = desk.account_id()?;
    let mut open = Vec::new();
    for row in records::list_by_account(desk.tx, FUNDING_INSTRUMENT.name, account)? {
        let said = desk.shown(&RECOMMENDATION, "funding_instrument_id", row.id)?;
        open.extend(
            said.into_iter()
                .filter(|one| one.text("status") == "PENDING"),
        );
    }
    let count = open.len();
    let answer = Answer::raw(show_all(desk, &open)?).last_page();
    Ok(answer.total(count))
}

fn one(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    accounts::allows(desk, "RECOMMENDATIONS")?;
    let id = given.int("recommendation_id").unwrap_or(-1);
    let record = desk.need(&RECOMMENDATION, id)?;
    let mut shown: Value = serde_json::from_str(&show_one(desk, &record)?).unwrap_or_default();
    if let Some(members) = shown.as_object_mut() {
        let changes = record.get("changes").cloned().unwrap_or_default();
        members.insert("changes".to_owned(), spoken(changes, desk.caller.speech));
    }
    let mut answer = Answer::one(&shown);
    answer.data_type = "recommendations";
    Ok(answer)
}

/// A tree in the words of a vocabulary.
fn spoken(changes: Value, speech: Vocabulary) -> Value {
    if speech == Vocabulary::Post {
        return changes;
    }
    let mut text = changes.to_string();
    for (post, tweet) in [
        ("\"promoted_posts\"", "\"promoted_tweets\""),
        ("\"promoted_post_id\":", "\"promoted_tweet_id\":"),
        ("\"post_ids\":", "\"tweet_ids\":"),
    ] {
        text = text.replace(post, tweet);
    }
    serde_json::from_str(&text).unwrap_or(changes)
}

fn account(record: &Record) -> Vec<(&'static str, Value)> {
    let written = ACCOUNT.ids.write(record.account_id);
    vec![("account_id", written.into())]
}
