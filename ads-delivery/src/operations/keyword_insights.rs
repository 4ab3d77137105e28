//! Keyword insights: how often keywords are used, and which terms occur with them (contract ads
//! §8.1).

use crate::evaluator::Evaluator;
use ads::gazetteer::find_country;
use ads::option_catalog;
use ads_engine::engine::ensure_valid_params;
use ads_engine::{
    AccountContext, AdsRateClass, CustomOperation, FieldSpec, Kind, OperationOutput, ParsedParams, RequiredRole,
};
use base::refusal::AdsProblem;
use base::time::{DAY_MS, HOUR_MS};
use base::{Error, Refusal, Time};
use post_search::insights::{self, InsightsCountry, InsightsQuery};
use post_search::keywords::is_valid_keyword;
use serde_json::json;

/// Includes negative keywords.
const MAX_KEYWORDS: usize = 10;
const MAX_WINDOW_MS: i64 = 7 * DAY_MS;

pub(super) static OPERATIONS: &[CustomOperation] =
    &[CustomOperation::get("searchAdsKeywordInsights", "/insights/keywords/search", search_keyword_insights)
        .summary("How many posts contain keywords, and which terms occur with them.")
        .requires_role(RequiredRole::Anyone)
        .rate_limited(AdsRateClass::KeywordInsights)
        .uses_search()
        .params(&[
            FieldSpec::one_of("granularity", &["DAY", "HOUR"]).required(),
            FieldSpec::new("keywords", Kind::text(1, 255).list(1, MAX_KEYWORDS)).required(),
            FieldSpec::new("start_time", Kind::TIME).required(),
            FieldSpec::new("end_time", Kind::TIME),
            FieldSpec::text("location", 1, 64),
            FieldSpec::new("negative_keywords", Kind::text(1, 255).list(1, MAX_KEYWORDS)),
        ])];

fn search_keyword_insights(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let mut problems = params.problems.clone();
    problems.extend(check_keywords(params));
    let since = Time::from_ms(params.int("start_time").unwrap_or(0));
    let until = params.int("end_time").map_or(ctx.now(), Time::from_ms);
    if params.has("start_time") && !is_valid_window(since, until, ctx.now()) {
        problems.push(AdsProblem {
            code: "INVALID_TIME_WINDOW",
            ..AdsProblem::invalid_parameter(
                "start_time",
                ads_engine::field_kind::format_time(since),
                "The time must begin before now and before its end, and last seven days at most",
            )
        });
    }
    if !problems.is_empty() {
        return Err(Refusal::from(problems).into());
    }
    ensure_valid_params(params)?;
    let country = match params.text("location") {
        Some(id) => Some(resolve_country(ctx, id)?),
        None => None,
    };
    let query = InsightsQuery {
        keywords: params.texts("keywords"),
        negatives: params.texts("negative_keywords"),
        since,
        until: until.min(ctx.now()),
        country,
        blocked: option_catalog::list_blocked_keywords(ctx.tx)?,
    };
    let step_ms = match params.text("granularity") {
        Some("HOUR") => HOUR_MS,
        _ => DAY_MS,
    };
    let evaluator = Evaluator::from_context(ctx)?;
    let index = evaluator.search_index()?;
    let volume = insights::count_volume(ctx.tx, &*index, &query, step_ms)?;
    let related = evaluator.insights.find_related_keywords(ctx.tx, &*index, &query)?;
    Ok(OperationOutput::from_value(json!({
        "related_keywords": *related,
        "post_volume": volume,
        "tweet_volume": volume,
    })))
}

fn is_valid_window(since: Time, until: Time, now: Time) -> bool {
    since < until && since < now && until.ms() - since.ms() <= MAX_WINDOW_MS
}

fn check_keywords(params: &ParsedParams) -> Option<AdsProblem> {
    let names = ["keywords", "negative_keywords"];
    for name in names {
        if let Some(empty) = params.texts(name).into_iter().find(|text| !is_valid_keyword(text)) {
            let message = format!("\"{empty}\" contains no word, for {name}");
            return Some(AdsProblem::invalid_parameter(name, empty, message));
        }
    }
    let count: usize = names.iter().map(|name| params.texts(name).len()).sum();
    (count > MAX_KEYWORDS).then(|| {
        let message = format!("At most {MAX_KEYWORDS} keywords and negative keywords together, got {count}");
        AdsProblem::invalid_parameter("keywords", count.to_string(), message)
    })
}

fn resolve_country(ctx: &mut AccountContext<'_, '_>, id: &str) -> Result<InsightsCountry, Error> {
    let spot = find_country(ctx, "location", id)?;
    let evaluator = Evaluator::from_context(ctx)?;
    Ok(InsightsCountry { code: spot.country.to_owned(), residents: evaluator.users_in_country(ctx.tx, &spot.id)? })
}
