//! The words of the ledger, each with the number that it is stored as.

/// Declares an enumeration whose members are stored as numbers and have names.
macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $member:ident = $number:literal $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$about])* $member,)* }

        impl $name {
            /// Every one of them, in their order.
            pub const ALL: &'static [Self] = &[$(Self::$member),*];

            /// As it is stored.
            pub const fn to_number(self) -> i64 {
                match self { $(Self::$member => $number),* }
            }

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$member => $text),* }
            }

            /// The one that is stored as a number.
            pub fn from_number(number: i64) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.to_number() == number)
            }

            /// The one with a name.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }
        }
    };
}

numbered! {
    /// What sums are kept of.
    AdEntity {
        /// An account.
        Account = 1 "ACCOUNT",
        /// What pays.
        Funding = 2 "FUNDING_INSTRUMENT",
        /// A campaign.
        Campaign = 3 "CAMPAIGN",
        /// A line item.
        LineItem = 4 "LINE_ITEM",
        /// A post that a line item shows.
        PromotedPost = 5 "PROMOTED_POST",
        /// A user whom a line item recommends.
        PromotedAccount = 6 "PROMOTED_ACCOUNT",
        /// Media that a line item shows.
        MediaCreative = 7 "MEDIA_CREATIVE",
        /// A post, wherever it is promoted.
        Post = 8 "POST",
    }
}

numbered! {
    /// What happened. The names are those under which serving clients report.
    AdEventKind {
        /// It was shown.
        Impression = 0 "impression",
        /// It was in full view for a second.
        Qualified = 1 "qualified_impression",
        /// Something of it was clicked that has no kind of its own.
        Click = 2 "click",
        /// Its link was opened.
        UrlClick = 3 "url_click",
        /// Its app was opened, or its page in a store.
        AppClick = 4 "app_click",
        /// Its card was used.
        CardEngagement = 5 "card_engagement",
        /// Its carousel was moved on.
        Swipe = 6 "carousel_swipe",
        /// It was liked.
        Like = 7 "like",
        /// It was reposted.
        Repost = 8 "repost",
        /// It was replied to.
        Reply = 9 "reply",
        /// Its advertiser was followed.
        Follow = 10 "follow",
        /// Its poll was voted in.
        PollVote = 11 "poll_vote",
        /// Its video began.
        VideoStart = 12 "video_content_start",
        /// Its video was in full view for three seconds, or started by hand.
        VideoView = 13 "video_view",
        /// A quarter of it was played.
        Video25 = 14 "video_25",
        /// Half of it.
        Video50 = 15 "video_50",
        /// Three quarters of it.
        Video75 = 16 "video_75",
        /// All of it.
        Video100 = 17 "video_100",
        /// What the video calls to was clicked.
        VideoCta = 18 "video_cta_click",
        /// Three seconds of it were in full view.
        Video3 = 19 "video_3s",
        /// Six seconds of it were seen.
        Video6 = 20 "video_6s",
        /// Fifteen seconds of it were seen.
        Video15 = 21 "video_15s",
        /// Half of it was in view for two seconds.
        VideoMrc = 22 "video_mrc_view",
        /// The link of its card was opened.
        CardClick = 23 "card_click",
    }
}

numbered! {
    /// How it came to be known.
    AdEventOrigin {
        /// A serving client reported it.
        Served = 0 "served",
        /// Somebody did it on the platform.
        Attributed = 1 "attributed",
        /// It was made up for developers.
        Simulated = 2 "simulated",
    }
}

numbered! {
    /// Where it was shown. Sixteen numbers belong to each group that figures are asked for by.
    Placement {
        /// On the platform, no matter where.
        AllOn = 0 "ALL_ON_TWITTER",
        /// In a home timeline.
        Timeline = 1 "TWITTER_TIMELINE",
        /// Among results of a search.
        Search = 2 "TWITTER_SEARCH",
        /// On a profile.
        Profile = 3 "TWITTER_PROFILE",
        /// Among replies.
        Replies = 4 "TWITTER_REPLIES",
        /// Elsewhere.
        Publishers = 16 "PUBLISHER_NETWORK",
        /// A banner elsewhere.
        Banner = 17 "TAP_BANNER",
        /// A whole page elsewhere.
        Full = 18 "TAP_FULL",
        /// A whole page elsewhere, lying.
        FullLandscape = 19 "TAP_FULL_LANDSCAPE",
        /// Made like its surroundings elsewhere.
        Native = 20 "TAP_NATIVE",
        /// A rectangle elsewhere.
        Rectangle = 21 "TAP_MRECT",
        /// At the top of what is going on.
        Spotlight = 32 "SPOTLIGHT",
        /// Among trends.
        Trend = 48 "TREND",
    }
}

/// How many numbers of placements belong to a group.
pub(super) const PLACEMENT_GROUP_SIZE: i64 = 16;

impl Placement {
    /// The group that figures count it in.
    #[must_use]
    pub const fn group(self) -> Self {
        match self.to_number() / PLACEMENT_GROUP_SIZE {
            0 => Self::AllOn,
            1 => Self::Publishers,
            2 => Self::Spotlight,
            _ => Self::Trend,
        }
    }
}

