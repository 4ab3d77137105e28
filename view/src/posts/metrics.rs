//! A post's figures, and who may see them.

use std::borrow::Cow;

use base::refusal::Subject;
use base::{Refusal, Speech, Word};

use super::{FIELDS, OWNER_ONLY, PostFacts};
use crate::out::Out;
use crate::shown::Json;

/// How long an author sees a post's private figures.
const PRIVATE_MS: i64 = 30 * 86_400_000;
const REPOSTS: Word = Word::new("repost_count", "retweet_count");

fn figure(out: &mut Out, name: &'static str, count: i64) {
    out.count(Word::same(name), count);
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

pub(super) fn non_public(out: &mut Out, facts: PostFacts<'_>) {
    let post = facts.post;
    let engagements = post.like_count
        + post.reply_count
        + post.repost_count
        + post.quote_count
        + post.bookmark_count;
    out.object(|out| {
        figure(out, "impression_count", post.impression_count);
        clicks(out);
        figure(out, "engagements", engagements);
    });
}

pub(super) fn organic(out: &mut Out, facts: PostFacts<'_>) {
    let post = facts.post;
    out.object(|out| {
        figure(out, "impression_count", post.impression_count);
        figure(out, "like_count", post.like_count);
        figure(out, "reply_count", post.reply_count);
        out.count(REPOSTS, post.repost_count);
        clicks(out);
    });
}

/// Nothing on the platform counts clicks, so none has been counted.
fn clicks(out: &mut Out) {
    figure(out, "url_link_clicks", 0);
    figure(out, "user_profile_clicks", 0);
}

/// Refusals of the private figures in a mask, one for each of their members; a post with any is
/// not shown at all.
pub(crate) fn forbidden_fields(
    facts: PostFacts<'_>,
    mask: u64,
    subject: impl Fn() -> Subject,
    speech: Speech,
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
        let name = field.name.in_speech(speech);
        errors.extend(members.iter().map(|member| Refusal::FieldNotVisible {
            field: Cow::Owned(format!("{name}.{}", member.name.in_speech(speech))),
            subject: subject(),
        }));
    }
    true
}
