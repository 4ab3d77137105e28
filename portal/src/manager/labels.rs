//! Labels for the API's enum words, amounts and timestamps.

pub(super) use ads::budget::{format_amount, format_integer, format_money};
use ads_engine::{AdsRole, RecordView};
use pages::excerpt;
use pages::manager::StatusBadge;
use serde_json::Value;
use store::posts::Post;

pub(super) const fn role_label(role: AdsRole) -> &'static str {
    match role {
        AdsRole::Admin => "Account administrator",
        AdsRole::AdManager => "Ad manager",
        AdsRole::CreativeManager => "Creative manager",
        AdsRole::CampaignAnalyst => "Campaign analyst",
        AdsRole::Analyst => "Organic analyst",
        AdsRole::PartnerAudienceManager => "Partner audience manager",
    }
}

/// An enum word of the API, for people.
pub(super) fn word_label(word: &str) -> String {
    let known = match word {
        "" => "–",
        "ALL_ON_TWITTER" => "Everywhere",
        "TWITTER_TIMELINE" => "Timelines",
        "TWITTER_SEARCH" => "Search results",
        "TWITTER_PROFILE" => "Profiles",
        "TWITTER_REPLIES" => "Replies",
        "TAP_FULL" | "TAP_FULL_LANDSCAPE" => "Full screen in other apps",
        "AUTO" => "Automatic bid",
        "MAX" => "Maximum bid",
        "TARGET" => "Target cost",
        "UNKNOWN" => "Not serving",
        "TRANSCODE_COMPLETED" => "Ready",
        "CRM" => "List of people",
        "GIF" => "Animated GIF",
        "READ_ONLY" => "Target",
        "READ_WRITE" => "Target and edit",
        "VIEW_3S_100PCT" => "3-second views",
        "VIEW_6S" => "6-second views",
        "VIEW_15S" => "15-second views",
        "EQ" => "Is",
        "NE" => "Is not",
        "GTE" => "Is at least",
        "LT" => "Is less than",
        "PAUSED_BY_ADVERTISER" => "Paused",
        "INCOMPLETE" => "Incomplete",
        "STARTS_IN_FUTURE" => "Starts later",
        "FUNDING_PROBLEM" => "Funding problem",
        "BUDGET_EXHAUSTED" => "Budget exhausted",
        "ADS_UI" => "Ads Manager",
        "API_OTHER" => "API",
        "SYSTEM" => "System",
        _ => "",
    };
    if !known.is_empty() {
        return known.to_owned();
    }
    let plain = word.to_lowercase().replace('_', " ");
    let mut letters = plain.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn is_enum_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

/// The value of an API field for people, without any JSON. Fields named `*_micro` are in micros of a currency.
pub(super) fn value_label(name: &str, value: &Value) -> String {
    let label = match value {
        Value::Null => String::new(),
        Value::Bool(flag) => if *flag { "Yes" } else { "No" }.to_owned(),
        Value::Number(number) => match number.as_i64().filter(|_| name.ends_with("_micro")) {
            Some(micros) => format_amount(micros),
            None => number.to_string(),
        },
        Value::String(word) if is_enum_word(word) => word_label(word),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| value_label(name, item)).collect();
            items.join(", ")
        }
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, value)| format!("{}: {}", word_label(name), value_label(name, value)));
            members.collect::<Vec<_>>().join(", ")
        }
    };
    if label.is_empty() { "–".to_owned() } else { label }
}

pub(super) fn word_list_label(record: &RecordView, name: &str) -> String {
    word_labels(record.texts(name))
}

pub(super) fn word_labels(words: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let labels = words.into_iter().map(|word| word_label(word.as_ref()));
    labels.collect::<Vec<_>>().join(", ")
}

pub(super) fn status_badge(word: &str) -> StatusBadge {
    let kind = match word {
        "RUNNING" | "ACTIVE" | "ACCEPTED" | "SUCCESS" | "READY" => "good",
        "SCHEDULED" | "UNDER_REVIEW" | "EXHAUSTED" | "UNKNOWN" | "PROCESSING" => "warn",
        "REJECTED" | "FAILED" => "bad",
        _ => "",
    };
    StatusBadge { text: word_label(word), kind }
}

