//! Batch requests: all changes succeed, or none is made (contract ads §1.7).

use base::refusal::{AdsProblem, AdsRefusal};
use base::{Error, Refusal};
use schema::{IdFormat, RawParam};
use serde_json::{Map, Value, json};

use crate::account_context::{AccountContext, BatchState, unknown_record};
use crate::declaration::{Resource, ResourceVerb};
use crate::engine::{self, ensure_valid_params};
use crate::field_kind::parse_record_id;
use crate::operations::field_params;
use crate::output::OperationOutput;
use crate::parsed_params::ParsedParams;
use crate::record::AdsRecord;
use crate::record_change::RecordChange;

struct BatchItem<'i> {
    verb: Option<ResourceVerb>,
    name: &'i Value,
    params: Map<String, Value>,
}

impl<'i> BatchItem<'i> {
    fn parse(resource: &Resource, item: &'i Value) -> Self {
        let name = item.get("operation_type").unwrap_or(&Value::Null);
        let verb = match name.as_str().unwrap_or_default().to_ascii_lowercase().as_str() {
            "create" => Some(ResourceVerb::Create),
            "update" => Some(ResourceVerb::Update),
            "delete" => Some(ResourceVerb::Delete),
            _ => None,
        };
        let params = item.get("params").and_then(Value::as_object);
        Self {
            verb: verb.filter(|verb| resource.supports_in_batch(*verb)),
            name,
            params: params.cloned().unwrap_or_default(),
        }
    }
}

pub fn apply_batch(
    ctx: &mut AccountContext<'_, '_>,
    resource: &'static Resource,
    params: &ParsedParams,
) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let items = batch_items(resource, params.json.as_ref())?;
    let items: Vec<BatchItem<'_>> = items.iter().map(|item| BatchItem::parse(resource, item)).collect();
    // Deletions run first, since they make room under the limits.
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|place| items.get(*place).is_some_and(|item| item.verb != Some(ResourceVerb::Delete)));
    let mut done: Vec<Option<AdsRecord>> = items.iter().map(|_| None).collect();
    let mut wrong: Vec<Vec<AdsProblem>> = items.iter().map(|_| Vec::new()).collect();
    let mut requests = vec![Value::Null; items.len()];
    ctx.batch = Some(BatchState { resource, item_index: 0, changes: Vec::new() });
    for place in order {
        let Some(item) = items.get(place) else {
            continue;
        };
        if let Some(batch) = &mut ctx.batch {
            batch.item_index = place;
        }
        let (request, result) = apply_item(ctx, resource, item);
        if let Some(slot) = requests.get_mut(place) {
            *slot = request;
        }
        match result {
            Ok(record) => set_at_index(&mut done, place, Some(record)),
            Err(Error::Refused(Refusal::Ads(refusal))) => set_at_index(&mut wrong, place, refusal.problems),
            Err(other) => return Err(other),
        }
    }
    let batch = ctx.batch.take();
    if wrong.iter().all(Vec::is_empty) {
        run_batch_validator(ctx, batch, &mut wrong)?;
    }
    if wrong.iter().any(|problems| !problems.is_empty()) {
        let request = Value::from(requests).to_string();
        let refusal = AdsRefusal { items: wrong, request, ..AdsRefusal::default() };
        return Err(Refusal::Ads(Box::new(refusal)).into());
    }
    let records: Vec<AdsRecord> = done.into_iter().flatten().collect();
    let mut output = OperationOutput::from_records(ctx, records)?;
    output.item_requests = Some(requests);
    output.data_type = resource.batch_data_type;
    Ok(output)
}

fn run_batch_validator(
    ctx: &mut AccountContext<'_, '_>,
    batch: Option<BatchState>,
    wrong: &mut [Vec<AdsProblem>],
) -> Result<(), Error> {
    let Some(batch) = batch else { return Ok(()) };
    let Some(settles) = batch.resource.validate_batch else {
        return Ok(());
    };
    let (places, changes): (Vec<usize>, Vec<RecordChange>) = batch.changes.into_iter().unzip();
    for (place, found) in places.into_iter().zip(settles(ctx, &changes)?) {
        if let Some(problems) = wrong.get_mut(place) {
            problems.extend(found);
        }
    }
    Ok(())
}

