//! Maps a method and a path to an operation.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use base::{Fault, Refusal, Vocabulary, VocabularyWord};

use crate::endpoint::{Endpoint, ErrorFormat};

/// Path words that differ between the vocabularies.
const PATH_WORDS: &[(&str, VocabularyWord)] = &[
    ("<posts>", VocabularyWord::new("posts", "tweets")),
    ("<post>", VocabularyWord::new("post", "tweet")),
    ("<reposts>", VocabularyWord::new("reposts", "retweets")),
    ("<reposted_by>", VocabularyWord::new("reposted_by", "retweeted_by")),
    ("<liked_posts>", VocabularyWord::new("liked_posts", "liked_tweets")),
    ("<quote_posts>", VocabularyWord::new("quote_posts", "quote_tweets")),
];

/// The routes of a server, which its worlds share.
#[derive(Clone)]
pub struct ApiRouters {
    pub(crate) public: Arc<EndpointRouter>,
    pub(crate) control: Arc<EndpointRouter>,
}

impl ApiRouters {
    pub fn new(table: &[&'static [Endpoint]], control: &[&'static [Endpoint]]) -> Result<Self, Fault> {
        let [public, control] = [EndpointRouter::new(table)?, EndpointRouter::new(control)?].map(Arc::new);
        Ok(Self { public, control })
    }
}

pub struct EndpointRouter {
    paths: matchit::Router<usize>,
    nodes: Vec<RouteNode>,
    /// Index into `nodes`, used while mounting.
    node_indexes: HashMap<String, usize>,
    facts: HashMap<&'static str, RouteFacts>,
}

/// Shared by all paths of an operation.
#[derive(Clone, Copy, Debug)]
pub struct RouteFacts {
    pub operation: usize,
    /// Posts vocabulary, parameter names in braces.
    pub template: &'static str,
}

/// A path, regardless of the names of its parameters.
#[derive(Default)]
struct RouteNode {
    entries: Vec<RouteEntry>,
}

#[derive(Clone)]
struct RouteEntry {
    endpoint: &'static Endpoint,
    names: Vec<&'static str>,
    vocabulary: Option<Vocabulary>,
    facts: RouteFacts,
}

#[derive(Debug)]
pub struct RouteMatch {
    pub endpoint: &'static Endpoint,
    pub facts: RouteFacts,
    /// The vocabulary of the path's words.
    pub vocabulary: Option<Vocabulary>,
    /// Decoded parameters; raw where decoding fails.
    pub path: Vec<(&'static str, String)>,
}

/// First segments that are no value of a path like `/{username}`: those of APIs, and of what the router does not know.
const NO_FIRST_PARAMETER: &[&str] = &["1.1", "2", "5", "12", "livez", "metrics", "readyz"];

fn first_segment(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or_default()
}

#[derive(Debug)]
pub struct RouteError {
    pub refusal: Refusal,
    pub error_format: ErrorFormat,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.id, self.method, self.path)
    }
}

