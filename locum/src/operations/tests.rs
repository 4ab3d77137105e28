use std::collections::{BTreeMap, HashSet};

use base::{Entitlement, Refusal, Vocabulary};
use portal::DEVELOPMENT;
use serde_json::Value;
use web::endpoint::{Endpoint, ErrorFormat, ParameterLocation, RateWindow};
use web::router::{EndpointRouter, spell_path};

use super::ENDPOINTS;

fn all() -> impl Iterator<Item = &'static Endpoint> {
    ENDPOINTS.iter().copied().flatten()
}

fn paths(endpoint: &Endpoint) -> impl Iterator<Item = &'static str> {
    std::iter::once(endpoint.path).chain(endpoint.aliases.iter().copied())
}

fn named_in(path: &str) -> HashSet<&str> {
    path.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect()
}

#[test]
fn ids_are_unique() {
    let mut seen = HashSet::new();
    for endpoint in all() {
        assert!(seen.insert(endpoint.id), "{} twice", endpoint.id);
    }
}

#[test]
fn paths_start_with_a_slash_and_leave_no_word_open() {
    for endpoint in all() {
        for path in paths(endpoint) {
            assert!(path == "/" || path.starts_with('/') && !path.ends_with('/'), "{path}");
            for vocabulary in [Vocabulary::Post, Vocabulary::Tweet] {
                assert!(!spell_path(path, vocabulary).contains(['<', '>']), "{path}");
            }
        }
    }
}

#[test]
fn every_path_names_the_parameters_that_are_declared() {
    for endpoint in all() {
        let path_params = endpoint.parameters().filter(|param| param.location == ParameterLocation::Path);
        let declared: HashSet<_> = path_params.map(|param| param.name.post).collect();
        for path in paths(endpoint) {
            assert_eq!(named_in(path), declared, "{} {path}", endpoint.id);
        }
    }
}

#[test]
fn no_parameter_is_declared_twice() {
    for endpoint in all() {
        let mut seen = HashSet::new();
        for param in endpoint.parameters() {
            for name in param.names() {
                assert!(seen.insert(name), "{}: {name} twice", endpoint.id);
            }
        }
    }
}

#[test]
fn all_operations_can_be_mounted_together() {
    let mut router = EndpointRouter::new(&ENDPOINTS).unwrap();
    // A real network has none of these.
    for endpoint in DEVELOPMENT {
        match router.find(endpoint.method, endpoint.path) {
            // Profiles have all paths of one segment; names of pages are reserved.
            Ok(found) => assert_eq!(found.endpoint.id, "showProfile", "{endpoint:?}"),
            Err(lost) => assert_eq!(lost.refusal, Refusal::RouteNotFound, "{endpoint:?}"),
        }
    }
    router.add(DEVELOPMENT).unwrap();
    for endpoint in all().chain(DEVELOPMENT) {
        for path in paths(endpoint) {
            for vocabulary in [Vocabulary::Post, Vocabulary::Tweet] {
                let path = spell_path(path, vocabulary).replace(['{', '}'], "");
                let found = router.find(endpoint.method, &path).unwrap();
                assert_eq!(found.endpoint.id, endpoint.id, "{} {path}", endpoint.method);
            }
        }
    }
}

#[test]
fn openapi_document_has_the_served_paths_of_v2_and_no_others() {
    let document = web::openapi::document(&ENDPOINTS, false);
    let mut documented = HashSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let aliases = operation["x-alias"].as_array().into_iter().flatten().filter_map(Value::as_str);
            documented
                .extend(std::iter::once(path.as_str()).chain(aliases).map(|path| (method.clone(), path.to_owned())));
        }
    }
    let is_documented = |endpoint: &&Endpoint| endpoint.handler.is_some() && endpoint.error_format != ErrorFormat::Page;
    let served = all().filter(is_documented);
    let served = served.flat_map(|endpoint| {
        let spellings = [Vocabulary::Post, Vocabulary::Tweet];
        let spelled = paths(endpoint).flat_map(move |path| spellings.map(|vocabulary| spell_path(path, vocabulary)));
        spelled.map(|path| (endpoint.method.to_lowercase(), path))
    });
    let is_v2 = |(_, path): &(String, String)| path.starts_with("/2/");
    let served: HashSet<_> = served.filter(is_v2).collect();
    assert!(served.contains(&("post".to_owned(), "/2/evaluate_note".to_owned())));
    let documented: HashSet<_> = documented.into_iter().filter(is_v2).collect();
    assert_eq!(documented.symmetric_difference(&served).collect::<Vec<_>>(), Vec::<&(String, String)>::new());
}

