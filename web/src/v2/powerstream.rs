//! The powerstream's rules.

use base::{Error, Refusal, VocabularyWord};
use network::rules as acts;
use query::{AccessTier, QueryDialect};
use serde_json::{Map, Value, json};
use store::rules::{self as stored, StreamProduct, StreamRule};

use super::rules;
use crate::body;
use crate::call::{Call, Reply};
use crate::endpoint::Pending;

const RULES: VocabularyWord = VocabularyWord::same_in_both("rules");
const IDS: VocabularyWord = VocabularyWord::same_in_both("ids");

/// `GET /2/powerstream/rules`: all of them, oldest first.
pub(crate) fn rules(call: Call) -> Pending {
    Box::pin(async move {
        let (app, most) = (call.caller()?.app_id, dialect(&call)?.max_rules());
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let found = call
            .read(move |tx| {
                Ok(stored::list_by_app(
                    tx,
                    app,
                    StreamProduct::Powerstream,
                    0,
                    most,
                )?)
            })
            .await?;
        call.say(shown(&found))
    })
}

/// `POST /2/powerstream/rules`: those that can be read and are new are added, of the others it is
/// said why not.
pub(crate) fn add(call: Call) -> Pending {
    Box::pin(async move {
        let (app, dialect) = (call.caller()?.app_id, dialect(&call)?);
        let (new, mut refused) = rules::read(call.body().objects(RULES), dialect)?;
        // Nothing that could be added came (contract §9.2).
        if new.is_empty() {
            return Ok(answer(&call, 200, &[], &refused));
        }
        let added = call
            .write(move |tx| {
                acts::add(
                    tx,
                    app,
                    StreamProduct::Powerstream,
                    dialect.max_rules(),
                    &new,
                    false,
                )
            })
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
        // What was added while the app could say more can be removed.
        let dialect = QueryDialect::new(query::QueryProduct::Powerstream, AccessTier::Enterprise);
        let (known, _) = rules::read(body.objects(RULES), dialect)?;
        let values: Vec<String> = known.into_iter().map(|rule| rule.canonical).collect();
        let asked = body.array(RULES).len().max(ids.len());
        let deleted = call
            .write(move |tx| {
                let by_id = acts::remove(tx, app, StreamProduct::Powerstream, &ids)?;
                let by_value =
                    acts::remove_by_canonical(tx, app, StreamProduct::Powerstream, &values)?;
                Ok(by_id.saturating_add(by_value))
            })
            .await?;
        let not_deleted = asked.saturating_sub(deleted);
        call.say(json!({ "deleted": deleted, "not_deleted": not_deleted }))
    })
}

fn dialect(call: &Call) -> Result<QueryDialect, Error> {
    rules::dialect(call, query::QueryProduct::Powerstream)
}

fn answer(call: &Call, status: u16, added: &[StreamRule], refused: &[Refusal]) -> Reply {
    let mut body = Map::new();
    if !added.is_empty() {
        body.insert("data".to_owned(), shown(added));
    }
    if !refused.is_empty() {
        body.insert("errors".to_owned(), rules::errors(call, refused));
    }
    Reply::json(status, &Value::Object(body))
}

fn shown(rules: &[StreamRule]) -> Value {
    json!({ "rules": rules.iter().map(rules::shown).collect::<Value>() })
}
