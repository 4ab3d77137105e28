//! Texts of posts and messages with short links instead of the links as written. Indices of entities count in the rendered text.

use std::borrow::Cow;

use base::SiteLinks;
use base::short_links::{LinkSource, ShortLinkTarget};
use network::link_facts::KnownLinks;
use serde::{Deserialize, Serialize};
use store::messages::MessageEvent;
use store::posts::Post;

use super::entities::display_url;
use crate::position_shifts::{PositionShift, shift_position, shift_stored_position};

/// A text as rendered, with its entities.
#[derive(Debug, Default)]
pub(crate) struct RenderedText {
    pub(crate) text: String,
    /// JSON, or empty.
    pub(crate) entities: String,
    /// In text order.
    shifts: Vec<PositionShift>,
}

impl RenderedText {
    /// The position in the rendered text of a position in the stored text, in code points.
    pub(super) fn shift_position(&self, position: i64) -> i64 {
        shift_stored_position(&self.shifts, position)
    }
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct TextEntities<'a> {
    #[serde(borrow, skip_serializing_if = "Vec::is_empty")]
    annotations: Vec<AnnotationEntity<'a>>,
    #[serde(borrow, skip_serializing_if = "Vec::is_empty")]
    cashtags: Vec<TagEntity<'a>>,
    #[serde(borrow, skip_serializing_if = "Vec::is_empty")]
    hashtags: Vec<TagEntity<'a>>,
    #[serde(borrow, skip_serializing_if = "Vec::is_empty")]
    mentions: Vec<MentionEntity<'a>>,
    #[serde(borrow, skip_serializing_if = "Vec::is_empty")]
    urls: Vec<UrlEntity<'a>>,
}

#[derive(Debug, Deserialize, Serialize)]
struct AnnotationEntity<'a> {
    start: usize,
    /// Inclusive, unlike the ends of other entities.
    end: usize,
    probability: f64,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    normalized_text: Cow<'a, str>,
}

#[derive(Debug, Deserialize, Serialize)]
struct TagEntity<'a> {
    start: usize,
    end: usize,
    #[serde(borrow)]
    tag: Cow<'a, str>,
}

#[derive(Debug, Deserialize, Serialize)]
struct MentionEntity<'a> {
    start: usize,
    end: usize,
    #[serde(borrow)]
    username: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    id: Cow<'a, str>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct UrlEntity<'a> {
    start: usize,
    end: usize,
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(borrow)]
    expanded_url: Cow<'a, str>,
    #[serde(borrow)]
    display_url: Cow<'a, str>,
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    unwound_url: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    title: Cow<'a, str>,
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    description: Cow<'a, str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<LinkImage>,
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    media_key: Cow<'a, str>,
}

#[derive(Debug, Deserialize, Serialize)]
struct LinkImage {
    url: String,
    width: i64,
    height: i64,
}

impl UrlEntity<'_> {
    /// Links of imports that have short links of their own keep them.
    fn is_as_written(&self) -> bool {
        !self.url.is_empty() && self.url == self.expanded_url && self.media_key.is_empty()
    }
}

impl TextEntities<'_> {
    /// Adds what is known about the pages behind the links; what an import said about them stays.
    /// Returns whether anything is known of a link.
    fn add_facts(&mut self, known: &KnownLinks) -> bool {
        let mut is_any_known = false;
        for url in &mut self.urls {
            let Some(facts) = known.find(&url.expanded_url) else {
                continue;
            };
            is_any_known = true;
            for (member, fact) in [
                (&mut url.unwound_url, &facts.unwound_url),
                (&mut url.title, &facts.title),
                (&mut url.description, &facts.description),
            ] {
                if member.is_empty() {
                    *member = Cow::Owned(fact.clone());
                }
            }
            url.status = url.status.or_else(|| u16::try_from(facts.status).ok().filter(|status| *status > 0));
            if url.images.is_empty() {
                url.images = serde_json::from_str(&facts.images).unwrap_or_default();
            }
        }
        is_any_known
    }

    fn shift_others(&mut self, shifts: &[PositionShift]) {
        let tags = self.cashtags.iter_mut().chain(&mut self.hashtags).map(|tag| (&mut tag.start, &mut tag.end));
        let mentions = self.mentions.iter_mut().map(|mention| (&mut mention.start, &mut mention.end));
        let urls = self.urls.iter_mut().map(|url| (&mut url.start, &mut url.end));
        for (start, end) in tags.chain(mentions).chain(urls) {
            *start = shift_position(shifts, *start);
            *end = shift_position(shifts, *end);
        }
        for annotation in &mut self.annotations {
            annotation.start = shift_position(shifts, annotation.start);
            annotation.end = shift_position(shifts, annotation.end.saturating_add(1)).saturating_sub(1);
        }
    }
}

