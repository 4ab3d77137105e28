//! Maps paths to forms.

use base::Error;
use serde_json::Value;
use store::Tx;

use super::forms::FormDefinition;
use super::request::ManagerAccount;
use super::route::ManagerPath;
use super::sections::Section;
use super::{
    account_users, audience_forms, campaigns, cards, conversions, do_not_reach, drafts, flexible_audiences,
    line_item_forms, line_items, media, posts, recommendations, selection,
};

pub(super) fn find_form(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    place: &ManagerPath,
) -> Result<Option<FormDefinition>, Error> {
    let section = Section::find(&place.section);
    let form = match (place.section.as_str(), place.id.as_str(), place.action.as_str()) {
        (part @ ("campaigns" | "line-items"), "selected", "") => selection::edit_form(tx, ctx, part)?,
        ("campaigns", "publish", "") => drafts::publish_form(tx, ctx)?,
        ("campaigns", "new", "") => campaigns::create_form(tx, ctx)?,
        ("campaigns", id, "edit") => campaigns::edit_form(tx, ctx, id)?,
        ("campaigns", id, "line-item") => line_items::create_form(tx, ctx, id)?,
        ("line-items", id, "edit") => line_items::edit_form(tx, ctx, id)?,
        ("people", "new", "") => account_users::add_form(ctx),
        ("people", id, "edit") => return account_users::edit_form(tx, ctx, id),
        ("people", id, "remove") => return account_users::remove_form(tx, ctx, id),
        ("recommendations", id, act @ ("apply" | "dismiss")) => recommendations::action_form(ctx, id, act),
        ("posts" | "scheduled" | "drafts", "new", "") => posts::create_form(tx, ctx, section)?,
        ("cards", "new", kind) => return cards::create_form(tx, ctx, kind),
        ("media", "upload", "") => media::upload_form(ctx),
        ("media", key, "edit") => media::edit_form(tx, ctx, key)?,
        ("conversions", "new", "") => conversions::create_form(tx, ctx)?,
        ("conversions", id, "edit") => conversions::edit_form(tx, ctx, id)?,
        ("audiences", "combine", "") => flexible_audiences::create_form(tx, ctx)?,
        ("do-not-reach", "new", "") => do_not_reach::create_form(tx, ctx)?,
        ("do-not-reach", id, "people") => do_not_reach::people_form(ctx, id),
        ("do-not-reach", id, "delete") => do_not_reach::delete_form(ctx, id),
        ("audiences", "new", "") => audience_forms::create_form(tx, ctx)?,
        ("audiences", id, "edit") => audience_forms::edit_form(tx, ctx, id)?,
        ("audiences", id, "people") => audience_forms::audience_members_form(tx, ctx, id)?,
        ("audiences", id, "share") => audience_forms::share_form(tx, ctx, id)?,
        ("audiences", id, "revoke") => audience_forms::revoke_form(ctx, id),
        (part @ ("campaigns" | "line-items"), id, act @ ("pause" | "resume")) => status_form(ctx, part, id, act),
        (part, id, act) => return find_section_form(tx, ctx, section, (part, id, act)),
    };
    Ok(Some(form))
}

fn find_section_form(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    section: Option<&'static Section>,
    (part, id, act): (&str, &str, &str),
) -> Result<Option<FormDefinition>, Error> {
    let Some(section) = section.filter(|_| !id.is_empty()) else {
        return Ok(None);
    };
    match (part, act) {
        (_, "delete") => delete_form(tx, ctx, section, id).map(Some),
        ("scheduled" | "drafts", "edit") => posts::edit_form(tx, ctx, section, id).map(Some),
        (_, "edit") if section.is_cards() => cards::edit_form(tx, ctx, section, id),
        (_, "edit") => line_item_forms::edit_form(tx, ctx, part, id),
        ("line-items", act) => line_item_forms::create_form(tx, ctx, id, act),
        _ => Ok(None),
    }
}

fn status_form(ctx: &ManagerAccount, part: &str, id: &str, act: &str) -> FormDefinition {
    let (status, done_code) = if act == "pause" { ("PAUSED", "paused") } else { ("ACTIVE", "resumed") };
    let section = Section::find(part);
    let resource = section.map_or("", |section| section.resource.path);
    FormDefinition {
        method: "PUT",
        path: format!("{resource}/{{}}"),
        ids: vec![id.to_owned()],
        fixed_params: vec![("entity_status", Value::from(status))],
        submit: "",
        done_code,
        undo: section.map(|section| (section.name, vec![id.to_owned()])),
        ..FormDefinition::new(ctx, &format!("/{part}/{id}"))
    }
}

fn delete_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, section: &Section, id: &str) -> Result<FormDefinition, Error> {
    let found = ctx.get(tx, section.resource, id)?;
    let parents = [("line_item_id", "line-items"), ("campaign_id", "campaigns")];
    let parent = parents.iter().find(|(field, _)| found.get(field).is_some());
    let back = match (parent, section.tab) {
        (Some((field, part)), _) => format!("/{part}/{}", found.rendered_text(field)),
        (None, "campaigns") => String::new(),
        (None, tab) => format!("/{tab}"),
    };
    let name = Some(found.text("name")).filter(|name| !name.is_empty()).unwrap_or(id);
    let (heading, submit, done_code) = if section.is_promotion {
        ("Stop promoting?".to_owned(), "Stop promoting", "stopped")
    } else {
        (format!("Delete {} {name}?", section.label), "Delete", "deleted")
    };
    Ok(FormDefinition {
        heading,
        lead: section.delete_lead.to_owned(),
        method: "DELETE",
        path: format!("{}/{{}}", section.resource.path),
        ids: vec![id.to_owned()],
        submit,
        is_dangerous: true,
        action: ctx.page_path(&format!("/{}/{id}/delete", section.name)),
        done_code,
        ..FormDefinition::new(ctx, &back)
    })
}
