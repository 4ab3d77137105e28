//! The campaigns or line items of an A/B test, and what they must be like.

use std::collections::{HashMap, HashSet};

use ads_engine::{AccountContext, AdsRecord, RecordChange, ResourceVerb, account_context::record_not_found};
use base::refusal::AdsProblem;
use base::{Error, Refusal, sorted_distinct};
use store::records::{self, RecordVisibility};

use super::user_groups::{EVERYONE, UserGroup};
use super::{
    CAMPAIGN_IDS, END_TIME, START_TIME, USER_GROUPS, entity_resource, had_begun, has_campaign, list_unfinished, period,
    validate_duration,
};
use crate::resources::line_items::LINE_ITEM;

/// Of tests whose entities are line items.
const MAX_LINE_ITEM_GROUPS: usize = 5;
/// Of tests with an objective that concerns apps, in days.
const MIN_APP_DAYS: i64 = 5;

/// The entities of a test and their line items.
struct Participants {
    entities: Vec<AdsRecord>,
    /// For tests of campaigns, their line items; otherwise the entities themselves, and other line items of their
    /// campaigns.
    items: Vec<AdsRecord>,
    by_line_item: bool,
}

pub(super) fn validate_participants(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    let regroups = change.changes_field(USER_GROUPS);
    let moves = change.changes_field(START_TIME) || change.changes_field(END_TIME);
    if change.verb == ResourceVerb::Delete || !regroups && !moves {
        return Ok(());
    }
    let groups = UserGroup::list(&change.record);
    let all = Participants::load(ctx, &change.record, &groups)?;
    let mut problems = Vec::new();
    if regroups && had_begun(change, ctx.now()) {
        let before = change.before.as_ref().map(UserGroup::list).unwrap_or_default();
        problems.extend(validate_unmoved(&before, &groups).err());
    } else if regroups {
        problems.extend(all.missing(&change.record, &groups));
        problems.extend(all.validate_line_items(&groups).err());
        let campaigns = all.campaign_ids();
        problems.extend(find_conflict(ctx, &change.record, &campaigns)?);
        change.record.set(CAMPAIGN_IDS, campaigns);
    }
    problems.extend(all.validate_flights(&change.record).err());
    problems.extend(validate_duration(&change.record, all.min_days()).err());
    if problems.is_empty() { Ok(()) } else { Err(Refusal::from(problems).into()) }
}

/// Once a test has begun, everyone stays in their group; only names and descriptions change.
fn validate_unmoved(before: &[UserGroup], groups: &[UserGroup]) -> Result<(), AdsProblem> {
    let split = |groups: &[UserGroup]| -> Vec<(i64, i64, Vec<i64>)> {
        groups.iter().map(|group| (group.id, group.size, group.entity_ids.clone())).collect()
    };
    if split(before) == split(groups) {
        return Ok(());
    }
    let message = "Sizes and entities of user groups do not change once the test has begun";
    Err(AdsProblem::invalid_attribute(USER_GROUPS, message))
}

/// A campaign takes part in one test at a time, as a whole or with its line items.
fn find_conflict(
    ctx: &mut AccountContext<'_, '_>,
    test: &AdsRecord,
    campaigns: &[i64],
) -> Result<Option<AdsProblem>, Error> {
    let (account, now) = (ctx.account_id()?, ctx.now());
    let others = list_unfinished(ctx.tx, &[account], now)?;
    let other = others.iter().find(|other| other.id != test.id && has_campaign(other, campaigns));
    let conflict = other.map(|other| {
        let message = format!("One of them takes part in the A/B test {} already", other.formatted_id());
        AdsProblem::invalid_attribute(USER_GROUPS, message)
    });
    Ok(conflict)
}

