//! Conversion attribution: what advertisers report belongs to the ad that the viewer touched last (contract ads §4.16,
//! [decision 44](../../docs/decisions/0044-conversions.md)).

mod click_ids;

use std::collections::{BTreeMap, HashMap};

use ads::resources::accounts::ACCOUNT;
use ads::resources::event_audiences;
use ads::resources::line_items::LINE_ITEM;
use ads_engine::{AdsRecord, CurrencyRates, RATE_ONE};
use base::time::DAY_MS;
use base::{Error, Fault, Time, UserId, sorted_distinct};
use store::ads::audiences::{self, AudienceKey};
use store::ledger::{
    self, AdConversion, AdEntity, AdEvent, AdEventKind, ConversionKind, ConversionPath, ConversionSource, Metric,
};
use store::{Tx, records};

use crate::ledger::{LedgerEvent, record_conversions, records_by_ids};

pub use click_ids::{CLICK_ID_PARAMETER, add_click_id, format_click_id, parse_click_id};

/// Clicks may follow their impression by this much.
const ENGAGEMENT_WINDOW_MS: i64 = DAY_MS;
/// Reported times often have only seconds.
const TIME_PRECISION_MS: i64 = 1000;
/// How long ago a conversion may have happened when it is reported.
pub const MAX_DELAY_MS: i64 = 90 * DAY_MS;
/// How precise the time is at which a tag was last heard of.
const TRACKING_PRECISION_MS: i64 = 60_000;

/// How a report names the person who converted.
#[derive(Clone, Debug, Default)]
pub struct ConversionIdentity {
    /// The impression of a click id.
    pub impression: Option<i64>,
    /// Viewers as the ledger names them: negative for those who are not signed in.
    pub viewers: Vec<i64>,
    /// Hashed identifiers of the person.
    pub keys: Vec<AudienceKey>,
}

#[derive(Clone, Debug)]
pub struct ReportedConversion {
    pub source: ConversionSource,
    pub kind: ConversionKind,
    /// The web or app event tag.
    pub tag: AdsRecord,
    pub at: Time,
    /// Days.
    pub click_window: i64,
    /// Days; 0 if views do not count.
    pub view_window: i64,
    pub identity: ConversionIdentity,
    pub order_quantity: i64,
    /// Micros and the currency.
    pub sale_amount: Option<(i64, String)>,
    /// A digest of the id that the advertiser gave it.
    pub dedup_key: Option<i64>,
}

/// The ad that a conversion is attributed to.
#[derive(Clone, Debug)]
pub struct Attribution {
    /// The click or impression.
    pub touch: AdEvent,
    pub path: ConversionPath,
    /// Earlier clicks and impressions of other ads.
    assists: Vec<AdEvent>,
}

impl ConversionIdentity {
    /// The signed-in user.
    pub fn add_user(&mut self, user: UserId) {
        self.viewers.push(user.get());
        self.keys.push(event_audiences::user_key(user));
    }

    /// The viewers, with the users who have one of the keys.
    fn resolve_viewers(&self, tx: &mut Tx<'_>) -> Result<Vec<i64>, Fault> {
        let mut all = self.viewers.clone();
        all.extend(audiences::find_users_by_keys(tx, &self.keys)?.into_iter().map(UserId::get));
        Ok(sorted_distinct(all))
    }
}

