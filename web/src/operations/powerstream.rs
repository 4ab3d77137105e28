//! Powerstream: the filtered stream in the form of the older interface.

use base::Scopes;

use super::shared::ANY_LENGTH;
use crate::endpoint::{Body, Endpoint, Kind, Member, Param, Shape, day, quarter};
use crate::v2;

/// The stream and its rules.
pub static POWERSTREAM: &[Endpoint] = &[
    Endpoint::new("streamPowerstream", "GET", "/2/powerstream")
        .about("Posts that match the powerstream's rules, as they are published.")
        .permit("A", Scopes::NONE)
        .limits(&[quarter(50)], &[])
        .params(&[&[
            Param::query(
                "backfillMinutes",
                Kind::Int(0, 5, 0),
                "Minutes of the past to send first.",
            ),
            Param::query("startTime", Kind::Time, "The earliest time, included."),
            Param::query("endTime", Kind::Time, "The latest time, excluded."),
            Param::query(
                "localDcOnly",
                Kind::Bool,
                "Whether only this data centre's posts are wanted.",
            ),
        ]])
        .act(v2::streams::powerstream),
    Endpoint::new("getPowerstreamRules", "GET", "/2/powerstream/rules")
        .about("The powerstream's rules.")
        .permit("A", Scopes::NONE)
        .limits(&[day(50)], &[])
        .act(v2::powerstream::rules),
    Endpoint::new("addPowerstreamRules", "POST", "/2/powerstream/rules")
        .about("Adds rules to the powerstream's.")
        .permit("A", Scopes::NONE)
        .limits(&[day(50)], &[])
        .body(Body::Json(&[RULES.required()]))
        .success(201)
        .act(v2::powerstream::add),
    Endpoint::new("deletePowerstreamRules", "DELETE", "/2/powerstream/rules")
        .about("Deletes some of the powerstream's rules.")
        .permit("A", Scopes::NONE)
        .limits(&[day(50)], &[])
        .body(Body::Json(&[
            RULES,
            Member::new("ids", Shape::Array(&Shape::Id, 1, 100)),
        ]))
        .act(v2::powerstream::delete),
];

const RULES: Member = Member::new(
    "rules",
    Shape::Array(
        &Shape::Object(&[
            Member::new("value", Shape::Text(0, ANY_LENGTH)).required(),
            Member::new("tag", Shape::Text(0, ANY_LENGTH)),
        ]),
        1,
        100,
    ),
);