#[test]
fn whoever_is_let_in_is_counted() {
    for endpoint in all() {
        let (permit, limits) = (endpoint.permit, endpoint.limits);
        if permit.app || permit.open {
            let counts = !limits.app.is_empty() || permit.app && limits.shared.is_some();
            assert!(counts, "{} counts no app", endpoint.id);
        }
        if permit.oauth1 || permit.oauth2 {
            let counts = !limits.user.is_empty() || limits.shared.is_some();
            assert!(counts, "{} counts no user", endpoint.id);
        }
    }
}

#[test]
fn older_media_operations_have_the_limits_of_their_successors() {
    let limits = |id: &str| format!("{:?}", all().find(|endpoint| endpoint.id == id).unwrap().limits);
    for (older, newer) in [
        // Each chunk is a call.
        ("uploadMediaV1", "appendMediaUpload"),
        ("getMediaUploadStatusV1", "getMediaUploadStatus"),
        ("createMediaMetadataV1", "createMediaMetadata"),
        ("createMediaSubtitlesV1", "createMediaSubtitles"),
        ("deleteMediaSubtitlesV1", "deleteMediaSubtitles"),
    ] {
        assert_eq!(limits(older), limits(newer), "{older}");
    }
}

#[test]
fn operations_that_share_a_published_limit_are_counted_together() {
    let (ads, sharing): (Vec<_>, Vec<_>) = all()
        // Open operations verify an app themselves and limit it apart.
        .filter(|endpoint| !endpoint.permit.open)
        .filter_map(|endpoint| Some((endpoint, endpoint.limits.shared?)))
        .partition(|(endpoint, _)| endpoint.required_entitlement == Some(Entitlement::Ads));
    let mut windows = BTreeMap::new();
    for (endpoint, shared) in sharing {
        let RateWindow { calls, seconds } = shared.window;
        windows.entry((shared.name, calls, seconds)).or_insert_with(HashSet::new).insert(endpoint.id);
    }
    let posts = ["createPosts", "repostPost"].into();
    let rules = ["getPowerstreamRules", "addPowerstreamRules", "deletePowerstreamRules"].into();
    let expected = [(("posts and reposts", 300, 10_800), posts), (("powerstream rules", 50, 86_400), rules)];
    assert_eq!(windows, expected.into());
    let names: HashSet<String> = ads.iter().map(|(_, shared)| shared.name.to_owned()).collect();
    let categories = ["audience insights", "changes", "keyword insights", "statistics", "targeting options"];
    assert_eq!(names, categories.map(|category| format!("ads {category}")).into());
}

#[test]
fn every_operation_says_what_it_is_and_whom_it_lets_in() {
    for endpoint in all() {
        let (id, permit) = (endpoint.id, endpoint.permit);
        assert!(endpoint.summary.ends_with('.'), "{id}: {}", endpoint.summary);
        assert!(permit.open || permit.oauth1 || permit.app || permit.oauth2, "{id}");
        let ads = ["/12/", "/5/", "/ads-serve/", "/ads-files/"]
            .iter()
            .any(|prefix| endpoint.path.starts_with(prefix))
            // The document about the operations is none of them.
            && !endpoint.path.ends_with("/openapi.json");
        assert_eq!(ads, endpoint.error_format == ErrorFormat::Ads, "{id}");
    }
}

#[test]
fn path_of_one_segment_is_no_username_that_can_be_registered() {
    for endpoint in all().chain(DEVELOPMENT).chain(console::PAGES.iter().copied().flatten()) {
        for path in paths(endpoint) {
            let first = path.split('/').nth(1).unwrap_or_default();
            if base::text::is_valid_username(first) && first.bytes().any(|byte| byte.is_ascii_alphabetic()) {
                assert!(network::users::is_reserved_username(first), "{path}");
            }
        }
    }
}
