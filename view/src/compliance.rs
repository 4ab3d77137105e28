//! Compliance job fields and responses.

use store::compliance::ComplianceJob;

use crate::field_schema::{FieldDefinition, FieldWriter, JsonFieldType};
use crate::json_writer::JsonWriter;
use crate::{FieldSelection, ObjectKind, RenderOptions, ResponsePayload};

#[derive(Clone, Debug)]
pub struct ComplianceJobSummary {
    pub job: ComplianceJob,
    pub status: &'static str,
    pub upload_url: String,
    pub download_url: String,
}

pub fn render_compliance_jobs(
    jobs: &[ComplianceJobSummary],
    selection: &FieldSelection,
    options: RenderOptions,
) -> ResponsePayload {
    let mask = selection.included_mask(ObjectKind::ComplianceJob);
    let mut out = JsonWriter::new(options, jobs.len() * 512);
    if !jobs.is_empty() {
        out.write_array(jobs, |out, shown| {
            out.write_fields(COMPLIANCE_JOB_FIELDS, mask, |out, write| {
                if let FieldWriter::ComplianceJob(write) = write {
                    write(out, shown);
                }
            });
        });
    }
    ResponsePayload { data: out.finish(), count: jobs.len(), ..ResponsePayload::default() }
}

pub fn render_compliance_job(
    job: &ComplianceJobSummary,
    selection: &FieldSelection,
    options: RenderOptions,
) -> ResponsePayload {
    render_compliance_jobs(std::slice::from_ref(job), selection, options).into_single()
}

const STATUSES: &[&str] = &["created", "in_progress", "failed", "complete", "expired"];

pub(crate) const COMPLIANCE_JOB_FIELDS: &[FieldDefinition] = &[
    FieldDefinition::default_field("id", JsonFieldType::Id, "Id of the job.")
        .compliance_job_writer(|out, shown| out.write_id(shown.job.id)),
    FieldDefinition::default_field("name", JsonFieldType::Text, "Its name.").compliance_job_writer(|out, shown| {
        if !shown.job.name.is_empty() {
            out.write_nonempty_text(&shown.job.name);
        }
    }),
    FieldDefinition::default_field("type", JsonFieldType::OneOf(&["tweets", "users"]), "What it is about.")
        .compliance_job_writer(|out, shown| out.write_nonempty_text(&shown.job.kind)),
    FieldDefinition::default_field("status", JsonFieldType::OneOf(STATUSES), "How far it is.")
        .compliance_job_writer(|out, shown| out.write_nonempty_text(shown.status)),
    FieldDefinition::default_field("resumable", JsonFieldType::Bool, "Whether the upload can be resumed.")
        .compliance_job_writer(|out, shown| out.write_bool(shown.job.resumable)),
    FieldDefinition::default_field("created_at", JsonFieldType::Time, "When it was made.")
        .compliance_job_writer(|out, shown| out.write_time(shown.job.created_at)),
    FieldDefinition::default_field("upload_url", JsonFieldType::Text, "Where the ids go.")
        .compliance_job_writer(|out, shown| out.write_nonempty_text(&shown.upload_url)),
    FieldDefinition::default_field("upload_expires_at", JsonFieldType::Time, "Until when.")
        .compliance_job_writer(|out, shown| out.write_time(shown.job.upload_expires_at)),
    FieldDefinition::default_field("download_url", JsonFieldType::Text, "Where the result comes from.")
        .compliance_job_writer(|out, shown| out.write_nonempty_text(&shown.download_url)),
    FieldDefinition::default_field("download_expires_at", JsonFieldType::Time, "Until when.")
        .compliance_job_writer(|out, shown| out.write_time(shown.job.download_expires_at)),
];
