//! Minimum and maximum bids by currency (contract ads §9.1).

use ads_engine::{CURRENCIES, FieldSpec, Kind, ReferenceList};
use base::refusal::AdsProblem;
use serde_json::{Value, json};

/// Bid and budget bounds of a currency, in micros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BidBounds {
    pub min: i64,
    pub max: i64,
    /// Every amount is a multiple of this.
    pub step: i64,
}

const WITHOUT_DECIMALS: &[&str] =
    &["BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF"];
const THREE_DECIMALS: &[&str] = &["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"];

pub static REFERENCES: &[ReferenceList] = &[ReferenceList {
    id: "getAdsBiddingRules",
    path: "/bidding_rules",
    summary: "Least and highest bids.",
    filters: &[(FieldSpec::new("currency", Kind::one_of(CURRENCIES)), "currency")],
    rows: list_bidding_rules,
    always_counts: true,
    data_type: "bidding_rule",
    ..ReferenceList::DEFAULT
}];

pub fn bid_bounds(currency: &str) -> BidBounds {
    let (step, most) = if WITHOUT_DECIMALS.contains(&currency) {
        (1_000_000, 100_000_000_000)
    } else if THREE_DECIMALS.contains(&currency) {
        (1_000, 1_000_000_000)
    } else {
        (10_000, 1_000_000_000)
    };
    BidBounds { min: step, max: most, step }
}

/// Checks that an amount (micros) is a multiple of the currency's step.
pub fn validate_amount(name: &'static str, amount: Option<i64>, currency: &str) -> Result<(), AdsProblem> {
    let step = bid_bounds(currency).step;
    match amount {
        Some(amount) if amount % step != 0 => {
            let message = format!("Expected a multiple of {step} for {name}, got {amount}");
            Err(AdsProblem::invalid_parameter(name, amount, message).with_code("INVALID_DENOMINATION"))
        }
        _ => Ok(()),
    }
}

/// Checks that a bid (micros) is within the currency's bounds.
pub fn validate_bid(name: &'static str, bid: Option<i64>, currency: &str) -> Result<(), AdsProblem> {
    let BidBounds { min: least, max: most, .. } = bid_bounds(currency);
    match bid {
        Some(bid) if !(least..=most).contains(&bid) => {
            let message = format!("Expected a bid in {least}..{most} for {name}, got {bid}");
            Err(AdsProblem::invalid_parameter(name, bid, message))
        }
        _ => validate_amount(name, bid, currency),
    }
}

fn list_bidding_rules() -> Vec<Value> {
    let row = |currency: &&str| {
        let BidBounds { min: least, max: most, step } = bid_bounds(currency);
        json!({
            "currency": currency,
            "minimum_cpe_bid_local_micro": least,
            "maximum_cpe_bid_local_micro": most,
            "minimum_denomination": step,
        })
    };
    CURRENCIES.iter().map(row).collect()
}
