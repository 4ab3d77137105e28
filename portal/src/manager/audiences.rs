//! Audiences: their size, sharing and use in targeting.

use base::Error;
use pages::manager::{
    ActionButton, AdsManagerPage, DataTable, EmptyState, MetricTile, NavLink, PageBlock, TableCell, TableRow,
};
use serde_json::{Value, json};
use store::Tx;

use super::forms::{FormDefinition, FormFieldSpec, FormRedirect};
use super::labels::{format_integer, word_label, word_list_label};
use super::request::{EntityListPage, ManagerAccount, json_array, json_int, json_text};
use super::route::{ManagerRoute, SubmittedFields, collect_links};
use super::{number_column, text_column};

/// The account's own audiences, and those shared with it.
pub(super) fn list(tx: &mut Tx<'_>, ctx: &ManagerAccount, _: &ManagerRoute) -> Result<AdsManagerPage, Error> {
    let create = ctx.permitted_link("POST", "custom_audiences", "Create audience", "/audiences/new");
    let create = create.map(|link| link.with_kind("primary"));
    let mut own = false;
    let mut blocks = Vec::new();
    for (scope, title, none) in
        [("OWNER", "Your audiences", "No audiences yet"), ("SHARED", "Shared with this account", "No shared audiences")]
    {
        let found = ctx.list_entities(tx, "custom_audiences", &[("permission_scope", scope.to_owned())])?;
        let rows = found.rows.iter().map(|one| audience_row(ctx, one));
        own |= scope == "OWNER" && !found.rows.is_empty();
        let mine = scope == "OWNER";
        blocks.push(PageBlock::Table(DataTable {
            title: title.to_owned(),
            columns: vec![text_column("Audience"), text_column("Status"), text_column("Type"), number_column("Size")],
            rows: rows.collect(),
            empty: EmptyState {
                title: none.to_owned(),
                text: if mine {
                    "Create one from a list of email addresses, usernames, IDs or phone \
                     numbers."
                        .to_owned()
                } else {
                    "Other accounts can share theirs with this one. Give them this account’s ID.".to_owned()
                },
                link: create.clone().filter(|_| mine),
            },
            ..DataTable::default()
        }));
    }
    Ok(AdsManagerPage {
        heading: "Audiences".to_owned(),
        lead: "Lists of people that line items target or exclude.".to_owned(),
        actions: create.filter(|_| own).into_iter().collect(),
        blocks,
        ..AdsManagerPage::default()
    })
}

fn audience_row(ctx: &ManagerAccount, audience: &Value) -> TableRow {
    let id = json_text(audience, "id");
    TableRow {
        name: json_text(audience, "name").to_owned(),
        cells: vec![
            TableCell::from_text(json_text(audience, "name"))
                .with_link(ctx.page_path(&format!("/audiences/{id}")))
                .with_subtext(json_text(audience, "description")),
            state_cell(audience),
            TableCell::from_text(word_label(json_text(audience, "audience_type")))
                .with_subtext(word_label(json_text(audience, "permission_level"))),
            TableCell::from_text(size_label(audience)),
        ],
        action_buttons: Vec::new(),
    }
}

fn state_cell(audience: &Value) -> TableCell {
    let targetable = audience.get("targetable").and_then(Value::as_bool) == Some(true);
    let mut state = super::labels::status_badge(if targetable { "READY" } else { "PROCESSING" });
    if !targetable {
        "Not targetable".clone_into(&mut state.text);
    }
    TableCell::from_badge(state).with_subtext(word_list_label(audience, "reasons_not_targetable"))
}

fn size_label(audience: &Value) -> String {
    json_int(audience, "audience_size").map_or_else(|| "–".to_owned(), format_integer)
}

