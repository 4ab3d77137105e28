//! Powerstream: a filtered stream with its own rules.

use web::endpoint::{BodySpec, Endpoint, Kind, Parameter, SharedWindow, per_day, per_quarter_hour};

use super::shared::{app_endpoint, app_stream};
use crate::v2::{powerstream, streams};

pub static POWERSTREAM: &[Endpoint] = &[
    app_stream("streamPowerstream", "/2/powerstream", &streams::powerstream)
        .summary("Posts that match the powerstream's rules, as they are published.")
        .limits(&[per_quarter_hour(50)], &[])
        .params(&[&[
            Parameter::query("backfillMinutes", Kind::int(0, 5), "Minutes of missed posts to send first.")
                .default_number(0),
            Parameter::query("startTime", Kind::TIME, "The earliest time, inclusive."),
            Parameter::query("endTime", Kind::TIME, "The latest time, exclusive."),
            Parameter::query("localDcOnly", Kind::BOOL, "Whether to send only posts of the local data center."),
        ]]),
    app_endpoint("getPowerstreamRules", "GET", "/2/powerstream/rules", &powerstream::list_rules)
        .summary("The powerstream's rules.")
        .limits(&[], &[])
        .share_limit(&RULE_CALLS),
    app_endpoint("addPowerstreamRules", "POST", "/2/powerstream/rules", &powerstream::add_rules)
        .summary("Adds rules to the powerstream.")
        .limits(&[], &[])
        .share_limit(&RULE_CALLS)
        .body(BodySpec::Json(&[RULES.as_required()]))
        .creates(),
    app_endpoint("deletePowerstreamRules", "DELETE", "/2/powerstream/rules", &powerstream::delete_rules)
        .summary("Deletes rules of the powerstream.")
        .limits(&[], &[])
        .share_limit(&RULE_CALLS)
        .body(BodySpec::Json(&[RULES, Parameter::member("ids", Kind::ID.list(1, 100))])),
];

/// Reading and changing rules together.
static RULE_CALLS: SharedWindow = SharedWindow { name: "powerstream rules", window: per_day(50) };

const RULES: Parameter = Parameter::member(
    "rules",
    Kind::object(&[Parameter::member("value", super::streams::RULE_VALUE).as_required(), super::streams::RULE_TAG])
        .list(1, 100),
);
