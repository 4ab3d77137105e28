//! What the operator decided about advertising: the same for all accounts (configuration `ads.*`).

use std::collections::BTreeMap;
use std::sync::Arc;

/// What the operator decided.
#[derive(Clone, Debug)]
pub struct House {
    /// What currencies are worth in each other.
    pub rates: Rates,
    /// Whether publishers' videos count as soon as they are there, and not only once something was
    /// shown before them.
    pub counts_posts: bool,
    /// An audience of fewer users is narrow.
    pub narrow: u64,
}

impl Default for House {
    fn default() -> Self {
        Self {
            rates: Rates::default(),
            counts_posts: false,
            narrow: 1000,
        }
    }
}

/// What one unit of each currency is worth, in millionths of something that is the same for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rates(Arc<BTreeMap<String, i64>>);

/// Rates are in millionths.
pub const ONE: i64 = 1_000_000;
/// The highest rate.
const MOST: i64 = 1_000_000 * ONE;

impl Rates {
    /// Reads `EUR=1080000,USD=1000000`; none where that is not what the text says.
    pub fn parse(text: &str) -> Option<Self> {
        let mut rates = BTreeMap::new();
        for item in text.split(',').map(str::trim) {
            let (currency, worth) = item.split_once('=')?;
            let currency = currency.trim();
            let worth: i64 = worth.trim().parse().ok()?;
            let known = crate::resources::bidding::CURRENCIES.contains(&currency);
            if !known || !(1..=MOST).contains(&worth) {
                return None;
            }
            if rates.insert(currency.to_owned(), worth).is_some() {
                return None;
            }
        }
        Some(Self(Arc::new(rates)))
    }

    /// Where amounts in a currency are compared, and what one unit of it counts for there. A
    /// currency without a rate is compared with itself only.
    pub fn market<'a>(&self, currency: &'a str) -> (&'a str, i64) {
        match self.0.get(currency) {
            Some(worth) => ("", *worth),
            None => (currency, ONE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ONE, Rates};

    #[test]
    fn currencies_with_rates_are_compared_and_others_stand_alone() {
        let rates = Rates::parse("EUR=1080000, USD=1000000").unwrap();
        assert_eq!(rates.market("EUR"), ("", 1_080_000));
        assert_eq!(rates.market("USD"), ("", ONE));
        assert_eq!(rates.market("JPY"), ("JPY", ONE));
        assert_eq!(Rates::default().market("EUR"), ("EUR", ONE));
        for wrong in [
            "",
            "EUR",
            "EUR=",
            "EUR=0",
            "EUR=-1",
            "EUR=1.08",
            "eur=1",
            "XXY=1",
            "EUR=1,EUR=2",
            "EUR=1,",
            "EUR=1000000000001",
        ] {
            assert_eq!(Rates::parse(wrong), None, "{wrong}");
        }
    }
}
