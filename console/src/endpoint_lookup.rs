//! Endpoints of the public API by what a person types.

use base::{Error, Refusal, Vocabulary};
use web::endpoint::Endpoint;
use web::request_context::AppState;
use web::router::{endpoint_label, spell_path};

const MAX_SUGGESTIONS: usize = 3;
const MIN_SIMILARITY: f64 = 0.6;

/// The number and declaration of an endpoint that is named by method and path, in either vocabulary, with or without
/// values of path parameters; or by its operation id.
pub(crate) fn find_endpoint(state: &AppState, text: &str) -> Result<(usize, &'static Endpoint), Error> {
    let named = text.trim();
    let all = state.endpoints.iter().copied().enumerate();
    let all = all.filter(|(_, endpoint)| is_listed(endpoint));
    let with_id = all.clone().find(|(_, endpoint)| endpoint.id == named);
    let matching = with_id.or_else(|| {
        let (method, path) = named.split_once(' ')?;
        let (method, path) = (method.to_uppercase(), path.trim());
        let same_method = all.filter(|(_, endpoint)| endpoint.method == method);
        let mut matching: Vec<_> = same_method.filter(|(_, endpoint)| matches_path(endpoint, path)).collect();
        // `/2/users/me` is preferred to `/2/users/{id}`.
        matching.sort_by_key(|(_, endpoint)| endpoint.path.matches('{').count());
        matching.into_iter().next()
    });
    matching.ok_or_else(|| unknown_endpoint(state, named).into())
}

/// Whether it is an endpoint of the API instead of a page.
pub(crate) fn is_listed(endpoint: &Endpoint) -> bool {
    endpoint.handler.is_some() && endpoint.error_format != web::endpoint::ErrorFormat::Page
}

fn matches_path(endpoint: &Endpoint, path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    let spellings = [Vocabulary::Post, Vocabulary::Tweet];
    let paths = std::iter::once(endpoint.path).chain(endpoint.aliases.iter().copied());
    paths
        .flat_map(|one| spellings.map(|vocabulary| spell_path(one, vocabulary)))
        .any(|one| matches_segments(&one, path))
}

fn matches_segments(template: &str, path: &str) -> bool {
    let (expected, written) = (template.split('/'), path.split('/'));
    expected.clone().count() == written.clone().count()
        && expected.zip(written).all(|(expected, written)| {
            let is_value = expected.starts_with('{') && !written.is_empty();
            expected == written || is_value
        })
}

fn unknown_endpoint(state: &AppState, named: &str) -> Refusal {
    let labels = state.endpoints.iter().filter(|endpoint| is_listed(endpoint)).map(|endpoint| endpoint_label(endpoint));
    let hint = suggest_names(labels, named)
        .unwrap_or_else(|| "name it by method and path, as in [GET /2/users/me]; `locum routes` lists all".to_owned());
    Refusal::invalid_parameter("endpoint", named, format!("no endpoint matches [{named}]: {hint}"))
}

/// A question with the names most like a wrong one; none if no name is like it.
pub(crate) fn suggest_names(names: impl Iterator<Item = String>, wrong: &str) -> Option<String> {
    let mut similar: Vec<(f64, String)> = names
        .map(|name| (strsim::normalized_damerau_levenshtein(&name, wrong), name))
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .collect();
    similar.sort_by(|one, other| other.0.total_cmp(&one.0));
    similar.dedup();
    similar.truncate(MAX_SUGGESTIONS);
    let similar: Vec<String> = similar.into_iter().map(|(_, name)| format!("[{name}]")).collect();
    if similar.is_empty() { None } else { Some(format!("did you mean {}?", similar.join(" or "))) }
}

#[cfg(test)]
mod tests {
    use super::matches_segments;

    #[test]
    fn a_parameter_matches_one_segment() {
        assert!(matches_segments("/2/users/{id}/likes", "/2/users/{id}/likes"));
        assert!(matches_segments("/2/users/{id}/likes", "/2/users/42/likes"));
        assert!(!matches_segments("/2/users/{id}/likes", "/2/users//likes"));
        assert!(!matches_segments("/2/users/{id}/likes", "/2/users/42"));
        assert!(!matches_segments("/2/users/me", "/2/users/you"));
    }
}
