//! Whether a viewer may see something: the single rule for lookups, timelines, search, streams and expansions. Whether
//! someone may act on it ([`require_post_access`]) follows from the same facts.

mod interactions;

use std::collections::{HashMap, HashSet};

use base::{Fault, PostId, UserId};
use store::lists::List;
use store::posts::{self, Post};
use store::spaces::{self, Space};
use store::users::{self, User};
use store::{Tx, communities, follows, graph, subscriptions};

pub use interactions::{
    AccessDenial, DmPolicy, find_interactable_post, find_post_denial, find_reachable_user, find_user_denial,
    is_blocked, may_add_to_group, may_message, require_may_add_to_group, require_may_message, require_post_access,
};

/// The user making a request, or an app without a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Viewer {
    /// None without a user.
    pub user: Option<UserId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    Visible,
    /// Deleted or unknown, or its existence is hidden.
    Missing,
    /// Exists, but not visible to this viewer.
    Forbidden,
    /// The owner is suspended.
    Suspended,
}

impl Viewer {
    pub const fn user(user: UserId) -> Self {
        Self { user: Some(user) }
    }

    pub const fn anonymous() -> Self {
        Self { user: None }
    }
}

/// Protection hides posts, not the profile.
pub fn profile_visibility(user: &User) -> Visibility {
    match user.state {
        users::UserState::Active | users::UserState::Placeholder => Visibility::Visible,
        users::UserState::Suspended => Visibility::Suspended,
        users::UserState::Deleted => Visibility::Missing,
    }
}

/// Whether everyone may know of a post, also of one that was deleted.
pub fn is_public_post(tx: &mut Tx<'_>, id: PostId) -> Result<bool, Fault> {
    let Some(post) = posts::find_by_id(tx, id)? else {
        return Ok(false);
    };
    let author = users::find_by_id(tx, post.author_id)?;
    Ok(!post.members_only && !post.followers_only && author.is_some_and(|author| !author.protected))
}

/// Private lists are missing for everyone but the owner. `owner` is none if unknown.
pub fn list_visibility(viewer: Viewer, list: &List, owner: Option<&User>) -> Visibility {
    let is_own = viewer.user == Some(list.owner_id);
    let is_missing = list.deleted_at.is_some() || list.private && !is_own;
    if is_missing || !owner.is_none_or(|owner| profile_visibility(owner) == Visibility::Visible) {
        return Visibility::Missing;
    }
    Visibility::Visible
}

/// Canceled spaces, and those of invisible creators, are missing.
pub fn space_visibility(space: &Space, creator: Option<&User>) -> Visibility {
    let is_creator_visible = creator.is_some_and(|creator| profile_visibility(creator) == Visibility::Visible);
    if space.state == spaces::SpaceState::Canceled || !is_creator_visible {
        return Visibility::Missing;
    }
    Visibility::Visible
}

/// Visibility of the posts of some authors, computed once for all of them.
#[derive(Debug, Default)]
pub struct AuthorVisibilities {
    viewer: Option<UserId>,
    authors: HashMap<UserId, Visibility>,
    /// Closed communities that the viewer is a member of.
    joined: HashSet<i64>,
    /// Authors whom the viewer subscribes to.
    subscribed: HashSet<UserId>,
}

impl AuthorVisibilities {
    /// Computes what `viewer` may see of the posts of `authors`.
    pub fn load<'a>(
        tx: &mut Tx<'_>,
        viewer: Viewer,
        authors: impl IntoIterator<Item = &'a User>,
    ) -> Result<Self, Fault> {
        let authors: Vec<&User> = authors.into_iter().collect();
        let mut others: Vec<UserId> = authors.iter().map(|author| author.id).collect();
        others.retain(|author| viewer.user != Some(*author));
        let (blockers, followed) = match viewer.user {
            None => (HashSet::new(), HashSet::new()),
            Some(user) => {
                let blockers = graph::filter_blockers(tx, &others, user)?;
                let protected = authors.iter().filter(|author| author.protected);
                let protected: Vec<_> = protected.map(|author| author.id).collect();
                (HashSet::from_iter(blockers), HashSet::from_iter(follows::filter_followed(tx, user, &protected)?))
            }
        };
        let author_visibility = |author: &&User| {
            let visibility = match profile_visibility(author) {
                Visibility::Visible if viewer.user == Some(author.id) => Visibility::Visible,
                Visibility::Visible if blockers.contains(&author.id) => Visibility::Forbidden,
                Visibility::Visible if author.protected && !followed.contains(&author.id) => Visibility::Forbidden,
                other => other,
            };
            (author.id, visibility)
        };
        Ok(Self { viewer: viewer.user, authors: authors.iter().map(author_visibility).collect(), ..Self::default() })
    }

    /// Checks which restricted posts the viewer may see, as a member of closed communities or as a subscriber. Without
    /// this call they stay hidden.
    pub fn admit_posts<'a>(&mut self, tx: &mut Tx<'_>, posts: impl IntoIterator<Item = &'a Post>) -> Result<(), Fault> {
        let Some(viewer) = self.viewer else {
            return Ok(());
        };
        let (mut closed, mut paid) = (HashSet::new(), HashSet::new());
        for post in posts {
            closed.extend(post.community_id.filter(|_| post.members_only));
            paid.extend(post.followers_only.then_some(post.author_id));
        }
        if !closed.is_empty() {
            let closed: Vec<i64> = closed.into_iter().collect();
            self.joined.extend(communities::filter_joined(tx, viewer, &closed)?);
        }
        if !paid.is_empty() {
            let paid: Vec<UserId> = paid.into_iter().collect();
            self.subscribed.extend(subscriptions::filter_subscribed(tx, viewer, &paid)?);
        }
        Ok(())
    }

    /// Whether posts of an author may be seen.
    pub fn author_visibility(&self, author: UserId) -> Visibility {
        self.authors.get(&author).copied().unwrap_or(Visibility::Missing)
    }

    /// Whether a post of one of the loaded authors may be seen.
    pub fn post_visibility(&self, post: &Post) -> Visibility {
        match post.state {
            posts::PostState::Deleted | posts::PostState::Placeholder => Visibility::Missing,
            posts::PostState::Live | posts::PostState::Superseded => match self.author_visibility(post.author_id) {
                Visibility::Visible if !self.is_admitted(post) => Visibility::Forbidden,
                visibility => visibility,
            },
        }
    }

    fn is_admitted(&self, post: &Post) -> bool {
        let is_own = self.viewer == Some(post.author_id);
        let is_member = post.community_id.is_some_and(|id| self.joined.contains(&id));
        let subscribes = self.subscribed.contains(&post.author_id);
        is_own || (!post.members_only || is_member) && (!post.followers_only || subscribes)
    }
}
