//! What a line item says of its advertiser: categories, the domain, and the event that counts on their site.

use ads_engine::account_context::unknown_record;
use ads_engine::{AccountContext, RecordChange, ResourceVerb, parse_record_id};
use base::Error;
use base::refusal::AdsProblem;

use crate::resources::categories::is_iab_category;
use crate::resources::web_event_tags::WEB_EVENT_TAG;

pub(super) fn validate_categories(change: &RecordChange) -> Result<(), AdsProblem> {
    let categories = change.record.texts("categories").into_iter().filter(|_| change.changes_field("categories"));
    match categories.into_iter().find(|category| !is_iab_category(category)) {
        Some(unknown) => {
            let message = format!("The IAB category {unknown} does not exist");
            Err(AdsProblem::invalid_parameter("categories", unknown, message).with_code("INVALID_IAB_CATEGORY"))
        }
        None => Ok(()),
    }
}

pub(super) fn validate_domain(change: &RecordChange) -> Result<(), AdsProblem> {
    let domain = change.record.text("advertiser_domain");
    if domain.is_empty() || !change.changes_field("advertiser_domain") || is_domain(domain) {
        return Ok(());
    }
    let message = format!("Expected a domain, got \"{domain}\" for advertiser_domain");
    Err(AdsProblem::invalid_parameter("advertiser_domain", domain, message))
}

/// Two or more labels of letters, digits and hyphens, in any script.
fn is_domain(text: &str) -> bool {
    let is_label = |label: &str| {
        let has_edges = !label.starts_with('-') && !label.ends_with('-');
        !label.is_empty() && has_edges && label.chars().all(|letter| base::text::is_word_char(letter) || letter == '-')
    };
    text.contains('.') && text.split('.').all(is_label)
}

/// The tag must be one of the account.
pub(super) fn validate_web_event_tag(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    const NAME: &str = "primary_web_event_tag";
    let text = change.record.text(NAME).to_owned();
    if text.is_empty() || change.verb == ResourceVerb::Delete || !change.changes_field(NAME) {
        return Ok(());
    }
    let id = parse_record_id(WEB_EVENT_TAG.id_format, NAME, &text)?;
    if ctx.find_record(&WEB_EVENT_TAG, id)?.is_none_or(|tag| tag.deleted) {
        return Err(unknown_record(&WEB_EVENT_TAG, NAME, &text).into());
    }
    change.record.set(NAME, WEB_EVENT_TAG.id_format.format(id));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_domain;

    #[test]
    fn domains_have_labels_and_nothing_else() {
        for text in ["bikes.example", "www.bike-shop.example", "fahrräder.example", "xn--fahrrder-5za.example"] {
            assert!(is_domain(text), "{text}");
        }
        for text in ["", "bikes", "x y", "bikes .example", "https://bikes.example", ".example", "bikes.", "-a.example"]
        {
            assert!(!is_domain(text), "{text}");
        }
    }
}
