//! `/console/explorer`: finds an operation of the API and calls it.

mod call;
mod credentials;
mod curl;
mod fields;
mod form;
mod index;
mod request;

use base::Vocabulary;
use pages::console::ExplorerOperation;
use portal::portal_page;
use web::endpoint::{BodySpec, Endpoint, ErrorFormat, Kind, MAX_SHORT_TEXT, Parameter};
use web::request_context::RequestContext;
use web::router::spell_path;

const PATH: &str = "/console/explorer";
const OPERATION: &str = "/console/explorer/{operation}";
const ID: &[Parameter] = &[Parameter::path("operation", Kind::text(0, MAX_SHORT_TEXT), "The id of the operation.")];

pub(super) static ENDPOINTS: &[Endpoint] = &[
    portal_page("consoleExplorer", "GET", PATH, &index::show).summary("Finds an operation of the API."),
    portal_page("consoleExplorerOperation", "GET", OPERATION, &form::show)
        .summary("The form of an operation.")
        .params(&[ID]),
    // The fields depend on the operation that is called.
    portal_page("consoleExplorerCall", "POST", OPERATION, &form::submit)
        .summary("Calls an operation and shows the response.")
        .params(&[ID])
        .body(BodySpec::Raw),
];

/// Pages are not part of the API.
fn api_operations(call: &RequestContext) -> impl Iterator<Item = &'static Endpoint> + '_ {
    call.state.endpoints.iter().copied().filter(|endpoint| endpoint.error_format != ErrorFormat::Page)
}

fn operation_item(endpoint: &'static Endpoint, vocabulary: Vocabulary) -> ExplorerOperation {
    let permit = endpoint.permit;
    ExplorerOperation {
        id: endpoint.id,
        method: endpoint.method,
        path: spell_path(endpoint.path, vocabulary),
        summary: endpoint.summary,
        link: format!("{PATH}/{}", endpoint.id),
        is_built: endpoint.handler.is_some(),
        credentials: if permit.open { "anything, also no credentials".to_owned() } else { permit.accepted_names() },
    }
}

/// For example `users`, or `ads: campaigns`.
fn group_name(endpoint: &Endpoint) -> String {
    let path = spell_path(endpoint.path, Vocabulary::Post);
    let mut segments = path.split('/').filter(|segment| !segment.is_empty() && !segment.starts_with('{'));
    let is_version = |segment: &&str| segment.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if endpoint.ads.is_some() {
        let names = segments.filter(|segment| !is_version(segment) && *segment != "accounts");
        return format!("ads: {}", names.take(1).next().unwrap_or("accounts"));
    }
    segments.find(|segment| !is_version(segment)).unwrap_or("other").trim_end_matches(".json").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_grouped_by_what_they_are_about() {
        for (path, group) in [
            ("/2/users/{id}", "users"),
            ("/2/<posts>/search/recent", "posts"),
            ("/2/<posts>", "posts"),
            ("/1.1/account/verify_credentials.json", "account"),
            ("/oauth/request_token", "oauth"),
        ] {
            assert_eq!(group_name(&Endpoint::new("x", "GET", path)), group, "{path}");
        }
    }
}
