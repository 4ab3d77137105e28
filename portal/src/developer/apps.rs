//! Listing, creating, editing and deleting apps.

use base::{AppId, Entitlement, Error, SplitRefusal};
use identity::apps::AccessLevel;
use identity::developer_apps;
use identity::oauth2_flow::PLAIN_PKCE_USAGE;
use pages::{
    AppAccessSummary, AppForm, AppListItem, AppListPage, AppSettingsPage, AppTab, DeleteAppPage, FormField, NewAppPage,
    Notice, Pager,
};
use store::apps::{App, AppStatus};
use web::page_context::SITE_LINKS;
use web::reply::HttpReply;
use web::request_context::RequestContext;

use super::{OwnedApp, app_form, app_ref, keys, outcome_or_page};
use crate::site::app_summary::permission_level;
use crate::site::forms::accept_form;
use crate::site::submitted_forms::{new_form_id, write_once};
use crate::site::{MemberVisit, PageExit, redirect_to};

const SENT_TWICE: &str = "The form was sent twice, and one app was created. If you have not seen its keys, create new \
                          ones on its page.";

pub(crate) async fn redirect_to_apps(_call: RequestContext) -> Result<HttpReply, Error> {
    Ok(redirect_to(SITE_LINKS.apps))
}

pub(crate) async fn list(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let owner = visit.person.user.id;
    let found = call.read(move |tx| {
        let mut rows = Vec::new();
        for app in developer_apps::list(tx, owner)? {
            let uses = store::usage::list_last_uses(tx, app.id, Some(owner))?;
            let uses = uses.into_iter().filter(|used| used.kind != PLAIN_PKCE_USAGE);
            let last = uses.map(|used| used.at).max();
            rows.push((app, last));
        }
        Ok(rows)
    });
    let mut apps = Vec::new();
    for (app, last_used) in found.await? {
        apps.push(AppListItem {
            app: app_ref(&app),
            kind: app_form::page_app_kind(app.kind),
            level: permission_level(app.permission),
            last_used,
            suspended: app.state == AppStatus::Suspended,
            description: app.description,
        });
    }
    let (mut frame, pager) = (visit.page_frame(&call), Pager::default());
    if call.head().uri.query() == Some("sent-twice") {
        frame.notices.push(Notice::info(SENT_TWICE));
    }
    Ok(visit.render_page(&call, &AppListPage { frame, apps, pager })?)
}

pub(crate) async fn show_new_app(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let form = AppForm { action: SITE_LINKS.apps.to_owned(), ..AppForm::default() };
    let (frame, form_id) = (visit.page_frame(&call), new_form_id(&call)?);
    Ok(visit.render_page(&call, &NewAppPage { frame, form_id, form })?)
}

/// `POST /developer/apps`. The keys stand on this one answer only.
pub(crate) async fn create(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = MemberVisit::accept_form(&call).await?;
    let (mut form, whole) = app_form::parse_submitted(&sent, SITE_LINKS.apps.to_owned());
    let mut failure = None;
    if whole {
        let (by, profile) = (visit.audit_actor(), app_form::build_profile(&form));
        let site_name = call.state.page_context.site.name().to_string();
        let work =
            move |tx: &mut store::Tx<'_>| developer_apps::create(tx, &by, &profile, AccessLevel::SelfServe, &site_name);
        let form_id = sent.text("form");
        match write_once(&call, visit.person.user.id, &form_id, work).await.split_refusal()? {
            Ok(None) => return Ok(redirect_to(&format!("{}?sent-twice", SITE_LINKS.apps))),
            Ok(Some((app, made))) => {
                let own = OwnedApp { visit, app };
                return keys::show_created_keys(&call, &own, made).await;
            }
            Err(refusal) => failure = app_form::apply_refusal(&mut form, &refusal),
        }
    }
    let mut frame = visit.page_frame(&call);
    frame.failure = failure;
    let page = NewAppPage { frame, form_id: new_form_id(&call)?, form };
    Ok(visit.render_page(&call, &page)?.status(400))
}

