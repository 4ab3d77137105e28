//! Operator configuration of advertising, shared by all accounts (configuration `ads.*`).

use std::collections::BTreeMap;
use std::sync::Arc;

/// Ordered by code (ISO 4217).
pub const CURRENCIES: &[&str] = &[
    "AED", "AFN", "ALL", "AMD", "ANG", "AOA", "ARS", "AUD", "AWG", "AZN", "BAM", "BBD", "BDT", "BGN", "BHD", "BIF",
    "BMD", "BND", "BOB", "BRL", "BSD", "BTN", "BWP", "BYN", "BZD", "CAD", "CDF", "CHF", "CLP", "CNY", "COP", "CRC",
    "CUP", "CVE", "CZK", "DJF", "DKK", "DOP", "DZD", "EGP", "ERN", "ETB", "EUR", "FJD", "FKP", "GBP", "GEL", "GHS",
    "GIP", "GMD", "GNF", "GTQ", "GYD", "HKD", "HNL", "HTG", "HUF", "IDR", "ILS", "INR", "IQD", "IRR", "ISK", "JMD",
    "JOD", "JPY", "KES", "KGS", "KHR", "KMF", "KPW", "KRW", "KWD", "KYD", "KZT", "LAK", "LBP", "LKR", "LRD", "LSL",
    "LYD", "MAD", "MDL", "MGA", "MKD", "MMK", "MNT", "MOP", "MRU", "MUR", "MVR", "MWK", "MXN", "MYR", "MZN", "NAD",
    "NGN", "NIO", "NOK", "NPR", "NZD", "OMR", "PAB", "PEN", "PGK", "PHP", "PKR", "PLN", "PYG", "QAR", "RON", "RSD",
    "RUB", "RWF", "SAR", "SBD", "SCR", "SDG", "SEK", "SGD", "SHP", "SLE", "SOS", "SRD", "SSP", "STN", "SVC", "SYP",
    "SZL", "THB", "TJS", "TMT", "TND", "TOP", "TRY", "TTD", "TWD", "TZS", "UAH", "UGX", "USD", "UYU", "UZS", "VEF",
    "VES", "VND", "VUV", "WST", "XAF", "XCD", "XOF", "XPF", "YER", "ZAR", "ZMW", "ZWL",
];

#[derive(Clone, Debug)]
pub struct AdsConfig {
    pub rates: CurrencyRates,
    /// Whether publishers' videos count at once, rather than only after an ad was shown before them.
    pub count_videos_immediately: bool,
    /// An audience with fewer users is narrow.
    pub narrow_audience_size: u64,
}

impl Default for AdsConfig {
    fn default() -> Self {
        Self { rates: CurrencyRates::default(), count_videos_immediately: false, narrow_audience_size: 1000 }
    }
}

/// The value of one unit of each currency, in millionths of a common unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CurrencyRates(Arc<BTreeMap<String, i64>>);

/// The scale of rates: millionths.
pub const RATE_ONE: i64 = 1_000_000;
const MAX_RATE: i64 = 1_000_000 * RATE_ONE;

impl CurrencyRates {
    /// Parses `EUR=1080000,USD=1000000`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut rates = BTreeMap::new();
        for item in text.split(',').map(str::trim) {
            let (currency, worth) = item.split_once('=')?;
            let currency = currency.trim();
            let worth: i64 = worth.trim().parse().ok()?;
            let known = CURRENCIES.contains(&currency);
            if !known || !(1..=MAX_RATE).contains(&worth) {
                return None;
            }
            if rates.insert(currency.to_owned(), worth).is_some() {
                return None;
            }
        }
        Some(Self(Arc::new(rates)))
    }

    /// The market in which amounts of a currency are compared, and the value of one unit there. A currency
    /// without a rate is a market of its own.
    pub fn market_and_rate<'a>(&self, currency: &'a str) -> (&'a str, i64) {
        match self.0.get(currency) {
            Some(worth) => ("", *worth),
            None => (currency, RATE_ONE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CurrencyRates, RATE_ONE};

    #[test]
    fn currencies_with_rates_are_compared_and_others_stand_alone() {
        let rates = CurrencyRates::parse("EUR=1080000, USD=1000000").unwrap();
        assert_eq!(rates.market_and_rate("EUR"), ("", 1_080_000));
        assert_eq!(rates.market_and_rate("USD"), ("", RATE_ONE));
        assert_eq!(rates.market_and_rate("JPY"), ("JPY", RATE_ONE));
        assert_eq!(CurrencyRates::default().market_and_rate("EUR"), ("EUR", RATE_ONE));
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
            assert_eq!(CurrencyRates::parse(wrong), None, "{wrong}");
        }
    }
}
