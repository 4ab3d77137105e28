//! Communities.

use base::Scope;
use view::ObjectKind;
use web::endpoint::{Endpoint, FieldNames, Kind, Parameter, per_quarter_hour};

use super::shared::{NEXT_TOKEN, PAGINATION_TOKEN, READ, max_results_param, query_param};
use crate::v2::communities;

pub static COMMUNITIES: &[Endpoint] = &[
    Endpoint::get("getCommunitiesById", "/2/communities/{id}", &communities::get)
        .summary("A community by id.")
        .permit("1A2", READ.with_scope(Scope::ListRead))
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(300)])
        .params(&[&[Parameter::path_id("id", "The id of the community.")], COMMUNITY_FIELDS]),
    Endpoint::get("searchCommunities", "/2/communities/search", &communities::search)
        .summary("Searches communities.")
        .permit("12", READ)
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(300)])
        .params(&[
            &[query_param(4_096), max_results_param(10, 100, 10), NEXT_TOKEN, PAGINATION_TOKEN],
            COMMUNITY_FIELDS,
        ]),
];

const COMMUNITY_FIELDS: &[Parameter] = &[Parameter::query(
    "community.fields",
    Kind::custom(&FieldNames(ObjectKind::COMMUNITY)),
    "Fields of the communities to return.",
)];
