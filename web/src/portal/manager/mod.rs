//! The Ads Manager: advertising for people, by the same engine and with the same roles as for apps.

mod account;
mod advice;
mod ask;
mod audiences;
mod belongs;
mod breakdown;
mod campaigns;
mod cards;
mod creatives;
mod figures;
mod forms;
mod line_items;
mod media;
mod members;
mod people;
mod plans;
mod posts;
mod stand;
mod upload;
mod words;

use base::refusal::{AdsProblem, AdsRefusal};
use base::{Error, Refusal};
use http::HeaderValue;
use http::header::CONTENT_DISPOSITION;
use pages::manager::{AdsManager, Block, Cell, Column, Empty, Row, Table};
use pages::{Notice, Wrong};
use store::Tx;

use crate::body::ContentType;
use crate::call::Call;
use crate::endpoint::Pending;
use crate::pages::forms::{Query, own_path, taken};
use crate::pages::{Turn, Visit, errors, run, see};
use crate::reply::Reply;
use ask::{Asking, accounts_of};
use stand::{Place, Sent, Stand};

/// `GET /ads`.
pub(crate) fn choose(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let user = visit.signed_in(&call)?.user.id;
        let found = call.read(move |tx| accounts_of(tx, user)).await?;
        let rows: Vec<Row> = found
            .into_iter()
            .map(|(record, _, account)| Row {
                name: account.name.clone(),
                cells: vec![
                    Cell::of(account.name).leads(account.path).below(account.id),
                    Cell::of(account.role),
                    Cell::badge(words::badge(record.text("approval_status"))),
                    Cell::of(if account.sandbox { "Sandbox" } else { "–" }),
                ],
                acts: Vec::new(),
            })
            .collect();
        let names = ["Account", "Your role", "Review", "World"];
        let table = Table {
            columns: names.map(column).into(),
            rows,
            empty: Empty {
                title: "No ads account".to_owned(),
                text: "An operator of this network opens an account, or gives you a role on one."
                    .to_owned(),
                link: None,
            },
            ..Table::default()
        };
        let page = AdsManager {
            frame: visit.frame(&call),
            heading: "Ads Manager".to_owned(),
            lead: "The advertising accounts that you have a role on.".to_owned(),
            blocks: vec![Block::Table(table)],
            ..AdsManager::default()
        };
        Ok(visit.page(&call, &page)?)
    })
}

const fn column(name: &'static str) -> Column {
    Column {
        name,
        number: false,
    }
}

const fn numbers(name: &'static str) -> Column {
    Column { name, number: true }
}

/// `GET /ads/{account}` and everything below it.
pub(crate) fn show(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let stand = stand_of(&call, &visit)?;
        if stand.place.act == FILE {
            let found = call.read(move |tx| stand.file(tx)).await;
            return Ok(file(heard(&call, &visit, found)?));
        }
        let query = Query::of(&call).ok();
        let said = query.as_ref().and_then(|query| query.get("done"));
        let notice = said.and_then(told).map(Notice::good);
        let found = call.read(move |tx| stand.page(tx)).await;
        let mut page = heard(&call, &visit, found)?;
        page.frame = visit.frame(&call);
        page.frame.notices.extend(notice);
        Ok(visit.page(&call, &page)?)
    })
}

/// Figures as a file.
const FILE: &str = "figures.csv";

fn file(text: String) -> Reply {
    let kind = HeaderValue::from_static("text/csv; charset=utf-8");
    let name = HeaderValue::from_static("attachment; filename=\"figures.csv\"");
    Reply::bytes(200, kind, text).header(CONTENT_DISPOSITION, name)
}

fn told(done: &str) -> Option<&'static str> {
    Some(match done {
        "created" => "It is created.",
        "saved" => "The changes are saved.",
        "deleted" => "It is deleted.",
        "paused" => "It is paused.",
        "resumed" => "It is active.",
        "promoted" => "It is promoted.",
        "added" => "It is added.",
        "shared" => "The account may use it.",
        "revoked" => "The account may not use it any more.",
        "listed" => "The list is taken in. The size follows in a while.",
        "stopped" => "It is not promoted any more.",
        "published" => "It is published.",
        "joined" => "The person works on the account now.",
        "left" => "The person does not work on the account any more.",
        "applied" => "The recommendation is applied.",
        "dismissed" => "The recommendation is dismissed.",
        "uploaded" => "It is in the library.",
        _ => return None,
    })
}

