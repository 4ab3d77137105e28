//! What an assertion names must exist: no request has a misspelled name, so that `count=0` would always hold.

use base::{AppId, Error, UserId};
use emulator::faults::RoutePattern;
use emulator::journal::RequestFilter;
use store::users;
use web::endpoint::Endpoint;
use web::request_context::{AppState, RequestContext};
use web::router::path_spellings;

use crate::endpoint_lookup::{is_listed, suggest_names};

const SHOWN_APPS: usize = 10;
/// That a client no longer calls this version, most of whose operations do not exist here, is worth asserting.
const LEGACY_PREFIX: &str = "/1.1/";
/// Clients send these to any path.
const GENERAL_METHODS: [&str; 2] = ["HEAD", "OPTIONS"];

/// The first route, operation, app or user that neither the server nor a request of the journal has.
pub(crate) async fn find_unknown_name(call: &RequestContext, filter: &RequestFilter) -> Result<Option<String>, Error> {
    let RequestFilter { method, path, operation, app, user, .. } = filter.clone();
    let (app_problem, user_problem) =
        (find_app_problem(call, app.clone()).await?, find_user_problem(call, user.as_ref()).await?);
    let named = [
        (find_route_problem(&call.state, filter), RequestFilter { method, path, ..RequestFilter::default() }),
        (find_operation_problem(&call.state, filter), RequestFilter { operation, ..RequestFilter::default() }),
        (app_problem, RequestFilter { app, ..RequestFilter::default() }),
        (user_problem, RequestFilter { user, ..RequestFilter::default() }),
    ];
    let journal = &call.emulator()?.journal;
    let mut unknown = named.into_iter().filter_map(|(problem, only)| Some((problem?, only)));
    Ok(unknown.find(|(_, only)| journal.list_before(only, None, 1).is_empty()).map(|(problem, _)| problem))
}

fn find_route_problem(state: &AppState, filter: &RequestFilter) -> Option<String> {
    let path = filter.path.as_deref()?.split('?').next().filter(|path| !path.starts_with(LEGACY_PREFIX))?;
    let method = filter.method.as_deref().filter(|method| !GENERAL_METHODS.contains(method));
    let pattern = RoutePattern::parse(path).ok();
    let has_route = |endpoint: &&Endpoint| {
        let fits = |path: &str| pattern.as_ref().is_some_and(|pattern| pattern.may_match_path(path));
        method.is_none_or(|method| method == endpoint.method) && spellings(endpoint).any(|path| fits(&path))
    };
    if state.endpoints.iter().any(has_route) {
        return None;
    }
    let label =
        |method: &str, path: &str| if filter.method.is_some() { format!("{method} {path}") } else { path.to_owned() };
    let listed = state.endpoints.iter().filter(|endpoint| is_listed(endpoint));
    let labels = listed.flat_map(|endpoint| spellings(endpoint).map(|path| label(endpoint.method, &path)));
    let named = label(filter.method.as_deref().unwrap_or_default(), path);
    let hint = suggest_names(labels, &named).unwrap_or_else(|| "`locum routes` lists all".to_owned());
    Some(format!("no operation has the route [{named}]: {hint}"))
}

fn spellings(endpoint: &Endpoint) -> impl Iterator<Item = String> {
    let paths = std::iter::once(&endpoint.path).chain(endpoint.aliases);
    paths.flat_map(|path| path_spellings(path).into_iter().map(|(path, _)| path).filter(|path| !path.contains('<')))
}

fn find_operation_problem(state: &AppState, filter: &RequestFilter) -> Option<String> {
    let named = filter.operation.as_deref()?;
    if state.endpoints.iter().any(|endpoint| endpoint.id == named) {
        return None;
    }
    let ids = state.endpoints.iter().filter(|endpoint| is_listed(endpoint)).map(|endpoint| endpoint.id.to_owned());
    let hint = suggest_names(ids, named).unwrap_or_else(|| "`locum routes` lists all".to_owned());
    Some(format!("there is no operation [{named}]: {hint}"))
}

async fn find_app_problem(call: &RequestContext, named: Option<String>) -> Result<Option<String>, Error> {
    let Some(named) = named else {
        return Ok(None);
    };
    let all = call.read(|tx| identity::apps::list(tx, None)).await?;
    if all.iter().any(|app| AppId::parse(&named) == Some(app.id) || app.name.eq_ignore_ascii_case(&named)) {
        return Ok(None);
    }
    let names: Vec<&str> = all.iter().take(SHOWN_APPS).map(|app| app.name.as_str()).collect();
    Ok(Some(format!("there is no app [{named}]; there are: {}", names.join(", "))))
}

/// Names have been replaced by ids.
async fn find_user_problem(call: &RequestContext, user: Option<&String>) -> Result<Option<String>, Error> {
    let Some(id) = user.cloned() else {
        return Ok(None);
    };
    let found = match UserId::parse(&id) {
        Some(user) => call.read(move |tx| Ok(users::find_by_id(tx, user)?)).await?,
        None => None,
    };
    Ok(if found.is_some() { None } else { Some(format!("no user has the id {id}")) })
}
