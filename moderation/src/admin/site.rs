//! The settings of the site.

use base::refusal::InvalidParameter;
use base::{Error, Fault, Refusal, SplitRefusal};
use network::site_settings::{self, NAMES, PAGES};
use network::user_roles::UserRole;
use pages::{AdminSitePage, FormField, Notice, SettingItem, SettingSection};
use portal::{
    BrowserVisit, PageExit, PageQuery, SHOWN_FIELD, accept_form, differs_from_shown, encode_shown_values, redirect_to,
};
use store::Tx;
use web::HttpReply;
use web::request_context::RequestContext;

use super::SITE_PATH;
use crate::access::require_staff;

/// More than a form may have, so that texts that are too long are refused with all that was typed.
pub(crate) const MAX_TYPED_BYTES: usize = 1024 * 1024;

/// Values in the order of [`NAMES`].
struct SiteForm {
    values: Vec<String>,
    /// What the form was shown with.
    shown: String,
    wrong: Vec<InvalidParameter>,
}

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    require_staff(&call, &visit, UserRole::Admin)?;
    let load = |tx: &mut Tx<'_>| {
        let values = NAMES.iter().map(|name| Ok(with_line_feeds(&site_settings::get(tx, name)?)));
        Ok::<_, Error>(values.collect::<Result<Vec<String>, Fault>>()?)
    };
    let values = call.read(load).await?;
    let shown = encode_shown_values(NAMES.into_iter().zip(values.iter().map(String::as_str)));
    render(&call, &visit, SiteForm { values, shown, wrong: Vec::new() })
}

fn render(call: &RequestContext, visit: &BrowserVisit, form: SiteForm) -> Result<HttpReply, PageExit> {
    let status = if form.wrong.is_empty() { 200 } else { 400 };
    let (mut network, mut texts) = (Vec::new(), Vec::new());
    for (name, value) in NAMES.into_iter().zip(form.values) {
        let error = form.wrong.iter().find(|wrong| wrong.parameter == name).map(|wrong| wrong.message.clone());
        let (label, help) = describe_setting(name);
        let is_page = PAGES.contains(&name);
        let item = SettingItem { name, label, value: FormField { value, error }, is_page, help };
        if is_page { texts.push(item) } else { network.push(item) }
    }
    let mut frame = visit.page_frame(call);
    if PageQuery::from_call(call).unwrap_or_default().get("done").is_some() {
        frame.notices.push(Notice::success("Your changes were saved."));
    }
    let sections = vec![
        SettingSection { title: "General", settings: network },
        SettingSection { title: "Texts", settings: texts },
    ];
    let page = AdminSitePage { frame, action: SITE_PATH.to_owned(), shown: form.shown, sections };
    Ok(visit.render_page(call, &page)?.status(status))
}

/// Label and help.
fn describe_setting(name: &str) -> (&'static str, &'static str) {
    match name {
        site_settings::NAME => ("Name", "On pages and in emails; empty for the configured one"),
        site_settings::REGISTRATIONS => {
            ("Registrations", "open, approval, invite or closed; empty for what the configuration says")
        }
        site_settings::INDEXING => {
            ("Search engines", "allowed or refused (the default): whether public profiles and posts may be indexed")
        }
        "about" => ("About", "At /about, in Markdown"),
        "rules" => ("Rules", "At /rules, in Markdown"),
        "terms" => ("Terms", "At /terms, in Markdown"),
        "privacy" => ("Privacy policy", "At /privacy, in Markdown"),
        _ => ("Contact", "At the end of /about, in Markdown"),
    }
}

/// Browsers send line breaks of a text area as CRLF.
fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// `POST /admin/site`. What was not changed in the form stays as it is, even if somebody else has changed it meanwhile.
pub(crate) async fn submit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let actor = require_staff(&call, &visit, UserRole::Admin)?;
    let sent = accept_form(&call, &visit).await?;
    let shown = sent.text(SHOWN_FIELD);
    let values: Vec<String> = NAMES.iter().map(|name| with_line_feeds(&sent.text(name))).collect();
    let typed = NAMES.into_iter().zip(&values);
    let changed = typed.filter(|(name, value)| differs_from_shown(&shown, name, value) != Some(false));
    let changed: Vec<(&str, String)> = changed.map(|(name, value)| (name, value.clone())).collect();
    let site = call.state.page_context.site.clone();
    let store = move |tx: &mut Tx<'_>| {
        let changed: Vec<(&str, &str)> = changed.iter().map(|(name, value)| (*name, value.as_str())).collect();
        site_settings::set_all(tx, &actor, &changed)
    };
    match call.write(store).await.split_refusal()? {
        Ok(()) => {
            call.read(move |tx: &mut Tx<'_>| Ok::<_, Error>(site.load_settings(tx)?)).await?;
            Ok(redirect_to(&format!("{SITE_PATH}?done=site")))
        }
        Err(Refusal::InvalidParameters(wrong)) => render(&call, &visit, SiteForm { values, shown, wrong }),
        Err(refusal) => Err(refusal.into()),
    }
}
