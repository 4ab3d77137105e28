//! The search console: how a query is parsed, what it finds, and why a post matches or not.

use std::sync::Arc;

use base::{Error, PostId, Refusal, Time, UserId};
use network::post_facts::{self, StoredPostFacts};
use network::visibility::Viewer;
use pages::{
    ConsoleProduct, FormField, Notice, OperatorHelp, ParsedQuerySummary, PostCountChart, PostMatch, QueryTreeStep,
    SearchConsolePage,
};
use post_search::{self, PostSearchRequest, SearchWindow, TimeBuckets};
use query::{
    AccessTier, ClauseKind, ExplainedClause, OPERATORS, OperatorClass, ParsedQuery, PostFeatures, QueryDialect,
    QueryError, QueryOperator, QueryProduct, parse,
};
use web::page_context::SITE_LINKS;
use web::request_context::{HttpReply, RequestContext};

use crate::site::{BrowserVisit, MemberVisit, PageExit};

/// Stored posts that a rule is tested against.
pub(super) const SCANNED_POSTS: i64 = 1_000;
const HOUR_MS: i64 = 3_600_000;
const MAX_SHOWN_POSTS: usize = 10;

pub(crate) async fn show_console(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    Ok(visit.render_page(&call, &empty_page(&call, &visit, ConsoleProduct::Recent))?)
}

/// `POST /developer/search`. Nothing changes.
pub(crate) async fn run_query(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, form) = MemberVisit::accept_form(&call).await?;
    let person = visit.person.user.id;
    let product = ConsoleProduct::parse(&form.text("product")).unwrap_or_default();
    let mut page = empty_page(&call, &visit, product);
    page.query = FormField::new(form.text("query"));
    page.post = FormField::new(form.text("post").trim());
    let query = match parse(&page.query.value, query_dialect(product)) {
        Ok(query) => query,
        Err(problems) => {
            page.query.error = Some("The query is invalid.".to_owned());
            page.query_errors = query_errors(&problems);
            return Ok(visit.render_page(&call, &page)?.status(400));
        }
    };
    page.parsed = Some(summarize_query(&query, &page.query.value));
    let post = page.post.value.clone();
    if !post.is_empty() {
        page.checked_post = check_post(&call, person, &post, &query).await?;
        if page.checked_post.is_none() {
            page.post.error = Some("No post visible to you has this ID.".to_owned());
        }
    }
    if query.dialect().product.is_search() {
        search_posts(&call, person, query, &mut page).await?;
    } else {
        page.matching_posts = Some(scan_newest_posts(&call, query).await?);
    }
    let status = if page.post.error.is_some() { 404 } else { 200 };
    Ok(visit.render_page(&call, &page)?.status(status))
}

fn empty_page(call: &RequestContext, visit: &BrowserVisit, product: ConsoleProduct) -> SearchConsolePage {
    SearchConsolePage {
        frame: visit.page_frame(call),
        action: SITE_LINKS.search.to_owned(),
        query: FormField::default(),
        product,
        post: FormField::default(),
        query_errors: Vec::new(),
        parsed: None,
        checked_post: None,
        chart: None,
        matching_posts: None,
        search_scope: format!("Searched the newest {SCANNED_POSTS} public posts."),
        operators: operator_help(query_dialect(product)),
    }
}

const fn query_dialect(product: ConsoleProduct) -> QueryDialect {
    let product = match product {
        ConsoleProduct::Recent => QueryProduct::RecentSearch,
        ConsoleProduct::All => QueryProduct::FullArchive,
        ConsoleProduct::Stream => QueryProduct::Stream,
        ConsoleProduct::Powerstream => QueryProduct::Powerstream,
    };
    QueryDialect::new(product, AccessTier::Enterprise)
}

fn operator_help(dialect: QueryDialect) -> Vec<OperatorHelp> {
    let known = OPERATORS.iter().filter(|one| one.is_available(dialect));
    let line = |one: &'static QueryOperator| OperatorHelp {
        syntax: one.names.iter().map(|name| operator_syntax(name)).collect::<Vec<_>>().join(", "),
        description: one.description,
        standalone: one.class == OperatorClass::Standalone,
    };
    known.map(line).collect()
}

fn operator_syntax(name: &str) -> String {
    match name {
        "keyword" => "word".to_owned(),
        "\"" => "\"two words\"".to_owned(),
        "#" | "@" | "$" => format!("{name}name"),
        "is:nullcast" => "-is:nullcast".to_owned(),
        _ if name.contains(':') => name.to_owned(),
        _ => format!("{name}:"),
    }
}

/// As in API errors.
pub(super) fn query_errors(problems: &QueryError) -> Vec<pages::QueryErrorMessage> {
    match problems {
        QueryError::Faults(all) => {
            let faults = all.iter().map(|problem| pages::QueryErrorMessage {
                text: problem.to_string(),
                position: Some(problem.position),
            });
            faults.collect()
        }
        other => vec![pages::QueryErrorMessage { text: other.to_string(), position: None }],
    }
}

fn summarize_query(query: &ParsedQuery, text: &str) -> ParsedQuerySummary {
    ParsedQuerySummary {
        canonical: query.to_string(),
        length: text.chars().count(),
        max_length: query.dialect().max_length(),
        steps: query_tree_steps(&query.explain(None)),
    }
}

