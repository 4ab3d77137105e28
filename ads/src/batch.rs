//! Many changes in one request: all of them, or none (contract §1.7).

use base::refusal::{AdsProblem, AdsRefusal};
use base::{Error, Refusal};
use serde_json::{Map, Value, json};

use crate::answer::Answer;
use crate::change::Change;
use crate::declare::{Resource, Verb};
use crate::desk::{Batch, Desk};
use crate::engine::{self, checked};
use crate::given::Given;
use crate::kind::Raw;
use crate::operations::field_params;
use crate::record::Record;

/// One item, as far as it could be read.
struct Item<'i> {
    verb: Option<Verb>,
    name: &'i Value,
    params: Map<String, Value>,
}

impl<'i> Item<'i> {
    fn read(of: &Resource, item: &'i Value) -> Self {
        let name = item.get("operation_type").unwrap_or(&Value::Null);
        let verb = match name
            .as_str()
            .unwrap_or_default()
            .to_ascii_lowercase()
            .as_str()
        {
            "create" => Some(Verb::Create),
            "update" => Some(Verb::Update),
            "delete" => Some(Verb::Delete),
            _ => None,
        };
        let params = item.get("params").and_then(Value::as_object);
        Self {
            verb: verb.filter(|verb| of.can_in_batch(*verb)),
            name,
            params: params.cloned().unwrap_or_default(),
        }
    }
}

/// Does a batch.
pub fn run(desk: &mut Desk<'_, '_>, of: &'static Resource, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let items = whole(of, given.json.as_ref())?;
    let items: Vec<Item<'_>> = items.iter().map(|item| Item::read(of, item)).collect();
    // What is deleted makes room for the rest.
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|place| {
        items
            .get(*place)
            .is_some_and(|item| item.verb != Some(Verb::Delete))
    });
    let mut done: Vec<Option<Record>> = items.iter().map(|_| None).collect();
    let mut wrong: Vec<Vec<AdsProblem>> = items.iter().map(|_| Vec::new()).collect();
    let mut requests = vec![Value::Null; items.len()];
    desk.batch = Some(Batch {
        of,
        place: 0,
        changes: Vec::new(),
    });
    for place in order {
        let Some(item) = items.get(place) else {
            continue;
        };
        if let Some(batch) = &mut desk.batch {
            batch.place = place;
        }
        let (request, result) = one(desk, of, item);
        if let Some(slot) = requests.get_mut(place) {
            *slot = request;
        }
        match result {
            Ok(record) => put(&mut done, place, Some(record)),
            Err(Error::Refused(Refusal::Ads(declined))) => {
                put(&mut wrong, place, declined.problems)
            }
            Err(other) => return Err(other),
        }
    }
    let batch = desk.batch.take();
    if wrong.iter().all(Vec::is_empty) {
        settle(desk, batch, &mut wrong)?;
    }
    if wrong.iter().any(|problems| !problems.is_empty()) {
        let declined = AdsRefusal {
            problems: Vec::new(),
            items: wrong,
            request: Value::from(requests).to_string(),
        };
        return Err(Refusal::Ads(Box::new(declined)).into());
    }
    let records: Vec<Record> = done.into_iter().flatten().collect();
    let mut answer = Answer::raw(engine::show_all(desk, &records)?);
    answer.requests = Some(requests);
    Ok(answer)
}

/// Looks at what all of it comes to.
fn settle(
    desk: &mut Desk<'_, '_>,
    batch: Option<Batch>,
    wrong: &mut [Vec<AdsProblem>],
) -> Result<(), Error> {
    let Some(batch) = batch else { return Ok(()) };
    let Some(settles) = batch.of.settles else {
        return Ok(());
    };
    let (places, changes): (Vec<usize>, Vec<Change>) = batch.changes.into_iter().unzip();
    for (place, found) in places.into_iter().zip(settles(desk, &changes)?) {
        if let Some(problems) = wrong.get_mut(place) {
            problems.extend(found);
        }
    }
    Ok(())
}

fn put<T>(all: &mut [T], place: usize, value: T) {
    if let Some(slot) = all.get_mut(place) {
        *slot = value;
    }
}

/// The batch itself: an array of objects, not empty and not too long.
fn whole<'j>(of: &Resource, json: Option<&'j Value>) -> Result<&'j [Value], Error> {
    let wrong = |message: String| Error::from(AdsProblem::new("INVALID_PARAMETER", message));
    let Some(Value::Array(items)) = json else {
        return Err(wrong("The request body must be a JSON array".to_owned()));
    };
    if items.is_empty() || items.len() > of.batch {
        let (most, count) = (of.batch, items.len());
        let message = format!("Expected 1 to {most} items in a batch, got {count}");
        return Err(wrong(message));
    }
    if items.iter().any(|item| !item.is_object()) {
        return Err(wrong(
            "Every item of a batch must be a JSON object".to_owned(),
        ));
    }
    Ok(items)
}

/// Does one item; what was understood of it, and what came of it.
fn one(
    desk: &mut Desk<'_, '_>,
    of: &'static Resource,
    item: &Item<'_>,
) -> (Value, Result<Record, Error>) {
    let speech = desk.caller.speech;
    let account = desk.account().map(|account| account.record.written_id());
    let Some(verb) = item.verb else {
        let problem = match item.name {
            Value::Null => AdsProblem::missing_parameter("operation_type"),
            other => {
                let shown = Raw::Json(other).shown();
                let message = format!(
                    "Expected Create, Update or Delete, got \"{shown}\" for operation_type"
                );
                AdsProblem::invalid_parameter("operation_type", shown, message)
            }
        };
        let request = json!({ "params": {}, "operation_type": item.name });
        return (request, Err(problem.into()));
    };
    let params = match verb {
        Verb::Create => field_params(of, true),
        Verb::Update => field_params(of, false),
        _ => Vec::new(),
    };
    let mut given = Given::read_item(&params, &item.params, speech, verb == Verb::Update);
    let id = match verb {
        Verb::Create => Ok(0),
        _ => id_of(of, item, &mut given, speech),
    };
    if let Ok(account) = account {
        given.echo.insert("account_id".to_owned(), account.into());
    }
    let result = match (verb, id) {
        (_, Err(problem)) => Err(problem.into()),
        (Verb::Create, _) => engine::create(desk, of, &given),
        (Verb::Update, Ok(id)) => engine::update(desk, of, id, &given),
        (_, Ok(id)) => engine::delete(desk, of, id),
    };
    let request = json!({ "params": given.echo, "operation_type": item.name });
    (request, result)
}

/// Which record an item is about: under its own name, or `id`.
fn id_of(
    of: &'static Resource,
    item: &Item<'_>,
    given: &mut Given,
    speech: base::Vocabulary,
) -> Result<i64, AdsProblem> {
    let name = of.id.name_in(speech);
    let sent = item
        .params
        .iter()
        .find(|(key, _)| of.id.matches(key))
        .or_else(|| item.params.iter().find(|(key, _)| *key == "id"));
    let (_, value) = sent.ok_or_else(|| AdsProblem::missing_parameter(name))?;
    let text = Raw::Json(value).shown();
    let id = of.ids.read(name, &text)?;
    given
        .echo
        .insert(name.to_owned(), of.ids.write(id.max(0)).into());
    Ok(id)
}
