//! What is asked of viewers.

use base::{Error, UserId};

use crate::account_context::AccountContext;
use crate::resources::line_items::LINE_ITEM;
use crate::resources::promotable_users;
use crate::resources::targeting_criteria::TARGETING_CRITERION;

/// How a value is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CriterionOperator {
    /// It is so.
    Eq,
    /// It is not.
    Ne,
    /// At least that.
    Gte,
    /// Less than that.
    Lt,
}

impl CriterionOperator {
    /// The one with a name.
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

/// One thing that is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetingCriterion {
    /// Its type: `FOLLOWERS_OF_USER`, `LOCATION`, ….
    pub kind: String,
    /// Its value.
    pub value: String,
    /// How the value is meant.
    pub operator: CriterionOperator,
}

/// All that is asked, and for whom.
#[derive(Clone, Debug, Default)]
pub struct TargetedAudience {
    /// The account.
    pub account: i64,
    /// The account's own user; whoever blocks them is not reached.
    pub advertiser: Option<UserId>,
    /// The criteria; none: everyone.
    pub criteria: Vec<TargetingCriterion>,
}

/// Types of which any one suffices, whatever its type.
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

/// Whether a type is one of those of which any one suffices.
pub fn is_primary_type(kind: &str) -> bool {
    PRIMARY.contains(&kind)
}

impl TargetedAudience {
    /// Of the desk's account, without criteria.
    pub fn from_account(ctx: &mut AccountContext<'_, '_>) -> Result<Self, Error> {
        Ok(Self {
            account: ctx.account_id()?,
            advertiser: promotable_users::find_own_user(ctx)?,
            criteria: Vec::new(),
        })
    }

    /// Of a line item of the desk's account: what its criteria ask.
    pub fn from_line_item(ctx: &mut AccountContext<'_, '_>, item: i64) -> Result<Self, Error> {
        let mut audience = Self::from_account(ctx)?;
        let parent = LINE_ITEM.id.post;
        for one in ctx.list_visible_records(&TARGETING_CRITERION, parent, item)? {
            audience.criteria.push(TargetingCriterion {
                kind: one.text("targeting_type").to_owned(),
                value: one.text("targeting_value").to_owned(),
                operator: CriterionOperator::parse(one.text("operator_type")).unwrap_or(CriterionOperator::Eq),
            });
        }
        Ok(audience)
    }

    /// The kinds of engagement that engagement criteria ask for; empty: any.
    pub(super) fn engagement_types(&self) -> Vec<&str> {
        let all = self.criteria.iter();
        let all = all.filter(|criterion| criterion.kind == "ENGAGEMENT_TYPE");
        all.map(|criterion| criterion.value.as_str()).collect()
    }
}
