//! Post texts as rendered: complete, truncated, or prefixed with `RT @user:`.

use std::borrow::Cow;

use base::text::{MAX_POST_WEIGHT, truncate_with_ellipsis, weigh_text};
use base::{Fault, Id, SiteLinks};
use network::link_facts::KnownLinks;
use store::ads::card_links::{self, CardLink};
use store::posts::Post;
use store::{Tx, media};

use super::{PostRenderContext, card_id, media_keys, shorten_links};
use crate::json_writer::JsonWriter;
use crate::media::{id_from_media_key, media_url};
use crate::position_shifts::{escape_entities, escape_shifts, shift_stored_position};

/// In code points.
pub(super) const REPOST_LENGTH: usize = 140;
/// The maximum weight of a URL beyond its characters: 23 for `a.co`.
const URL_EXTRA_WEIGHT: usize = 19;
/// Prefix lengths in bytes that usually suffice to find the truncated text.
const PREFIX_SIZES: [usize; 2] = [512, 2048];

pub(super) fn write_text(out: &mut JsonWriter, ctx: PostRenderContext<'_>) {
    out.write_html_escaped(&sent_text(ctx));
}

/// Writes the full text of a long post.
pub(super) fn write_note_post(out: &mut JsonWriter, ctx: PostRenderContext<'_>) {
    if ctx.is_long() {
        out.write_object(|out| {
            out.write_plain_member("text", |out| out.write_html_escaped(ctx.full_text()));
            out.write_plain_member("entities", |out| {
                out.write_raw(&escape_entities(ctx.full_entities(), ctx.full_text()));
            });
        });
    }
}

pub(super) fn write_display_text_range(out: &mut JsonWriter, ctx: PostRenderContext<'_>) {
    out.write_array(display_text_range(ctx), JsonWriter::write_int);
}

/// The displayed range of the text as returned. Text after the stored end is not displayed, but truncated texts are
/// displayed completely.
pub(crate) fn display_text_range(ctx: PostRenderContext<'_>) -> [i64; 2] {
    let post = ctx.post;
    let whole = !ctx.is_long() && post.repost_of_id.is_none();
    let full = ctx.objects.full_texts.get(&post.id);
    let shift = |position| full.map_or(position, |full| full.shift_position(position));
    let text = text_without_link(ctx);
    let end =
        if whole { shift(post.display_end) } else { i64::try_from(text.chars().count()).unwrap_or(post.display_end) };
    let escapes = escape_shifts(&text);
    [shift(post.display_start), end].map(|position| shift_stored_position(&escapes, position))
}

