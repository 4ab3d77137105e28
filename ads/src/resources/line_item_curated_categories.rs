//! The curated category of a line item that is shown before videos.

use base::refusal::AdsProblem;
use base::{Error, VocabularyWord};
use store::records;

use crate::change::Change;
use crate::declare::{Field, Filter, Need, Resource, Rule, Verb};
use crate::desk::Desk;
use crate::record::Record;
use crate::resources::curated_categories::CURATED_CATEGORY;
use crate::resources::line_items::LINE_ITEM;
use crate::resources::targeting_criteria;
use crate::resources::targeting_options::country_of;

/// How many publishers a line item with a curated category may leave out.
pub const MOST_LEFT_OUT: i64 = 5;

/// A curated category at a line item.
pub static LINE_ITEM_CURATED_CATEGORY: Resource = Resource {
    name: "line_item_curated_category",
    id: VocabularyWord::same_in_both("line_item_curated_category_id"),
    path: "line_item_curated_categories",
    about: "line item curated category",
    fields: &[
        Field::parent("line_item_id", &LINE_ITEM)
            .required()
            .update(Need::May),
        Field::reference("curated_category_id", &CURATED_CATEGORY)
            .required()
            .update(Need::May),
    ],
    filters: &[
        Filter::ids("line_item_ids", "line_item_id", &LINE_ITEM),
        Filter::ids(
            "line_item_curated_category_ids",
            "id",
            &LINE_ITEM_CURATED_CATEGORY,
        ),
    ],
    rules: &[
        Rule::Within(is_the_only_one),
        Rule::Within(is_where_the_line_item_is),
        Rule::Within(is_instead_of_other_content),
    ],
    ..Resource::DEFAULT
};

/// The link of a line item, if it has one.
pub fn of_item(desk: &mut Desk<'_, '_>, item: i64) -> Result<Option<Record>, Error> {
    let all = desk.shown(&LINE_ITEM_CURATED_CATEGORY, "line_item_id", item)?;
    Ok(all.into_iter().next())
}

fn item(change: &Change) -> i64 {
    change.record.int("line_item_id").unwrap_or(0)
}

fn is_the_only_one(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    if change.verb == Verb::Delete {
        return Ok(());
    }
    let known = of_item(desk, item(change))?;
    if known.is_none_or(|known| known.id == change.record.id) {
        return Ok(());
    }
    let message = "A line item has one curated category";
    Err(AdsProblem::invalid_attribute("line_item_id", message).into())
}

/// The category's countries and those that the line item is shown in have one in common.
fn is_where_the_line_item_is(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    if change.verb == Verb::Delete {
        return Ok(());
    }
    let id = change.record.int("curated_category_id").unwrap_or(0);
    let category = desk.need(&CURATED_CATEGORY, id)?;
    for criterion in targeting_criteria::of_kind(desk, item(change), "LOCATION")? {
        let country = country_of(desk.tx, criterion.text("targeting_value"))?;
        if country.is_some_and(|code| category.has("country_codes", &code)) {
            return Ok(());
        }
    }
    let codes = category.texts("country_codes").join(", ");
    let message = format!("The line item must target a location in one of {codes} first");
    Err(AdsProblem::invalid_attribute("curated_category_id", message).into())
}

fn is_instead_of_other_content(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    if change.verb == Verb::Delete {
        return Ok(());
    }
    if !targeting_criteria::of_kind(desk, item(change), "IAB_CATEGORY")?.is_empty() {
        let message = "The line item targets categories of content already";
        return Err(AdsProblem::invalid_attribute("curated_category_id", message).into());
    }
    let alike = targeting_criteria::alike(item(change), "CONTENT_PUBLISHER_USER");
    let account = desk.account_id()?;
    let kind = targeting_criteria::TARGETING_CRITERION.name;
    if records::count_by_field(desk.tx, kind, account, ("alike", alike))? > MOST_LEFT_OUT {
        let message =
            format!("A line item with a curated category leaves out at most {MOST_LEFT_OUT} users");
        return Err(AdsProblem::invalid_attribute("curated_category_id", message).into());
    }
    Ok(())
}
