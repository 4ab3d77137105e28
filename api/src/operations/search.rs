//! Post search and counts.

use base::{Entitlement, Scopes};
use view::ObjectKind;
use web::endpoint::{Endpoint, FieldNames, Kind, Parameter, per_quarter_hour, per_second};

use super::shared::{
    NEXT_TOKEN, PAGINATION_TOKEN, POST_FIELDS, READ, TIME_WINDOW, app_endpoint, max_results_param, object_fields_param,
    query_param,
};
use crate::v2::search;

pub static SEARCH: &[Endpoint] = &[
    Endpoint::get("searchPostsRecent", "/2/<posts>/search/recent", &search::search_recent)
        .summary("Posts of the last seven days that match a query.")
        .permit("1A2", READ)
        .limits(&[per_quarter_hour(450)], &[per_quarter_hour(300)])
        .params(&[&[query_param(4_096), max_results_param(10, 100, 10)], TOKENS, TIME_WINDOW, ORDER, POST_FIELDS]),
    app_endpoint("searchPostsAll", "GET", "/2/<posts>/search/all", &search::search_all)
        .summary("Posts of all time that match a query.")
        .require_entitlement(Entitlement::FullArchive)
        .limits(&[per_quarter_hour(300), per_second(1)], &[])
        .params(&[&[query_param(4_096), max_results_param(10, 500, 10)], TOKENS, TIME_WINDOW, ORDER, POST_FIELDS]),
    Endpoint::get("getPostsCountsRecent", "/2/<posts>/counts/recent", &search::count_recent)
        .summary("The number of posts of the last seven days that match a query, per time bucket.")
        .permit("A2", Scopes::NONE)
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(300)])
        .params(&[&[query_param(4_096)], TOKENS, TIME_WINDOW, COUNTS]),
    app_endpoint("getPostsCountsAll", "GET", "/2/<posts>/counts/all", &search::count_all)
        .summary("The number of posts of all time that match a query, per time bucket.")
        .require_entitlement(Entitlement::FullArchive)
        .limits(&[per_quarter_hour(300)], &[])
        .params(&[&[query_param(4_096)], TOKENS, TIME_WINDOW, COUNTS]),
];

const TOKENS: &[Parameter] = &[NEXT_TOKEN, PAGINATION_TOKEN];

const ORDER: &[Parameter] =
    &[Parameter::query("sort_order", Kind::one_of(&["recency", "relevancy"]), "The sort order.")
        .default_word("recency")];

const COUNTS: &[Parameter] = &[
    Parameter::query("granularity", Kind::one_of(&["minute", "hour", "day"]), "The length of each time bucket.")
        .default_word("hour"),
    object_fields_param("search_count.fields", &FieldNames(ObjectKind::SEARCH_COUNT)),
];
