//! Whom a line item may be shown to: the one place that says so (contract §8.2, §8.6).

use base::{Error, UserId};
use network::visibility::{AuthorVisibilities, Viewer, Visibility};
use store::posts::Post;

use crate::desk::Desk;
use crate::evaluator::{Audience, Evaluator};
use crate::record::Record;

/// Whether a line item may be shown to a viewer: who is somebody takes part, is not the advertiser,
/// has not blocked the advertiser, and is whom the criteria are about.
pub fn eligible(
    desk: &mut Desk<'_, '_>,
    evaluator: &Evaluator,
    item: &Record,
    viewer: Option<UserId>,
) -> Result<bool, Error> {
    if let Some(user) = viewer {
        let found = store::users::find_by_id(desk.tx, user)?;
        if found.is_none_or(|found| found.state != store::users::UserState::Active) {
            return Ok(false);
        }
        if let Some(advertiser) = item.int("advertiser_user_id").map(UserId::new)
            && (advertiser == user || is_apart(desk, user, advertiser)?)
        {
            return Ok(false);
        }
    }
    let audience = Audience::of_line_item(desk, item.id)?;
    // What asks for nothing is for everyone, also for those who did nothing yet.
    if audience.criteria.is_empty() {
        return match viewer {
            Some(user) => Ok(!evaluator.keeps_away(desk.tx, &audience, user)?),
            None => Ok(true),
        };
    }
    evaluator.admits(desk.tx, &audience, viewer)
}

/// Whether either of two users blocks the other.
fn is_apart(desk: &mut Desk<'_, '_>, one: UserId, other: UserId) -> Result<bool, Error> {
    use network::visibility::is_blocked;
    Ok(is_blocked(desk.tx, one, other)? || is_blocked(desk.tx, other, one)?)
}

/// Whether a viewer may see a post.
pub fn sees(desk: &mut Desk<'_, '_>, viewer: Option<UserId>, post: &Post) -> Result<bool, Error> {
    let viewer = Viewer { user: viewer };
    let author = store::users::find_by_id(desk.tx, post.author_id)?;
    let mut sights = AuthorVisibilities::load(desk.tx, viewer, author.as_ref())?;
    sights.admit_posts(desk.tx, std::iter::once(post))?;
    Ok(sights.post_visibility(post) == Visibility::Visible)
}
