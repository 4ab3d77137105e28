//! News stories.

use view::ObjectKind;

use super::shared::{READ, max_results, query};
use crate::endpoint::{Endpoint, Kind, Param, quarter};
use crate::v2;

/// News, looked up and searched.
pub static NEWS: &[Endpoint] = &[
    Endpoint::new("searchNews", "GET", "/2/news/search")
        .act(v2::news::search)
        .about("News stories that match.")
        .permit("1A2", READ)
        .limits(&[quarter(200)], &[quarter(200)])
        .params(&[
            &[
                query(2_048),
                max_results(1, 100, 10),
                Param::query(
                    "max_age_hours",
                    Kind::Int(1, 720, 168),
                    "The most hours that a story may be old.",
                ),
            ],
            NEWS_FIELDS,
        ]),
    Endpoint::new("getNews", "GET", "/2/news/{id}")
        .act(v2::news::by_id)
        .about("The news story of this id.")
        .permit("1A2", READ)
        .limits(&[quarter(200)], &[quarter(200)])
        .params(&[&[Param::id("id", "The id of the story.")], NEWS_FIELDS]),
];

const NEWS_FIELDS: &[Param] = &[Param::query(
    "news.fields",
    Kind::Fields(ObjectKind::News),
    "Fields of the stories that the answer carries.",
)];