/// Declares what is summed: a column each.
macro_rules! metrics {
    ($($(#[$doc:meta])* $member:ident = $number:literal $column:literal,)*) => {
        numbered! {
            /// What is summed.
            Metric { $($(#[$doc])* $member = $number $column,)* }
        }

        /// The columns of sums, in the order of the metrics.
        macro_rules! metric_columns {
            () => { concat!($($column, ", "),*) };
        }
    };
}

metrics! {
    /// How often it was shown.
    Impressions = 0 "impressions",
    /// How often in full view.
    Qualified = 1 "qualified_impressions",
    /// How often anything was done with it.
    Engagements = 2 "engagements",
    /// Clicks of every kind.
    Clicks = 3 "clicks",
    /// Links opened.
    UrlClicks = 4 "url_clicks",
    /// Apps opened.
    AppClicks = 5 "app_clicks",
    /// Cards used.
    CardEngagements = 6 "card_engagements",
    /// Carousels moved on.
    Swipes = 7 "carousel_swipes",
    /// Likes.
    Likes = 8 "likes",
    /// Reposts.
    Reposts = 9 "reposts",
    /// Replies.
    Replies = 10 "replies",
    /// Follows.
    Follows = 11 "follows",
    /// Votes in polls.
    PollVotes = 12 "poll_votes",
    /// What is paid for.
    Billed = 13 "billed",
    /// What it costs, in millionths.
    Charge = 14 "charge_micro",
    /// Videos begun.
    VideoStarts = 15 "video_starts",
    /// Videos viewed.
    VideoViews = 16 "video_views",
    /// Videos played to a quarter.
    Video25 = 17 "video_25",
    /// To the half.
    Video50 = 18 "video_50",
    /// To three quarters.
    Video75 = 19 "video_75",
    /// To the end.
    Video100 = 20 "video_100",
    /// Calls of videos answered.
    VideoCta = 21 "video_cta_clicks",
    /// Three seconds in full view.
    Video3 = 22 "video_3s",
    /// Six seconds.
    Video6 = 23 "video_6s",
    /// Fifteen seconds.
    Video15 = 24 "video_15s",
    /// Half in view for two seconds.
    VideoMrc = 25 "video_mrc",
}
pub(super) use metric_columns;

/// How many metrics there are.
pub const METRIC_COUNT: usize = 26;

impl AdEventKind {
    /// Which metrics it counts in.
    pub const fn metrics(self) -> &'static [Metric] {
        use Metric as M;
        match self {
            Self::Impression => &[M::Impressions],
            Self::Qualified => &[M::Qualified],
            Self::Click => &[M::Clicks, M::Engagements],
            Self::UrlClick => &[M::UrlClicks, M::Clicks, M::Engagements],
            Self::AppClick => &[M::AppClicks, M::Clicks, M::Engagements],
            Self::CardEngagement => &[M::CardEngagements, M::Engagements],
            Self::Swipe => &[M::Swipes, M::Engagements],
            Self::Like => &[M::Likes, M::Engagements],
            Self::Repost => &[M::Reposts, M::Engagements],
            Self::Reply => &[M::Replies, M::Engagements],
            Self::Follow => &[M::Follows, M::Engagements],
            Self::PollVote => &[M::PollVotes, M::Engagements],
            Self::VideoStart => &[M::VideoStarts],
            Self::VideoView => &[M::VideoViews],
            Self::Video25 => &[M::Video25],
            Self::Video50 => &[M::Video50],
            Self::Video75 => &[M::Video75],
            Self::Video100 => &[M::Video100],
            Self::VideoCta => &[M::VideoCta, M::Clicks, M::Engagements],
            Self::Video3 => &[M::Video3],
            Self::Video6 => &[M::Video6],
            Self::Video15 => &[M::Video15],
            Self::VideoMrc => &[M::VideoMrc],
            Self::CardClick => &[M::CardEngagements, M::UrlClicks, M::Clicks, M::Engagements],
        }
    }

    /// What else the same click may be reported as.
    pub const fn equivalent_click(self) -> Option<Self> {
        match self {
            Self::UrlClick => Some(Self::CardClick),
            Self::CardClick => Some(Self::UrlClick),
            _ => None,
        }
    }

    /// Whether somebody did something with what was shown.
    pub fn is_engagement(self) -> bool {
        self.metrics().contains(&Metric::Engagements)
    }
}

/// Sums of all metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricSums(pub(super) [i64; METRIC_COUNT]);

impl Default for MetricSums {
    fn default() -> Self {
        Self([0; METRIC_COUNT])
    }
}

impl MetricSums {
    /// The sum of one.
    pub fn get(&self, metric: Metric) -> i64 {
        let place = usize::try_from(metric.to_number()).unwrap_or(METRIC_COUNT);
        self.0.get(place).copied().unwrap_or(0)
    }

    /// Adds to one.
    pub fn add(&mut self, metric: Metric, number: i64) {
        let place = usize::try_from(metric.to_number()).unwrap_or(METRIC_COUNT);
        if let Some(sum) = self.0.get_mut(place) {
            *sum = sum.saturating_add(number);
        }
    }

    /// Adds others.
    pub fn merge(&mut self, other: &Self) {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            *sum = sum.saturating_add(more);
        }
    }

    /// Counts so many of a kind, some of them billed, and what they cost.
    pub fn count_events(&mut self, kind: AdEventKind, number: i64, billed: i64, charge: i64) {
        for metric in kind.metrics() {
            self.add(*metric, number);
        }
        self.add(Metric::Billed, billed);
        self.add(Metric::Charge, charge);
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|sum| *sum == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::{METRIC_COUNT, Metric};

    #[test]
    fn metrics_are_numbered_as_they_stand() {
        assert_eq!(Metric::ALL.len(), METRIC_COUNT);
        for (place, metric) in Metric::ALL.iter().enumerate() {
            assert_eq!(usize::try_from(metric.to_number()).unwrap(), place);
        }
    }
}
