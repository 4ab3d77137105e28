//! The ledger of advertising: what happened to what is promoted, row by row, and sums of it. All
//! figures of advertising come from here.
//!
//! Rows are only ever added. The sums by the hour and of all time are written in the same
//! transaction, so that a budget is compared with what was spent up to this very row, and so that
//! figures cost the same however many rows there are.

mod adding;
mod auctions;
mod jobs;
mod reading;
mod videos;
mod words;

use base::Time;

pub use adding::{add, owe};
pub use auctions::{Bidding, Contest, contests, forget_auctions, note_auction};
pub use jobs::{
    Job, JobState, expire, file, insert_job, job, jobs, move_job, open_count, open_jobs,
};
pub use reading::{
    Active, Cut, Part, Segment, Viewed, active, by_impression, hours, impressions_of, parts,
    shown_to, spent, spent_in, total, totals, viewed, viewers,
};
pub use videos::{note_video, videos_shown_before};
pub use words::{Entity, Kind, METRICS, Metric, Origin, Placement, Sums};

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Its own id.
    pub id: i64,
    /// When it happened.
    pub at: Time,
    /// What it is.
    pub kind: Kind,
    /// The account.
    pub account_id: i64,
    /// What pays.
    pub funding_id: i64,
    /// The campaign.
    pub campaign_id: i64,
    /// The line item.
    pub line_item_id: i64,
    /// What kind of thing was shown.
    pub creative: Entity,
    /// Which of them.
    pub creative_id: i64,
    /// The post or user that it shows; 0 where it shows neither.
    pub subject: i64,
    /// Who saw it: a user, or less than nothing for someone who is none.
    pub viewer: i64,
    /// Where.
    pub placement: Placement,
    /// The viewer as it was then.
    pub looks: Looks,
    /// What the auction came to.
    pub price_micro: i64,
    /// Whether it is paid for.
    pub billed: bool,
    /// What it costs.
    pub charge_micro: i64,
    /// How it came to be known.
    pub origin: Origin,
    /// The impression that it belongs to; each has one of each kind.
    pub once: i64,
    /// How many milliseconds after the full hour the hours of the account's time zone begin.
    pub shift: i64,
}

/// What is known of a viewer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looks {
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

const HOUR: i64 = 3_600_000;

/// The hour that a moment is in, where hours begin so long after the full one.
pub const fn hour_of(at: i64, shift: i64) -> i64 {
    (at - shift).div_euclid(HOUR) * HOUR + shift
}
