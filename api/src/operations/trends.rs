//! Trends.

use base::Scopes;
use view::ObjectKind;
use web::endpoint::{Endpoint, EndpointParam, ParamType, per_day, per_quarter_hour};

use super::shared::{READ, object_fields_param};
use crate::v2;

pub static TRENDS: &[Endpoint] = &[
    Endpoint::new("getTrendsByWoeid", "GET", "/2/trends/by/woeid/{woeid}")
        .handler(v2::trends::list_by_place)
        .summary("Trends of a place.")
        .permit("A2", Scopes::NONE)
        .limits(&[per_quarter_hour(75)], &[per_quarter_hour(75)])
        .params(&[&[
            EndpointParam::path(
                "woeid",
                ParamType::Int(0, 2_147_483_647, 1),
                "The WOEID of the place; 1 is worldwide.",
            ),
            EndpointParam::query("max_trends", ParamType::Int(1, 50, 20), "The maximum number of trends."),
            object_fields_param("trend.fields", ObjectKind::TREND),
        ]]),
    Endpoint::new("getTrendsPersonalizedTrends", "GET", "/2/users/personalized_trends")
        .handler(v2::trends::list_personalized)
        .summary("Personalized trends of the authenticated user.")
        .permit("12", READ)
        .limits(&[per_quarter_hour(200), per_day(200)], &[per_quarter_hour(10), per_day(100)])
        .params(&[&[object_fields_param("personalized_trend.fields", ObjectKind::PERSONALIZED_TREND)]]),
];
