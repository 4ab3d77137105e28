//! `/console/snapshots`.

use base::{Error, Refusal};
use emulator::worlds::{SnapshotComparison, SnapshotFacts};
use pages::console::{ComparedTable, ComparisonSection, ConsoleSnapshotsPage, SnapshotRow};
use pages::{FormField, Notice};
use portal::{BrowserVisit, PageExit, PageQuery, portal_page, redirect_to};
use store::row_changes::RowChange;
use web::HttpReply;
use web::endpoint::{BodySpec, Endpoint};
use web::request_context::RequestContext;
use web::text_members;

use crate::refusal_message::refusal_message;
use crate::world_control::world_control;

const PATH: &str = "/console/snapshots";

pub(super) static ENDPOINTS: &[Endpoint] = &[
    portal_page("consoleSnapshots", "GET", PATH, &show).summary("The snapshots of the world."),
    portal_page("consoleChangeSnapshots", "POST", PATH, &submit)
        .summary("Saves a snapshot, returns to one or removes it.")
        .body(BodySpec::Form(text_members! { 2000; csrf name act })),
];

async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let mut page = build_page(&call, &visit).await?;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    if let Some(notice) = query.get("done").and_then(notice_text) {
        page.frame.notices.push(Notice::success(notice));
    }
    if let Some(compared) = query.get("diff") {
        match world_control(&call)?.compare_snapshot(compared.to_owned(), None).await {
            Ok(found) => page.comparison = Some(comparison_section(compared.to_owned(), found)),
            Err(Error::Refused(refusal)) => page.frame.failure = Some(refusal_message(&refusal)),
            Err(failed) => return Err(failed.into()),
        }
    }
    Ok(visit.render_page(&call, &page)?)
}

fn notice_text(done: &str) -> Option<&'static str> {
    match done {
        "save" => Some("Saved the world."),
        "load" => Some("Returned to the snapshot."),
        "remove" => Some("Removed the snapshot."),
        "reset" => Some("Returned the world to its seed."),
        _ => None,
    }
}

async fn build_page(call: &RequestContext, visit: &BrowserVisit) -> Result<ConsoleSnapshotsPage, PageExit> {
    let control = world_control(call)?;
    let snapshots = control.list_snapshots().await?;
    Ok(ConsoleSnapshotsPage {
        frame: visit.page_frame(call),
        world: control.name(),
        snapshots: snapshots.into_iter().map(snapshot_row).collect(),
        name: FormField::default(),
        comparison: None,
    })
}

fn snapshot_row(facts: SnapshotFacts) -> SnapshotRow {
    let SnapshotFacts { name, world, created_at, version, bytes, media_files } = facts;
    SnapshotRow { name, world, created_at, version, kibibytes: bytes / 1024, media_files }
}

fn comparison_section(name: String, comparison: SnapshotComparison) -> ComparisonSection {
    let tables = comparison.tables.into_iter().map(|table| ComparedTable {
        table: table.table,
        added: table.added,
        removed: table.removed,
        changed: table.changed,
        rows: table.rows.iter().map(row_line).collect(),
    });
    ComparisonSection { name, tables: tables.collect() }
}

fn row_line(row: &RowChange) -> String {
    let sign = match row.kind {
        "added" => '+',
        "removed" => '-',
        _ => '~',
    };
    let columns = row.columns.iter().map(|one| match (&one.before, &one.after) {
        (Some(before), Some(after)) if before != after => format!("{}={before} → {after}", one.column),
        (before, after) => {
            format!("{}={}", one.column, after.as_deref().or(before.as_deref()).unwrap_or_default())
        }
    });
    format!("{sign} {}", columns.collect::<Vec<_>>().join(" "))
}

async fn submit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, form) = BrowserVisit::accept_form(&call).await?;
    let (act, name) = (form.text("act"), form.text("name"));
    // The page for a refusal: afterwards, the visitor's session may be gone.
    let mut page = build_page(&call, &visit).await?;
    let control = world_control(&call)?;
    let done = match act.as_str() {
        "save" => control.save_snapshot(name.clone()).await.map(|_| ()),
        "load" => control.load_snapshot(name.clone()).await.map(|_| ()),
        "remove" => control.remove_snapshot(name.clone()).await,
        "reset" => control.reset().await.map(|_| ()),
        _ => return Err(Refusal::invalid_value("act", &act).into()),
    };
    match done {
        Ok(()) => Ok(redirect_to(&format!("{PATH}?done={act}"))),
        Err(Error::Refused(refusal)) => {
            show_problem(&mut page, &act, name, refusal_message(&refusal));
            Ok(HttpReply::status(visit.render_page(&call, &page)?, 400))
        }
        Err(failed) => Err(failed.into()),
    }
}

fn show_problem(page: &mut ConsoleSnapshotsPage, act: &str, name: String, problem: String) {
    if act == "save" {
        page.name = FormField::invalid(name, problem);
    } else {
        page.frame.failure = Some(problem);
    }
}
