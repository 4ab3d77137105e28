//! Preview pages of promoted posts, at signed addresses.

use ads::post_preview::{PreviewContent, SignedPreview};
use base::{AppId, Error, Refusal, SiteLinks};
use http::HeaderValue;
use http::header::{CONTENT_SECURITY_POLICY, X_FRAME_OPTIONS};
use network::visibility::Viewer;
use pages::members::PostTextPart;
use pages::{HtmlPage, PostPreviewPage};
use serde_json::Value;
use store::{Tx, apps};
use view::{StatusForm, legacy_text_segments};
use web::endpoint::HandlerFuture;
use web::request_context::{HttpReply, RequestContext};
use web::security_headers::frame_ancestors_policy;

use super::forms::PageQuery;
use super::run_page;

/// `GET /preview/{id}`: needs no credential, since the address is signed and expires.
pub(crate) fn show(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let id = call.path_text("id")?.parse::<i64>().ok();
        let query = PageQuery::from_call(&call).ok();
        let token = query.as_ref().and_then(|query| query.get("t"));
        let key = call.state.page_context.config.page_key;
        let preview = id
            .zip(token)
            .and_then(|(id, token)| SignedPreview::verify_token(&key, id, token, call.now()))
            .ok_or(Refusal::RouteNotFound)?;
        let (app, site) = (preview.app_id, call.site());
        let read = move |tx: &mut Tx<'_>| load_preview(tx, &preview, site);
        let (content, status) = call.read(read).await?.ok_or(Refusal::RouteNotFound)?;
        let ancestors = call.read(move |tx| app_origins(tx, app)).await?;
        let page = build_preview_page(&call, &content, &status);
        let policy = HeaderValue::from_str(&frame_ancestors_policy(&ancestors));
        let reply = HttpReply::html(200, page.render_html()?);
        let reply = match policy {
            Ok(policy) => reply.header(CONTENT_SECURITY_POLICY, policy),
            Err(_) => reply,
        };
        // Ignored by browsers that support the policy.
        Ok(reply.header(X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN")))
    })
}

fn load_preview(
    tx: &mut Tx<'_>,
    preview: &SignedPreview,
    site: SiteLinks,
) -> Result<Option<(PreviewContent, Value)>, Error> {
    let Some(content) = preview.load(tx, site)? else {
        return Ok(None);
    };
    let form = StatusForm { extended: true, trim_user: false };
    let (viewer, post) = (Viewer::user(content.viewer), content.post.clone());
    let shown = view::legacy_statuses_json(tx, viewer, vec![post], form, content.site)?;
    let status = shown.into_iter().next();
    Ok(status.map(|(_, status)| (content, status)))
}

fn app_origins(tx: &mut Tx<'_>, app: Option<AppId>) -> Result<Vec<String>, Error> {
    let Some(app) = app else {
        return Ok(Vec::new());
    };
    let app = apps::find_by_id(tx, app)?;
    let urls = app.map(|app| format!("{}\n{}", app.website_url, app.callback_urls));
    Ok(urls.unwrap_or_default().lines().map(str::to_owned).collect())
}

fn build_preview_page(call: &RequestContext, content: &PreviewContent, status: &Value) -> PostPreviewPage {
    // A repost shows what it reposts.
    let status = status.get("retweeted_status").unwrap_or(status);
    let text = |path: &str| {
        let text = status.pointer(path).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let media = status.pointer("/extended_entities/media");
    let media = media.or_else(|| status.pointer("/entities/media"));
    let media = media.and_then(Value::as_array).into_iter().flatten();
    let pictures = media.filter_map(|one| one.get("media_url_https")?.as_str());
    let mut notes = Vec::new();
    if content.post.nullcast {
        notes.push("Promoted only".to_owned());
    }
    match content.post.reply_settings.as_str() {
        "following" => notes.push("Accounts that the author follows can reply".to_owned()),
        "mentionedUsers" => notes.push("Accounts that it mentions can reply".to_owned()),
        _ => {}
    }
    PostPreviewPage {
        frame: call.state.page_context.page_frame(call.now()),
        name: text("/user/name"),
        username: text("/user/screen_name"),
        text: post_text_parts(status),
        pictures: pictures.map(str::to_owned).collect(),
        choices: content.poll_choices.clone(),
        notes,
        link: content.call_to_action.clone(),
    }
}

fn post_text_parts(status: &Value) -> Vec<PostTextPart> {
    let segments = legacy_text_segments(status).into_iter();
    segments.map(|segment| PostTextPart { text: segment.text, url: segment.url }).collect()
}
