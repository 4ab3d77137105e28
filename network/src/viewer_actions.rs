//! What a user has done to some posts.

use std::collections::{HashMap, HashSet};

use base::{Fault, PostId, UserId};
use store::{Tx, bookmarks, likes, polls, reposts};

#[derive(Clone, Debug, Default)]
pub struct ViewerActions {
    pub liked: HashSet<PostId>,
    pub reposted: HashSet<PostId>,
    pub bookmarked: HashSet<PostId>,
    /// The number of the choice, by poll.
    pub votes: HashMap<i64, i64>,
}

/// `posts` are original posts, not reposts.
pub fn load_viewer_actions(
    tx: &mut Tx<'_>,
    user: UserId,
    posts: &[PostId],
    poll_ids: &[i64],
) -> Result<ViewerActions, Fault> {
    let mut votes = HashMap::new();
    for poll in poll_ids {
        votes.extend(polls::find_vote(tx, *poll, user)?.map(|choice| (*poll, choice)));
    }
    Ok(ViewerActions {
        liked: likes::filter_liked(tx, user, posts)?.into_iter().collect(),
        reposted: reposts::filter_reposted(tx, user, posts)?.into_iter().collect(),
        bookmarked: bookmarks::filter_bookmarked(tx, user, posts)?.into_iter().collect(),
        votes,
    })
}
