//! What each objective allows as goal, payment, bid strategy, product type and placements, and which creatives it
//! needs (contract ads §4.5, §9.4).

use ads_engine::{AdsRecord, RecordChange};
use base::VocabularyWord;
use base::refusal::AdsProblem;
use store::ledger::Metric;

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

/// The placements that line items may have, by product type and objective. Validation and the list of placements read
/// this table.
pub struct PlacementRule {
    pub product: &'static str,
    pub objectives: &'static [&'static str],
    /// Each is allowed as a whole, in any order.
    pub placements: &'static [&'static [&'static str]],
}

pub const PLACEMENT_RULES: &[PlacementRule] = &[
    PlacementRule {
        product: "PROMOTED_ACCOUNT",
        objectives: &["FOLLOWERS"],
        placements: &[&["ALL_ON_TWITTER"], &["TWITTER_TIMELINE"]],
    },
    PlacementRule {
        product: "PROMOTED_POSTS",
        objectives: &["APP_ENGAGEMENTS", "APP_INSTALLS", "ENGAGEMENTS", "VIDEO_VIEWS", "WEBSITE_CLICKS"],
        placements: &[
            &["ALL_ON_TWITTER"],
            &["ALL_ON_TWITTER", "PUBLISHER_NETWORK"],
            &["PUBLISHER_NETWORK"],
            &["PUBLISHER_NETWORK", "TWITTER_TIMELINE"],
            &["TWITTER_SEARCH"],
            &["TWITTER_TIMELINE"],
            &["TWITTER_PROFILE", "TWITTER_TIMELINE"],
        ],
    },
    PlacementRule {
        product: "PROMOTED_POSTS",
        objectives: &["REACH"],
        placements: &[
            &["ALL_ON_TWITTER"],
            &["ALL_ON_TWITTER", "PUBLISHER_NETWORK"],
            &["PUBLISHER_NETWORK", "TWITTER_TIMELINE"],
            &["TWITTER_TIMELINE"],
            &["TWITTER_PROFILE", "TWITTER_TIMELINE"],
        ],
    },
    PlacementRule {
        product: "MEDIA",
        objectives: &["PREROLL_VIEWS"],
        placements: &[&["ALL_ON_TWITTER"], &["PUBLISHER_NETWORK"], &["TWITTER_TIMELINE"]],
    },
];

/// Whether it is, or is part of, the network of other apps.
pub fn is_publisher_network(placement: &str) -> bool {
    containing_placement(placement) == "PUBLISHER_NETWORK"
}

/// The placement of the table that a narrower one is part of.
fn containing_placement(name: &str) -> &str {
    match name {
        "TWITTER_REPLIES" => "TWITTER_TIMELINE",
        tap if tap.starts_with("TAP_") => "PUBLISHER_NETWORK",
        other => other,
    }
}

fn join_placements(sets: &[&[&str]]) -> String {
    let sets: Vec<String> = sets.iter().map(|set| set.join(" and ")).collect();
    sets.join(", ")
}

/// Checks a new line item: none of these fields can be changed.
pub(super) fn validate_placements(change: &RecordChange) -> Result<(), AdsProblem> {
    if !change.is_new() {
        return Ok(());
    }
    let record = &change.record;
    let (objective, product) = (record.text("objective"), record.text("product_type"));
    let mut rules = PLACEMENT_RULES.iter();
    let Some(rule) = rules.find(|rule| rule.product == product && rule.objectives.contains(&objective)) else {
        let message = format!("{objective} is not available for {product}");
        return Err(AdsProblem::invalid_attribute("product_type", message));
    };
    let placements: Vec<&str> = record.texts("placements").into_iter().map(containing_placement).collect();
    let is_allowed = |set: &&&[&str]| {
        set.iter().all(|one| placements.contains(one)) && placements.iter().all(|one| set.contains(one))
    };
    if rule.placements.iter().any(|set| is_allowed(&set)) {
        return Ok(());
    }
    let message = format!("The placements of {objective} are one of: {}", join_placements(rule.placements));
    Err(AdsProblem::invalid_attribute("placements", message).with_code("INVALID_PLACEMENT_TYPE"))
}

/// The resources of which a line item needs one record before it can serve.
pub(super) fn creative_resources(item: &AdsRecord) -> &'static [&'static str] {
    match item.text("objective") {
        "FOLLOWERS" => &["promoted_account"],
        "PREROLL_VIEWS" => &["media_creative"],
        _ => &["promoted_post", "media_creative"],
    }
}

/// The metric that counts the results of a goal; `None` if the ledger records none.
pub fn result_metric(goal: &str) -> Option<Metric> {
    Some(match goal {
        "ENGAGEMENT" => Metric::Engagements,
        "FOLLOWERS" => Metric::Follows,
        "LINK_CLICKS" => Metric::UrlClicks,
        "MAX_REACH" | "REACH_WITH_ENGAGEMENT" => Metric::Impressions,
        "VIDEO_VIEW" | "PREROLL" => Metric::VideoViews,
        "VIEW_3S_100PCT" => Metric::Video3,
        "VIEW_6S" => Metric::Video6,
        "VIEW_15S" => Metric::Video15,
        "PREROLL_STARTS" => Metric::VideoStarts,
        "APP_CLICKS" => Metric::AppClicks,
        "SITE_VISITS" | "WEBSITE_CONVERSIONS" | "APP_INSTALLS" | "APP_PURCHASES" => Metric::Conversions,
        _ => return None,
    })
}

/// Whether a line item is shown beside searches only, which keywords select.
pub fn needs_keywords(item: &AdsRecord) -> bool {
    item.texts("placements") == ["TWITTER_SEARCH"]
}

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

/// Whether a line item has a target for the price of a link click, which is then what it pays by.
fn targets_link_clicks(item: &AdsRecord) -> bool {
    item.text("objective") == "WEBSITE_CLICKS"
        && item.text("bid_strategy") == "TARGET"
        && matches!(item.text("goal"), "" | "LINK_CLICKS")
}

/// What a line item may pay by; the first is the default.
pub(super) fn allowed_payments(item: &AdsRecord) -> &'static [&'static str] {
    if targets_link_clicks(item) { &["LINK_CLICK"] } else { objective_rules(item.text("objective")).pay_by }
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
    let pays_by = record.text("pay_by");
    if !pays_by.is_empty() && !allowed_payments(record).contains(&pays_by) {
        let message = "LINK_CLICKS with the strategy TARGET are paid by LINK_CLICK";
        return Err(AdsProblem::invalid_attribute("pay_by", message));
    }
    let may_change = objective == "APP_INSTALLS" || targets_link_clicks(record);
    if !change.is_new() && change.changes_field("pay_by") && !may_change {
        let message = format!("What {objective} pays by cannot be changed");
        return Err(AdsProblem::invalid_attribute("pay_by", message));
    }
    Ok(())
}
