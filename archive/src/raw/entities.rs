//! The links, mentions and attachments of a post.

use crate::lenient::{LenientList, LenientNumber, LenientText};
use crate::{
    ArchivedMedia, ArchivedMediaKind, ArchivedMention, ArchivedPoll, ArchivedPollOption, ArchivedUrl, ArchivedVariant,
    time,
};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawEntities<'a> {
    #[serde(borrow)]
    pub(crate) urls: LenientList<RawUrl<'a>>,
    pub(crate) user_mentions: LenientList<RawMention<'a>>,
    pub(crate) media: LenientList<RawMedia<'a>>,
    pub(crate) polls: LenientList<RawPoll<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawUrl<'a> {
    #[serde(borrow, alias = "shortUrl")]
    url: LenientText<'a>,
    #[serde(alias = "expandedUrl", alias = "expanded")]
    expanded_url: LenientText<'a>,
    #[serde(alias = "displayUrl", alias = "display")]
    display_url: LenientText<'a>,
}

impl RawUrl<'_> {
    pub(crate) fn to_url(&self) -> ArchivedUrl {
        let expanded = if self.expanded_url.is_empty() { &self.url } else { &self.expanded_url };
        ArchivedUrl {
            short: self.url.to_text(),
            expanded: expanded.to_text(),
            display: self.display_url.to_text(),
            in_text: true,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawMention<'a> {
    id: LenientNumber,
    #[serde(alias = "userId")]
    id_str: LenientNumber,
    #[serde(borrow, alias = "screenName")]
    screen_name: LenientText<'a>,
    name: LenientText<'a>,
}

impl RawMention<'_> {
    pub(crate) fn to_mention(&self) -> ArchivedMention {
        ArchivedMention {
            id: self.id_str.0.or(self.id.0).filter(|id| *id > 0),
            handle: self.screen_name.to_text(),
            name: self.name.to_text(),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawPoll<'a> {
    #[serde(borrow)]
    options: LenientList<RawPollOption<'a>>,
    end_datetime: LenientText<'a>,
    duration_minutes: LenientNumber,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawPollOption<'a> {
    #[serde(borrow, alias = "text")]
    label: LenientText<'a>,
    votes: LenientNumber,
}

impl RawPoll<'_> {
    /// `None` if it is not known when it ends.
    pub(crate) fn to_poll(&self, created_at_ms: i64) -> Option<ArchivedPoll> {
        let last_ms = || created_at_ms.checked_add(self.duration_minutes.0?.checked_mul(60_000)?);
        let options = self.options.iter();
        let to_option = |raw: &RawPollOption<'_>| ArchivedPollOption {
            label: raw.label.to_text(),
            votes: raw.votes.0.unwrap_or(0),
        };
        Some(ArchivedPoll {
            options: options.map(to_option).collect(),
            ends_at_ms: time::parse(&self.end_datetime).or_else(last_ms)?,
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawMedia<'a> {
    id: LenientNumber,
    id_str: LenientNumber,
    #[serde(borrow)]
    pub(crate) url: LenientText<'a>,
    media_url: LenientText<'a>,
    media_url_https: LenientText<'a>,
    #[serde(rename = "type")]
    kind: LenientText<'a>,
    ext_alt_text: LenientText<'a>,
    sizes: Option<RawMediaSizes>,
    video_info: Option<RawVideoInfo<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawMediaSizes {
    large: Option<RawMediaSize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawMediaSize {
    w: LenientNumber,
    h: LenientNumber,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawVideoInfo<'a> {
    duration_millis: LenientNumber,
    #[serde(borrow)]
    variants: LenientList<RawVariant<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawVariant<'a> {
    bitrate: LenientNumber,
    #[serde(borrow)]
    content_type: LenientText<'a>,
    url: LenientText<'a>,
}

impl RawMedia<'_> {
    pub(crate) fn to_media(&self) -> ArchivedMedia {
        let address = if self.media_url_https.is_empty() { &self.media_url } else { &self.media_url_https };
        let size = self.sizes.as_ref().and_then(|sizes| sizes.large.as_ref());
        let pixels = |number: Option<LenientNumber>| number.and_then(|n| u32::try_from(n.0?).ok()).unwrap_or(0);
        let film = self.video_info.as_ref();
        let variants = film.map(|film| film.variants.iter().map(RawVariant::to_variant).collect());
        ArchivedMedia {
            id: self.id_str.0.or(self.id.0).unwrap_or(0),
            kind: match &*self.kind {
                "video" => ArchivedMediaKind::Video,
                "animated_gif" => ArchivedMediaKind::AnimatedGif,
                _ => ArchivedMediaKind::Photo,
            },
            files: Vec::new(),
            url: address.to_text(),
            alt: self.ext_alt_text.non_empty(),
            width: pixels(size.map(|size| size.w)),
            height: pixels(size.map(|size| size.h)),
            duration_ms: film.and_then(|film| film.duration_millis.0),
            variants: variants.unwrap_or_default(),
            ..ArchivedMedia::default()
        }
    }
}

impl RawVariant<'_> {
    fn to_variant(&self) -> ArchivedVariant {
        ArchivedVariant { url: self.url.to_text(), content_type: self.content_type.to_text(), bitrate: self.bitrate.0 }
    }
}
