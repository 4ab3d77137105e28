//! Media creatives: account media that a line item shows before videos or in other apps.

use ads_engine::{
    AccountContext, AdsRecord, FieldSpec, Kind, ListFilter, RecordChange, Resource, ResourceVerb, ValidationRule,
};
use base::refusal::AdsProblem;
use base::{Error, VocabularyWord};

use crate::resources::account_media::{ACCOUNT_MEDIA, CREATIVE_TYPES};
use crate::resources::accounts::APPROVAL_STATUS;
use crate::resources::campaigns::CAMPAIGN;
use crate::resources::line_items::{
    CREATIVE_STATUS, LINE_ITEM, find_same_creative, is_publisher_network, recount_creatives,
};

pub static MEDIA_CREATIVE: Resource = Resource {
    name: "media_creative",
    id: VocabularyWord::same_in_both("media_creative_id"),
    path: "media_creatives",
    label: "media creative",
    not_found: "MEDIA_CREATIVE_NOT_FOUND",
    fields: &[
        FieldSpec::parent("line_item_id", &LINE_ITEM).required(),
        FieldSpec::reference("account_media_id", &ACCOUNT_MEDIA)
            .label("Media")
            .help("Suitable files from the media library are listed under Media.")
            .required(),
        FieldSpec::url("landing_url").label("Destination URL").help("Starts with https://").immutable(),
        FieldSpec::one_of("creative_type", CREATIVE_TYPES).set_by_server(),
        CREATIVE_STATUS,
        APPROVAL_STATUS,
        FieldSpec::reference("campaign_id", &CAMPAIGN).set_by_server().hidden(),
    ],
    filters: &[
        ListFilter::new("campaign_id", "campaign_id", Kind::custom(&CAMPAIGN)),
        ListFilter::ids("line_item_ids", "line_item_id", &LINE_ITEM),
        ListFilter::ids("media_creative_ids", "id", &MEDIA_CREATIVE),
    ],
    verbs: &[ResourceVerb::List, ResourceVerb::Get, ResourceVerb::Create, ResourceVerb::Delete],
    rules: &[
        ValidationRule::OnReference("line_item_id", validate_landing_url),
        ValidationRule::InContext(validate_creative_type),
    ],
    find_duplicate: Some(|ctx, record| find_same_creative(ctx, record, &["account_media_id", "landing_url"])),
    after_change: Some(recount_creatives),
    ..Resource::DEFAULT
};

fn validate_landing_url(change: &RecordChange, item: &AdsRecord) -> Result<(), AdsProblem> {
    let clicks = item.text("objective") == "WEBSITE_CLICKS";
    if clicks && change.record.get("landing_url").is_none() {
        return Err(AdsProblem::at_parameter(
            "landing_url",
            "MISSING_PARAMETER",
            "landing_url is needed for WEBSITE_CLICKS",
        ));
    }
    Ok(())
}

/// Pre-roll videos require a pre-roll line item; images require placements in other apps.
fn validate_creative_type(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if change.verb == ResourceVerb::Delete {
        return Ok(());
    }
    let id = |name| change.record.int(name).unwrap_or(0);
    let item = ctx.require_record(&LINE_ITEM, id("line_item_id"))?;
    let media = ctx.require_record(&ACCOUNT_MEDIA, id("account_media_id"))?;
    let kind = media.text("creative_type").to_owned();
    let before_videos = matches!(kind.as_str(), "PREROLL" | "VAST_PREROLL");
    let outside = item.texts("placements").into_iter().any(is_publisher_network);
    let fits = if before_videos { item.text("objective") == "PREROLL_VIEWS" } else { outside };
    if !fits {
        let message = format!("This line item does not take a {kind}");
        let problem = AdsProblem::invalid_attribute("line_item_id", message);
        return Err(problem.with_code("INCOMPATIBLE_LINE_ITEM").into());
    }
    change.record.set("creative_type", kind);
    change.record.set("campaign_id", item.int("campaign_id"));
    if before_videos {
        change.record.set("landing_url", serde_json::Value::Null);
    }
    Ok(())
}
