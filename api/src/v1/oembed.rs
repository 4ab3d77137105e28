//! Posts for embedding in other sites (oEmbed 1.0).

use base::refusal::ResourceRef;
use base::{Error, PostId, Refusal, SiteLinks};
use network::visibility::Viewer;
use serde_json::{Value, json};
use store::Tx;
use view::{StatusForm, legacy_text_segments};
use web::endpoint::HandlerFuture;
use web::request_context::RequestContext;

/// In pixels, where `maxwidth` is absent; see the declared bounds of the parameter.
const DEFAULT_WIDTH: i64 = 550;
/// In seconds: a year.
const CACHE_AGE: &str = "31536000";

/// `GET /1.1/statuses/oembed.json` and `GET /oembed`: a post that everyone may see, as HTML without a script.
pub(crate) fn show_post(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let id = requested_post(&call)?;
        let links = call.site();
        let unknown = Refusal::NotFound(ResourceRef::new("tweet", "id", id));
        let status = call.read(move |tx| load_public_status(tx, id, links)).await?.ok_or(unknown)?;
        let site = links.url;
        let text = |path: &str| status.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (name, username) = (text("/user/name"), text("/user/screen_name"));
        let author_url = format!("{site}/{username}");
        let url = format!("{author_url}/status/{id}");
        call.respond_json(&json!({
            "url": url,
            "author_name": name,
            "author_url": author_url,
            "html": embed_html(&status, &url),
            "width": Some(call.query_int("maxwidth")).filter(|width| *width > 0).unwrap_or(DEFAULT_WIDTH),
            "height": null,
            "type": "rich",
            "cache_age": CACHE_AGE,
            "provider_name": call.state.page_context.site.name().as_ref(),
            "provider_url": site,
            "version": "1.0",
        }))
    })
}

/// From `id`, or from the address of the post's page.
fn requested_post(call: &RequestContext) -> Result<PostId, Error> {
    if let Some(id) = call.query_id("id") {
        return Ok(id);
    }
    let url = call.query_text("url").filter(|url| !url.is_empty());
    let url = url.ok_or_else(|| Refusal::missing_parameter("url"))?;
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let mut segments = path.split('/').skip_while(|segment| !["status", "statuses"].contains(segment)).skip(1);
    let id = segments.next().and_then(PostId::parse);
    Ok(id.ok_or_else(|| Refusal::invalid_parameter("url", url, "is not the address of a post"))?)
}

fn load_public_status(tx: &mut Tx<'_>, id: PostId, site: SiteLinks) -> Result<Option<Value>, Error> {
    let post = store::posts::find_by_id(tx, id)?;
    let form = StatusForm { extended: true, trim_user: false };
    let shown = view::legacy_statuses_json(tx, Viewer::anonymous(), post.into_iter().collect(), form, site)?;
    Ok(shown.into_iter().next().map(|(_, status)| status))
}

fn escape_html(text: &str) -> String {
    base::text::escape_html(text).replace('"', "&quot;")
}

fn embed_html(status: &Value, url: &str) -> String {
    let text = |path: &str| escape_html(status.pointer(path).and_then(Value::as_str).unwrap_or_default());
    let segments = legacy_text_segments(status).into_iter().map(|segment| {
        let shown = escape_html(&segment.text).replace('\n', "<br>");
        match segment.url {
            Some(url) => format!("<a href=\"{}\">{shown}</a>", escape_html(&url)),
            None => shown,
        }
    });
    let body: String = segments.collect();
    format!(
        "<blockquote class=\"post-embed\"><p lang=\"{}\" dir=\"auto\">{body}</p>&mdash; {} (@{}) \
         <a href=\"{}\">{}</a></blockquote>\n",
        text("/lang"),
        text("/user/name"),
        text("/user/screen_name"),
        escape_html(url),
        date_of(&text("/created_at")),
    )
}

/// `Nov 23, 2026` from `Mon Nov 23 16:02:48 +0000 2026`.
fn date_of(created_at: &str) -> String {
    let words: Vec<&str> = created_at.split(' ').collect();
    match words.as_slice() {
        [_, month, day, _, _, year] => format!("{month} {day}, {year}"),
        _ => created_at.to_owned(),
    }
}
