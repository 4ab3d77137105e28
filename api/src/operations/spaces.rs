//! Spaces.

use base::{Scope, Scopes};
use web::endpoint::{Endpoint, Kind, Parameter, per_quarter_hour, per_second};

use super::shared::{
    POST_FIELDS, READ, SPACE_FIELDS, SPACE_ID, USER_FIELDS, max_results_param, page_params, query_param,
};
use crate::v2::spaces;

pub static SPACES: &[Endpoint] = &[
    Endpoint::get("getSpacesById", "/2/spaces/{id}", &spaces::get)
        .summary("A space by id.")
        .permit("A2", SCOPES)
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(300)])
        .params(&[SPACE, SPACE_FIELDS]),
    Endpoint::get("getSpacesByIds", "/2/spaces", &spaces::get_many)
        .summary("Spaces by ids.")
        .permit("A2", SCOPES)
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(300)])
        .params(&[
            &[Parameter::query("ids", Kind::pattern(&SPACE_ID).list(1, 100), "The ids of the spaces.").as_required()],
            SPACE_FIELDS,
        ]),
    Endpoint::get("getSpacesByCreatorIds", "/2/spaces/by/creator_ids", &spaces::list_by_creators)
        .summary("Live and scheduled spaces by creators.")
        .permit("A2", SCOPES)
        .limits(&[per_quarter_hour(300), per_second(1)], &[per_quarter_hour(300), per_second(1)])
        .params(&[
            &[Parameter::query("user_ids", Kind::ID.list(1, 100), "The ids of the users.").as_required()],
            SPACE_FIELDS,
        ]),
    Endpoint::get("getSpacesBuyers", "/2/spaces/{id}/buyers", &spaces::list_buyers)
        .summary("Users who bought a ticket to a space of the authenticated user.")
        .permit("2", SCOPES)
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(300)])
        .params(&[SPACE, &page_params(1, 100, 100), USER_FIELDS]),
    Endpoint::get("searchSpaces", "/2/spaces/search", &spaces::search)
        .summary("Live or scheduled spaces whose title matches.")
        .permit("A2", SCOPES)
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(300)])
        .params(&[
            &[
                query_param(2_048),
                Parameter::query("state", Kind::one_of(&["live", "scheduled", "all"]), "The state of the spaces.")
                    .default_word("all"),
                max_results_param(1, 100, 100),
            ],
            SPACE_FIELDS,
        ]),
    Endpoint::get("getSpacesPosts", "/2/spaces/{id}/<posts>", &spaces::list_posts)
        .summary("Posts that were shared in a space.")
        .permit("A2", SCOPES)
        .limits(&[per_quarter_hour(300)], &[per_quarter_hour(300)])
        .params(&[SPACE, &page_params(1, 100, 100), POST_FIELDS]),
];

const SCOPES: Scopes = READ.with_scope(Scope::SpaceRead);

const SPACE: &[Parameter] = &[Parameter::path("id", Kind::pattern(&SPACE_ID), "The id of the space.")];
