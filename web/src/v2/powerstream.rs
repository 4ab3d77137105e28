//! The powerstream's rules.

use base::{Refusal, Stop, Word};
use network::apps::AccessLevel;
use network::rules::{self, NewRule};
use query::{Dialect, Level, Problems};
use serde_json::{Map, Value, json};
use store::rules::{self as stored, Product, Rule};

use crate::accents;
use crate::body::{self, Members};
use crate::call::{Call, Reply};
use crate::endpoint::Pending;

const RULES: Word = Word::same("rules");
const IDS: Word = Word::same("ids");
const VALUE: Word = Word::same("value");
const TAG: Word = Word::same("tag");

/// `GET /2/powerstream/rules`: all of them, oldest first.
pub(crate) fn rules(call: Call) -> Pending {
    Box::pin(async move {
        let (app, most) = (call.caller()?.app_id, dialect(&call)?.rules());
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let found = call
            .read(move |tx| Ok(stored::of_app(tx, app, Product::Powerstream, 0, most)?))
            .await?;
        call.say(shown(&found))
    })
}

/// `POST /2/powerstream/rules`: those that can be read and are new are added, of the others it is
/// said why not.
pub(crate) fn add(call: Call) -> Pending {
    Box::pin(async move {
        let (app, dialect) = (call.caller()?.app_id, dialect(&call)?);
        let (mut new, mut refused) = (Vec::new(), Vec::new());
        for member in call.body().objects(RULES) {
            match read(member, dialect)? {
                Ok(rule) => new.push(rule),
                Err(refusal) => refused.push(refusal),
            }
        }
        // Nothing that could be added came (contract §9.2).
        if new.is_empty() {
            return Ok(answer(&call, 200, &[], &refused));
        }
        let added = call
            .write(move |tx| rules::add(tx, app, Product::Powerstream, dialect.rules(), &new))
            .await?;
        refused.extend(added.duplicates);
        let status = call.endpoint().success;
        Ok(answer(&call, status, &added.rules, &refused))
    })
}

/// `DELETE /2/powerstream/rules`: by their ids, or by their values whatever their tags.
pub(crate) fn delete(call: Call) -> Pending {
    Box::pin(async move {
        let (app, body) = (call.caller()?.app_id, call.body());
        if body.has(RULES) == body.has(IDS) {
            let message = "The body must have exactly one of `rules` and `ids`";
            return Err(body::whole(message).into());
        }
        let ids: Vec<i64> = body.ids::<()>(IDS).iter().map(|id| id.get()).collect();
        let mut values = Vec::new();
        // What was added while the app could say more can be removed.
        let dialect = Dialect::new(query::Product::Powerstream, Level::Enterprise);
        for member in body.objects(RULES) {
            values.extend(read(member, dialect)?.ok().map(|rule| rule.canonical));
        }
        let asked = body.array(RULES).len().max(ids.len());
        let deleted = call
            .write(move |tx| {
                let by_id = rules::remove(tx, app, Product::Powerstream, &ids)?;
                let by_value = rules::remove_values(tx, app, Product::Powerstream, &values)?;
                Ok(by_id.saturating_add(by_value))
            })
            .await?;
        let not_deleted = asked.saturating_sub(deleted);
        call.say(json!({ "deleted": deleted, "not_deleted": not_deleted }))
    })
}

fn dialect(call: &Call) -> Result<Dialect, Stop> {
    let enterprise = call.caller()?.app.access_level == AccessLevel::Enterprise.name();
    let level = if enterprise {
        Level::Enterprise
    } else {
        Level::SelfServe
    };
    Ok(Dialect::new(query::Product::Powerstream, level))
}

/// A rule of the body, or why it is none.
fn read(member: Members<'_>, dialect: Dialect) -> Result<Result<NewRule, Refusal>, Stop> {
    let value = member.text(VALUE)?.to_owned();
    Ok(match query::parse(&value, dialect) {
        Ok(query) => Ok(NewRule {
            canonical: query.to_string(),
            tag: member.text_if(TAG).unwrap_or_default().to_owned(),
            value,
        }),
        Err(problems) => Err(Refusal::InvalidRule {
            value,
            details: problems.details(),
            too_long: matches!(problems, Problems::TooLong { .. }),
        }),
    })
}

fn answer(call: &Call, status: u16, added: &[Rule], refused: &[Refusal]) -> Reply {
    let mut body = Map::new();
    if !added.is_empty() {
        body.insert("data".to_owned(), shown(added));
    }
    if !refused.is_empty() {
        let base = &call.home.problem_base;
        let errors = refused.iter().map(|one| accents::partial(one, base));
        body.insert("errors".to_owned(), errors.collect());
    }
    Reply::json(status, &Value::Object(body))
}

fn shown(rules: &[Rule]) -> Value {
    let rules = rules.iter().map(|rule| {
        let mut shown = json!({ "id": rule.id.to_string(), "value": rule.value });
        if !rule.tag.is_empty()
            && let Some(members) = shown.as_object_mut()
        {
            members.insert("tag".to_owned(), json!(rule.tag));
        }
        shown
    });
    json!({ "rules": rules.collect::<Value>() })
}
