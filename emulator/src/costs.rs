//! What the calls of a run would cost by the public price list.

mod price_list;
mod resources;

use std::collections::{BTreeMap, HashSet, VecDeque};

use base::time::DAY_MS;
use base::{AppId, Time};
use parking_lot::Mutex;

pub use price_list::{Price, PriceList, PriceUnit};

/// Days of one app, and runs, that are remembered.
const MAX_LEDGERS: usize = 1_000;
/// Resources that are recognized again; above, each read is charged.
const MAX_RESOURCES: usize = 1_000_000;

/// Sums per app and UTC day, and per run label.
#[derive(Debug, Default)]
pub struct CostMeter {
    ledgers: Mutex<CostLedgers>,
}

#[derive(Debug, Default)]
struct CostLedgers {
    by_account: BTreeMap<CostAccount, CostLedger>,
    /// In the order of their first call.
    order: VecDeque<CostAccount>,
    resources: usize,
}

/// What costs are summed for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CostAccount {
    /// The app and the start of the UTC day.
    AppDay {
        app: AppId,
        day: Time,
    },
    Run {
        label: String,
    },
}

#[derive(Debug, Default)]
struct CostLedger {
    app_name: String,
    total_micros: u64,
    calls: u64,
    /// By the names of the price list.
    lines: BTreeMap<&'static str, CostLine>,
    /// Charged already, by the kinds of the price list.
    resources: BTreeMap<&'static str, HashSet<String>>,
    resource_count: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CostLine {
    /// Resources or requests that were charged.
    pub charged: u64,
    /// Resources that were read before on the same day.
    pub repeated: u64,
    pub micros: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostSummary {
    pub account: CostAccount,
    pub app_name: String,
    pub total_micros: u64,
    /// All, with those that cost nothing.
    pub calls: u64,
    /// By the names of the price list.
    pub lines: Vec<(String, CostLine)>,
}

/// A call, as far as its price depends on it.
#[derive(Clone, Copy, Debug)]
pub struct PricedCall<'c> {
    pub operation: &'c str,
    pub app: AppId,
    pub app_name: &'c str,
    pub label: Option<&'c str>,
    pub status: u16,
    /// Whether the owner of the app reads their own data.
    pub is_owned: bool,
    pub request_body: &'c [u8],
    pub response_body: &'c [u8],
    /// By the system's clock.
    pub at: Time,
}

impl CostMeter {
    /// Returns the price of the call for its app, in millionths of a US dollar.
    pub fn record(&self, call: &PricedCall<'_>) -> u64 {
        let charge = CallCharge::find(call);
        let day = Time::from_ms(call.at.ms() - call.at.ms().rem_euclid(DAY_MS));
        let mut ledgers = self.ledgers.lock();
        let cost = ledgers.charge(CostAccount::AppDay { app: call.app, day }, call, charge.as_ref());
        if let Some(label) = call.label {
            ledgers.charge(CostAccount::Run { label: label.to_owned() }, call, charge.as_ref());
        }
        cost
    }

    /// Ordered by account: apps by day first, then runs.
    pub fn summaries(&self) -> Vec<CostSummary> {
        let ledgers = self.ledgers.lock();
        ledgers.by_account.iter().map(|(account, ledger)| ledger.summarize(account)).collect()
    }

    /// Of all apps since the day of `now` began.
    pub fn today_micros(&self, now: Time) -> u64 {
        let today = now.ms() - now.ms().rem_euclid(DAY_MS);
        let ledgers = self.ledgers.lock();
        let of_today = ledgers.by_account.iter().filter(|(account, _)| match account {
            CostAccount::AppDay { day, .. } => day.ms() == today,
            CostAccount::Run { .. } => false,
        });
        of_today.map(|(_, ledger)| ledger.total_micros).fold(0, u64::saturating_add)
    }

    pub fn clear(&self) {
        *self.ledgers.lock() = CostLedgers::default();
    }
}

struct CallCharge {
    price: &'static Price,
    micros: u64,
    /// Of a read.
    resources: Option<Vec<String>>,
}

impl CallCharge {
    /// None if the call is free: failed, or without a published price.
    fn find(call: &PricedCall<'_>) -> Option<Self> {
        if !(200..300).contains(&call.status) {
            return None;
        }
        let price = PriceList::published()?.find(call.operation, call.is_owned)?;
        let resources = match price.unit {
            PriceUnit::Request => None,
            PriceUnit::Resource(_) => Some(resources::resource_ids(call.response_body)),
        };
        let with_link = price.with_link_micros.filter(|_| contains_link(call.request_body));
        Some(Self { price, micros: with_link.unwrap_or(price.micros), resources })
    }
}

/// Whether a new post contains a link.
fn contains_link(body: &[u8]) -> bool {
    let has = |needle: &[u8]| body.windows(needle.len()).any(|part| part.eq_ignore_ascii_case(needle));
    has(b"https://") || has(b"http://") || has(b"https:\\/\\/") || has(b"http:\\/\\/")
}

impl CostLedgers {
    fn charge(&mut self, account: CostAccount, call: &PricedCall<'_>, charge: Option<&CallCharge>) -> u64 {
        if !self.by_account.contains_key(&account) {
            self.order.push_back(account.clone());
            self.forget_oldest();
        }
        let may_remember = self.resources < MAX_RESOURCES;
        let ledger = self.by_account.entry(account).or_default();
        ledger.calls = ledger.calls.saturating_add(1);
        if ledger.app_name.is_empty() {
            call.app_name.clone_into(&mut ledger.app_name);
        }
        let before = ledger.resource_count;
        let cost = charge.map_or(0, |charge| ledger.charge(charge, may_remember));
        self.resources = self.resources.saturating_add(ledger.resource_count.saturating_sub(before));
        cost
    }

