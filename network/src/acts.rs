//! Whether a user may act on a post (contract §11.3), and what a post's own lists begin with.

use base::refusal::Subject;
use base::{Fault, PostId, Refusal, Stop, UserId};
use store::Tx;
use store::posts::{self, Post, PostState};
use store::users::{self, User};

use crate::visibility::{Sight, Sights, Viewer, touched};

/// What an act on a post is about: of a repost, what it reposts.
pub(crate) fn original(tx: &mut Tx<'_>, id: PostId) -> Result<Option<Post>, Fault> {
    let post = posts::find_by_id(tx, id)?;
    match post.as_ref().and_then(|post| post.repost_of_id) {
        Some(original) => posts::find_by_id(tx, original),
        None => Ok(post),
    }
}

/// The post that a user is to act upon, if they may and it is not an old version.
pub(crate) fn target(tx: &mut Tx<'_>, user: UserId, id: PostId) -> Result<Post, Stop> {
    let post = touched(tx, user, id, "id")?;
    if post.state == PostState::Superseded {
        return Err(not_permitted());
    }
    Ok(post)
}

/// The post whose list is asked for, if it is to be seen.
pub(crate) fn seen(tx: &mut Tx<'_>, viewer: Viewer, id: PostId) -> Result<Post, Stop> {
    let post = posts::find_by_id(tx, id)?;
    let author = author(tx, post.as_ref())?;
    let (Some(post), Some(author)) = (post, author) else {
        return Err(unseen(Sight::Missing, id).into());
    };
    match sight(tx, viewer, &author, &post)? {
        Sight::Visible => Ok(post),
        hidden => Err(unseen(hidden, id).into()),
    }
}

fn author(tx: &mut Tx<'_>, post: Option<&Post>) -> Result<Option<User>, Fault> {
    post.map_or(Ok(None), |post| users::find_by_id(tx, post.author_id))
}

fn sight(tx: &mut Tx<'_>, viewer: Viewer, author: &User, post: &Post) -> Result<Sight, Fault> {
    let mut sights = Sights::of_authors(tx, viewer, Some(author))?;
    sights.admit(tx, [post])?;
    Ok(sights.of_post(post))
}

fn unseen(sight: Sight, id: PostId) -> Refusal {
    let subject = Subject::new("tweet", "id", id);
    match sight {
        Sight::Visible | Sight::Missing => Refusal::NotFound(subject),
        Sight::Forbidden | Sight::Suspended => Refusal::NotVisible(subject),
    }
}

/// What a rule of the platform forbids without a sentence of its own.
pub(crate) fn not_permitted() -> Stop {
    Refusal::forbidden("You are not permitted to perform this action.").into()
}

/// Ends an act on a post that may have been deleted while it went on.
pub(crate) fn unless_gone(counted: bool, id: PostId) -> Result<(), Stop> {
    if counted {
        return Ok(());
    }
    Err(unseen(Sight::Missing, id).into())
}
