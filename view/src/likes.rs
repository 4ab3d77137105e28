//! Likes as streams show them: what is liked, and never by whom (contract §9.4).

use base::{Fault, VocabularyWord};
use network::visibility::{Viewer, Visibility, profile_visibility};
use store::posts::{self as stored, Post};
use store::{Tx, users};

use crate::answer::Speaker;
use crate::out::Out;
use crate::posts::media_keys;
use crate::shown::{Expansion, Json, Member, Reach, Shown, Write};
use crate::world::{Target, World};
use crate::{Answer, LikeShown, Object, Spoken, Wants};

/// A like with what is liked.
#[derive(Clone, Copy)]
pub(crate) struct LikeFacts<'a> {
    like: &'a LikeShown,
    post: &'a Post,
}

pub(crate) const FIELDS: &[Shown] = &[
    Shown::always("id", Json::Text, "Id of the like.").like(|out, shown| out.id(shown.like.id)),
    Shown::always("created_at", Json::Time, "When it was given.")
        .like(|out, shown| out.time(shown.like.at)),
    Shown::always("liked_post_id", Json::Id, "What is liked.")
        .tweet("liked_tweet_id")
        .like(|out, shown| out.id(shown.like.post.get())),
    Shown::always("tweet_author_id", Json::Id, "Whose post is liked.")
        .like(|out, shown| out.id(shown.like.author.get())),
    Shown::always(
        "timestamp_ms",
        Json::Int,
        "When it was given, in milliseconds.",
    )
    .like(|out, shown| out.int(shown.like.at.ms())),
    Shown::expanded("liked_post_author_id", Json::Id, "Whose post is liked.")
        .tweet("liked_tweet_author_id")
        .like(|out, shown| out.id(shown.like.author.get())),
    Shown::expanded(
        "attachments",
        Json::Object(&[Member::new("media_keys", Json::List(&Json::Text))]),
        "Media of the post.",
    )
    .partial()
    .like(attachments),
];

pub(crate) const EXPANSIONS: &[Expansion] = &[
    Expansion::new("liked_post_id", Object::Post, "liked_post_id")
        .tweet("liked_tweet_id")
        .by_like(|shown, to| to.push(Target::Post(shown.like.post))),
    Expansion::new("liked_post_author_id", Object::User, "liked_post_author_id")
        .tweet("liked_tweet_author_id")
        .by_like(|shown, to| to.push(Target::User(shown.like.author))),
    Expansion::new("attachments.media_keys", Object::Media, "attachments")
        .by_like(|shown, to| to.extend(media_keys(shown.post).map(Target::Media))),
];

fn attachments(out: &mut Out, shown: LikeFacts<'_>) {
    if !shown.post.media_keys.is_empty() {
        out.object(|out| {
            out.member(VocabularyWord::same_in_both("media_keys"), |out| {
                out.array(media_keys(shown.post), Out::quoted);
            });
        });
    }
}

/// A like of a post that everybody may see, by somebody whom everybody may see; none otherwise.
pub fn like(
    tx: &mut Tx<'_>,
    shown: &LikeShown,
    wants: &Wants,
    spoken: Spoken,
) -> Result<Option<Answer>, Fault> {
    let open = users::find_by_id(tx, shown.user)?
        .is_some_and(|user| profile_visibility(&user) == Visibility::Visible && !user.protected);
    let Some(post) = stored::find_by_id(tx, shown.post)?.filter(|_| open) else {
        return Ok(None);
    };
    let (viewer, alone) = (Viewer::anonymous(), Wants::alone(Object::Post));
    let world = World::of_posts(tx, viewer, vec![post.clone()], &alone)?;
    if world.sight(&post) != Visibility::Visible {
        return Ok(None);
    }
    let facts = LikeFacts {
        like: shown,
        post: &post,
    };
    let mut targets = Vec::new();
    for expansion in wants.expansions() {
        if let Reach::Like(reach) = expansion.reach {
            reach(facts, &mut targets);
        }
    }
    let world = World::of_targets(tx, viewer, Vec::new(), targets, wants)?;
    let speaker = Speaker {
        world: &world,
        wants,
        spoken,
    };
    let lead = |reach, shown, to: &mut Vec<_>| {
        if let Reach::Like(reach) = reach {
            reach(shown, to);
        }
    };
    let answer = speaker.answer(&[facts], Vec::new(), 256, lead, write);
    Ok(Some(answer.single()))
}

fn write(out: &mut Out, shown: LikeFacts<'_>, mask: u64) {
    out.record(FIELDS, mask, |out, write| {
        if let Write::Like(write) = write {
            write(out, shown);
        }
    });
}