impl Participants {
    fn load(ctx: &mut AccountContext<'_, '_>, test: &AdsRecord, groups: &[UserGroup]) -> Result<Self, Error> {
        let resource = entity_resource(test);
        let by_line_item = std::ptr::eq(resource, &raw const LINE_ITEM);
        let ids: Vec<i64> = groups.iter().flat_map(|group| group.entity_ids.iter().copied()).collect();
        let mut entities = ctx.find_records(resource, &ids)?;
        entities.retain(|entity| !entity.deleted && entity.level != RecordVisibility::Hidden);
        let mut all = Self { entities, items: Vec::new(), by_line_item };
        let account = ctx.account_id()?;
        let campaigns = all.campaign_ids();
        let rows = records::list_by_field_values(ctx.tx, LINE_ITEM.name, account, "campaign_id", &campaigns)?;
        all.items = AdsRecord::from_rows(&LINE_ITEM, rows)?;
        Ok(all)
    }

    fn campaign_ids(&self) -> Vec<i64> {
        let of_entity =
            |entity: &AdsRecord| if self.by_line_item { entity.int("campaign_id") } else { Some(entity.id) };
        sorted_distinct(self.entities.iter().filter_map(of_entity))
    }

    fn missing(&self, test: &AdsRecord, groups: &[UserGroup]) -> Vec<AdsProblem> {
        let known: HashSet<i64> = self.entities.iter().map(|entity| entity.id).collect();
        let ids = groups.iter().flat_map(|group| group.entity_ids.iter().copied());
        let missing = ids.filter(|id| !known.contains(id));
        missing.map(|id| record_not_found(entity_resource(test), USER_GROUPS, id)).collect()
    }

    /// Line items are tested within one campaign: all of them, each in a group of its own, and of the same size.
    fn validate_line_items(&self, groups: &[UserGroup]) -> Result<(), AdsProblem> {
        if !self.by_line_item {
            return Ok(());
        }
        let wrong = |message: String| Err(AdsProblem::invalid_attribute(USER_GROUPS, message));
        if groups.len() > MAX_LINE_ITEM_GROUPS {
            return wrong(format!("An A/B test of line items has at most {MAX_LINE_ITEM_GROUPS} user groups"));
        }
        if groups.iter().any(|group| group.entity_ids.len() != 1) {
            return wrong("Each user group of an A/B test of line items has one line item".to_owned());
        }
        let count = i64::try_from(groups.len()).unwrap_or(1).max(1);
        // Where they cannot be the same, such as thirds, they differ by a hundredth.
        let equal = EVERYONE / count..=EVERYONE / count + i64::from(EVERYONE % count > 0);
        if groups.iter().any(|group| !equal.contains(&group.size)) {
            return wrong("User groups of an A/B test of line items have the same size".to_owned());
        }
        let tested: HashSet<i64> = self.entities.iter().map(|item| item.id).collect();
        if self.campaign_ids().len() > 1 || self.items.iter().any(|item| !tested.contains(&item.id)) {
            return wrong("An A/B test of line items has all line items of one campaign".to_owned());
        }
        Ok(())
    }

    /// Every entity that has line items has one that runs during the test.
    fn validate_flights(&self, test: &AdsRecord) -> Result<(), AdsProblem> {
        let (start, end) = period(test);
        let mut runs: HashMap<i64, bool> = HashMap::new();
        for item in &self.items {
            let entity = if self.by_line_item { Some(item.id) } else { item.int("campaign_id") };
            let overlaps = item.time("start_time").is_none_or(|at| at < end)
                && item.time("end_time").is_none_or(|until| until > start);
            *runs.entry(entity.unwrap_or(0)).or_default() |= overlaps;
        }
        let Some(idle) = self.entities.iter().find(|entity| runs.get(&entity.id) == Some(&false)) else {
            return Ok(());
        };
        let message = format!("The {} {} does not run during the test", idle.resource.label, idle.formatted_id());
        Err(AdsProblem::invalid_attribute(START_TIME, message))
    }

    fn min_days(&self) -> i64 {
        let concerns_apps = self.items.iter().any(|item| item.text("objective").starts_with("APP_"));
        if concerns_apps { MIN_APP_DAYS } else { 1 }
    }
}
