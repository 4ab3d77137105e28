//! The names under which figures are answered, by group, and where each comes from.

use base::VocabularyWord;
use store::ledger::Metric;

/// A figure: its name, and what of the ledger it is; none where nothing tells it.
pub(super) type Figure = (VocabularyWord, Option<Metric>);

const fn of(name: &'static str, metric: Metric) -> Figure {
    (VocabularyWord::same_in_both(name), Some(metric))
}

const fn untold(name: &'static str) -> Figure {
    (VocabularyWord::same_in_both(name), None)
}

/// What accounts and instruments are told; others are told more.
const COMMON: &[Figure] = &[
    of("impressions", Metric::Impressions),
    of("engagements", Metric::Engagements),
    (
        VocabularyWord::new("reposts", "retweets"),
        Some(Metric::Reposts),
    ),
    of("replies", Metric::Replies),
    of("likes", Metric::Likes),
    of("follows", Metric::Follows),
];
const MORE: &[Figure] = &[
    of("card_engagements", Metric::CardEngagements),
    of("clicks", Metric::Clicks),
    of("app_clicks", Metric::AppClicks),
    of("url_clicks", Metric::UrlClicks),
    of("qualified_impressions", Metric::Qualified),
    of("carousel_swipes", Metric::Swipes),
    (VocabularyWord::new("posts_send", "tweets_send"), None),
    of("poll_card_vote", Metric::PollVotes),
    untold("unfollows"),
];
const BILLING: &[Figure] = &[
    of("billed_engagements", Metric::Billed),
    of("billed_charge_local_micro", Metric::Charge),
];
const VIDEO: &[Figure] = &[
    of("video_total_views", Metric::VideoViews),
    of("video_views_25", Metric::Video25),
    of("video_views_50", Metric::Video50),
    of("video_views_75", Metric::Video75),
    of("video_views_100", Metric::Video100),
    of("video_cta_clicks", Metric::VideoCta),
    of("video_content_starts", Metric::VideoStarts),
    of("video_3s100pct_views", Metric::Video3),
    of("video_6s_views", Metric::Video6),
    of("video_15s_views", Metric::Video15),
    of("video_mrc_views", Metric::VideoMrc),
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

/// A figure under the name that it is answered by.
pub(super) type Named = (String, Option<Metric>);

/// What a group tells of entities of a kind. No conversions are recorded, so none are told.
pub(super) fn figures(group: &str, kind: &str, speech: base::Vocabulary) -> Vec<Named> {
    let above = matches!(kind, "ACCOUNT" | "FUNDING_INSTRUMENT");
    let shown = matches!(
        kind,
        "CAMPAIGN" | "LINE_ITEM" | "PROMOTED_POST" | "MEDIA_CREATIVE"
    );
    let named = |figures: &[Figure]| -> Vec<Named> {
        let named = figures.iter();
        named
            .map(|(name, metric)| (name.name_in(speech).to_owned(), *metric))
            .collect()
    };
    let conversions = |prefix: &str, names: &[&str]| -> Vec<Named> {
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
        "LIFE_TIME_VALUE_MOBILE_CONVERSION" if shown => {
            conversions("mobile_conversion_lifetime_value", LIFE_TIME)
        }
        _ => Vec::new(),
    }
}
