//! Tracking tags: a partner's URL, called on impressions or clicks of a line item.

use ads_engine::{FieldRequirement, FieldSpec, ListFilter, RecordChange, Resource, ValidationRule};
use base::VocabularyWord;
use base::refusal::AdsProblem;

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
    rules: &[ValidationRule::OnRecord(validate_scheme)],
    ..Resource::DEFAULT
};

/// Pages on which ads are shown refuse resources without TLS.
fn validate_scheme(change: &RecordChange) -> Result<(), AdsProblem> {
    let url = change.record.text("tracking_tag_url");
    if url.starts_with("https://") || !change.changes_field("tracking_tag_url") {
        return Ok(());
    }
    let message = format!("Expected a URL that starts with https://, got \"{url}\" for tracking_tag_url");
    Err(AdsProblem::invalid_parameter("tracking_tag_url", url, message))
}