/// The last click within the click window, or else the last impression within the view-through window.
pub fn find_attribution(tx: &mut Tx<'_>, conversion: &ReportedConversion) -> Result<Option<Attribution>, Fault> {
    let days = conversion.click_window.max(conversion.view_window);
    let since = conversion.at.plus_ms(-days * DAY_MS - ENGAGEMENT_WINDOW_MS);
    let until = conversion.at.plus_ms(TIME_PRECISION_MS);
    let mut impressions: Vec<i64> = conversion.identity.impression.into_iter().collect();
    for viewer in conversion.identity.resolve_viewers(tx)? {
        let key = (conversion.tag.account_id, viewer);
        let shown = ledger::list_account_impressions_of_viewer(tx, key, (since, until))?;
        impressions.extend(shown.iter().map(|event| event.impression_id));
    }
    impressions.sort_unstable();
    impressions.dedup();
    let mut touches: Vec<(ConversionPath, AdEvent)> = Vec::new();
    for event in ledger::list_events_by_impressions(tx, &impressions)? {
        let within = |days: i64| event.at < until && event.at >= conversion.at.plus_ms(-days * DAY_MS);
        let is_click = event.kind.metrics().contains(&Metric::Clicks);
        let path = if is_click && within(conversion.click_window) {
            ConversionPath::Engagement
        } else if event.kind == AdEventKind::Impression && conversion.view_window > 0 && within(conversion.view_window)
        {
            ConversionPath::View
        } else {
            continue;
        };
        if event.account_id == conversion.tag.account_id {
            touches.push((path, event));
        }
    }
    // Clicks come last, and among them the latest.
    touches.sort_by_key(|(path, event)| (*path, event.at, event.id));
    let Some((path, touch)) = touches.pop() else {
        return Ok(None);
    };
    // Ids are unique within a kind of creative.
    let mut assists: BTreeMap<(AdEntity, i64), AdEvent> = BTreeMap::new();
    for (_, event) in touches {
        let creative = (event.creative, event.creative_id);
        if creative != (touch.creative, touch.creative_id) {
            assists.insert(creative, event);
        }
    }
    Ok(Some(Attribution { touch, path, assists: assists.into_values().collect() }))
}

/// Records a conversion with what it is attributed to, once per tag and id that the advertiser gave it. Whether it is
/// attributed or not, its tag is marked as tracking, and the person joins the tag's audience. The page's report may come
/// first and say less of the person than the server's, so that only what is attributed counts as a repetition.
pub fn record_conversion(
    tx: &mut Tx<'_>,
    rates: &CurrencyRates,
    conversion: &ReportedConversion,
    attribution: Option<&Attribution>,
) -> Result<(), Error> {
    if let Some(digest) = conversion.dedup_key
        && ledger::has_conversion_key(tx, conversion.tag.id, digest)?
    {
        return Ok(());
    }
    mark_tracking(tx, &conversion.tag, conversion.at)?;
    let keys = audience_keys(tx, conversion)?;
    event_audiences::add_member(tx, &conversion.tag, &keys, conversion.at)?;
    let Some(attribution) = attribution else {
        return Ok(());
    };
    if let Some(digest) = conversion.dedup_key
        && !ledger::record_conversion_key(tx, conversion.tag.id, digest)?
    {
        return Ok(());
    }
    let touch = &attribution.touch;
    let detail = AdConversion {
        source: conversion.source,
        kind: conversion.kind,
        tag_id: conversion.tag.id,
        path: attribution.path,
        impression_id: touch.impression_id,
        order_quantity: conversion.order_quantity,
        sale_amount_micro: sale_amount(tx, rates, conversion, touch.line_item_id)?,
    };
    let id = tx.next_id::<()>().get();
    let event = LedgerEvent {
        // Who converted is nobody's to know.
        viewer: 0,
        price: 0,
        impression_id: id,
        ..LedgerEvent::from_touch(touch, (AdEventKind::Conversion, conversion.at), id)
    };
    let facts = record_conversions(tx, &[(event, detail)])?;
    if let Some(fact) = facts.first() {
        ledger::assist_conversions(tx, (fact, detail), &attribution.assists)?;
    }
    Ok(())
}

/// Those of the report, and of the user who was shown the ad of its click id.
fn audience_keys(tx: &mut Tx<'_>, conversion: &ReportedConversion) -> Result<Vec<AudienceKey>, Fault> {
    let mut keys = conversion.identity.keys.clone();
    if let Some(impression) = conversion.identity.impression {
        let shown = ledger::list_events_by_impressions(tx, &[impression])?;
        let of_account = shown.iter().find(|event| event.account_id == conversion.tag.account_id);
        let user = of_account.map(|event| event.viewer_id).filter(|viewer| *viewer > 0);
        keys.extend(user.map(|user| event_audiences::user_key(UserId::new(user))));
    }
    Ok(keys)
}

