//! The search console: how a query is read, what it finds, and why a post meets it or not.

use std::sync::Arc;

use base::{Error, PostId, Refusal, Time, UserId};
use network::post_facts::{self, StoredPostFacts};
use network::search::{self, PostSearchRequest, SearchWindow};
use network::visibility::Viewer;
use pages::{Chart, Field, Judged, Notice, OperatorLine, QueryFor, ReadQuery, SearchConsole, Step};
use query::{
    AccessTier, ClauseKind, ExplainedClause, OPERATORS, OperatorClass, ParsedQuery, PostFeatures,
    QueryDialect, QueryError, QueryOperator, QueryProduct, parse,
};

use crate::call::Call;
use crate::endpoint::Pending;
use crate::pages::forms::taken;
use crate::pages::front::LINKS;
use crate::pages::{Turn, Visit, run};

/// Stored posts that a rule is held against.
pub(super) const LOOKED_AT: i64 = 1_000;
const HOUR_MS: i64 = 3_600_000;
/// Posts shown at most.
const SHOWN: usize = 10;

/// `GET /developer/search`.
pub(crate) fn ask(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        visit.signed_in(&call)?;
        Ok(visit.page(&call, &blank(&call, &visit, QueryFor::Recent))?)
    })
}

/// `POST /developer/search`. Nothing changes.
pub(crate) fn answer(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let person = visit.signed_in(&call)?.user.id;
        let form = taken(&call, &visit).await?;
        let product = QueryFor::parse(&form.text("product")).unwrap_or_default();
        let mut page = blank(&call, &visit, product);
        page.query = Field::of(form.text("query"));
        page.post = Field::of(form.text("post").trim());
        let query = match parse(&page.query.value, dialect(product)) {
            Ok(query) => query,
            Err(problems) => {
                page.query.error = Some("The query cannot be read.".to_owned());
                page.faults = faults(&problems);
                return Ok(visit.page(&call, &page)?.status(400));
            }
        };
        page.read = Some(read(&query, &page.query.value));
        let post = page.post.value.clone();
        if !post.is_empty() {
            page.judged = held(&call, person, &post, &query).await?;
            if page.judged.is_none() {
                page.post.error = Some("No post that you may see has this ID.".to_owned());
            }
        }
        if query.dialect().product.is_search() {
            looked(&call, person, query, &mut page).await?;
        } else {
            page.found = Some(found(&call, query).await?);
        }
        let status = if page.post.error.is_some() { 404 } else { 200 };
        Ok(visit.page(&call, &page)?.status(status))
    })
}

fn blank(call: &Call, visit: &Visit, product: QueryFor) -> SearchConsole {
    SearchConsole {
        frame: visit.frame(call),
        action: LINKS.search.to_owned(),
        query: Field::default(),
        product,
        post: Field::default(),
        faults: Vec::new(),
        read: None,
        judged: None,
        chart: None,
        found: None,
        looked_through: format!("Of the newest {LOOKED_AT} posts that everybody may see."),
        operators: operators(dialect(product)),
    }
}

const fn dialect(product: QueryFor) -> QueryDialect {
    let product = match product {
        QueryFor::Recent => QueryProduct::RecentSearch,
        QueryFor::All => QueryProduct::FullArchive,
        QueryFor::Stream => QueryProduct::Stream,
        QueryFor::Powerstream => QueryProduct::Powerstream,
    };
    QueryDialect::new(product, AccessTier::Enterprise)
}

fn operators(dialect: QueryDialect) -> Vec<OperatorLine> {
    let known = OPERATORS.iter().filter(|one| one.is_available(dialect));
    let line = |one: &'static QueryOperator| OperatorLine {
        written: one
            .names
            .iter()
            .map(|name| written(name))
            .collect::<Vec<_>>()
            .join(", "),
        about: one.description,
        alone: one.class == OperatorClass::Standalone,
    };
    known.map(line).collect()
}

fn written(name: &str) -> String {
    match name {
        "keyword" => "word".to_owned(),
        "\"" => "\"two words\"".to_owned(),
        "#" | "@" | "$" => format!("{name}name"),
        "is:nullcast" => "-is:nullcast".to_owned(),
        _ if name.contains(':') => name.to_owned(),
        _ => format!("{name}:"),
    }
}

/// What is wrong with a query, in the interface's words.
pub(super) fn faults(problems: &QueryError) -> Vec<pages::Fault> {
    match problems {
        QueryError::Faults(all) => {
            let faults = all.iter().map(|problem| pages::Fault {
                text: problem.to_string(),
                at: Some(problem.position),
            });
            faults.collect()
        }
        other => vec![pages::Fault {
            text: other.to_string(),
            at: None,
        }],
    }
}

fn read(query: &ParsedQuery, text: &str) -> ReadQuery {
    ReadQuery {
        canonical: query.to_string(),
        length: text.chars().count(),
        longest: query.dialect().max_length(),
        steps: steps(&query.explain(None)),
    }
}

/// A query's parts as a list: groups open and close.
pub(super) fn steps(of: &ExplainedClause) -> Vec<Step> {
    let any = match of.kind {
        ClauseKind::Is | ClauseKind::Not => {
            return vec![Step::Term {
                text: of.text.clone(),
                about: of.description.to_owned(),
                met: of.matches,
            }];
        }
        ClauseKind::Any => true,
        ClauseKind::All => false,
    };
    let mut all = vec![Step::Open {
        any,
        met: of.matches,
    }];
    all.extend(of.children.iter().flat_map(steps));
    all.push(Step::Close);
    all
}

