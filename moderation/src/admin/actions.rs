//! What moderators did, and undoing it.

use base::{Error, Refusal, SplitRefusal, UserId};
use identity::moderation::{self, Action, Kind};
use network::audit::AuditActor;
use network::user_roles::UserRole;
use pages::{AdminActionItem, AdminActionsPage, DoneAction, Notice};
use portal::{BrowserVisit, PageExit, PageQuery, accept_form, build_pager, cut_page, redirect_to};
use store::Tx;
use web::HttpReply;
use web::error_formats::error_message;
use web::request_context::RequestContext;

use super::ACTIONS_PATH;
use crate::access::require_staff;

const PAGE_SIZE: i64 = 50;

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    require_staff(&call, &visit, UserRole::Moderator)?;
    render(&call, &visit, None).await
}

async fn render(call: &RequestContext, visit: &BrowserVisit, failure: Option<String>) -> Result<HttpReply, PageExit> {
    let query = PageQuery::from_call(call).unwrap_or_default();
    let below: Option<i64> = query.get("below").and_then(|text| text.parse().ok());
    let is_admin = visit.has_role(UserRole::Admin);
    let load = move |tx: &mut Tx<'_>| {
        let mut actions = moderation::list(tx, below.unwrap_or(i64::MAX), PAGE_SIZE + 1)?;
        let next = cut_page(&mut actions, PAGE_SIZE, |action| action.id);
        let items = actions.into_iter().map(|action| load_item(tx, action, is_admin));
        Ok::<_, Error>((items.collect::<Result<Vec<_>, Error>>()?, next))
    };
    let (actions, next) = call.read(load).await?;
    let mut frame = visit.page_frame(call);
    if query.get("lifted").is_some() {
        frame.notices.push(Notice::success("The action is no longer in force."));
    }
    let status = if failure.is_some() { 400 } else { 200 };
    frame.failure = failure;
    let pager = build_pager(ACTIONS_PATH, "below", below.is_none(), next);
    let page = AdminActionsPage { frame, action: ACTIONS_PATH.to_owned(), actions, pager };
    Ok(visit.render_page(call, &page)?.status(status))
}

fn load_item(tx: &mut Tx<'_>, action: Action, is_admin: bool) -> Result<AdminActionItem, Error> {
    let username = find_username(tx, action.user_id)?;
    let is_lifted = action.lifted_at.is_some();
    Ok(AdminActionItem {
        id: action.id.to_string(),
        text: describe_done(&action, &username),
        username,
        post_text: moderation::find_post_text(tx, &action)?,
        at: action.created_at(),
        ends_at: action.ends_at,
        moderator: action.moderator_id.map(|id| find_username(tx, id)).transpose()?,
        is_lifted,
        // A warning has no effect that could be undone.
        may_lift: !is_lifted && action.kind != Kind::Warn && (is_admin || action.kind != Kind::Ban),
        reason: action.reason,
    })
}

pub(crate) async fn lift(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let actor: AuditActor = require_staff(&call, &visit, UserRole::Moderator)?;
    let sent = accept_form(&call, &visit).await?;
    let action = sent.text("action");
    let action: i64 = action.parse().map_err(|_| Refusal::invalid_value("action", action))?;
    let site = call.state.page_context.site.clone();
    let lift = move |tx: &mut Tx<'_>| moderation::lift(tx, &site, &actor, action).map(drop);
    match call.write(lift).await.split_refusal()? {
        Ok(()) => Ok(redirect_to(&format!("{ACTIONS_PATH}?lifted=1"))),
        Err(refusal) => render(&call, &visit, Some(error_message(&refusal).to_owned())).await,
    }
}

/// The id if the account was erased.
pub(super) fn find_username(tx: &mut Tx<'_>, id: UserId) -> Result<String, Error> {
    let user = store::users::find_by_id(tx, id)?;
    Ok(user.map_or_else(|| id.to_string(), |user| user.username))
}

pub(super) fn load_done(tx: &mut Tx<'_>, id: i64) -> Result<DoneAction, Error> {
    let action = moderation::find_action(tx, id)?;
    let username = find_username(tx, action.user_id)?;
    Ok(DoneAction { text: describe_done(&action, &username), path: action_path(&action) })
}

/// A line of the history of an account.
pub(super) fn describe_in_history(action: &Action) -> String {
    let state = if action.lifted_at.is_some() { "lifted" } else { "in force" };
    let what = kind_in_words(action.kind);
    let what = if action.post_id.is_some() { format!("post {what}") } else { what.to_owned() };
    format!("{what} ({state}){}", reason_suffix(action))
}

/// What an appeal is against, after the username.
pub(super) fn describe_appealed(action: &Action) -> String {
    let what = kind_in_words(action.kind);
    let what = if action.post_id.is_some() { format!("had a post {what}") } else { format!("was {what}") };
    format!("{what}{}", reason_suffix(action))
}

fn reason_suffix(action: &Action) -> String {
    if action.reason.is_empty() { String::new() } else { format!(": {}", action.reason) }
}

/// The page of actions from this one on.
fn action_path(action: &Action) -> String {
    format!("{ACTIONS_PATH}?below={}", action.id.saturating_add(1))
}

/// A sentence to moderators.
fn describe_done(action: &Action, username: &str) -> String {
    let what = kind_in_words(action.kind);
    match action.post_id {
        Some(_) => format!("A post of @{username} was {what}."),
        None => format!("@{username} was {what}."),
    }
}

const fn kind_in_words(kind: Kind) -> &'static str {
    match kind {
        Kind::Remove => "removed",
        Kind::Warn => "warned",
        Kind::Label => "marked as sensitive",
        Kind::Limit => "limited",
        Kind::Silence => "silenced",
        Kind::Suspend => "suspended",
        Kind::Ban => "banned",
    }
}
