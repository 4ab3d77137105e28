//! Compliance jobs: what became of many posts or users at once.

use base::Scopes;
use view::ObjectKind;

use super::shared::object_fields_param;
use crate::endpoint::{BodyMember, BodySpec, Endpoint, EndpointParam, MemberShape, ParamType, per_quarter_hour};
use crate::v2::compliance as jobs;

/// Jobs, begun and shown.
pub static COMPLIANCE: &[Endpoint] = &[
    Endpoint::new("createComplianceJobs", "POST", "/2/compliance/jobs")
        .summary("Begins a compliance job.")
        .permit("A", Scopes::NONE)
        .limits(&[per_quarter_hour(150)], &[])
        .params(&[JOB_FIELDS])
        .body(BodySpec::Json(&[
            BodyMember::new("type", MemberShape::OneOf(TYPES)).as_required(),
            BodyMember::new("name", MemberShape::Text(0, 64)),
            BodyMember::new("resumable", MemberShape::Bool),
        ]))
        .handler(jobs::create),
    Endpoint::new("getComplianceJobs", "GET", "/2/compliance/jobs")
        .summary("The app's compliance jobs.")
        .permit("A", Scopes::NONE)
        .limits(&[per_quarter_hour(150)], &[])
        .params(&[
            &[
                EndpointParam::query("type", ParamType::OneOf(TYPES), "What the jobs are about.").as_required(),
                EndpointParam::query(
                    "status",
                    ParamType::OneOf(&["created", "in_progress", "failed", "complete", "expired"]),
                    "The state that jobs shall be in; any when absent.",
                ),
            ],
            JOB_FIELDS,
        ])
        .handler(jobs::list),
    Endpoint::new("getComplianceJobsById", "GET", "/2/compliance/jobs/{id}")
        .summary("The compliance job of this id.")
        .permit("A", Scopes::NONE)
        .limits(&[per_quarter_hour(150)], &[])
        .params(&[&[EndpointParam::path_id("id", "The id of the job.")], JOB_FIELDS])
        .handler(jobs::get),
];

/// What goes to a job and comes from it, at addresses that only its app is told.
pub static COMPLIANCE_FILES: &[Endpoint] = &[
    Endpoint::new("putComplianceIds", "PUT", "/compliance/uploads/{token}")
        .allow_anonymous()
        .summary("Takes the ids of a compliance job, one a line.")
        .limits(&[per_quarter_hour(1_000)], &[])
        .params(&[&[EndpointParam::path(
            "token",
            ParamType::Text(1, 200),
            "The end of the upload's address.",
        )]])
        .handler(jobs::upload_ids),
    Endpoint::new("getComplianceResult", "GET", "/compliance/results/{token}")
        .allow_anonymous()
        .summary("The result of a compliance job, one JSON object a line.")
        .limits(&[per_quarter_hour(1_000)], &[])
        .params(&[&[EndpointParam::path(
            "token",
            ParamType::Text(1, 200),
            "The end of the result's address.",
        )]])
        .handler(jobs::download_results),
];

const TYPES: &[&str] = &["tweets", "users"];

const JOB_FIELDS: &[EndpointParam] = &[object_fields_param("compliance_job.fields", ObjectKind::ComplianceJob)];
