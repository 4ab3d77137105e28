//! Post metrics and their access rules.

use std::borrow::Cow;

use base::refusal::ResourceRef;
use base::{Refusal, Vocabulary, VocabularyWord};
use store::ledger::{Metric, MetricSums};

use super::{FIELDS, OWNER_ONLY, PostRenderContext};
use crate::field_schema::JsonFieldType;
use crate::json_writer::JsonWriter;
use crate::loaded_objects::PostClicks;

/// How long the author can see a post's private metrics.
const PRIVATE_METRICS_MS: i64 = 30 * 86_400_000;
const REPOSTS: VocabularyWord = VocabularyWord::new("repost_count", "retweet_count");

fn write_metric(out: &mut JsonWriter, name: &'static str, count: i64) {
    out.write_count(VocabularyWord::same_in_both(name), count);
}

pub(super) fn write_public_metrics(out: &mut JsonWriter, ctx: PostRenderContext<'_>) {
    let post = ctx.post;
    out.write_object(|out| {
        out.write_count(REPOSTS, post.repost_count);
        write_metric(out, "reply_count", post.reply_count);
        write_metric(out, "like_count", post.like_count);
        write_metric(out, "quote_count", post.quote_count);
        write_metric(out, "bookmark_count", post.bookmark_count);
        write_metric(out, "impression_count", post.impression_count);
    });
}

/// The totals of the post's promotion that are part of the post's: without what was simulated.
fn promoted_totals(ctx: PostRenderContext<'_>) -> MetricSums {
    let totals = ctx.objects.promoted_totals.get(&ctx.post.id);
    let mut totals = totals.copied().unwrap_or_default();
    if let Some(simulated) = ctx.objects.simulated_totals.get(&ctx.post.id) {
        totals.subtract(simulated);
    }
    totals
}

pub(super) fn write_non_public_metrics(out: &mut JsonWriter, ctx: PostRenderContext<'_>) {
    let post = ctx.post;
    let promoted = promoted_totals(ctx);
    let counted = post.like_count + post.reply_count + post.repost_count + post.quote_count + post.bookmark_count;
    let clicks = organic_clicks(ctx);
    let without_rows = promoted.engagements_without_rows() + clicks.links + clicks.profiles;
    out.write_object(|out| {
        write_metric(out, "impression_count", post.impression_count);
        write_clicks(out, PostClicks { links: clicks.links + promoted.get(Metric::UrlClicks), ..clicks });
        write_metric(out, "engagements", counted + without_rows);
    });
}

/// All engagement minus that attributed to promotion.
pub(super) fn write_organic_metrics(out: &mut JsonWriter, ctx: PostRenderContext<'_>) {
    let post = ctx.post;
    let promoted = promoted_totals(ctx);
    let less = |all: i64, metric: Metric| (all - promoted.get(metric)).max(0);
    out.write_object(|out| {
        let impressions = less(post.impression_count, Metric::Impressions);
        write_metric(out, "impression_count", impressions);
        write_metric(out, "like_count", less(post.like_count, Metric::Likes));
        write_metric(out, "reply_count", less(post.reply_count, Metric::Replies));
        out.write_count(REPOSTS, less(post.repost_count, Metric::Reposts));
        write_clicks(out, organic_clicks(ctx));
    });
}

/// Engagement attributed to promotion; nothing for posts that are not promoted.
pub(super) fn write_promoted_metrics(out: &mut JsonWriter, ctx: PostRenderContext<'_>) {
    let sums = ctx.objects.promoted_totals.get(&ctx.post.id);
    let Some(sums) = sums else {
        return;
    };
    out.write_object(|out| {
        write_metric(out, "impression_count", sums.get(Metric::Impressions));
        write_metric(out, "like_count", sums.get(Metric::Likes));
        write_metric(out, "reply_count", sums.get(Metric::Replies));
        out.write_count(REPOSTS, sums.get(Metric::Reposts));
        write_clicks(out, PostClicks { links: sums.get(Metric::UrlClicks), profiles: 0 });
    });
}

/// All but those on ads.
fn organic_clicks(ctx: PostRenderContext<'_>) -> PostClicks {
    ctx.objects.organic_clicks.get(&ctx.post.id).copied().unwrap_or_default()
}

fn write_clicks(out: &mut JsonWriter, clicks: PostClicks) {
    write_metric(out, "url_link_clicks", clicks.links);
    write_metric(out, "user_profile_clicks", clicks.profiles);
}

/// The errors for private metrics in a mask that the viewer may not see, one for each member; a post with
/// errors is not rendered.
pub(crate) fn reject_private_metrics(
    ctx: PostRenderContext<'_>,
    mask: u64,
    subject: impl Fn() -> ResourceRef,
    vocabulary: Vocabulary,
    errors: &mut Vec<Refusal>,
) -> bool {
    let requested = mask & OWNER_ONLY;
    if requested == 0 {
        return false;
    }
    let age = ctx.objects.now.ms() - ctx.post.created_at.ms();
    if ctx.is_owned_by_viewer() && age <= PRIVATE_METRICS_MS {
        return false;
    }
    for (index, field) in FIELDS.iter().map(|field| &field.definition).enumerate() {
        let JsonFieldType::Object(members) = field.json_type else {
            continue;
        };
        if requested >> index & 1 == 0 {
            continue;
        }
        let name = field.name.name_in(vocabulary);
        errors.extend(members.iter().map(|member| Refusal::FieldNotVisible {
            field: Cow::Owned(format!("{name}.{}", member.name.name_in(vocabulary))),
            subject: subject(),
        }));
    }
    true
}
