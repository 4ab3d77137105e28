//! The ledger of advertising: what happened to what is promoted, row by row, and sums of it. All
//! figures of advertising come from here.
//!
//! Rows are only ever added. The sums by the hour and of all time are written in the same
//! transaction, so that a budget is compared with what was spent up to this very row, and so that
//! figures cost the same however many rows there are.

mod auctions;
mod insertion;
mod jobs;
mod queries;
mod videos;
mod vocabulary;

use base::Time;

pub use auctions::{AuctionBid, AuctionStatistics, load_auction_statistics, prune_auctions, record_auction};
pub use insertion::{insert_events, set_owed};
pub use jobs::{
    AnalyticsJob, AnalyticsJobState, count_open_jobs, delete_expired_files, find_job, find_job_file, insert_job,
    list_jobs, list_open_jobs, transition_job,
};
pub use queries::{
    ActiveEntity, ReportFilter, ReportRow, ReportSegment, ViewerImpressions, count_viewer_impressions,
    event_kinds_by_impressions, hourly_sums, list_active_entities, list_impressions_of_viewer,
    list_line_item_impressions, list_viewers, load_report, spend_between, total_spend, total_sums,
    total_sums_by_entity,
};
pub use videos::{count_videos_with_ads, record_video_ad};
pub use vocabulary::{AdEntity, AdEventKind, AdEventOrigin, METRIC_COUNT, Metric, MetricSums, Placement};

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdEvent {
    /// Its own id.
    pub id: i64,
    /// When it happened.
    pub at: Time,
    /// What it is.
    pub kind: AdEventKind,
    /// The account.
    pub account_id: i64,
    /// What pays.
    pub funding_id: i64,
    /// The campaign.
    pub campaign_id: i64,
    /// The line item.
    pub line_item_id: i64,
    /// What kind of thing was shown.
    pub creative: AdEntity,
    /// Which of them.
    pub creative_id: i64,
    /// The post or user that it shows; 0 where it shows neither.
    pub subject_id: i64,
    /// Who saw it: a user, or less than nothing for someone who is none.
    pub viewer_id: i64,
    /// Where.
    pub placement: Placement,
    /// The viewer as it was then.
    pub viewer_traits: ViewerTraits,
    /// What the auction came to.
    pub price_micro: i64,
    /// Whether it is paid for.
    pub billed: bool,
    /// What it costs.
    pub charge_micro: i64,
    /// How it came to be known.
    pub origin: AdEventOrigin,
    /// The impression that it belongs to; each has one of each kind.
    pub impression_id: i64,
    /// How many milliseconds after the full hour the hours of the account's time zone begin.
    pub hour_offset_ms: i64,
}

/// What is known of a viewer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewerTraits {
    /// The platform's number (contract §9.4).
    pub platform: Option<i64>,
    /// The country, two letters, or empty.
    pub country: String,
    /// The metropolitan area's place, or empty.
    pub metro: String,
    /// The least age of its bucket.
    pub age: Option<i64>,
    /// 1 male, 2 female.
    pub gender: Option<i64>,
}

const HOUR_MS: i64 = 3_600_000;

/// The hour that a moment is in, where hours begin so long after the full one.
pub const fn hour_start(at: i64, shift: i64) -> i64 {
    (at - shift).div_euclid(HOUR_MS) * HOUR_MS + shift
}
