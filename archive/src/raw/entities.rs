//! Links, mentions and attachments as they stand in a post.

use crate::lenient::{Items, Number, Text};
use crate::{Media, MediaKind, Mention, Url, Variant};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawEntities<'a> {
    #[serde(borrow)]
    pub(crate) urls: Items<RawUrl<'a>>,
    #[serde(borrow)]
    pub(crate) user_mentions: Items<RawMention<'a>>,
    #[serde(borrow)]
    pub(crate) media: Items<RawMedia<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawUrl<'a> {
    #[serde(borrow, alias = "shortUrl")]
    url: Text<'a>,
    #[serde(borrow, alias = "expandedUrl", alias = "expanded")]
    expanded_url: Text<'a>,
    #[serde(borrow, alias = "displayUrl", alias = "display")]
    display_url: Text<'a>,
}

impl RawUrl<'_> {
    pub(crate) fn url(&self) -> Url {
        let expanded = if self.expanded_url.is_empty() {
            &self.url
        } else {
            &self.expanded_url
        };
        Url {
            short: self.url.owned(),
            expanded: expanded.owned(),
            display: self.display_url.owned(),
            in_text: true,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawMention<'a> {
    id: Number,
    #[serde(alias = "userId")]
    id_str: Number,
    #[serde(borrow, alias = "screenName")]
    screen_name: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
}

impl RawMention<'_> {
    pub(crate) fn mention(&self) -> Mention {
        Mention {
            id: self.id_str.0.or(self.id.0).filter(|id| *id > 0),
            handle: self.screen_name.owned(),
            name: self.name.owned(),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawMedia<'a> {
    id: Number,
    id_str: Number,
    #[serde(borrow)]
    pub(crate) url: Text<'a>,
    #[serde(borrow)]
    media_url: Text<'a>,
    #[serde(borrow)]
    media_url_https: Text<'a>,
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    ext_alt_text: Text<'a>,
    sizes: Option<Sizes>,
    #[serde(borrow)]
    video_info: Option<VideoInfo<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Sizes {
    large: Option<Size>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Size {
    w: Number,
    h: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct VideoInfo<'a> {
    duration_millis: Number,
    #[serde(borrow)]
    variants: Items<RawVariant<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawVariant<'a> {
    bitrate: Number,
    #[serde(borrow)]
    content_type: Text<'a>,
    #[serde(borrow)]
    url: Text<'a>,
}

impl RawMedia<'_> {
    pub(crate) fn media(&self) -> Media {
        let address = if self.media_url_https.is_empty() {
            &self.media_url
        } else {
            &self.media_url_https
        };
        let size = self.sizes.as_ref().and_then(|sizes| sizes.large.as_ref());
        let pixels =
            |number: Option<Number>| number.and_then(|n| u32::try_from(n.0?).ok()).unwrap_or(0);
        let film = self.video_info.as_ref();
        let variants = film.map(|film| film.variants.iter().map(RawVariant::variant).collect());
        Media {
            id: self.id_str.0.or(self.id.0).unwrap_or(0),
            kind: match &*self.kind {
                "video" => MediaKind::Video,
                "animated_gif" => MediaKind::AnimatedGif,
                _ => MediaKind::Photo,
            },
            files: Vec::new(),
            url: address.owned(),
            alt: self.ext_alt_text.some(),
            width: pixels(size.map(|size| size.w)),
            height: pixels(size.map(|size| size.h)),
            duration_ms: film.and_then(|film| film.duration_millis.0),
            variants: variants.unwrap_or_default(),
            ..Media::default()
        }
    }
}

impl RawVariant<'_> {
    fn variant(&self) -> Variant {
        Variant {
            url: self.url.owned(),
            content_type: self.content_type.owned(),
            bitrate: self.bitrate.0,
        }
    }
}
