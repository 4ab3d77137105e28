//! Ads accounts, their settings and reference data.

use web::endpoint::{Endpoint, RateWindow, per_quarter_hour};

use super::{account, path_param, planned_endpoint};

pub static ACCOUNTS: &[Endpoint] = &[
    planned_endpoint("getAdsAccounts", "GET", "/12/accounts", "Ads accounts that the user has access to.")
        .aliases(&["/11/accounts"]),
    planned_endpoint("getAdsAccount", "GET", ONE, "An account.")
        .aliases(&[OLDER_ONE])
        .params(&[&[path_param("account_id")]]),
    planned_endpoint("createAdsAccount", "POST", "/12/accounts", "Sandbox only: creates an account.")
        .aliases(&["/11/accounts"]),
    planned_endpoint("updateAdsAccount", "PUT", ONE, "Changes an account.")
        .aliases(&[OLDER_ONE])
        .params(&[&[path_param("account_id")]]),
    planned_endpoint("deleteAdsAccount", "DELETE", ONE, "Sandbox only: deletes an account.")
        .aliases(&[OLDER_ONE])
        .params(&[&[path_param("account_id")]]),
];

account! {
    ACCOUNT {
        "getAdsAccountApps" GET "account_apps" []
            => "Apps of an account.",
        "getAdsAccountHistory" GET "account_history" []
            => "The change history of an account's entities.",
        "getAdsCuratedCategories" GET "curated_categories" []
            => "Curated categories by country.",
        "getAdsCuratedCategory" GET "curated_categories/{curated_category_id}" [curated_category_id]
            => "A curated category.",
        "getAdsFeatures" GET "features" []
            => "Features that an account may use.",
        "addAdsFeatures" POST "features" []
            => "Sandbox only: adds features to an account.",
        "removeAdsFeatures" DELETE "features" []
            => "Sandbox only: removes features from an account.",
        "getAdsUserAccess" GET "authenticated_user_access" []
            => "The authenticated user's permissions on an account.",
        "estimateAdsAudience" POST "audience_estimate" []
            => "Estimates the audience size of targeting criteria.",
        "getAdsUserSettings" GET "user_settings/{user_id}" [user_id]
            => "A user's settings on an account.",
        "updateAdsUserSettings" PUT "user_settings/{user_id}" [user_id]
            => "Changes the authenticated user's settings on an account.",
        "updateAdsTaxSettings" PUT "tax_settings" []
            => "Changes the tax settings of an account.",
    }
}

pub static REFERENCE: &[Endpoint] = &[
    planned_endpoint(
        "getAdsBusinessCategories",
        "GET",
        "/12/advertiser_business_categories",
        "Business categories of advertisers.",
    )
    .aliases(&["/11/advertiser_business_categories"])
    .limits(&[], GLOBAL),
    planned_endpoint("getAdsContentCategories", "GET", "/12/content_categories", "Categories of content.")
        .aliases(&["/11/content_categories"])
        .limits(&[], GLOBAL),
    planned_endpoint("getAdsPublishers", "GET", "/12/publishers", "Publishers of categories of content.")
        .aliases(&["/11/publishers"])
        .limits(&[], GLOBAL),
    planned_endpoint("getAdsBiddingRules", "GET", "/12/bidding_rules", "Minimum and maximum bids.")
        .aliases(&["/11/bidding_rules"])
        .limits(&[], GLOBAL),
    planned_endpoint("getAdsPlacements", "GET", "/12/line_items/placements", "Placements that line items may have.")
        .aliases(&["/11/line_items/placements"])
        .limits(&[], GLOBAL),
    planned_endpoint(
        "searchAdsKeywordInsights",
        "GET",
        "/12/insights/keywords/search",
        "Volume of keywords over time, and related keywords.",
    )
    .aliases(&["/11/insights/keywords/search"])
    .limits(&[], &[per_quarter_hour(500)]),
];

/// Version 5 only.
pub static RECOMMENDATIONS: &[Endpoint] = &[
    planned_endpoint(
        "getAdsRecommendations",
        "GET",
        "/5/accounts/{account_id}/recommendations",
        "Recommendations for an account.",
    )
    .params(&[&[path_param("account_id")]]),
    planned_endpoint(
        "getAdsRecommendation",
        "GET",
        "/5/accounts/{account_id}/recommendations/{recommendation_id}",
        "A recommendation, as a tree of changes.",
    )
    .params(&[&[path_param("account_id"), path_param("recommendation_id")]]),
];

const ONE: &str = "/12/accounts/{account_id}";
const OLDER_ONE: &str = "/11/accounts/{account_id}";
const GLOBAL: &[RateWindow] = &[per_quarter_hour(5)];
