//! Fields of post counts.

use crate::field_schema::{FieldDefinition, JsonFieldType};

pub(crate) const SEARCH_COUNT_FIELDS: &[FieldDefinition] = &[
    FieldDefinition::default_field("start", JsonFieldType::Time, "When the bucket begins."),
    FieldDefinition::default_field("end", JsonFieldType::Time, "When it ends."),
    FieldDefinition::default_field("post_count", JsonFieldType::Int, "Posts in it.").tweet_name("tweet_count"),
];
