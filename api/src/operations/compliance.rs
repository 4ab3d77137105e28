//! Compliance jobs and their files.

use view::ObjectKind;
use web::endpoint::{BodySpec, Endpoint, FieldNames, Kind, Parameter, per_quarter_hour};

use super::shared::{app_endpoint, object_fields_param};
use crate::v2::compliance as jobs;

pub static COMPLIANCE: &[Endpoint] = &[
    app_endpoint("createComplianceJobs", "POST", "/2/compliance/jobs", &jobs::create)
        .summary("Creates a compliance job.")
        .limits(&[per_quarter_hour(150)], &[])
        .params(&[JOB_FIELDS])
        .body(BodySpec::Json(&[
            Parameter::member("type", Kind::one_of(TYPES)).as_required(),
            Parameter::member("name", Kind::text(0, 64)),
            Parameter::member("resumable", Kind::BOOL),
        ])),
    app_endpoint("getComplianceJobs", "GET", "/2/compliance/jobs", &jobs::list)
        .summary("The app's compliance jobs.")
        .limits(&[per_quarter_hour(150)], &[])
        .params(&[
            &[
                Parameter::query("type", Kind::one_of(TYPES), "The type of the jobs.").as_required(),
                Parameter::query(
                    "status",
                    Kind::one_of(&["created", "in_progress", "failed", "complete", "expired"]),
                    "The status of the jobs; any by default.",
                ),
            ],
            JOB_FIELDS,
        ]),
    app_endpoint("getComplianceJobsById", "GET", "/2/compliance/jobs/{id}", &jobs::get)
        .summary("A compliance job by id.")
        .limits(&[per_quarter_hour(150)], &[])
        .params(&[&[Parameter::path_id("id", "The id of the job.")], JOB_FIELDS]),
];

/// At addresses that only the app knows.
pub static COMPLIANCE_FILES: &[Endpoint] = &[
    Endpoint::put("putComplianceIds", "/compliance/uploads/{token}", &jobs::upload_ids)
        .allow_anonymous()
        .summary("Uploads the ids of a compliance job, one per line.")
        .limits(&[per_quarter_hour(1_000)], &[])
        .params(&[&[Parameter::path("token", Kind::text(1, 200), "The token in the upload URL.")]]),
    Endpoint::get("getComplianceResult", "/compliance/results/{token}", &jobs::download_results)
        .allow_anonymous()
        .summary("The result of a compliance job, one JSON object per line.")
        .limits(&[per_quarter_hour(1_000)], &[])
        .params(&[&[Parameter::path("token", Kind::text(1, 200), "The token in the download URL.")]]),
];

const TYPES: &[&str] = &["tweets", "users"];

const JOB_FIELDS: &[Parameter] =
    &[object_fields_param("compliance_job.fields", &FieldNames(ObjectKind::COMPLIANCE_JOB))];
