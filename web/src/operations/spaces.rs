//! Spaces.

use base::{Scope, Scopes};

use super::shared::{
    POST_FIELDS, READ, SPACE_FIELDS, SPACE_ID, USER_FIELDS, max_results, page, query, second,
};
use crate::endpoint::{Endpoint, Kind, Param, quarter};
use crate::v2;

/// Spaces, looked up and searched, and what belongs to them.
pub static SPACES: &[Endpoint] = &[
    Endpoint::new("getSpacesById", "GET", "/2/spaces/{id}")
        .about("The space of this id.")
        .permit("A2", SCOPES)
        .limits(&[quarter(300)], &[quarter(300)])
        .params(&[SPACE, SPACE_FIELDS])
        .act(v2::spaces::by_id),
    Endpoint::new("getSpacesByIds", "GET", "/2/spaces")
        .about("Spaces of these ids.")
        .permit("A2", SCOPES)
        .limits(&[quarter(300)], &[quarter(300)])
        .params(&[
            &[Param::query(
                "ids",
                Kind::Patterns(&SPACE_ID, 1, 100),
                "The ids of the spaces.",
            )
            .required()],
            SPACE_FIELDS,
        ])
        .act(v2::spaces::by_ids),
    Endpoint::new("getSpacesByCreatorIds", "GET", "/2/spaces/by/creator_ids")
        .about("Live and scheduled spaces of these users.")
        .permit("A2", SCOPES)
        .limits(&[quarter(300), second(1)], &[quarter(300), second(1)])
        .params(&[
            &[Param::query("user_ids", Kind::Ids(1, 100), "The ids of the users.").required()],
            SPACE_FIELDS,
        ])
        .act(v2::spaces::by_creators),
    Endpoint::new("getSpacesBuyers", "GET", "/2/spaces/{id}/buyers")
        .about("Users who bought a ticket to a space of the authenticated user.")
        .permit("2", SCOPES)
        .limits(&[quarter(300)], &[quarter(300)])
        .params(&[SPACE, &page(1, 100, 100), USER_FIELDS])
        .act(v2::spaces::buyers),
    Endpoint::new("searchSpaces", "GET", "/2/spaces/search")
        .about("Live or scheduled spaces whose title matches.")
        .permit("A2", SCOPES)
        .limits(&[quarter(300)], &[quarter(300)])
        .params(&[
            &[
                query(2_048),
                Param::query(
                    "state",
                    Kind::OneOf(&["live", "scheduled", "all"]),
                    "The state that spaces shall be in; `all` when absent.",
                ),
                max_results(1, 100, 100),
            ],
            SPACE_FIELDS,
        ])
        .act(v2::spaces::search),
    Endpoint::new("getSpacesPosts", "GET", "/2/spaces/{id}/<posts>")
        .about("Posts that were shared in a space.")
        .permit("A2", SCOPES)
        .limits(&[quarter(300)], &[quarter(300)])
        .params(&[SPACE, &page(1, 100, 100), POST_FIELDS])
        .act(v2::spaces::shared),
];

const SCOPES: Scopes = READ.with_scope(Scope::SpaceRead);

const SPACE: &[Param] = &[Param::path(
    "id",
    Kind::Pattern(&SPACE_ID),
    "The id of the space.",
)];
