//! `/search`: posts in the query language of the API, and people.

use std::sync::Arc;

use base::percent::encode;
use network::people::{self, UserSearchRange};
use network::topics;
use pages::FormField;
use pages::members::{MemberSearchPage, PersonCard, PostCard, PostFeed, SEARCH_PATH};
use portal::{MemberVisit, PageExit, PageQuery};
use post_search::{PostSearchRequest, SearchWindow, find};
use query::{AccessTier, QueryDialect, QueryProduct};
use web::request_context::{HttpReply, RequestContext};

use crate::page_ranges::{PAGE_SIZE, build_pager, cursor_of};
use crate::people::load_person_cards;
use crate::post_cards::{CardViewer, load_post_cards, record_views};

const MAX_TRENDS: i64 = 10;
const WORLDWIDE: i64 = 1;
const MAX_PEOPLE: usize = 50;
/// Bytes.
const MAX_QUERY: usize = 2048;

struct PostResults {
    posts: Vec<PostCard>,
    /// What the next page begins below.
    next: Option<i64>,
    problem: Option<String>,
}

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let text = query.get("q").unwrap_or_default().trim().to_owned();
    let is_people = query.get("tab") == Some("people");
    let viewer = CardViewer::new(&call, &visit);
    let mut results = PostResults { posts: Vec::new(), next: None, problem: None };
    let (mut people, mut trends) = (Vec::new(), Vec::new());
    if text.is_empty() && is_people {
        people = list_newest_people(&call, viewer).await?;
    } else if text.is_empty() {
        trends = load_trends(&call).await?;
    } else if text.len() > MAX_QUERY {
        results.problem = Some("The search is too long.".to_owned());
    } else if is_people {
        people = find_people(&call, viewer, text.clone()).await?;
    } else {
        results = find_posts(&call, viewer, &text, cursor_of(&query)).await?;
    }
    record_views(&call, viewer.viewer.user, &results.posts);
    let posts_path = format!("{SEARCH_PATH}?q={}", encode(&text));
    let people_path = format!("{posts_path}&tab=people");
    let path = if is_people { people_path.clone() } else { posts_path.clone() };
    let status = if results.problem.is_some() { 400 } else { 200 };
    let page = MemberSearchPage {
        frame: visit.page_frame(&call),
        query: FormField { value: text, error: results.problem },
        is_people,
        feed: PostFeed { posts: results.posts, pager: build_pager(&path, cursor_of(&query).is_none(), results.next) },
        people,
        trends,
        tabs: [("Posts", posts_path), ("People", people_path)],
    };
    Ok(visit.render_page(&call, &page)?.status(status))
}

async fn find_posts(
    call: &RequestContext,
    viewer: CardViewer,
    text: &str,
    before: Option<i64>,
) -> Result<PostResults, PageExit> {
    let refuse = |problem: String| PostResults { posts: Vec::new(), next: None, problem: Some(problem) };
    let dialect = QueryDialect::new(QueryProduct::FullArchive, AccessTier::Enterprise);
    // Without the parentheses, the condition would belong to the last alternative of an OR only. The text's own are in pairs.
    let query = query::parse(text, dialect).and_then(|_| query::parse(&format!("({text}) -is:nullcast"), dialect));
    let Ok(query) = query.map(Arc::new) else {
        let problem = "This search cannot be read. It needs a word that it looks for, and quotation marks and parentheses \
                       in pairs.";
        return Ok(refuse(problem.to_owned()));
    };
    let window = SearchWindow { before_id: before.unwrap_or(i64::MAX), ..SearchWindow::ALL };
    let request = PostSearchRequest { query, window, limit: usize::try_from(PAGE_SIZE).unwrap_or(0) };
    let index = call.search_backend()?.catch_up(call.store()).await?;
    let read = call.read(move |tx| {
        let found = find(tx, &*index, viewer.viewer, &request)?;
        Ok((load_post_cards(tx, viewer, found.posts)?, found.next))
    });
    let (posts, next) = read.await?;
    Ok(PostResults { posts, next: next.map(|[id, ..]| id), problem: None })
}

/// The first page only.
async fn find_people(call: &RequestContext, viewer: CardViewer, text: String) -> Result<Vec<PersonCard>, PageExit> {
    let range = UserSearchRange { from: None, backward: false, limit: MAX_PEOPLE };
    let read = call.read(move |tx| {
        let found = people::search(tx, &text, &range)?;
        Ok(load_person_cards(tx, viewer, found.users)?)
    });
    Ok(read.await?)
}

async fn list_newest_people(call: &RequestContext, viewer: CardViewer) -> Result<Vec<PersonCard>, PageExit> {
    let limit = i64::try_from(MAX_PEOPLE).unwrap_or(0);
    let read = call.read(move |tx| {
        let newest = store::users::list_newest(tx, limit)?;
        Ok(load_person_cards(tx, viewer, newest)?)
    });
    Ok(read.await?)
}

async fn load_trends(call: &RequestContext) -> Result<Vec<(String, String)>, PageExit> {
    let trends = call.read(|tx| topics::list_place_trends(tx, WORLDWIDE, MAX_TRENDS)).await?;
    let rows = trends.into_iter().map(|trend| {
        let path = format!("{SEARCH_PATH}?q={}", encode(&trend.name));
        (trend.name, path)
    });
    Ok(rows.collect())
}
