//! Trends.

use base::Scopes;
use view::ObjectKind;

use super::shared::{READ, object_fields};
use crate::endpoint::{Endpoint, Kind, Param, day, quarter};
use crate::v2;

/// Trends of a place and of a user.
pub static TRENDS: &[Endpoint] = &[
    Endpoint::new("getTrendsByWoeid", "GET", "/2/trends/by/woeid/{woeid}")
        .act(v2::trends::of_place)
        .about("What trends in a place.")
        .permit("A2", Scopes::NONE)
        .limits(&[quarter(75)], &[quarter(75)])
        .params(&[&[
            Param::path(
                "woeid",
                Kind::Int(0, 2_147_483_647, 1),
                "The number of the place; 1 is the world.",
            ),
            Param::query(
                "max_trends",
                Kind::Int(1, 50, 20),
                "The most trends to show.",
            ),
            object_fields("trend.fields", ObjectKind::Trend),
        ]]),
    Endpoint::new(
        "getTrendsPersonalizedTrends",
        "GET",
        "/2/users/personalized_trends",
    )
    .act(v2::trends::personalized)
    .about("What trends for the authenticated user.")
    .permit("12", READ)
    .limits(&[quarter(200), day(200)], &[quarter(10), day(100)])
    .params(&[&[object_fields(
        "personalized_trend.fields",
        ObjectKind::PersonalizedTrend,
    )]]),
];
