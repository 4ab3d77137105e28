//! `/console/webhooks`: the webhooks of all apps.

use base::{AppId, Error, Id, Refusal, SplitRefusal};
use network::webhooks as rules;
use pages::console::{AppWebhook, ConsoleWebhooksPage, SelectOption};
use pages::{FormField, Notice};
use portal::{
    BrowserVisit, PageExit, SubmittedForm, challenge_webhook, keep_replay_range, load_webhook_item, portal_page,
    redirect_to,
};
use store::Tx;
use store::apps::App;
use store::webhooks as stored;
use web::HttpReply;
use web::endpoint::{BodySpec, Endpoint, MAX_TEXT};
use web::request_context::RequestContext;
use web::text_members;
use web::webhooks::register_webhook;

use crate::refusal_message::refusal_message;

const PATH: &str = "/console/webhooks";
const MAX_SHOWN: usize = 50;
/// Rows that are read to find the newest.
const MAX_READ: i64 = 2_000;

pub(super) static ENDPOINTS: &[Endpoint] = &[
    portal_page("consoleWebhooks", "GET", PATH, &show)
        .summary("The webhooks of all apps, their challenges and their deliveries."),
    portal_page("consoleActOnWebhook", "POST", PATH, &submit)
        .summary("Registers or challenges a webhook, or sends a delivery again.")
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf act app url webhook delivery from to })),
];

const DONE: [(&str, &str); 4] = [
    ("registered", "The webhook was registered: its receiver answered the challenge correctly."),
    ("challenged", "The receiver answered the challenge correctly."),
    ("resent", "The delivery was queued again."),
    ("replaying", "The replay has started."),
];

async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let query = call.head().uri.query();
    let done = DONE.iter().find(|(key, _)| Some(*key) == query).map(|(_, text)| *text);
    render(&call, &visit, done, None, FormField::default()).await
}

async fn submit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = BrowserVisit::accept_form(&call).await?;
    let act = sent.text("act");
    let outcome = match act.as_str() {
        "register" => register(&call, &sent).await,
        _ => act_on_webhook(&call, &sent, &act).await,
    };
    match outcome.split_refusal()? {
        Ok(done) => Ok(redirect_to(&format!("{PATH}?{done}"))),
        Err(refusal) => {
            let message = refusal_message(&refusal);
            let (failure, url) = if act == "register" {
                (None, FormField::invalid(sent.text("url"), message))
            } else {
                (Some((message, &sent)), FormField::default())
            };
            Ok(render(&call, &visit, None, failure, url).await?.status(400))
        }
    }
}

async fn register(call: &RequestContext, sent: &SubmittedForm<'_>) -> Result<&'static str, Error> {
    let app = find_app(call, &sent.text("app")).await?;
    let url = sent.text("url");
    let url = if url.trim().is_empty() { format!("{}{}", sink_url(call), app.id) } else { url.trim().to_owned() };
    register_webhook(call, &app, &url).await.map(|_| "registered")
}

async fn act_on_webhook(call: &RequestContext, sent: &SubmittedForm<'_>, act: &str) -> Result<&'static str, Error> {
    let id: i64 = sent.text("webhook").parse().unwrap_or(0);
    let owner = move |tx: &mut Tx<'_>| {
        let webhook = stored::find_by_id(tx, id)?.ok_or_else(|| rules::webhook_not_found(id))?;
        identity::apps::find(tx, webhook.app_id)
    };
    let app = call.read(owner).await?;
    match act {
        "challenge" => challenge_webhook(call, &app, id).await.map(|()| "challenged"),
        "resend" => {
            let delivery: i64 = sent.text("delivery").parse().unwrap_or(0);
            call.write(move |tx| rules::resend_delivery(tx, id, delivery)).await.map(|_| "resent")
        }
        "replay" => {
            let range = rules::parse_replay_range(call.now(), &sent.text("from"), &sent.text("to"))?;
            call.write(move |tx| rules::start_replay(tx, app.id, id, range)).await.map(|_| "replaying")
        }
        _ => Err(Refusal::invalid_value("act", act).into()),
    }
}

async fn find_app(call: &RequestContext, text: &str) -> Result<App, Error> {
    let id: Option<AppId> = Id::parse(text);
    let id = id.ok_or_else(|| Refusal::invalid_value("app", text))?;
    call.read(move |tx| identity::apps::find(tx, id)).await
}

fn sink_url(call: &RequestContext) -> String {
    format!("{}/webhook-sink/", call.site().url)
}

async fn render(
    call: &RequestContext,
    visit: &BrowserVisit,
    done: Option<&str>,
    failure: Option<(String, &SubmittedForm<'_>)>,
    url: FormField,
) -> Result<HttpReply, PageExit> {
    let (mut webhooks, is_truncated, apps) = call.read(load).await?;
    let mut frame = visit.page_frame(call);
    if let Some((failure, sent)) = failure {
        frame.failure = Some(failure);
        for one in &mut webhooks {
            keep_replay_range(&mut one.webhook, sent);
        }
    }
    frame.notices.extend(done.map(Notice::success));
    let page = ConsoleWebhooksPage { frame, path: PATH, webhooks, is_truncated, apps, url, sink: sink_url(call) };
    Ok(visit.render_page(call, &page)?)
}

fn load(tx: &mut Tx<'_>) -> Result<(Vec<AppWebhook>, bool, Vec<SelectOption>), Error> {
    let apps = identity::apps::list(tx, None)?;
    let mut found = stored::list_all(tx, 0, MAX_READ)?;
    found.retain(|webhook| webhook.deleted_at.is_none());
    found.reverse();
    let is_truncated = found.len() > MAX_SHOWN;
    found.truncate(MAX_SHOWN);
    let mut shown = Vec::new();
    for webhook in found {
        let app = apps.iter().find(|app| app.id == webhook.app_id);
        let name = app.map_or_else(|| webhook.app_id.to_string(), |app| app.name.clone());
        shown.push(AppWebhook { app: name, webhook: load_webhook_item(tx, webhook)? });
    }
    let options = apps.iter().map(|app| SelectOption::new(app.id.to_string(), app.name.as_str()));
    Ok((shown, is_truncated, options.collect()))
}
