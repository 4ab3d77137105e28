//! A post's figures, and who may see them.

use std::borrow::Cow;

use base::refusal::ResourceRef;
use base::{Refusal, Vocabulary, VocabularyWord};
use store::ledger::{Metric, MetricSums};

use super::{FIELDS, OWNER_ONLY, PostFacts};
use crate::out::Out;
use crate::shown::Json;

/// How long an author sees a post's private figures.
const PRIVATE_MS: i64 = 30 * 86_400_000;
const REPOSTS: VocabularyWord = VocabularyWord::new("repost_count", "retweet_count");

fn figure(out: &mut Out, name: &'static str, count: i64) {
    out.count(VocabularyWord::same_in_both(name), count);
}

pub(super) fn public(out: &mut Out, facts: PostFacts<'_>) {
    let post = facts.post;
    out.object(|out| {
        out.count(REPOSTS, post.repost_count);
        figure(out, "reply_count", post.reply_count);
        figure(out, "like_count", post.like_count);
        figure(out, "quote_count", post.quote_count);
        figure(out, "bookmark_count", post.bookmark_count);
        figure(out, "impression_count", post.impression_count);
    });
}

/// What a post came to by its promotion.
fn promoted_of(facts: PostFacts<'_>) -> MetricSums {
    let known = facts.world.promoted.get(&facts.post.id);
    known.copied().unwrap_or_default()
}

pub(super) fn non_public(out: &mut Out, facts: PostFacts<'_>) {
    let post = facts.post;
    let promoted = promoted_of(facts);
    let counted = post.like_count
        + post.reply_count
        + post.repost_count
        + post.quote_count
        + post.bookmark_count;
    // What is done elsewhere than here is counted where it was served.
    let elsewhere = promoted.get(Metric::Engagements)
        - promoted.get(Metric::Likes)
        - promoted.get(Metric::Replies)
        - promoted.get(Metric::Reposts)
        - promoted.get(Metric::Follows);
    out.object(|out| {
        figure(out, "impression_count", post.impression_count);
        clicks(out, promoted.get(Metric::UrlClicks));
        figure(out, "engagements", counted + elsewhere.max(0));
    });
}

/// All, less what the ledger of advertising tells.
pub(super) fn organic(out: &mut Out, facts: PostFacts<'_>) {
    let post = facts.post;
    let promoted = promoted_of(facts);
    // Events may be made up for developers: those are not among all.
    let less = |all: i64, metric: Metric| (all - promoted.get(metric)).max(0);
    out.object(|out| {
        let seen = less(post.impression_count, Metric::Impressions);
        figure(out, "impression_count", seen);
        figure(out, "like_count", less(post.like_count, Metric::Likes));
        figure(out, "reply_count", less(post.reply_count, Metric::Replies));
        out.count(REPOSTS, less(post.repost_count, Metric::Reposts));
        clicks(out, 0);
    });
}

/// What the ledger of advertising tells; nothing of posts that are not promoted.
pub(super) fn promoted(out: &mut Out, facts: PostFacts<'_>) {
    let sums = facts.world.promoted.get(&facts.post.id);
    let Some(sums) = sums else {
        return;
    };
    out.object(|out| {
        figure(out, "impression_count", sums.get(Metric::Impressions));
        figure(out, "like_count", sums.get(Metric::Likes));
        figure(out, "reply_count", sums.get(Metric::Replies));
        out.count(REPOSTS, sums.get(Metric::Reposts));
        clicks(out, sums.get(Metric::UrlClicks));
    });
}

/// Clicks are counted where what is promoted is served; nothing else counts them.
fn clicks(out: &mut Out, links: i64) {
    figure(out, "url_link_clicks", links);
    figure(out, "user_profile_clicks", 0);
}

/// Refusals of the private figures in a mask, one for each of their members; a post with any is
/// not shown at all.
pub(crate) fn forbidden_fields(
    facts: PostFacts<'_>,
    mask: u64,
    subject: impl Fn() -> ResourceRef,
    speech: Vocabulary,
    errors: &mut Vec<Refusal>,
) -> bool {
    let asked = mask & OWNER_ONLY;
    if asked == 0 {
        return false;
    }
    let age = facts.world.now.ms() - facts.post.created_at.ms();
    if facts.owned() && age <= PRIVATE_MS {
        return false;
    }
    for (place, field) in FIELDS.iter().enumerate() {
        let Json::Object(members) = field.json else {
            continue;
        };
        if asked >> place & 1 == 0 {
            continue;
        }
        let name = field.name.name_in(speech);
        errors.extend(members.iter().map(|member| Refusal::FieldNotVisible {
            field: Cow::Owned(format!("{name}.{}", member.name.name_in(speech))),
            subject: subject(),
        }));
    }
    true
}