pub(super) fn show(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<AdsManagerPage, Error> {
    let audience = ctx.get_entity(tx, "custom_audiences/{}", id)?;
    let mut blocks = vec![PageBlock::Metrics(vec![
        MetricTile {
            label: "Size".to_owned(),
            value: size_label(&audience),
            subtext: "people on this server".to_owned(),
        },
        MetricTile {
            label: "Type".to_owned(),
            value: word_label(json_text(&audience, "audience_type")),
            subtext: String::new(),
        },
        MetricTile {
            label: "Permission".to_owned(),
            value: word_label(json_text(&audience, "permission_level")),
            subtext: String::new(),
        },
    ])];
    blocks.push(targeted_by_block(tx, ctx, id)?);
    if audience.get("is_owner").and_then(Value::as_bool) == Some(true) {
        blocks.push(permissions_block(tx, ctx, id)?);
    }
    let about = json_text(&audience, "description");
    Ok(AdsManagerPage {
        trail: vec![NavLink::new("Audiences", ctx.page_path("/audiences"))],
        heading: json_text(&audience, "name").to_owned(),
        badge: state_cell(&audience).badge,
        lead: match (about, word_list_label(&audience, "reasons_not_targetable").as_str()) {
            (about, "") => about.to_owned(),
            ("", why) => format!("{why}."),
            (about, why) => format!("{about} ({why})"),
        },
        actions: page_actions(ctx, &audience),
        blocks,
        ..AdsManagerPage::default()
    })
}

fn page_actions(ctx: &ManagerAccount, audience: &Value) -> Vec<NavLink> {
    let here = format!("/audiences/{}", json_text(audience, "id"));
    let own = audience.get("is_owner").and_then(Value::as_bool) == Some(true);
    let writes = json_text(audience, "permission_level") == "READ_WRITE";
    let lists = matches!(json_text(audience, "audience_type"), "CRM" | "");
    let path = "custom_audiences/{}";
    let people =
        ctx.permitted_link("POST", "custom_audiences/{}/users", "Add or remove people", &format!("{here}/people"));
    let edit = ctx.permitted_link("PUT", path, "Edit", &format!("{here}/edit"));
    let delete = ctx.permitted_link("DELETE", path, "Delete", &format!("{here}/delete"));
    collect_links([
        people.filter(|_| writes && lists).map(|link| link.with_kind("primary")),
        edit.filter(|_| own),
        delete.filter(|_| own).map(|link| link.with_kind("danger-quiet")),
    ])
}

fn targeted_by_block(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<PageBlock, Error> {
    let path = "custom_audiences/{}/targeted";
    let found = if ctx.may_call("GET", path) {
        let all = [("with_active", "false".to_owned())];
        EntityListPage::from_response(&ctx.call_api(tx, "GET", path, &[id], &all)?)
    } else {
        EntityListPage::default()
    };
    let rows = found.rows.iter().flat_map(|campaign| {
        let name = json_text(campaign, "campaign_name");
        let above = ctx.page_path(&format!("/campaigns/{}", json_text(campaign, "campaign_id")));
        json_array(campaign, "line_items").iter().map(move |item| {
            let own = json_text(item, "id");
            let serves = item.get("servable").and_then(Value::as_bool) == Some(true);
            let state = if serves { "RUNNING" } else { "UNKNOWN" };
            TableRow {
                name: own.to_owned(),
                cells: vec![
                    TableCell::from_text(super::line_items::line_item_name(item))
                        .with_link(ctx.page_path(&format!("/line-items/{own}"))),
                    TableCell::from_text(name).with_link(above.clone()),
                    TableCell::from_badge(super::labels::status_badge(state)),
                ],
                action_buttons: Vec::new(),
            }
        })
    });
    Ok(PageBlock::Table(DataTable {
        title: "Targeted by".to_owned(),
        columns: ["Line item", "Campaign", "Status"].map(text_column).into(),
        rows: rows.collect(),
        empty: EmptyState {
            title: "No line items target it".to_owned(),
            text: "Add it under Targeting on a line item’s page.".to_owned(),
            link: None,
        },
        ..DataTable::default()
    }))
}

fn permissions_block(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<PageBlock, Error> {
    let path = "custom_audiences/{}/permissions";
    let found = if ctx.may_call("GET", path) {
        EntityListPage::from_response(&ctx.call_api(tx, "GET", path, &[id], &[])?)
    } else {
        EntityListPage::default()
    };
    let grants = ctx.may_call("POST", path);
    let here = format!("/audiences/{id}");
    let share = NavLink::new("Share", ctx.page_path(&format!("{here}/share")));
    let share = Some(share).filter(|_| grants);
    let rows = found.rows.iter().map(|one| TableRow {
        action_buttons: Some(ActionButton {
            text: "Revoke",
            path: ctx.page_path(&format!("{here}/revoke")),
            hidden: vec![("permission_id", json_text(one, "id").to_owned())],
            ..ActionButton::default()
        })
        .filter(|_| grants)
        .into_iter()
        .collect(),
        name: json_text(one, "granted_account_id").to_owned(),
        cells: vec![
            TableCell::from_text(json_text(one, "granted_account_id")),
            TableCell::from_text(word_label(json_text(one, "permission_level"))),
            TableCell::from_text(super::labels::format_time(json_text(one, "created_at"))),
        ],
    });
    let rows: Vec<TableRow> = rows.collect();
    Ok(PageBlock::Table(DataTable {
        title: "Shared with".to_owned(),
        columns: ["Account", "Permission", "Since"].map(text_column).into(),
        actions: share.clone().filter(|_| !rows.is_empty()).into_iter().collect(),
        rows,
        empty: EmptyState {
            title: "Not shared".to_owned(),
            text: "Accounts that you share it with can target it without seeing who is in it.".to_owned(),
            link: share,
        },
        ..DataTable::default()
    }))
}

fn detail_fields(now: &Value) -> Vec<FormFieldSpec> {
    vec![
        FormFieldSpec::text("name", "Name").initial_value(json_text(now, "name")),
        FormFieldSpec::text_area("description", "Description")
            .initial_value(json_text(now, "description"))
            .help("Optional. Only visible to your team."),
    ]
}

pub(super) fn create_form(ctx: &ManagerAccount) -> FormDefinition {
    FormDefinition {
        heading: "Create an audience".to_owned(),
        lead: "The audience starts empty. Add people on its page.".to_owned(),
        trail: vec![NavLink::new("Audiences", ctx.page_path("/audiences"))],
        path: "custom_audiences",
        fields: detail_fields(&Value::Null),
        submit: "Create audience",
        action: ctx.page_path("/audiences/new"),
        redirect: FormRedirect::Created(ctx.page_path("/audiences")),
        done_code: "created",
        ..FormDefinition::new(ctx, "/audiences")
    }
}

fn audience_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str, act: &str) -> Result<(Value, FormDefinition), Error> {
    let now = ctx.get_entity(tx, "custom_audiences/{}", id)?;
    let here = format!("/audiences/{id}");
    let plan = FormDefinition {
        trail: vec![
            NavLink::new("Audiences", ctx.page_path("/audiences")),
            NavLink::new(json_text(&now, "name"), ctx.page_path(&here)),
        ],
        ids: vec![id.to_owned()],
        action: ctx.page_path(&format!("{here}/{act}")),
        ..FormDefinition::new(ctx, &here)
    };
    Ok((now, plan))
}

pub(super) fn edit_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<Option<FormDefinition>, Error> {
    let (now, plan) = audience_form(tx, ctx, id, "edit")?;
    Ok(Some(FormDefinition {
        heading: "Edit audience".to_owned(),
        method: "PUT",
        path: "custom_audiences/{}",
        fields: detail_fields(&now),
        submit: "Save changes",
        ..plan
    }))
}

pub(super) fn members_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<Option<FormDefinition>, Error> {
    let (_, plan) = audience_form(tx, ctx, id, "people")?;
    let kinds = super::audience_members::IDENTIFIER_KINDS.map(|(kind, label)| (kind.to_owned(), label.to_owned()));
    let acts = [("Update", "Add people"), ("Delete", "Remove people")];
    let acts = acts.map(|(act, label)| (act.to_owned(), label.to_owned()));
    Ok(Some(FormDefinition {
        heading: "Add or remove people".to_owned(),
        lead: "Identifiers are hashed (SHA-256) on upload. The file is not stored, and nobody learns \
               who on the list has an account here."
            .to_owned(),
        path: "custom_audiences/{}/users",
        fields: vec![
            FormFieldSpec::choice("operation_type", "Action", acts.into()),
            FormFieldSpec::choice("identifier", "Identifier type", kinds.into()).help(
                "A file with a header row can have several columns: email, username, user_id, \
                 phone, device_id.",
            ),
            FormFieldSpec::file("list", "File", ".csv,.txt,text/csv,text/plain")
                .error_aliases(&["users"])
                .help("CSV, or one per line. At most 50,000 people and 5 MB."),
            FormFieldSpec::text_area("text", "Or paste a list").help("One per line."),
        ],
        submit: "Upload list",
        done_code: "listed",
        handler: Some(submit_members),
        ..plan
    }))
}

fn submit_members(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    plan: &FormDefinition,
    sent: &SubmittedFields,
) -> Result<Value, Error> {
    let users = super::audience_members::parse_submitted(sent)?;
    let act = match sent.text("operation_type") {
        "Delete" => "Delete",
        _ => "Update",
    };
    let body = json!([{ "operation_type": act, "params": { "users": users } }]);
    ctx.call_api_json(tx, plan.method, plan.path, &plan.path_ids(), body)
}

pub(super) fn share_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<Option<FormDefinition>, Error> {
    let (_, plan) = audience_form(tx, ctx, id, "share")?;
    let levels = [("READ_ONLY", "Target it"), ("READ_WRITE", "Target it, and add or remove people")];
    let levels = levels.map(|(level, label)| (level.to_owned(), label.to_owned()));
    Ok(Some(FormDefinition {
        heading: "Share audience".to_owned(),
        lead: "The other account sees the audience’s name and size, but not who is in it.".to_owned(),
        path: "custom_audiences/{}/permissions",
        fields: vec![
            FormFieldSpec::text("granted_account_id", "Account ID")
                .help("Shown on its Account page, for example 18ce54d4x5t."),
            FormFieldSpec::choice("permission_level", "Permission", levels.into()),
        ],
        submit: "Share",
        done_code: "shared",
        ..plan
    }))
}

pub(super) fn revoke_form(ctx: &ManagerAccount, id: &str) -> FormDefinition {
    FormDefinition {
        method: "DELETE",
        path: "custom_audiences/{}/permissions/{}",
        ids: vec![id.to_owned()],
        submit: "",
        done_code: "revoked",
        handler: Some(|tx, ctx, plan, sent| {
            let mut ids = plan.path_ids();
            ids.push(sent.text("permission_id"));
            ctx.call_api(tx, plan.method, plan.path, &ids, &[])
        }),
        ..FormDefinition::new(ctx, &format!("/audiences/{id}"))
    }
}