impl EndpointRouter {
    /// Mounts every operation under each spelling of its paths. Two operations on the same method and path are a
    /// fault.
    pub fn new(table: &[&'static [Endpoint]]) -> Result<Self, Fault> {
        let mut router = Self {
            paths: matchit::Router::new(),
            nodes: Vec::new(),
            node_indexes: HashMap::new(),
            facts: HashMap::new(),
        };
        for endpoints in table {
            router.add(endpoints)?;
        }
        Ok(router)
    }

    pub fn add(&mut self, endpoints: &'static [Endpoint]) -> Result<(), Fault> {
        for endpoint in endpoints {
            let operation = self.facts.len();
            let facts = *self.facts.entry(endpoint.id).or_insert_with(|| RouteFacts {
                operation,
                template: String::leak(spell_path(endpoint.path, Vocabulary::Post)),
            });
            for path in std::iter::once(&endpoint.path).chain(endpoint.aliases) {
                for (spelling, vocabulary) in path_spellings(path) {
                    self.mount_path(endpoint, path, &spelling, vocabulary, facts)?;
                }
            }
        }
        Ok(())
    }

    fn mount_path(
        &mut self,
        endpoint: &'static Endpoint,
        path: &'static str,
        spelling: &str,
        vocabulary: Option<Vocabulary>,
        facts: RouteFacts,
    ) -> Result<(), Fault> {
        let shape = number_parameters(spelling);
        let index = if let Some(index) = self.node_indexes.get(&shape) {
            *index
        } else {
            let index = self.nodes.len();
            let inserted = self.paths.insert(shape.clone(), index);
            inserted.map_err(Fault::context("mounting a path"))?;
            self.nodes.push(RouteNode::default());
            self.node_indexes.insert(shape, index);
            index
        };
        let node = self.nodes.get_mut(index).ok_or_else(|| Fault::new("a route node is missing"))?;
        if node.entries.iter().any(|entry| entry.endpoint.method == endpoint.method) {
            let (id, method) = (endpoint.id, endpoint.method);
            return Err(Fault::new(format!("{id}: {method} {spelling} is taken")));
        }
        node.entries.push(RouteEntry { endpoint, names: parameter_names(path), vocabulary, facts });
        Ok(())
    }

    /// `path` is still percent-encoded. HEAD is routed as GET.
    pub fn find(&self, method: &str, path: &str) -> Result<RouteMatch, RouteError> {
        let not_found = || RouteError { refusal: unmatched_refusal(path), error_format: error_format_for_path(path) };
        let matched = self.paths.at(path).map_err(|_| not_found())?;
        let node = self.nodes.get(*matched.value).ok_or_else(not_found)?;
        if node.begins_with_parameter() && NO_FIRST_PARAMETER.contains(&first_segment(path)) {
            return Err(not_found());
        }
        let routed_method = if method == "HEAD" { "GET" } else { method };
        let Some(entry) = node.entries.iter().find(|entry| entry.endpoint.method == routed_method) else {
            // Such a node has all unknown paths.
            if node.begins_with_parameter() {
                return Err(not_found());
            }
            return Err(RouteError {
                refusal: Refusal::MethodNotAllowed { allowed: node.allowed_methods() },
                error_format: node.entries.first().map_or(ErrorFormat::V2, |entry| entry.endpoint.error_format),
            });
        };
        let decode = |raw: &str| {
            let decoded = base::percent::decode(raw);
            decoded.map_or_else(|_| raw.to_owned(), Cow::into_owned)
        };
        let values = matched.params.iter().map(|(_, raw)| decode(raw));
        Ok(RouteMatch {
            endpoint: entry.endpoint,
            facts: entry.facts,
            vocabulary: entry.vocabulary,
            path: entry.names.iter().copied().zip(values).collect(),
        })
    }
}

impl RouteNode {
    /// As that of a profile, `/{username}`.
    fn begins_with_parameter(&self) -> bool {
        self.entries.first().is_some_and(|entry| entry.endpoint.path.starts_with("/{"))
    }

