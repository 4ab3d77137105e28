//! `/{username}/feed.xml`: the posts of a public profile for feed readers (Atom, RFC 4287).

use base::{Error, Refusal};
use http::HeaderValue;
use http::header::CACHE_CONTROL;
use network::timelines::{self, timeline_visibility};
use network::visibility::Visibility;
use pages::members::{AtomFeed, FeedEntry, FeedEntryBody, PostCard};
use portal::{PageExit, redirect_to};
use store::Tx;
use store::posts::PageRange;
use store::users::User;
use web::HttpReply;
use web::request_context::RequestContext;

use crate::page_ranges::PAGE_SIZE;
use crate::post_cards::{CardViewer, load_post_cards};
use crate::profile::find_profile;

const ATOM: HeaderValue = HeaderValue::from_static("application/atom+xml; charset=utf-8");
/// Feed readers may ask again after five minutes.
const FEED_CACHE: HeaderValue = HeaderValue::from_static("public, max-age=300");
/// Characters of a post.
const TITLE_LENGTH: usize = 80;

pub(crate) fn feed_path(username: &str) -> String {
    format!("/{username}/feed.xml")
}

/// Posts without replies and reposts, as everyone sees them.
pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let username = call.path_text("username")?.to_owned();
    let viewer = CardViewer::visitor(&call);
    let asked = username.clone();
    let (user, posts) = call.read(move |tx| load_public_posts(tx, viewer, &asked)).await?;
    if user.username != username {
        return Ok(redirect_to(&feed_path(&user.username)));
    }
    let feed = build_feed(call.site().url, &user, posts);
    Ok(HttpReply::bytes(200, ATOM, feed.render_xml()?).header(CACHE_CONTROL, FEED_CACHE))
}

fn load_public_posts(tx: &mut Tx<'_>, viewer: CardViewer, username: &str) -> Result<(User, Vec<PostCard>), Error> {
    let user = find_profile(tx, username)?;
    if timeline_visibility(tx, viewer.viewer, &user)? != Visibility::Visible {
        return Err(Refusal::RouteNotFound.into());
    }
    let range = PageRange { without_replies: true, without_reposts: true, ..PageRange::newest(PAGE_SIZE) };
    let page = timelines::load_author_page(tx, viewer.viewer, &user, &range)?;
    let posts = load_post_cards(tx, viewer, page.posts)?;
    Ok((user, posts))
}

fn build_feed(site: &str, user: &User, posts: Vec<PostCard>) -> AtomFeed {
    AtomFeed {
        title: format!("{} (@{})", user.name, user.username),
        author: user.name.clone(),
        url: format!("{site}/{}", user.username),
        feed_url: format!("{site}{}", feed_path(&user.username)),
        updated_at: posts.first().map_or(user.created_at, |post| post.created_at),
        entries: posts.into_iter().map(|post| build_entry(site, post)).collect(),
    }
}

fn build_entry(site: &str, post: PostCard) -> FeedEntry {
    let absolute = |url: String| if url.starts_with('/') { format!("{site}{url}") } else { url };
    let title = match post.excerpt(TITLE_LENGTH) {
        text if text.is_empty() => format!("Post by @{}", post.username),
        text => text,
    };
    let url = absolute(post.path());
    let text = post.text.into_iter().map(|part| (part.text, absolute(part.url.unwrap_or_default())));
    let media = if post.is_sensitive { Vec::new() } else { post.media };
    let pictures = media.into_iter().map(|media| (absolute(media.picture), media.description));
    let body = FeedEntryBody { text: text.collect(), pictures: pictures.collect() };
    FeedEntry { url, title, at: post.created_at, body }
}
