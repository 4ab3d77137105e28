//! The text of a post as it is sent: whole, shortened, or behind `RT @user:`.

use base::{Word, text};
use serde_json::Value;
use store::posts::Post;

use super::PostFacts;
use crate::out::Out;

/// How many code points of a repost are sent.
const REPOST_LENGTH: usize = 140;

pub(super) fn text(out: &mut Out, facts: PostFacts<'_>) {
    let post = facts.post;
    if post.repost_of_id.is_some() {
        repost(out, facts);
    } else if post.short_entities.is_empty() {
        out.escaped(&[&post.text]);
    } else {
        shortened(out, post);
    }
}

/// The whole of a long post.
pub(super) fn note(out: &mut Out, facts: PostFacts<'_>) {
    let post = facts.post;
    if post.short_entities.is_empty() {
        return;
    }
    out.object(|out| {
        out.member(Word::same("text"), |out| out.escaped(&[&post.text]));
        out.member(Word::same("entities"), |out| out.raw(&post.entities));
    });
}

/// The stored text where it is one of a repost (an import's may tell more than is here), else
/// made from what is reposted.
fn repost(out: &mut Out, facts: PostFacts<'_>) {
    let post = facts.post;
    let original = facts.original().filter(|_| !post.text.starts_with("RT @"));
    let original = original.and_then(|original| Some((original.author()?, &original.post.text)));
    let (head, body) = match &original {
        Some((author, text)) => (["RT @", &author.username, ": "], text.as_str()),
        None => ([""; 3], post.text.as_str()),
    };
    let taken: usize = head.iter().map(|part| part.chars().count()).sum();
    let [sign, name, colon] = head;
    match cut(body, REPOST_LENGTH.saturating_sub(taken)) {
        None => out.escaped(&[sign, name, colon, body]),
        Some(first) => out.escaped(&[sign, name, colon, first.trim_end(), "…"]),
    }
}

/// What is left of a text that has more than `length` code points, with room for an ellipsis.
fn cut(text: &str, length: usize) -> Option<&str> {
    text.char_indices().nth(length)?;
    let end = text
        .char_indices()
        .nth(length.saturating_sub(1))
        .map_or(0, |(place, _)| place);
    text.get(..end)
}

/// The first part, an ellipsis and the link to the whole, which is the last of the stored short
/// entities: its place says where the first part ends.
fn shortened(out: &mut Out, post: &Post) {
    let parsed: Option<Value> = serde_json::from_str(&post.short_entities).ok();
    let last = parsed
        .as_ref()
        .and_then(|entities| entities.get("urls")?.as_array()?.last());
    let ending = last.and_then(|last| {
        let start = usize::try_from(last.get("start")?.as_u64()?).ok()?;
        let url = last.get("url")?.as_str()?;
        let (end, _) = post.text.char_indices().nth(start.checked_sub(2)?)?;
        let (first, _) = post.text.split_at_checked(end)?;
        let (here, _) = post.text.char_indices().nth(start)?;
        let own = post
            .text
            .get(here..)
            .is_some_and(|rest| rest.starts_with(url));
        (!own).then_some((first, url))
    });
    match ending {
        Some((first, url)) => out.escaped(&[first, "… ", url]),
        None => match text::short_first_part(&post.text) {
            Some(part) => out.escaped(&[&part]),
            None => out.escaped(&[&post.text]),
        },
    }
}
