//! Enumerations of the ledger, and the numbers they are stored as.

use crate::db::{FromCells, RowCells, stored_enum, trim_list};

stored_enum! {
    pub enum AdEntity {
        Account = 1 "ACCOUNT",
        Funding = 2 "FUNDING_INSTRUMENT",
        Campaign = 3 "CAMPAIGN",
        LineItem = 4 "LINE_ITEM",
        PromotedPost = 5 "PROMOTED_POST",
        PromotedAccount = 6 "PROMOTED_ACCOUNT",
        MediaCreative = 7 "MEDIA_CREATIVE",
        /// A post, however it is promoted.
        Post = 8 "POST",
        /// What was simulated of [`Self::Post`].
        SimulatedPost = 9 "SIMULATED_POST",
    }
}

stored_enum! {
    /// The names are those that ad clients report.
    pub enum AdEventKind {
        Impression = 0 "impression",
        /// In full view for one second.
        Qualified = 1 "qualified_impression",
        /// A click without a kind of its own.
        Click = 2 "click",
        UrlClick = 3 "url_click",
        /// The app or its store page was opened.
        AppClick = 4 "app_click",
        CardEngagement = 5 "card_engagement",
        Swipe = 6 "carousel_swipe",
        Like = 7 "like",
        Repost = 8 "repost",
        Reply = 9 "reply",
        Follow = 10 "follow",
        PollVote = 11 "poll_vote",
        VideoStart = 12 "video_content_start",
        /// In full view for three seconds, or started by hand.
        VideoView = 13 "video_view",
        Video25 = 14 "video_25",
        Video50 = 15 "video_50",
        Video75 = 16 "video_75",
        Video100 = 17 "video_100",
        /// The video's call to action was clicked.
        VideoCta = 18 "video_cta_click",
        /// Three seconds in full view.
        Video3 = 19 "video_3s",
        Video6 = 20 "video_6s",
        Video15 = 21 "video_15s",
        /// Half in view for two seconds.
        VideoMrc = 22 "video_mrc_view",
        CardClick = 23 "card_click",
        /// On the advertiser's site or in its app; the details are in an [`super::AdConversion`]. Ad clients do not
        /// report it.
        Conversion = 24 "conversion",
    }
}

stored_enum! {
    pub enum AdEventOrigin {
        /// Reported by an ad client.
        Served = 0 "served",
        /// Attributed to an action on the platform.
        Attributed = 1 "attributed",
        /// Generated for developers.
        Simulated = 2 "simulated",
    }
}

stored_enum! {
    /// Where a conversion happened.
    pub enum ConversionSource {
        Web = 1 "web",
        App = 2 "app",
    }
}

stored_enum! {
    /// What a conversion was; the names are those of the metrics.
    pub enum ConversionKind {
        Purchase = 1 "purchases",
        SignUp = 2 "sign_ups",
        SiteVisit = 3 "site_visits",
        Download = 4 "downloads",
        Custom = 5 "custom",
        AddToCart = 6 "add_to_carts",
        CheckoutInitiated = 7 "checkouts_initiated",
        ContentView = 8 "content_views",
        PaymentInfoAddition = 9 "payment_info_additions",
        AddToWishlist = 10 "add_to_wishlists",
        Search = 11 "searches",
        LandingPageView = 12 "landing_page_views",
        Subscription = 13 "subscriptions",
        Install = 14 "installs",
        ReEngagement = 15 "re_engages",
        Update = 16 "updates",
        Login = 17 "logins",
        Reservation = 18 "reservations",
        LevelAchieved = 19 "levels_achieved",
        AchievementUnlocked = 20 "achievements_unlocked",
        Share = 21 "shares",
        Invite = 22 "invites",
        SpentCredits = 23 "spent_credits",
        Rating = 24 "rates",
        TutorialCompleted = 25 "tutorials_completed",
        KeyPageView = 26 "key_page_views",
    }
}

stored_enum! {
    /// How the ad led to a conversion.
    pub enum ConversionPath {
        /// The ad was seen, not engaged with.
        View = 1 "post_view",
        Engagement = 2 "post_engagement",
    }
}

stored_enum! {
    /// Each placement group has a range of sixteen numbers.
    pub enum Placement {
        AllOn = 0 "ALL_ON_TWITTER",
        Timeline = 1 "TWITTER_TIMELINE",
        Search = 2 "TWITTER_SEARCH",
        Profile = 3 "TWITTER_PROFILE",
        Replies = 4 "TWITTER_REPLIES",
        Publishers = 16 "PUBLISHER_NETWORK",
        Banner = 17 "TAP_BANNER",
        Full = 18 "TAP_FULL",
        FullLandscape = 19 "TAP_FULL_LANDSCAPE",
        Native = 20 "TAP_NATIVE",
        Rectangle = 21 "TAP_MRECT",
        Spotlight = 32 "SPOTLIGHT",
        Trend = 48 "TREND",
    }
}

