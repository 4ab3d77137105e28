//! Users in the v1.1 format.

use super::entities::RawUrl;
use super::{ElementError, RawPost};
use crate::lenient::{LenientFlag, LenientList, LenientNumber, LenientText};
use crate::text::{replace_links, unescape_entities};
use crate::{ArchivedUser, time};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawUser<'a> {
    id: LenientNumber,
    id_str: LenientNumber,
    #[serde(borrow)]
    pub(crate) screen_name: LenientText<'a>,
    name: LenientText<'a>,
    description: LenientText<'a>,
    location: LenientText<'a>,
    url: LenientText<'a>,
    created_at: LenientText<'a>,
    entities: Option<RawUserEntities<'a>>,
    protected: LenientFlag,
    verified: LenientFlag,
    followers_count: LenientNumber,
    friends_count: LenientNumber,
    statuses_count: LenientNumber,
    favourites_count: LenientNumber,
    listed_count: LenientNumber,
    profile_image_url_https: LenientText<'a>,
    profile_banner_url: LenientText<'a>,
    pub(crate) status: Option<Box<RawPost<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawUserEntities<'a> {
    #[serde(borrow)]
    url: Option<RawUrlEntities<'a>>,
    description: Option<RawUrlEntities<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawUrlEntities<'a> {
    #[serde(borrow)]
    urls: LenientList<RawUrl<'a>>,
}

impl RawUser<'_> {
    pub(crate) fn id(&self) -> Option<i64> {
        self.id_str.0.or(self.id.0).filter(|id| *id > 0)
    }

    pub(crate) fn to_user(&self) -> Result<ArchivedUser, ElementError> {
        let id = self.id().ok_or_else(|| ElementError::unreadable("a user without an id"))?;
        let entities = self.entities.as_ref();
        let count = |number: LenientNumber| number.0.unwrap_or(0);
        Ok(ArchivedUser {
            id,
            handle: self.screen_name.to_text(),
            name: unescape_entities(&self.name),
            bio: expand_short_links(&self.description, entities.and_then(|e| e.description.as_ref())),
            location: unescape_entities(&self.location),
            website: expand_short_links(&self.url, entities.and_then(|e| e.url.as_ref())),
            created_at_ms: time::from_id(id).or_else(|| time::parse(&self.created_at)).unwrap_or(0),
            protected: self.protected.0,
            verified: self.verified.0,
            follower_count: count(self.followers_count),
            following_count: count(self.friends_count),
            post_count: count(self.statuses_count),
            like_count: count(self.favourites_count),
            listed_count: count(self.listed_count),
            avatar_url: self.profile_image_url_https.to_text(),
            banner_url: self.profile_banner_url.to_text(),
            ..ArchivedUser::default()
        })
    }
}

fn expand_short_links(text: &str, entities: Option<&RawUrlEntities<'_>>) -> String {
    let text = unescape_entities(text);
    let urls: Vec<_> = entities.map_or(&[][..], |e| &e.urls).iter().map(RawUrl::to_url).collect();
    let links = urls.iter().filter(|url| !url.short.is_empty());
    let links: Vec<_> = links.map(|url| (&*url.short, &*url.expanded)).collect();
    if links.is_empty() { text } else { replace_links(&text, &links) }
}
