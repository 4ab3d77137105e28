//! The do-not-reach list: people whom no campaign of the account reaches.

use ads::resources::do_not_reach_lists::DO_NOT_REACH_LIST;
use ads_engine::ResourceVerb;
use base::Error;
use pages::manager::{ActionButton, DataTable, NavLink, PageBlock, TableCell, TableRow};
use serde_json::Value;
use store::Tx;

use super::audience_forms::members_form;
use super::audiences::{size_label, state_cell};
use super::fields::declared_fields;
use super::forms::FormDefinition;
use super::request::ManagerAccount;
use super::tables::{extendable_table, number_column, text_column};

const USERS_PATH: &str = "/12/batch/accounts/{}/do_not_reach_lists/{}/users";
const CONTACTS: [(&str, &str); 2] = [("email", "Email addresses"), ("phone_number", "Phone numbers")];

/// `None` if the role may not see the list.
pub(super) fn list_block(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<Option<PageBlock>, Error> {
    if !ctx.may(ResourceVerb::List, &DO_NOT_REACH_LIST) {
        return Ok(None);
    }
    let found = ctx.list(tx, &DO_NOT_REACH_LIST, Value::Null)?;
    let rows = found.rows.iter().map(|list| {
        let link = |text, act: &str| ActionButton {
            text,
            path: ctx.page_path(&format!("/do-not-reach/{}/{act}", list.id())),
            ..ActionButton::default()
        };
        let may = [
            (ctx.may_call("POST", USERS_PATH), link("Add or remove people", "people")),
            (ctx.may(ResourceVerb::Delete, &DO_NOT_REACH_LIST), link("Delete", "delete")),
        ];
        TableRow {
            name: list.text("name").to_owned(),
            cells: vec![
                TableCell::from_text(list.text("name")).with_subtext(list.text("description")),
                state_cell(list),
                TableCell::from_text(size_label(list, "list_size")),
            ],
            action_buttons: may.into_iter().filter_map(|(may, link)| may.then_some(link)).collect(),
            ..TableRow::default()
        }
    });
    let rows: Vec<TableRow> = rows.collect();
    let add =
        ctx.permitted_link(ResourceVerb::Create, &DO_NOT_REACH_LIST, "Create do-not-reach list", "/do-not-reach/new");
    let empty = ("No do-not-reach list", "People on it see no ad of this account, whatever a line item targets.");
    Ok(Some(PageBlock::Table(DataTable {
        title: "Do-not-reach list".to_owned(),
        columns: vec![text_column("List"), text_column("Status"), number_column("Size")],
        // An account has at most one.
        ..extendable_table(add.filter(|_| rows.is_empty()), rows, empty)
    })))
}

fn trail(ctx: &ManagerAccount) -> Vec<NavLink> {
    ctx.trail(&[("Audiences", "/audiences")])
}

pub(super) fn create_form(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<FormDefinition, Error> {
    Ok(FormDefinition {
        heading: "Create do-not-reach list".to_owned(),
        lead: "The list starts empty. Add people on the page of audiences.".to_owned(),
        trail: trail(ctx),
        fields: declared_fields(tx, ctx, &DO_NOT_REACH_LIST, None, &["description"])?,
        submit: "Create list",
        action: ctx.page_path("/do-not-reach/new"),
        ..FormDefinition::create(ctx, &DO_NOT_REACH_LIST, "/audiences", "")
    })
}

pub(super) fn people_form(ctx: &ManagerAccount, id: &str) -> FormDefinition {
    FormDefinition {
        trail: trail(ctx),
        action: ctx.page_path(&format!("/do-not-reach/{id}/people")),
        ..members_form(ctx, "/audiences", &CONTACTS, (USERS_PATH, id))
    }
}

pub(super) fn delete_form(ctx: &ManagerAccount, id: &str) -> FormDefinition {
    FormDefinition {
        heading: "Delete the do-not-reach list?".to_owned(),
        lead: "Ads of this account can reach the people on it again. This can’t be undone.".to_owned(),
        trail: trail(ctx),
        method: "DELETE",
        path: format!("{}/{{}}", DO_NOT_REACH_LIST.path),
        ids: vec![id.to_owned()],
        submit: "Delete",
        is_dangerous: true,
        action: ctx.page_path(&format!("/do-not-reach/{id}/delete")),
        done_code: "deleted",
        ..FormDefinition::new(ctx, "/audiences")
    }
}
