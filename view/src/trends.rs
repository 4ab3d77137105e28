//! Trend fields and responses.

use base::Time;
use store::topics::TrendingTopic;

use crate::field_schema::{FieldDefinition, FieldWriter, JsonFieldType};
use crate::{FieldSelection, ObjectKind, RenderOptions, ResponsePayload};

#[derive(Clone, Copy, Debug)]
pub(crate) struct TrendRenderContext<'a> {
    trend: &'a TrendingTopic,
    now: Time,
}

pub fn render_trends(page: &[TrendingTopic], selection: &FieldSelection, options: RenderOptions) -> ResponsePayload {
    let mask = selection.included_mask(ObjectKind::Trend);
    render_trend_rows(page, Time::from_ms(0), options, (TREND_FIELDS, mask))
}

pub fn render_personal_trends(
    page: &[TrendingTopic],
    now: Time,
    selection: &FieldSelection,
    options: RenderOptions,
) -> ResponsePayload {
    let mask = selection.included_mask(ObjectKind::PersonalizedTrend);
    render_trend_rows(page, now, options, (PERSONALIZED_TREND_FIELDS, mask))
}

fn render_trend_rows(
    page: &[TrendingTopic],
    now: Time,
    options: RenderOptions,
    (fields, mask): (&[FieldDefinition], u64),
) -> ResponsePayload {
    ResponsePayload::from_rows(options, page, 96, |out, trend| {
        out.write_fields(fields, mask, |out, write| {
            if let FieldWriter::Trend(write) = write {
                write(out, TrendRenderContext { trend, now });
            }
        });
    })
}

pub(crate) const TREND_FIELDS: &[FieldDefinition] = &[
    FieldDefinition::default_field("trend_name", JsonFieldType::Text, "Its name.")
        .trend_writer(|out, ctx| out.write_nonempty_text(&ctx.trend.name)),
    // The newer API generation kept this name.
    FieldDefinition::default_field("tweet_count", JsonFieldType::Int, "Posts about it in the last day.")
        .trend_writer(|out, ctx| out.write_int(ctx.trend.posts)),
];

pub(crate) const PERSONALIZED_TREND_FIELDS: &[FieldDefinition] = &[
    FieldDefinition::default_field("trend_name", JsonFieldType::Text, "Its name.")
        .trend_writer(|out, ctx| out.write_nonempty_text(&ctx.trend.name)),
    FieldDefinition::default_field("category", JsonFieldType::Text, "Its category.")
        .trend_writer(|out, ctx| out.write_nonempty_text(trend_category(&ctx.trend.topic))),
    FieldDefinition::default_field("post_count", JsonFieldType::Text, "Posts about it in the last week, in words.")
        .trend_writer(|out, ctx| out.write_nonempty_text(&format_post_count(ctx.trend.posts))),
    FieldDefinition::default_field("trending_since", JsonFieldType::Text, "Since when, in words.")
        .trend_writer(|out, ctx| out.write_nonempty_text(&format_trending_since(ctx))),
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
