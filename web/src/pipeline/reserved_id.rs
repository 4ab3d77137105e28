//! `X-Locum-Id`: on a development server, the id of what a request creates.

use base::{Error, Id, Refusal};
use edge::find_rare_header;
use http::HeaderName;

use super::ServerState;
use crate::request_context::RequestHead;

const HEADER: &str = "x-locum-id";
const X_LOCUM_ID: HeaderName = HeaderName::from_static(HEADER);

impl ServerState {
    /// Gives the request's first new id, if its header names one.
    pub(super) fn reserve_id(&self, head: &RequestHead) -> Result<(), Error> {
        let Some(value) = find_rare_header(&head.headers, &X_LOCUM_ID) else {
            return Ok(());
        };
        let text = value.to_str().unwrap_or_default();
        let refuse = |why: String| Refusal::invalid_parameter(HEADER, text, format!("`{HEADER}` [{text}] {why}"));
        let id = Id::<()>::parse(text).map(Id::get);
        let id = id.ok_or_else(|| refuse("is no id: give a decimal number of at most 19 digits".to_owned()))?;
        let reserved = self.app_state.store.context().ids.reserve(id);
        reserved.map_err(|range| {
            let why = "cannot be given: ids rise, and are not ahead of the world's clock";
            refuse(format!("{why}; give one from {} to {}", range.start(), range.end()))
        })?;
        store::use_reserved_id(id);
        Ok(())
    }
}
