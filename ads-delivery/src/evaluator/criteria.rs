//! Targeting criteria as the evaluator sees them.

use ads::resources::do_not_reach_lists::find_list_id;
use ads::resources::line_items::LINE_ITEM;
use ads::resources::promotable_users;
use ads::resources::targeting_criteria::TARGETING_CRITERION;
use ads_engine::{AccountContext, AdsRecord};
use base::{Error, UserId, sorted_distinct};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CriterionOperator {
    Eq,
    Ne,
    /// At least the value.
    Gte,
    /// Less than the value.
    Lt,
}

impl CriterionOperator {
    pub fn parse(name: &str) -> Option<Self> {
        match name.to_ascii_uppercase().as_str() {
            "EQ" => Some(Self::Eq),
            "NE" => Some(Self::Ne),
            "GTE" => Some(Self::Gte),
            "LT" => Some(Self::Lt),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetingCriterion {
    /// The criterion type: `FOLLOWERS_OF_USER`, `LOCATION`, ….
    pub kind: String,
    pub value: String,
    pub operator: CriterionOperator,
}

impl TargetingCriterion {
    pub fn from_record(record: &AdsRecord) -> Self {
        Self {
            kind: record.text("targeting_type").to_owned(),
            value: record.text("targeting_value").to_owned(),
            operator: CriterionOperator::parse(record.text("operator_type")).unwrap_or(CriterionOperator::Eq),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct TargetedAudience {
    pub account: i64,
    /// The account's own user; users who block it are not reached.
    pub advertiser: Option<UserId>,
    /// The account's list of users who are not reached.
    pub do_not_reach_list: Option<i64>,
    /// Empty for everyone.
    pub criteria: Vec<TargetingCriterion>,
}

/// Types combined with OR across types; all others are combined with AND.
const PRIMARY: &[&str] = &[
    "BROAD_KEYWORD",
    "CAMPAIGN_ENGAGEMENT",
    "CAMPAIGN_ENGAGEMENT_LOOKALIKE",
    "CONVERSATION",
    "CUSTOM_AUDIENCE",
    "CUSTOM_AUDIENCE_EXPANDED",
    "EVENT",
    "EXACT_KEYWORD",
    "FOLLOWERS_OF_USER",
    "INTEREST",
    "LIVE_TV_EVENT",
    "PHRASE_KEYWORD",
    "SIMILAR_TO_FOLLOWERS_OF_USER",
    "TV_SHOW",
    "UNORDERED_KEYWORD",
    "USER_ENGAGEMENT",
    "USER_ENGAGEMENT_LOOKALIKE",
];

pub fn is_primary_type(kind: &str) -> bool {
    PRIMARY.contains(&kind)
}

impl TargetedAudience {
    /// The context's account without criteria.
    pub fn from_account(ctx: &mut AccountContext<'_, '_>) -> Result<Self, Error> {
        let account = ctx.account_id()?;
        Ok(Self {
            account,
            advertiser: promotable_users::find_own_user(ctx)?,
            do_not_reach_list: find_list_id(ctx.tx, account)?,
            criteria: Vec::new(),
        })
    }

    /// A line item of the context's account with its criteria.
    pub fn from_line_item(ctx: &mut AccountContext<'_, '_>, item: i64) -> Result<Self, Error> {
        let mut audience = Self::from_account(ctx)?;
        let parent = LINE_ITEM.id.post;
        let criteria = ctx.list_visible_records(&TARGETING_CRITERION, parent, item)?;
        audience.criteria.extend(criteria.iter().map(TargetingCriterion::from_record));
        Ok(audience)
    }

    /// The engagement types that engagement criteria select; empty for any.
    pub(super) fn engagement_types(&self) -> Vec<&str> {
        let all = self.criteria.iter();
        let all = all.filter(|criterion| criterion.kind == "ENGAGEMENT_TYPE");
        all.map(|criterion| criterion.value.as_str()).collect()
    }

    /// A name for what [`Self::engagement_types`] select.
    pub(super) fn sorted_engagement_types(&self) -> String {
        sorted_distinct(self.engagement_types()).join(" ")
    }
}
