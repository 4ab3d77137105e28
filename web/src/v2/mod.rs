//! The v2 operations that are built, one file a noun.

pub(crate) mod description;
pub(crate) mod follows;
pub(crate) mod posts;
pub(crate) mod timelines;
pub(crate) mod users;

use base::{Refusal, Scope, Stop};
use serde_json::{Map, Value};
use store::posts::Span;
use view::{Answer, Object, Wants};

use crate::accents;
use crate::call::{Call, Reply};
use crate::page::{Direction, Page};

/// `data`, `includes`, `meta` and `errors`, those that there are.
fn answer(call: &Call, answer: &Answer, meta: Option<&Map<String, Value>>) -> Result<Reply, Stop> {
    let mut body = String::with_capacity(answer.data.len() + answer.includes.len() + 256);
    let mut put = |name: &str, json: &str| {
        body.push(if body.is_empty() { '{' } else { ',' });
        body.push('"');
        body.push_str(name);
        body.push_str("\":");
        body.push_str(json);
    };
    if !answer.data.is_empty() {
        put("data", &answer.data);
    }
    if !answer.includes.is_empty() {
        put("includes", &answer.includes);
    }
    if let Some(meta) = meta {
        put("meta", &serde_json::to_string(meta).unwrap_or_default());
    }
    if !answer.errors.is_empty() {
        put("errors", &partial(call, &answer.errors));
    }
    body.push_str(if body.is_empty() { "{}" } else { "}" });
    call.say_bytes(body)
}

fn partial(call: &Call, errors: &[Refusal]) -> String {
    let items = errors
        .iter()
        .map(|refusal| accents::partial(refusal, &call.home.problem_base));
    Value::Array(items.collect()).to_string()
}

/// What users an operation shows, one's own email address among it where the caller may.
fn wants_users(call: &Call) -> Result<Wants, Stop> {
    let mut wants = call.wants(Object::User);
    let caller = call.caller()?;
    if caller.scopes.has(Scope::UsersEmail) {
        wants.allow_email();
    }
    Ok(wants)
}

/// The part of a collection that is ordered by one falling key which a page is.
fn span(page: &Page, (above, below): (i64, i64)) -> Span {
    let (newer, older) = page.falling();
    Span {
        above: above.max(newer),
        below: below.min(older),
        rising: page.is_backward(),
        limit: i64::try_from(page.limit).unwrap_or(i64::MAX),
        without_replies: false,
        without_reposts: false,
    }
}

/// The tokens of a page's neighbours, from the first and last key that were looked at.
fn neighbours(
    page: &Page,
    looked_at: Option<(i64, i64)>,
    more: bool,
    meta: &mut Map<String, Value>,
) {
    let Some((first, last)) = looked_at else {
        return;
    };
    let behind = more || page.is_backward();
    let before = if page.is_backward() {
        more
    } else {
        page.after.is_some()
    };
    if behind {
        meta.insert(
            "next_token".to_owned(),
            page.token(Direction::Next, last).into(),
        );
    }
    if before {
        meta.insert(
            "previous_token".to_owned(),
            page.token(Direction::Previous, first).into(),
        );
    }
}