/// A query's parts as a flat list, in which groups open and close.
pub(super) fn query_tree_steps(of: &ExplainedClause) -> Vec<QueryTreeStep> {
    let any = match of.kind {
        ClauseKind::Is | ClauseKind::Not => {
            return vec![QueryTreeStep::Term {
                text: of.text.clone(),
                description: of.description.to_owned(),
                matched: of.matches,
            }];
        }
        ClauseKind::Any => true,
        ClauseKind::All => false,
    };
    let mut all = vec![QueryTreeStep::Open { any, matched: of.matches }];
    all.extend(of.children.iter().flat_map(query_tree_steps));
    all.push(QueryTreeStep::Close);
    all
}

pub(super) fn match_post(facts: &StoredPostFacts, query: &ParsedQuery) -> PostMatch {
    let (text, explained) = facts.map_query_post(|post| {
        let explained = query.explain(Some(&PostFeatures::new(post, query.match_mode())));
        (post.text.to_owned(), explained)
    });
    PostMatch {
        id: facts.row.id.to_string(),
        username: facts.author.username.clone(),
        text,
        created_at: facts.row.created_at,
        matched: explained.matches == Some(true),
        steps: query_tree_steps(&explained),
    }
}

async fn check_post(
    call: &RequestContext,
    person: UserId,
    post: &str,
    query: &ParsedQuery,
) -> Result<Option<PostMatch>, PageExit> {
    let Some(id) = PostId::parse(post) else {
        return Ok(None);
    };
    let found = call.read(move |tx| Ok(post_facts::find_visible_facts(tx, person, id)?)).await?;
    Ok(found.map(|facts| match_post(&facts, query)))
}

async fn search_posts(
    call: &RequestContext,
    person: UserId,
    query: ParsedQuery,
    page: &mut SearchConsolePage,
) -> Result<(), PageExit> {
    let recent = page.product == ConsoleProduct::Recent;
    let span = ChartSpan::latest(call.now(), recent);
    let from = if recent { span.since } else { i64::MIN };
    page.search_scope = if recent {
        "Searched the last seven days.".to_owned()
    } else {
        "Searched all posts. The chart shows the last thirty days.".to_owned()
    };
    let index = match call.search_backend()?.catch_up(call.store()).await {
        Err(Error::Refused(Refusal::Unavailable)) => {
            let text = "The search index is being built. Try again later.";
            page.frame.notices.push(Notice::info(text));
            return Ok(());
        }
        other => other?,
    };
    let query = Arc::new(query);
    let work = move |tx: &mut store::Tx<'_>| {
        let asked = |since, limit| PostSearchRequest {
            query: Arc::clone(&query),
            window: SearchWindow { after_id: i64::MIN, before_id: i64::MAX, since_ms: since, until_ms: i64::MAX },
            limit,
        };
        let found = post_search::find(tx, &*index, Viewer::user(person), &asked(from, MAX_SHOWN_POSTS))?;
        let found = post_facts::load_facts_of_rows(tx, found.posts, true)?;
        let found: Vec<PostMatch> = found.iter().map(|one| match_post(one, &query)).collect();
        let asked = asked(span.since, 0);
        match post_search::count(tx, &*index, &asked, span.to_time_buckets()) {
            Ok(counts) => Ok((found, Some(counts))),
            Err(Error::Refused(_)) => Ok((found, None)),
            Err(stop) => Err(stop),
        }
    };
    let (found, counts) = call.read(work).await?;
    page.matching_posts = Some(found);
    if let Some(counts) = counts {
        page.chart = Some(span.build_chart(&counts));
    } else {
        let text = "There are too many posts to count.";
        page.frame.notices.push(Notice::info(text));
    }
    Ok(())
}

/// Equal buckets, the last of which is not over yet.
#[derive(Clone, Copy)]
struct ChartSpan {
    since: i64,
    step_ms: i64,
    bucket_count: usize,
    bucket_unit: &'static str,
}

impl ChartSpan {
    /// The last seven days by hour, or the last thirty by day.
    fn latest(now: Time, recent: bool) -> Self {
        let (step_ms, bucket_count, bucket_unit) =
            if recent { (HOUR_MS, 168, "hour") } else { (24 * HOUR_MS, 30, "day") };
        let now = now.ms();
        let until = now.saturating_sub(now.rem_euclid(step_ms)).saturating_add(step_ms);
        let length = i64::try_from(bucket_count).unwrap_or(0).saturating_mul(step_ms);
        Self { since: until.saturating_sub(length), step_ms, bucket_count, bucket_unit }
    }

    const fn to_time_buckets(self) -> TimeBuckets {
        TimeBuckets { start_ms: self.since, step_ms: self.step_ms, count: self.bucket_count }
    }

    fn build_chart(&self, counts: &[u64]) -> PostCountChart {
        let mut start = self.since;
        let bars = counts.iter().map(|count| {
            let bar = (Time::from_ms(start), *count);
            start = start.saturating_add(self.step_ms);
            bar
        });
        PostCountChart { bars: bars.collect(), bucket_unit: self.bucket_unit }
    }
}

/// The newest stored posts that match a query.
pub(super) async fn scan_newest_posts(call: &RequestContext, query: ParsedQuery) -> Result<Vec<PostMatch>, PageExit> {
    let work = move |tx: &mut store::Tx<'_>| {
        let all = post_facts::load_newest_facts(tx, SCANNED_POSTS)?;
        let meets = |facts: &&StoredPostFacts| {
            facts.map_query_post(|post| query::matches(&query, &PostFeatures::new(post, query.match_mode())))
        };
        let met = all.iter().filter(meets).take(MAX_SHOWN_POSTS);
        Ok(met.map(|facts| match_post(facts, &query)).collect())
    };
    Ok(call.read(work).await?)
}
