//! The texts of the site's owners.

use base::Error;
use network::site_settings;
use pages::{TextPage, render_markdown};
use portal::{BrowserVisit, PageExit};
use store::Tx;
use web::HttpReply;
use web::request_context::RequestContext;

/// `GET /about`, with the contact.
pub(crate) async fn about(call: RequestContext) -> Result<HttpReply, PageExit> {
    render(&call, "About", &["about", "contact"]).await
}

pub(crate) async fn rules(call: RequestContext) -> Result<HttpReply, PageExit> {
    render(&call, "Rules", &["rules"]).await
}

pub(crate) async fn terms(call: RequestContext) -> Result<HttpReply, PageExit> {
    render(&call, "Terms", &["terms"]).await
}

pub(crate) async fn privacy(call: RequestContext) -> Result<HttpReply, PageExit> {
    render(&call, "Privacy", &["privacy"]).await
}

async fn render(
    call: &RequestContext,
    title: &'static str,
    settings: &'static [&'static str],
) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(call).await?;
    let load = move |tx: &mut Tx<'_>| {
        let texts = settings.iter().map(|name| site_settings::get(tx, name));
        Ok::<_, Error>(texts.collect::<Result<Vec<String>, _>>()?)
    };
    let mut html: String = call.read(load).await?.iter().map(|text| render_markdown(text)).collect();
    if html.is_empty() {
        html.push_str("<p>The owners of this site have not written this yet.</p>");
    }
    let page = TextPage { frame: visit.page_frame(call), title: title.to_owned(), html };
    Ok(visit.render_page(call, &page)?)
}
