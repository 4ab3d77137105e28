//! Rules for faults: what they name must exist.

use base::refusal::RefusalKind;
use base::{AppId, Error, Refusal, UserId};
use deliver::streams::StreamEndpoint;
use emulator::faults::{FaultRuleProblem, FaultRuleRequest};
use serde_json::Value;
use store::apps::AppStatus;
use store::{Tx, apps, users, webhooks};
use web::endpoint::Endpoint;
use web::request_context::RequestContext;
use web::router::path_spellings;

/// Adds all rules or none; returns their ids.
pub(crate) async fn add_rules(call: &RequestContext, rules: &[Value]) -> Result<Vec<String>, Error> {
    let mut requests = Vec::new();
    for (index, rule) in rules.iter().enumerate() {
        let refuse = |problem: FaultRuleProblem| refuse_rule(problem.of_rule(index));
        let mut request = FaultRuleRequest::from_json(rule).map_err(refuse)?;
        check_route(call, &request).map_err(refuse)?;
        check_reach(call, &request).map_err(refuse)?;
        check_stream(&request).map_err(refuse)?;
        request.check_end(call.now()).map_err(refuse)?;
        let matcher = request.matcher.clone();
        let find = move |tx: &mut Tx<'_>| {
            let (app, user) = (find_app(tx, matcher.app.as_deref())?, find_user(tx, matcher.user.as_deref())?);
            Ok((app, user, check_webhook(tx, matcher.webhook)?))
        };
        let (app, user, webhook) = call.read(find).await?;
        request.matcher.app_id = app.map_err(refuse)?.map(AppId::get);
        request.matcher.user_id = user.map_err(refuse)?.map(UserId::get);
        webhook.map_err(refuse)?;
        requests.push(request);
    }
    call.emulator()?
        .faults
        .add(requests)
        .map_err(|problem| Refusal::named_reason(RefusalKind::Conflict, "rules", problem.value, problem.message).into())
}

fn refuse_rule(problem: FaultRuleProblem) -> Refusal {
    Refusal::invalid_parameter(problem.path, problem.value, problem.message)
}

/// An operation of the server must have the route.
fn check_route(call: &RequestContext, request: &FaultRuleRequest) -> Result<(), FaultRuleProblem> {
    let Some(route) = &request.matcher.route else {
        return Ok(());
    };
    let fits = |endpoint: &&Endpoint| {
        route.matches_method(endpoint.method) && has_path(endpoint, |path| route.may_match_path(path))
    };
    if call.state.endpoints.iter().any(fits) {
        return Ok(());
    }
    let message = "no operation has this route: `locum routes` and /openapi.json list those there are";
    Err(FaultRuleProblem::new("match.route", request.match_text("route"), message))
}

fn has_path(endpoint: &Endpoint, is_wanted: impl Fn(&str) -> bool) -> bool {
    let mut paths = std::iter::once(&endpoint.path).chain(endpoint.aliases);
    paths.any(|path| path_spellings(path).iter().any(|(spelling, _)| is_wanted(spelling)))
}

/// Requests to some operation must be able to meet all conditions.
fn check_reach(call: &RequestContext, request: &FaultRuleRequest) -> Result<(), FaultRuleProblem> {
    if !request.concerns_requests() {
        return Ok(());
    }
    let is_met = |endpoint: &&&Endpoint| has_path(endpoint, |path| request.may_apply_to(endpoint.method, path));
    let met = || call.state.endpoints.iter().filter(is_met);
    let refuse = |name: &str, problem: &str| {
        let message = format!("the rule could never apply: {problem}");
        Err(FaultRuleProblem::new(format!("match.{name}"), request.match_text(name), message))
    };
    if met().next().is_none() {
        return refuse("method", "no operation with its route and effect has this method");
    }
    if !request.match_text("account").is_empty() && !met().any(|endpoint| is_of_account(endpoint)) {
        return refuse("account", "no operation with its route and effect has an account_id");
    }
    if request.matcher.user.is_some() && !met().any(|endpoint| endpoint.permit.oauth1 || endpoint.permit.oauth2) {
        return refuse("user", "no operation with its route and effect is called with a user's token");
    }
    Ok(())
}

fn is_of_account(endpoint: &Endpoint) -> bool {
    let mut parameters = endpoint.params.iter().copied().flatten();
    endpoint.path.contains("{account_id}") || parameters.any(|parameter| parameter.name.post == "account_id")
}

fn check_stream(request: &FaultRuleRequest) -> Result<(), FaultRuleProblem> {
    let Some(name) = request.matcher.stream.as_deref() else {
        return Ok(());
    };
    if StreamEndpoint::parse(name).is_some() {
        return Ok(());
    }
    let names: Vec<&str> = StreamEndpoint::ALL.iter().map(|stream| stream.name()).collect();
    let message = format!("there is no stream {name:?}; the streams are: {}", names.join(", "));
    Err(FaultRuleProblem::new("match.stream", name, message))
}

type Found<T> = Result<Option<T>, FaultRuleProblem>;

/// By id, API key, client id or name.
fn find_app(tx: &mut Tx<'_>, text: Option<&str>) -> Result<Found<AppId>, Error> {
    let Some(text) = text else {
        return Ok(Ok(None));
    };
    let all = identity::apps::list(tx, None)?;
    let active = all.iter().filter(|app| app.state != AppStatus::Deleted);
    let is_named = |app: &&apps::App| {
        AppId::parse(text) == Some(app.id) || app.name == text || app.api_key == text || app.client_id == text
    };
    let named: Vec<_> = active.clone().filter(is_named).map(|app| app.id).collect();
    Ok(match named.as_slice() {
        [app] => Ok(Some(*app)),
        [] => {
            let names: Vec<&str> = active.take(10).map(|app| app.name.as_str()).collect();
            let message = format!("there is no app {text:?}; there are: {}", names.join(", "));
            Err(FaultRuleProblem::new("match.app", text, message))
        }
        _ => Err(FaultRuleProblem::new("match.app", text, format!("several apps are named {text:?}: use an id"))),
    })
}

/// By id or @name.
fn find_user(tx: &mut Tx<'_>, text: Option<&str>) -> Result<Found<UserId>, Error> {
    let Some(text) = text else {
        return Ok(Ok(None));
    };
    let named = users::find_by_username(tx, text.strip_prefix('@').unwrap_or(text))?;
    let found = match (named, UserId::parse(text)) {
        (Some(user), _) => Some(user),
        (None, Some(id)) => users::find_by_id(tx, id)?,
        (None, None) => None,
    };
    Ok(found.map(|user| Some(user.id)).ok_or_else(|| {
        let message = format!("there is no user {text:?}: give an id, or a name like @demo");
        FaultRuleProblem::new("match.user", text, message)
    }))
}

fn check_webhook(tx: &mut Tx<'_>, id: Option<i64>) -> Result<Result<(), FaultRuleProblem>, Error> {
    let Some(id) = id else {
        return Ok(Ok(()));
    };
    let message = format!("there is no webhook {id}: `locum webhook list` lists those there are");
    let found = webhooks::find_by_id(tx, id)?;
    Ok(found.map(|_| ()).ok_or_else(|| FaultRuleProblem::new("match.webhook", id, message)))
}
