//! Powerstream: a filtered stream with its own rules.

use base::Scopes;
use web::endpoint::{
    ANY_LENGTH, BodyMember, BodySpec, Endpoint, EndpointParam, MemberShape, ParamType, per_day, per_quarter_hour,
};

use crate::v2;

pub static POWERSTREAM: &[Endpoint] = &[
    Endpoint::new("streamPowerstream", "GET", "/2/powerstream")
        .summary("Posts that match the powerstream's rules, as they are published.")
        .permit("A", Scopes::NONE)
        .limits(&[per_quarter_hour(50)], &[])
        .params(&[&[
            EndpointParam::query("backfillMinutes", ParamType::Int(0, 5, 0), "Minutes of missed posts to send first."),
            EndpointParam::query("startTime", ParamType::Time, "The earliest time, inclusive."),
            EndpointParam::query("endTime", ParamType::Time, "The latest time, exclusive."),
            EndpointParam::query(
                "localDcOnly",
                ParamType::Bool,
                "Whether to send only posts of the local data center.",
            ),
        ]])
        .handler(v2::streams::powerstream),
    Endpoint::new("getPowerstreamRules", "GET", "/2/powerstream/rules")
        .summary("The powerstream's rules.")
        .permit("A", Scopes::NONE)
        .limits(&[per_day(50)], &[])
        .handler(v2::powerstream::list_rules),
    Endpoint::new("addPowerstreamRules", "POST", "/2/powerstream/rules")
        .summary("Adds rules to the powerstream.")
        .permit("A", Scopes::NONE)
        .limits(&[per_day(50)], &[])
        .body(BodySpec::Json(&[RULES.as_required()]))
        .success_status(201)
        .handler(v2::powerstream::add_rules),
    Endpoint::new("deletePowerstreamRules", "DELETE", "/2/powerstream/rules")
        .summary("Deletes rules of the powerstream.")
        .permit("A", Scopes::NONE)
        .limits(&[per_day(50)], &[])
        .body(BodySpec::Json(&[RULES, BodyMember::new("ids", MemberShape::Array(&MemberShape::Id, 1, 100))]))
        .handler(v2::powerstream::delete_rules),
];

const RULES: BodyMember = BodyMember::new(
    "rules",
    MemberShape::Array(
        &MemberShape::Object(&[
            BodyMember::new("value", MemberShape::Text(0, ANY_LENGTH)).as_required(),
            BodyMember::new("tag", MemberShape::Text(0, ANY_LENGTH)),
        ]),
        1,
        100,
    ),
);
