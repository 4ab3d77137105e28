//! What people do on an advertiser's site or in its app after an ad.

use ads::resources::app_event_tags::{self, APP_EVENT_TAG};
use ads::resources::web_event_tags::{self, WEB_EVENT_TAG};
use ads_engine::{AdsRecord, Resource};
use base::Fault;
use store::ledger::{ConversionKind, ConversionPath, ConversionSource};
use store::{Tx, records};

use super::dice::{Dice, MILLION};

/// A web or app event tag of the account.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimulatedTag {
    pub(super) id: i64,
    pub(super) source: ConversionSource,
    pub(super) kind: ConversionKind,
    has_view_window: bool,
}

/// How many people converted.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimulatedConversion {
    pub(super) tag: SimulatedTag,
    pub(super) path: ConversionPath,
    pub(super) people: i64,
    /// Units of the account's currency, of all of them.
    pub(super) sales: i64,
}

pub(super) fn load_tags(tx: &mut Tx<'_>, account: i64) -> Result<Vec<SimulatedTag>, Fault> {
    let mut list = |resource: &'static Resource| -> Result<Vec<AdsRecord>, Fault> {
        let rows = records::list_by_account(tx, resource.name, account)?;
        Ok(AdsRecord::from_rows(resource, rows)?.into_iter().filter(|tag| !tag.deleted).collect())
    };
    let mut all = Vec::new();
    for tag in list(&WEB_EVENT_TAG)? {
        all.push(SimulatedTag {
            id: tag.id,
            source: ConversionSource::Web,
            kind: web_event_tags::conversion_kind(&tag),
            has_view_window: tag.int("view_through_window").is_some_and(|days| days > 0),
        });
    }
    for tag in list(&APP_EVENT_TAG)? {
        if let Some(kind) = app_event_tags::conversion_kind(tag.text("conversion_type")) {
            all.push(SimulatedTag {
                id: tag.id,
                source: ConversionSource::App,
                kind,
                has_view_window: tag.int("post_view_attribution_window").is_some_and(|days| days > 0),
            });
        }
    }
    all.sort_by_key(|tag| tag.id);
    Ok(all)
}

impl SimulatedTag {
    /// Whether an ad of the line item leads to where the tag is.
    fn is_reached_by(self, item: &AdsRecord) -> bool {
        let is_app = matches!(item.text("objective"), "APP_INSTALLS" | "APP_ENGAGEMENTS");
        let primary = item.text("primary_web_event_tag");
        match self.source {
            ConversionSource::App => is_app,
            ConversionSource::Web => {
                !is_app && (primary.is_empty() || WEB_EVENT_TAG.id_format.parse(primary) == Some(self.id))
            }
        }
    }

    /// Of those who clicked, in millionths.
    const fn click_rate(self) -> i64 {
        match self.kind {
            ConversionKind::SiteVisit | ConversionKind::LandingPageView => 620_000,
            ConversionKind::ContentView | ConversionKind::KeyPageView => 330_000,
            ConversionKind::Install => 190_000,
            ConversionKind::AddToCart | ConversionKind::Search => 90_000,
            ConversionKind::CheckoutInitiated | ConversionKind::SignUp | ConversionKind::Login => 45_000,
            ConversionKind::Purchase => 26_000,
            _ => 35_000,
        }
    }
}

/// Conversions of the people who saw an ad of the line item and of those who clicked on it; at most as many as these,
/// for each tag.
pub(super) fn draw(
    dice: &Dice,
    item: &AdsRecord,
    tags: &[SimulatedTag],
    (people, clicks): (i64, i64),
) -> Result<Vec<SimulatedConversion>, Fault> {
    let mut all = Vec::new();
    for tag in tags.iter().copied().filter(|tag| tag.is_reached_by(item)) {
        let after_click = dice.successes(clicks, tag.click_rate())?;
        // One in a thousand of those who only saw it.
        let view_rate = if tag.has_view_window { tag.click_rate() / 1000 } else { 0 };
        let after_view = dice.successes((people - clicks).max(0), view_rate.min(MILLION))?;
        for (path, people) in [(ConversionPath::Engagement, after_click), (ConversionPath::View, after_view)] {
            if people > 0 {
                let sales = match tag.kind {
                    ConversionKind::Purchase => people.saturating_mul(18 + dice.below(40)?),
                    _ => 0,
                };
                all.push(SimulatedConversion { tag, path, people, sales });
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use ads::resources::line_items::LINE_ITEM;
    use ads_engine::AdsRecord;
    use base::Time;
    use store::ledger::{ConversionKind, ConversionPath, ConversionSource};

    use super::{Dice, SimulatedTag, draw};

    #[test]
    fn one_in_forty_who_click_buys_something() {
        let source = ConversionSource::Web;
        let tag = SimulatedTag { id: 1, source, kind: ConversionKind::Purchase, has_view_window: false };
        let item = AdsRecord::new(&LINE_ITEM, 1, 1, Time::from_ms(0));
        let drawn = draw(&Dice::from_parts(&[7]), &item, &[tag], (100_000, 10_000)).unwrap();
        let [conversion] = drawn.as_slice() else { panic!("{drawn:?}") };
        assert_eq!(conversion.path, ConversionPath::Engagement);
        assert!((180..340).contains(&conversion.people) && conversion.sales >= conversion.people * 18, "{drawn:?}");
    }
}
