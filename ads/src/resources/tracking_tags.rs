//! Tracking tags: a partner's address, called when a line item is seen or clicked.

use base::VocabularyWord;

use crate::declare::{Field, Filter, Need, Resource};
use crate::resources::line_items::LINE_ITEM;

/// A partner's tag at a line item.
pub static TRACKING_TAG: Resource = Resource {
    name: "tracking_tag",
    id: VocabularyWord::same_in_both("tracking_tag_id"),
    path: "tracking_tags",
    about: "tracking tag",
    fields: &[
        Field::parent("line_item_id", &LINE_ITEM).required(),
        Field::one_of("tracking_tag_type", &["IMPRESSION_TAG", "CLICK_TRACKER"])
            .required()
            .fixed(),
        Field::url("tracking_tag_url").required().update(Need::Must),
    ],
    filters: &[
        Filter::ids("line_item_ids", "line_item_id", &LINE_ITEM),
        Filter::ids("tracking_tag_ids", "id", &TRACKING_TAG),
    ],
    ..Resource::DEFAULT
};
