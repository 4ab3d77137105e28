//! What was decided about an account, and its appeals.

use base::{Error, Refusal, SplitRefusal};
use network::moderation::{self, Action, Appeal};
use pages::{DecisionItem, DecisionsPage, TextPage};
use portal::{BrowserVisit, MemberVisit, PageExit, PageQuery, redirect_to, run_page};
use store::Tx;
use web::HttpReply;
use web::endpoint::HandlerFuture;
use web::error_formats::error_message;
use web::request_context::RequestContext;

pub(crate) const PATH: &str = "/settings/moderation";
pub(crate) const LINK_PATH: &str = "/appeal";
const SHOWN_DECISIONS: i64 = 100;

/// `GET /settings/moderation`.
pub(crate) fn show(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = MemberVisit::from_call(&call).await?;
        render(&call, &visit, None).await
    })
}

async fn render(call: &RequestContext, visit: &MemberVisit, failure: Option<String>) -> Result<HttpReply, PageExit> {
    let user = visit.person.user.id;
    let load = move |tx: &mut Tx<'_>| {
        let actions = moderation::list_by_user(tx, user, SHOWN_DECISIONS)?;
        let with_appeal = actions.into_iter().map(|action| {
            let appeal = moderation::find_appeal(tx, action.id)?;
            Ok((action, appeal))
        });
        with_appeal.collect::<Result<Vec<(Action, Option<Appeal>)>, Error>>()
    };
    let decisions = call.read(load).await?;
    let decisions = decisions.iter().map(|(action, appeal)| decision_item(action, appeal.as_ref()));
    let mut frame = visit.page_frame(call);
    frame.failure = failure;
    let page = DecisionsPage { frame, action: PATH.to_owned(), token: String::new(), decisions: decisions.collect() };
    Ok(visit.render_page(call, &page)?)
}

fn decision_item(action: &Action, appeal: Option<&Appeal>) -> DecisionItem {
    DecisionItem {
        id: action.id.to_string(),
        text: moderation::describe_kind(action.kind).to_owned(),
        reason: action.reason.clone(),
        at: action.created_at(),
        ends_at: action.ends_at,
        is_lifted: action.lifted_at.is_some(),
        appeal: appeal.map(describe_appeal),
        may_appeal: appeal.is_none() && action.lifted_at.is_none(),
    }
}

fn describe_appeal(appeal: &Appeal) -> String {
    let outcome = match appeal.decided_at {
        None => "You appealed. A moderator will read it.",
        Some(_) if appeal.accepted => "Your appeal was accepted.",
        Some(_) => "Your appeal was rejected.",
    };
    if appeal.answer.is_empty() { outcome.to_owned() } else { format!("{outcome} {}", appeal.answer) }
}

/// `POST /settings/moderation`.
pub(crate) fn submit(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let (visit, sent) = MemberVisit::accept_form(&call).await?;
        let (actor, text) = (visit.audit_actor(), sent.text("text"));
        let action = sent.text("action");
        let action: i64 = action.parse().map_err(|_| Refusal::invalid_value("action", action))?;
        match call.write(move |tx: &mut Tx<'_>| moderation::appeal(tx, &actor, action, &text)).await.split_refusal()? {
            Ok(()) => Ok(redirect_to(PATH)),
            Err(refusal) => Ok(render(&call, &visit, Some(error_message(&refusal).to_owned())).await?.status(400)),
        }
    })
}

/// `GET /appeal?token=…`.
pub(crate) fn show_link(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = BrowserVisit::from_call(&call).await?;
        let query = PageQuery::from_call(&call).unwrap_or_default();
        let token = query.get("token").unwrap_or_default().to_owned();
        let secret = token.clone();
        let action = call.read(move |tx: &mut Tx<'_>| moderation::find_appeal_link(tx, &secret)).await?;
        let page = DecisionsPage {
            frame: visit.page_frame(&call),
            action: LINK_PATH.to_owned(),
            token,
            decisions: vec![decision_item(&action, None)],
        };
        Ok(visit.render_page(&call, &page)?)
    })
}

/// `POST /appeal`.
pub(crate) fn submit_link(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let (visit, sent) = BrowserVisit::accept_form(&call).await?;
        let (token, text, address) = (sent.text("token"), sent.text("text"), visit.client_info.address.clone());
        call.write(move |tx: &mut Tx<'_>| moderation::appeal_by_link(tx, &address, &token, &text)).await?;
        let page = TextPage {
            frame: visit.page_frame(&call),
            title: "You appealed".to_owned(),
            html: "<p>A moderator will read it. The answer comes by email.</p>".to_owned(),
        };
        Ok(visit.render_page(&call, &page)?)
    })
}
