//! Search over the operations.

use std::collections::BTreeMap;

use base::Vocabulary;
use pages::FormField;
use pages::console::{ExplorerGroup, ExplorerPage, SelectOption};
use portal::{BrowserVisit, PageExit, PageQuery};
use web::endpoint::Endpoint;
use web::request_context::{HttpReply, RequestContext};
use web::router::spell_path;

use super::{PATH, api_operations, group_name, operation_item};

pub(super) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let (text, group) = (query.get("q").unwrap_or_default().trim(), query.get("group").unwrap_or_default());
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    let mut found: BTreeMap<String, Vec<&'static Endpoint>> = BTreeMap::new();
    let is_searched = !text.is_empty() || !group.is_empty();
    for endpoint in api_operations(&call) {
        let name = group_name(endpoint);
        let fits = is_searched && (group.is_empty() || group == name) && matches(endpoint, text);
        if fits {
            found.entry(name.clone()).or_default().push(endpoint);
        }
        let size = sizes.entry(name).or_default();
        *size = size.saturating_add(1);
    }
    let options = sizes.keys().map(|name| SelectOption::new(name, name).select_value(group));
    let link = |name: &String| format!("{PATH}?group={}", base::percent::encode(name));
    let page = ExplorerPage {
        frame: visit.page_frame(&call),
        path: PATH,
        query: FormField::new(text),
        group_options: std::iter::once(SelectOption::new("", "All groups")).chain(options).collect(),
        index: if is_searched {
            Vec::new()
        } else {
            sizes.iter().map(|(name, size)| (link(name), name.clone(), *size)).collect()
        },
        found: found.values().map(Vec::len).sum(),
        groups: found.into_iter().map(|(name, operations)| render_group(name, operations)).collect(),
        built: api_operations(&call).filter(|endpoint| endpoint.handler.is_some()).count(),
        total: api_operations(&call).count(),
    };
    Ok(visit.render_page(&call, &page)?)
}

fn render_group(name: String, operations: Vec<&'static Endpoint>) -> ExplorerGroup {
    let operations = operations.into_iter().map(|endpoint| operation_item(endpoint, Vocabulary::Post));
    ExplorerGroup { name, operations: operations.collect() }
}

/// Whether each word is in the method, the path in either vocabulary, the id or the summary.
fn matches(endpoint: &Endpoint, text: &str) -> bool {
    let paths = [Vocabulary::Post, Vocabulary::Tweet].map(|vocabulary| spell_path(endpoint.path, vocabulary));
    let facts = format!("{} {} {} {}", endpoint.method, paths.join(" "), endpoint.id, endpoint.summary).to_lowercase();
    text.to_lowercase().split_whitespace().all(|word| facts.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_found_by_method_path_id_and_summary() {
        let endpoint = Endpoint::new("createPosts", "POST", "/2/<posts>").summary("Publishes a post.");
        for text in ["", "post", "POST /2/tweets", "/2/posts", "createposts", "publishes a"] {
            assert!(matches(&endpoint, text), "{text}");
        }
        for text in ["get", "publishes users"] {
            assert!(!matches(&endpoint, text), "{text}");
        }
    }
}
