//! Account media: the media used by media creatives, created through the media library.

use ads_engine::{FieldSpec, Kind, ListFilter, MediaKeyText, RequiredRole, Resource, ResourceVerb};
use base::VocabularyWord;

pub static ACCOUNT_MEDIA: Resource = Resource {
    name: "account_media",
    id: VocabularyWord::same_in_both("account_media_id"),
    path: "account_media",
    label: "account media",
    operation_ids: &[(ResourceVerb::Get, "getAdsAccountMediaById")],
    not_found: "ACCOUNT_MEDIA_NOT_FOUND",
    fields: &[
        FieldSpec::new("video_id", Kind::custom(&MediaKeyText)).immutable(),
        FieldSpec::url("media_url").immutable(),
        FieldSpec::new("media_key", Kind::custom(&MediaKeyText)).immutable(),
        FieldSpec::one_of("creative_type", CREATIVE_TYPES).required().immutable(),
    ],
    filters: &[
        ListFilter::ids("account_media_ids", "id", &ACCOUNT_MEDIA),
        ListFilter::one_of_words("creative_types", "creative_type", CREATIVE_TYPES),
    ],
    verbs: &[ResourceVerb::List, ResourceVerb::Get, ResourceVerb::Delete],
    read_role: RequiredRole::CreativeReader,
    write_role: RequiredRole::CreativeWriter,
    ..Resource::DEFAULT
};

pub const CREATIVE_TYPES: &[&str] = &[
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

/// The creative type of an image with exactly this size in pixels.
pub fn creative_type_from_size(width: i64, height: i64) -> Option<&'static str> {
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
