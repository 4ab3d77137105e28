//! News stories.

use view::ObjectKind;
use web::endpoint::{Endpoint, EndpointParam, ParamType, per_quarter_hour};

use super::shared::{READ, max_results_param, query_param};
use crate::v2;

pub static NEWS: &[Endpoint] = &[
    Endpoint::new("searchNews", "GET", "/2/news/search")
        .handler(v2::news::search)
        .summary("Searches news stories.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(200)], &[per_quarter_hour(200)])
        .params(&[
            &[
                query_param(2_048),
                max_results_param(1, 100, 10),
                EndpointParam::query(
                    "max_age_hours",
                    ParamType::Int(1, 720, 168),
                    "The maximum age of the stories in hours.",
                ),
            ],
            NEWS_FIELDS,
        ]),
    Endpoint::new("getNews", "GET", "/2/news/{id}")
        .handler(v2::news::get)
        .summary("A news story by id.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(200)], &[per_quarter_hour(200)])
        .params(&[&[EndpointParam::path_id("id", "The id of the story.")], NEWS_FIELDS]),
];

const NEWS_FIELDS: &[EndpointParam] =
    &[EndpointParam::query("news.fields", ParamType::Fields(ObjectKind::NEWS), "Fields of the stories to return.")];
