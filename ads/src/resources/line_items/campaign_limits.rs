//! Limits that a campaign sets to the amounts of its line items (contract ads §4.4, §4.5).

use ads_engine::{AdsRecord, RecordChange};
use base::refusal::AdsProblem;

use super::objectives::objective_rules;
use super::{BID_AMOUNT, DAILY_BUDGET, TOTAL_BUDGET};
use crate::resources::bidding_rules::{validate_amount, validate_bid};

const BUDGET_ON_CAMPAIGN: &str = "The budget is set on the campaign";

/// Checks the amounts that change only: whatever became of its campaign, a line item can be paused.
pub(super) fn validate_change(change: &RecordChange, campaign: &AdsRecord) -> Result<(), AdsProblem> {
    let currency = campaign.text("currency");
    let changed = |name: &str| change.record.int(name).filter(|_| change.changes_field(name));
    for name in [DAILY_BUDGET, TOTAL_BUDGET] {
        validate_amount(name, changed(name), currency)?;
    }
    let ignores_bid = is_bid_automatic(&change.record);
    if !ignores_bid {
        validate_bid(BID_AMOUNT, changed(BID_AMOUNT), currency)?;
    }
    let violation = violations(&change.record, campaign)
        .find(|(name, ..)| change.changes_field(name) && !(ignores_bid && *name == BID_AMOUNT));
    violation.map_or(Ok(()), |(name, _, message)| Err(AdsProblem::invalid_attribute(name, message)))
}

/// Whether a line item bids by itself, as it says or as its objective does by default.
fn is_bid_automatic(item: &AdsRecord) -> bool {
    match item.text("bid_strategy") {
        "" => objective_rules(item.text("objective")).strategies.first() == Some(&"AUTO"),
        strategy => strategy == "AUTO",
    }
}

/// What of a line item its campaign does not allow: the field, the campaign's field that rules it out, and why.
pub fn violations<'r>(
    item: &'r AdsRecord,
    campaign: &'r AdsRecord,
) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> + 'r {
    let shares = campaign.text("budget_optimization") != "LINE_ITEM";
    let exceeds =
        |name: &str, limit: &str| item.int(name).zip(campaign.int(limit)).is_some_and(|(amount, limit)| amount > limit);
    let above_total = "The total budget must not be above the campaign's";
    let above_budget = "The bid must not be above the campaign's budget";
    [
        (shares && item.get(DAILY_BUDGET).is_some(), (DAILY_BUDGET, "budget_optimization", BUDGET_ON_CAMPAIGN)),
        (shares && item.get(TOTAL_BUDGET).is_some(), (TOTAL_BUDGET, "budget_optimization", BUDGET_ON_CAMPAIGN)),
        (exceeds(TOTAL_BUDGET, TOTAL_BUDGET), (TOTAL_BUDGET, TOTAL_BUDGET, above_total)),
        (exceeds(BID_AMOUNT, DAILY_BUDGET), (BID_AMOUNT, DAILY_BUDGET, above_budget)),
        (exceeds(BID_AMOUNT, TOTAL_BUDGET), (BID_AMOUNT, TOTAL_BUDGET, above_budget)),
    ]
    .into_iter()
    .filter_map(|(is_violated, violation)| is_violated.then_some(violation))
}

#[cfg(test)]
mod tests {
    use ads_engine::{AdsRecord, RecordChange, ResourceVerb};
    use base::Time;

    use super::super::{BID_AMOUNT, LINE_ITEM, TOTAL_BUDGET};
    use super::validate_change;
    use crate::resources::campaigns::CAMPAIGN;

    #[test]
    fn line_item_that_its_campaign_left_behind_can_be_paused_and_mended() {
        let mut campaign = AdsRecord::new(&CAMPAIGN, 1, 1, Time::from_ms(0));
        campaign.set("currency", "USD");
        campaign.set("budget_optimization", "CAMPAIGN");
        campaign.set(TOTAL_BUDGET, 500_000);
        let mut item = AdsRecord::new(&LINE_ITEM, 2, 1, Time::from_ms(0));
        item.set("entity_status", "ACTIVE");
        item.set(BID_AMOUNT, 1_000_000);
        item.set(TOTAL_BUDGET, 2_000_000);
        let change = |item: &AdsRecord, name: &'static str, value: serde_json::Value| {
            let mut record = item.clone();
            record.set(name, value);
            let change = RecordChange {
                verb: ResourceVerb::Update,
                record,
                before: Some(item.clone()),
                sent_fields: vec![name],
            };
            validate_change(&change, &campaign)
        };
        change(&item, "entity_status", "PAUSED".into()).unwrap();
        change(&item, BID_AMOUNT, 500_000.into()).unwrap();
        change(&item, TOTAL_BUDGET, serde_json::Value::Null).unwrap();
        change(&item, BID_AMOUNT, 600_000.into()).unwrap_err();
        change(&item, TOTAL_BUDGET, 10_000.into()).unwrap_err();
        item.set("bid_strategy", "AUTO");
        change(&item, BID_AMOUNT, 600_000.into()).unwrap();
    }
}
