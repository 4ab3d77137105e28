//! The Ads Manager, which uses the same engine and roles as the Ads API.

mod account;
mod account_users;
mod audience_forms;
mod audience_members;
mod audiences;
mod campaigns;
mod cards;
mod choices;
mod conversions;
mod creatives;
mod do_not_reach;
mod drafts;
mod fields;
mod flexible_audiences;
mod form_problems;
mod form_routes;
mod forms;
mod history;
mod labels;
mod line_item_forms;
mod line_item_parts;
mod line_items;
mod media;
mod posts;
mod recommendations;
mod report_choices;
mod report_columns;
mod reports;
mod request;
mod route;
mod sections;
mod selection;
mod serving;
mod stats;
mod tables;
mod targeting_search;
mod upload;

use ads_engine::is_role_not_allowed;
use base::refusal::{AdsProblem, AdsRefusal};
use base::{Error, Refusal};
use http::HeaderValue;
use http::header::CONTENT_DISPOSITION;
use pages::manager::{AdsManagerPage, DataTable, EmptyState, PageBlock, TableCell, TableRow};
use pages::{Notice, PageErrorKind};
use store::{TransactionWork, Tx};

use web::body::BodyContentType;
use web::reply::HttpReply;
use web::request_context::RequestContext;

use crate::developer::not_found_page;
use crate::site::forms::{PageQuery, accept_form, local_path};
use crate::site::submitted_forms::{new_form_id, write_once};
use crate::site::{BrowserVisit, MemberVisit, PageExit, errors, redirect_to};
use forms::{FormOutcome, SubmittedFields};
use request::{ManagerRequest, list_user_accounts};
use route::{ManagerPath, ManagerRoute};
use tables::text_column;

pub(crate) async fn choose_account(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let user = visit.person.user.id;
    let found = call.read(move |tx| list_user_accounts(tx, user)).await?;
    let rows: Vec<TableRow> = found
        .into_iter()
        .map(|(record, _, account)| TableRow {
            name: account.name.clone(),
            cells: vec![
                TableCell::from_text(account.name).with_link(account.path).with_subtext(account.id),
                TableCell::from_text(account.role),
                TableCell::from_badge(labels::status_badge(record.text("approval_status"))),
                TableCell::from_text(if account.sandbox { "Sandbox" } else { "Production" }),
            ],
            ..TableRow::default()
        })
        .collect();
    let names = ["Account", "Your role", "Review", "Environment"];
    let table = DataTable {
        columns: names.map(text_column).into(),
        rows,
        empty: EmptyState::new(
            "No ads accounts",
            "An operator of this server can create an account, or an account administrator can give you a role.",
            None,
        ),
        ..DataTable::default()
    };
    let page = AdsManagerPage {
        frame: visit.page_frame(&call),
        heading: "Ads Manager".to_owned(),
        lead: "Ads accounts that you have access to.".to_owned(),
        blocks: vec![PageBlock::Table(table)],
        ..AdsManagerPage::default()
    };
    Ok(visit.render_page(&call, &page)?)
}

/// `GET /ads/{account}` and everything below it.
pub(crate) async fn show_page(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let route = parse_route(&call, &visit);
    if let Some(path) = route.report_path() {
        return Ok(redirect_to(&path));
    }
    if route.path.id == CSV_FILE {
        let found = call.read(move |tx| route.load_csv(tx)).await;
        return Ok(csv_reply(found_or_page(&call, &visit, found)?));
    }
    let notice = route.request.query.get("done").and_then(done_message).map(Notice::success);
    let undo = selection::undo_button(&route);
    let found = call.read(move |tx| route.load_page(tx)).await;
    let mut page = found_or_page(&call, &visit, found)?;
    let notices = std::mem::take(&mut page.frame.notices);
    page.frame = visit.page_frame(&call);
    page.form_id = new_form_id(&call)?;
    page.undo = undo;
    page.frame.notices.extend(notice.into_iter().chain(notices));
    Ok(visit.render_page(&call, &page)?)
}

const CSV_FILE: &str = "figures.csv";

fn csv_reply(text: String) -> HttpReply {
    let kind = HeaderValue::from_static("text/csv; charset=utf-8");
    let name = HeaderValue::from_static("attachment; filename=\"figures.csv\"");
    HttpReply::bytes(200, kind, text).header(CONTENT_DISPOSITION, name)
}

fn done_message(done: &str) -> Option<&'static str> {
    Some(match done {
        "created" => "Created.",
        "saved" => "Your changes were saved.",
        "deleted" => "Deleted.",
        "paused" => "Paused.",
        "resumed" => "Active.",
        "promoted" => "Promoted.",
        "added" => "Added.",
        "shared" => "The audience was shared.",
        "revoked" => "Access was revoked.",
        "listed" => "The list was uploaded. The audience’s size will be updated shortly.",
        "stopped" => "Promotion stopped.",
        "published" => "Published.",
        "changed" => "The changes were saved.",
        "joined" => "The person was added to the account.",
        "left" => "The person was removed from the account.",
        "applied" => "The recommendation was applied.",
        "dismissed" => "The recommendation was dismissed.",
        "uploaded" => "Added to the library.",
        _ => return None,
    })
}

