//! Events on advertisers' sites, from their servers or from the image that their pages load.

use ads::resources::hash_key;
use ads::resources::web_event_tags::{WEB_EVENT_TAG, conversion_kind};
use ads_engine::AdsRecord;
use ads_engine::field_kind::parse_time;
use base::refusal::AdsProblem;
use base::{Fault, Time, UserId};
use store::Tx;
use store::ads::audiences::AudienceKeyKind;
use store::ledger::{ConversionKind, ConversionSource};

use crate::clicks::anonymous_viewer_id;
use crate::conversions::{ConversionIdentity, MAX_DELAY_MS, ReportedConversion, parse_click_id};

pub const DEFAULT_CURRENCY: &str = "USD";
/// Clocks of other servers may be ahead by this much.
const MAX_AHEAD_MS: i64 = 60_000;
/// Visits within this time count as one.
const VISIT_MS: i64 = 30 * 60_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identifier {
    ClickId(String),
    /// SHA-256 digests of the normalized address and number.
    Email([u8; 32]),
    Phone([u8; 32]),
    /// Address and user agent.
    Browser(String, String),
    User(UserId),
}

#[derive(Clone, Debug)]
pub struct WebEvent {
    /// Of a tag, with or without the tag of the site: `tw-o3bk1-o3bk2` or `o3bk2`.
    pub event_id: String,
    pub at: Time,
    pub identifiers: Vec<Identifier>,
    pub conversion_id: Option<String>,
    pub order_quantity: i64,
    /// Micros and the currency.
    pub sale_amount: Option<(i64, String)>,
}

impl Default for WebEvent {
    fn default() -> Self {
        Self {
            event_id: String::new(),
            at: Time::from_ms(0),
            identifiers: Vec::new(),
            conversion_id: None,
            order_quantity: 1,
            sale_amount: None,
        }
    }
}

/// The ids of the site's tag, if there is one, and of the tag that an event id names.
pub fn parse_event_id(text: &str) -> Option<(Option<i64>, i64)> {
    let parse = |id: &str| WEB_EVENT_TAG.id_format.parse(id);
    let lower = text.to_ascii_lowercase();
    match lower.strip_prefix("tw-") {
        Some(rest) => {
            let (site, tag) = rest.split_once('-')?;
            Some((Some(parse(site)?), parse(tag)?))
        }
        None => Some((None, parse(text)?)),
    }
}

/// The tag that an event id names, of whatever account; none if it was deleted, or is not of that site.
pub fn find_tag(tx: &mut Tx<'_>, event_id: &str) -> Result<Option<AdsRecord>, Fault> {
    let Some((site, id)) = parse_event_id(event_id) else {
        return Ok(None);
    };
    let Some(tag) = find_any_tag(tx, id)?.filter(|tag| !tag.deleted) else {
        return Ok(None);
    };
    let site = match site {
        Some(site) => find_any_tag(tx, site)?.map(|site| site.account_id),
        None => Some(tag.account_id),
    };
    Ok(Some(tag).filter(|tag| site == Some(tag.account_id)))
}

/// The account whose site a tag names. A site keeps its name when the tag is deleted that gave it.
pub fn find_site_account(tx: &mut Tx<'_>, tag_id: &str) -> Result<Option<i64>, Fault> {
    let id = parse_event_id(tag_id).map(|(_, id)| id);
    let tag = id.map_or(Ok(None), |id| find_any_tag(tx, id))?;
    Ok(tag.map(|tag| tag.account_id))
}

fn find_any_tag(tx: &mut Tx<'_>, id: i64) -> Result<Option<AdsRecord>, Fault> {
    AdsRecord::find(tx, &WEB_EVENT_TAG, id)
}

/// The time of an event: not in the future, and at most 90 days ago.
pub fn parse_event_time(text: &str, now: Time) -> Result<Time, AdsProblem> {
    let wrong = |expected: &str| {
        let message = format!("Expected {expected}, got \"{text}\" for conversion_time");
        AdsProblem::invalid_parameter("conversion_time", text, message)
    };
    let at = parse_time(text).ok_or_else(|| wrong("a time in ISO 8601"))?;
    if at > now.plus_ms(MAX_AHEAD_MS) || at < now.plus_ms(-MAX_DELAY_MS) {
        return Err(wrong("a time within the last 90 days"));
    }
    Ok(at.min(now))
}

impl WebEvent {
    /// Visits of the same person to a page within half an hour are one, if the site gives them no ids.
    fn visit_key(&self) -> Option<i64> {
        let who = self.identifiers.first()?;
        let time = self.at.ms().div_euclid(VISIT_MS);
        Some(hash_key(&["visit", &format!("{who:?}"), &time.to_string()]))
    }

    /// The event as a conversion of its tag; `key` is that of click ids and anonymous viewers.
    pub fn to_conversion(&self, key: &[u8; 32], tag: &AdsRecord) -> ReportedConversion {
        let mut identity = ConversionIdentity::default();
        for identifier in &self.identifiers {
            match identifier {
                Identifier::ClickId(text) => identity.impression = parse_click_id(key, text).or(identity.impression),
                Identifier::Email(digest) => identity.keys.push(AudienceKeyKind::Email.to_key(digest)),
                Identifier::Phone(digest) => identity.keys.push(AudienceKeyKind::Phone.to_key(digest)),
                Identifier::Browser(address, agent) => {
                    identity.viewers.push(anonymous_viewer_id(key, address, agent));
                }
                Identifier::User(user) => identity.add_user(*user),
            }
        }
        let kind = conversion_kind(tag);
        let given = self.conversion_id.as_deref().map(|id| hash_key(&["id", id]));
        let visit = || self.visit_key().filter(|_| kind == ConversionKind::SiteVisit);
        ReportedConversion {
            source: ConversionSource::Web,
            kind,
            tag: tag.clone(),
            at: self.at,
            click_window: tag.int("click_window").unwrap_or(0),
            view_window: tag.int("view_through_window").unwrap_or(0),
            identity,
            order_quantity: self.order_quantity,
            sale_amount: self.sale_amount.clone(),
            dedup_key: given.or_else(visit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parse_event_id;

    #[test]
    fn event_ids_name_a_tag_with_or_without_the_site() {
        assert_eq!(parse_event_id("tw-a-1c"), Some((Some(10), 48)));
        assert_eq!(parse_event_id("TW-A-1C"), Some((Some(10), 48)));
        assert_eq!(parse_event_id("1C"), Some((None, 48)));
        for text in ["", "tw-", "tw-a", "a b", "tw-a-", "tw--1c", "tw-a-b-1c"] {
            assert_eq!(parse_event_id(text), None, "{text}");
        }
    }
}
