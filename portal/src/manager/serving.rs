//! What tables of campaigns and of line items have in common.

use ads_engine::{RecordView, Resource, ResourceVerb};
use pages::manager::{ActionButton, TableCell};

use super::labels::{budget_labels, status_badge};
use super::request::ManagerAccount;
use super::stats::EntityStats;

/// A name, the effective status with the reasons, the budget and the statistics of what spends one.
pub(super) fn serving_cells(
    name: TableCell,
    record: &RecordView,
    (status, reasons): (&str, String),
    figures: &EntityStats,
) -> Vec<TableCell> {
    let (budget, total) = budget_labels(record);
    let reasons = if matches!(status, "RUNNING" | "PAUSED") { String::new() } else { reasons };
    let status = TableCell::from_badge(status_badge(status)).with_subtext(reasons);
    let mut cells = vec![name, status, TableCell::from_text(budget).with_subtext(total)];
    cells.extend(figures.table_cells(record.record.id, record.text("currency")));
    cells
}

/// `here` is the path of the page, to which it returns.
pub(super) fn status_button(
    ctx: &ManagerAccount,
    (part, resource): (&str, &Resource),
    one: &RecordView,
    here: &str,
) -> Vec<ActionButton> {
    let (text, act) = match one.text("entity_status") {
        "ACTIVE" => ("Pause", "pause"),
        "PAUSED" => ("Resume", "resume"),
        _ => ("Activate", "resume"),
    };
    let button = ActionButton {
        text,
        path: ctx.page_path(&format!("/{part}/{}/{act}", one.id())),
        hidden: vec![("next", ctx.page_path(&format!("{here}{}", ctx.request.list_query())))],
        ..ActionButton::default()
    };
    if ctx.may(ResourceVerb::Update, resource) { vec![button] } else { Vec::new() }
}
