//! News stories.

use view::ObjectKind;
use web::endpoint::{Endpoint, FieldNames, Kind, Parameter, per_quarter_hour};

use super::shared::{READ, max_results_param, query_param};
use crate::v2::news;

pub static NEWS: &[Endpoint] = &[
    Endpoint::get("searchNews", "/2/news/search", &news::search)
        .summary("Searches news stories.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(200)], &[per_quarter_hour(200)])
        .params(&[
            &[
                query_param(2_048),
                max_results_param(1, 100, 10),
                Parameter::query("max_age_hours", Kind::int(1, 720), "The maximum age of the stories in hours.")
                    .default_number(168),
            ],
            NEWS_FIELDS,
        ]),
    Endpoint::get("getNews", "/2/news/{id}", &news::get)
        .summary("A news story by id.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(200)], &[per_quarter_hour(200)])
        .params(&[&[Parameter::path_id("id", "The id of the story.")], NEWS_FIELDS]),
];

const NEWS_FIELDS: &[Parameter] =
    &[Parameter::query("news.fields", Kind::custom(&FieldNames(ObjectKind::NEWS)), "Fields of the stories to return.")];
