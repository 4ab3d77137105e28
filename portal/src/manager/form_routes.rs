//! Maps paths to forms.

use ads::resources::targeting_criteria;
use base::Error;
use pages::manager::NavLink;
use serde_json::Value;
use store::Tx;
use store::posts as stored;

use super::creatives::account_user;
use super::forms::{FormDefinition, FormFieldSpec, FormRedirect};
use super::labels;
use super::request::{ManagerAccount, json_text};
use super::route::ManagerPath;
use super::{account_users, audiences, campaigns, cards, line_item_parts, line_items, media, posts, recommendations};

struct DeletableKind {
    section: &'static str,
    path: &'static str,
    label: &'static str,
    parent_field: &'static str,
}

const DELETABLE_KINDS: &[DeletableKind] = &[
    DeletableKind { section: "campaigns", path: "campaigns/{}", label: "campaign", parent_field: "" },
    DeletableKind { section: "line-items", path: "line_items/{}", label: "line item", parent_field: "campaign_id" },
    DeletableKind {
        section: "promoted-posts",
        path: "promoted_<posts>/{}",
        label: "promoted post",
        parent_field: "line_item_id",
    },
    DeletableKind {
        section: "promoted-accounts",
        path: "promoted_accounts/{}",
        label: "promoted account",
        parent_field: "line_item_id",
    },
    DeletableKind {
        section: "targeting",
        path: "targeting_criteria/{}",
        label: "targeting criterion",
        parent_field: "line_item_id",
    },
    DeletableKind {
        section: "tracking-tags",
        path: "tracking_tags/{}",
        label: "tracking tag",
        parent_field: "line_item_id",
    },
    DeletableKind {
        section: "scheduled-promoted",
        path: "scheduled_promoted_<posts>/{}",
        label: "scheduled promotion",
        parent_field: "line_item_id",
    },
    DeletableKind {
        section: "media-creatives",
        path: "media_creatives/{}",
        label: "media creative",
        parent_field: "line_item_id",
    },
    DeletableKind {
        section: "calls-to-action",
        path: "preroll_call_to_actions/{}",
        label: "call to action",
        parent_field: "line_item_id",
    },
    DeletableKind {
        section: "categories",
        path: "line_item_curated_categories/{}",
        label: "curated category",
        parent_field: "line_item_id",
    },
    DeletableKind { section: "scheduled", path: "scheduled_<posts>/{}", label: "scheduled post", parent_field: "" },
    DeletableKind { section: "drafts", path: "draft_<posts>/{}", label: "draft", parent_field: "" },
    DeletableKind { section: "cards", path: "cards/{}", label: "card", parent_field: "" },
    DeletableKind { section: "poll-cards", path: "cards/poll/{}", label: "poll card", parent_field: "" },
    DeletableKind {
        section: "video-cards",
        path: "cards/video_conversation/{}",
        label: "conversation card",
        parent_field: "",
    },
    DeletableKind {
        section: "image-cards",
        path: "cards/image_conversation/{}",
        label: "conversation card",
        parent_field: "",
    },
    DeletableKind { section: "media", path: "media_library/{}", label: "media file", parent_field: "" },
    DeletableKind { section: "account-media", path: "account_media/{}", label: "account media", parent_field: "" },
    DeletableKind { section: "audiences", path: "custom_audiences/{}", label: "audience", parent_field: "" },
];

