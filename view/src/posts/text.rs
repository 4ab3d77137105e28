//! The text of a post as it is sent: whole, shortened, or behind `RT @user:`.

use std::borrow::Cow;

use base::text::{MAX_POST_WEIGHT, truncate_with_ellipsis, weigh_text};
use base::{Fault, Id, VocabularyWord};
use store::ads::card_links::{self, CardLink};
use store::posts::Post;
use store::{Tx, media};

use super::{PostFacts, card_of, media_keys};
use crate::media::{address, id_of};
use crate::out::Out;

/// How many code points of a repost are sent.
pub(super) const REPOST_LENGTH: usize = 140;
/// By so much an address can outweigh its letters: 23 for `a.co`.
const ADDRESS_EXTRA: usize = 19;
/// Mostly enough of a text to find its first part in, in bytes.
const ENOUGH: [usize; 2] = [512, 2048];

pub(super) fn text(out: &mut Out, facts: PostFacts<'_>) {
    out.escaped(&sent(facts));
}

/// The whole of a long post.
pub(super) fn note(out: &mut Out, facts: PostFacts<'_>) {
    let post = facts.post;
    if facts.is_long() {
        out.object(|out| {
            out.member(VocabularyWord::same_in_both("text"), |out| {
                out.escaped(&post.text)
            });
            out.member(VocabularyWord::same_in_both("entities"), |out| {
                out.raw(&post.entities)
            });
        });
    }
}

/// The part of the text to display. What comes behind the stored end is not displayed of a whole
/// text; of a shortened one everything is.
pub(super) fn display_range(out: &mut Out, facts: PostFacts<'_>) {
    let post = facts.post;
    let whole = !facts.is_long() && post.repost_of_id.is_none();
    let end = if whole {
        post.display_end
    } else {
        i64::try_from(words(facts).chars().count()).unwrap_or(post.display_end)
    };
    out.array([post.display_start, end], Out::int);
}