/// Whether entities as stored contain links.
fn has_links(entities: &str) -> bool {
    entities.contains("\"urls\"")
}

/// Splits a text before a code point; `None` if it is shorter.
fn split_at_char(text: &str, count: usize) -> Option<(&str, &str)> {
    let mut positions = text.char_indices().map(|(index, _)| index).chain([text.len()]);
    text.split_at_checked(positions.nth(count)?)
}

/// Replaces links in a text and its entities. `position_of` returns which link of the source one is, from its place in
/// the list and its start.
fn replace_links(
    source: LinkSource,
    text: &str,
    entities: &mut TextEntities<'_>,
    site: SiteLinks,
    position_of: impl Fn(usize, usize) -> Option<usize>,
) -> (String, Vec<PositionShift>) {
    let mut replaced = String::with_capacity(text.len().saturating_add(64));
    let (mut rest, mut consumed, mut growth) = (text, 0_usize, 0_isize);
    let mut shifts = Vec::with_capacity(entities.urls.len());
    for (index, url) in entities.urls.iter_mut().enumerate() {
        let target = position_of(index, url.start).and_then(ShortLinkTarget::from_position);
        let length = url.end.saturating_sub(url.start);
        let parts = url.start.checked_sub(consumed).and_then(|skipped| split_at_char(rest, skipped));
        let parts = parts.and_then(|(before, tail)| Some((before, split_at_char(tail, length)?.1)));
        let link = target.filter(|_| length > 0 && url.is_as_written());
        let link = link.and_then(|target| site.short_link(source, target));
        let (Some((before, after)), Some(link)) = (parts, link) else {
            continue;
        };
        replaced.push_str(before);
        replaced.push_str(&link);
        (rest, consumed) = (after, url.end);
        // A link of this server has only ASCII characters.
        growth = growth.saturating_add_unsigned(link.len()).saturating_sub_unsigned(length);
        shifts.push(PositionShift { end: url.end, growth });
        url.url = Cow::Owned(link);
    }
    replaced.push_str(rest);
    entities.shift_others(&shifts);
    (replaced, shifts)
}

fn to_json(entities: &TextEntities<'_>) -> String {
    serde_json::to_string(entities).unwrap_or_default()
}

/// The full text of a post with short links; `None` if it is rendered as stored.
pub(crate) fn shorten_links(post: &Post, site: SiteLinks, known: &KnownLinks) -> Option<RenderedText> {
    shorten_text(LinkSource::Post(post.id), (&post.text, &post.entities), site, known)
}

/// Replaces the links in a message by short links.
pub fn shorten_message_links(message: &mut MessageEvent, site: SiteLinks) {
    let source = LinkSource::Message(message.id);
    if let Some(rendered) = shorten_text(source, (&message.text, &message.entities), site, &KnownLinks::default()) {
        message.text = rendered.text;
        message.entities = rendered.entities;
    }
}

fn shorten_text(
    source: LinkSource,
    (text, entities): (&str, &str),
    site: SiteLinks,
    known: &KnownLinks,
) -> Option<RenderedText> {
    if !has_links(entities) || site.codec.is_none() && known.is_empty() {
        return None;
    }
    let mut entities: TextEntities<'_> = serde_json::from_str(entities).ok()?;
    let (text, shifts) = replace_links(source, text, &mut entities, site, |index, _| Some(index));
    let is_any_known = entities.add_facts(known);
    (is_any_known || !shifts.is_empty()).then(|| RenderedText { text, entities: to_json(&entities), shifts })
}

/// The truncated text of a long post, with the short link to the post at its end.
pub(crate) fn link_truncated_text(post: &Post, text: String, site: SiteLinks, known: &KnownLinks) -> RenderedText {
    let source = LinkSource::Post(post.id);
    let Some(link) = site.short_link(source, ShortLinkTarget::Post) else {
        return RenderedText { text, entities: post.short_entities.clone(), shifts: Vec::new() };
    };
    let mut entities: TextEntities<'_> = serde_json::from_str(&post.short_entities).unwrap_or_default();
    let all: TextEntities<'_> = if has_links(&post.short_entities) {
        serde_json::from_str(&post.entities).unwrap_or_default()
    } else {
        TextEntities::default()
    };
    let position_of = |_, start| all.urls.iter().position(|url| url.start == start);
    let (mut text, shifts) = replace_links(source, &text, &mut entities, site, position_of);
    entities.add_facts(known);
    text.push(' ');
    let start = text.chars().count();
    let page = site.post_page(post.id);
    let display = display_url(&page);
    entities.urls.push(UrlEntity {
        start,
        end: start.saturating_add(link.len()),
        expanded_url: Cow::Owned(page),
        display_url: Cow::Owned(display),
        url: Cow::Owned(link.clone()),
        ..UrlEntity::default()
    });
    text.push_str(&link);
    RenderedText { text, entities: to_json(&entities), shifts }
}
