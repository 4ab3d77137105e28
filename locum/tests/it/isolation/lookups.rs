//! What the API lets somebody see: it decides what pages may show them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::world::{Content, Subject, World, find_markers};
use crate::harness::{TestRequest, TestResponse, TestServer, TestUser};

/// Whoever opens pages.
#[derive(Clone, Copy)]
pub(super) enum Visitor<'w> {
    Anonymous,
    Member(&'w TestUser<'w>),
}

impl Visitor<'_> {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Anonymous => "anonymous",
            Self::Member(user) => &user.username,
        }
    }

    /// Asks the API as the member, or as an app without one.
    fn ask(self, server: &TestServer, path: &str) -> TestResponse {
        let token = match self {
            Self::Anonymous => &server.default_app().bearer,
            Self::Member(user) => &user.token,
        };
        server.send(TestRequest::get(path).bearer(token))
    }

    /// All pages of a collection, of which nothing is left where the API refuses it.
    pub(super) fn read_collection(self, server: &TestServer, path: &str) -> Vec<Value> {
        let mut pages = Vec::new();
        let mut next = String::new();
        for _ in 0..30 {
            let response = self.ask(server, &format!("{path}{next}"));
            if response.status != 200 {
                assert!([401, 403, 404].contains(&response.status), "{path}: {}", response.text());
                break;
            }
            let page = response.json();
            let token = page["meta"]["next_token"].as_str().map(str::to_owned);
            pages.push(page);
            let Some(token) = token else { break };
            let mark = if path.contains('?') { '&' } else { '?' };
            next = format!("{mark}pagination_token={token}");
        }
        pages
    }
}

pub(super) const POST_EXPANSIONS: &str = "expansions=attachments.poll_ids,attachments.media_keys,\
     referenced_posts&media.fields=alt_text&poll.fields=options&post.fields=text";

fn ids<'c>(contents: &'c [Content], pick: fn(&'c Subject) -> Option<&'c str>) -> Vec<&'c str> {
    contents.iter().filter_map(|content| pick(&content.subject)).collect()
}

/// The markers that the API's lookups show to somebody.
pub(super) fn find_visible(world: &World<'_>, visitor: Visitor<'_>) -> BTreeSet<String> {
    let server = world.server;
    let mut visible = BTreeSet::new();
    let mut read = |path: &str| {
        for page in visitor.read_collection(server, path) {
            visible.extend(find_markers(&page.to_string()).into_iter().map(str::to_owned));
        }
    };
    let posts = ids(&world.contents, |subject| if let Subject::Post(id) = subject { Some(id) } else { None });
    for some in posts.chunks(100) {
        let expansions = "expansions=attachments.poll_ids,attachments.media_keys&media.fields=alt_text";
        read(&format!("/2/posts?ids={}&{expansions}&poll.fields=options", some.join(",")));
    }
    let users = ids(&world.contents, |subject| if let Subject::User(id) = subject { Some(id) } else { None });
    for some in users.chunks(100) {
        read(&format!("/2/users?ids={}&user.fields=description", some.join(",")));
    }
    for list in ids(&world.contents, |subject| if let Subject::List(id) = subject { Some(id) } else { None }) {
        read(&format!("/2/lists/{list}"));
    }
    if let Visitor::Member(_) = visitor {
        read("/2/dm_events?max_results=100");
    }
    visible
}
