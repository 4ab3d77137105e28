//! Forms of what belongs to a line item.

use ads::resources::line_item_curated_categories::LINE_ITEM_CURATED_CATEGORY;
use ads::resources::line_items::LINE_ITEM;
use ads::resources::media_creatives::MEDIA_CREATIVE;
use ads::resources::preroll_call_to_actions::PREROLL_CALL_TO_ACTION;
use ads::resources::promoted_accounts::PROMOTED_ACCOUNT;
use ads::resources::promoted_posts::PROMOTED_POST;
use ads::resources::scheduled_promoted_posts::SCHEDULED_PROMOTED_POST;
use ads::resources::targeting_criteria::TARGETING_CRITERION;
use ads::resources::tracking_tags::TRACKING_TAG;
use ads_engine::{RecordView, Resource};
use base::Error;
use pages::manager::{NavLink, PageBlock};
use store::Tx;

use super::choices;
use super::fields::declared_fields;
use super::forms::{FormDefinition, FormFieldSpec};
use super::labels::{post_excerpt, record_name, word_label};
use super::line_item_parts::is_preroll;
use super::request::ManagerAccount;
use super::targeting_search;

/// A form that adds a part to a line item.
struct PartForm {
    /// The last part of its path.
    act: &'static str,
    resource: &'static Resource,
    heading: &'static str,
    lead: &'static str,
    submit: &'static str,
    fields: &'static [&'static str],
}

static PART_FORMS: &[PartForm] = &[
    PartForm {
        act: "promote",
        resource: &PROMOTED_POST,
        heading: "Promote post",
        lead: "The post is shown to people targeted by the line item, not only to its author’s followers.",
        submit: "Promote",
        fields: &[],
    },
    PartForm {
        act: "account",
        resource: &PROMOTED_ACCOUNT,
        heading: "Promote account",
        lead: "The account is recommended to people targeted by the line item.",
        submit: "Promote",
        fields: &["user_id"],
    },
    PartForm {
        act: "target",
        resource: &TARGETING_CRITERION,
        heading: "Add targeting",
        lead: "The line item is shown to people who match at least one criterion of each type.",
        submit: "Add targeting",
        fields: &["targeting_type", "operator_type", "targeting_value"],
    },
    PartForm {
        act: "audience",
        resource: &TARGETING_CRITERION,
        heading: "Target audience",
        lead: "Audiences of this account and those shared with it.",
        submit: "Add targeting",
        fields: &["targeting_value", "operator_type"],
    },
    PartForm {
        act: "track",
        resource: &TRACKING_TAG,
        heading: "Add tracking tag",
        lead: "A measurement partner’s URL that is called when the line item is viewed or clicked.",
        submit: "Add tag",
        fields: &["tracking_tag_type", "tracking_tag_url"],
    },
    PartForm {
        act: "scheduled",
        resource: &SCHEDULED_PROMOTED_POST,
        heading: "Promote scheduled post",
        lead: "The post is promoted as soon as it is published.",
        submit: "Promote",
        fields: &["scheduled_post_id"],
    },
    PartForm {
        act: "media",
        resource: &MEDIA_CREATIVE,
        heading: "Add media",
        lead: "Shown in placements without posts.",
        submit: "Add media",
        fields: &["account_media_id", "landing_url"],
    },
    PartForm {
        act: "call-to-action",
        resource: &PREROLL_CALL_TO_ACTION,
        heading: "Add call to action",
        lead: "Adds a button over the video.",
        submit: "Add call to action",
        fields: &["call_to_action", "call_to_action_url"],
    },
    PartForm {
        act: "category",
        resource: &LINE_ITEM_CURATED_CATEGORY,
        heading: "Choose curated category",
        lead: "The line item runs before videos of the category’s publishers.",
        submit: "Choose",
        fields: &["curated_category_id"],
    },
];

fn line_item_trail(ctx: &ManagerAccount, item: &RecordView) -> Vec<NavLink> {
    let path = ctx.page_path(&format!("/line-items/{}", item.id()));
    vec![NavLink::new("Campaigns", ctx.page_path("")), NavLink::new(record_name(item), path)]
}

/// The form that adds a part to a line item; `None` if there is no such form.
pub(super) fn create_form(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    id: &str,
    act: &str,
) -> Result<Option<FormDefinition>, Error> {
    let Some(part) = PART_FORMS.iter().find(|part| part.act == act) else {
        return Ok(None);
    };
    let item = ctx.get(tx, &LINE_ITEM, id)?;
    let form = FormDefinition {
        heading: part.heading.to_owned(),
        lead: part.lead.to_owned(),
        trail: line_item_trail(ctx, &item),
        fixed_params: vec![("line_item_id", id.into())],
        fields: declared_fields(tx, ctx, part.resource, None, part.fields)?,
        submit: part.submit,
        done_code: if matches!(act, "promote" | "account") { "promoted" } else { "added" },
        ..FormDefinition::create(ctx, part.resource, &format!("/line-items/{id}"), act)
    };
    adjust_form(tx, ctx, act, &item, form).map(Some)
}