/// In at most five characters below a quadrillion, such as `12.3K`.
pub(super) fn shorten_integer(number: i64) -> String {
    const UNITS: [(i64, &str); 4] = [(1_000_000_000_000, "T"), (1_000_000_000, "B"), (1_000_000, "M"), (1_000, "K")];
    let Some((unit, letter)) = UNITS.iter().find(|(unit, _)| number >= *unit) else {
        return number.to_string();
    };
    let tenths = number / (unit / 10);
    if tenths < 1000 && tenths % 10 != 0 {
        format!("{}.{}{letter}", tenths / 10, tenths % 10)
    } else {
        format!("{}{letter}", tenths / 10)
    }
}

/// Micros as an amount without its currency: two decimal places below ten.
pub(super) fn shorten_money(micros: i64) -> String {
    if (1..10_000_000).contains(&micros) {
        let cents = micros.saturating_add(5_000) / 10_000;
        return format!("{}.{:02}", cents / 100, cents % 100);
    }
    shorten_integer(micros / 1_000_000)
}

/// In micros; at most six decimal places.
pub(super) fn parse_amount(typed: &str) -> Option<i64> {
    let (units, part) = typed.split_once('.').unwrap_or((typed, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let sound = !units.is_empty() && digits(units) && digits(part) && part.len() <= 6;
    if !sound {
        return None;
    }
    let part: i64 = format!("{part:0<6}").parse().ok()?;
    let units: i64 = units.parse().ok()?;
    units.checked_mul(1_000_000)?.checked_add(part).filter(|micros| *micros > 0)
}

/// Daily and total budget.
pub(super) fn budget_labels(record: &RecordView) -> (String, String) {
    let currency = record.text("currency");
    let daily = record.int("daily_budget_amount_local_micro");
    let total = record.int("total_budget_amount_local_micro");
    match (daily, total) {
        (Some(daily), Some(total)) => {
            (format!("{} a day", format_money(daily, currency)), format!("{} total", format_money(total, currency)))
        }
        (Some(daily), None) => (format!("{} a day", format_money(daily, currency)), String::new()),
        (None, Some(total)) => (format!("{} total", format_money(total, currency)), String::new()),
        (None, None) => ("–".to_owned(), String::new()),
    }
}

/// Falls back to the ID.
pub(super) fn record_name(record: &RecordView) -> String {
    match record.text("name") {
        "" => format!("Line item {}", record.id()),
        name => name.to_owned(),
    }
}

pub(super) fn or_dash(text: &str) -> &str {
    if text.is_empty() { "–" } else { text }
}

/// The beginning of a post's text, with its links in their display form.
pub(super) fn post_excerpt(post: &Post, length: usize) -> String {
    let segments = view::text_segments(&post.text, &post.entities).into_iter();
    excerpt(&segments.map(|segment| segment.text).collect::<String>(), length)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn amounts_are_whole_units_for_people() {
        assert_eq!(format_amount(20_000_000), "20.00");
        for (number, short) in [(0, "0"), (999, "999"), (1_000, "1K"), (12_345, "12.3K"), (999_999, "999K")] {
            assert_eq!(shorten_integer(number), short);
        }
        assert_eq!(shorten_integer(2_000_000), "2M");
        assert_eq!(shorten_money(1_234_567), "1.23");
        assert_eq!(shorten_money(123_456_789), "123");
        assert_eq!(shorten_money(0), "0");
        assert_eq!(format_amount(1_234_500), "1.2345");
        for typed in ["20", "20.0", "20.000000"] {
            assert_eq!(parse_amount(typed), Some(20_000_000));
        }
        assert_eq!(parse_amount("0.15"), Some(150_000));
        for typed in ["", ".", "-1", "1,5", "1.0000001", "9223372036855", "1e3", "1."] {
            let whole = typed == "1.";
            assert_eq!(parse_amount(typed).is_some(), whole, "{typed}");
        }
        assert_eq!(word_label("WEBSITE_CLICKS"), "Website clicks");
        let nested = json!({ "enabled": true, "goals": ["LINK_CLICKS", "b"], "bid_micro": 1_500_000, "tags": [] });
        let label = "Bid micro: 1.50, Enabled: Yes, Goals: Link clicks, b, Tags: –";
        assert_eq!(value_label("x", &nested), label);
    }
}