fn set_at_index<T>(all: &mut [T], index: usize, value: T) {
    if let Some(slot) = all.get_mut(index) {
        *slot = value;
    }
}

/// Validates the body: a non-empty array within the maximum length.
fn batch_items<'j>(resource: &Resource, json: Option<&'j Value>) -> Result<&'j [Value], Error> {
    let wrong = |message: String| Error::from(AdsProblem::new("INVALID_PARAMETER", message));
    let Some(Value::Array(items)) = json else {
        return Err(wrong("The request body must be a JSON array".to_owned()));
    };
    if items.is_empty() || items.len() > resource.max_batch_items {
        let (most, count) = (resource.max_batch_items, items.len());
        let message = format!("Expected 1 to {most} items in a batch, got {count}");
        return Err(wrong(message));
    }
    if items.iter().any(|item| !item.is_object()) {
        return Err(wrong("Every item of a batch must be a JSON object".to_owned()));
    }
    Ok(items)
}

/// Applies one item; returns its echoed request and its outcome.
fn apply_item(
    ctx: &mut AccountContext<'_, '_>,
    resource: &'static Resource,
    item: &BatchItem<'_>,
) -> (Value, Result<AdsRecord, Error>) {
    let vocabulary = ctx.caller.vocabulary;
    let account = ctx.account().map(|account| account.record.formatted_id());
    let Some(verb) = item.verb else {
        let problem = match item.name {
            Value::Null => AdsProblem::missing_parameter("operation_type"),
            other => {
                let shown = RawParam::Json(other).display_text();
                let expected = describe_verbs(resource);
                let message = format!("Expected {expected}, got \"{shown}\" for operation_type");
                AdsProblem::invalid_parameter("operation_type", shown, message)
            }
        };
        let request = json!({ "params": {}, "operation_type": item.name });
        return (request, Err(problem.into()));
    };
    let operation_params = match verb {
        ResourceVerb::Create => field_params(resource, true),
        ResourceVerb::Update => field_params(resource, false),
        _ => Vec::new(),
    };
    let mut params =
        ParsedParams::parse_item(&operation_params, &item.params, vocabulary, verb == ResourceVerb::Update);
    let id = match verb {
        ResourceVerb::Create => Ok(0),
        _ => item_record_id(resource, item, &mut params, vocabulary),
    };
    if let Ok(account) = account {
        params.echo.insert("account_id".to_owned(), account.into());
    }
    let result = match (verb, id) {
        (_, Err(problem)) => Err(problem.into()),
        (ResourceVerb::Create, _) => engine::create(ctx, resource, &params),
        (ResourceVerb::Update, Ok(id)) => engine::update(ctx, resource, id, &params),
        (_, Ok(id)) => engine::delete(ctx, resource, id),
    };
    let request = json!({ "params": params.echo, "operation_type": item.name });
    (request, result)
}

/// The operations that a batch of the resource may have: `Create, Update or Delete`.
fn describe_verbs(resource: &Resource) -> String {
    let verbs = [(ResourceVerb::Create, "Create"), (ResourceVerb::Update, "Update"), (ResourceVerb::Delete, "Delete")];
    let verbs = verbs.into_iter().filter(|(verb, _)| resource.supports_in_batch(*verb));
    let names: Vec<&str> = verbs.map(|(_, name)| name).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// The id of the record an item is about: under its own name, or `id`.
fn item_record_id(
    resource: &'static Resource,
    item: &BatchItem<'_>,
    params: &mut ParsedParams,
    vocabulary: base::Vocabulary,
) -> Result<i64, AdsProblem> {
    let name = resource.id.name_in(vocabulary);
    let sent = item
        .params
        .iter()
        .find(|(key, _)| resource.id.matches(key))
        .or_else(|| item.params.iter().find(|(key, _)| *key == "id"));
    let (sent_name, value) = sent.ok_or_else(|| AdsProblem::missing_parameter(name))?;
    let text = RawParam::Json(value).display_text();
    let id = parse_record_id(resource.id_format, name, &text)?;
    if id == IdFormat::UNKNOWN {
        return Err(unknown_record(resource, name, &text));
    }
    params.echo.insert(sent_name.clone(), resource.id_format.format(id).into());
    Ok(id)
}