/// A post, held against a query.
pub(super) fn judged(facts: &StoredPostFacts, query: &ParsedQuery) -> Judged {
    let (text, said) = facts.map_query_post(|post| {
        let said = query.explain(Some(&PostFeatures::new(post, query.match_mode())));
        (post.text.to_owned(), said)
    });
    Judged {
        id: facts.row.id.to_string(),
        username: facts.author.username.clone(),
        text,
        at: facts.row.created_at,
        met: said.matches == Some(true),
        steps: steps(&said),
    }
}

async fn held(
    call: &Call,
    person: UserId,
    post: &str,
    query: &ParsedQuery,
) -> Result<Option<Judged>, Turn> {
    let Some(id) = PostId::parse(post) else {
        return Ok(None);
    };
    let found = call
        .read(move |tx| Ok(post_facts::find_visible_facts(tx, person, id)?))
        .await?;
    Ok(found.map(|facts| judged(&facts, query)))
}

/// What search finds, and how many there are.
async fn looked(
    call: &Call,
    person: UserId,
    query: ParsedQuery,
    page: &mut SearchConsole,
) -> Result<(), Turn> {
    let recent = page.product == QueryFor::Recent;
    let span = Span::until(call.now(), recent);
    let from = if recent { span.since } else { i64::MIN };
    page.looked_through = if recent {
        "Of the last seven days.".to_owned()
    } else {
        "Of all time; the chart shows the last thirty days.".to_owned()
    };
    let search = Arc::clone(call.search()?);
    match search.catch_up(call.store()).await {
        Err(Error::Refused(Refusal::Unavailable)) => {
            let text = "The index is being made; there is nothing to search yet.";
            page.frame.notices.push(Notice::plain(text));
            return Ok(());
        }
        other => other?,
    }
    let (snapshot, query) = (search.snapshot(), Arc::new(query));
    let work = move |tx: &mut store::Tx<'_>| {
        let asked = |since, limit| PostSearchRequest {
            query: Arc::clone(&query),
            window: SearchWindow {
                after_id: i64::MIN,
                before_id: i64::MAX,
                since_ms: since,
                until_ms: i64::MAX,
            },
            limit,
        };
        let found = search::find(tx, &snapshot, Viewer::user(person), &asked(from, SHOWN))?;
        let found = post_facts::load_facts_of_rows(tx, found.posts, true)?;
        let found: Vec<Judged> = found.iter().map(|one| judged(one, &query)).collect();
        let mut counts = vec![0_u64; span.parts];
        let asked = asked(span.since, 0);
        let counted = search::count(tx, &snapshot, &asked, |at| span.place(at), &mut counts);
        match counted {
            Ok(()) => Ok((found, Some(counts))),
            Err(Error::Refused(_)) => Ok((found, None)),
            Err(stop) => Err(stop),
        }
    };
    let (found, counts) = call.read(work).await?;
    page.found = Some(found);
    if let Some(counts) = counts {
        page.chart = Some(span.chart(&counts));
    } else {
        let text = "There are too many posts to count them one by one.";
        page.frame.notices.push(Notice::plain(text));
    }
    Ok(())
}

/// A span of time in parts of one length, the last of which is not over.
#[derive(Clone, Copy)]
struct Span {
    since: i64,
    step: i64,
    parts: usize,
    each: &'static str,
}

impl Span {
    /// The last seven days by hour, or the last thirty by day.
    fn until(now: Time, recent: bool) -> Self {
        let (step, parts, each) = if recent {
            (HOUR_MS, 168, "hour")
        } else {
            (24 * HOUR_MS, 30, "day")
        };
        let now = now.ms();
        let until = now
            .saturating_sub(now.rem_euclid(step))
            .saturating_add(step);
        let length = i64::try_from(parts).unwrap_or(0).saturating_mul(step);
        Self {
            since: until.saturating_sub(length),
            step,
            parts,
            each,
        }
    }

    /// The number of the part that a moment lies in.
    fn place(&self, at: i64) -> Option<usize> {
        let place = at.saturating_sub(self.since).div_euclid(self.step);
        usize::try_from(place).ok()
    }

    fn chart(&self, counts: &[u64]) -> Chart {
        let mut start = self.since;
        let bars = counts.iter().map(|count| {
            let bar = (Time::from_ms(start), *count);
            start = start.saturating_add(self.step);
            bar
        });
        Chart {
            bars: bars.collect(),
            each: self.each,
        }
    }
}

/// Of the newest stored posts, those that meet a query.
pub(super) async fn found(call: &Call, query: ParsedQuery) -> Result<Vec<Judged>, Turn> {
    let work = move |tx: &mut store::Tx<'_>| {
        let all = post_facts::load_newest_facts(tx, LOOKED_AT)?;
        let meets = |facts: &&StoredPostFacts| {
            facts.map_query_post(|post| {
                query::matches(&query, &PostFeatures::new(post, query.match_mode()))
            })
        };
        let met = all.iter().filter(meets).take(SHOWN);
        Ok(met.map(|facts| judged(facts, &query)).collect())
    };
    Ok(call.read(work).await?)
}