pub(super) fn find_form(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    place: &ManagerPath,
) -> Result<Option<FormDefinition>, Error> {
    let found = match (place.section.as_str(), place.id.as_str(), place.action.as_str()) {
        ("campaigns", "new", "") => campaigns::create_form(tx, ctx)?,
        ("campaigns", id, "edit") => campaigns::edit_form(tx, ctx, id)?,
        ("campaigns", id, "line-item") => line_items::create_form(tx, ctx, id)?,
        ("line-items", id, "edit") => line_items::edit_form(tx, ctx, id)?,
        ("line-items", id, "promote") => promote_post_form(tx, ctx, id)?,
        ("line-items", id, "account") => promote_account_form(tx, ctx, id)?,
        ("line-items", id, "target") => targeting_form(tx, ctx, id)?,
        ("line-items", id, "track") => tracking_tag_form(tx, ctx, id)?,
        ("line-items", id, "audience") => line_item_parts::audience_targeting_form(tx, ctx, id)?,
        ("line-items", id, "scheduled") => line_item_parts::scheduled_post_form(tx, ctx, id)?,
        ("line-items", id, "media") => line_item_parts::media_form(tx, ctx, id)?,
        ("line-items", id, "call-to-action") => line_item_parts::call_to_action_form(tx, ctx, id)?,
        ("line-items", id, "category") => line_item_parts::category_form(tx, ctx, id)?,
        ("calls-to-action", id, "edit") => line_item_parts::edit_call_to_action_form(tx, ctx, id)?,
        ("categories", id, "edit") => line_item_parts::edit_category_form(tx, ctx, id)?,
        ("tracking-tags", id, "edit") => line_item_parts::edit_tracking_tag_form(tx, ctx, id)?,
        ("people", "new", "") => Some(account_users::add_form(ctx)),
        ("people", id, "edit") => account_users::edit_form(tx, ctx, id)?,
        ("people", id, "remove") => account_users::remove_form(tx, ctx, id)?,
        ("recommendations", id, act @ ("apply" | "dismiss")) => Some(recommendations::action_form(ctx, id, act)),
        (part @ ("posts" | "scheduled" | "drafts"), "new", "") => posts::create_form(tx, ctx, part)?,
        (part @ ("scheduled" | "drafts"), id, "edit") => posts::edit_form(tx, ctx, part, id)?,
        ("cards", "new", kind) => cards::create_form(tx, ctx, kind)?,
        (part, id, "edit") if cards::is_card_section(part) => cards::edit_form(tx, ctx, part, id)?,
        ("media", "upload", "") => Some(media::upload_form(ctx)),
        ("media", key, "edit") => media::edit_form(tx, ctx, key)?,
        ("audiences", "new", "") => Some(audiences::create_form(ctx)),
        ("audiences", id, "edit") => audiences::edit_form(tx, ctx, id)?,
        ("audiences", id, "people") => audiences::members_form(tx, ctx, id)?,
        ("audiences", id, "share") => audiences::share_form(tx, ctx, id)?,
        ("audiences", id, "revoke") => Some(audiences::revoke_form(ctx, id)),
        (part, id, act @ ("pause" | "resume")) if !id.is_empty() => status_form(ctx, part, id, act),
        (part, id, "delete") => return delete_form(tx, ctx, part, id),
        _ => return Ok(None),
    };
    Ok(found)
}

fn status_form(ctx: &ManagerAccount, part: &str, id: &str, act: &str) -> Option<FormDefinition> {
    let (path, back) = match part {
        "campaigns" => ("campaigns/{}", format!("/campaigns/{id}")),
        "line-items" => ("line_items/{}", format!("/line-items/{id}")),
        _ => return None,
    };
    let pauses = act == "pause";
    let status = if pauses { "PAUSED" } else { "ACTIVE" };
    Some(FormDefinition {
        method: "PUT",
        path,
        ids: vec![id.to_owned()],
        fixed_params: vec![("entity_status", status.to_owned())],
        submit: "",
        done_code: if pauses { "paused" } else { "resumed" },
        ..FormDefinition::new(ctx, &back)
    })
}

