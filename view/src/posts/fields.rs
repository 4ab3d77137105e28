//! The values of a post's plain fields.

use base::VocabularyWord;
use network::posts::{EDIT_WINDOW_MS, is_editable_kind};
use serde_json::Value;

use super::entities::of_sent;
use super::{PostFacts, media_keys, references};
use crate::media::id_of;
use crate::out::Out;

/// How a withheld notice says that it is about the post.
const SCOPE: VocabularyWord = VocabularyWord::new("post", "tweet");

pub(super) fn id(out: &mut Out, facts: PostFacts<'_>) {
    out.id(facts.post.id.get());
}

pub(super) fn edit_history(out: &mut Out, facts: PostFacts<'_>) {
    let alone = [facts.post.id];
    let versions = facts.world.versions_of(facts.post).unwrap_or(&alone);
    out.array(versions, |out, id| out.id(id.get()));
}

pub(super) fn author_id(out: &mut Out, facts: PostFacts<'_>) {
    out.id(facts.post.author_id.get());
}

pub(super) fn username(out: &mut Out, facts: PostFacts<'_>) {
    if let Some(author) = facts.author() {
        out.text(&author.username);
    }
}

pub(super) fn created_at(out: &mut Out, facts: PostFacts<'_>) {
    out.time(facts.post.created_at);
}

pub(super) fn conversation_id(out: &mut Out, facts: PostFacts<'_>) {
    out.id(facts.post.conversation_id.get());
}

pub(super) fn in_reply_to_user_id(out: &mut Out, facts: PostFacts<'_>) {
    if let Some(user) = facts.post.in_reply_to_user_id {
        out.id(user.get());
    }
}

pub(super) fn referenced(out: &mut Out, facts: PostFacts<'_>) {
    if references(facts.post).next().is_none() {
        return;
    }
    out.array(references(facts.post), |out, (kind, id)| {
        out.object(|out| {
            out.member(VocabularyWord::same_in_both("type"), |out| out.text(kind));
            out.member(VocabularyWord::same_in_both("id"), |out| out.id(id.get()));
        });
    });
}

pub(super) fn attachments(out: &mut Out, facts: PostFacts<'_>) {
    let post = facts.post;
    if post.media_keys.is_empty() && post.poll_id.is_none() {
        return;
    }
    out.object(|out| {
        if !post.media_keys.is_empty() {
            out.member(VocabularyWord::same_in_both("media_keys"), |out| {
                out.array(media_keys(post), Out::quoted);
            });
        }
        if let Some(poll) = post.poll_id {
            out.member(VocabularyWord::same_in_both("poll_ids"), |out| {
                out.array([poll], Out::id)
            });
        }
    });
}

/// Of the text as it is sent.
pub(super) fn entities(out: &mut Out, facts: PostFacts<'_>) {
    out.raw(&of_sent(facts));
}

pub(super) fn geo(out: &mut Out, facts: PostFacts<'_>) {
    let place = facts.post.place_id.as_deref().unwrap_or_default();
    if place.is_empty() && facts.post.geo.is_empty() {
        return;
    }
    out.object(|out| {
        out.member(VocabularyWord::same_in_both("place_id"), |out| {
            out.text(place)
        });
        out.member(VocabularyWord::same_in_both("coordinates"), |out| {
            out.raw(&facts.post.geo)
        });
    });
}

pub(super) fn lang(out: &mut Out, facts: PostFacts<'_>) {
    out.text(&facts.post.lang);
}

pub(super) fn reply_settings(out: &mut Out, facts: PostFacts<'_>) {
    out.text(&facts.post.reply_settings);
}

pub(super) fn edit_controls(out: &mut Out, facts: PostFacts<'_>) {
    let post = facts.post;
    let first = post.edit_root_id.unwrap_or(post.id).created_at();
    out.object(|out| {
        out.member(VocabularyWord::same_in_both("edits_remaining"), |out| {
            out.int(post.edits_remaining);
        });
        out.member(VocabularyWord::same_in_both("is_edit_eligible"), |out| {
            out.bool(is_editable_kind(post));
        });
        out.member(VocabularyWord::same_in_both("editable_until"), |out| {
            out.time(first.plus_ms(EDIT_WINDOW_MS));
        });
    });
}

pub(super) fn community_id(out: &mut Out, facts: PostFacts<'_>) {
    if let Some(community) = facts.post.community_id {
        out.id(community);
    }
}

pub(super) fn withheld(out: &mut Out, facts: PostFacts<'_>) {
    let Ok(Value::Object(mut notice)) = serde_json::from_str(&facts.post.withheld) else {
        return;
    };
    // Stored in either vocabulary; a notice about the whole account says `user`.
    if let Some(Value::String(scope)) = notice.get_mut("scope")
        && SCOPE.matches(scope)
    {
        SCOPE.name_in(out.speech()).clone_into(scope);
    }
    out.raw(&Value::Object(notice).to_string());
}

pub(super) fn scopes(out: &mut Out, facts: PostFacts<'_>) {
    if facts.post.followers_only {
        out.object(|out| {
            out.member(VocabularyWord::same_in_both("followers"), |out| {
                out.bool(true)
            })
        });
    }
}

pub(super) fn media_metadata(out: &mut Out, facts: PostFacts<'_>) {
    let media = || {
        let ids = media_keys(facts.post).filter_map(id_of);
        ids.filter_map(|id| facts.world.media.get(id))
            .filter(|media| !media.alt_text.is_empty())
    };
    if media().next().is_none() {
        return;
    }
    out.array(media(), |out, media| {
        out.object(|out| {
            out.member(VocabularyWord::same_in_both("media_key"), |out| {
                out.text(&media.media_key)
            });
            out.member(VocabularyWord::same_in_both("alt_text"), |out| {
                out.text(&media.alt_text)
            });
        });
    });
}
