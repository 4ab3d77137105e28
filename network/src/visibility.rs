//! Given a viewer and a thing, may it be seen: the one answer for lookups, timelines, search,
//! streams and expansions. Whether someone may act on it ([`may_touch`]) follows
//! from the same facts.

mod interactions;

use std::collections::{HashMap, HashSet};

use base::{Fault, UserId};
use store::lists::List;
use store::posts::{self, Post};
use store::spaces::{self, Space};
use store::users::{self, User};
use store::{Tx, communities, follows, graph, subscriptions};

pub use interactions::{
    AccessDenial, DmPolicy, find_interactable_post, find_post_denial, find_reachable_user, find_user_denial,
    is_blocked, require_may_message, require_post_access,
};

/// Who is looking: a user, or an app on nobody's behalf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Viewer {
    /// The user, in user context.
    pub user: Option<UserId>,
}

/// Whether a thing may be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// It may.
    Visible,
    /// It is not there (deleted, never was, or nobody may know).
    Missing,
    /// It is there, but not for this viewer.
    Forbidden,
    /// Its owner is suspended.
    Suspended,
}

impl Viewer {
    /// A user.
    pub const fn user(user: UserId) -> Self {
        Self { user: Some(user) }
    }

    /// Nobody in particular.
    pub const fn anonymous() -> Self {
        Self { user: None }
    }
}

/// Whether a user's profile may be seen. Protection hides posts, not the profile.
pub fn profile_visibility(user: &User) -> Visibility {
    match user.state {
        users::UserState::Active | users::UserState::Placeholder => Visibility::Visible,
        users::UserState::Suspended => Visibility::Suspended,
        users::UserState::Deleted => Visibility::Missing,
    }
}

/// Whether a list may be seen: a private one by its owner only, and to everyone else it is not
/// there. `owner` is nobody where the owner is not known.
pub fn list_visibility(viewer: Viewer, list: &List, owner: Option<&User>) -> Visibility {
    let own = viewer.user == Some(list.owner_id);
    let gone = list.deleted_at.is_some() || list.private && !own;
    if gone || !owner.is_none_or(|owner| profile_visibility(owner) == Visibility::Visible) {
        return Visibility::Missing;
    }
    Visibility::Visible
}

/// Whether a space may be seen: one that was called off is not there, nor is one whose creator
/// is not.
pub fn space_visibility(space: &Space, creator: Option<&User>) -> Visibility {
    let there = creator.is_some_and(|creator| profile_visibility(creator) == Visibility::Visible);
    if space.state == spaces::SpaceState::Canceled || !there {
        return Visibility::Missing;
    }
    Visibility::Visible
}

/// What a viewer may see of certain authors' posts, worked out once for all of them.
#[derive(Debug, Default)]
pub struct AuthorVisibilities {
    viewer: Option<UserId>,
    authors: HashMap<UserId, Visibility>,
    /// Closed communities that the viewer belongs to.
    joined: HashSet<i64>,
    /// Authors that the viewer subscribes to.
    subscribed: HashSet<UserId>,
}

impl AuthorVisibilities {
    /// Works out what `viewer` may see of the posts of `authors`.
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
                (
                    HashSet::from_iter(blockers),
                    HashSet::from_iter(follows::filter_followed(tx, user, &protected)?),
                )
            }
        };
        let judge = |author: &&User| {
            let sight = match profile_visibility(author) {
                Visibility::Visible if viewer.user == Some(author.id) => Visibility::Visible,
                Visibility::Visible if blockers.contains(&author.id) => Visibility::Forbidden,
                Visibility::Visible if author.protected && !followed.contains(&author.id) => Visibility::Forbidden,
                other => other,
            };
            (author.id, sight)
        };
        Ok(Self {
            viewer: viewer.user,
            authors: authors.iter().map(judge).collect(),
            ..Self::default()
        })
    }

    /// Finds out which of these posts the viewer may see although they are for some only: the
    /// members of a closed community, an author's subscribers. Without it those stay hidden.
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
            self.subscribed
                .extend(subscriptions::filter_subscribed(tx, viewer, &paid)?);
        }
        Ok(())
    }

    /// Whether posts of one of those authors may be seen.
    pub fn author_visibility(&self, author: UserId) -> Visibility {
        self.authors.get(&author).copied().unwrap_or(Visibility::Missing)
    }

    /// Whether a post of one of those authors may be seen.
    pub fn post_visibility(&self, post: &Post) -> Visibility {
        match post.state {
            posts::PostState::Deleted | posts::PostState::Placeholder => Visibility::Missing,
            posts::PostState::Live | posts::PostState::Superseded => match self.author_visibility(post.author_id) {
                Visibility::Visible if !self.is_admitted(post) => Visibility::Forbidden,
                sight => sight,
            },
        }
    }

    fn is_admitted(&self, post: &Post) -> bool {
        let own = self.viewer == Some(post.author_id);
        let inside = post.community_id.is_some_and(|id| self.joined.contains(&id));
        let subscribes = self.subscribed.contains(&post.author_id);
        own || (!post.members_only || inside) && (!post.followers_only || subscribes)
    }
}
