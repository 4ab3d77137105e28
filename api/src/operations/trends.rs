//! Trends.

use base::Scopes;
use view::ObjectKind;
use web::endpoint::{Endpoint, FieldNames, Kind, Parameter, per_day, per_quarter_hour};

use super::shared::{READ, object_fields_param};
use crate::v2::trends;

pub static TRENDS: &[Endpoint] = &[
    Endpoint::get("getTrendsByWoeid", "/2/trends/by/woeid/{woeid}", &trends::list_by_place)
        .summary("Trends of a place.")
        .permit("A2", Scopes::NONE)
        .limits(&[per_quarter_hour(75)], &[per_quarter_hour(75)])
        .params(&[&[
            Parameter::path("woeid", Kind::int(0, 2_147_483_647), "The WOEID of the place; 1 is worldwide.")
                .default_number(1),
            Parameter::query("max_trends", Kind::int(1, 50), "The maximum number of trends.").default_number(20),
            object_fields_param("trend.fields", &FieldNames(ObjectKind::TREND)),
        ]]),
    Endpoint::get("getTrendsPersonalizedTrends", "/2/users/personalized_trends", &trends::list_personalized)
        .summary("Personalized trends of the authenticated user.")
        .permit("12", READ)
        .limits(&[per_quarter_hour(200), per_day(200)], &[per_quarter_hour(10), per_day(100)])
        .params(&[&[object_fields_param("personalized_trend.fields", &FieldNames(ObjectKind::PERSONALIZED_TREND))]]),
];
