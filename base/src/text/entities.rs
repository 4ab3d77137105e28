//! The URLs, hashtags, mentions and cashtags of a text.

use std::ops::Range;

use memchr::{memchr, memchr3};
use twitter_text::entity::Type;

use super::scan::{prepare_for_extractor, scan_text};
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

/// Expects normalized text. A text longer than 100,000 bytes has no entities.
pub fn extract_entities(text: &str) -> Entities {
    let mut entities = Entities::default();
    let may_have_some = |text: &str| {
        let bytes = text.as_bytes();
        let has_sign = memchr3(b'.', b'#', b'@', bytes).is_some() || memchr(b'$', bytes).is_some();
        has_sign || !text.is_ascii() && text.contains(['＃', '＠'])
    };
    if text.len() > MAX_TEXT_BYTES || !may_have_some(text) {
        return entities;
    }
    for found in scan_text(&prepare_for_extractor(text), u32::MAX).1 {
        let kind = match found.kind {
            Type::URL => &mut entities.urls,
            Type::HASHTAG => &mut entities.hashtags,
            Type::MENTION => &mut entities.mentions,
            Type::CASHTAG => &mut entities.cashtags,
            Type::FEDERATEDMENTION => continue,
        };
        // From the text itself: the scan worked on a prepared copy.
        let name = text.get(found.bytes.start + found.sign_bytes..found.bytes.end);
        kind.extend(name.map(|name| Entity {
            start: found.points.start,
            end: found.points.end,
            bytes: found.bytes.clone(),
            text: name.to_owned(),
        }));
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
    fn what_the_library_trips_over() {
        for text in ["日!@ana", "日a@example.com", "＠@ana", "é_＠ana", "👍!@a", "x/b.com", "a@b.com"] {
            let found = extract_entities(text);
            assert_eq!((found.mentions, found.urls), (vec![], vec![]), "{text}");
        }
        assert_eq!(shown(&extract_entities("すごい！@ana").mentions), "4–8 ana");
        assert_eq!(shown(&extract_entities("See docs.rs... Or t.co.").urls), "4–11 docs.rs, 18–22 t.co");
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