/// The rendered text, not escaped: it ends with a link to the post's media or card.
pub(crate) fn sent_text(ctx: PostRenderContext<'_>) -> Cow<'_, str> {
    let words = text_without_link(ctx);
    let link = media_link(ctx).or_else(|| Some(card_links(ctx).next()?.1));
    match link {
        Some(link) if words.is_empty() => Cow::Owned(link),
        Some(link) => Cow::Owned(format!("{words} {link}")),
        None => words,
    }
}

/// The link to the media of a post; imported texts contain their own.
pub(super) fn media_link(ctx: PostRenderContext<'_>) -> Option<String> {
    let objects = ctx.objects;
    let first = media_keys(ctx.post).next().filter(|_| ctx.post.repost_of_id.is_none())?;
    let media = objects.media.get(id_from_media_key(first)?)?;
    media.uses?;
    media_url(media, objects.site.files_url)
}

/// The destinations of the post's card, and its link for each.
pub(super) fn card_links(ctx: PostRenderContext<'_>) -> impl Iterator<Item = (&CardLink, String)> {
    let objects = ctx.objects;
    let card = card_id(ctx.post).and_then(|card| objects.card_links.get(&card));
    let links = card.into_iter().flatten();
    links.filter_map(move |link| Some((link, card_link(link, ctx.post, objects.site.files_url)?)))
}

/// The post's own short link to a card's destination, so that clicks are attributed to the post.
fn card_link(link: &CardLink, post: &Post, site: &str) -> Option<String> {
    let (page, id) = match link.url.as_str() {
        "" => ("cards", link.card_id),
        _ => ("c", link.id),
    };
    (!site.is_empty()).then(|| format!("{site}/{page}/{id}/{}", post.id))
}

/// The range of the link at the end of the text, in code points.
pub(super) fn link_range(ctx: PostRenderContext<'_>, link: &str) -> (usize, usize) {
    let words = text_without_link(ctx).chars().count();
    let start = if words == 0 { 0 } else { words.saturating_add(1) };
    (start, start.saturating_add(link.chars().count()))
}

/// The text of a post just created, including the link at its end.
pub fn new_post_text(tx: &mut Tx<'_>, post: &Post, site: SiteLinks) -> Result<String, Fault> {
    let first = media_keys(post).next().and_then(id_from_media_key);
    let media = match first {
        Some(id) => media::find_by_id(tx, Id::new(id))?,
        None => None,
    };
    let link = media.as_ref().and_then(|media| media_url(media, site.files_url));
    let card = card_id(post).filter(|_| link.is_none());
    let leads = match card {
        Some(card) => card_links::list_by_cards(tx, &[card])?,
        None => Vec::new(),
    };
    let link = link.or_else(|| card_link(leads.first()?, post, site.files_url));
    let text = shorten_links(post, site, &KnownLinks::default()).map_or_else(|| post.text.clone(), |full| full.text);
    Ok(match link {
        Some(link) if text.is_empty() => link,
        Some(link) => format!("{text} {link}"),
        None => text,
    })
}

/// The text without the link at its end.
pub(crate) fn text_without_link(ctx: PostRenderContext<'_>) -> Cow<'_, str> {
    let post = ctx.post;
    if post.repost_of_id.is_some() {
        return repost_text(ctx);
    }
    let short = ctx.objects.short_texts.get(&post.id);
    Cow::Borrowed(short.map_or_else(|| ctx.full_text(), |short| &short.text))
}

/// Whether a repost's stored text has the prefix already, as in imports.
pub(super) fn has_repost_prefix(post: &Post) -> bool {
    post.text.starts_with("RT @")
}

/// The stored text if it has the prefix (imports may have more text than the original), or else derived from
/// the original.
fn repost_text(ctx: PostRenderContext<'_>) -> Cow<'_, str> {
    let post = ctx.post;
    let original = ctx.original_post().filter(|_| !has_repost_prefix(post));
    let made = original.and_then(|original| {
        let author = &original.author()?.username;
        Some(Cow::Owned(format!("RT @{author}: {}", original.full_text())))
    });
    let text: Cow<'_, str> = made.unwrap_or(Cow::Borrowed(post.text.as_str()));
    match truncate_chars(&text, REPOST_LENGTH) {
        None => text,
        Some(first) => Cow::Owned(format!("{}…", first.trim_end())),
    }
}

/// Truncates a text with more than `length` code points, leaving room for an ellipsis.
fn truncate_chars(text: &str, length: usize) -> Option<&str> {
    text.char_indices().nth(length)?;
    let (end, _) = text.char_indices().nth(length.saturating_sub(1))?;
    text.get(..end)
}

/// The truncated text of a long post, with an ellipsis; `None` if the text is rendered completely.
pub(crate) fn short_text(post: &Post) -> Option<String> {
    let text = post.text.as_str();
    if post.repost_of_id.is_some() || is_surely_short(text) {
        return None;
    }
    let beginnings = PREFIX_SIZES.into_iter().filter(|end| *end < text.len());
    let mut beginnings = beginnings.filter_map(|end| text.get(..text.floor_char_boundary(end)));
    let part = beginnings.find_map(truncate_with_ellipsis);
    let part = part.or_else(|| truncate_with_ellipsis(text))?;
    // Leading reply mentions have no weight.
    let start = usize::try_from(post.display_start).unwrap_or(0);
    let free = text.char_indices().nth(start).map_or(0, |(index, _)| index);
    let whole = free > 0 && weigh_text(text, 0..free).weight <= MAX_POST_WEIGHT;
    (!whole).then_some(part)
}

/// Whether a text surely weighs at most 280, without searching it for URLs: a character weighs at most 2, and
/// every URL contains a dot.
fn is_surely_short(text: &str) -> bool {
    let limit = usize::try_from(MAX_POST_WEIGHT).unwrap_or(0);
    if text.len() > limit * 4 {
        return false;
    }
    // No character weighs more than its bytes.
    let all_dots = text.bytes().filter(|byte| *byte == b'.').count();
    if text.len() + all_dots * URL_EXTRA_WEIGHT <= limit {
        return true;
    }
    let (mut max_weight, mut dots, mut last) = (0, 0, ' ');
    for letter in text.chars() {
        max_weight += if letter < '\u{1100}' { 1 } else { 2 };
        if last == '.' && letter.is_alphanumeric() {
            dots += 1;
        }
        last = letter;
    }
    max_weight + dots * URL_EXTRA_WEIGHT <= limit
}
