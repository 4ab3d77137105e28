//! The text of a post in pieces, for HTML.

use base::text::unescape_html;
use serde_json::Value;

/// A piece of plain text, or a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextSegment {
    /// Not escaped.
    pub text: String,
    pub url: Option<String>,
}

/// Splits the text of a status (extended form) at its links; without the link to its media, which are shown on their
/// own.
pub fn legacy_text_segments(status: &Value) -> Vec<TextSegment> {
    split_text(status, Vec::new())
}

/// As [`legacy_text_segments`], with paths of this site for mentioned users.
pub fn linked_text_segments(status: &Value, user_path: impl Fn(&str) -> String) -> Vec<TextSegment> {
    let mentions = status.pointer("/entities/user_mentions").and_then(Value::as_array).into_iter().flatten();
    let mentions = mentions.filter_map(|mention| {
        let username = mention.get("screen_name")?.as_str()?;
        LinkSpan::from_indices(mention, user_path(username), format!("@{username}"))
    });
    split_text(status, mentions.collect())
}

fn split_text(status: &Value, mut links: Vec<LinkSpan>) -> Vec<TextSegment> {
    let full_text = status.get("full_text").and_then(Value::as_str).unwrap_or_default();
    let letters: Vec<char> = unescape_html(full_text).chars().collect();
    let list = |path: &str| status.pointer(path).and_then(Value::as_array).into_iter().flatten();
    links.extend(list("/entities/urls").filter_map(LinkSpan::from_entity));
    let media = list("/entities/media").find_map(LinkSpan::from_entity);
    links.extend(media.filter(|link| link.start < link.end).map(|link| LinkSpan { is_media: true, ..link }));
    links.sort_by_key(|link| link.start);
    let mut segments = Vec::new();
    let mut at = 0;
    for link in links {
        // A link that overlaps another one is none.
        let Some(before) = letters.get(at..link.start) else { continue };
        push_text(&mut segments, before);
        at = link.end;
        if !link.is_media {
            segments.push(TextSegment { text: link.display, url: Some(link.url) });
        }
    }
    push_text(&mut segments, letters.get(at..).unwrap_or_default());
    if let Some(last) = segments.last_mut().filter(|last| last.url.is_none()) {
        last.text.truncate(last.text.trim_end().len());
    }
    segments.retain(|segment| !segment.text.is_empty());
    segments
}

struct LinkSpan {
    start: usize,
    end: usize,
    url: String,
    display: String,
    is_media: bool,
}

impl LinkSpan {
    fn from_entity(entity: &Value) -> Option<Self> {
        let text = |name: &str| Some(entity.get(name)?.as_str()?.to_owned());
        Self::from_indices(entity, text("url")?, text("display_url")?)
    }

    fn from_indices(entity: &Value, url: String, display: String) -> Option<Self> {
        let index = |number: usize| usize::try_from(entity.pointer(&format!("/indices/{number}"))?.as_u64()?).ok();
        Some(Self { start: index(0)?, end: index(1)?, url, display, is_media: false })
    }
}

fn push_text(segments: &mut Vec<TextSegment>, letters: &[char]) {
    if !letters.is_empty() {
        segments.push(TextSegment { text: letters.iter().collect(), url: None });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{TextSegment, legacy_text_segments};

    #[test]
    fn text_is_split_at_its_links_and_loses_the_link_to_its_media() {
        let status = json!({
            "full_text": "a &lt;b&gt; \u{1f600} https://x/1 c https://x/2",
            "entities": {
                "urls": [{ "indices": [8, 19], "url": "https://x/1", "display_url": "x.example" }],
                "media": [{ "indices": [22, 33], "url": "https://x/2", "display_url": "pic" }],
            },
        });
        let plain = |text: &str| TextSegment { text: text.to_owned(), url: None };
        let link = TextSegment { text: "x.example".to_owned(), url: Some("https://x/1".to_owned()) };
        assert_eq!(legacy_text_segments(&status), [plain("a <b> \u{1f600} "), link, plain(" c")]);
        assert_eq!(legacy_text_segments(&json!({ "full_text": "" })), []);
        let wrong = json!({ "full_text": "ab", "entities": { "urls": [
            { "indices": [1, 9], "url": "u", "display_url": "d" }, { "indices": [0, 1], "url": "u", "display_url": "d" }
        ] } });
        assert_eq!(legacy_text_segments(&wrong).len(), 2);
    }
}
