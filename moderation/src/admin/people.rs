//! Applications, invitations and roles.

use base::{Error, Refusal, Secret, SplitRefusal};
use identity::{email_links, invitations, registration};
use network::audit::AuditActor;
use network::emails::JOIN_PATH;
use network::lookup;
use network::user_roles::{self, UserRole, role_name};
use pages::{AdminPeoplePage, ApplicationItem, FormField, InvitationItem, Notice, RoleItem};
use portal::{BrowserVisit, PageExit, PageQuery, accept_form, redirect_to};
use store::Tx;
use web::HttpReply;
use web::error_formats::{error_message, refusal_status};
use web::request_context::RequestContext;

use super::actions::find_username;
use super::{APPLICATIONS_PATH, INVITATIONS_PATH, PEOPLE_PATH, ROLES_PATH};
use crate::access::require_staff;

const SHOWN_APPLICATIONS: i64 = 100;

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let actor = require_staff(&call, &visit, UserRole::Moderator)?;
    render(&call, &visit, &actor, FormField::default()).await
}

async fn render(
    call: &RequestContext,
    visit: &BrowserVisit,
    actor: &AuditActor,
    username: FormField,
) -> Result<HttpReply, PageExit> {
    let query = PageQuery::from_call(call).unwrap_or_default();
    let invited = query.get("invited").map(str::to_owned);
    let (reader, site) = (actor.clone(), call.state.page_context.site.clone());
    let load = move |tx: &mut Tx<'_>| {
        let requests = registration::list_applications(tx, &reader, SHOWN_APPLICATIONS)?;
        let applications = requests.into_iter().map(|one| ApplicationItem {
            id: one.id.to_string(),
            at: one.created_at(),
            username: one.username,
            name: one.name,
            email: one.email,
        });
        let applications = applications.collect();
        let invitation = match &invited {
            Some(secret) if email_links::is_invitation_valid(tx, secret)? => {
                Some(site.build_link(JOIN_PATH, &Secret::new(secret.as_str())))
            }
            _ => None,
        };
        Ok::<_, Error>((applications, invitation, load_invitations(tx, &reader)?, load_roles(tx)?))
    };
    let (applications, invitation, invitations, roles) = call.read(load).await?;
    let mut frame = visit.page_frame(call);
    if query.get("decided").is_some() {
        frame.notices.push(Notice::info("This application was decided before."));
    }
    let page = AdminPeoplePage {
        frame,
        application_action: APPLICATIONS_PATH.to_owned(),
        role_action: ROLES_PATH.to_owned(),
        invite_action: INVITATIONS_PATH.to_owned(),
        invitation,
        invitations,
        applications,
        roles,
        username,
    };
    Ok(visit.render_page(call, &page)?)
}

fn load_invitations(tx: &mut Tx<'_>, actor: &AuditActor) -> Result<Vec<InvitationItem>, Error> {
    let open = invitations::list_open(tx, actor)?.into_iter().map(|one| {
        Ok(InvitationItem {
            id: one.id,
            inviter: one.inviter.map(|user| find_username(tx, user)).transpose()?,
            email: one.email,
            at: one.created_at,
            expires_at: one.expires_at,
        })
    });
    open.collect()
}

fn load_roles(tx: &mut Tx<'_>) -> Result<Vec<RoleItem>, Error> {
    let mut roles = Vec::new();
    for (id, role) in user_roles::list(tx)? {
        let user = store::users::find_by_id(tx, id)?;
        let username = user.map_or_else(|| id.to_string(), |user| user.username);
        roles.push(RoleItem { username, role: role_name(role) });
    }
    Ok(roles)
}

pub(crate) async fn decide_application(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let actor = require_staff(&call, &visit, UserRole::Moderator)?;
    let sent = accept_form(&call, &visit).await?;
    let id = sent.text("application");
    let id: i64 = id.parse().map_err(|_| Refusal::invalid_value("application", id))?;
    let site = call.state.page_context.site.clone();
    let decided = match sent.text("decision").as_str() {
        "accept" => {
            let accept = move |tx: &mut Tx<'_>| registration::accept_application(tx, &site, &actor, id).map(drop);
            call.write(accept).await
        }
        "reject" => call.write(move |tx: &mut Tx<'_>| registration::refuse_application(tx, &site, &actor, id)).await,
        other => return Err(Refusal::invalid_value("decision", other).into()),
    };
    match decided.split_refusal()? {
        Ok(()) => Ok(redirect_to(PEOPLE_PATH)),
        Err(refusal) if refusal_status(&refusal) == 404 => Ok(redirect_to(&format!("{PEOPLE_PATH}?decided=1"))),
        Err(refusal) => Err(refusal.into()),
    }
}

pub(crate) async fn set_role(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let actor = require_staff(&call, &visit, UserRole::Admin)?;
    let sent = accept_form(&call, &visit).await?;
    let (username, role) = (sent.text("username").trim().to_owned(), sent.text("role"));
    let role = if role == "none" { None } else { Some(user_roles::parse_role(&role)?) };
    let (by, name) = (actor.clone(), username.clone());
    let change = move |tx: &mut Tx<'_>| {
        let user = lookup::user(tx, &name)?.id;
        match role {
            Some(role) => user_roles::grant(tx, &by, user, role),
            None => user_roles::revoke(tx, &by, user).map(drop),
        }
    };
    match call.write(change).await.split_refusal()? {
        Ok(()) => Ok(redirect_to(PEOPLE_PATH)),
        Err(refusal) => {
            let field = FormField::invalid(username, error_message(&refusal));
            Ok(render(&call, &visit, &actor, field).await?.status(400))
        }
    }
}

/// `POST /admin/invitations`, with `invitation` to revoke one.
pub(crate) async fn invite(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let actor = require_staff(&call, &visit, UserRole::Moderator)?;
    let sent = accept_form(&call, &visit).await?;
    if let Some(id) = sent.optional_text("invitation") {
        call.write(move |tx: &mut Tx<'_>| invitations::revoke(tx, &actor, &id)).await?;
        return Ok(redirect_to(PEOPLE_PATH));
    }
    let site = call.state.page_context.site.clone();
    let create = move |tx: &mut Tx<'_>| email_links::create_invitation(tx, &site, &actor, "");
    let link = call.write(create).await?;
    let secret = link.split_once("?token=").map_or("", |(_, secret)| secret);
    Ok(redirect_to(&format!("{PEOPLE_PATH}?invited={secret}")))
}
