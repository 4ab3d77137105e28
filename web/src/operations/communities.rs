//! Communities.

use base::Scope;
use view::ObjectKind;

use super::shared::{NEXT_TOKEN, PAGINATION_TOKEN, READ, max_results, query};
use crate::endpoint::{Endpoint, Kind, Param, quarter};
use crate::v2;

/// Communities, looked up and searched.
pub static COMMUNITIES: &[Endpoint] = &[
    Endpoint::new("getCommunitiesById", "GET", "/2/communities/{id}")
        .act(v2::communities::by_id)
        .about("The community of this id.")
        .permit("1A2", READ.with_scope(Scope::ListRead))
        .limits(&[quarter(300)], &[quarter(300)])
        .params(&[
            &[Param::id("id", "The id of the community.")],
            COMMUNITY_FIELDS,
        ]),
    Endpoint::new("searchCommunities", "GET", "/2/communities/search")
        .act(v2::communities::search)
        .about("Communities that match.")
        .permit("12", READ)
        .limits(&[quarter(300)], &[quarter(300)])
        .params(&[
            &[
                query(4_096),
                max_results(10, 100, 10),
                NEXT_TOKEN,
                PAGINATION_TOKEN,
            ],
            COMMUNITY_FIELDS,
        ]),
];

const COMMUNITY_FIELDS: &[Param] = &[Param::query(
    "community.fields",
    Kind::Fields(ObjectKind::Community),
    "Fields of the communities that the answer carries.",
)];
