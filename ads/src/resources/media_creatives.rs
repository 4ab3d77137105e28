//! Media creatives: media of the account that a line item shows before videos or in other apps.

use base::refusal::{AdsProblem, ProblemLocation};
use base::{Error, VocabularyWord};

use crate::change::Change;
use crate::declare::{Field, Filter, Resource, Rule, Verb};
use crate::desk::Desk;
use crate::kind::Kind;
use crate::record::Record;
use crate::resources::account_media::{ACCOUNT_MEDIA, TYPES};
use crate::resources::campaigns::CAMPAIGN;
use crate::resources::line_items::{LINE_ITEM, count_creatives};

/// A medium in a line item.
pub static MEDIA_CREATIVE: Resource = Resource {
    name: "media_creative",
    id: VocabularyWord::same_in_both("media_creative_id"),
    path: "media_creatives",
    about: "media creative",
    not_found: "MEDIA_CREATIVE_NOT_FOUND",
    fields: &[
        Field::parent("line_item_id", &LINE_ITEM).required(),
        Field::reference("account_media_id", &ACCOUNT_MEDIA).required(),
        Field::url("landing_url").fixed(),
        Field::one_of("creative_type", TYPES).kept(),
        Field::one_of("entity_status", &["ACTIVE"])
            .kept()
            .or("ACTIVE"),
        Field::one_of("approval_status", &["ACCEPTED", "UNDER_REVIEW", "REJECTED"])
            .kept()
            .or("ACCEPTED"),
        Field::reference("campaign_id", &CAMPAIGN).kept().hidden(),
    ],
    filters: &[
        Filter::new(
            "campaign_id",
            "campaign_id",
            Kind::Reference(&CAMPAIGN, false),
        ),
        Filter::ids("line_item_ids", "line_item_id", &LINE_ITEM),
        Filter::ids("media_creative_ids", "id", &MEDIA_CREATIVE),
    ],
    verbs: &[Verb::List, Verb::Get, Verb::Create, Verb::Delete],
    rules: &[
        Rule::Beside("line_item_id", leads_somewhere),
        Rule::Within(suits),
    ],
    after: Some(after),
    ..Resource::DEFAULT
};

fn leads_somewhere(change: &Change, item: &Record) -> Result<(), AdsProblem> {
    let clicks = item.text("objective") == "WEBSITE_CLICKS";
    if clicks && change.record.get("landing_url").is_none() {
        let problem = AdsProblem {
            location: ProblemLocation::Parameter("landing_url".into()),
            ..AdsProblem::new(
                "MISSING_PARAMETER",
                "landing_url is needed for WEBSITE_CLICKS",
            )
        };
        return Err(problem);
    }
    Ok(())
}

/// What is shown before videos goes into line items for that; pictures go into other apps.
fn suits(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    if change.verb == Verb::Delete {
        return Ok(());
    }
    let id = |name| change.record.int(name).unwrap_or(0);
    let item = desk.need(&LINE_ITEM, id("line_item_id"))?;
    let media = desk.need(&ACCOUNT_MEDIA, id("account_media_id"))?;
    let kind = media.text("creative_type").to_owned();
    let before_videos = matches!(kind.as_str(), "PREROLL" | "VAST_PREROLL");
    let outside = item
        .texts("placements")
        .iter()
        .any(|placement| *placement == "PUBLISHER_NETWORK" || placement.starts_with("TAP_"));
    let fits = if before_videos {
        item.text("objective") == "PREROLL_VIEWS"
    } else {
        outside
    };
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

fn after(desk: &mut Desk<'_, '_>, change: &Change) -> Result<(), Error> {
    count_creatives(desk, change.record.int("line_item_id").unwrap_or(0))
}
