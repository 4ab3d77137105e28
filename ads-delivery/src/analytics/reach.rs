//! Reach and average frequency of campaigns and funding instruments.

use std::collections::{HashMap, HashSet};

use ads_engine::engine::ensure_valid_params;
use ads_engine::field_kind::format_time;
use ads_engine::{AccountContext, OperationOutput, ParsedParams};
use base::{Error, sorted_distinct};
use serde_json::{Value, json};
use store::ledger::{self, AdEntity, ViewerImpressions};

use super::mark_simulated;
use super::stats_query::{StatsQuery, parse_time_window};
use crate::ledger::line_items_by_entity;

pub(super) fn campaign_reach(
    ctx: &mut AccountContext<'_, '_>,
    params: &ParsedParams,
) -> Result<OperationOutput, Error> {
    load_reach(ctx, params, AdEntity::Campaign, "campaign_ids")
}

pub(super) fn funding_instrument_reach(
    ctx: &mut AccountContext<'_, '_>,
    params: &ParsedParams,
) -> Result<OperationOutput, Error> {
    load_reach(ctx, params, AdEntity::Funding, "funding_instrument_ids")
}

fn load_reach(
    ctx: &mut AccountContext<'_, '_>,
    params: &ParsedParams,
    entity: AdEntity,
    name: &str,
) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let (from, to) = parse_time_window(ctx, params, i64::from(u16::MAX))?;
    let account = ctx.account_id()?;
    let mut ids = params.ints(name);
    let resource = super::stats_query::entity_resource(entity.name());
    let known: HashSet<i64> = match resource {
        Some(resource) => store::records::find_by_ids(ctx.tx, resource.name, &ids)?
            .into_iter()
            .filter(|row| row.account_id == account)
            .map(|row| row.id)
            .collect(),
        None => HashSet::new(),
    };
    ids.retain(|id| known.contains(id));
    let items = line_items_by_entity(ctx.tx, account, entity, &ids)?;
    let all = sorted_distinct(items.values().flatten().copied());
    let mut impressions: HashMap<i64, Vec<ViewerImpressions>> = HashMap::new();
    for viewed in ledger::count_viewer_impressions(ctx.tx, &all, (from, to))? {
        impressions.entry(viewed.line_item_id).or_default().push(viewed);
    }
    let data: Vec<Value> = ids
        .iter()
        .map(|id| {
            let own = items.get(id).into_iter().flatten();
            let own = own.filter_map(|item| impressions.get(item)).flatten();
            let mut viewers: HashMap<i64, i64> = HashMap::new();
            let mut times = 0_i64;
            for viewed in own {
                let people = viewers.entry(viewed.viewer).or_default();
                *people = viewed.people.max(*people);
                times = times.saturating_add(viewed.impressions);
            }
            let reach = viewers.values().fold(0_i64, |sum, people| sum.saturating_add(*people));
            let written = resource.map(|resource| resource.id_format.format(*id));
            json!({
                "id": written,
                "total_audience_reach": reach,
                "average_frequency": average_frequency(times, reach),
            })
        })
        .collect();
    let mut output = OperationOutput::from_value(data.into());
    mark_simulated(ctx, &mut output, (from, to))?;
    output.data_type = "reach";
    for (name, at) in [("start_time", from), ("end_time", to)] {
        output.echo_params.insert(name.to_owned(), format_time(at).into());
    }
    Ok(output)
}

/// Impressions per viewer, rounded to two decimals.
fn average_frequency(times: i64, viewers: i64) -> Value {
    if viewers == 0 {
        return json!(0.0);
    }
    let hundredths = (times.saturating_mul(200) + viewers) / (viewers.saturating_mul(2));
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    text.parse::<f64>().map_or(Value::Null, Value::from)
}

pub(super) const JOB_MAX_DAYS: i64 = 90;

impl StatsQuery {
    pub(super) fn parse_job(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<Self, Error> {
        Self::parse(ctx, params, JOB_MAX_DAYS)
    }
}