    fn forget_oldest(&mut self) {
        while self.order.len() > MAX_LEDGERS {
            let oldest = self.order.pop_front().and_then(|account| self.by_account.remove(&account));
            let freed = oldest.map_or(0, |ledger| ledger.resource_count);
            self.resources = self.resources.saturating_sub(freed);
        }
    }
}

impl CostLedger {
    fn charge(&mut self, charge: &CallCharge, may_remember: bool) -> u64 {
        let (charged, repeated) = match (&charge.resources, &charge.price.unit) {
            (Some(ids), PriceUnit::Resource(kind)) => self.count_new(kind, ids, may_remember),
            _ => (1, 0),
        };
        let cost = charged.saturating_mul(charge.micros);
        let line = self.lines.entry(&charge.price.name).or_default();
        line.charged = line.charged.saturating_add(charged);
        line.repeated = line.repeated.saturating_add(repeated);
        line.micros = line.micros.saturating_add(cost);
        self.total_micros = self.total_micros.saturating_add(cost);
        cost
    }

    /// How many are new, and how many were charged before.
    fn count_new(&mut self, kind: &'static str, ids: &[String], may_remember: bool) -> (u64, u64) {
        let (mut charged, mut repeated) = (0_u64, 0_u64);
        let known = self.resources.entry(kind).or_default();
        for id in ids {
            let is_new = !known.contains(id);
            if is_new && may_remember {
                known.insert(id.clone());
                self.resource_count = self.resource_count.saturating_add(1);
            }
            if is_new || id.is_empty() {
                charged = charged.saturating_add(1);
            } else {
                repeated = repeated.saturating_add(1);
            }
        }
        (charged, repeated)
    }

    fn summarize(&self, account: &CostAccount) -> CostSummary {
        CostSummary {
            account: account.clone(),
            app_name: self.app_name.clone(),
            total_micros: self.total_micros,
            calls: self.calls,
            lines: self.lines.iter().map(|(name, line)| ((*name).to_owned(), line.clone())).collect(),
        }
    }
}

/// As an amount in US dollars without a sign: `0.005`, `12.30`.
pub fn dollars(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let trimmed = text.trim_end_matches('0');
    let decimals = trimmed.rsplit('.').next().map_or(0, str::len);
    if decimals < 2 { format!("{trimmed:0<width$}", width = trimmed.len() + 2 - decimals) } else { trimmed.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call<'c>(operation: &'c str, response_body: &'c str) -> PricedCall<'c> {
        PricedCall {
            operation,
            app: AppId::new(1),
            app_name: "Bot",
            label: None,
            status: 200,
            is_owned: false,
            request_body: b"",
            response_body: response_body.as_bytes(),
            at: Time::from_ms(DAY_MS * 7 + 5),
        }
    }

    #[test]
    fn post_costs_once_a_day_and_app_and_each_run_counts_for_itself() {
        let meter = CostMeter::default();
        let two = r#"{"data":[{"id":"1"},{"id":"2"}]}"#;
        let read = call("getPostsByIds", two);
        assert_eq!(meter.record(&read), 10_000);
        assert_eq!(meter.record(&read), 0);
        assert_eq!(meter.record(&PricedCall { app: AppId::new(2), ..read }), 10_000);
        assert_eq!(meter.record(&PricedCall { at: Time::from_ms(DAY_MS * 8), ..read }), 10_000);
        assert_eq!(meter.record(&PricedCall { label: Some("ci"), ..read }), 0);
        let all = meter.summaries();
        let run = all.iter().find(|one| one.account == CostAccount::Run { label: "ci".to_owned() }).unwrap();
        assert_eq!((run.total_micros, run.calls), (10_000, 1));
        assert_eq!(meter.today_micros(Time::from_ms(DAY_MS * 7)), 20_000);
        let line = &meter.summaries()[0].lines[0];
        assert_eq!(line, &("Posts: Read".to_owned(), CostLine { charged: 2, repeated: 4, micros: 10_000 }));
    }

    #[test]
    fn failures_are_free_and_links_cost_more() {
        let meter = CostMeter::default();
        assert_eq!(meter.record(&PricedCall { status: 429, ..call("getUsersMe", "") }), 0);
        assert_eq!(meter.record(&call("getUsersMe", r#"{"data":{"id":"1"}}"#)), 10_000);
        let post = PricedCall { status: 201, request_body: br#"{"text":"hello"}"#, ..call("createPosts", "") };
        assert_eq!(meter.record(&post), 15_000);
        let link = PricedCall { request_body: br#"{"text":"see https://a.example"}"#, ..post };
        assert_eq!(meter.record(&link), 200_000);
        let owned = PricedCall { is_owned: true, ..call("getUsersFollowers", r#"{"data":[{"id":"5"}]}"#) };
        assert_eq!(meter.record(&owned), 1_000);
    }

    #[test]
    fn ledgers_are_bounded() {
        let meter = CostMeter::default();
        for day in 0..1_500 {
            meter.record(&PricedCall { at: Time::from_ms(DAY_MS * day), ..call("getUsersMe", "") });
        }
        assert_eq!(meter.summaries().len(), MAX_LEDGERS);
    }

    #[test]
    fn dollars_have_two_to_six_decimals() {
        let cases = [(0, "0.00"), (5_000, "0.005"), (1_500_000, "1.50"), (12, "0.000012"), (2_000_000, "2.00")];
        for (micros, text) in cases {
            assert_eq!(dollars(micros), text);
        }
    }
}
