//! How many viewers were reached, and how often each of them.

use std::collections::{HashMap, HashSet};

use base::Error;
use serde_json::{Value, json};
use store::ledger::{self, AdEntity};

use super::ask::{Ask, span};
use crate::answer::Answer;
use crate::desk::Desk;
use crate::engine::checked;
use crate::given::Given;
use crate::kind::instant;
use crate::ledger::line_items_of;

/// `GET …/reach/campaigns`.
pub(super) fn of_campaigns(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    reach(desk, given, AdEntity::Campaign, "campaign_ids")
}

/// `GET …/reach/funding_instruments`.
pub(super) fn of_instruments(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    reach(desk, given, AdEntity::Funding, "funding_instrument_ids")
}

fn reach(
    desk: &mut Desk<'_, '_>,
    given: &Given,
    entity: AdEntity,
    name: &str,
) -> Result<Answer, Error> {
    checked(given)?;
    let (from, to) = span(desk, given, i64::from(u16::MAX))?;
    let account = desk.account_id()?;
    let mut ids = given.ints(name);
    let of = super::ask::resource(entity.name());
    let known: HashSet<i64> = match of {
        Some(of) => store::records::find_by_ids(desk.tx, of.name, &ids)?
            .into_iter()
            .filter(|row| row.account_id == account)
            .map(|row| row.id)
            .collect(),
        None => HashSet::new(),
    };
    ids.retain(|id| known.contains(id));
    let items = line_items_of(desk.tx, account, entity, &ids)?;
    let mut all: Vec<i64> = items.values().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    let mut seen: HashMap<i64, Vec<(i64, i64)>> = HashMap::new();
    for viewed in ledger::count_viewer_impressions(desk.tx, &all, (from, to))? {
        let of_item = seen.entry(viewed.line_item_id).or_default();
        of_item.push((viewed.viewer, viewed.impressions));
    }
    let data: Vec<Value> = ids
        .iter()
        .map(|id| {
            let own = items.get(id).into_iter().flatten();
            let own = own.filter_map(|item| seen.get(item)).flatten();
            let mut viewers = HashSet::new();
            let mut times = 0_i64;
            for (viewer, count) in own {
                viewers.insert(*viewer);
                times = times.saturating_add(*count);
            }
            let written = of.map(|of| of.ids.write(*id));
            json!({
                "id": written,
                "total_audience_reach": viewers.len(),
                "average_frequency": frequency(times, viewers.len()),
            })
        })
        .collect();
    let mut answer = Answer::one(&data.into());
    answer.data_type = "reach";
    for (name, at) in [("start_time", from), ("end_time", to)] {
        answer.echo.insert(name.to_owned(), instant(at).into());
    }
    Ok(answer)
}

/// Impressions by viewer, to two decimals.
fn frequency(times: i64, viewers: usize) -> Value {
    let viewers = i64::try_from(viewers).unwrap_or(i64::MAX);
    if viewers == 0 {
        return json!(0.0);
    }
    let hundredths = (times.saturating_mul(200) + viewers) / (viewers.saturating_mul(2));
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    text.parse::<f64>().map_or(Value::Null, Value::from)
}

/// Days of a job.
pub(super) const LONG: i64 = 90;

impl Ask {
    /// As a job may ask for it.
    pub(super) fn long(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Self, Error> {
        Self::read(desk, given, LONG)
    }
}
