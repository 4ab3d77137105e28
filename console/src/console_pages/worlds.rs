//! `/console/worlds`.

use base::{Error, Refusal};
use emulator::worlds::{WorldFacts, WorldKeys};
use pages::console::{ConsoleWorldsPage, WorldKeysSection, WorldRow};
use pages::{FormField, Notice};
use portal::{BrowserVisit, PageExit, PageQuery, portal_page, redirect_to};
use web::HttpReply;
use web::endpoint::{BodySpec, Endpoint};
use web::request_context::RequestContext;
use web::text_members;

use crate::refusal_message::refusal_message;
use crate::world_control::world_control;

const PATH: &str = "/console/worlds";
const BUILT_IN: [&str; 3] = ["demo", "ads", "empty"];

pub(super) static ENDPOINTS: &[Endpoint] = &[
    portal_page("consoleWorlds", "GET", PATH, &show).summary("The worlds of the server."),
    portal_page("consoleChangeWorlds", "POST", PATH, &submit)
        .summary("Creates or removes a world.")
        .body(BodySpec::Form(text_members! { 2000; csrf name from act })),
];

async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let mut page = build_page(&call, &visit).await?;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    match query.get("done") {
        Some("create") => page.frame.notices.push(Notice::success("Created the world.")),
        Some("remove") => page.frame.notices.push(Notice::success("Removed the world.")),
        _ => {}
    }
    if let Some(named) = query.get("keys") {
        match world_control(&call)?.find_world_keys(named.to_owned()).await {
            Ok(keys) => page.keys = Some(keys_section(keys)),
            Err(Error::Refused(refusal)) => page.frame.failure = Some(refusal_message(&refusal)),
            Err(failed) => return Err(failed.into()),
        }
    }
    Ok(visit.render_page(&call, &page)?)
}

async fn build_page(call: &RequestContext, visit: &BrowserVisit) -> Result<ConsoleWorldsPage, PageExit> {
    let control = world_control(call)?;
    let (worlds, snapshots) = (control.list_worlds().await?, control.list_snapshots().await?);
    let named = snapshots.into_iter().map(|snapshot| snapshot.name);
    Ok(ConsoleWorldsPage {
        frame: visit.page_frame(call),
        worlds: worlds.into_iter().map(world_row).collect(),
        name: FormField::default(),
        from: FormField::new("demo"),
        sources: BUILT_IN.map(str::to_owned).into_iter().chain(named).collect(),
        keys: None,
    })
}

fn world_row(facts: WorldFacts) -> WorldRow {
    let WorldFacts { name, base_url, from, is_open } = facts;
    WorldRow { is_main: name == "main", name, url: base_url, from, is_open }
}

fn keys_section(keys: WorldKeys) -> WorldKeysSection {
    let lines = keys.variables.iter().map(|(name, value)| format!("{name}={value}"));
    WorldKeysSection { name: keys.name, text: lines.collect::<Vec<_>>().join("\n") }
}

async fn submit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, form) = BrowserVisit::accept_form(&call).await?;
    let (act, name, from) = (form.text("act"), form.text("name"), form.text("from"));
    let control = world_control(&call)?;
    let mut page = build_page(&call, &visit).await?;
    let done = match act.as_str() {
        "create" => control.create_world(name.clone(), from.clone()).await.map(|_| ()),
        "remove" => control.remove_world(name.clone()).await,
        _ => return Err(Refusal::invalid_value("act", &act).into()),
    };
    match done {
        Ok(()) => Ok(redirect_to(&format!("{PATH}?done={act}"))),
        Err(Error::Refused(refusal)) if act == "create" => {
            page.name = FormField::invalid(name, refusal_message(&refusal));
            page.from = FormField::new(from);
            Ok(HttpReply::status(visit.render_page(&call, &page)?, 400))
        }
        Err(Error::Refused(refusal)) => {
            page.frame.failure = Some(refusal_message(&refusal));
            Ok(HttpReply::status(visit.render_page(&call, &page)?, 400))
        }
        Err(failed) => Err(failed.into()),
    }
}