fn adjust_form(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    act: &str,
    item: &RecordView,
    mut form: FormDefinition,
) -> Result<FormDefinition, Error> {
    Ok(match act {
        "promote" => FormDefinition { fields: post_fields(tx, ctx)?, ..form },
        "account" => {
            let user = ctx.own_user(tx)?.map(|user| user.to_string());
            form.adjust_field("user_id", |field| field.initial_value(user.unwrap_or_default()))
        }
        "target" => {
            let kinds = targeting_search::targeting_types().map(|kind| (kind, word_label(kind)));
            let kinds = FormFieldSpec::choice("targeting_type", "Type", kinds).initial_value("BROAD_KEYWORD");
            form.leading_blocks = targeting_search::search_blocks(tx, ctx, &item.id())?;
            form.leading_blocks.push(PageBlock::Note("Or enter a keyword or another value:".to_owned()));
            form.adjust_field("targeting_type", |_| kinds)
        }
        "audience" => {
            form.fixed_params.push(("targeting_type", "CUSTOM_AUDIENCE".into()));
            let audiences = FormFieldSpec::choice("audience", "Audience", choices::audiences(tx, ctx)?)
                .allow_none("Choose one")
                .send_as("targeting_value")
                .error_aliases(&["targeting_value"]);
            let form = form.adjust_field("targeting_value", |_| audiences);
            form.adjust_field("operator_type", |field| field.with_options(&[("EQ", "Include"), ("NE", "Exclude")]))
        }
        "media" => {
            form.fields.retain(|field_spec| field_spec.name != "landing_url" || !is_preroll(item));
            form.adjust_field("account_media_id", |field| field.error_aliases(&["line_item_id"]))
        }
        "call-to-action" => {
            let adjust = |field: FormFieldSpec| field.initial_value("VISIT_SITE").error_aliases(&["line_item_id"]);
            form.adjust_field("call_to_action", adjust)
        }
        "category" => form.adjust_field("curated_category_id", |field| field.error_aliases(&["line_item_id"])),
        _ => form,
    })
}

const MAX_NEWEST_POSTS: i64 = 20;

fn post_fields(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<Vec<FormFieldSpec>, Error> {
    let ids = match ctx.own_user(tx)? {
        Some(user) => store::posts::list_ids_by_author(tx, user, i64::MAX, MAX_NEWEST_POSTS)?,
        None => Vec::new(),
    };
    let mut newest = store::posts::find_by_ids(tx, &ids)?;
    newest.sort_by_key(|post| std::cmp::Reverse(post.id));
    let newest = newest.iter().map(|post| (post.id.to_string(), post_excerpt(post, 80)));
    Ok(vec![
        FormFieldSpec::choice("pick", "Post", newest)
            .send_as("post_ids")
            .allow_none("Other")
            .help("The newest posts of the account’s user."),
        FormFieldSpec::text("post_ids", "IDs of other posts")
            .help("Comma-separated. Only used if no post is selected above."),
    ])
}

/// The section, the resource, the heading and the fields of a form that changes a part.
static EDIT_FORMS: &[(&str, &Resource, &str, &[&str])] = &[
    ("calls-to-action", &PREROLL_CALL_TO_ACTION, "Edit call to action", &["call_to_action", "call_to_action_url"]),
    ("categories", &LINE_ITEM_CURATED_CATEGORY, "Change curated category", &["curated_category_id"]),
    ("tracking-tags", &TRACKING_TAG, "Edit tracking tag", &["tracking_tag_url"]),
];

pub(super) fn edit_form(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    section: &str,
    id: &str,
) -> Result<Option<FormDefinition>, Error> {
    let Some((_, resource, heading, names)) = EDIT_FORMS.iter().find(|(name, ..)| *name == section) else {
        return Ok(None);
    };
    let now = ctx.get(tx, resource, id)?;
    let above = now.rendered_text("line_item_id");
    let item = ctx.get(tx, &LINE_ITEM, &above)?;
    Ok(Some(FormDefinition {
        heading: (*heading).to_owned(),
        trail: line_item_trail(ctx, &item),
        fields: declared_fields(tx, ctx, resource, Some(&now), names)?,
        ..FormDefinition::update(ctx, resource, id, (&format!("/{section}/{id}"), &format!("/line-items/{above}")))
    }))
}