/// `POST /ads/{account}/…`: what a form of these pages sends.
pub(crate) async fn submit_form(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let route = parse_route(&call, &visit);
    if call.content_type == BodyContentType::Other {
        return Box::pin(upload::receive_form(call, visit, route)).await;
    }
    let form = accept_form(&call, &visit).await?;
    let sent = SubmittedFields::from_form(&call, &form);
    let next = form.return_path();
    let (there, typed) = (route.clone(), sent.clone());
    let done = submit_once(&call, &route, &sent, move |tx| there.submit_form(tx, &typed)).await;
    let declined = match done {
        Ok(Some(outcome)) => {
            return Ok(redirect_to(&outcome.redirect_path(next.as_deref().and_then(local_path))));
        }
        Ok(None) => return Err(not_found_page(&call, &visit)),
        Err(Error::Refused(Refusal::Ads(declined))) => all_problems(*declined),
        Err(stop) => return Err(stop.into()),
    };
    refused_form_page(&call, &visit, route, sent, declined).await
}

/// Does what a form asks for, unless it has had its effect before.
async fn submit_once(
    call: &RequestContext,
    route: &ManagerRoute,
    sent: &SubmittedFields,
    work: impl TransactionWork<Option<FormOutcome>>,
) -> Result<Option<FormOutcome>, Error> {
    // A form of what is not there has no effect, so that it is not known when it comes again.
    let found = move |tx: &mut Tx<'_>| work(tx)?.ok_or_else(|| Refusal::RouteNotFound.into());
    match write_once(call, route.request.user, sent.text("form"), found).await {
        Ok(Some(outcome)) => return Ok(Some(outcome)),
        Ok(None) => {}
        Err(Error::Refused(Refusal::RouteNotFound)) => return Ok(None),
        Err(stop) => return Err(stop),
    }
    let repeated = route.clone();
    call.read(move |tx| repeated.repeated_outcome(tx)).await
}

/// Including those of the items of a batch.
fn all_problems(declined: AdsRefusal) -> Vec<AdsProblem> {
    let items = declined.items.into_iter().flatten();
    declined.problems.into_iter().chain(items).collect()
}

async fn refused_form_page(
    call: &RequestContext,
    visit: &BrowserVisit,
    route: ManagerRoute,
    sent: SubmittedFields,
    problems: Vec<AdsProblem>,
) -> Result<HttpReply, PageExit> {
    let work = move |tx: &mut Tx<'_>| route.refused_form(tx, &sent, &problems);
    let found = call.read(work).await;
    let found = found.map(|found| found.map(|(page, failure)| (Box::new(page), failure)));
    let (mut page, failure) = found_or_page(call, visit, found)?;
    page.frame = visit.page_frame(call);
    page.form_id = new_form_id(call)?;
    page.frame.failure = failure;
    Ok(visit.render_page(call, &*page)?.status(400))
}

fn parse_route(call: &RequestContext, visit: &MemberVisit) -> ManagerRoute {
    let query = PageQuery::from_call(call).unwrap_or_default();
    ManagerRoute {
        request: ManagerRequest {
            evaluator: call.state.evaluator.clone(),
            user: visit.person.user.id,
            cursor_key: call.state.page_context.config.page_key,
            site: call.site(),
            now: call.now(),
            client_address: call.client_address(),
            days: stats::selected_days(query.get("days")),
            query,
        },
        path: ManagerPath {
            account: path_part(call, "account"),
            section: path_part(call, "part"),
            id: path_part(call, "id"),
            action: path_part(call, "act"),
        },
    }
}

fn path_part(call: &RequestContext, name: &str) -> String {
    call.path_text(name).map(str::to_owned).unwrap_or_default()
}

fn found_or_page<T>(
    call: &RequestContext,
    visit: &BrowserVisit,
    outcome: Result<Option<T>, Error>,
) -> Result<T, PageExit> {
    let declined = match outcome {
        Ok(Some(found)) => return Ok(found),
        Ok(None) => return Err(not_found_page(call, visit)),
        Err(Error::Refused(Refusal::Ads(declined))) => declined,
        Err(stop) => return Err(stop.into()),
    };
    let first = declined.problems.into_iter().next();
    let is_forbidden = first.as_ref().is_some_and(is_role_not_allowed);
    let (code, message) = first.map_or(("", String::new()), |one| (one.code, one.message));
    let wrong = match code {
        _ if is_forbidden => PageErrorKind::Forbidden,
        code if code.ends_with("NOT_FOUND") || code.ends_with("ILLEGAL_CHARACTERS") => {
            return Err(not_found_page(call, visit));
        }
        _ => PageErrorKind::Refused(message),
    };
    Err(errors::exit_page(call, visit, wrong))
}
