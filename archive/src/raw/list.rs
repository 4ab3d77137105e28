//! Lists in the v1.1 format.

use super::{ElementError, RawUser};
use crate::ArchivedList;
use crate::lenient::{LenientNumber, LenientText};
use crate::text::unescape_entities;
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawList<'a> {
    id: LenientNumber,
    id_str: LenientNumber,
    #[serde(borrow)]
    name: LenientText<'a>,
    description: LenientText<'a>,
    mode: LenientText<'a>,
    uri: LenientText<'a>,
    pub(crate) user: Option<Box<RawUser<'a>>>,
}

impl RawList<'_> {
    pub(crate) fn to_list(&self) -> Result<ArchivedList, ElementError> {
        let id = self.id_str.0.or(self.id.0);
        let owner = self.user.as_deref();
        Ok(ArchivedList {
            id: Some(id.ok_or_else(|| ElementError::unreadable("a list without an id"))?),
            owner: owner.and_then(RawUser::id),
            owner_handle: owner.and_then(|owner| owner.screen_name.non_empty()),
            name: unescape_entities(&self.name),
            description: unescape_entities(&self.description),
            private: &*self.mode == "private",
            url: self.uri.to_text(),
            ..ArchivedList::default()
        })
    }
}
