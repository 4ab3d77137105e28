//! The curated category of a pre-roll line item.

use ads_engine::{
    AccountContext, AdsRecord, FieldRequirement, FieldSpec, ListFilter, RecordChange, Resource, ResourceVerb,
    ValidationRule,
};
use base::refusal::AdsProblem;
use base::{Error, VocabularyWord};
use store::records;

use crate::resources::curated_categories::CURATED_CATEGORY;
use crate::resources::line_items::LINE_ITEM;
use crate::resources::targeting_criteria;
use crate::targeting_values::find_country;

/// Publishers that a line item with a curated category may exclude.
pub const MAX_EXCLUDED_PUBLISHERS: i64 = 5;

pub static LINE_ITEM_CURATED_CATEGORY: Resource = Resource {
    name: "line_item_curated_category",
    id: VocabularyWord::same_in_both("line_item_curated_category_id"),
    path: "line_item_curated_categories",
    label: "line item curated category",
    operation_ids: &[
        (ResourceVerb::Create, "createAdsLineItemCategory"),
        (ResourceVerb::Update, "updateAdsLineItemCategory"),
        (ResourceVerb::Delete, "deleteAdsLineItemCategory"),
    ],
    fields: &[
        FieldSpec::parent("line_item_id", &LINE_ITEM).required().update(FieldRequirement::Optional),
        FieldSpec::reference("curated_category_id", &CURATED_CATEGORY)
            .label("Curated category")
            .help("The line item must first target a location in one of the category’s countries.")
            .required()
            .update(FieldRequirement::Optional),
    ],
    filters: &[
        ListFilter::ids("line_item_ids", "line_item_id", &LINE_ITEM),
        ListFilter::ids("line_item_curated_category_ids", "id", &LINE_ITEM_CURATED_CATEGORY),
    ],
    rules: &[
        ValidationRule::InContext(validate_single_category),
        ValidationRule::InContext(validate_countries),
        ValidationRule::InContext(validate_no_other_content),
    ],
    ..Resource::DEFAULT
};

pub fn find_by_line_item(ctx: &mut AccountContext<'_, '_>, item: i64) -> Result<Option<AdsRecord>, Error> {
    let all = ctx.list_visible_records(&LINE_ITEM_CURATED_CATEGORY, "line_item_id", item)?;
    Ok(all.into_iter().next())
}

fn line_item_id(change: &RecordChange) -> i64 {
    change.record.int("line_item_id").unwrap_or(0)
}

fn validate_single_category(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if change.verb == ResourceVerb::Delete {
        return Ok(());
    }
    let known = find_by_line_item(ctx, line_item_id(change))?;
    if known.is_none_or(|known| known.id == change.record.id) {
        return Ok(());
    }
    let message = "A line item has one curated category";
    Err(AdsProblem::invalid_attribute("line_item_id", message).into())
}

/// The line item must target one of the category's countries.
fn validate_countries(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if change.verb == ResourceVerb::Delete {
        return Ok(());
    }
    let id = change.record.int("curated_category_id").unwrap_or(0);
    let category = ctx.require_record(&CURATED_CATEGORY, id)?;
    if targets_country_of(ctx, line_item_id(change), &category)? {
        return Ok(());
    }
    let codes = category.texts("country_codes").join(", ");
    let message = format!("The line item must target a location in one of {codes} first");
    Err(AdsProblem::invalid_attribute("curated_category_id", message).into())
}

fn targets_country_of(ctx: &mut AccountContext<'_, '_>, item: i64, category: &AdsRecord) -> Result<bool, Error> {
    for criterion in targeting_criteria::list_by_type(ctx, item, "LOCATION")? {
        let country = find_country(ctx.tx, criterion.text("targeting_value"))?;
        if country.is_some_and(|code| category.has("country_codes", &code)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The curated category of a line item that targets none of its countries; `None` for one that the operator removed.
pub fn find_outside_countries(ctx: &mut AccountContext<'_, '_>, item: i64) -> Result<Option<AdsRecord>, Error> {
    let Some(link) = find_by_line_item(ctx, item)? else {
        return Ok(None);
    };
    let category = ctx.find_record(&CURATED_CATEGORY, link.int("curated_category_id").unwrap_or(0))?;
    let Some(category) = category.filter(|category| !category.deleted) else {
        return Ok(None);
    };
    Ok((!targets_country_of(ctx, item, &category)?).then_some(category))
}

fn validate_no_other_content(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if change.verb == ResourceVerb::Delete {
        return Ok(());
    }
    if !targeting_criteria::list_by_type(ctx, line_item_id(change), "IAB_CATEGORY")?.is_empty() {
        let message = "The line item targets categories of content already";
        return Err(AdsProblem::invalid_attribute("curated_category_id", message).into());
    }
    let alike = targeting_criteria::group_key(line_item_id(change), "CONTENT_PUBLISHER_USER");
    let account = ctx.account_id()?;
    let kind = targeting_criteria::TARGETING_CRITERION.name;
    if records::count_by_field(ctx.tx, kind, account, ("alike", alike))? > MAX_EXCLUDED_PUBLISHERS {
        let message = format!("A line item with a curated category leaves out at most {MAX_EXCLUDED_PUBLISHERS} users");
        return Err(AdsProblem::invalid_attribute("curated_category_id", message).into());
    }
    Ok(())
}
