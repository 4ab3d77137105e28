//! What each objective allows as goal, payment and bid strategy (contract ads §4.5).

use ads_engine::RecordChange;
use base::VocabularyWord;
use base::refusal::AdsProblem;

pub const OBJECTIVES: &[&str] = &[
    "APP_ENGAGEMENTS",
    "APP_INSTALLS",
    "ENGAGEMENTS",
    "FOLLOWERS",
    "PREROLL_VIEWS",
    "REACH",
    "VIDEO_VIEWS",
    "WEBSITE_CLICKS",
];

pub const PRODUCTS: &[VocabularyWord] = &[
    VocabularyWord::same_in_both("MEDIA"),
    VocabularyWord::same_in_both("PROMOTED_ACCOUNT"),
    VocabularyWord::new("PROMOTED_POSTS", "PROMOTED_TWEETS"),
];

pub const GOALS: &[&str] = &[
    "APP_CLICKS",
    "APP_INSTALLS",
    "APP_PURCHASES",
    "ENGAGEMENT",
    "FOLLOWERS",
    "LINK_CLICKS",
    "MAX_REACH",
    "PREROLL",
    "PREROLL_STARTS",
    "REACH_WITH_ENGAGEMENT",
    "SITE_VISITS",
    "VIDEO_VIEW",
    "VIEW_15S",
    "VIEW_3S_100PCT",
    "VIEW_6S",
    "WEBSITE_CONVERSIONS",
];

pub const PAY_BY: &[&str] = &["APP_CLICK", "ENGAGEMENT", "FOLLOW", "IMPRESSION", "LINK_CLICK", "VIEW"];

/// Allowed values; the first of each is the default.
pub(super) struct ObjectiveRules {
    pub(super) goals: &'static [&'static str],
    pub(super) pay_by: &'static [&'static str],
    pub(super) strategies: &'static [&'static str],
}

pub(super) fn objective_rules(objective: &str) -> ObjectiveRules {
    let rules = |goals, pay_by, strategies| ObjectiveRules { goals, pay_by, strategies };
    match objective {
        "FOLLOWERS" => rules(&["FOLLOWERS"], &["FOLLOW"], &["AUTO", "TARGET"]),
        "REACH" => rules(&["MAX_REACH", "REACH_WITH_ENGAGEMENT"], &["IMPRESSION"], &["AUTO", "TARGET"]),
        "WEBSITE_CLICKS" => rules(
            &["LINK_CLICKS", "SITE_VISITS", "WEBSITE_CONVERSIONS"],
            &["IMPRESSION", "LINK_CLICK"],
            &["AUTO", "MAX", "TARGET"],
        ),
        "VIDEO_VIEWS" => rules(&["VIDEO_VIEW", "VIEW_3S_100PCT", "VIEW_6S", "VIEW_15S"], &["VIEW"], &["AUTO", "MAX"]),
        "PREROLL_VIEWS" => rules(&["PREROLL", "PREROLL_STARTS"], &["VIEW"], &["MAX", "AUTO"]),
        "APP_INSTALLS" => rules(
            &["APP_INSTALLS", "APP_CLICKS", "APP_PURCHASES"],
            &["IMPRESSION", "APP_CLICK"],
            &["AUTO", "MAX", "TARGET"],
        ),
        "APP_ENGAGEMENTS" => rules(&["APP_CLICKS", "APP_INSTALLS"], &["APP_CLICK"], &["AUTO", "MAX", "TARGET"]),
        _ => rules(&["ENGAGEMENT"], &["ENGAGEMENT"], &["MAX", "AUTO", "TARGET"]),
    }
}

/// Checks that goal, payment and strategy suit the objective and each other.
pub(super) fn validate_objective(change: &RecordChange) -> Result<(), AdsProblem> {
    let record = &change.record;
    let objective = record.text("objective");
    let allowed = objective_rules(objective);
    for (name, values) in [("goal", allowed.goals), ("pay_by", allowed.pay_by), ("bid_strategy", allowed.strategies)] {
        let value = record.text(name);
        if !value.is_empty() && !values.contains(&value) {
            let message = format!("{value} does not suit the objective {objective}");
            return Err(AdsProblem::invalid_attribute(name, message));
        }
    }
    let targets_clicks = objective == "WEBSITE_CLICKS"
        && record.text("bid_strategy") == "TARGET"
        && matches!(record.text("goal"), "" | "LINK_CLICKS");
    if targets_clicks && record.text("pay_by") != "LINK_CLICK" {
        let message = "LINK_CLICKS with the strategy TARGET are paid by LINK_CLICK";
        return Err(AdsProblem::invalid_attribute("pay_by", message));
    }
    if !change.is_new() && change.changes_field("pay_by") && objective != "APP_INSTALLS" {
        let message = format!("What {objective} pays by cannot be changed");
        return Err(AdsProblem::invalid_attribute("pay_by", message));
    }
    Ok(())
}
