//! The ad ledger: events of promoted entities and sums of them. All advertising metrics come from here.
//!
//! Events are only ever added. Hourly and total sums are updated in the same transaction, so that budgets include
//! every event, and the cost of a report does not depend on the number of events.

mod auctions;
mod conversions;
mod insertion;
mod jobs;
mod queries;
mod simulations;
mod videos;
mod vocabulary;

use base::Time;

use crate::db::table;

pub use auctions::{
    AuctionBid, AuctionStatistics, load_auction_statistics, load_auction_statistics_between, prune_auctions,
    record_auction,
};
pub use conversions::{
    AdConversion, ConversionReportRow, ConversionSums, ConversionTotals, assist_conversions, has_conversion_key,
    hourly_conversions, insert_conversions, load_conversion_report, prune_conversion_keys, record_conversion_key,
};
pub use insertion::{insert_events, set_owed};
pub use jobs::{
    AnalyticsJob, AnalyticsJobState, count_open_jobs, delete_expired_files, find_job, find_job_file, insert_job,
    list_account_engagement_jobs, list_jobs, list_open_jobs, prune_jobs, transition_job,
};
pub use queries::{
    ActiveEntity, ReportFilter, ReportRow, ReportSegment, SegmentViewer, ViewerImpressions, count_viewer_impressions,
    event_kinds_by_impressions, hourly_sums, hourly_sums_of_post, list_account_impressions_of_viewer,
    list_active_entities, list_events_by_impressions, list_impressions_of_viewer, list_line_item_impressions,
    list_segment_viewers, list_viewers, load_report, spend_between, sums_between, total_spend, total_sums_by_entity,
};
pub use simulations::{SimulatedPeriod, has_simulated_events, list_simulated_periods, record_simulated_period};
pub use videos::{count_videos_with_ads, record_video_ad};
pub use vocabulary::{
    AdEntity, AdEventKind, AdEventOrigin, ConversionKind, ConversionPath, ConversionSource, METRIC_COUNT, Metric,
    MetricSums, Placement,
};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AdEvent in "ad_event" {
        pub id: i64,
        pub at: Time as "event_time",
        pub kind: AdEventKind,
        pub account_id: i64,
        pub funding_id: i64 as "funding_instrument_id",
        pub campaign_id: i64,
        pub line_item_id: i64,
        pub creative: AdEntity,
        pub creative_id: i64,
        /// The post or user shown; 0 for neither.
        pub subject_id: i64 as "subject",
        /// A user, or a negative number for an anonymous viewer.
        pub viewer_id: i64 as "viewer",
        pub placement: Placement,
        /// The auction price, in micros of the account's currency.
        pub price_micro: i64,
        /// How many of those it stands for are charged.
        pub billed: i64,
        /// Micros of the account's currency.
        pub charge_micro: i64,
        pub origin: AdEventOrigin,
        /// An impression has at most one event of each kind.
        pub impression_id: i64 as "once",
        /// The number of impressions or engagements it stands for, each by another person; 1 unless simulated.
        pub weight: i64,
    }
    read_only {
        /// At the time of the event.
        pub viewer_traits: ViewerTraits as "platform, country, metro, age, gender",
    }
    transient {
        /// Milliseconds between full hours and the hours of the account's time zone.
        pub hour_offset_ms: i64,
    }
}

table! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ViewerTraits in "ad_event" {
        /// The platform's number (contract ads §9.4).
        pub platform: Option<i64>,
        /// Two letters, or empty.
        pub country: String,
        /// The place id of the metropolitan area, or empty.
        pub metro: String,
        /// The lower bound of the age bucket.
        pub age: Option<i64>,
        /// 1 male, 2 female.
        pub gender: Option<i64>,
    }
}

const HOUR_MS: i64 = 3_600_000;

/// The start of the hour of a time (ms), for hours shifted by `shift` ms.
pub const fn hour_start(at: i64, shift: i64) -> i64 {
    (at - shift).div_euclid(HOUR_MS) * HOUR_MS + shift
}
