//! Renders posts for streams: as in lookups, on one line.

use std::sync::Arc;

use base::{Fault, Refusal};
use bytes::Bytes;
use network::visibility::Viewer;
use serde_json::Value;
use store::Tx;
use store::posts::Post;
use view::{FieldSelection, LikeEvent, LookupKeys, RenderOptions, ResponsePayload};

/// The fields and vocabulary that a connection requested; fixed for its lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamFormat {
    pub selection: FieldSelection,
    pub options: RenderOptions,
}

/// Renders the errors that accompany a post.
pub type RefusalRenderer = Arc<dyn Fn(&Refusal) -> Value + Send + Sync>;

/// Renders a post with includes. The object is left open for more members. `None` if the post is not public
/// (any more).
pub(super) fn render_post(
    tx: &mut Tx<'_>,
    row: &Post,
    format: &StreamFormat,
    voice: &RefusalRenderer,
) -> Result<Option<String>, Fault> {
    let (id, viewer) = (row.id, Viewer::anonymous());
    let asked = LookupKeys {
        parameter: "id",
        values: &[id],
    };
    let StreamFormat { selection, options } = format;
    let answer = view::render_post(tx, viewer, Some(row.clone()), selection, *options, asked)?;
    let private = |refusal: &Refusal| matches!(refusal, Refusal::FieldNotVisible { .. });
    if answer.data.is_empty() && !answer.errors.iter().any(private) {
        return Ok(None);
    }
    Ok(Some(join_members(&answer, voice)))
}

/// Renders a post in the legacy format.
pub(super) fn render_legacy_post(tx: &mut Tx<'_>, row: &Post, format: &StreamFormat) -> Result<Option<Bytes>, Fault> {
    let found = view::legacy_post_json(tx, Viewer::anonymous(), row.clone(), format.selection.site())?;
    Ok(found.map(|post| Bytes::from(format!("{}\r\n", Value::Array(vec![post])))))
}

/// Renders a like like a post; `None` if it is not public.
pub(super) fn render_like(
    tx: &mut Tx<'_>,
    shown: &LikeEvent,
    format: &StreamFormat,
    voice: &RefusalRenderer,
) -> Result<Option<String>, Fault> {
    let answer = view::render_like(tx, shown, &format.selection, format.options)?;
    Ok(answer.map(|answer| join_members(&answer, voice)))
}

/// The response on one line, without the closing brace.
fn join_members(answer: &ResponsePayload, voice: &RefusalRenderer) -> String {
    let errors: Vec<Value> = answer.errors.iter().map(|error| voice(error)).collect();
    let errors = if errors.is_empty() {
        String::new()
    } else {
        Value::Array(errors).to_string()
    };
    let parts = [
        ("data", &answer.data),
        ("includes", &answer.includes),
        ("errors", &errors),
    ];
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