/// The text as it is sent, not escaped: a link to the media that it carries ends it, or the link
/// that its card leads by.
pub(crate) fn sent(facts: PostFacts<'_>) -> Cow<'_, str> {
    let words = words(facts);
    let link = media_link(facts).or_else(|| Some(card_links(facts).next()?.1));
    match link {
        Some(link) if words.is_empty() => Cow::Owned(link),
        Some(link) => Cow::Owned(format!("{words} {link}")),
        None => words,
    }
}

/// A link to the media that a post carries; the texts of imported ones have theirs.
pub(super) fn media_link(facts: PostFacts<'_>) -> Option<String> {
    let world = facts.world;
    let first = media_keys(facts.post)
        .next()
        .filter(|_| facts.post.repost_of_id.is_none())?;
    let media = world.media.get(id_of(first)?)?;
    media.uses?;
    address(media, world.site)
}

/// Where the card of a post leads, and the links that the post has for it.
pub(super) fn card_links(facts: PostFacts<'_>) -> impl Iterator<Item = (&CardLink, String)> {
    let world = facts.world;
    let card = card_of(facts.post).and_then(|card| world.links.get(&card));
    let links = card.into_iter().flatten();
    links.filter_map(move |link| Some((link, short_link(link, facts.post, world.site)?)))
}

/// The link by which a card leads where a post carries it: whoever opens it is known to come from
/// there.
fn short_link(link: &CardLink, post: &Post, site: &str) -> Option<String> {
    let (page, id) = match link.url.as_str() {
        "" => ("cards", link.card_id),
        _ => ("c", link.id),
    };
    (!site.is_empty()).then(|| format!("{site}/{page}/{id}/{}", post.id))
}

/// Where the link at the end begins and ends in the text, in code points.
pub(super) fn link_place(facts: PostFacts<'_>, link: &str) -> (usize, usize) {
    let words = words(facts).chars().count();
    let start = if words == 0 {
        0
    } else {
        words.saturating_add(1)
    };
    (start, start.saturating_add(link.chars().count()))
}

/// The text of a post just written, with the link at `site` that ends it: to its media, or where its
/// card leads.
pub(crate) fn of_new(tx: &mut Tx<'_>, post: &Post, site: &str) -> Result<String, Fault> {
    let first = media_keys(post).next().and_then(id_of);
    let media = match first {
        Some(id) => media::find_by_id(tx, Id::new(id))?,
        None => None,
    };
    let link = media.as_ref().and_then(|media| address(media, site));
    let card = card_of(post).filter(|_| link.is_none());
    let leads = match card {
        Some(card) => card_links::list_by_cards(tx, &[card])?,
        None => Vec::new(),
    };
    let link = link.or_else(|| short_link(leads.first()?, post, site));
    Ok(match link {
        Some(link) if post.text.is_empty() => link,
        Some(link) => format!("{} {link}", post.text),
        None => post.text.clone(),
    })
}

/// The text without the link at its end.
fn words(facts: PostFacts<'_>) -> Cow<'_, str> {
    let post = facts.post;
    if post.repost_of_id.is_some() {
        return repost(facts);
    }
    let short = facts.world.shorts.get(&post.id);
    Cow::Borrowed(short.map_or(&post.text, String::as_str))
}

/// Whether a repost's stored text is one already, as an import's is.
pub(super) fn stands_alone(post: &Post) -> bool {
    post.text.starts_with("RT @")
}

/// The stored text where it is one of a repost (an import's may tell more than is here), else
/// made from what is reposted.
fn repost(facts: PostFacts<'_>) -> Cow<'_, str> {
    let post = facts.post;
    let original = facts.original().filter(|_| !stands_alone(post));
    let made = original.and_then(|original| {
        let author = &original.author()?.username;
        Some(Cow::Owned(format!("RT @{author}: {}", original.post.text)))
    });
    let text: Cow<'_, str> = made.unwrap_or(Cow::Borrowed(post.text.as_str()));
    match cut(&text, REPOST_LENGTH) {
        None => text,
        Some(first) => Cow::Owned(format!("{}…", first.trim_end())),
    }
}

/// What is left of a text that has more than `length` code points, with room for an ellipsis.
fn cut(text: &str, length: usize) -> Option<&str> {
    text.char_indices().nth(length)?;
    let (end, _) = text.char_indices().nth(length.saturating_sub(1))?;
    text.get(..end)
}

/// The first part of a long post, with an ellipsis; none when the text is sent whole.
pub(crate) fn short_part(post: &Post) -> Option<String> {
    let text = post.text.as_str();
    if post.repost_of_id.is_some() || surely_short(text) {
        return None;
    }
    let beginnings = ENOUGH.into_iter().filter(|end| *end < text.len());
    let mut beginnings = beginnings.filter_map(|end| text.get(..text.floor_char_boundary(end)));
    let part = beginnings.find_map(truncate_with_ellipsis);
    let part = part.or_else(|| truncate_with_ellipsis(text))?;
    // Mentions of those replied to weigh nothing.
    let start = usize::try_from(post.display_start).unwrap_or(0);
    let free = text.char_indices().nth(start).map_or(0, |(place, _)| place);
    let whole = free > 0 && weigh_text(text, 0..free).weight <= MAX_POST_WEIGHT;
    (!whole).then_some(part)
}

/// Whether a text cannot weigh more than 280, told without looking for its addresses: everything
/// weighs at most 2, and every address has a dot inside.
fn surely_short(text: &str) -> bool {
    let limit = usize::try_from(MAX_POST_WEIGHT).unwrap_or(0);
    if text.len() > limit * 4 {
        return false;
    }
    let (mut most, mut dots, mut last) = (0, 0, ' ');
    for letter in text.chars() {
        most += if letter < '\u{1100}' { 1 } else { 2 };
        if last == '.' && letter.is_alphanumeric() {
            dots += 1;
        }
        last = letter;
    }
    most + dots * ADDRESS_EXTRA <= limit
}
