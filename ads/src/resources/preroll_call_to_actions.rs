//! Calls to action over what is shown before videos.

use base::refusal::AdsProblem;
use base::{Error, VocabularyWord};

use crate::change::Change;
use crate::declare::{Field, Filter, Resource, Rule, Verb};
use crate::desk::Desk;
use crate::record::Record;
use crate::resources::line_items::LINE_ITEM;

/// A call to action; a line item has one.
pub static PREROLL_CALL_TO_ACTION: Resource = Resource {
    name: "preroll_call_to_action",
    id: VocabularyWord::same_in_both("preroll_call_to_action_id"),
    path: "preroll_call_to_actions",
    about: "preroll call to action",
    fields: &[
        Field::parent("line_item_id", &LINE_ITEM).required(),
        Field::one_of(
            "call_to_action",
            &["GO_TO", "SEE_MORE", "SHOP", "VISIT_SITE", "WATCH_NOW"],
        )
        .required(),
        Field::url("call_to_action_url").required(),
    ],
    filters: &[
        Filter::ids("line_item_ids", "line_item_id", &LINE_ITEM),
        Filter::ids("preroll_call_to_action_ids", "id", &PREROLL_CALL_TO_ACTION),
    ],
    rules: &[
        Rule::Beside("line_item_id", plays_before_videos),
        Rule::Within(is_the_only_one),
    ],
    ..Resource::DEFAULT
};

fn plays_before_videos(_: &Change, item: &Record) -> Result<(), AdsProblem> {
    if item.text("objective") == "PREROLL_VIEWS" {
        return Ok(());
    }
    let message = "Only a line item with the objective PREROLL_VIEWS takes a call to action";
    Err(AdsProblem::invalid_attribute("line_item_id", message).with_code("INCOMPATIBLE_LINE_ITEM"))
}

fn is_the_only_one(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    if change.verb != Verb::Create {
        return Ok(());
    }
    let item = change.record.int("line_item_id").unwrap_or(0);
    if desk
        .shown(&PREROLL_CALL_TO_ACTION, "line_item_id", item)?
        .is_empty()
    {
        return Ok(());
    }
    let message = "The line item has a call to action already";
    Err(AdsProblem::invalid_attribute("line_item_id", message).into())
}