pub(crate) async fn show_settings(call: RequestContext) -> Result<HttpReply, PageExit> {
    let own = OwnedApp::from_call(&call).await?;
    let action = AppTab::Settings.path_for_app(&own.app_ref());
    let form = app_form::stored_form(&own.app, action);
    let saved = call.head().uri.query() == Some("saved");
    settings_page(&call, &own, form, saved, None)
}

pub(crate) async fn save_settings(call: RequestContext) -> Result<HttpReply, PageExit> {
    let own = OwnedApp::from_call(&call).await?;
    let sent = accept_form(&call, &own.visit).await?;
    let action = AppTab::Settings.path_for_app(&own.app_ref());
    let (mut form, whole) = app_form::parse_submitted(&sent, action.clone());
    let mut failure = None;
    if whole {
        let (by, id, profile) = (own.audit_actor(), own.app.id, app_form::build_profile(&form));
        let site_name = call.state.page_context.site.name().to_string();
        let work = move |tx: &mut store::Tx<'_>| developer_apps::update(tx, &by, id, &profile, &site_name);
        match call.write(work).await.split_refusal()? {
            Ok(_) => return Ok(redirect_to(&format!("{action}?saved"))),
            Err(refusal) => failure = app_form::apply_refusal(&mut form, &refusal),
        }
    }
    Ok(settings_page(&call, &own, form, false, failure)?.status(400))
}

fn settings_page(
    call: &RequestContext,
    own: &OwnedApp,
    form: AppForm,
    saved: bool,
    failure: Option<String>,
) -> Result<HttpReply, PageExit> {
    let mut frame = own.visit.page_frame(call);
    frame.failure = failure;
    if saved {
        frame.notices.push(Notice::success("Your changes were saved."));
    }
    let entitled = |part: Entitlement| {
        let allowed = part.is_listed_in(&own.app.entitlements);
        (part.description().to_owned(), allowed)
    };
    let page = AppSettingsPage {
        frame,
        app: own.app_ref(),
        access: AppAccessSummary {
            tier: own.app.access_level.name().to_owned(),
            entitlements: Entitlement::ALL.map(entitled).to_vec(),
        },
        form,
    };
    Ok(own.visit.render_page(call, &page)?)
}

pub(crate) async fn show_delete(call: RequestContext) -> Result<HttpReply, PageExit> {
    let own = OwnedApp::from_call(&call).await?;
    delete_page(&call, &own, FormField::default()).await
}

pub(crate) async fn delete(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    if let Some(id) = AppId::parse(call.path_text("id")?) {
        let owner = visit.person.user.id;
        // The form was sent twice.
        if call.read(move |tx| Ok(developer_apps::is_deleted(tx, owner, id)?)).await? {
            return Ok(redirect_to(SITE_LINKS.apps));
        }
    }
    let own = OwnedApp::from_call(&call).await?;
    let sent = accept_form(&call, &own.visit).await?;
    let typed = sent.text("name");
    if typed.trim() != own.app.name {
        let name = FormField::invalid(typed, "This is not the app’s name.");
        return Ok(delete_page(&call, &own, name).await?.status(400));
    }
    let (by, id) = (own.audit_actor(), own.app.id);
    let ended = call.write(move |tx| developer_apps::delete(tx, &by, id)).await;
    outcome_or_page(&call, &own.visit, ended)?;
    Ok(redirect_to(SITE_LINKS.apps))
}

async fn delete_page(call: &RequestContext, own: &OwnedApp, name: FormField) -> Result<HttpReply, PageExit> {
    let App { id, .. } = own.app;
    let app = own.app_ref();
    let page = DeleteAppPage {
        frame: own.visit.page_frame(call),
        action: AppTab::Delete.path_for_app(&app),
        connected: call.read(move |tx| Ok(store::grants::count(tx, id)?)).await?,
        app,
        name,
    };
    Ok(own.visit.render_page(call, &page)?)
}
