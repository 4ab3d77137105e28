//! What was decided about an account, and its appeals.

use base::{Error, Refusal, SplitRefusal};
use identity::moderation::{self, Action, Appeal, Kind};
use pages::{DECISIONS_PATH, DecisionItem, DecisionsPage, TextPage};
use portal::{BrowserVisit, MemberVisit, PageExit, PageQuery, redirect_to};
use store::Tx;
use web::HttpReply;
use web::error_formats::error_message;
use web::request_context::RequestContext;

pub(crate) const PATH: &str = DECISIONS_PATH;
pub(crate) const LINK_PATH: &str = "/appeal";
const SHOWN_DECISIONS: i64 = 100;

/// An appeal that was refused: the action, what was typed, and what is wrong with it.
struct RefusedAppeal {
    action: i64,
    text: String,
    problem: String,
}

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    render(&call, &visit, None).await
}

async fn render(
    call: &RequestContext,
    visit: &MemberVisit,
    refused: Option<RefusedAppeal>,
) -> Result<HttpReply, PageExit> {
    let (user, username) = (visit.person.user.id, visit.person.user.username.clone());
    let load = move |tx: &mut Tx<'_>| {
        let actions = moderation::list_by_user(tx, user, SHOWN_DECISIONS)?;
        actions.iter().map(|action| load_decision(tx, action, Some(&username))).collect::<Result<Vec<_>, Error>>()
    };
    let decisions = call.read(load).await?;
    let form = DecisionsForm { action: PATH, token: String::new(), decisions };
    Ok(form.render(call, visit, refused)?)
}

/// What the page of decisions shows, and where its forms go.
struct DecisionsForm {
    action: &'static str,
    token: String,
    decisions: Vec<DecisionItem>,
}

impl DecisionsForm {
    fn render(
        mut self,
        call: &RequestContext,
        visit: &BrowserVisit,
        refused: Option<RefusedAppeal>,
    ) -> Result<HttpReply, Error> {
        let mut frame = visit.page_frame(call);
        let status = if refused.is_some() { 400 } else { 200 };
        if let Some(refused) = refused {
            let id = refused.action.to_string();
            self.decisions.iter_mut().filter(|one| one.id == id).for_each(|one| one.typed.clone_from(&refused.text));
            frame.failure = Some(refused.problem);
        }
        let page =
            DecisionsPage { frame, action: self.action.to_owned(), token: self.token, decisions: self.decisions };
        Ok(visit.render_page(call, &page)?.status(status))
    }
}

/// `author` is the username of the person concerned, if they can open their post.
fn load_decision(tx: &mut Tx<'_>, action: &Action, author: Option<&str>) -> Result<DecisionItem, Error> {
    let is_removed = action.kind == Kind::Remove && action.lifted_at.is_none();
    let post = action.post_id.filter(|_| !is_removed).zip(author);
    let appeal = moderation::find_appeal(tx, action.id)?;
    Ok(DecisionItem {
        id: action.id.to_string(),
        text: moderation::describe_kind(action.kind).to_owned(),
        post_text: moderation::find_post_text(tx, action)?,
        post_path: post.map(|(id, author)| format!("/{author}/status/{id}")),
        reason: action.reason.clone(),
        at: action.created_at(),
        ends_at: action.ends_at,
        is_lifted: action.lifted_at.is_some(),
        may_appeal: appeal.is_none() && moderation::may_be_appealed(action, tx.now()),
        appeal: appeal.as_ref().map(describe_appeal),
        typed: String::new(),
    })
}

fn describe_appeal(appeal: &Appeal) -> String {
    let outcome = match appeal.decided_at {
        None => "You appealed. A moderator will read it.",
        Some(_) if appeal.accepted => "Your appeal was accepted.",
        Some(_) => "Your appeal was rejected.",
    };
    if appeal.answer.is_empty() { outcome.to_owned() } else { format!("{outcome} {}", appeal.answer) }
}

pub(crate) async fn submit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = MemberVisit::accept_form(&call).await?;
    let (actor, text) = (visit.audit_actor(), sent.text("text"));
    let action = sent.text("action");
    let action: i64 = action.parse().map_err(|_| Refusal::invalid_value("action", action))?;
    let typed = text.clone();
    match call.write(move |tx: &mut Tx<'_>| moderation::appeal(tx, &actor, action, &text)).await.split_refusal()? {
        Ok(()) => Ok(redirect_to(PATH)),
        Err(refusal) => {
            let problem = error_message(&refusal).to_owned();
            render(&call, &visit, Some(RefusedAppeal { action, text: typed, problem })).await
        }
    }
}

pub(crate) async fn show_link(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let token = query.get("token").unwrap_or_default().to_owned();
    render_link(&call, &visit, token, None).await
}

/// `refused` is what was typed, and what is wrong with it.
async fn render_link(
    call: &RequestContext,
    visit: &BrowserVisit,
    token: String,
    refused: Option<(String, String)>,
) -> Result<HttpReply, PageExit> {
    let secret = token.clone();
    let load = move |tx: &mut Tx<'_>| {
        let action = moderation::find_appeal_link(tx, &secret)?;
        Ok((action.id, load_decision(tx, &action, None)?))
    };
    let (action, decision) = call.read(load).await?;
    let form = DecisionsForm { action: LINK_PATH, token, decisions: vec![decision] };
    Ok(form.render(call, visit, refused.map(|(text, problem)| RefusedAppeal { action, text, problem }))?)
}

pub(crate) async fn submit_link(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = BrowserVisit::accept_form(&call).await?;
    let (token, text, address) = (sent.text("token"), sent.text("text"), visit.client_info.address.clone());
    let (secret, typed) = (token.clone(), text.clone());
    let appeal = move |tx: &mut Tx<'_>| moderation::appeal_by_link(tx, &address, &secret, &text);
    match call.write(appeal).await.split_refusal()? {
        Ok(()) => {}
        Err(refusal @ Refusal::InvalidParameters(_)) => {
            let problem = error_message(&refusal).to_owned();
            return render_link(&call, &visit, token, Some((typed, problem))).await;
        }
        Err(refusal) => return Err(refusal.into()),
    }
    let html = "<p>A moderator will read it. The answer comes by email if your address is confirmed, and is shown \
                when you sign in.</p>";
    let page = TextPage { frame: visit.page_frame(&call), title: "You appealed".to_owned(), html: html.to_owned() };
    Ok(visit.render_page(&call, &page)?)
}
