//! Compliance jobs: what became of many posts or users at once.

use base::Scopes;
use view::ObjectKind;

use super::shared::object_fields;
use crate::endpoint::{Body, Endpoint, Kind, Member, Param, Shape, quarter};
use crate::v2::compliance as jobs;

/// Jobs, begun and shown.
pub static COMPLIANCE: &[Endpoint] = &[
    Endpoint::new("createComplianceJobs", "POST", "/2/compliance/jobs")
        .about("Begins a compliance job.")
        .permit("A", Scopes::NONE)
        .limits(&[quarter(150)], &[])
        .params(&[JOB_FIELDS])
        .body(Body::Json(&[
            Member::new("type", Shape::OneOf(TYPES)).required(),
            Member::new("name", Shape::Text(0, 64)),
            Member::new("resumable", Shape::Bool),
        ]))
        .act(jobs::create),
    Endpoint::new("getComplianceJobs", "GET", "/2/compliance/jobs")
        .about("The app's compliance jobs.")
        .permit("A", Scopes::NONE)
        .limits(&[quarter(150)], &[])
        .params(&[
            &[
                Param::query("type", Kind::OneOf(TYPES), "What the jobs are about.").required(),
                Param::query(
                    "status",
                    Kind::OneOf(&["created", "in_progress", "failed", "complete", "expired"]),
                    "The state that jobs shall be in; any when absent.",
                ),
            ],
            JOB_FIELDS,
        ])
        .act(jobs::list),
    Endpoint::new("getComplianceJobsById", "GET", "/2/compliance/jobs/{id}")
        .about("The compliance job of this id.")
        .permit("A", Scopes::NONE)
        .limits(&[quarter(150)], &[])
        .params(&[&[Param::id("id", "The id of the job.")], JOB_FIELDS])
        .act(jobs::by_id),
];

/// What goes to a job and comes from it, at addresses that only its app is told.
pub static COMPLIANCE_FILES: &[Endpoint] = &[
    Endpoint::new("putComplianceIds", "PUT", "/compliance/uploads/{token}")
        .open()
        .about("Takes the ids of a compliance job, one a line.")
        .limits(&[quarter(1_000)], &[])
        .params(&[&[Param::path(
            "token",
            Kind::Text(1, 200),
            "The end of the upload's address.",
        )]])
        .act(jobs::upload),
    Endpoint::new("getComplianceResult", "GET", "/compliance/results/{token}")
        .open()
        .about("The result of a compliance job, one JSON object a line.")
        .limits(&[quarter(1_000)], &[])
        .params(&[&[Param::path(
            "token",
            Kind::Text(1, 200),
            "The end of the result's address.",
        )]])
        .act(jobs::download),
];

const TYPES: &[&str] = &["tweets", "users"];

const JOB_FIELDS: &[Param] = &[object_fields(
    "compliance_job.fields",
    ObjectKind::ComplianceJob,
)];
