//! An account, and acting on it.

use base::{Error, Refusal, SplitRefusal, UserId};
use identity::moderation::{self, ModerationTarget};
use network::audit::AuditActor;
use network::user_roles::{self, UserRole, role_name};
use network::{lookup, reports};
use pages::{AdminAccountItem, AdminAccountPage, FormField};
use portal::submitted_forms::{new_form_id, write_once};
use portal::{BrowserVisit, PageExit, PageQuery, accept_form, redirect_to};
use store::Tx;
use store::users::{User, UserState};
use web::HttpReply;
use web::error_formats::error_message;
use web::request_context::RequestContext;

use super::ACCOUNTS_PATH;
use super::actions::{describe_in_history, load_done};
use super::acts::{ActForm, DEFAULT_DAYS};
use crate::access::require_staff;

/// Decisions and reports that the page shows.
const HISTORY_LENGTH: i64 = 20;

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let actor = require_staff(&call, &visit, UserRole::Moderator)?;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let done = query.get("done").and_then(|text| text.parse().ok());
    let name = query.get("username").unwrap_or_default().trim().to_owned();
    render(&call, &visit, &actor, name, done, None).await
}

/// `name` is a username or id, or empty; `refused` is what was typed, and what is wrong with it.
async fn render(
    call: &RequestContext,
    visit: &BrowserVisit,
    actor: &AuditActor,
    name: String,
    done: Option<i64>,
    refused: Option<(ActForm, String)>,
) -> Result<HttpReply, PageExit> {
    let (reader, asked) = (actor.clone(), name.clone());
    let load = move |tx: &mut Tx<'_>| {
        let found = if asked.is_empty() { None } else { load_account(tx, &reader, &asked).split_refusal()?.ok() };
        Ok::<_, Error>((found, done.map(|id| load_done(tx, id)).transpose()?))
    };
    let (mut account, done) = call.read(load).await?;
    if let Some(account) = &mut account {
        account.form_id = new_form_id(call)?;
    }
    let is_missing = account.is_none() && !name.is_empty();
    let username = match &account {
        Some(account) => FormField::new(&account.username),
        None if is_missing => FormField::invalid(name, "There is no account with this name."),
        None => FormField::default(),
    };
    let mut frame = visit.page_frame(call);
    let status = match (is_missing, &refused) {
        (true, _) => 404,
        (false, Some(_)) => 400,
        (false, None) => 200,
    };
    if let Some((form, problem)) = refused {
        frame.failure = Some(problem);
        if let Some(account) = &mut account {
            (account.reason, account.days) = (form.reason, form.days);
        }
    }
    let page = AdminAccountPage { frame, done, action: ACCOUNTS_PATH.to_owned(), username, account };
    Ok(visit.render_page(call, &page)?.status(status))
}

fn load_account(tx: &mut Tx<'_>, actor: &AuditActor, name: &str) -> Result<AdminAccountItem, Error> {
    let user = lookup::user_or_deleted(tx, name)?;
    let permitted = user_roles::require_authority(tx, actor, UserRole::Moderator, user.id).split_refusal()?;
    let actions = moderation::list_by_user(tx, user.id, HISTORY_LENGTH)?;
    let is_own = actor.user == Some(user.id);
    let reports = if is_own { 0 } else { reports::list_by_user(tx, user.id, HISTORY_LENGTH)?.len() };
    Ok(AdminAccountItem {
        id: user.id.to_string(),
        form_id: String::new(),
        states: list_states(&user),
        role: user_roles::find(tx, user.id)?.map(role_name),
        joined_at: user.created_at,
        history: actions.iter().map(describe_in_history).collect(),
        reports,
        refused_because: match permitted {
            _ if user.state == UserState::Deleted => Some("The account was deleted.".to_owned()),
            permitted => permitted.err().map(|refusal| error_message(&refusal).to_owned()),
        },
        name: user.name,
        username: user.username,
        reason: String::new(),
        days: DEFAULT_DAYS.to_owned(),
    })
}

fn list_states(user: &User) -> Vec<&'static str> {
    let states = [
        (user.state == UserState::Suspended, "suspended"),
        (user.state == UserState::Deleted, "deleted"),
        (user.silenced, "silenced"),
        (user.limited, "limited"),
        (user.protected, "protected"),
    ];
    states.into_iter().filter(|(is_true, _)| *is_true).map(|(_, name)| name).collect()
}

pub(crate) async fn act(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let actor = require_staff(&call, &visit, UserRole::Moderator)?;
    let sent = accept_form(&call, &visit).await?;
    let (user, form) = (sent.text("user"), ActForm::read(&sent)?);
    let id = UserId::parse(&user).ok_or_else(|| Refusal::invalid_value("user", &user))?;
    let kind = form.kind.ok_or_else(|| Refusal::invalid_value("act", "dismiss"))?;
    let (site, by, ordered) = (call.state.page_context.site.clone(), actor.clone(), form.clone());
    let take = move |tx: &mut Tx<'_>| {
        let new = ordered.build_action(kind, ModerationTarget::Account(id), tx.now())?;
        moderation::act(tx, &site, &by, &new).map(|action| action.id)
    };
    let by = actor.require_user()?;
    match write_once(&call, by, &sent.text("form"), take).await.split_refusal()? {
        Ok(None) => Ok(redirect_to(&format!("{ACCOUNTS_PATH}?username={user}"))),
        Ok(Some(action)) => Ok(redirect_to(&format!("{ACCOUNTS_PATH}?username={user}&done={action}"))),
        Err(refusal) => {
            let problem = error_message(&refusal).to_owned();
            render(&call, &visit, &actor, user, None, Some((form, problem))).await
        }
    }
}
