//! Pre-roll placement: the publishers whose videos a line item is shown before (contract ads
//! §8.10).

use ads::resources::{categories, curated_categories, line_item_curated_categories, publishers};
use ads_engine::{AccountContext, AdsRecord};
use base::{Error, PostId, UserId};
use store::Tx;
use store::posts::PostState;

use crate::evaluator::{CriterionOperator, TargetingCriterion};

/// A video that ads may precede.
pub(super) struct VideoPlacement {
    author: UserId,
    publisher: AdsRecord,
}

impl VideoPlacement {
    /// `None` without a post, or if it is not a video of a publisher whose videos ads may precede.
    pub(super) fn load(tx: &mut Tx<'_>, post: Option<i64>) -> Result<Option<Self>, Error> {
        let Some(video) = post else {
            return Ok(None);
        };
        let post = store::posts::find_by_id(tx, PostId::new(video))?;
        let plays = |keys: &str| keys.split(',').any(|key| key.starts_with("7_") || key.starts_with("13_"));
        let post = post.filter(|post| post.state == PostState::Live && plays(&post.media_keys));
        let Some(author) = post.map(|post| post.author_id) else {
            return Ok(None);
        };
        let publisher = publishers::find_by_user(tx, author)?;
        let publisher = publisher.filter(|one| !one.flag("monetization_restricted"));
        Ok(publisher.map(|publisher| Self { author, publisher }))
    }

    /// Whether a line item with these criteria targets the publisher.
    pub(super) fn is_targeted(
        &self,
        ctx: &mut AccountContext<'_, '_>,
        item: &AdsRecord,
        criteria: &[TargetingCriterion],
    ) -> Result<bool, Error> {
        let values = |kind: &str, operator: CriterionOperator| -> Vec<&str> {
            let all = criteria.iter().filter(|one| one.kind == kind && one.operator == operator);
            all.map(|one| one.value.as_str()).collect()
        };
        let name = self.author.to_string();
        if values("CONTENT_PUBLISHER_USER", CriterionOperator::Ne).contains(&name.as_str()) {
            return Ok(false);
        }
        let content = self.publisher.texts("content_category_ids");
        let covers = |categories: &[&str]| {
            let sets = content.iter().filter_map(|id| categories::content_iab_categories(id));
            let mut sets = sets.filter(|set| !set.is_empty());
            sets.any(|set| set.iter().all(|one| categories.contains(one)))
        };
        if covers(&values("IAB_CATEGORY", CriterionOperator::Ne)) {
            return Ok(false);
        }
        let categories = values("IAB_CATEGORY", CriterionOperator::Eq);
        let curated = is_in_curated_set(ctx, item, self.author.get())?;
        Ok(curated.unwrap_or_else(|| categories.is_empty() || covers(&categories)))
    }
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
