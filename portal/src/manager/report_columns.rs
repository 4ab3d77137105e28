//! The columns of reports.

use ads::budget::format_amount;
use ads_delivery::analytics::results::StatsRow;
use store::ledger::Metric;

use super::labels::{format_integer, format_money};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Count(Metric),
    Money(Metric),
    /// A part of another metric, in percent.
    Percent(Metric, Metric),
    /// Spend for each of a metric, times a factor.
    Cost(Metric, i64),
    /// What the goals of the line items count.
    Results,
    CostPerResult,
}

#[derive(PartialEq, Eq)]
pub(super) struct ReportColumn {
    /// In the query.
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) column: Column,
    /// Whether it is shown unless columns are chosen.
    pub(super) is_default: bool,
}

impl ReportColumn {
    const fn new(name: &'static str, label: &'static str, column: Column) -> Self {
        Self { name, label, column, is_default: false }
    }

    const fn shown_by_default(self) -> Self {
        Self { is_default: true, ..self }
    }
}

pub(super) static COLUMNS: &[ReportColumn] = &[
    ReportColumn::new("spend", "Spend", Column::Money(Metric::Charge)).shown_by_default(),
    ReportColumn::new("impressions", "Impressions", Column::Count(Metric::Impressions)).shown_by_default(),
    ReportColumn::new("results", "Results", Column::Results).shown_by_default(),
    ReportColumn::new("cost-per-result", "Cost per result", Column::CostPerResult).shown_by_default(),
    ReportColumn::new("cpm", "Cost per 1,000 impressions", Column::Cost(Metric::Impressions, 1000)),
    ReportColumn::new("engagements", "Engagements", Column::Count(Metric::Engagements)),
    ReportColumn::new("engagement-rate", "Engagement rate", Column::Percent(Metric::Engagements, Metric::Impressions)),
    ReportColumn::new("clicks", "Clicks", Column::Count(Metric::Clicks)).shown_by_default(),
    ReportColumn::new("click-rate", "Click rate", Column::Percent(Metric::Clicks, Metric::Impressions))
        .shown_by_default(),
    ReportColumn::new("cpc", "Cost per click", Column::Cost(Metric::Clicks, 1)),
    ReportColumn::new("link-clicks", "Link clicks", Column::Count(Metric::UrlClicks)),
    ReportColumn::new("app-clicks", "App clicks", Column::Count(Metric::AppClicks)),
    ReportColumn::new("card-engagements", "Card engagements", Column::Count(Metric::CardEngagements)),
    ReportColumn::new("likes", "Likes", Column::Count(Metric::Likes)),
    ReportColumn::new("replies", "Replies", Column::Count(Metric::Replies)),
    ReportColumn::new("reposts", "Reposts", Column::Count(Metric::Reposts)),
    ReportColumn::new("follows", "Follows", Column::Count(Metric::Follows)),
    ReportColumn::new("poll-votes", "Poll votes", Column::Count(Metric::PollVotes)),
    ReportColumn::new("conversions", "Conversions", Column::Count(Metric::Conversions)),
    ReportColumn::new("cost-per-conversion", "Cost per conversion", Column::Cost(Metric::Conversions, 1)),
    ReportColumn::new("video-views", "Video views", Column::Count(Metric::VideoViews)),
    ReportColumn::new("video-completions", "Video completions", Column::Count(Metric::Video100)),
    ReportColumn::new("cost-per-view", "Cost per video view", Column::Cost(Metric::VideoViews, 1)),
];

impl Column {
    /// A count, micros, or thousandths of a percent; `None` for a division by zero, or if nothing records it.
    fn value(self, row: &StatsRow) -> Option<i64> {
        let sums = &row.sums;
        match self {
            Self::Count(metric) | Self::Money(metric) => Some(sums.get(metric)),
            Self::Percent(part, whole) => sums.get(part).saturating_mul(100_000).checked_div(sums.get(whole)),
            Self::Cost(metric, factor) => sums.get(Metric::Charge).saturating_mul(factor).checked_div(sums.get(metric)),
            Self::Results => row.results,
            Self::CostPerResult => row.cost_per_result(),
        }
    }

    pub(super) fn label(self, row: &StatsRow, currency: &str) -> String {
        let Some(value) = self.value(row) else {
            return "–".to_owned();
        };
        match self {
            Self::Count(_) | Self::Results => format_integer(value),
            Self::Money(_) | Self::Cost(..) | Self::CostPerResult => format_money(value, currency),
            Self::Percent(..) => format!("{} %", format_thousandths(value)),
        }
    }

    /// The value before, and the change in percent.
    pub(super) fn change_label(self, row: &StatsRow, previous: &StatsRow, currency: &str) -> String {
        let before = self.label(previous, currency);
        let change = self.value(row).zip(self.value(previous)).filter(|(_, before)| *before != 0);
        match change {
            Some((now, earlier)) => {
                let percent = i128::from(now - earlier) * 100 / i128::from(earlier);
                format!("{before} ({percent:+} %)")
            }
            None => before,
        }
    }

    /// For other programs: without separators or units.
    pub(super) fn plain(self, row: &StatsRow) -> String {
        let Some(value) = self.value(row) else {
            return String::new();
        };
        match self {
            Self::Count(_) | Self::Results => value.to_string(),
            Self::Money(_) | Self::Cost(..) | Self::CostPerResult => format_amount(value),
            Self::Percent(..) => format_thousandths(value),
        }
    }
}

/// Rounded down to two decimal places.
fn format_thousandths(value: i64) -> String {
    format!("{}.{:02}", value / 1000, value % 1000 / 10)
}

#[cfg(test)]
mod tests {
    use ads_delivery::analytics::results::StatsRow;
    use store::ledger::{AdEventKind, Metric};

    use super::Column;

    #[test]
    fn a_value_is_compared_with_the_one_before() {
        let mut now = StatsRow { results: Some(15), ..StatsRow::default() };
        now.sums.count_events(AdEventKind::Impression, 1000, 0, 0);
        now.sums.count_events(AdEventKind::Click, 15, 15, 3_000_000);
        let mut before = StatsRow { results: None, ..StatsRow::default() };
        before.sums.count_events(AdEventKind::Impression, 800, 0, 0);
        assert_eq!(Column::CostPerResult.label(&now, "EUR"), "0.20 EUR");
        assert_eq!(Column::Results.change_label(&now, &before, "EUR"), "–");
        let rate = Column::Percent(Metric::Clicks, Metric::Impressions);
        assert_eq!(rate.label(&now, "EUR"), "1.50 %");
        assert_eq!(rate.change_label(&now, &before, "EUR"), "0.00 %");
        let impressions = Column::Count(Metric::Impressions);
        assert_eq!(impressions.change_label(&now, &before, "EUR"), "800 (+25 %)");
        assert_eq!(impressions.change_label(&before, &now, "EUR"), "1,000 (-20 %)");
        assert_eq!(Column::Cost(Metric::Clicks, 1).label(&now, "EUR"), "0.20 EUR");
        assert_eq!(Column::Cost(Metric::Clicks, 1).label(&before, "EUR"), "–");
        assert_eq!(Column::Cost(Metric::Impressions, 1000).plain(&now), "3.00");
    }
}
