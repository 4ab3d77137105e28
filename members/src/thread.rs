//! `/{username}/status/{id}`: a post, the posts above it, its replies, quotes and versions.

use base::{Error, Fault, PostId, Refusal, UserId};
use network::replies;
use network::visibility::{AuthorVisibilities, Viewer, Visibility};
use pages::members::{EditHistoryPage, LinkPreview, PostCard, PostFeed, PostListPage, PostVersion, ThreadPage};
use pages::{FormField, PageFrame};
use portal::submitted_forms::new_form_id;
use portal::{BrowserVisit, PageExit, PageQuery, compose_box, found_or_exit, redirect_to};
use store::posts::{self, PageRange, Post, PostState};
use store::{Tx, users};
use view::ShownPosts;
use web::request_context::{HttpReply, RequestContext};

use crate::page_ranges::{PAGE_SIZE, build_pager, cursor_of, cut_page, range_before};
use crate::post_cards::{CardViewer, linked_text, load_post_cards, record_views, split_hidden};
use crate::profile::{is_indexable, load_ordered_cards};

const MAX_ANCESTORS: usize = 20;
const MAX_VERSIONS: usize = 6;
/// Characters of a post that other sites show beside a link.
const DESCRIPTION_LENGTH: usize = 200;

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let (id, viewer): (PostId, _) = (call.path_id("id")?, CardViewer::new(&call, &visit));
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let after = query.get("after").and_then(|after| after.parse().ok()).unwrap_or(0);
    let thread =
        call.read(move |tx| load_thread(tx, viewer, id, after)?.ok_or_else(|| Refusal::RouteNotFound.into())).await;
    let thread = found_or_exit(&call, &visit, thread)?;
    if call.path_text("username")? != thread.username {
        return Ok(redirect_to(&format!("/{}/status/{id}", thread.username)));
    }
    record_views(&call, viewer.viewer.user, thread.cards());
    let page = thread.into_page(&call, &visit, after)?;
    Ok(visit.render_page(&call, &page)?)
}

struct LoadedThread {
    /// The author's of the requested post, which may be a repost.
    username: String,
    ancestors: Vec<PostCard>,
    post: PostCard,
    replies: Vec<PostCard>,
    hidden: Vec<PostCard>,
    /// The last reply of the page, if there are more.
    last_reply: Option<i64>,
    id: PostId,
    /// Of an earlier version.
    newest_version: Option<PostId>,
    /// By search engines.
    is_indexable: bool,
    is_public: bool,
}

/// None if the viewer may not see the post.
fn load_thread(tx: &mut Tx<'_>, viewer: CardViewer, id: PostId, after: i64) -> Result<Option<LoadedThread>, Error> {
    let Some(post) = posts::find_by_id(tx, id)? else { return Ok(None) };
    let root = post.conversation_id;
    let Some(mut card) = load_post_cards(tx, viewer, vec![post.clone()])?.pop() else { return Ok(None) };
    if let Some(root) = post.edit_root_id {
        // As many as the page lists.
        let versions = posts::list_versions(tx, root)?;
        let versions = posts::find_by_ids(tx, &versions)?;
        card.replies = versions.iter().map(|version| version.reply_count).sum();
        card.quotes = versions.iter().map(|version| version.quote_count).sum();
    }
    let ancestors = replies::list_ancestors(tx, &post, MAX_ANCESTORS)?;
    let ancestors = load_post_cards(tx, viewer, ancestors)?;
    let original = post.repost_of_id.unwrap_or(id);
    let range = PageRange { above: after, ascending: true, ..PageRange::newest(PAGE_SIZE + 1) };
    let mut found = replies::list_replies(tx, viewer.viewer, original, &range)?;
    found.reverse();
    let last_reply = cut_page(&mut found, |reply| reply.id.get());
    let root = if root == id { Some(post.clone()) } else { posts::find_by_id(tx, root)? };
    let is_owner = root.is_some_and(|root| viewer.viewer.user == Some(root.author_id));
    let cards = load_post_cards(tx, viewer, found)?;
    let (replies, hidden) = split_hidden(tx, cards, is_owner)?;
    let username = card.reposted_by.clone().unwrap_or_else(|| card.username.clone());
    let author = users::find_by_id(tx, post.author_id)?.filter(|_| !post.limited);
    let is_indexable = author.map(|author| is_indexable(tx, viewer, &author)).transpose()?.unwrap_or(false);
    let is_public = is_public(tx, &post)?;
    let newest_version = find_newer_version(tx, &post)?;
    Ok(Some(LoadedThread {
        username,
        ancestors,
        post: card,
        replies,
        hidden,
        last_reply,
        id,
        newest_version,
        is_indexable,
        is_public,
    }))
}

/// None for a post that is its own newest version.
fn find_newer_version(tx: &mut Tx<'_>, post: &Post) -> Result<Option<PostId>, Fault> {
    if post.state != PostState::Superseded {
        return Ok(None);
    }
    let newest = posts::newest_version(tx, post.edit_root_id.unwrap_or(post.id))?;
    Ok(newest.map(|newest| newest.id))
}

/// Whether everyone may see a post, and the post that it reposts: other posts are not embedded.
fn is_public(tx: &mut Tx<'_>, post: &Post) -> Result<bool, Fault> {
    let mut ids = vec![post.id];
    ids.extend(post.repost_of_id);
    let shown = posts::find_by_ids(tx, &ids)?;
    let authors: Vec<UserId> = shown.iter().map(|post| post.author_id).collect();
    let authors = users::find_by_ids(tx, &authors)?;
    let visibilities = AuthorVisibilities::load(tx, Viewer::anonymous(), &authors)?;
    let is_visible = |post: &Post| visibilities.post_visibility(post) == Visibility::Visible;
    Ok(shown.len() == ids.len() && shown.iter().all(is_visible))
}