/// Attributes a conversion and records it.
pub fn attribute_conversion(
    tx: &mut Tx<'_>,
    rates: &CurrencyRates,
    conversion: &ReportedConversion,
) -> Result<(), Error> {
    let attribution = find_attribution(tx, conversion)?;
    record_conversion(tx, rates, conversion, attribution.as_ref())
}

fn mark_tracking(tx: &mut Tx<'_>, tag: &AdsRecord, at: Time) -> Result<(), Fault> {
    let is_known = |tag: &AdsRecord| {
        let last = tag.time("last_tracked_at");
        tag.text("status") == "TRACKING" && last.is_some_and(|last| at <= last.plus_ms(TRACKING_PRECISION_MS))
    };
    if is_known(tag) {
        return Ok(());
    }
    records::lock(tx, ACCOUNT.name, tag.account_id)?;
    let Some(mut tag) = AdsRecord::find(tx, tag.resource, tag.id)? else {
        return Ok(());
    };
    if !is_known(&tag) {
        let last = tag.time("last_tracked_at").map_or(at, |last| last.max(at));
        tag.set("status", "TRACKING");
        tag.set("last_tracked_at", last.ms());
        tag.update(tx)?;
    }
    Ok(())
}

/// Micros of the line item's currency; `None` if there is no rate for the conversion's.
fn sale_amount(
    tx: &mut Tx<'_>,
    rates: &CurrencyRates,
    conversion: &ReportedConversion,
    line_item: i64,
) -> Result<Option<i64>, Fault> {
    let Some((micros, currency)) = conversion.sale_amount.as_ref().filter(|(micros, _)| *micros != 0) else {
        return Ok(Some(0));
    };
    let items: HashMap<i64, AdsRecord> = records_by_ids(tx, &LINE_ITEM, &[line_item])?;
    let own = items.get(&line_item).map(|item| item.text("currency")).unwrap_or_default();
    Ok(convert_currency(rates, *micros, (currency, own)))
}

fn convert_currency(rates: &CurrencyRates, micros: i64, (from, to): (&str, &str)) -> Option<i64> {
    let ((market, rate), (own_market, own_rate)) = (rates.market_and_rate(from), rates.market_and_rate(to));
    if market != own_market {
        return None;
    }
    let converted = i128::from(micros) * i128::from(rate) / i128::from(own_rate.max(1));
    Some(i64::try_from(converted).unwrap_or(i64::MAX))
}

/// An amount written as a decimal, in micros; `None` if it is none, negative or too large.
pub fn parse_micros(text: &str) -> Option<i64> {
    let (units, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_decimal = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if units.is_empty() || units.len() > 12 || !is_decimal(units) || !is_decimal(fraction) {
        return None;
    }
    let digits: String = fraction.chars().chain(std::iter::repeat('0')).take(6).collect();
    units.parse::<i64>().ok()?.checked_mul(RATE_ONE)?.checked_add(digits.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use ads_engine::CurrencyRates;

    use super::{convert_currency, parse_micros};

    #[test]
    fn amounts_are_read_to_the_micro() {
        for (text, micros) in [
            ("0", Some(0)),
            ("19.99", Some(19_990_000)),
            ("5.", Some(5_000_000)),
            ("0.0000019", Some(1)),
            ("999999999999", Some(999_999_999_999_000_000)),
            ("1000000000000", None),
            ("-1", None),
            (".5", None),
            ("1,5", None),
            ("", None),
        ] {
            assert_eq!(parse_micros(text), micros, "{text}");
        }
    }

    #[test]
    fn amounts_are_converted_where_there_is_a_rate() {
        let rates = CurrencyRates::parse("EUR=1200000,USD=1000000").unwrap();
        assert_eq!(convert_currency(&rates, 1_000_000, ("EUR", "USD")), Some(1_200_000));
        assert_eq!(convert_currency(&rates, 1_200_000, ("USD", "EUR")), Some(1_000_000));
        assert_eq!(convert_currency(&rates, 7, ("JPY", "JPY")), Some(7));
        assert_eq!(convert_currency(&rates, 7, ("JPY", "EUR")), None);
    }
}
