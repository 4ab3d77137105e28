//! Audiences: their size, sharing and use in targeting.

use ads::resources::custom_audiences::{CUSTOM_AUDIENCE, FLEXIBLE};
use ads_engine::{RecordView, ResourceVerb};
use base::Error;
use pages::manager::{
    ActionButton, AdsManagerPage, DataTable, EmptyState, MetricTile, NavLink, PageBlock, TableCell, TableRow,
};
use serde_json::{Value, json};
use store::Tx;

use super::do_not_reach;
use super::labels::{format_integer, status_badge, word_label, word_list_label};
use super::request::{ManagerAccount, json_array, json_text};
use super::tables::{extendable_table, number_column, text_column};

const USERS_PATH: &str = "custom_audiences/{}/users";
const TARGETED_PATH: &str = "custom_audiences/{}/targeted";
pub(super) const PERMISSIONS_PATH: &str = "custom_audiences/{}/permissions";

/// The account's own audiences, and those shared with it.
pub(super) fn list(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<AdsManagerPage, Error> {
    let create = ctx.permitted_link(ResourceVerb::Create, &CUSTOM_AUDIENCE, "Create audience", "/audiences/new");
    let create = create.map(|link| link.with_kind("primary"));
    let mut own = false;
    let mut blocks = Vec::new();
    for (scope, title, none) in
        [("OWNER", "Your audiences", "No audiences yet"), ("SHARED", "Shared with this account", "No shared audiences")]
    {
        let found = ctx.list(tx, &CUSTOM_AUDIENCE, json!({ "permission_scope": scope }))?;
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
    blocks.extend(do_not_reach::list_block(tx, ctx)?);
    let combine = NavLink::new("Combine audiences", ctx.page_path("/audiences/combine"));
    let combine = Some(combine).filter(|_| own && ctx.may(ResourceVerb::Create, &CUSTOM_AUDIENCE));
    Ok(AdsManagerPage {
        heading: "Audiences".to_owned(),
        lead: "Lists of people that line items target or exclude.".to_owned(),
        actions: create.filter(|_| own).into_iter().chain(combine).collect(),
        blocks,
        ..AdsManagerPage::default()
    })
}

fn audience_row(ctx: &ManagerAccount, audience: &RecordView) -> TableRow {
    let id = audience.id();
    TableRow {
        name: audience.text("name").to_owned(),
        cells: vec![
            TableCell::from_text(audience.text("name"))
                .with_link(ctx.page_path(&format!("/audiences/{id}")))
                .with_subtext(audience.text("description")),
            state_cell(audience),
            TableCell::from_text(word_label(audience.text("audience_type")))
                .with_subtext(word_label(audience.text("permission_level"))),
            TableCell::from_text(size_label(audience, "audience_size")),
        ],
        ..TableRow::default()
    }
}

pub(super) fn state_cell(audience: &RecordView) -> TableCell {
    let targetable = audience.flag("targetable");
    let mut state = status_badge(if targetable { "READY" } else { "PROCESSING" });
    if !targetable {
        "Not targetable".clone_into(&mut state.text);
    }
    TableCell::from_badge(state).with_subtext(word_list_label(audience, "reasons_not_targetable"))
}

pub(super) fn size_label(audience: &RecordView, field: &str) -> String {
    audience.int(field).map_or_else(|| "–".to_owned(), format_integer)
}

pub(super) fn show(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<AdsManagerPage, Error> {
    let audience = ctx.get(tx, &CUSTOM_AUDIENCE, id)?;
    let mut blocks = vec![PageBlock::Metrics(vec![
        MetricTile {
            label: "Size".to_owned(),
            value: size_label(&audience, "audience_size"),
            subtext: "people on this server".to_owned(),
        },
        MetricTile {
            label: "Type".to_owned(),
            value: word_label(audience.text("audience_type")),
            subtext: String::new(),
        },
        MetricTile {
            label: "Permission".to_owned(),
            value: word_label(audience.text("permission_level")),
            subtext: String::new(),
        },
    ])];
    blocks.push(targeted_by_block(tx, ctx, id)?);
    if audience.flag("is_owner") {
        blocks.push(permissions_block(tx, ctx, id)?);
    }
    let about = audience.text("description");
    Ok(AdsManagerPage {
        trail: ctx.trail(&[("Audiences", "/audiences")]),
        heading: audience.text("name").to_owned(),
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

fn page_actions(ctx: &ManagerAccount, audience: &RecordView) -> Vec<NavLink> {
    let here = format!("/audiences/{}", audience.id());
    let writes = audience.text("permission_level") == "READ_WRITE" && ctx.may_call("POST", USERS_PATH);
    let is_list = matches!(audience.text("audience_type"), "CRM" | "");
    let people = NavLink::new("Add or remove people", ctx.page_path(&format!("{here}/people"))).with_kind("primary");
    let mut actions: Vec<NavLink> = Some(people).filter(|_| writes && is_list).into_iter().collect();
    if audience.flag("is_owner") {
        let mut links = ctx.change_links(&CUSTOM_AUDIENCE, &here);
        if audience.text("audience_type") == FLEXIBLE {
            // It can be deleted only.
            links.retain(|link| !link.path.ends_with("/edit"));
        }
        actions.extend(links);
    }
    actions
}

fn targeted_by_block(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<PageBlock, Error> {
    let campaigns = ctx.list_values(tx, TARGETED_PATH, &[id], json!({ "with_active": false }))?;
    let rows = campaigns.iter().flat_map(|campaign| {
        let name = json_text(campaign, "campaign_name");
        let above = ctx.page_path(&format!("/campaigns/{}", json_text(campaign, "campaign_id")));
        json_array(campaign, "line_items").iter().map(move |item| {
            let own = json_text(item, "id");
            let serves = item.get("servable").and_then(Value::as_bool) == Some(true);
            let state = if serves { "RUNNING" } else { "UNKNOWN" };
            TableRow {
                name: own.to_owned(),
                cells: vec![
                    TableCell::from_text(item_name(item)).with_link(ctx.page_path(&format!("/line-items/{own}"))),
                    TableCell::from_text(name).with_link(above.clone()),
                    TableCell::from_badge(status_badge(state)),
                ],
                ..TableRow::default()
            }
        })
    });
    Ok(PageBlock::Table(DataTable {
        title: "Targeted by".to_owned(),
        columns: ["Line item", "Campaign", "Status"].map(text_column).into(),
        rows: rows.collect(),
        empty: EmptyState::new("No line items target it", "Add it under Targeting on a line item’s page.", None),
        ..DataTable::default()
    }))
}

/// Falls back to the ID.
fn item_name(item: &Value) -> String {
    match json_text(item, "name") {
        "" => format!("Line item {}", json_text(item, "id")),
        name => name.to_owned(),
    }
}

fn permissions_block(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<PageBlock, Error> {
    let found = ctx.list_operation(tx, PERMISSIONS_PATH, &[id], Value::Null)?;
    let grants = ctx.may_call("POST", PERMISSIONS_PATH);
    let here = format!("/audiences/{id}");
    let share = NavLink::new("Share", ctx.page_path(&format!("{here}/share")));
    let rows = found.rows.iter().map(|one| {
        let account = one.rendered_text("granted_account_id");
        let revoke = ActionButton {
            text: "Revoke",
            path: ctx.page_path(&format!("{here}/revoke")),
            hidden: vec![("permission_id", one.id()), ("next", ctx.page_path(&here))],
            ..ActionButton::default()
        };
        TableRow {
            action_buttons: Some(revoke).filter(|_| grants).into_iter().collect(),
            cells: vec![
                TableCell::from_text(account.clone()),
                TableCell::from_text(word_label(one.text("permission_level"))),
                TableCell::from_text(ctx.format_time(one.time("created_at"))),
            ],
            name: account,
            ..TableRow::default()
        }
    });
    let empty = ("Not shared", "Accounts that you share it with can target it without seeing who is in it.");
    Ok(PageBlock::Table(DataTable {
        title: "Shared with".to_owned(),
        columns: ["Account", "Permission", "Since"].map(text_column).into(),
        ..extendable_table(Some(share).filter(|_| grants), rows.collect(), empty)
    }))
}
