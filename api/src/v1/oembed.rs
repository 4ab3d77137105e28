//! Posts for embedding in other sites (oEmbed 1.0).

use base::refusal::ResourceRef;
use base::{Error, PostId, Refusal, SiteLinks, Time};
use network::visibility::Viewer;
use serde_json::json;
use store::Tx;
use view::{ShownPost, ShownPosts, TextSegment};
use web::request_context::{HttpReply, RequestContext};

/// In pixels. A `maxwidth` beyond them is answered with the nearer one; embedding sites send the width of their column.
const MIN_WIDTH: i64 = 220;
pub(crate) const MAX_WIDTH: i64 = 550;
/// In seconds: a year.
const CACHE_AGE: &str = "31536000";

struct EmbeddedPost {
    /// Of a repost, the original's.
    id: PostId,
    name: String,
    username: String,
    language: String,
    text: Vec<TextSegment>,
    created_at: Time,
}

/// `GET /1.1/statuses/oembed.json` and `GET /oembed`: a post that everyone may see, as HTML without a script.
pub(crate) async fn show_post(call: RequestContext) -> Result<HttpReply, Error> {
    let id = requested_post(&call)?;
    let links = call.site();
    let unknown = Refusal::NotFound(ResourceRef::new("tweet", "id", id));
    let post = call.read(move |tx| load_public_post(tx, id, links)).await?.ok_or(unknown)?;
    let site = links.url;
    let author_url = format!("{site}/{}", post.username);
    let url = format!("{author_url}/status/{}", post.id);
    call.respond_json(&json!({
        "url": url,
        "author_name": post.name,
        "author_url": author_url,
        "html": post.to_html(&url),
        "width": call.query_int("maxwidth").clamp(MIN_WIDTH, MAX_WIDTH),
        "height": null,
        "type": "rich",
        "cache_age": CACHE_AGE,
        "provider_name": call.state.page_context.site.name().as_ref(),
        "provider_url": site,
        "version": "1.0",
    }))
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

/// None if not everyone may see it.
fn load_public_post(tx: &mut Tx<'_>, id: PostId, site: SiteLinks) -> Result<Option<EmbeddedPost>, Error> {
    let post = store::posts::find_by_id(tx, id)?;
    let shown = ShownPosts::load(tx, Viewer::anonymous(), post.into_iter().collect(), site)?;
    Ok(shown.iter().next().map(EmbeddedPost::new))
}

fn escape_html(text: &str) -> String {
    base::text::escape_html(text).replace('"', "&quot;")
}

impl EmbeddedPost {
    fn new(shown: ShownPost<'_>) -> Self {
        Self {
            id: shown.post.id,
            name: shown.author.name.clone(),
            username: shown.author.username.clone(),
            language: shown.post.lang.clone(),
            text: shown.text_segments(),
            created_at: shown.post.created_at,
        }
    }

    fn to_html(&self, url: &str) -> String {
        let segments = self.text.iter().map(|segment| {
            let shown = escape_html(&segment.text).replace('\n', "<br>");
            match &segment.url {
                Some(url) => format!("<a href=\"{}\">{shown}</a>", escape_html(url)),
                None => shown,
            }
        });
        let body: String = segments.collect();
        format!(
            "<blockquote class=\"post-embed\"><p lang=\"{}\" dir=\"auto\">{body}</p>&mdash; {} (@{}) \
             <a href=\"{}\">{}</a></blockquote>\n",
            escape_html(&self.language),
            escape_html(&self.name),
            escape_html(&self.username),
            escape_html(url),
            date_of(&self.created_at.to_legacy_string()),
        )
    }
}

/// `Nov 23, 2026` from `Mon Nov 23 16:02:48 +0000 2026`.
fn date_of(created_at: &str) -> String {
    let words: Vec<&str> = created_at.split(' ').collect();
    match words.as_slice() {
        [_, month, day, _, _, year] => format!("{month} {day}, {year}"),
        _ => created_at.to_owned(),
    }
}
