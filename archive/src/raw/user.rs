//! Account objects of the v1.1 shape.

use super::entities::RawUrl;
use super::{Fault, RawPost};
use crate::lenient::{Flag, Items, Number, Text};
use crate::text::{replace, unescape};
use crate::{User, time};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawUser<'a> {
    id: Number,
    id_str: Number,
    #[serde(borrow)]
    pub(crate) screen_name: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    description: Text<'a>,
    #[serde(borrow)]
    location: Text<'a>,
    #[serde(borrow)]
    url: Text<'a>,
    #[serde(borrow)]
    created_at: Text<'a>,
    #[serde(borrow)]
    entities: Option<UserEntities<'a>>,
    protected: Flag,
    verified: Flag,
    followers_count: Number,
    friends_count: Number,
    statuses_count: Number,
    favourites_count: Number,
    listed_count: Number,
    #[serde(borrow)]
    profile_image_url_https: Text<'a>,
    #[serde(borrow)]
    profile_banner_url: Text<'a>,
    #[serde(borrow)]
    pub(crate) status: Option<Box<RawPost<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct UserEntities<'a> {
    #[serde(borrow)]
    url: Option<UrlEntities<'a>>,
    #[serde(borrow)]
    description: Option<UrlEntities<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct UrlEntities<'a> {
    #[serde(borrow)]
    urls: Items<RawUrl<'a>>,
}

impl RawUser<'_> {
    pub(crate) fn id(&self) -> Option<i64> {
        self.id_str.0.or(self.id.0).filter(|id| *id > 0)
    }

    pub(crate) fn user(&self) -> Result<User, Fault> {
        let id = self
            .id()
            .ok_or_else(|| Fault::bad("a user without an id"))?;
        let entities = self.entities.as_ref();
        let count = |number: Number| number.0.unwrap_or(0);
        Ok(User {
            id,
            handle: self.screen_name.owned(),
            name: unescape(&self.name),
            bio: expanded(
                &self.description,
                entities.and_then(|e| e.description.as_ref()),
            ),
            location: unescape(&self.location),
            website: expanded(&self.url, entities.and_then(|e| e.url.as_ref())),
            created_at_ms: time::of_id(id)
                .or_else(|| time::parse(&self.created_at))
                .unwrap_or(0),
            protected: self.protected.0,
            verified: self.verified.0,
            follower_count: count(self.followers_count),
            following_count: count(self.friends_count),
            post_count: count(self.statuses_count),
            like_count: count(self.favourites_count),
            listed_count: count(self.listed_count),
            avatar_url: self.profile_image_url_https.owned(),
            banner_url: self.profile_banner_url.owned(),
            ..User::default()
        })
    }
}

fn expanded(text: &str, entities: Option<&UrlEntities<'_>>) -> String {
    let text = unescape(text);
    let urls: Vec<_> = entities
        .map_or(&[][..], |e| &e.urls)
        .iter()
        .map(RawUrl::url)
        .collect();
    let links = urls.iter().filter(|url| !url.short.is_empty());
    let links: Vec<_> = links.map(|url| (&*url.short, &*url.expanded)).collect();
    if links.is_empty() {
        text
    } else {
        replace(&text, &links)
    }
}
