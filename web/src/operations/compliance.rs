//! Compliance jobs: what became of many posts or users at once.

use base::Scopes;
use view::Object;

use super::shared::object_fields;
use crate::endpoint::{Body, Endpoint, Kind, Member, Param, Shape, quarter};

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
        ])),
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
        ]),
    Endpoint::new("getComplianceJobsById", "GET", "/2/compliance/jobs/{id}")
        .about("The compliance job of this id.")
        .permit("A", Scopes::NONE)
        .limits(&[quarter(150)], &[])
        .params(&[&[Param::id("id", "The id of the job.")], JOB_FIELDS]),
];

const TYPES: &[&str] = &["tweets", "users"];

const JOB_FIELDS: &[Param] = &[object_fields(
    "compliance_job.fields",
    Object::ComplianceJob,
)];