fn delete_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, part: &str, id: &str) -> Result<Option<FormDefinition>, Error> {
    let Some(kind) = DELETABLE_KINDS.iter().find(|kind| kind.section == part) else {
        return Ok(None);
    };
    let found = ctx.get_entity(tx, kind.path, id)?;
    let above = json_text(&found, kind.parent_field);
    let back = match (kind.parent_field, part) {
        ("campaign_id", _) => format!("/campaigns/{above}"),
        ("line_item_id", _) => format!("/line-items/{above}"),
        (_, "scheduled" | "drafts") => "/posts".to_owned(),
        (_, "media" | "account-media") => "/media".to_owned(),
        (_, "audiences") => "/audiences".to_owned(),
        (_, part) if cards::is_card_section(part) => "/cards".to_owned(),
        _ => String::new(),
    };
    let name = match json_text(&found, "name") {
        "" => id,
        name => name,
    };
    let lead = match part {
        "campaigns" => "This also deletes its line items. Statistics are kept. This can’t be undone.",
        "line-items" => "This also stops everything it promotes. Statistics are kept. This can’t be undone.",
        "audiences" => "It can no longer be targeted. This can’t be undone.",
        "promoted-posts" | "promoted-accounts" => "Nothing else is deleted. Statistics are kept.",
        "scheduled-promoted" => "The scheduled post is kept and will be published without promotion.",
        "media" => "Cards and posts that already use it are not affected.",
        _ => "This can’t be undone.",
    };
    let stops = matches!(part, "promoted-posts" | "promoted-accounts" | "scheduled-promoted");
    let heading = if stops { "Stop promoting?".to_owned() } else { format!("Delete {} {name}?", kind.label) };
    Ok(Some(FormDefinition {
        heading,
        lead: lead.to_owned(),
        method: "DELETE",
        path: kind.path,
        ids: vec![id.to_owned()],
        submit: if stops { "Stop promoting" } else { "Delete" },
        is_dangerous: true,
        action: ctx.page_path(&format!("/{part}/{id}/delete")),
        done_code: if stops { "stopped" } else { "deleted" },
        ..FormDefinition::new(ctx, &back)
    }))
}

impl FormDefinition {
    pub(super) fn new(ctx: &ManagerAccount, back: &str) -> Self {
        Self {
            heading: String::new(),
            lead: String::new(),
            trail: Vec::new(),
            method: "POST",
            path: "",
            ids: Vec::new(),
            fixed_params: Vec::new(),
            fields: Vec::new(),
            submit: "Save",
            is_dangerous: false,
            action: ctx.page_path(back),
            back_path: ctx.page_path(back),
            redirect: FormRedirect::Path(ctx.page_path(back)),
            done_code: "saved",
            handler: None,
            required_access: None,
            leading_blocks: Vec::new(),
        }
    }

    pub(super) fn line_item_form(ctx: &ManagerAccount, id: &str, item: &Value, act: &str) -> Self {
        let name = line_items::line_item_name(item);
        let back = format!("/line-items/{id}");
        Self {
            trail: vec![NavLink::new("Campaigns", ctx.page_path("")), NavLink::new(name, ctx.page_path(&back))],
            fixed_params: vec![("line_item_id", id.to_owned())],
            action: ctx.page_path(&format!("{back}/{act}")),
            done_code: "added",
            ..Self::new(ctx, &back)
        }
    }
}

const MAX_NEWEST_POSTS: i64 = 20;

fn promote_post_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<Option<FormDefinition>, Error> {
    let item = ctx.get_entity(tx, "line_items/{}", id)?;
    let mut newest = Vec::new();
    if let Some(user) = account_user(tx, ctx)? {
        for post in stored::list_ids_by_author(tx, user, i64::MAX, MAX_NEWEST_POSTS)? {
            let Some(post) = stored::find_by_id(tx, post)? else {
                continue;
            };
            let short: String = post.text.chars().take(80).collect();
            newest.push((post.id.to_string(), short));
        }
    }
    Ok(Some(FormDefinition {
        heading: "Promote post".to_owned(),
        lead: "The post is shown to people targeted by the line item, not only to its author’s followers.".to_owned(),
        path: "promoted_<posts>",
        fields: vec![
            FormFieldSpec::choice("pick", "Post", newest)
                .send_as("post_ids")
                .allow_none("Other")
                .help("The newest posts of the account’s user."),
            FormFieldSpec::text("post_ids", "IDs of other posts")
                .help("Comma-separated. Only used if no post is selected above."),
        ],
        submit: "Promote",
        done_code: "promoted",
        ..FormDefinition::line_item_form(ctx, id, &item, "promote")
    }))
}

