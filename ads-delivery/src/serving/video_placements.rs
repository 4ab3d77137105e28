//! Pre-roll placement: the publishers whose videos a line item is shown before (contract ads
//! §8.10).

use ads::resources::targeting_criteria::TARGETING_CRITERION;
use ads::resources::{categories, curated_categories, line_item_curated_categories, publishers};
use ads_engine::{AccountContext, AdsRecord};
use base::{Error, PostId};
use store::posts::PostState;

use super::AdRequest;

/// Whether a line item fits the placement: pre-roll ads need a video of a publisher that the line item
/// targets.
pub(super) fn fits_video_placement(
    ctx: &mut AccountContext<'_, '_>,
    item: &AdsRecord,
    request: &AdRequest,
) -> Result<bool, Error> {
    if item.text("objective") != "PREROLL_VIEWS" {
        return Ok(true);
    }
    let Some(video) = request.video_post_id else {
        return Ok(false);
    };
    let post = store::posts::find_by_id(ctx.tx, PostId::new(video))?;
    let plays = |keys: &str| keys.split(',').any(|key| key.starts_with("7_") || key.starts_with("13_"));
    let post = post.filter(|post| post.state == PostState::Live && plays(&post.media_keys));
    let Some(author) = post.map(|post| post.author_id) else {
        return Ok(false);
    };
    let publisher = publishers::find_by_user(ctx.tx, author)?;
    let Some(publisher) = publisher.filter(|one| !one.flag("monetization_restricted")) else {
        return Ok(false);
    };
    let criteria = ctx.list_visible_records(&TARGETING_CRITERION, "line_item_id", item.id)?;
    let values = |kind: &str, operator: &str| -> Vec<&str> {
        let all =
            criteria.iter().filter(|one| one.text("targeting_type") == kind && one.text("operator_type") == operator);
        all.map(|one| one.text("targeting_value")).collect()
    };
    let name = author.to_string();
    if values("CONTENT_PUBLISHER_USER", "NE").contains(&name.as_str()) {
        return Ok(false);
    }
    let content = publisher.texts("content_category_ids");
    let covers = |categories: &[&str]| {
        let sets = content.iter().filter_map(|id| categories::content_iab_categories(id));
        let mut sets = sets.filter(|set| !set.is_empty());
        sets.any(|set| set.iter().all(|one| categories.contains(one)))
    };
    if covers(&values("IAB_CATEGORY", "NE")) {
        return Ok(false);
    }
    let categories = values("IAB_CATEGORY", "EQ");
    let curated = is_in_curated_set(ctx, item, author.get())?;
    Ok(match curated {
        Some(holds) => holds,
        None => categories.is_empty() || covers(&categories),
    })
}

/// Whether the line item's curated category contains a publisher; `None` if it has no category.
fn is_in_curated_set(ctx: &mut AccountContext<'_, '_>, item: &AdsRecord, author: i64) -> Result<Option<bool>, Error> {
    let Some(link) = line_item_curated_categories::find_by_line_item(ctx, item.id)? else {
        return Ok(None);
    };
    let id = link.int("curated_category_id").unwrap_or(0);
    let set = curated_categories::find(ctx.tx, id)?;
    let holds = set.is_some_and(|set| {
        let mut all = set.items("publisher_user_ids").iter();
        all.any(|one| one.as_i64() == Some(author))
    });
    Ok(Some(holds))
}
