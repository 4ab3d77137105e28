//! Decides to whom a line item may be shown; nothing else does (contract ads §8.2, §8.6).

use ads_engine::{AccountContext, AdsRecord};
use base::{Error, UserId};
use network::visibility::{AuthorVisibilities, Viewer, Visibility};
use store::posts::Post;

use crate::evaluator::{Evaluator, TargetedAudience};

/// Whether a line item may be shown to a viewer: a known viewer must be active, not be the advertiser, not
/// have blocked the advertiser, and match the criteria.
pub fn is_eligible(
    ctx: &mut AccountContext<'_, '_>,
    evaluator: &Evaluator,
    item: &AdsRecord,
    viewer: Option<UserId>,
) -> Result<bool, Error> {
    if !may_be_advertised_to(ctx, item, viewer)? {
        return Ok(false);
    }
    let audience = TargetedAudience::from_line_item(ctx, item.id)?;
    Ok(!filter_targeted(ctx, evaluator, &audience, vec![viewer])?.is_empty())
}

/// Those of `viewers` to whom a line item with this audience may be shown, in the same order.
pub fn filter_eligible(
    ctx: &mut AccountContext<'_, '_>,
    evaluator: &Evaluator,
    (item, audience): (&AdsRecord, &TargetedAudience),
    viewers: &[Option<UserId>],
) -> Result<Vec<Option<UserId>>, Error> {
    let mut eligible = Vec::new();
    for viewer in filter_targeted(ctx, evaluator, audience, viewers.to_vec())? {
        if may_be_advertised_to(ctx, item, viewer)? {
            eligible.push(viewer);
        }
    }
    Ok(eligible)
}

fn may_be_advertised_to(
    ctx: &mut AccountContext<'_, '_>,
    item: &AdsRecord,
    viewer: Option<UserId>,
) -> Result<bool, Error> {
    let Some(user) = viewer else {
        return Ok(true);
    };
    let found = store::users::find_by_id(ctx.tx, user)?;
    if found.is_none_or(|found| found.state != store::users::UserState::Active) {
        return Ok(false);
    }
    let Some(advertiser) = item.int("advertiser_user_id").map(UserId::new) else {
        return Ok(true);
    };
    Ok(advertiser != user && !is_either_blocked(ctx, user, advertiser)?)
}

fn filter_targeted(
    ctx: &mut AccountContext<'_, '_>,
    evaluator: &Evaluator,
    audience: &TargetedAudience,
    viewers: Vec<Option<UserId>>,
) -> Result<Vec<Option<UserId>>, Error> {
    // Without criteria the audience is everyone, including inactive users.
    if audience.criteria.is_empty() {
        return evaluator.remove_excluded(ctx.tx, audience, viewers);
    }
    evaluator.filter_reached(ctx.tx, audience, viewers)
}

fn is_either_blocked(ctx: &mut AccountContext<'_, '_>, one: UserId, other: UserId) -> Result<bool, Error> {
    use network::visibility::is_blocked;
    Ok(is_blocked(ctx.tx, one, other)? || is_blocked(ctx.tx, other, one)?)
}

pub fn may_see_post(ctx: &mut AccountContext<'_, '_>, viewer: Option<UserId>, post: &Post) -> Result<bool, Error> {
    let viewer = Viewer { user: viewer };
    let author = store::users::find_by_id(ctx.tx, post.author_id)?;
    let mut sights = AuthorVisibilities::load(ctx.tx, viewer, author.as_ref())?;
    sights.admit_posts(ctx.tx, std::iter::once(post))?;
    Ok(sights.post_visibility(post) == Visibility::Visible)
}
