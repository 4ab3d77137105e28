//! How much is written with keywords, and what comes with them (contract §8.1).

use base::refusal::AdsProblem;
use base::{Error, Refusal, Time};
use network::insights::{self, InsightsCountry, InsightsQuery};
use network::keywords::is_valid_keyword;
use serde_json::json;

use crate::access::Who;
use crate::answer::Answer;
use crate::choices;
use crate::declare::{Custom, Field, Often};
use crate::desk::Desk;
use crate::engine::checked;
use crate::gazetteer::gazetteer;
use crate::given::Given;
use crate::kind::Kind;

/// Keywords and negative ones together.
const MOST: usize = 10;
const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// The longest time that may be asked about.
const LONGEST_MS: i64 = 7 * DAY_MS;

/// The insights.
pub static OPERATIONS: &[Custom] = &[Custom::get(
    "searchAdsKeywordInsights",
    "/insights/keywords/search",
    "How many posts hold keywords, and which terms come with them.",
    search,
)
.who(Who::Anyone)
.often(Often::Insights)
.searching()
.params(&[
    Field::one_of("granularity", &["DAY", "HOUR"]).required(),
    Field::new("keywords", Kind::Texts(MOST, 255)).required(),
    Field::new("start_time", Kind::Time).required(),
    Field::new("end_time", Kind::Time),
    Field::text("location", 1, 64),
    Field::new("negative_keywords", Kind::Texts(MOST, 255)),
])];

fn search(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    let mut problems = given.problems.clone();
    problems.extend(unsound(given));
    let since = Time::from_ms(given.int("start_time").unwrap_or(0));
    let until = given.int("end_time").map_or(desk.now(), Time::from_ms);
    if given.has("start_time") && !is_sound_window(since, until, desk.now()) {
        problems.push(AdsProblem {
            code: "INVALID_TIME_WINDOW",
            ..AdsProblem::invalid_parameter(
                "start_time",
                crate::kind::instant(since),
                "The time must begin before now and before its end, and last seven days at most",
            )
        });
    }
    if !problems.is_empty() {
        return Err(Refusal::from(problems).into());
    }
    checked(given)?;
    let country = match given.text("location") {
        Some(id) => Some(country(desk, id)?),
        None => None,
    };
    let wanted = InsightsQuery {
        keywords: given.texts("keywords"),
        negatives: given.texts("negative_keywords"),
        since,
        until: until.min(desk.now()),
        country,
        blocked: choices::blocked(desk.tx)?,
    };
    let step_ms = match given.text("granularity") {
        Some("HOUR") => HOUR_MS,
        _ => DAY_MS,
    };
    let evaluator = desk.evaluator()?;
    let snapshot = evaluator.search()?.snapshot();
    let volume = insights::count_volume(desk.tx, &snapshot, &wanted, step_ms)?;
    let related = evaluator
        .insights
        .find_related_keywords(desk.tx, &snapshot, &wanted)?;
    Ok(Answer::one(&json!({
        "related_keywords": *related,
        "post_volume": volume,
        "tweet_volume": volume,
    })))
}

fn is_sound_window(since: Time, until: Time, now: Time) -> bool {
    since < until && since < now && until.ms() - since.ms() <= LONGEST_MS
}

/// What is wrong with the keywords.
fn unsound(given: &Given) -> Option<AdsProblem> {
    let names = ["keywords", "negative_keywords"];
    for name in names {
        if let Some(empty) = given
            .texts(name)
            .into_iter()
            .find(|text| !is_valid_keyword(text))
        {
            let message = format!("\"{empty}\" holds no word, for {name}");
            return Some(AdsProblem::invalid_parameter(name, empty, message));
        }
    }
    let count: usize = names.iter().map(|name| given.texts(name).len()).sum();
    (count > MOST).then(|| {
        let message =
            format!("At most {MOST} keywords and negative keywords together, got {count}");
        AdsProblem::invalid_parameter("keywords", count.to_string(), message)
    })
}

/// The country that a place is.
fn country(desk: &mut Desk<'_, '_>, id: &str) -> Result<InsightsCountry, Error> {
    let built_in = gazetteer().by_id(id);
    let code = if let Some(spot) = built_in {
        Some(spot.country).filter(|_| spot.kind == "COUNTRIES")
    } else {
        let added = network::places::find_by_text_id(desk.tx, id)?;
        let added = added.filter(|place| place.kind == "country");
        added.and_then(|place| Some(gazetteer().country(&place.country_code)?.country))
    };
    let Some(spot) = code.and_then(|code| gazetteer().country(code)) else {
        let message = format!("\"{id}\" is not the id of a country, for location");
        return Err(AdsProblem::invalid_parameter("location", id, message).into());
    };
    let evaluator = desk.evaluator()?;
    Ok(InsightsCountry {
        code: spot.country.to_owned(),
        residents: evaluator.people_of(desk.tx, &spot.id)?,
    })
}
