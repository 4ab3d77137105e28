//! The settings of the site.

use base::{Error, Refusal, SplitRefusal};
use network::site_settings::{self, NAMES, PAGES};
use network::user_roles::UserRole;
use pages::{AdminSitePage, FormField, SettingItem};
use portal::{BrowserVisit, PageExit, accept_form, redirect_to, run_page};
use store::Tx;
use web::HttpReply;
use web::endpoint::HandlerFuture;
use web::error_formats::error_message;
use web::request_context::RequestContext;

use super::SITE_PATH;
use crate::access::require_staff;

/// `GET /admin/site`.
pub(crate) fn show(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = BrowserVisit::from_call(&call).await?;
        require_staff(&call, &visit, UserRole::Admin)?;
        render(&call, &visit, None).await
    })
}

/// `refused` is a setting, the value that was sent, and what is wrong with it.
async fn render(
    call: &RequestContext,
    visit: &BrowserVisit,
    refused: Option<(&str, String, String)>,
) -> Result<HttpReply, PageExit> {
    let load = |tx: &mut Tx<'_>| {
        let values = NAMES.iter().map(|name| site_settings::get(tx, name));
        Ok::<_, Error>(values.collect::<Result<Vec<String>, _>>()?)
    };
    let values = call.read(load).await?;
    let settings = NAMES.iter().zip(values).map(|(name, value)| {
        let value = match &refused {
            Some((setting, sent, problem)) if setting == name => FormField::invalid(sent, problem),
            _ => FormField::new(value),
        };
        SettingItem { name, value, is_page: PAGES.contains(name), help: setting_help(name).to_owned() }
    });
    let page =
        AdminSitePage { frame: visit.page_frame(call), action: SITE_PATH.to_owned(), settings: settings.collect() };
    Ok(visit.render_page(call, &page)?)
}

fn setting_help(name: &str) -> &'static str {
    match name {
        site_settings::NAME => "On pages and in emails; empty for the configured one",
        site_settings::REGISTRATIONS => "open, approval, invite or closed; empty for what the configuration says",
        site_settings::INDEXING => "allowed or refused (the default): whether public profiles and posts may be indexed",
        _ => "A text in Markdown",
    }
}

/// `POST /admin/site`.
pub(crate) fn submit(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = BrowserVisit::from_call(&call).await?;
        let actor = require_staff(&call, &visit, UserRole::Admin)?;
        let sent = accept_form(&call, &visit).await?;
        let setting = sent.text("setting");
        let Some(name) = NAMES.iter().find(|name| **name == setting).copied() else {
            return Err(Refusal::invalid_value("setting", setting).into());
        };
        let value = sent.text(name);
        let stored = value.clone();
        match call.write(move |tx: &mut Tx<'_>| site_settings::set(tx, &actor, name, &stored)).await.split_refusal()? {
            Ok(()) => {
                let site = call.state.page_context.site.clone();
                call.read(move |tx: &mut Tx<'_>| Ok::<_, Error>(site.load_settings(tx)?)).await?;
                Ok(redirect_to(SITE_PATH))
            }
            Err(refusal) => {
                Ok(render(&call, &visit, Some((name, value, error_message(&refusal).to_owned()))).await?.status(400))
            }
        }
    })
}
