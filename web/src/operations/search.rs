//! Search over posts, and counts of what a search would find.

use base::{Entitlement, Scopes};
use view::ObjectKind;

use super::shared::{
    NEXT_TOKEN, PAGINATION_TOKEN, POST_FIELDS, READ, TIME_WINDOW, max_results, object_fields,
    query, second,
};
use crate::endpoint::{Endpoint, Kind, Param, quarter};
use crate::v2;

/// Searches and counts.
pub static SEARCH: &[Endpoint] = &[
    Endpoint::new("searchPostsRecent", "GET", "/2/<posts>/search/recent")
        .about("Posts of the last seven days that match a query.")
        .permit("1A2", READ)
        .limits(&[quarter(450)], &[quarter(300)])
        .params(&[
            &[query(4_096), max_results(10, 100, 10)],
            TOKENS,
            TIME_WINDOW,
            ORDER,
            POST_FIELDS,
        ])
        .act(v2::search::recent),
    Endpoint::new("searchPostsAll", "GET", "/2/<posts>/search/all")
        .about("Posts of all time that match a query.")
        .permit("A", Scopes::NONE)
        .needs(Entitlement::FullArchive)
        .limits(&[quarter(300), second(1)], &[])
        .params(&[
            &[query(4_096), max_results(10, 500, 10)],
            TOKENS,
            TIME_WINDOW,
            ORDER,
            POST_FIELDS,
        ])
        .act(v2::search::all),
    Endpoint::new("getPostsCountsRecent", "GET", "/2/<posts>/counts/recent")
        .about("How many posts of the last seven days match a query, span by span.")
        .permit("A2", Scopes::NONE)
        .limits(&[quarter(300)], &[quarter(300)])
        .params(&[&[query(4_096)], TOKENS, TIME_WINDOW, COUNTS])
        .act(v2::search::counts_recent),
    Endpoint::new("getPostsCountsAll", "GET", "/2/<posts>/counts/all")
        .about("How many posts of all time match a query, span by span.")
        .permit("A", Scopes::NONE)
        .needs(Entitlement::FullArchive)
        .limits(&[quarter(300)], &[])
        .params(&[&[query(4_096)], TOKENS, TIME_WINDOW, COUNTS])
        .act(v2::search::counts_all),
];

const TOKENS: &[Param] = &[NEXT_TOKEN, PAGINATION_TOKEN];

const ORDER: &[Param] = &[Param::query(
    "sort_order",
    Kind::OneOf(&["recency", "relevancy"]),
    "What comes first; `recency` when absent.",
)];

const COUNTS: &[Param] = &[
    Param::query(
        "granularity",
        Kind::OneOf(&["minute", "hour", "day"]),
        "How long each counted span is; `hour` when absent.",
    ),
    object_fields("search_count.fields", ObjectKind::SearchCount),
];
