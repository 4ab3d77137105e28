//! Renders posts for streams: as in lookups, on one line.

use std::collections::HashMap;
use std::sync::Arc;

use base::{Fault, PostId, Refusal};
use bytes::Bytes;
use network::visibility::Viewer;
use serde_json::Value;
use store::Tx;
use store::posts::Post;
use view::{FieldSelection, LikeEvent, RenderOptions, RenderRequest, ResponsePayload};

/// The fields and vocabulary that a connection requested; fixed for its lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamFormat {
    pub selection: FieldSelection,
    pub options: RenderOptions,
}

impl StreamFormat {
    fn render_request(self) -> RenderRequest {
        RenderRequest { viewer: Viewer::anonymous(), selection: self.selection, options: self.options }
    }
}

/// Renders the errors that accompany a post.
pub type RefusalRenderer = Arc<dyn Fn(&Refusal) -> Value + Send + Sync>;

/// Renders posts with includes. The objects are left open for more members. Without posts that are not public (any
/// more).
pub(super) fn render_posts(
    tx: &mut Tx<'_>,
    rows: Vec<Post>,
    format: &StreamFormat,
    render_refusal: &RefusalRenderer,
) -> Result<HashMap<PostId, String>, Fault> {
    let private = |refusal: &Refusal| matches!(refusal, Refusal::FieldNotVisible { .. });
    let mut responses = view::render_each_post(tx, &format.render_request(), rows)?;
    responses.retain(|(_, response)| !response.data.is_empty() || response.errors.iter().any(private));
    let responses = responses.into_iter();
    Ok(responses.map(|(id, response)| (id, join_members(&response, render_refusal))).collect())
}

/// Renders a post in the legacy format.
pub(super) fn render_legacy_post(tx: &mut Tx<'_>, row: &Post, format: &StreamFormat) -> Result<Option<Bytes>, Fault> {
    let found = view::legacy_post_json(tx, Viewer::anonymous(), row.clone(), format.selection.site())?;
    Ok(found.map(|post| Bytes::from(format!("{}\r\n", Value::Array(vec![post])))))
}

/// Renders a like like a post; `None` if it is not public.
pub(super) fn render_like(
    tx: &mut Tx<'_>,
    like: &LikeEvent,
    format: &StreamFormat,
    render_refusal: &RefusalRenderer,
) -> Result<Option<String>, Fault> {
    let response = view::render_like(tx, &format.render_request(), like)?;
    Ok(response.map(|response| join_members(&response, render_refusal)))
}

/// The response on one line, without the closing brace.
fn join_members(response: &ResponsePayload, render_refusal: &RefusalRenderer) -> String {
    let errors: Vec<Value> = response.errors.iter().map(|error| render_refusal(error)).collect();
    let errors = if errors.is_empty() { String::new() } else { Value::Array(errors).to_string() };
    let parts = [("data", &response.data), ("includes", &response.includes), ("errors", &errors)];
    let length: usize = parts.iter().map(|(_, part)| part.len() + 16).sum();
    let mut text = String::with_capacity(length);
    for (name, part) in parts {
        if !part.is_empty() {
            text.push(if text.is_empty() { '{' } else { ',' });
            text.push('"');
            text.push_str(name);
            text.push_str("\":");
            text.push_str(part);
        }
    }
    text
}

/// Closes the line of a post, adding `matching_rules` if the stream has rules.
pub(super) fn close_line(open: &str, rules: Option<&str>) -> Bytes {
    const RULES: &str = ",\"matching_rules\":";
    let extra = rules.map_or(0, |rules| rules.len() + RULES.len());
    let mut text = String::with_capacity(open.len() + extra + 3);
    text.push_str(open);
    if let Some(rules) = rules {
        text.push_str(RULES);
        text.push_str(rules);
    }
    text.push_str("}\r\n");
    Bytes::from(text)
}
