//! The rules of an app's filtered stream: tried on stored posts, added, deleted.

use base::{Error, Refusal};
use network::apps::AccessLevel;
use network::rules::{self, NewStreamRule};
use pages::{Field, Pager, RuleLine, StreamRules, Tab};
use query::{AccessTier, ParsedQuery, QueryDialect, parse};
use store::rules::{StreamProduct, StreamRule};

use super::console::{LOOKED_AT, faults, found};
use super::{Own, heard};
use crate::call::Call;
use crate::endpoint::Pending;
use crate::pages::forms::{self, taken};
use crate::pages::{Turn, run, see};

/// Rules on a page.
const SHOWN: usize = 50;
/// The longest label, in characters.
const LABEL: usize = 255;

/// `GET /developer/apps/{id}/stream`.
pub(crate) fn list(call: Call) -> Pending {
    run(async move {
        let own = Own::of(&call).await?;
        let page = page(&call, &own).await?;
        Ok(own.visit.page(&call, &page)?)
    })
}

/// `POST /developer/apps/{id}/stream`: tries a rule, or adds it.
pub(crate) fn send(call: Call) -> Pending {
    run(async move {
        let own = Own::of(&call).await?;
        let form = taken(&call, &own.visit).await?;
        let (value, tag) = (form.text("value"), form.text("tag"));
        let adds = form.text("do") == "add";
        let mut page = page(&call, &own).await?;
        page.value = Field::of(&value);
        page.tag = Field::of(&tag);
        let dialect = dialect(&own);
        let query = match parse(&value, dialect) {
            Ok(query) => query,
            Err(problems) => {
                page.value.error = Some("The rule cannot be read.".to_owned());
                page.faults = faults(&problems);
                return Ok(own.visit.page(&call, &page)?.status(400));
            }
        };
        if tag.chars().count() > LABEL {
            page.tag.error = Some(format!("A tag has at most {LABEL} characters."));
            return Ok(own.visit.page(&call, &page)?.status(400));
        }
        if !adds {
            page.tried = Some(found(&call, query).await?);
            return Ok(own.visit.page(&call, &page)?);
        }
        let refused = add(&call, &own, (value, tag), &query, dialect.max_rules()).await?;
        if refused.is_some() {
            page.value.error = refused;
            return Ok(own.visit.page(&call, &page)?.status(400));
        }
        Ok(see(&format!("{}?added", page.action)))
    })
}

/// Adds a rule; why not, where it is not.
async fn add(
    call: &Call,
    own: &Own,
    (value, tag): (String, String),
    query: &ParsedQuery,
    most: usize,
) -> Result<Option<String>, Turn> {
    let new = NewStreamRule {
        value,
        canonical: query.to_string(),
        tag,
    };
    let app = own.app.id;
    let work = move |tx: &mut store::Tx<'_>| {
        rules::add(
            tx,
            app,
            StreamProduct::Stream,
            most,
            std::slice::from_ref(&new),
            false,
        )
    };
    match call.write(work).await {
        Ok(added) if added.rules.is_empty() => Ok(Some("The app has this rule already.".into())),
        Ok(_) => Ok(None),
        Err(Error::Refused(Refusal::RuleLimitReached { limit: most })) => Ok(Some(format!(
            "The app has {most} rules, and may have no more."
        ))),
        Err(stop) => Err(stop.into()),
    }
}

/// `POST /developer/apps/{id}/stream/delete`.
pub(crate) fn delete(call: Call) -> Pending {
    run(async move {
        let own = Own::of(&call).await?;
        let form = taken(&call, &own.visit).await?;
        let ids: Vec<i64> = form.text("rule").parse().into_iter().collect();
        let app = own.app.id;
        let work =
            move |tx: &mut store::Tx<'_>| rules::remove(tx, app, StreamProduct::Stream, &ids);
        let removed = call.write(work).await;
        let removed = heard(&call, &own.visit, removed)?;
        let said = if removed > 0 { "deleted" } else { "gone" };
        Ok(see(&format!("{}?{said}", Tab::Stream.of(&own.shown()))))
    })
}

/// Whether the app has a contract.
pub(super) fn is_enterprise(own: &Own) -> bool {
    own.app.access_level == AccessLevel::Enterprise.name()
}

/// The language as the app may use it.
fn dialect(own: &Own) -> QueryDialect {
    let level = if is_enterprise(own) {
        AccessTier::Enterprise
    } else {
        AccessTier::SelfServe
    };
    QueryDialect::new(query::QueryProduct::Stream, level)
}

async fn page(call: &Call, own: &Own) -> Result<StreamRules, Turn> {
    let query = forms::Query::of(call).ok();
    let said = |name: &str| {
        query
            .as_ref()
            .is_some_and(|query| query.raw(name).is_some())
    };
    let after = query
        .as_ref()
        .and_then(|query| query.get("after")?.parse().ok());
    let (app, after) = (own.app.id, after.unwrap_or(0));
    let limit = i64::try_from(SHOWN).unwrap_or(0).saturating_add(1);
    let work = move |tx: &mut store::Tx<'_>| {
        let count = store::rules::count(tx, app, StreamProduct::Stream)?;
        let rules = store::rules::list_by_app(tx, app, StreamProduct::Stream, after, limit)?;
        Ok((count, rules))
    };
    let (count, mut rules) = call.read(work).await?;
    let more = rules.len() > SHOWN;
    rules.truncate(SHOWN);
    let shown = own.shown();
    let path = Tab::Stream.of(&shown);
    let next = rules.last().filter(|_| more);
    let mut frame = own.visit.frame(call);
    let notices = [
        ("added", "The rule is added."),
        ("deleted", "The rule is deleted."),
        ("gone", "That rule was gone already."),
    ];
    let notices = notices.into_iter().filter(|(name, _)| said(name));
    frame
        .notices
        .extend(notices.map(|(_, text)| pages::Notice::good(text)));
    Ok(StreamRules {
        frame,
        action: path.clone(),
        delete: format!("{path}/delete"),
        live: format!("{path}/live"),
        value: Field::default(),
        tag: Field::default(),
        faults: Vec::new(),
        tried: None,
        looked_through: format!("Of the newest {LOOKED_AT} posts that everybody may see."),
        pager: Pager {
            next: next.map(|rule| format!("{path}?after={}", rule.id)),
            previous: None,
        },
        rules: rules.iter().map(line).collect(),
        count: (
            u64::try_from(count).unwrap_or(0),
            u64::try_from(dialect(own).max_rules()).unwrap_or(0),
        ),
        app: shown,
    })
}

fn line(rule: &StreamRule) -> RuleLine {
    RuleLine {
        id: rule.id.to_string(),
        value: rule.value.clone(),
        tag: rule.tag.clone(),
        added: rule.created_at,
    }
}
