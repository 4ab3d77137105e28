//! Decides to whom a line item may be shown; nothing else does (contract ads §8.2, §8.6).

use std::collections::{HashMap, HashSet};

use ads::resources::line_items::LINE_ITEM;
use ads::resources::targeting_criteria::TARGETING_CRITERION;
use ads::resources::{do_not_reach_lists, promotable_users};
use ads_engine::{AccountContext, AdsRecord};
use base::{Error, UserId, sorted_distinct};
use network::visibility::{AuthorVisibilities, Viewer, Visibility};
use store::posts::Post;
use store::{Tx, graph, records};

use crate::evaluator::{Evaluator, TargetedAudience, TargetingCriterion};

/// Line items whose criteria are read together at most.
const MAX_BATCH: usize = 128;

/// Whose ads a viewer may be shown, whatever they target: those of all other advertisers, except in a block with them,
/// if the viewer is active. An unknown viewer may be shown all.
#[derive(Debug)]
pub struct AdvertiserFilter {
    viewer: Option<UserId>,
    is_active: bool,
    /// Advertisers who block the viewer or are blocked.
    blocked: HashSet<UserId>,
}

impl AdvertiserFilter {
    /// For the advertisers of some line items.
    pub fn load<'r>(
        tx: &mut Tx<'_>,
        viewer: Option<UserId>,
        items: impl Iterator<Item = &'r AdsRecord>,
    ) -> Result<Self, Error> {
        let Some(user) = viewer else {
            return Ok(Self { viewer, is_active: true, blocked: HashSet::new() });
        };
        let found = store::users::find_by_id(tx, user)?;
        let is_active = found.is_some_and(|found| found.state == store::users::UserState::Active);
        let advertisers = sorted_distinct(items.filter_map(advertiser));
        let blockers = graph::filter_blockers(tx, &advertisers, user)?;
        let blocked = graph::filter_blocked(tx, user, &advertisers)?;
        Ok(Self { viewer, is_active, blocked: blockers.into_iter().chain(blocked).collect() })
    }

    pub fn admits(&self, item: &AdsRecord) -> bool {
        let refused = |user: UserId| self.viewer == Some(user) || self.blocked.contains(&user);
        self.is_active && !advertiser(item).is_some_and(refused)
    }
}

fn advertiser(item: &AdsRecord) -> Option<UserId> {
    item.int("advertiser_user_id").map(UserId::new)
}

/// Reads the audiences of line items, with those that are likely to be asked for next.
#[derive(Debug)]
pub(crate) struct AudienceReader {
    /// In the order in which they are likely to be asked for.
    items: Vec<i64>,
    own_users: HashMap<i64, UserId>,
    do_not_reach_lists: HashMap<i64, i64>,
    criteria: HashMap<i64, Vec<TargetingCriterion>>,
    /// Line items whose criteria are read together. It grows, as most requests need few.
    batch: usize,
}

impl AudienceReader {
    pub(crate) fn new<'r>(tx: &mut Tx<'_>, items: impl Iterator<Item = &'r AdsRecord>) -> Result<Self, Error> {
        let (items, accounts): (Vec<i64>, Vec<i64>) = items.map(|item| (item.id, item.account_id)).unzip();
        let accounts = sorted_distinct(accounts);
        Ok(Self {
            items,
            own_users: promotable_users::find_own_users(tx, &accounts)?,
            do_not_reach_lists: do_not_reach_lists::find_list_ids(tx, &accounts)?,
            criteria: HashMap::new(),
            batch: 4,
        })
    }

    pub(crate) fn audience(&mut self, tx: &mut Tx<'_>, item: &AdsRecord) -> Result<TargetedAudience, Error> {
        if !self.criteria.contains_key(&item.id) {
            let next = self.items.iter().skip_while(|id| **id != item.id).skip(1);
            let unread = next.filter(|id| !self.criteria.contains_key(id)).take(self.batch);
            let ids: Vec<i64> = std::iter::once(&item.id).chain(unread).copied().collect();
            self.batch = (self.batch * 2).min(MAX_BATCH);
            self.criteria.extend(ids.iter().map(|id| (*id, Vec::new())));
            let parent = LINE_ITEM.id.post;
            let rows = records::list_all_by_field(tx, TARGETING_CRITERION.name, parent, &ids)?;
            for record in AdsRecord::from_rows(&TARGETING_CRITERION, rows)? {
                let criteria = self.criteria.entry(record.int(parent).unwrap_or(0)).or_default();
                criteria.push(TargetingCriterion::from_record(&record));
            }
        }
        Ok(TargetedAudience {
            account: item.account_id,
            advertiser: self.own_users.get(&item.account_id).copied(),
            do_not_reach_list: self.do_not_reach_lists.get(&item.account_id).copied(),
            criteria: self.criteria.get(&item.id).cloned().unwrap_or_default(),
        })
    }
}

/// Those of `viewers` whom a line item with this audience targets, in the same order.
pub fn filter_targeted(
    tx: &mut Tx<'_>,
    evaluator: &Evaluator,
    audience: &TargetedAudience,
    viewers: Vec<Option<UserId>>,
) -> Result<Vec<Option<UserId>>, Error> {
    // Without criteria the audience is everyone, including inactive users.
    if audience.criteria.is_empty() {
        return evaluator.remove_excluded(tx, audience, viewers);
    }
    evaluator.filter_reached(tx, audience, viewers)
}

pub fn may_see_post(ctx: &mut AccountContext<'_, '_>, viewer: Option<UserId>, post: &Post) -> Result<bool, Error> {
    let viewer = Viewer { user: viewer };
    let author = store::users::find_by_id(ctx.tx, post.author_id)?;
    let mut sights = AuthorVisibilities::load(ctx.tx, viewer, author.as_ref())?;
    sights.admit_posts(ctx.tx, std::iter::once(post))?;
    Ok(sights.post_visibility(post) == Visibility::Visible)
}
