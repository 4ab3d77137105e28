//! The URLs, hashtags, mentions and cashtags of a text.

use std::ops::Range;

use super::signs::{find_cashtags, find_hashtags, find_mentions};
use super::urls::find_urls;
use super::weight::MAX_TEXT_BYTES;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entity {
    /// The first code point, including the sign `#`, `@` or `$`.
    pub start: usize,
    /// The code point after the last.
    pub end: usize,
    /// The same range in bytes of the text.
    pub bytes: Range<usize>,
    pub text: String,
}

/// The entities of a text, each kind in text order. No two overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entities {
    /// Also those without `https://`.
    pub urls: Vec<Entity>,
    pub hashtags: Vec<Entity>,
    /// Without `@user/list`.
    pub mentions: Vec<Entity>,
    pub cashtags: Vec<Entity>,
}

impl Entities {
    /// The mentions at the very beginning, separated only by spaces.
    pub fn leading_mentions(&self, text: &str) -> &[Entity] {
        let mut end = 0;
        let leading = self.mentions.iter().take_while(|mention| {
            let between = text.get(end..mention.bytes.start);
            end = mention.bytes.end;
            between.is_some_and(|between| between.trim().is_empty())
        });
        let count = leading.count();
        self.mentions.get(..count).unwrap_or_default()
    }

    pub(super) fn byte_ranges(&self) -> Vec<Range<usize>> {
        let kinds = [&self.urls, &self.hashtags, &self.mentions, &self.cashtags];
        let entities = kinds.into_iter().flatten();
        let mut ranges: Vec<_> = entities.map(|entity| entity.bytes.clone()).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        ranges
    }
}

#[derive(Clone, Copy)]
enum EntityKind {
    Url,
    Mention,
    List,
    Hashtag,
    Cashtag,
}

