//! Statistics of promoted entities (contract ads §4.15): synchronous, as asynchronous jobs, and
//! reach. All numbers come from the ledger.

mod active_entities;
mod day_range;
pub mod jobs;
mod metrics;
mod reach;
pub mod results;
mod small_segments;
mod stats_query;
mod time_series;

use ads::resources::campaigns::CAMPAIGN;
use ads::resources::funding_instruments::FUNDING_INSTRUMENT;
use ads::resources::line_items::LINE_ITEM;
use ads_engine::{
    AccountContext, AdsRateClass, COUNT, CURSOR, CustomOperation, FeatureGate, FieldSpec, Kind, OperationOutput,
    ParsedParams, RequiredRole,
};
use base::{Error, Fault, Time};
use serde_json::{Value, json};
use store::Tx;
use store::ledger::{self, AdEntity, MetricSums};

pub use day_range::{DayRange, LINE_ITEM_PLACEMENTS};
pub use time_series::age_bucket;

use stats_query::{
    ENTITIES, GRANULARITIES, GROUPS, PLACEMENTS, SEGMENTS, StatsQuery, bucket_bounds, parse_time_window,
};

const ENTITY: FieldSpec = FieldSpec::new("entity", Kind::word(ENTITIES)).required();
const IDS: FieldSpec = FieldSpec::new("entity_ids", Kind::text(1, 20).list(1, 20)).required();
const START: FieldSpec = FieldSpec::text("start_time", 1, 40).required();
const END: FieldSpec = FieldSpec::text("end_time", 1, 40).required();
const GRANULARITY: FieldSpec = FieldSpec::one_of("granularity", GRANULARITIES).required();
const METRICS: FieldSpec = FieldSpec::new("metric_groups", Kind::one_of(GROUPS).list(1, GROUPS.len())).required();
const PLACEMENT: FieldSpec = FieldSpec::one_of("placement", PLACEMENTS).required();

const REACH: FeatureGate = FeatureGate::new("REACH_AND_FREQUENCY_ANALYTICS");

pub static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get("getAdsStats", "/stats/accounts/{account_id}", get_stats)
        .summary("Figures of up to 20 entities and 7 days.")
        .requires_role(RequiredRole::StatsReader)
        .rate_limited(AdsRateClass::Stats)
        .params(&[ENTITY, IDS, START, END, GRANULARITY, METRICS, PLACEMENT]),
    CustomOperation::post("createAdsStatsJob", "/stats/jobs/accounts/{account_id}", jobs::create)
        .summary("Has figures of up to 90 days worked out, as a file.")
        .requires_role(RequiredRole::StatsReader)
        .rate_limited(AdsRateClass::High)
        .params(&[
            ENTITY,
            IDS,
            START,
            END,
            GRANULARITY,
            METRICS,
            PLACEMENT,
            FieldSpec::one_of("segmentation_type", SEGMENTS),
            FieldSpec::text("country", 1, 64),
            FieldSpec::text("platform", 1, 64),
        ]),
    CustomOperation::get("getAdsStatsJobs", "/stats/jobs/accounts/{account_id}", jobs::list)
        .summary("Such jobs, the latest first.")
        .requires_role(RequiredRole::StatsReader)
        .params(&[FieldSpec::new("job_ids", Kind::LONG.list(1, 200)), COUNT, CURSOR]),
    CustomOperation::delete("deleteAdsStatsJob", "/stats/jobs/accounts/{account_id}/{job_id}", jobs::cancel)
        .summary("Calls a job off that is not done yet.")
        .requires_role(RequiredRole::StatsReader)
        .params(&[FieldSpec::new("job_id", Kind::LONG).required()]),
    CustomOperation::get("getAdsActiveEntities", "/stats/accounts/{account_id}/active_entities", active_entities::list)
        .summary("Entities whose figures changed in some hours.")
        .requires_role(RequiredRole::CampaignReader)
        .rate_limited(AdsRateClass::Stats)
        .params(&[
            ENTITY,
            START,
            END,
            FieldSpec::new("campaign_ids", Kind::custom(&CAMPAIGN).list(1, 200)),
            FieldSpec::new("funding_instrument_ids", Kind::custom(&FUNDING_INSTRUMENT).list(1, 200)),
            FieldSpec::new("line_item_ids", Kind::custom(&LINE_ITEM).list(1, 200)),
        ]),
    CustomOperation::get(
        "getAdsReachOfCampaigns",
        "/stats/accounts/{account_id}/reach/campaigns",
        reach::campaign_reach,
    )
    .summary("How many viewers campaigns reached, and how often.")
    .requires_feature(REACH)
    .requires_role(RequiredRole::CampaignReader)
    .rate_limited(AdsRateClass::Stats)
    .params(&[FieldSpec::new("campaign_ids", Kind::custom(&CAMPAIGN).list(1, 20)).required(), START, END]),
    CustomOperation::get(
        "getAdsReachOfFundingInstruments",
        "/stats/accounts/{account_id}/reach/funding_instruments",
        reach::funding_instrument_reach,
    )
    .summary("How many viewers were reached by what an instrument paid for, and how often.")
    .requires_feature(REACH)
    .requires_role(RequiredRole::CampaignReader)
    .rate_limited(AdsRateClass::Stats)
    .params(&[
        FieldSpec::new("funding_instrument_ids", Kind::custom(&FUNDING_INSTRUMENT).list(1, 20)).required(),
        START,
        END,
    ]),
];

