//! Tracking tags: a partner's URL, called on impressions or clicks of a line item.

use ads_engine::{FieldRequirement, FieldSpec, ListFilter, Resource};
use base::VocabularyWord;

use crate::resources::line_items::LINE_ITEM;

pub static TRACKING_TAG: Resource = Resource {
    name: "tracking_tag",
    id: VocabularyWord::same_in_both("tracking_tag_id"),
    path: "tracking_tags",
    label: "tracking tag",
    fields: &[
        FieldSpec::parent("line_item_id", &LINE_ITEM).required(),
        FieldSpec::one_of("tracking_tag_type", &["IMPRESSION_TAG", "CLICK_TRACKER"])
            .label("Triggered by")
            .required()
            .immutable(),
        FieldSpec::url("tracking_tag_url")
            .label("URL")
            .help("Starts with https://")
            .required()
            .update(FieldRequirement::Required),
    ],
    filters: &[
        ListFilter::ids("line_item_ids", "line_item_id", &LINE_ITEM),
        ListFilter::ids("tracking_tag_ids", "id", &TRACKING_TAG),
    ],
    ..Resource::DEFAULT
};