impl LoadedThread {
    fn cards(&self) -> impl Iterator<Item = &PostCard> {
        self.ancestors.iter().chain([&self.post]).chain(&self.replies)
    }

    fn into_page(self, call: &RequestContext, visit: &BrowserVisit, after: i64) -> Result<ThreadPage, Fault> {
        let path = format!("/{}/status/{}", self.username, self.id);
        let site = call.site().url;
        let mut pager = build_pager(&path, after == 0, None);
        pager.next = self.last_reply.map(|last| format!("{path}?after={last}"));
        let form_id = new_form_id(call)?;
        let person = visit.person.as_ref();
        let reply = person.map(|person| compose_box(&person.user, FormField::default(), form_id));
        Ok(ThreadPage {
            frame: PageFrame { is_indexable: self.is_indexable, ..visit.page_frame(call) },
            ancestors: self.ancestors,
            preview: post_preview(site, &path, &self.post),
            post: self.post,
            replies: PostFeed { posts: self.replies, pager },
            hidden_replies: self.hidden,
            newest_version: self.newest_version.map(|newest| format!("/{}/status/{newest}", self.username)),
            reply,
            oembed_url: self
                .is_public
                .then(|| format!("{site}/oembed?url={}", base::percent::encode(&format!("{site}{path}")))),
            path,
        })
    }
}

fn post_preview(site: &str, path: &str, post: &PostCard) -> LinkPreview {
    let shown = post.media.first().filter(|_| !post.is_sensitive);
    let picture = shown.map(|media| media.picture.clone()).unwrap_or_default();
    LinkPreview {
        kind: "article",
        title: format!("{} (@{})", post.name, post.username),
        description: post.excerpt(DESCRIPTION_LENGTH),
        url: format!("{site}{path}"),
        image: if picture.starts_with('/') { format!("{site}{picture}") } else { picture },
        feed: String::new(),
    }
}

pub(crate) async fn redirect_to_permalink(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let (id, viewer) = (call.path_id("id")?, CardViewer::new(&call, &visit));
    let read = call.read(move |tx| {
        let card = load_ordered_cards(tx, viewer, &[id])?.pop();
        card.ok_or_else(|| Refusal::RouteNotFound.into())
    });
    let card = found_or_exit(&call, &visit, read.await)?;
    let username = card.reposted_by.unwrap_or(card.username);
    Ok(redirect_to(&format!("/{username}/status/{id}")))
}

pub(crate) async fn show_quotes(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let (id, viewer) = (call.path_id("id")?, CardViewer::new(&call, &visit));
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let range = PageRange { limit: PAGE_SIZE + 1, ..range_before(&query) };
    let read = call.read(move |tx| {
        let mut edges = replies::list_quotes_of_versions(tx, viewer.viewer, id, &range)?;
        let next = cut_page(&mut edges, |edge| edge.1);
        let ids: Vec<PostId> = edges.iter().map(|edge| PostId::new(edge.0)).collect();
        Ok((load_ordered_cards(tx, viewer, &ids)?, next))
    });
    let (posts, next) = found_or_exit(&call, &visit, read.await)?;
    record_views(&call, viewer.viewer.user, &posts);
    let post_path = format!("/{}/status/{id}", call.path_text("username")?);
    let path = format!("{post_path}/quotes");
    let page = PostListPage {
        frame: visit.page_frame(&call),
        heading: "Quotes".to_owned(),
        back: (post_path, "Back to the post"),
        feed: PostFeed { posts, pager: build_pager(&path, cursor_of(&query).is_none(), next) },
        empty: "Nobody has quoted this post yet.",
    };
    Ok(visit.render_page(&call, &page)?)
}

pub(crate) async fn show_history(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let (id, viewer) = (call.path_id("id")?, CardViewer::new(&call, &visit));
    let versions = call.read(move |tx| load_versions(tx, viewer, id)).await;
    let (username, versions) = found_or_exit(&call, &visit, versions)?;
    let page = EditHistoryPage {
        frame: visit.page_frame(&call),
        post_path: format!("/{username}/status/{id}"),
        username,
        versions,
    };
    Ok(visit.render_page(&call, &page)?)
}

/// Refused if the viewer may not see the post.
fn load_versions(tx: &mut Tx<'_>, viewer: CardViewer, id: PostId) -> Result<(String, Vec<PostVersion>), Error> {
    let post = posts::find_by_id(tx, id)?.ok_or(Refusal::RouteNotFound)?;
    let mut ids = match post.edit_root_id {
        Some(root) => posts::list_versions(tx, root)?,
        None => vec![id],
    };
    ids.sort_unstable_by(|one, other| other.cmp(one));
    ids.truncate(MAX_VERSIONS);
    let mut found: Vec<Post> = posts::find_by_ids(tx, &ids)?;
    found.sort_unstable_by_key(|one| std::cmp::Reverse(one.id));
    let newest = found.first().map(|post| post.id);
    let shown = ShownPosts::load(tx, viewer.viewer, found, viewer.site)?;
    let username = shown.iter().next().map(|shown| shown.author.username.clone());
    let versions = shown.iter().map(|shown| PostVersion {
        text: linked_text(shown),
        created_at: shown.post.id.created_at(),
        is_current: Some(shown.post.id) == newest,
    });
    Ok((username.ok_or(Refusal::RouteNotFound)?, versions.collect()))
}