fn promote_account_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<Option<FormDefinition>, Error> {
    let item = ctx.get_entity(tx, "line_items/{}", id)?;
    let user = account_user(tx, ctx)?.map(|user| user.to_string());
    Ok(Some(FormDefinition {
        heading: "Promote account".to_owned(),
        lead: "The account is recommended to people targeted by the line item.".to_owned(),
        path: "promoted_accounts",
        fields: vec![
            FormFieldSpec::text("user_id", "User ID")
                .initial_value(user.unwrap_or_default())
                .help("The account’s own user, or a user who agreed to be promoted."),
        ],
        submit: "Promote",
        done_code: "promoted",
        ..FormDefinition::line_item_form(ctx, id, &item, "account")
    }))
}

fn targeting_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<Option<FormDefinition>, Error> {
    let item = ctx.get_entity(tx, "line_items/{}", id)?;
    let alone = |kind: &&&str| !targeting_criteria::BATCH_ONLY_TYPES.contains(*kind);
    let kinds: Vec<&str> = targeting_criteria::TARGETING_TYPES.iter().filter(alone).copied().collect();
    Ok(Some(FormDefinition {
        heading: "Add targeting".to_owned(),
        lead: "The line item is shown to people who match at least one criterion of each type.".to_owned(),
        path: "targeting_criteria",
        fields: vec![
            FormFieldSpec::word_choice("targeting_type", "Type", &kinds).initial_value("BROAD_KEYWORD"),
            FormFieldSpec::word_choice("operator_type", "Operator", &["EQ", "NE", "GTE", "LT"]),
            FormFieldSpec::text("targeting_value", "Value").help(
                "A keyword, a location ID, a language such as en, AGE_18_TO_34, an audience ID or \
                 a user ID.",
            ),
        ],
        submit: "Add targeting",
        ..FormDefinition::line_item_form(ctx, id, &item, "target")
    }))
}

fn tracking_tag_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<Option<FormDefinition>, Error> {
    let item = ctx.get_entity(tx, "line_items/{}", id)?;
    let kinds = ["IMPRESSION_TAG", "CLICK_TRACKER"];
    Ok(Some(FormDefinition {
        heading: "Add tracking tag".to_owned(),
        lead: "A measurement partner’s URL that is called when the line item is viewed or clicked.".to_owned(),
        path: "tracking_tags",
        fields: vec![
            FormFieldSpec::word_choice("tracking_tag_type", "Triggered by", &kinds),
            FormFieldSpec::text("tracking_tag_url", "URL").help("Starts with https://"),
        ],
        submit: "Add tag",
        ..FormDefinition::line_item_form(ctx, id, &item, "track")
    }))
}

pub(super) fn status_field(now: &str) -> FormFieldSpec {
    let words: &[&str] = match now {
        "" | "DRAFT" => &["ACTIVE", "PAUSED", "DRAFT"],
        _ => &["ACTIVE", "PAUSED"],
    };
    let field_spec = FormFieldSpec::word_choice("entity_status", "Status", words);
    if now.is_empty() { field_spec } else { field_spec.initial_value(now) }
}

pub(super) fn budget_fields(now: &Value) -> [FormFieldSpec; 2] {
    let at_first = |name: &str| {
        let micros = super::request::json_int(now, name);
        micros.map(labels::format_amount).unwrap_or_default()
    };
    let (daily, total) = ("daily_budget_amount_local_micro", "total_budget_amount_local_micro");
    [
        FormFieldSpec::amount(daily, "Daily budget")
            .initial_value(at_first(daily))
            .help("In the currency of the funding instrument, for example 20.00."),
        FormFieldSpec::amount(total, "Total budget")
            .initial_value(at_first(total))
            .help("Optional. For the whole run."),
    ]
}
