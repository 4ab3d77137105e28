//! An app's webhooks: their challenges and deliveries, and what may be done about them.

use base::{Error, Fault, Time};
use deliver::webhooks::{ChallengeResult, sign};
use network::webhooks as rules;
use pages::{Challenge, Hook, Notice, Sent, Tab, Try, Webhooks};
use serde_json::json;
use store::Tx;
use store::deliveries::{self, Delivery, DeliveryAttempt};
use store::webhooks::{self as stored, Webhook};

use super::{Own, heard};
use crate::accents::detail;
use crate::call::Call;
use crate::endpoint::Pending;
use crate::pages::forms::{Form, taken};
use crate::pages::{Turn, run, see};
use crate::reply::Reply;

/// Deliveries of a webhook on the page.
const NEWEST: i64 = 20;
/// Tries of each.
const TRIES: i64 = 10;

/// `GET /developer/apps/{id}/webhooks`.
pub(crate) fn show(call: Call) -> Pending {
    run(async move {
        let own = Own::of(&call).await?;
        let done = match call.head().uri.query() {
            Some("challenged") => Some("The receiver answered rightly."),
            Some("resent") => Some("It is sent again."),
            Some("replaying") => Some("The span is sent again."),
            _ => None,
        };
        page(&call, &own, done, None).await
    })
}

/// `POST /developer/apps/{id}/webhooks`.
pub(crate) fn act(call: Call) -> Pending {
    run(async move {
        let own = Own::of(&call).await?;
        let sent = taken(&call, &own.visit).await?;
        let done = match sent.text("act").as_str() {
            "challenge" => challenge(&call, &own, &sent).await,
            "resend" => resend(&call, &own, &sent).await,
            _ => replay(&call, &own, &sent).await,
        };
        match done {
            Ok(what) => {
                let path = Tab::Webhooks.of(&own.shown());
                Ok(see(&format!("{path}?{what}")))
            }
            Err(Error::Refused(refusal)) => {
                let why = detail(&refusal).to_owned();
                Ok(page(&call, &own, None, Some(why)).await?.status(400))
            }
            Err(stop) => Err(heard::<()>(&call, &own.visit, Err(stop))
                .err()
                .unwrap_or_else(|| Turn::from(Error::from(Fault::new("a refusal that is none"))))),
        }
    })
}

fn id(sent: &Form<'_>, name: &'static str) -> i64 {
    sent.text(name).parse().unwrap_or(0)
}

async fn challenge(call: &Call, own: &Own, sent: &Form<'_>) -> Result<&'static str, Error> {
    let (app, id) = (own.app.id, id(sent, "webhook"));
    let webhook = call.read(move |tx| rules::find_owned(tx, app, id)).await?;
    let challenged = challenged(call, own, &webhook).await?;
    let failure = challenged.failure.clone();
    let desk = call.home.webhooks.clone();
    call.write(move |tx| desk.apply_challenge(tx, id, &challenged))
        .await?;
    call.home.webhooks.wake_sender();
    match failure {
        Some(failure) => Err(refused(failure.message)),
        None => Ok("challenged"),
    }
}

fn refused(why: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    base::Refusal::forbidden(why).into()
}

async fn challenged(call: &Call, own: &Own, webhook: &Webhook) -> Result<ChallengeResult, Error> {
    let desk = &call.home.webhooks;
    let place = desk.parse_url(&webhook.url).map_err(refused)?;
    let (secret, chance) = (&own.app.api_secret, &call.context().rng);
    let courier = desk.client();
    Ok(courier
        .send_challenge(&place, secret, chance, call.now())
        .await?)
}

async fn resend(call: &Call, own: &Own, sent: &Form<'_>) -> Result<&'static str, Error> {
    let (app, id, delivery) = (own.app.id, id(sent, "webhook"), id(sent, "delivery"));
    call.write(move |tx| {
        rules::find_owned(tx, app, id)?;
        rules::resend_delivery(tx, id, delivery)
    })
    .await?;
    Ok("resent")
}

async fn replay(call: &Call, own: &Own, sent: &Form<'_>) -> Result<&'static str, Error> {
    let (app, id) = (own.app.id, id(sent, "webhook"));
    let span = rules::parse_replay_range(call.now(), &sent.text("from"), &sent.text("to"))?;
    call.write(move |tx| rules::start_replay(tx, app, id, span))
        .await?;
    Ok("replaying")
}

async fn page(
    call: &Call,
    own: &Own,
    done: Option<&str>,
    failure: Option<String>,
) -> Result<Reply, Turn> {
    let app = own.app.id;
    let found = call.read(move |tx| {
        let mut all = Vec::new();
        for webhook in stored::list_by_app(tx, app)? {
            all.push(hook(tx, webhook)?);
        }
        Ok(all)
    });
    let mut frame = own.visit.frame(call);
    frame.failure = failure;
    frame.notices.extend(done.map(Notice::good));
    let dev = call.home.front.config.dev;
    let site = call.home.site;
    let page = Webhooks {
        frame,
        action: Tab::Webhooks.of(&own.shown()),
        app: own.shown(),
        hooks: found.await?,
        sink: dev.then(|| format!("{site}/webhook-sink/{app}")),
    };
    Ok(own.visit.page(call, &page)?)
}

fn hook(tx: &mut Tx<'_>, webhook: Webhook) -> Result<Hook, Error> {
    let end = (Time::from_ms(i64::MAX), i64::MAX);
    let mut sent = Vec::new();
    for delivery in deliveries::list_before(tx, webhook.id, end, NEWEST)? {
        let tries = deliveries::list_attempts(tx, webhook.id, delivery.seq, TRIES)?;
        sent.push(shown(delivery, tries));
    }
    let last = deliveries::list_challenges(tx, webhook.id, 1)?.pop();
    Ok(Hook {
        id: webhook.id.to_string(),
        url: webhook.url,
        valid: webhook.valid,
        problem: webhook.problem,
        checked: webhook.checked_at,
        challenge: last.map(|last| Challenge {
            at: last.at,
            token: last.signature_or_token,
            expected: last.expected,
            answer: last.answer,
            problem: last.problem,
        }),
        sent,
    })
}

fn shown(delivery: Delivery, tries: Vec<DeliveryAttempt>) -> Sent {
    let tries = tries.into_iter().map(|one| Try {
        at: one.at,
        status: one.status,
        problem: one.problem,
        took_ms: one.duration_ms,
        signature: one.signature_or_token,
        answer: one.answer,
    });
    Sent {
        number: delivery.seq,
        event_id: delivery.event_id,
        at: delivery.at,
        state: delivery.state.name(),
        again: delivery.job_id != 0,
        body: delivery.body,
        tries: tries.collect(),
    }
}

/// `GET /webhook-sink/{id}`, in a development world: the built-in receiver answers the challenge
/// of an app's webhook.
pub(crate) fn answer(call: Call) -> Pending {
    Box::pin(async move {
        let app = base::AppId::parse(call.path_text("id")?);
        let app = app.ok_or(base::Refusal::RouteNotFound)?;
        let token = call.text("crc_token").unwrap_or_default().to_owned();
        let found = call.read(move |tx| network::apps::find(tx, app)).await;
        let found = found.map_err(|_| Error::from(base::Refusal::RouteNotFound))?;
        let token = sign(&found.api_secret, token.as_bytes());
        Ok(Reply::json(200, &json!({ "response_token": token })))
    })
}

/// `POST /webhook-sink/{id}`: it takes everything; what it took is on the page.
pub(crate) fn take(_call: Call) -> Pending {
    Box::pin(async move { Ok(Reply::json(200, &json!({}))) })
}
