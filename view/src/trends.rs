//! Trend fields and responses.

use base::{Time, Vocabulary, VocabularyWord};
use store::topics::TrendingTopic;

use crate::field_schema::JsonFieldType;
use crate::object::{ObjectField, ObjectKind, RenderedObject};
use crate::{RenderRequest, ResponsePayload};

/// The table of trends in personalized form.
pub(crate) enum PersonalizedTrend {}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TrendRenderContext<'a> {
    trend: &'a TrendingTopic,
    now: Time,
}

pub fn render_trends(request: &RenderRequest, page: &[TrendingTopic]) -> ResponsePayload {
    ResponsePayload::from_objects::<TrendingTopic>(request, page.iter(), 96)
}

pub fn render_personal_trends(request: &RenderRequest, page: &[TrendingTopic], now: Time) -> ResponsePayload {
    let shown = page.iter().map(|trend| TrendRenderContext { trend, now });
    ResponsePayload::from_objects::<PersonalizedTrend>(request, shown, 96)
}

type TrendField = ObjectField<TrendingTopic>;

impl RenderedObject for TrendingTopic {
    type Context<'a> = &'a Self;

    const NAME: VocabularyWord = VocabularyWord::same_in_both("Trend");
    const FIELDS_PARAM: VocabularyWord = VocabularyWord::same_in_both("trend.fields");
    const FIELDS: &'static [ObjectField<Self>] = TREND_FIELDS;
}

impl ObjectKind {
    pub const TREND: Self = TrendingTopic::KIND;
}

const TREND_FIELDS: &[TrendField] = &[
    TrendField::default_field("trend_name", JsonFieldType::Text, "Its name.")
        .writer(|out, trend| out.write_nonempty_text(&trend.name)),
    // The newer API generation kept this name.
    TrendField::default_field("tweet_count", JsonFieldType::Int, "Posts about it in the last day.")
        .writer(|out, trend| out.write_int(trend.posts)),
];

type PersonalizedTrendField = ObjectField<PersonalizedTrend>;

impl RenderedObject for PersonalizedTrend {
    type Context<'a> = TrendRenderContext<'a>;

    const NAME: VocabularyWord = VocabularyWord::same_in_both("PersonalizedTrend");
    const FIELDS_PARAM: VocabularyWord = VocabularyWord::same_in_both("personalized_trend.fields");
    const FIELDS: &'static [ObjectField<Self>] = PERSONALIZED_TREND_FIELDS;
}

impl ObjectKind {
    pub const PERSONALIZED_TREND: Self = PersonalizedTrend::KIND;
}

const PERSONALIZED_TREND_FIELDS: &[PersonalizedTrendField] = &[
    PersonalizedTrendField::default_field("trend_name", JsonFieldType::Text, "Its name.")
        .writer(|out, ctx| out.write_nonempty_text(&ctx.trend.name)),
    PersonalizedTrendField::default_field("category", JsonFieldType::Text, "Its category.")
        .writer(|out, ctx| out.write_nonempty_text(trend_category(&ctx.trend.topic))),
    PersonalizedTrendField::default_field(
        "post_count",
        JsonFieldType::CountText,
        "Posts about it in the last week, in words.",
    )
    .writer(|out, ctx| match out.vocabulary() {
        Vocabulary::Post => out.write_nonempty_text(&format_post_count(ctx.trend.posts)),
        Vocabulary::Tweet => out.write_int(ctx.trend.posts),
    }),
    PersonalizedTrendField::default_field("trending_since", JsonFieldType::Text, "Since when, in words.")
        .writer(|out, ctx| out.write_nonempty_text(&format_trending_since(ctx))),
];

fn trend_category(topic: &str) -> &'static str {
    if topic.starts_with('$') { "Finance" } else { "Trending" }
}

fn format_post_count(count: i64) -> String {
    match count {
        1 => "1 post".to_owned(),
        0..1_000 => format!("{count} posts"),
        1_000..1_000_000 => format!("{}.{}K posts", count / 1_000, count % 1_000 / 100),
        _ => format!("{}.{}M posts", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

fn format_trending_since(ctx: TrendRenderContext<'_>) -> String {
    match ctx.now.ms().div_euclid(3_600_000) - ctx.trend.since {
        ..1 => "Trending now".to_owned(),
        1 => "Trending for 1 hour".to_owned(),
        hours @ 2..48 => format!("Trending for {hours} hours"),
        hours => format!("Trending for {} days", hours / 24),
    }
}
