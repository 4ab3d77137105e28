//! Metric names by metric group, and the ledger metric behind each.

use base::VocabularyWord;
use store::ledger::{ConversionKind, ConversionSource, Metric};

/// Where the numbers of a metric come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MetricSource {
    Events(Metric),
    Conversions(ConversionSource, ConversionKind),
    /// Nothing records it.
    Untracked,
}

pub(super) type MetricColumn = (VocabularyWord, Option<Metric>);

const fn metric_column(name: &'static str, metric: Metric) -> MetricColumn {
    (VocabularyWord::same_in_both(name), Some(metric))
}

const fn untracked_column(name: &'static str) -> MetricColumn {
    (VocabularyWord::same_in_both(name), None)
}

/// Metrics of accounts and funding instruments; other entities have more.
const COMMON: &[MetricColumn] = &[
    metric_column("impressions", Metric::Impressions),
    metric_column("engagements", Metric::Engagements),
    (VocabularyWord::new("reposts", "retweets"), Some(Metric::Reposts)),
    metric_column("replies", Metric::Replies),
    metric_column("likes", Metric::Likes),
    metric_column("follows", Metric::Follows),
];
const MORE: &[MetricColumn] = &[
    metric_column("card_engagements", Metric::CardEngagements),
    metric_column("clicks", Metric::Clicks),
    metric_column("app_clicks", Metric::AppClicks),
    metric_column("url_clicks", Metric::UrlClicks),
    metric_column("qualified_impressions", Metric::Qualified),
    metric_column("carousel_swipes", Metric::Swipes),
    (VocabularyWord::new("posts_send", "tweets_send"), None),
    metric_column("poll_card_vote", Metric::PollVotes),
    untracked_column("unfollows"),
];
const BILLING: &[MetricColumn] =
    &[metric_column("billed_engagements", Metric::Billed), metric_column("billed_charge_local_micro", Metric::Charge)];
const VIDEO: &[MetricColumn] = &[
    metric_column("video_total_views", Metric::VideoViews),
    metric_column("video_views_25", Metric::Video25),
    metric_column("video_views_50", Metric::Video50),
    metric_column("video_views_75", Metric::Video75),
    metric_column("video_views_100", Metric::Video100),
    metric_column("video_cta_clicks", Metric::VideoCta),
    metric_column("video_content_starts", Metric::VideoStarts),
    metric_column("video_3s100pct_views", Metric::Video3),
    metric_column("video_6s_views", Metric::Video6),
    metric_column("video_15s_views", Metric::Video15),
    metric_column("video_mrc_views", Metric::VideoMrc),
];
const WEB: &[ConversionKind] = &[
    ConversionKind::Purchase,
    ConversionKind::SignUp,
    ConversionKind::SiteVisit,
    ConversionKind::Download,
    ConversionKind::Custom,
    ConversionKind::AddToCart,
    ConversionKind::CheckoutInitiated,
    ConversionKind::ContentView,
    ConversionKind::PaymentInfoAddition,
    ConversionKind::AddToWishlist,
    ConversionKind::Search,
    ConversionKind::LandingPageView,
    ConversionKind::Subscription,
];
const MOBILE: &[ConversionKind] = &[
    ConversionKind::Install,
    ConversionKind::Purchase,
    ConversionKind::SignUp,
    ConversionKind::ReEngagement,
    ConversionKind::Update,
    ConversionKind::Download,
    ConversionKind::Login,
    ConversionKind::Reservation,
    ConversionKind::AddToCart,
    ConversionKind::AddToWishlist,
    ConversionKind::CheckoutInitiated,
    ConversionKind::Search,
    ConversionKind::LevelAchieved,
    ConversionKind::AchievementUnlocked,
    ConversionKind::ContentView,
    ConversionKind::Share,
    ConversionKind::Invite,
    ConversionKind::PaymentInfoAddition,
    ConversionKind::SpentCredits,
    ConversionKind::Rating,
    ConversionKind::TutorialCompleted,
    ConversionKind::KeyPageView,
    ConversionKind::SiteVisit,
];
const LIFE_TIME: &[ConversionKind] = &[
    ConversionKind::Purchase,
    ConversionKind::SignUp,
    ConversionKind::Update,
    ConversionKind::TutorialCompleted,
    ConversionKind::Reservation,
    ConversionKind::AddToCart,
    ConversionKind::AddToWishlist,
    ConversionKind::CheckoutInitiated,
    ConversionKind::LevelAchieved,
    ConversionKind::AchievementUnlocked,
    ConversionKind::Share,
    ConversionKind::Invite,
    ConversionKind::PaymentInfoAddition,
    ConversionKind::SpentCredits,
    ConversionKind::Rating,
];

/// A metric under its name in the response.
pub(super) type NamedMetric = (String, MetricSource);

/// The metrics of a group for an entity type.
pub(super) fn metrics_of_group(group: &str, kind: &str, vocabulary: base::Vocabulary) -> Vec<NamedMetric> {
    let above = matches!(kind, "ACCOUNT" | "FUNDING_INSTRUMENT");
    let shown = matches!(kind, "CAMPAIGN" | "LINE_ITEM" | "PROMOTED_POST" | "MEDIA_CREATIVE");
    let named = |figures: &[MetricColumn]| -> Vec<NamedMetric> {
        let named = figures.iter();
        let source = |metric: Option<Metric>| metric.map_or(MetricSource::Untracked, MetricSource::Events);
        named.map(|(name, metric)| (name.name_in(vocabulary).to_owned(), source(*metric))).collect()
    };
    let conversions = |prefix: &str, source: ConversionSource, kinds: &[ConversionKind]| -> Vec<NamedMetric> {
        let all = kinds.iter();
        all.map(|kind| (format!("{prefix}_{}", kind.name()), MetricSource::Conversions(source, *kind))).collect()
    };
    match group {
        "ENGAGEMENT" if above => named(COMMON),
        "ENGAGEMENT" => [named(COMMON), named(MORE)].concat(),
        "BILLING" if kind != "ACCOUNT" => named(BILLING),
        "VIDEO" if shown => named(VIDEO),
        "WEB_CONVERSION" if shown => conversions("conversion", ConversionSource::Web, WEB),
        "MOBILE_CONVERSION" if shown => conversions("mobile_conversion", ConversionSource::App, MOBILE),
        "LIFE_TIME_VALUE_MOBILE_CONVERSION" if shown => {
            conversions("mobile_conversion_lifetime_value", ConversionSource::App, LIFE_TIME)
        }
        _ => Vec::new(),
    }
}
