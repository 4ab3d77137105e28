//! The search console: how a query is read, what it finds, and why a post meets it or not.

use base::{PostId, UserId};
use network::facts::{self, PostFacts};
use pages::{Field, Judged, OperatorLine, QueryFor, ReadQuery, SearchConsole, Step};
use query::{
    Class, Dialect, Facts, Joint, Level, OPERATORS, Operator, Part, Problems, Product, Query, parse,
};

use crate::call::Call;
use crate::endpoint::Pending;
use crate::pages::forms::taken;
use crate::pages::front::LINKS;
use crate::pages::{Turn, Visit, run};

/// Stored posts that a rule is held against.
pub(super) const LOOKED_AT: i64 = 1_000;
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
        page.found = Some(found(&call, query).await?);
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

const fn dialect(product: QueryFor) -> Dialect {
    let product = match product {
        QueryFor::Recent => Product::RecentSearch,
        QueryFor::All => Product::FullArchive,
        QueryFor::Stream => Product::Stream,
        QueryFor::Powerstream => Product::Powerstream,
    };
    Dialect::new(product, Level::Enterprise)
}

fn operators(dialect: Dialect) -> Vec<OperatorLine> {
    let known = OPERATORS.iter().filter(|one| one.available(dialect));
    let line = |one: &'static Operator| OperatorLine {
        written: one
            .names
            .iter()
            .map(|name| written(name))
            .collect::<Vec<_>>()
            .join(", "),
        about: one.about,
        alone: one.class == Class::Standalone,
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
pub(super) fn faults(problems: &Problems) -> Vec<pages::Fault> {
    match problems {
        Problems::Faults(all) => {
            let faults = all.iter().map(|problem| pages::Fault {
                text: problem.to_string(),
                at: Some(problem.at),
            });
            faults.collect()
        }
        other => vec![pages::Fault {
            text: other.to_string(),
            at: None,
        }],
    }
}

fn read(query: &Query, text: &str) -> ReadQuery {
    ReadQuery {
        canonical: query.to_string(),
        length: text.chars().count(),
        longest: query.dialect().longest(),
        steps: steps(&query.explained(None)),
    }
}

/// A query's parts as a list: groups open and close.
pub(super) fn steps(of: &Part) -> Vec<Step> {
    let any = match of.joint {
        Joint::Is | Joint::Not => {
            return vec![Step::Term {
                text: of.text.clone(),
                about: of.about.to_owned(),
                met: of.holds,
            }];
        }
        Joint::Any => true,
        Joint::All => false,
    };
    let mut all = vec![Step::Open { any, met: of.holds }];
    all.extend(of.parts.iter().flat_map(steps));
    all.push(Step::Close);
    all
}

/// A post, held against a query.
pub(super) fn judged(facts: &PostFacts, query: &Query) -> Judged {
    let (text, said) = facts.lend(|post| {
        let said = query.explained(Some(&Facts::new(post, query.reading())));
        (post.text.to_owned(), said)
    });
    Judged {
        id: facts.row.id.to_string(),
        username: facts.author.username.clone(),
        text,
        at: facts.row.created_at,
        met: said.holds == Some(true),
        steps: steps(&said),
    }
}

async fn held(
    call: &Call,
    person: UserId,
    post: &str,
    query: &Query,
) -> Result<Option<Judged>, Turn> {
    let Some(id) = PostId::parse(post) else {
        return Ok(None);
    };
    let found = call
        .read(move |tx| Ok(facts::seen(tx, person, id)?))
        .await?;
    Ok(found.map(|facts| judged(&facts, query)))
}

/// Of the newest stored posts, those that meet a query.
pub(super) async fn found(call: &Call, query: Query) -> Result<Vec<Judged>, Turn> {
    let work = move |tx: &mut store::Tx<'_>| {
        let all = facts::newest(tx, LOOKED_AT)?;
        let meets = |facts: &&PostFacts| {
            facts.lend(|post| query::matches(&query, &Facts::new(post, query.reading())))
        };
        let met = all.iter().filter(meets).take(SHOWN);
        Ok(met.map(|facts| judged(facts, &query)).collect())
    };
    Ok(call.read(work).await?)
}
