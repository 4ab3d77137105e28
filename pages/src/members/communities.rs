//! Communities: found, joined and left, with their posts and members.

use askama::Template;

use super::{COMMUNITIES_PATH, COMPOSE_PATH, PersonCard, PostFeed};
use crate::page::{HtmlPage, Pager, html_page};
use crate::{FormField, PageFrame};

pub struct CommunityCard {
    pub id: String,
    pub name: String,
    pub description: String,
    /// Without the at sign; empty if unknown.
    pub owner: String,
    /// Whether only members see its posts.
    pub is_closed: bool,
    /// Whether anyone may join.
    pub is_open: bool,
    /// A sentence about who may join.
    pub join_rule: &'static str,
    pub members: i64,
}

impl CommunityCard {
    pub fn path(&self) -> String {
        format!("{COMMUNITIES_PATH}/{}", self.id)
    }

    fn compose_path(&self) -> String {
        format!("{COMPOSE_PATH}?community={}", self.id)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommunitiesTab {
    Joined,
    Newest,
    /// The results of a search.
    Found,
}

impl CommunitiesTab {
    /// Those with a link.
    const LINKED: [Self; 2] = [Self::Joined, Self::Newest];

    /// Without a search.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Newest => "/communities?tab=newest",
            Self::Joined | Self::Found => COMMUNITIES_PATH,
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::Joined => "Your communities",
            Self::Newest => "Newest",
            Self::Found => "Results",
        }
    }
}

/// Form fields of the search: `q`.
#[derive(Template)]
#[template(path = "members/communities.html")]
pub struct CommunitiesPage {
    pub frame: PageFrame,
    pub tab: CommunitiesTab,
    pub query: FormField,
    pub communities: Vec<CommunityCard>,
    pub pager: Pager,
}

html_page!(CommunitiesPage, |_| "Communities".to_owned(), |page| vec![("q", &page.query)]);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommunityMembership {
    Owner,
    Member,
    Outsider,
}

#[derive(Template)]
#[template(path = "members/community.html")]
pub struct CommunityPage {
    pub frame: PageFrame,
    pub community: CommunityCard,
    /// None for visitors who are not signed in.
    pub membership: Option<CommunityMembership>,
    /// Whether the viewer sees posts and members.
    pub is_readable: bool,
    pub feed: PostFeed,
}

impl CommunityPage {
    fn is_inside(&self) -> bool {
        matches!(self.membership, Some(CommunityMembership::Owner | CommunityMembership::Member))
    }

    fn may_leave(&self) -> bool {
        self.membership == Some(CommunityMembership::Member)
    }

    fn may_join(&self) -> bool {
        self.membership == Some(CommunityMembership::Outsider) && self.community.is_open
    }
}

html_page!(CommunityPage, |page| { page.community.name.clone() });

#[derive(Template)]
#[template(path = "members/community_members.html")]
pub struct CommunityMembersPage {
    pub frame: PageFrame,
    pub community: CommunityCard,
    /// Latest first.
    pub people: Vec<PersonCard>,
    pub pager: Pager,
}

html_page!(CommunityMembersPage, |page| { format!("Members of {}", page.community.name) });
