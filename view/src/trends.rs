//! Trends of a place and of a user: their fields, and answers of them.

use base::Time;
use store::topics::TrendingTopic;

use crate::shown::{Json, Shown, Write};
use crate::{Answer, Object, Spoken, Wants};

/// A trend, and the moment at which it is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrendFacts<'a> {
    trend: &'a TrendingTopic,
    now: Time,
}

/// What trends, in its order.
pub fn trends(page: &[TrendingTopic], wants: &Wants, spoken: Spoken) -> Answer {
    let mask = wants.of_included(Object::Trend);
    speak(page, Time::from_ms(0), spoken, (TREND_FIELDS, mask))
}

/// What trends for a user, in its order.
pub fn personal_trends(page: &[TrendingTopic], now: Time, wants: &Wants, spoken: Spoken) -> Answer {
    let mask = wants.of_included(Object::PersonalizedTrend);
    speak(page, now, spoken, (PERSONALIZED_TREND_FIELDS, mask))
}

fn speak(
    page: &[TrendingTopic],
    now: Time,
    spoken: Spoken,
    (fields, mask): (&[Shown], u64),
) -> Answer {
    Answer::of_rows(spoken, page, 96, |out, trend| {
        out.record(fields, mask, |out, write| {
            if let Write::Trend(write) = write {
                write(out, TrendFacts { trend, now });
            }
        });
    })
}

pub(crate) const TREND_FIELDS: &[Shown] = &[
    Shown::always("trend_name", Json::Text, "Its name.")
        .trend(|out, facts| out.text(&facts.trend.name)),
    // The newer generation kept this name.
    Shown::always("tweet_count", Json::Int, "Posts about it in the last day.")
        .trend(|out, facts| out.int(facts.trend.posts)),
];

pub(crate) const PERSONALIZED_TREND_FIELDS: &[Shown] = &[
    Shown::always("trend_name", Json::Text, "Its name.")
        .trend(|out, facts| out.text(&facts.trend.name)),
    Shown::always("category", Json::Text, "Its category.")
        .trend(|out, facts| out.text(category(&facts.trend.topic))),
    Shown::always(
        "post_count",
        Json::Text,
        "Posts about it in the last week, in words.",
    )
    .trend(|out, facts| out.text(&posts(facts.trend.posts))),
    Shown::always("trending_since", Json::Text, "Since when, in words.")
        .trend(|out, facts| out.text(&since(facts))),
];

fn category(topic: &str) -> &'static str {
    if topic.starts_with('$') {
        "Finance"
    } else {
        "Trending"
    }
}

fn posts(count: i64) -> String {
    match count {
        1 => "1 post".to_owned(),
        0..1_000 => format!("{count} posts"),
        1_000..1_000_000 => format!("{}.{}K posts", count / 1_000, count % 1_000 / 100),
        _ => format!(
            "{}.{}M posts",
            count / 1_000_000,
            count % 1_000_000 / 100_000
        ),
    }
}

fn since(facts: TrendFacts<'_>) -> String {
    match facts.now.ms().div_euclid(3_600_000) - facts.trend.since {
        ..1 => "Trending now".to_owned(),
        1 => "Trending for 1 hour".to_owned(),
        hours @ 2..48 => format!("Trending for {hours} hours"),
        hours => format!("Trending for {} days", hours / 24),
    }
}
