//! List objects of the v1.1 shape.

use super::{Fault, RawUser};
use crate::List;
use crate::lenient::{Number, Text};
use crate::text::unescape;
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawList<'a> {
    id: Number,
    id_str: Number,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    description: Text<'a>,
    #[serde(borrow)]
    mode: Text<'a>,
    #[serde(borrow)]
    uri: Text<'a>,
    #[serde(borrow)]
    pub(crate) user: Option<Box<RawUser<'a>>>,
}

impl RawList<'_> {
    pub(crate) fn list(&self) -> Result<List, Fault> {
        let id = self.id_str.0.or(self.id.0);
        let owner = self.user.as_deref();
        Ok(List {
            id: Some(id.ok_or_else(|| Fault::bad("a list without an id"))?),
            owner: owner.and_then(RawUser::id),
            owner_handle: owner.and_then(|owner| owner.screen_name.some()),
            name: unescape(&self.name),
            description: unescape(&self.description),
            private: &*self.mode == "private",
            url: self.uri.owned(),
            ..List::default()
        })
    }
}
