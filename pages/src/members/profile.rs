//! Profiles.

use askama::Template;
use base::Time;

use super::{LinkPreview, PostFeed, PostTextPart};
use crate::PageFrame;
use crate::page::{HtmlPage, html_page};

base::named_enum! {
    /// The names are values of the query parameter `tab`.
    pub enum ProfileTab {
        Posts = "posts",
        Replies = "replies",
        Media = "media",
        Likes = "likes",
    }
}

impl ProfileTab {
    pub const fn label(self) -> &'static str {
        match self {
            Self::Posts => "Posts",
            Self::Replies => "Replies",
            Self::Media => "Media",
            Self::Likes => "Likes",
        }
    }

    pub fn path(self, username: &str) -> String {
        match self {
            Self::Posts => format!("/{username}"),
            other => format!("/{username}?tab={}", other.name()),
        }
    }
}

pub struct ProfileHeader {
    pub id: String,
    pub name: String,
    /// Without the at sign.
    pub username: String,
    /// Empty if there is none.
    pub avatar: String,
    /// Empty if there is none.
    pub banner: String,
    pub description: Vec<PostTextPart>,
    pub location: String,
    pub url: String,
    pub joined_at: Time,
    pub is_protected: bool,
    pub is_verified: bool,
    pub posts: i64,
    pub followers: i64,
    pub following: i64,
}

impl ProfileHeader {
    pub fn initial_letter(&self) -> String {
        crate::page::initial_letter(&self.name)
    }

    pub fn joined_month(&self) -> String {
        let text = self.joined_at.to_string();
        text.get(..7).unwrap_or(&text).to_owned()
    }
}

/// How a signed-in viewer is related to the profile's owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProfileRelationship {
    pub is_following: bool,
    pub is_followed_by: bool,
    pub has_requested: bool,
    pub is_blocking: bool,
    pub is_muting: bool,
    /// Whether the owner accepts messages from the viewer.
    pub may_message: bool,
}

#[derive(Template)]
#[template(path = "members/profile.html")]
pub struct ProfilePage {
    pub frame: PageFrame,
    pub profile: ProfileHeader,
    pub is_own: bool,
    /// None for the owner and for visitors who are not signed in.
    pub relationship: Option<ProfileRelationship>,
    pub tab: ProfileTab,
    pub feed: PostFeed,
    /// Why no posts are shown.
    pub hidden_because: Option<&'static str>,
    pub preview: LinkPreview,
}

impl ProfilePage {
    /// Likes are shown to their owner only.
    fn tabs(&self) -> impl Iterator<Item = ProfileTab> {
        let is_own = self.is_own;
        ProfileTab::ALL.into_iter().filter(move |tab| is_own || *tab != ProfileTab::Likes)
    }
}

html_page!(ProfilePage, |page| format!("{} (@{})", page.profile.name, page.profile.username));