/// `POST /ads/{account}/…`: what a form of these pages sends.
pub(crate) fn act(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        visit.signed_in(&call)?;
        let stand = stand_of(&call, &visit)?;
        if call.kind == ContentType::Other {
            return Box::pin(upload::take(call, visit, stand)).await;
        }
        let form = taken(&call, &visit).await?;
        let sent = Sent::of(&call, &form);
        let next = form.next();
        let (there, typed) = (stand.clone(), sent.clone());
        let done = call.write(move |tx| there.send(tx, &typed)).await;
        let declined = match done {
            Ok(Some((path, what))) => {
                let path = next
                    .as_deref()
                    .and_then(own_path)
                    .unwrap_or(&path)
                    .to_owned();
                let joint = if path.contains('?') { '&' } else { '?' };
                return Ok(see(&format!("{path}{joint}done={what}")));
            }
            Ok(None) => return Err(missing(&call, &visit)),
            Err(Error::Refused(Refusal::Ads(declined))) => every(*declined),
            Err(stop) => return Err(stop.into()),
        };
        again(&call, &visit, stand, sent, declined).await
    })
}

/// All that is wrong, that of the items of a batch included.
fn every(declined: AdsRefusal) -> Vec<AdsProblem> {
    let items = declined.items.into_iter().flatten();
    declined.problems.into_iter().chain(items).collect()
}

/// The form with what was typed, and why it was refused.
async fn again(
    call: &Call,
    visit: &Visit,
    stand: Stand,
    sent: Sent,
    problems: Vec<AdsProblem>,
) -> Result<Reply, Turn> {
    let work = move |tx: &mut Tx<'_>| stand.again(tx, &sent, &problems);
    let found = call.read(work).await;
    let found = found.map(|found| found.map(|(page, failure)| (Box::new(page), failure)));
    let (mut page, failure) = heard(call, visit, found)?;
    page.frame = visit.frame(call);
    page.frame.failure = failure;
    Ok(visit.page(call, &*page)?.status(400))
}

fn stand_of(call: &Call, visit: &Visit) -> Result<Stand, Turn> {
    let person = visit.signed_in(call)?;
    let query = Query::of(call).ok();
    let asked = |name: &str| query.as_ref().and_then(|query| query.get(name));
    Ok(Stand {
        asking: Asking {
            user: person.user.id,
            key: call.home.front.config.page_key,
            site: call.home.site,
            now: call.now(),
            address: call.address(),
        },
        place: Place {
            account: part(call, "account"),
            part: part(call, "part"),
            id: part(call, "id"),
            act: part(call, "act"),
        },
        cursor: asked("cursor").map(str::to_owned),
        days: asked("days").and_then(|days| days.parse().ok()),
        by: asked("by").map(str::to_owned),
    })
}

/// A part of the path; empty where it has none of this name.
fn part(call: &Call, name: &str) -> String {
    call.path_text(name).map(str::to_owned).unwrap_or_default()
}

fn missing(call: &Call, visit: &Visit) -> Turn {
    match errors::page(call, visit, Wrong::NotFound, None) {
        Ok(reply) => reply.into(),
        Err(fault) => fault.into(),
    }
}

/// What was found, or the page that says that it is not there or not for this role.
fn heard<T>(call: &Call, visit: &Visit, outcome: Result<Option<T>, Error>) -> Result<T, Turn> {
    let declined = match outcome {
        Ok(Some(found)) => return Ok(found),
        Ok(None) => return Err(missing(call, visit)),
        Err(Error::Refused(Refusal::Ads(declined))) => declined,
        Err(stop) => return Err(stop.into()),
    };
    let first = declined.problems.into_iter().next();
    let (code, message) = first.map_or(("", String::new()), |one| (one.code, one.message));
    let wrong = match code {
        "ACTION_NOT_ALLOWED" => Wrong::Forbidden,
        code if code.ends_with("NOT_FOUND") || code.ends_with("ILLEGAL_CHARACTERS") => {
            return Err(missing(call, visit));
        }
        _ => Wrong::Refused(message),
    };
    Err(errors::page(call, visit, wrong, None)?.into())
}
