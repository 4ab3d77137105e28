//! Account media: what media creatives show. They arise in the media library.

use base::VocabularyWord;

use crate::access::Who;
use crate::declare::{Field, Filter, Resource, Verb};
use crate::kind::Kind;

/// A medium of an account.
pub static ACCOUNT_MEDIA: Resource = Resource {
    name: "account_media",
    id: VocabularyWord::same_in_both("account_media_id"),
    path: "account_media",
    about: "account media",
    not_found: "ACCOUNT_MEDIA_NOT_FOUND",
    fields: &[
        Field::new("video_id", Kind::MediaKey).fixed(),
        Field::url("media_url").fixed(),
        Field::new("media_key", Kind::MediaKey).fixed(),
        Field::one_of("creative_type", TYPES).required().fixed(),
    ],
    filters: &[
        Filter::ids("account_media_ids", "id", &ACCOUNT_MEDIA),
        Filter::words("creative_types", "creative_type", TYPES),
    ],
    verbs: &[Verb::List, Verb::Get, Verb::Delete],
    reads: Who::CreativeReader,
    writes: Who::CreativeWriter,
    ..Resource::DEFAULT
};

/// What they can be.
pub const TYPES: &[&str] = &[
    "BANNER",
    "BANNER_TABLET",
    "INTERSTITIAL",
    "INTERSTITIAL_LANDSCAPE",
    "INTERSTITIAL_LANDSCAPE_TABLET",
    "INTERSTITIAL_TABLET",
    "MEDIUM_RECTANGLE",
    "PREROLL",
    "VAST_PREROLL",
];

/// What a picture of exactly these measures is.
pub fn of_measures(width: i64, height: i64) -> Option<&'static str> {
    match (width, height) {
        (320, 50) => Some("BANNER"),
        (728, 90) => Some("BANNER_TABLET"),
        (320, 480) => Some("INTERSTITIAL"),
        (480, 320) => Some("INTERSTITIAL_LANDSCAPE"),
        (768, 1024) => Some("INTERSTITIAL_TABLET"),
        (1024, 768) => Some("INTERSTITIAL_LANDSCAPE_TABLET"),
        (300, 250) => Some("MEDIUM_RECTANGLE"),
        _ => None,
    }
}
