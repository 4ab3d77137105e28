//! Custom audiences and their permissions.

use web::endpoint::{Endpoint, per_minute};

use super::{account, path_param, planned_endpoint};

account! {
    AUDIENCES {
        "getAdsAudiences" GET "custom_audiences" | "tailored_audiences" []
            => "Custom audiences of an account.",
        "getAdsAudience" GET "custom_audiences/{custom_audience_id}"
            | "tailored_audiences/{custom_audience_id}" [custom_audience_id]
            => "A custom audience.",
        "createAdsAudience" POST "custom_audiences" | "tailored_audiences" []
            => "Creates a custom audience without members.",
        "getAdsAudienceTargeted" GET "custom_audiences/{custom_audience_id}/targeted"
            | "tailored_audiences/{custom_audience_id}/targeted" [custom_audience_id]
            => "Line items that target a custom audience.",
        "changeAdsAudienceUsers" POST "custom_audiences/{custom_audience_id}/users"
            | "tailored_audiences/{custom_audience_id}/users" [custom_audience_id]
            => "Adds and removes members of a custom audience." at per_minute(1_500),
        "getAdsAudiencePermissions" GET "custom_audiences/{custom_audience_id}/permissions"
            | "tailored_audiences/{custom_audience_id}/permissions" [custom_audience_id]
            => "Accounts that may use a custom audience.",
        "grantAdsAudiencePermission" POST "custom_audiences/{custom_audience_id}/permissions"
            | "tailored_audiences/{custom_audience_id}/permissions" [custom_audience_id]
            => "Lets an account use a custom audience.",
        "revokeAdsAudiencePermission" DELETE
            "custom_audiences/{custom_audience_id}/permissions/{custom_audience_permission_id}"
            | "tailored_audiences/{custom_audience_id}/permissions/{custom_audience_permission_id}"
            [custom_audience_id custom_audience_permission_id]
            => "Revokes an account's permission to use a custom audience.",
    }
}

/// Version 5 only.
pub static TAILORED_AUDIENCES: &[Endpoint] = &[
    planned_endpoint("getAdsTailoredPermissions", "GET", PERMISSIONS, "Accounts that may use a tailored audience.")
        .params(&[&[path_param("account_id"), path_param("tailored_audience_id")]]),
    planned_endpoint("grantAdsTailoredPermission", "POST", PERMISSIONS, "Lets an account use a tailored audience.")
        .params(&[&[path_param("account_id"), path_param("tailored_audience_id")]]),
    planned_endpoint(
        "revokeAdsTailoredPermission",
        "DELETE",
        PERMISSION,
        "Revokes an account's permission to use a tailored audience.",
    )
    .params(&[&[
        path_param("account_id"),
        path_param("tailored_audience_id"),
        path_param("tailored_audience_permission_id"),
    ]]),
];

const PERMISSIONS: &str = "/5/accounts/{account_id}/tailored_audiences/{tailored_audience_id}/permissions";
const PERMISSION: &str = concat!(
    "/5/accounts/{account_id}/tailored_audiences/{tailored_audience_id}/permissions/",
    "{tailored_audience_permission_id}"
);
