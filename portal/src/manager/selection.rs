//! Changes several campaigns or line items at once, and takes a pause back.

use ads_engine::{OperationOutput, RecordView, Resource, ResourceVerb};
use base::refusal::AdsProblem;
use base::{Error, Fault};
use pages::manager::{ActionButton, DataTable, FormInputKind, NavLink, PageBlock, RowSelection, TableCell, TableRow};
use serde_json::{Value, json};
use store::Tx;

use super::forms::{FormDefinition, FormFieldSpec, FormRedirect, SubmittedFields};
use super::labels::{budget_labels, record_name, status_badge};
use super::request::ManagerAccount;
use super::route::ManagerRoute;
use super::sections::Section;
use super::tables::text_column;
use crate::site::forms::PageQuery;

/// As many as a batch may have (contract ads §6).
pub(super) const MAX_SELECTED: usize = 40;
const BOX: &str = "select-";

pub(super) fn box_name(id: &str) -> String {
    format!("{BOX}{id}")
}

/// `None` if the role may not change the records; `all` leads to the page with every box ticked.
pub(super) fn row_selection(
    ctx: &ManagerAccount,
    resource: &Resource,
    part: &str,
    all: String,
) -> Option<Box<RowSelection>> {
    ctx.may(ResourceVerb::Update, resource).then(|| {
        Box::new(RowSelection {
            action: ctx.page_path(&format!("/{part}/selected")),
            submit: "Edit selected",
            all: NavLink::new("Select all", all),
            is_all: ctx.request.query.get("select") == Some("all"),
        })
    })
}

/// From `ids`, separated by commas, and the names of ticked boxes.
pub(super) fn selected_ids(query: &PageQuery) -> Result<Vec<String>, Error> {
    let listed = query.get("ids").unwrap_or_default().split(',');
    let ticked = query.names().filter_map(|name| name.strip_prefix(BOX));
    let ids: Vec<String> = listed.chain(ticked).filter(|id| is_id(id)).map(str::to_owned).collect();
    let problem = |message: String| AdsProblem::invalid_parameter("ids", ids.len(), message);
    match ids.len() {
        0 => Err(problem("Select at least one row".to_owned()).into()),
        1..=MAX_SELECTED => Ok(ids),
        _ => Err(problem(format!("Select at most {MAX_SELECTED} rows")).into()),
    }
}

/// Refuses an empty selection.
pub(super) fn require_some(records: Vec<RecordView>) -> Result<Vec<RecordView>, Error> {
    if records.is_empty() {
        return Err(AdsProblem::invalid_parameter("ids", "", "Nothing of what was selected is there to change").into());
    }
    Ok(records)
}

fn is_id(text: &str) -> bool {
    (1..=20).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The records with these ids, drafts included.
pub(super) fn load_records(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    section: &Section,
    ids: &[String],
) -> Result<Vec<RecordView>, Error> {
    let filter = format!("{}s", section.resource.id.post);
    let params = json!({ filter: ids, "with_draft": true, "count": MAX_SELECTED });
    require_some(ctx.list(tx, section.resource, params)?.rows)
}

pub(super) fn edit_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, part: &str) -> Result<FormDefinition, Error> {
    let section = Section::find(part).ok_or_else(|| Fault::new(format!("no section {part}")))?;
    let ids = selected_ids(&ctx.request.query)?;
    let records = load_records(tx, ctx, section, &ids)?;
    let campaign = records.first().map(|first| first.rendered_text("campaign_id"));
    let back = match campaign {
        Some(campaign) if part == "line-items" => format!("/campaigns/{campaign}"),
        _ => String::new(),
    };
    let statuses = [("", "No change"), ("ACTIVE", "Active"), ("PAUSED", "Paused")];
    let amount = |name, label| FormFieldSpec::new(name, label, FormInputKind::Amount).help("Empty for no change.");
    let mut fields = vec![
        FormFieldSpec::choice("entity_status", "Status", statuses),
        amount("daily_budget_amount_local_micro", "Daily budget"),
        amount("total_budget_amount_local_micro", "Total budget"),
    ];
    if part == "line-items" {
        fields.push(amount("bid_amount_local_micro", "Bid"));
    }
    let active = records.iter().filter(|one| one.text("entity_status") == "ACTIVE");
    Ok(FormDefinition {
        heading: match records.len() {
            1 => format!("Edit 1 {}", section.label),
            count => format!("Edit {count} {}s", section.label),
        },
        lead: "All of them are changed, or none.".to_owned(),
        trail: ctx.trail(&[("Campaigns", "")]),
        path: format!("/12/batch/accounts/{{}}/{}", section.resource.path),
        fields,
        submit: "Save changes",
        action: ctx.page_path(&format!("/{part}/selected?ids={}", ids.join(","))),
        redirect: FormRedirect::Path(ctx.page_path(&back)),
        done_code: "changed",
        undo: Some((section.name, active.map(RecordView::id).collect())),
        handler: Some(change_selected),
        leading_blocks: vec![PageBlock::Table(selected_table(ctx, section, &records))],
        ids: records.iter().map(RecordView::id).collect(),
        ..FormDefinition::new(ctx, &back)
    })
}

