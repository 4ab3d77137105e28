//! The text of a post as it is sent: whole, shortened, or behind `RT @user:`.

use std::borrow::Cow;

use base::text::{MAX_POST_WEIGHT, truncate_with_ellipsis, weigh_text};
use base::{Fault, Id, VocabularyWord};
use store::ads::card_links::{self, CardLink};
use store::posts::Post;
use store::{Tx, media};

use super::{PostRenderContext, card_id, media_keys};
use crate::json_writer::JsonWriter;
use crate::media::{id_from_media_key, media_url};

/// How many code points of a repost are sent.
pub(super) const REPOST_LENGTH: usize = 140;
/// By so much an address can outweigh its letters: 23 for `a.co`.
const URL_EXTRA_WEIGHT: usize = 19;
/// Mostly enough of a text to find its first part in, in bytes.
const PREFIX_SIZES: [usize; 2] = [512, 2048];

pub(super) fn write_text(out: &mut JsonWriter, facts: PostRenderContext<'_>) {
    out.write_html_escaped(&sent_text(facts));
}

/// The whole of a long post.
pub(super) fn write_note_post(out: &mut JsonWriter, facts: PostRenderContext<'_>) {
    let post = facts.post;
    if facts.is_long() {
        out.write_object(|out| {
            out.write_member(VocabularyWord::same_in_both("text"), |out| {
                out.write_html_escaped(&post.text)
            });
            out.write_member(VocabularyWord::same_in_both("entities"), |out| {
                out.write_raw(&post.entities)
            });
        });
    }
}

/// The part of the text to display. What comes behind the stored end is not displayed of a whole
/// text; of a shortened one everything is.
pub(super) fn write_display_text_range(out: &mut JsonWriter, facts: PostRenderContext<'_>) {
    let post = facts.post;
    let whole = !facts.is_long() && post.repost_of_id.is_none();
    let end = if whole {
        post.display_end
    } else {
        i64::try_from(text_without_link(facts).chars().count()).unwrap_or(post.display_end)
    };
    out.write_array([post.display_start, end], JsonWriter::write_int);
}

/// The text as it is sent, not escaped: a link to the media that it carries ends it, or the link
/// that its card leads by.
pub(crate) fn sent_text(facts: PostRenderContext<'_>) -> Cow<'_, str> {
    let words = text_without_link(facts);
    let link = media_link(facts).or_else(|| Some(card_links(facts).next()?.1));
    match link {
        Some(link) if words.is_empty() => Cow::Owned(link),
        Some(link) => Cow::Owned(format!("{words} {link}")),
        None => words,
    }
}

/// A link to the media that a post carries; the texts of imported ones have theirs.
pub(super) fn media_link(facts: PostRenderContext<'_>) -> Option<String> {
    let objects = facts.objects;
    let first = media_keys(facts.post)
        .next()
        .filter(|_| facts.post.repost_of_id.is_none())?;
    let media = objects.media.get(id_from_media_key(first)?)?;
    media.uses?;
    media_url(media, objects.site)
}

/// Where the card of a post leads, and the links that the post has for it.
pub(super) fn card_links(facts: PostRenderContext<'_>) -> impl Iterator<Item = (&CardLink, String)> {
    let objects = facts.objects;
    let card = card_id(facts.post).and_then(|card| objects.card_links.get(&card));
    let links = card.into_iter().flatten();
    links.filter_map(move |link| Some((link, short_link(link, facts.post, objects.site)?)))
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
pub(super) fn link_range(facts: PostRenderContext<'_>, link: &str) -> (usize, usize) {
    let words = text_without_link(facts).chars().count();
    let start = if words == 0 { 0 } else { words.saturating_add(1) };
    (start, start.saturating_add(link.chars().count()))
}

/// The text of a post just written, with the link at `site` that ends it: to its media, or where its
/// card leads.
pub(crate) fn new_post_text(tx: &mut Tx<'_>, post: &Post, site: &str) -> Result<String, Fault> {
    let first = media_keys(post).next().and_then(id_from_media_key);
    let media = match first {
        Some(id) => media::find_by_id(tx, Id::new(id))?,
        None => None,
    };
    let link = media.as_ref().and_then(|media| media_url(media, site));
    let card = card_id(post).filter(|_| link.is_none());
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
fn text_without_link(facts: PostRenderContext<'_>) -> Cow<'_, str> {
    let post = facts.post;
    if post.repost_of_id.is_some() {
        return repost_text(facts);
    }
    let short = facts.objects.short_texts.get(&post.id);
    Cow::Borrowed(short.map_or(&post.text, String::as_str))
}

/// Whether a repost's stored text is one already, as an import's is.
pub(super) fn has_repost_prefix(post: &Post) -> bool {
    post.text.starts_with("RT @")
}

/// The stored text where it is one of a repost (an import's may tell more than is here), else
/// made from what is reposted.
fn repost_text(facts: PostRenderContext<'_>) -> Cow<'_, str> {
    let post = facts.post;
    let original = facts.original_post().filter(|_| !has_repost_prefix(post));
    let made = original.and_then(|original| {
        let author = &original.author()?.username;
        Some(Cow::Owned(format!("RT @{author}: {}", original.post.text)))
    });
    let text: Cow<'_, str> = made.unwrap_or(Cow::Borrowed(post.text.as_str()));
    match truncate_chars(&text, REPOST_LENGTH) {
        None => text,
        Some(first) => Cow::Owned(format!("{}…", first.trim_end())),
    }
}

/// What is left of a text that has more than `length` code points, with room for an ellipsis.
fn truncate_chars(text: &str, length: usize) -> Option<&str> {
    text.char_indices().nth(length)?;
    let (end, _) = text.char_indices().nth(length.saturating_sub(1))?;
    text.get(..end)
}

/// The first part of a long post, with an ellipsis; none when the text is sent whole.
pub(crate) fn short_text(post: &Post) -> Option<String> {
    let text = post.text.as_str();
    if post.repost_of_id.is_some() || is_surely_short(text) {
        return None;
    }
    let beginnings = PREFIX_SIZES.into_iter().filter(|end| *end < text.len());
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
fn is_surely_short(text: &str) -> bool {
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
    most + dots * URL_EXTRA_WEIGHT <= limit
}
