//! `/bookmarks`.

use base::PostId;
use network::bookmarks;
use pages::members::{BOOKMARKS_PATH, HOME_PATH, PostFeed, PostListPage};
use portal::{BrowserVisit, PageQuery, run_page};
use store::posts::PageRange;
use web::endpoint::HandlerFuture;
use web::request_context::RequestContext;

use crate::page_ranges::{PAGE_SIZE, build_pager, cursor_of, cut_page, range_before};
use crate::post_cards::{CardViewer, record_views};
use crate::profile::load_ordered_cards;

pub(crate) fn show(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = BrowserVisit::from_call(&call).await?;
        let user = visit.require_sign_in(&call)?.user.id;
        let query = PageQuery::from_call(&call).unwrap_or_default();
        let viewer = CardViewer::new(&call, &visit);
        let range = PageRange { limit: PAGE_SIZE + 1, ..range_before(&query) };
        let read = call.read(move |tx| {
            let mut edges = bookmarks::list_user_bookmarks(tx, user, &range)?;
            let next = cut_page(&mut edges, |edge| edge.1);
            let ids: Vec<PostId> = edges.iter().map(|edge| PostId::new(edge.0)).collect();
            Ok((load_ordered_cards(tx, viewer, &ids)?, next))
        });
        let (posts, next) = read.await?;
        record_views(&call, viewer.viewer.user, &posts);
        let path = BOOKMARKS_PATH.to_owned();
        let page = PostListPage {
            frame: visit.page_frame(&call),
            heading: "Bookmarks".to_owned(),
            back: (HOME_PATH.to_owned(), "Home"),
            feed: PostFeed { posts, pager: build_pager(&path, cursor_of(&query).is_none(), next), path },
            empty: "Use the ribbon below a post to find it here again. Nobody else sees your bookmarks.",
        };
        Ok(visit.render_page(&call, &page)?)
    })
}
