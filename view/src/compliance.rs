//! Compliance job fields and responses.

use base::VocabularyWord;
use store::compliance::ComplianceJob;

use crate::field_schema::JsonFieldType;
use crate::object::{ObjectField, ObjectKind, RenderedObject};
use crate::{RenderRequest, ResponsePayload};

#[derive(Clone, Debug)]
pub struct ComplianceJobSummary {
    pub job: ComplianceJob,
    pub status: &'static str,
    pub upload_url: String,
    pub download_url: String,
}

pub fn render_compliance_jobs(request: &RenderRequest, jobs: &[ComplianceJobSummary]) -> ResponsePayload {
    ResponsePayload::from_objects::<ComplianceJobSummary>(request, jobs.iter(), 512)
}

pub fn render_compliance_job(request: &RenderRequest, job: &ComplianceJobSummary) -> ResponsePayload {
    render_compliance_jobs(request, std::slice::from_ref(job)).into_single()
}

const STATUSES: &[&str] = &["created", "in_progress", "failed", "complete", "expired"];

type ComplianceJobField = ObjectField<ComplianceJobSummary>;

impl RenderedObject for ComplianceJobSummary {
    type Context<'a> = &'a Self;

    const NAME: VocabularyWord = VocabularyWord::same_in_both("ComplianceJob");
    const FIELDS_PARAM: VocabularyWord = VocabularyWord::same_in_both("compliance_job.fields");
    const FIELDS: &'static [ObjectField<Self>] = COMPLIANCE_JOB_FIELDS;
}

impl ObjectKind {
    pub const COMPLIANCE_JOB: Self = ComplianceJobSummary::KIND;
}

const COMPLIANCE_JOB_FIELDS: &[ComplianceJobField] = &[
    ComplianceJobField::default_field("id", JsonFieldType::Id, "Id of the job.")
        .writer(|out, shown| out.write_id(shown.job.id)),
    ComplianceJobField::default_field("name", JsonFieldType::Text, "Its name.")
        .writer(|out, shown| out.write_nonempty_text(&shown.job.name)),
    ComplianceJobField::default_field("type", JsonFieldType::OneOf(&["tweets", "users"]), "What it is about.")
        .writer(|out, shown| out.write_nonempty_text(&shown.job.kind)),
    ComplianceJobField::default_field("status", JsonFieldType::OneOf(STATUSES), "How far it is.")
        .writer(|out, shown| out.write_nonempty_text(shown.status)),
    ComplianceJobField::default_field("resumable", JsonFieldType::Bool, "Whether the upload can be resumed.")
        .writer(|out, shown| out.write_bool(shown.job.resumable)),
    ComplianceJobField::default_field("created_at", JsonFieldType::Time, "When it was made.")
        .writer(|out, shown| out.write_time(shown.job.created_at)),
    ComplianceJobField::default_field("upload_url", JsonFieldType::Text, "Where the ids go.")
        .writer(|out, shown| out.write_nonempty_text(&shown.upload_url)),
    ComplianceJobField::default_field("upload_expires_at", JsonFieldType::Time, "Until when.")
        .writer(|out, shown| out.write_time(shown.job.upload_expires_at)),
    ComplianceJobField::default_field("download_url", JsonFieldType::Text, "Where the result comes from.")
        .writer(|out, shown| out.write_nonempty_text(&shown.download_url)),
    ComplianceJobField::default_field("download_expires_at", JsonFieldType::Time, "Until when.")
        .writer(|out, shown| out.write_time(shown.job.download_expires_at)),
];
