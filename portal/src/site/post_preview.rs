//! Preview pages of promoted posts, at signed addresses.

use crate::site::{PageExit, find_site_path};
use ads::post_preview::{PreviewContent, SignedPreview};
use base::{AppId, Error, Refusal, SiteLinks};
use http::HeaderValue;
use http::header::{CONTENT_SECURITY_POLICY, X_FRAME_OPTIONS};
use network::visibility::Viewer;
use pages::members::PostTextPart;
use pages::{HtmlPage, PageFrame, PostPreviewPage};
use store::{Tx, apps};
use view::{ShownPost, ShownPosts};
use web::request_context::{HttpReply, RequestContext};
use web::security_headers::frame_ancestors_policy;

use super::forms::PageQuery;

/// `GET /preview/{id}`: needs no credential, since the address is signed and expires.
pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let id = call.path_text("id")?.parse::<i64>().ok();
    let query = PageQuery::from_call(&call).ok();
    let token = query.as_ref().and_then(|query| query.get("t"));
    let key = call.state.page_context.config.page_key;
    let preview = id
        .zip(token)
        .and_then(|(id, token)| SignedPreview::verify_token(&key, id, token, call.now()))
        .ok_or(Refusal::RouteNotFound)?;
    let (app, site) = (preview.app_id, call.site());
    let frame = call.state.page_context.page_frame(call.now());
    let read = move |tx: &mut Tx<'_>| load_preview(tx, &preview, site, frame.clone());
    let page = call.read(read).await?.ok_or(Refusal::RouteNotFound)?;
    let ancestors = call.read(move |tx| app_origins(tx, app)).await?;
    let policy = HeaderValue::from_str(&frame_ancestors_policy(&ancestors));
    let reply = HttpReply::html(200, page.render_html()?);
    let reply = match policy {
        Ok(policy) => reply.header(CONTENT_SECURITY_POLICY, policy),
        Err(_) => reply,
    };
    // Ignored by browsers that support the policy.
    Ok(reply.header(X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN")))
}

fn load_preview(
    tx: &mut Tx<'_>,
    preview: &SignedPreview,
    site: SiteLinks,
    frame: PageFrame,
) -> Result<Option<PostPreviewPage>, Error> {
    let Some(content) = preview.load(tx, site)? else {
        return Ok(None);
    };
    let shown = ShownPosts::load(tx, Viewer::user(content.viewer), vec![content.post.clone()], content.site)?;
    // A repost shows what it reposts.
    Ok(shown.iter().next().map(|shown| build_preview_page(frame, &content, shown)))
}

fn app_origins(tx: &mut Tx<'_>, app: Option<AppId>) -> Result<Vec<String>, Error> {
    let Some(app) = app else {
        return Ok(Vec::new());
    };
    let app = apps::find_by_id(tx, app)?;
    let urls = app.map(|app| format!("{}\n{}", app.website_url, app.callback_urls));
    Ok(urls.unwrap_or_default().lines().map(str::to_owned).collect())
}

fn build_preview_page(frame: PageFrame, content: &PreviewContent, shown: ShownPost<'_>) -> PostPreviewPage {
    let mut notes = Vec::new();
    if content.post.nullcast {
        notes.push("Promoted only".to_owned());
    }
    match content.post.reply_settings.as_str() {
        "following" => notes.push("Accounts that the author follows can reply".to_owned()),
        "mentionedUsers" => notes.push("Accounts that it mentions can reply".to_owned()),
        _ => {}
    }
    let text = shown.text_segments().into_iter();
    let pictures = shown.media().filter_map(|media| Some(find_site_path(&media.picture, content.site)?.to_owned()));
    PostPreviewPage {
        frame,
        name: shown.author.name.clone(),
        username: shown.author.username.clone(),
        text: text.map(|segment| PostTextPart { text: segment.text, url: segment.url }).collect(),
        pictures: pictures.collect(),
        choices: content.poll_choices.clone(),
        notes,
        link: content.call_to_action.clone(),
    }
}
