//! Metric names by metric group, and the ledger metric behind each.

use base::VocabularyWord;
use store::ledger::Metric;

/// A metric's name and its ledger metric; `None` if nothing records it.
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
const WEB: &[&str] = &[
    "purchases",
    "sign_ups",
    "site_visits",
    "downloads",
    "custom",
    "add_to_carts",
    "checkouts_initiated",
    "content_views",
    "payment_info_additions",
    "add_to_wishlists",
    "searches",
    "landing_page_views",
    "subscriptions",
];
const MOBILE: &[&str] = &[
    "installs",
    "purchases",
    "sign_ups",
    "re_engages",
    "updates",
    "downloads",
    "logins",
    "reservations",
    "add_to_carts",
    "add_to_wishlists",
    "checkouts_initiated",
    "searches",
    "levels_achieved",
    "achievements_unlocked",
    "content_views",
    "shares",
    "invites",
    "payment_info_additions",
    "spent_credits",
    "rates",
    "tutorials_completed",
    "key_page_views",
    "site_visits",
];
const LIFE_TIME: &[&str] = &[
    "purchases",
    "sign_ups",
    "updates",
    "tutorials_completed",
    "reservations",
    "add_to_carts",
    "add_to_wishlists",
    "checkouts_initiated",
    "levels_achieved",
    "achievements_unlocked",
    "shares",
    "invites",
    "payment_info_additions",
    "spent_credits",
    "rates",
];

/// A metric under its name in the response.
pub(super) type NamedMetric = (String, Option<Metric>);

/// The metrics of a group for an entity type. Conversions are not recorded, so none are reported.
pub(super) fn metrics_of_group(group: &str, kind: &str, vocabulary: base::Vocabulary) -> Vec<NamedMetric> {
    let above = matches!(kind, "ACCOUNT" | "FUNDING_INSTRUMENT");
    let shown = matches!(kind, "CAMPAIGN" | "LINE_ITEM" | "PROMOTED_POST" | "MEDIA_CREATIVE");
    let named = |figures: &[MetricColumn]| -> Vec<NamedMetric> {
        let named = figures.iter();
        named.map(|(name, metric)| (name.name_in(vocabulary).to_owned(), *metric)).collect()
    };
    let conversions = |prefix: &str, names: &[&str]| -> Vec<NamedMetric> {
        let all = names.iter();
        all.map(|name| (format!("{prefix}_{name}"), None)).collect()
    };
    match group {
        "ENGAGEMENT" if above => named(COMMON),
        "ENGAGEMENT" => [named(COMMON), named(MORE)].concat(),
        "BILLING" if kind != "ACCOUNT" => named(BILLING),
        "VIDEO" if shown => named(VIDEO),
        "WEB_CONVERSION" if shown => conversions("conversion", WEB),
        "MOBILE_CONVERSION" if shown => conversions("mobile_conversion", MOBILE),
        "LIFE_TIME_VALUE_MOBILE_CONVERSION" if shown => conversions("mobile_conversion_lifetime_value", LIFE_TIME),
        _ => Vec::new(),
    }
}