const SYNC_MAX_DAYS: i64 = 7;

/// Tells clients that figures include simulated events.
const SIMULATED_HEADER: &str = "x-locum-simulated";

fn mark_simulated(
    ctx: &mut AccountContext<'_, '_>,
    output: &mut OperationOutput,
    span: (Time, Time),
) -> Result<(), Error> {
    let account = ctx.account_id()?;
    if ledger::has_simulated_events(ctx.tx, account, span)? {
        output.headers.push((SIMULATED_HEADER, "true".to_owned()));
    }
    Ok(())
}

fn get_stats(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let ask = StatsQuery::parse(ctx, params, SYNC_MAX_DAYS)?;
    ask.check_metric_groups()?;
    let (length, data) = time_series::load_stats(ctx.tx, &ask)?;
    let mut output = OperationOutput::from_value(data);
    mark_simulated(ctx, &mut output, (ask.from, ask.to))?;
    output.data_type = "stats";
    output.extra_members = vec![("time_series_length", length.into())];
    output.echo_params = ask.echo_params();
    Ok(output)
}

/// The intervals between `start_time` and `end_time` by `granularity`, as statistics have them.
pub(crate) struct TimeBuckets(Vec<Time>);

impl TimeBuckets {
    /// Refuses invalid parameters, and a window of more than this many days.
    pub(crate) fn parse(ctx: &AccountContext<'_, '_>, params: &ParsedParams, days: i64) -> Result<Self, Error> {
        ads_engine::engine::ensure_valid_params(params)?;
        let window = parse_time_window(ctx, params, days)?;
        Ok(Self(bucket_bounds(ctx, params.text("granularity").unwrap_or_default(), window)?))
    }

    /// Starts and ends.
    pub(crate) fn spans(&self) -> impl Iterator<Item = (Time, Time)> {
        self.0.windows(2).filter_map(|pair| match pair {
            [from, to] => Some((*from, *to)),
            _ => None,
        })
    }
}

/// The sums of an entity by the name of the segment; segments and placement as requests name them.
fn load_segment_sums(
    ctx: &mut AccountContext<'_, '_>,
    (entity, id): (AdEntity, i64),
    (from, to): (Time, Time),
    (segments, placement): (&str, &str),
) -> Result<Vec<(String, MetricSums)>, Error> {
    let query = StatsQuery {
        account: ctx.account_id()?,
        kind: entity.name().to_owned(),
        ids: vec![id],
        from,
        to,
        bounds: vec![from, to],
        granularity: "TOTAL".to_owned(),
        groups: Vec::new(),
        placement: placement.to_owned(),
        segments: Some(segments.to_owned()),
        country: None,
        platform: None,
        vocabulary: ctx.caller.vocabulary,
        min_viewers: stats_query::min_viewers(ctx),
    };
    Ok(time_series::named_segment_sums(ctx.tx, &query)?)
}

/// The complete response body stored in a job's file.
fn job_file_json(tx: &mut Tx<'_>, query: &StatsQuery, length: usize, data: &Value) -> Result<String, Fault> {
    let mut params = query.echo_params();
    params.insert("account_id".to_owned(), query.format_account_id().into());
    let mut body = json!({
        "data_type": "stats",
        "time_series_length": length,
        "data": data,
        "request": { "params": params },
    });
    if let Some(members) = body.as_object_mut()
        && ledger::has_simulated_events(tx, query.account, (query.from, query.to))?
    {
        members.insert("simulated".to_owned(), true.into());
    }
    Ok(body.to_string())
}