    fn allowed_methods(&self) -> String {
        let mut methods: Vec<&str> = self.entries.iter().map(|entry| entry.endpoint.method).collect();
        if methods.contains(&"GET") {
            methods.push("HEAD");
        }
        methods.sort_unstable();
        methods.join(", ")
    }
}

/// Groups of the 1.1 API that the public service has retired (contract core §7.15).
const RETIRED_GROUPS: [&str; 6] = ["search/tweets", "users/search", "geo/search", "statuses/filter", "user", "site"];

fn unmatched_refusal(path: &str) -> Refusal {
    let name = path.strip_prefix("/1.1/").map(|name| name.strip_suffix(".json").unwrap_or(name));
    let is_retired = |name: &str| RETIRED_GROUPS.contains(&name) || name.split('/').next() == Some("direct_messages");
    if name.is_some_and(is_retired) {
        let message = "This endpoint has been retired and should not be used.".into();
        return Refusal::Legacy { code: 251, message };
    }
    Refusal::RouteNotFound
}

fn error_format_for_path(path: &str) -> ErrorFormat {
    let mut segments = path.split('/').skip(1);
    match segments.next().unwrap_or_default() {
        "1.1" | "oauth" | "oauth2" => ErrorFormat::Legacy,
        "12" | "11" | "5" => ErrorFormat::Ads,
        version if is_other_version(version) && segments.next().is_some_and(is_ads_segment) => ErrorFormat::Ads,
        _ => ErrorFormat::V2,
    }
}

/// Versions of the Ads API that are not served; their clients still get its error format.
fn is_other_version(version: &str) -> bool {
    version != "2" && version.parse::<u8>().is_ok()
}

fn is_ads_segment(segment: &str) -> bool {
    let mut operations = ads_delivery::operations().iter();
    operations.any(|operation| operation.path.split('/').nth(2) == Some(segment))
}

/// Every spelling of a path with the vocabulary it implies. A posts word anywhere decides, since only the newer
/// vocabulary has those in paths.
pub fn path_spellings(path: &str) -> Vec<(String, Option<Vocabulary>)> {
    let mut all = vec![(path.to_owned(), None)];
    for (mark, word) in PATH_WORDS {
        if !path.contains(mark) {
            continue;
        }
        let both = |(path, vocabulary): (String, Option<Vocabulary>)| {
            let posts = (path.replace(mark, word.post), Some(Vocabulary::Post));
            let tweets = (path.replace(mark, word.tweet), vocabulary.or(Some(Vocabulary::Tweet)));
            [posts, tweets]
        };
        all = all.into_iter().flat_map(both).collect();
    }
    all
}

pub fn spell_path(path: &str, vocabulary: Vocabulary) -> String {
    PATH_WORDS.iter().fold(path.to_owned(), |path, (mark, word)| path.replace(mark, word.name_in(vocabulary)))
}

/// Method and path in the newer vocabulary, as developers name an endpoint.
pub fn endpoint_label(endpoint: &Endpoint) -> String {
    format!("{} {}", endpoint.method, spell_path(endpoint.path, Vocabulary::Post))
}

fn parameter_names(path: &'static str) -> Vec<&'static str> {
    path.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect()
}

/// Numbers the parameters, so that operations may name the same one differently.
fn number_parameters(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for (number, part) in path.split('{').enumerate() {
        if number == 0 {
            text.push_str(part);
        } else {
            let _infallible = write!(text, "{{p{number}}}");
            text.push_str(part.split_once('}').map_or("", |(_, rest)| rest));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use base::{Refusal, Vocabulary};

    use super::{EndpointRouter, RouteError};
    use crate::endpoint::{Endpoint, ErrorFormat};

    const fn op(id: &'static str, method: &'static str, path: &'static str) -> Endpoint {
        Endpoint::new(id, method, path)
    }

    static TABLE: &[&[Endpoint]] = &[
        &[
            op("findPosts", "GET", "/2/<posts>"),
            op("createPost", "POST", "/2/<posts>"),
            op("findPost", "GET", "/2/<posts>/{id}"),
            op("deletePost", "DELETE", "/2/<posts>/{id}"),
            op("hide", "PUT", "/2/<posts>/{post_id}/hidden"),
            op("search", "GET", "/2/<posts>/search/recent"),
            op("reposts", "GET", "/2/<posts>/{id}/<reposts>"),
        ],
        &[
            op("unbookmark", "DELETE", "/2/users/{id}/bookmarks/{post_id}")
                .aliases(&["/2/users/{id}/bookmarks{post_id}", "/2/users/{id}/bookmarks:{post_id}"]),
            op("bookmarks", "GET", "/2/users/{id}/bookmarks"),
            op("me", "GET", "/2/users/me"),
            op("user", "GET", "/2/users/{id}"),
            op("verify", "GET", "/1.1/account/verify_credentials.json").error_format(ErrorFormat::Legacy),
        ],
    ];

    fn find(method: &str, path: &str) -> (String, Option<Vocabulary>, Vec<String>) {
        let found = EndpointRouter::new(TABLE).unwrap().find(method, path).unwrap();
        let path = found.path.iter().map(|(name, value)| format!("{name}={value}")).collect();
        (found.endpoint.id.to_owned(), found.vocabulary, path)
    }

    fn lost(method: &str, path: &str) -> RouteError {
        EndpointRouter::new(TABLE).unwrap().find(method, path).unwrap_err()
    }

    #[test]
    fn path_that_begins_with_a_parameter_has_no_paths_of_apis_or_health_checks() {
        static PROFILES: &[&[Endpoint]] =
            &[&[op("showProfile", "GET", "/{username}"), op("showFollowers", "GET", "/{username}/followers")]];
        let router = EndpointRouter::new(PROFILES).unwrap();
        assert!(router.find("GET", "/ada").is_ok() && router.find("GET", "/ada/followers").is_ok());
        for (method, path) in [("GET", "/livez"), ("GET", "/2/followers"), ("GET", "/1.1/followers"), ("POST", "/ada")]
        {
            assert!(
                !matches!(router.find(method, path).unwrap_err().refusal, Refusal::MethodNotAllowed { .. }),
                "{path}"
            );
        }
    }

    #[test]
    fn both_vocabularies_lead_to_one_operation() {
        let case = |path, id: &str, speech, params: &[&str]| {
            let params = params.iter().map(ToString::to_string).collect();
            assert_eq!(find("GET", path), (id.to_owned(), speech, params), "{path}");
        };
        let (post, tweet) = (Some(Vocabulary::Post), Some(Vocabulary::Tweet));
        case("/2/posts", "findPosts", post, &[]);
        case("/2/tweets", "findPosts", tweet, &[]);
        case("/2/tweets/20", "findPost", tweet, &["id=20"]);
        case("/2/tweets/search", "findPost", tweet, &["id=search"]);
        case("/2/tweets/search/recent", "search", tweet, &[]);
        case("/2/posts/20/reposts", "reposts", post, &["id=20"]);
        case("/2/tweets/20/retweets", "reposts", tweet, &["id=20"]);
        case("/2/tweets/20/reposts", "reposts", post, &["id=20"]);
        case("/2/posts/20/retweets", "reposts", post, &["id=20"]);
        case("/2/users/me", "me", None, &[]);
        case("/2/users/7", "user", None, &["id=7"]);
    }

    #[test]
    fn parameters_keep_their_own_names_and_are_decoded() {
        assert_eq!(find("PUT", "/2/tweets/20/hidden").2, ["post_id=20"]);
        assert_eq!(find("HEAD", "/2/tweets/2%30").2, ["id=20"]);
        assert_eq!(find("GET", "/2/tweets/a%2Fb").2, ["id=a/b"]);
        assert_eq!(find("GET", "/2/tweets/%zz").2, ["id=%zz"]);
        for target in ["/2/users/7/bookmarks20", "/2/users/7/bookmarks:20", "/2/users/7/bookmarks/20"] {
            let (id, _, path) = find("DELETE", target);
            assert_eq!((id.as_str(), path), ("unbookmark", vec!["id=7".into(), "post_id=20".into()]), "{target}");
        }
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        for path in ["/", "", "/2", "/2/posts/", "/2//posts", "/2/posts/20/", "/3/posts", "*"] {
            let lost = lost("GET", path);
            assert_eq!((lost.refusal, lost.error_format), (Refusal::RouteNotFound, ErrorFormat::V2), "{path}");
        }
        assert_eq!(lost("GET", "/1.1/nothing.json").error_format, ErrorFormat::Legacy);
        for path in ["search/tweets.json", "users/search", "statuses/filter.json", "direct_messages/events/new.json"] {
            let lost = lost("GET", &format!("/1.1/{path}"));
            assert!(matches!(lost.refusal, Refusal::Legacy { code: 251, .. }), "{path}");
        }
        for path in ["users/searches.json", "search.json", "user/x.json", "geo/id/1.json"] {
            assert_eq!(lost("GET", &format!("/1.1/{path}")).refusal, Refusal::RouteNotFound, "{path}");
        }
        assert_eq!(lost("GET", "/oauth/nothing").error_format, ErrorFormat::Legacy);
        for (path, accent) in [
            ("/12/nothing", ErrorFormat::Ads),
            ("/0/accounts/x/features", ErrorFormat::Ads),
            ("/10/stats/accounts/x", ErrorFormat::Ads),
            ("/10/users", ErrorFormat::V2),
            ("/13/accounts", ErrorFormat::Ads),
            ("/256/accounts", ErrorFormat::V2),
        ] {
            assert_eq!(lost("GET", path).error_format, accent, "{path}");
        }
    }

    #[test]
    fn another_method_is_told_which_there_are() {
        let allowed = |path| match lost("PATCH", path).refusal {
            Refusal::MethodNotAllowed { allowed } => allowed,
            other => panic!("{other:?}"),
        };
        assert_eq!(allowed("/2/tweets"), "GET, HEAD, POST");
        assert_eq!(allowed("/2/posts/20"), "DELETE, GET, HEAD");
        assert_eq!(lost("POST", "/1.1/account/verify_credentials.json").error_format, ErrorFormat::Legacy);
    }

    #[test]
    fn a_path_taken_twice_is_a_fault() {
        static TWICE: &[&[Endpoint]] =
            &[&[op("one", "GET", "/2/<posts>/{id}")], &[op("two", "GET", "/2/tweets/{post_id}")]];
        let fault = EndpointRouter::new(TWICE).err().unwrap();
        assert_eq!(fault.to_string(), "two: GET /2/tweets/{post_id} is taken");
    }
}
