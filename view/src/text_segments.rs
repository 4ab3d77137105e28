//! The text of a post in pieces, for HTML.

use serde::Deserialize;
use serde::de::IgnoredAny;

/// A piece of plain text, or a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextSegment {
    /// Not escaped.
    pub text: String,
    pub url: Option<String>,
}

/// The entities as they are stored, whose positions count code points.
#[derive(Deserialize, Default)]
#[serde(default)]
struct TextEntities {
    urls: Vec<UrlEntity>,
    mentions: Vec<MentionEntity>,
}

#[derive(Deserialize)]
struct UrlEntity {
    start: usize,
    end: usize,
    url: Option<String>,
    display_url: Option<String>,
    /// Of the link to the post's media, which are shown on their own.
    media_key: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct MentionEntity {
    start: usize,
    end: usize,
    username: String,
}

struct LinkSpan {
    start: usize,
    end: usize,
    /// None for the link to media.
    segment: Option<TextSegment>,
}

/// Splits a text at its links, without the link to its media.
pub fn text_segments(text: &str, entities: &str) -> Vec<TextSegment> {
    split_text(text, parse_entities(entities).urls, Vec::new())
}

/// Splits a text at its links, without the link to its media; with paths of this site for mentioned users.
pub fn linked_text_segments(text: &str, entities: &str, user_path: impl Fn(&str) -> String) -> Vec<TextSegment> {
    let entities = parse_entities(entities);
    let mentions = entities.mentions.into_iter().map(|mention| {
        let segment = TextSegment { text: format!("@{}", mention.username), url: Some(user_path(&mention.username)) };
        LinkSpan { start: mention.start, end: mention.end, segment: Some(segment) }
    });
    split_text(text, entities.urls, mentions.collect())
}

/// None where an import stored what is none.
fn parse_entities(stored: &str) -> TextEntities {
    if stored.is_empty() { TextEntities::default() } else { serde_json::from_str(stored).unwrap_or_default() }
}

fn split_text(text: &str, urls: Vec<UrlEntity>, mut links: Vec<LinkSpan>) -> Vec<TextSegment> {
    links.extend(urls.into_iter().filter_map(|entity| {
        let segment = TextSegment { text: entity.display_url?, url: Some(entity.url?) };
        let segment = entity.media_key.is_none().then_some(segment);
        Some(LinkSpan { start: entity.start, end: entity.end, segment })
    }));
    links.sort_by_key(|link| link.start);
    let (mut segments, mut rest, mut at) = (Vec::new(), text, 0);
    for link in links {
        // A link that overlaps another one, or goes beyond the text, is none.
        let Some((before, covered)) = link.start.checked_sub(at).and_then(|length| split_at_char(rest, length)) else {
            continue;
        };
        let Some((_, after)) = link.end.checked_sub(link.start).and_then(|length| split_at_char(covered, length))
        else {
            continue;
        };
        push_text(&mut segments, before);
        segments.extend(link.segment);
        (rest, at) = (after, link.end);
    }
    push_text(&mut segments, rest);
    if let Some(last) = segments.last_mut().filter(|last| last.url.is_none()) {
        last.text.truncate(last.text.trim_end().len());
    }
    segments.retain(|segment| !segment.text.is_empty());
    segments
}

/// None if the text has fewer code points.
fn split_at_char(text: &str, length: usize) -> Option<(&str, &str)> {
    let mut starts = text.char_indices().map(|(start, _)| start).chain([text.len()]);
    text.split_at_checked(starts.nth(length)?)
}

fn push_text(segments: &mut Vec<TextSegment>, text: &str) {
    if !text.is_empty() {
        segments.push(TextSegment { text: text.to_owned(), url: None });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{TextSegment, linked_text_segments, text_segments};

    fn plain(text: &str) -> TextSegment {
        TextSegment { text: text.to_owned(), url: None }
    }

    fn link(text: &str, url: &str) -> TextSegment {
        TextSegment { text: text.to_owned(), url: Some(url.to_owned()) }
    }

    #[test]
    fn text_is_split_at_its_links_and_loses_the_link_to_its_media() {
        let entities = json!({ "urls": [
            { "start": 8, "end": 19, "url": "https://x/1", "display_url": "x.example" },
            { "start": 22, "end": 33, "url": "https://x/2", "display_url": "pic", "media_key": "3_1" },
        ] });
        let segments = text_segments("a <b> \u{1f600} https://x/1 c https://x/2", &entities.to_string());
        assert_eq!(segments, [plain("a <b> \u{1f600} "), link("x.example", "https://x/1"), plain(" c")]);
        assert_eq!(text_segments("", ""), []);
    }

    #[test]
    fn link_beyond_the_text_or_within_another_one_is_text() {
        let entities = json!({ "urls": [
            { "start": 1, "end": 9, "url": "u", "display_url": "beyond" },
            { "start": 0, "end": 2, "url": "u", "display_url": "whole" },
            { "start": 1, "end": 2, "url": "u", "display_url": "within" },
        ] });
        assert_eq!(text_segments("ab", &entities.to_string()), [link("whole", "u")]);
        assert_eq!(text_segments("ab", "none"), [plain("ab")]);
    }

    #[test]
    fn mentions_lead_to_paths_of_this_site() {
        let entities = json!({ "mentions": [{ "start": 3, "end": 7, "username": "Ada" }] }).to_string();
        let path = |username: &str| format!("/{username}");
        assert_eq!(linked_text_segments("Hi @ada!", &entities, path), [plain("Hi "), link("@Ada", "/Ada"), plain("!")]);
        assert_eq!(text_segments("Hi @ada!", &entities), [plain("Hi @ada!")]);
    }
}
