//! Prices as merchants write them: `20.00 USD`.

use ads_engine::{CURRENCIES, CustomKind, RATE_ONE, ViolationKind};
use serde_json::Value;

/// More digits are refused.
const MAX_WHOLE_DIGITS: usize = 12;
const MAX_DECIMALS: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Price {
    /// In millionths.
    pub(super) amount: i64,
    pub(super) currency: &'static str,
}

impl Price {
    /// An amount with `.` as its decimal point, and an ISO 4217 code.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (amount, currency) = text.trim().split_once(' ')?;
        let (whole, decimals) = amount.split_once('.').unwrap_or((amount, "0"));
        let are_digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        let has_length = (1..=MAX_WHOLE_DIGITS).contains(&whole.len()) && (1..=MAX_DECIMALS).contains(&decimals.len());
        if !has_length || !are_digits(whole) || !are_digits(decimals) {
            return None;
        }
        let millionths: i64 = format!("{decimals:0<MAX_DECIMALS$}").parse().ok()?;
        let amount = whole.parse::<i64>().ok()?.checked_mul(RATE_ONE)?.checked_add(millionths)?;
        let currency = CURRENCIES.iter().find(|code| code.eq_ignore_ascii_case(currency.trim()))?;
        Some(Self { amount, currency })
    }
}

/// A price, stored as it was sent.
#[derive(Debug)]
pub(super) struct PriceText;

impl CustomKind for PriceText {
    fn read_text(&self, text: &str) -> Result<Value, ViolationKind> {
        Price::parse(text).map(|_| text.trim().into()).ok_or(ViolationKind::Malformed)
    }

    fn describe_expected(&self, _limit: Option<usize>) -> String {
        "a price such as 20.00 USD".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::Price;

    #[test]
    fn price_is_an_amount_and_a_currency() {
        for (text, amount, currency) in [
            ("20.00 USD", 20_000_000, "USD"),
            ("0.5 EUR", 500_000, "EUR"),
            ("1200 jpy", 1_200_000_000, "JPY"),
            ("999999999999.999999 USD", 999_999_999_999_999_999, "USD"),
        ] {
            assert_eq!(Price::parse(text), Some(Price { amount, currency }), "{text}");
        }
        for text in ["", "20.00", "USD", "20,00 USD", "-1 USD", "1. USD", ".5 USD", "1 XXY", "1e3 USD", "20.00USD"] {
            assert_eq!(Price::parse(text), None, "{text}");
        }
    }
}