/// Expects normalized text. A text longer than 100,000 bytes has no entities.
pub fn extract_entities(text: &str) -> Entities {
    let mut entities = Entities::default();
    if text.len() > MAX_TEXT_BYTES {
        return entities;
    }
    let of_kind = |kind: EntityKind| move |bytes: Range<usize>| (kind, bytes);
    let mentions = find_mentions(text).into_iter().map(|mention| {
        let kind = if mention.is_list { EntityKind::List } else { EntityKind::Mention };
        (kind, mention.bytes)
    });
    let mut found: Vec<_> = find_urls(text).into_iter().map(of_kind(EntityKind::Url)).chain(mentions).collect();
    found.extend(find_hashtags(text).into_iter().map(of_kind(EntityKind::Hashtag)));
    found.extend(find_cashtags(text).into_iter().map(of_kind(EntityKind::Cashtag)));
    found.sort_by_key(|(_, bytes)| bytes.start);
    let (mut last_end, mut points) = (0, 0);
    for (kind, bytes) in found {
        // Of two that overlap, the first counts.
        let Some(between) = text.get(last_end..bytes.start) else { continue };
        let whole = text.get(bytes.clone()).unwrap_or_default();
        let start = points + between.chars().count();
        (last_end, points) = (bytes.end, start + whole.chars().count());
        let (kind, has_sign) = match kind {
            EntityKind::Url => (&mut entities.urls, false),
            EntityKind::Mention => (&mut entities.mentions, true),
            EntityKind::Hashtag => (&mut entities.hashtags, true),
            EntityKind::Cashtag => (&mut entities.cashtags, true),
            EntityKind::List => continue,
        };
        let text = whole.chars().skip(usize::from(has_sign)).collect();
        kind.push(Entity { start, end: points, bytes, text });
    }
    entities
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Entity, extract_entities};

    fn shown(found: &[Entity]) -> String {
        let found = found.iter();
        let found = found.map(|entity| format!("{}–{} {}", entity.start, entity.end, entity.text));
        found.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn places_count_code_points() {
        let text = "👨‍👩‍👧 @ana see https://x.com/a?b=1#c or docs.rs. $TWTR #日本語 #1 a@b.c";
        let found = extract_entities(text);
        assert_eq!(shown(&found.mentions), "6–10 ana");
        assert_eq!(shown(&found.urls), "15–36 https://x.com/a?b=1#c, 40–47 docs.rs");
        assert_eq!(shown(&found.cashtags), "49–54 TWTR");
        assert_eq!(shown(&found.hashtags), "55–59 日本語");
        for entity in found.urls.iter().chain(&found.hashtags) {
            let place = text.get(entity.bytes.clone()).unwrap();
            assert!(place.ends_with(&entity.text));
        }
    }

    #[test]
    fn a_long_text_is_read_to_its_end() {
        for word in ["日本 ", "@", "a"] {
            let text = format!("{} @ana https://x.com/é #a", word.repeat(4096));
            let text = &*format!("#b {text}");
            let found = extract_entities(text);
            assert_eq!(found.hashtags.len(), 2);
            let url = &found.urls[0];
            assert_eq!(text.get(url.bytes.clone()), Some("https://x.com/é"));
            assert_eq!(url.end, text.chars().count() - 3);
            assert_eq!(found.mentions[0].end, url.start - 1);
        }
    }

    #[test]
    fn a_list_is_no_mention() {
        assert_eq!(shown(&extract_entities("@ana/list @bob").mentions), "10–14 bob");
        assert_eq!(shown(&extract_entities("@ana@example.com").mentions), "");
    }

    #[test]
    fn other_addresses_are_neither_mentions_nor_urls() {
        for text in ["日!@ana", "日a@example.com", "＠@ana", "é_＠ana", "👍!@a", "x/b.com", "a@b.com"] {
            let found = extract_entities(text);
            assert_eq!((found.mentions, found.urls), (vec![], vec![]), "{text}");
        }
    }

    #[test]
    fn mention_follows_anything_but_a_word_or_sign() {
        for text in ["すごい！@ana", "田中/@ana", "cc=@ana", "RT@ana", "https://example.com、@ana"] {
            assert!(shown(&extract_entities(text).mentions).ends_with(" ana"), "{text}");
        }
        assert_eq!(shown(&extract_entities("start@ana").mentions), "");
    }

    #[test]
    fn url_without_a_scheme_is_whole() {
        for (text, expected) in [
            ("haskell.org", "0–11 haskell.org"),
            ("See docs.rs... Or t.co.", "4–11 docs.rs, 18–22 t.co"),
            ("Visit HBO.com, h.is", "6–13 HBO.com, 15–19 h.is"),
            ("日本example.com日本、docs.rs/a", "2–13 example.com, 16–25 docs.rs/a"),
            ("x_example.com -hello.com", ""),
            ("example.com:80 example.com:80/a?b", "0–11 example.com, 15–33 example.com:80/a?b"),
        ] {
            assert_eq!(shown(&extract_entities(text).urls), expected, "{text}");
        }
    }

    #[test]
    fn punctuation_after_a_url_is_not_a_part_of_it() {
        for (text, expected) in [
            ("https://docs.rs/x#method.", "https://docs.rs/x#method"),
            ("(https://docs.rs/x#method)", "https://docs.rs/x#method"),
            ("https://docs.rs/x?a=b!", "https://docs.rs/x?a=b"),
            ("https://docs.rs/x_(y_(z))).", "https://docs.rs/x_(y_(z))"),
            ("https://docs.rs/x(", "https://docs.rs/x"),
        ] {
            assert_eq!(extract_entities(text).urls[0].text, expected, "{text}");
        }
    }

    #[test]
    fn hashtag_follows_a_url() {
        for text in ["https://example.com！#tag", "docs.rs。#tag", "【https://example.com】#tag", "example.com…#tag"]
        {
            let found = extract_entities(text);
            assert_eq!((found.urls.len(), &*found.hashtags[0].text), (1, "tag"), "{text}");
        }
    }

    #[test]
    fn leading_mentions_end_at_the_first_word() {
        let text = " @ana @bob\n@cy hello @dan";
        let found = extract_entities(text);
        assert_eq!(shown(found.leading_mentions(text)), "1–5 ana, 6–10 bob, 11–14 cy");
        let text = "hello @dan";
        assert_eq!(extract_entities(text).leading_mentions(text), []);
    }

    proptest! {
        #[test]
        fn every_place_is_in_the_text(text in r"([@#$]|https?://|[a-zé.日/_ ]|👩‍🚀|\PC){0,40}") {
            let text = super::super::normalize(&text);
            let found = extract_entities(&text);
            for range in found.byte_ranges() {
                prop_assert!(text.get(range).is_some());
            }
            for url in &found.urls {
                prop_assert_eq!(text.get(url.bytes.clone()), Some(url.text.as_str()));
                let before = text.get(..url.bytes.start).unwrap();
                prop_assert_eq!(url.start, before.chars().count());
            }
        }
    }
}