/// Numbers per placement group.
pub(super) const PLACEMENT_GROUP_SIZE: i64 = 16;

impl Placement {
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

/// Declares the metrics, each with a column.
macro_rules! metrics {
    ($($(#[$doc:meta])* $member:ident = $number:literal $column:literal,)*) => {
        stored_enum! {
            pub enum Metric { $($(#[$doc])* $member = $number $column,)* }
        }

        /// In the order of the metrics.
        pub(super) const METRIC_COLUMNS: &str = trim_list(concat!($($column, ", "),*));
    };
}

metrics! {
    Impressions = 0 "impressions",
    Qualified = 1 "qualified_impressions",
    Engagements = 2 "engagements",
    Clicks = 3 "clicks",
    UrlClicks = 4 "url_clicks",
    AppClicks = 5 "app_clicks",
    CardEngagements = 6 "card_engagements",
    Swipes = 7 "carousel_swipes",
    Likes = 8 "likes",
    Reposts = 9 "reposts",
    Replies = 10 "replies",
    Follows = 11 "follows",
    PollVotes = 12 "poll_votes",
    Billed = 13 "billed",
    /// Micros.
    Charge = 14 "charge_micro",
    VideoStarts = 15 "video_starts",
    VideoViews = 16 "video_views",
    Video25 = 17 "video_25",
    Video50 = 18 "video_50",
    Video75 = 19 "video_75",
    Video100 = 20 "video_100",
    VideoCta = 21 "video_cta_clicks",
    Video3 = 22 "video_3s",
    Video6 = 23 "video_6s",
    Video15 = 24 "video_15s",
    VideoMrc = 25 "video_mrc",
    Conversions = 26 "conversions",
}

pub const METRIC_COUNT: usize = 27;

impl AdEventKind {
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
            Self::Conversion => &[M::Conversions],
        }
    }

    /// The other kind that the same click may be reported as.
    pub const fn equivalent_click(self) -> Option<Self> {
        match self {
            Self::UrlClick => Some(Self::CardClick),
            Self::CardClick => Some(Self::UrlClick),
            _ => None,
        }
    }

    pub fn is_engagement(self) -> bool {
        self.metrics().contains(&Metric::Engagements)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricSums(pub(super) [i64; METRIC_COUNT]);

impl Default for MetricSums {
    fn default() -> Self {
        Self([0; METRIC_COUNT])
    }
}

impl FromCells for MetricSums {
    fn from_cells(cells: &mut RowCells<'_, '_, '_>) -> Result<Self, base::Fault> {
        cells.read().map(Self)
    }
}

impl MetricSums {
    pub fn get(&self, metric: Metric) -> i64 {
        let index = usize::try_from(metric.to_number()).unwrap_or(METRIC_COUNT);
        self.0.get(index).copied().unwrap_or(0)
    }

    pub fn add(&mut self, metric: Metric, number: i64) {
        let index = usize::try_from(metric.to_number()).unwrap_or(METRIC_COUNT);
        if let Some(sum) = self.0.get_mut(index) {
            *sum = sum.saturating_add(number);
        }
    }

    pub fn merge(&mut self, other: &Self) {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            *sum = sum.saturating_add(more);
        }
    }

    pub fn subtract(&mut self, other: &Self) {
        for (sum, less) in self.0.iter_mut().zip(other.0) {
            *sum = sum.saturating_sub(less);
        }
    }

    /// `charge` is in micros.
    pub fn count_events(&mut self, kind: AdEventKind, number: i64, billed: i64, charge: i64) {
        for metric in kind.metrics() {
            self.add(*metric, number);
        }
        self.add(Metric::Billed, billed);
        self.add(Metric::Charge, charge);
    }

    /// Those of which the platform has no rows, such as clicks.
    pub fn engagements_without_rows(&self) -> i64 {
        let with_rows = [Metric::Likes, Metric::Replies, Metric::Reposts, Metric::Follows];
        let with_rows: i64 = with_rows.into_iter().map(|metric| self.get(metric)).sum();
        (self.get(Metric::Engagements) - with_rows).max(0)
    }

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
        for (index, metric) in Metric::ALL.iter().enumerate() {
            assert_eq!(usize::try_from(metric.to_number()).unwrap(), index);
        }
    }
}
