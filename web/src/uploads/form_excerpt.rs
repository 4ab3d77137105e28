//! Reads what people wrote in a form in parts that is not accepted.

use futures_util::future::BoxFuture;

use super::receive::{MAX_TEXT_BYTES, is_declared, open_parts, read_text_part};
use crate::body::BodyContentType;
use crate::request_context::RequestContext;

/// The texts at the beginning of a form.
#[derive(Debug, Default)]
pub struct FormExcerpt {
    texts: Vec<(String, String)>,
    pub has_file: bool,
    /// Whether the form is longer than what was read, or malformed.
    pub is_cut: bool,
}

impl FormExcerpt {
    pub fn text(&self, name: &str) -> Option<&str> {
        self.texts.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
    }
}

/// Reads up to `limit` bytes, and keeps no files. Empty if the body is not in parts.
pub fn receive_excerpt(call: &mut RequestContext, limit: u64) -> BoxFuture<'_, FormExcerpt> {
    Box::pin(async move {
        let mut excerpt = FormExcerpt::default();
        if call.content_type == BodyContentType::Other {
            excerpt.is_cut = read_excerpt(call, limit, &mut excerpt).await.is_none();
        }
        excerpt
    })
}

/// None if the form did not end.
async fn read_excerpt(call: &mut RequestContext, limit: u64, excerpt: &mut FormExcerpt) -> Option<()> {
    let (mut parts, _) = open_parts(call, limit).ok()?;
    while let Some(part) = parts.next_field().await.ok()? {
        if let Some(file) = part.file_name() {
            excerpt.has_file |= !file.is_empty();
            continue;
        }
        let name = part.name().unwrap_or_default().to_owned();
        if is_declared(call, &name) && excerpt.text(&name).is_none() {
            let text = read_text_part(part, MAX_TEXT_BYTES).await.ok()?;
            excerpt.texts.push((name, String::from_utf8(text.to_vec()).ok()?));
        }
    }
    Some(())
}
