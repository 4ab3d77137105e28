//! Faults that a tester orders.

use base::refusal::ResourceRef;
use base::{Error, Refusal};
use emulator::faults::{EFFECTS, EffectDeclaration, FaultRuleSummary, MATCH_FIELDS, MAX_RULES};
use serde_json::{Value, json};
use web::HttpReply;
use web::endpoint::{BodySpec, Endpoint, Kind, Parameter};
use web::request_context::RequestContext;

use super::control_operation;
use crate::fault_rules::add_rules;

const RULES: Parameter = Parameter {
    summary: "Added in this order, all or none. Each has an effect, {\"name\": …} with its parameters, and may have a \
              match, with conditions, and an id.",
    ..Parameter::member("rules", Kind::JSON.list(1, MAX_RULES)).as_required()
};

pub(super) static ENDPOINTS: &[Endpoint] = &[
    control_operation("listFaults", "GET", "/control/v1/faults", &list)
        .summary("The rules, in the order in which they are compared, with how often each matched and was applied."),
    control_operation("addFaults", "POST", "/control/v1/faults", &add)
        .body(BodySpec::Json(&[RULES]))
        .creates()
        .summary("Adds rules. The first that applies to a request, stream or delivery wins."),
    control_operation("clearFaults", "DELETE", "/control/v1/faults", &clear).summary("Removes all rules."),
    control_operation("removeFault", "DELETE", "/control/v1/faults/{id}", &remove)
        .params(&[&[Parameter::path("id", Kind::text(1, 40), "The rule's id.")]])
        .summary("Removes a rule."),
    control_operation("listFaultEffects", "GET", "/control/v1/fault-effects", &list_effects)
        .summary("The effects and conditions that rules can have."),
];

async fn list(call: RequestContext) -> Result<HttpReply, Error> {
    let rules = call.emulator()?.faults.list(call.now());
    let rules: Vec<Value> = rules.iter().map(FaultRuleSummary::to_json).collect();
    call.respond_data(rules.into())
}

async fn add(call: RequestContext) -> Result<HttpReply, Error> {
    let rules = call.body().get("rules").and_then(Value::as_array).cloned().unwrap_or_default();
    let ids = add_rules(&call, &rules).await?;
    call.respond_data(json!({ "ids": ids }))
}

async fn clear(call: RequestContext) -> Result<HttpReply, Error> {
    call.respond_data(json!({ "removed": call.emulator()?.faults.clear() }))
}

async fn remove(call: RequestContext) -> Result<HttpReply, Error> {
    let id = call.path_text("id")?;
    if !call.emulator()?.faults.remove(id) {
        return Err(Refusal::NotFound(ResourceRef::new("fault", "id", id)).into());
    }
    call.respond_data(json!({ "removed": 1 }))
}

async fn list_effects(_call: RequestContext) -> Result<HttpReply, Error> {
    let effects: Vec<Value> = EFFECTS.iter().map(EffectDeclaration::to_json).collect();
    let conditions = MATCH_FIELDS.iter().map(|field| (field.name.to_owned(), field.summary.into()));
    let conditions: serde_json::Map<String, Value> = conditions.collect();
    Ok(HttpReply::json(200, &json!({ "data": { "effects": effects, "match": conditions } })))
}
