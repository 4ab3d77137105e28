//! Tables of records.

use ads_engine::ResourceVerb;
use base::percent::encode;
use pages::Pager;
use pages::manager::{ActionButton, DataTable, EmptyState, NavLink, TableColumn, TableRow};

use super::request::ManagerAccount;
use super::sections::Section;
use crate::site::page_ranges::build_pager;

pub(super) const fn text_column(name: &'static str) -> TableColumn {
    TableColumn { name, is_numeric: false }
}

pub(super) const fn number_column(name: &'static str) -> TableColumn {
    TableColumn { name, is_numeric: true }
}

/// Buttons to edit and delete a record, as far as the role may.
pub(super) fn record_buttons(ctx: &ManagerAccount, section: &Section, id: &str) -> Vec<ActionButton> {
    let delete = if section.is_promotion { "Stop promoting" } else { "Delete" };
    let all = [(ResourceVerb::Update, "Edit", "edit"), (ResourceVerb::Delete, delete, "delete")];
    let all = all.into_iter().filter(|(verb, ..)| ctx.may(*verb, section.resource));
    let button = |(_, text, act)| ActionButton {
        text,
        path: ctx.page_path(&format!("/{}/{id}/{act}", section.name)),
        ..ActionButton::default()
    };
    all.map(button).collect()
}

/// Shows the link to add rows above them, or in the empty state.
pub(super) fn extendable_table(add: Option<NavLink>, rows: Vec<TableRow>, (none, text): (&str, &str)) -> DataTable {
    DataTable {
        empty: EmptyState::new(none, text, add.clone()),
        actions: add.filter(|_| !rows.is_empty()).into_iter().collect(),
        rows,
        ..DataTable::default()
    }
}

/// The pages of one of a page's tables, whose cursor is the query parameter `name`.
pub(super) fn table_pager(ctx: &ManagerAccount, path: &str, name: &str, next: Option<&str>) -> Pager {
    let is_first = ctx.request.query.get(name).is_none();
    build_pager(&ctx.page_path(path), name, is_first, next.map(encode))
}