fn selected_table(ctx: &ManagerAccount, section: &Section, records: &[RecordView]) -> DataTable {
    let rows = records.iter().map(|one| {
        let (budget, total) = budget_labels(one);
        let path = ctx.page_path(&format!("/{}/{}", section.name, one.id()));
        TableRow {
            name: record_name(one),
            cells: vec![
                TableCell::from_text(record_name(one)).with_link(path).with_subtext(one.id()),
                TableCell::from_badge(status_badge(one.text("entity_status"))),
                TableCell::from_text(budget).with_subtext(total),
            ],
            ..TableRow::default()
        }
    });
    DataTable {
        columns: ["Name", "Status", "Budget"].map(text_column).into(),
        rows: rows.collect(),
        ..DataTable::default()
    }
}

fn change_selected(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    form: &FormDefinition,
    sent: &SubmittedFields,
) -> Result<OperationOutput, Error> {
    let changes = form.changed_params(sent)?;
    if changes.is_empty() {
        return Err(AdsProblem::invalid_parameter("entity_status", "", "Choose what to change").into());
    }
    let id_name = if form.path.ends_with("campaigns") { "campaign_id" } else { "line_item_id" };
    update_batch(tx, ctx, &form.path, &form.ids, (id_name, &changes.into()))
}

/// Makes the same changes to records, of which there are at most [`MAX_SELECTED`].
pub(super) fn update_batch(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    path: &str,
    ids: &[String],
    (id_name, changes): (&str, &Value),
) -> Result<OperationOutput, Error> {
    let change = |id: &String| {
        let mut params = changes.clone();
        if let Some(members) = params.as_object_mut() {
            members.insert(id_name.to_owned(), id.as_str().into());
        }
        json!({ "operation_type": "Update", "params": params })
    };
    ctx.call(tx, ("POST", path), &[], ids.iter().map(change).collect())
}

/// Offers to resume what was just paused.
pub(super) fn undo_button(route: &ManagerRoute) -> Option<ActionButton> {
    let query = &route.request.query;
    let (part, ids) = query.get("undo").filter(|_| query.get("done") == Some("paused"))?.split_once(':')?;
    let known = matches!(part, "campaigns" | "line-items") && ids.split(',').count() <= MAX_SELECTED;
    (known && ids.split(',').all(is_id)).then(|| {
        let place = &route.path;
        let parts = [&place.account, &place.section, &place.id].map(String::as_str);
        let here: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        ActionButton {
            text: "Undo pause",
            path: format!("/ads/{}/{part}/selected?ids={ids}", place.account),
            hidden: vec![
                ("entity_status", "ACTIVE".to_owned()),
                ("next", format!("/ads/{}{}", here.join("/"), route.request.list_query())),
            ],
            ..ActionButton::default()
        }
    })
}
