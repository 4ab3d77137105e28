//! Compliance jobs: their fields, and answers of them.

use store::compliance::ComplianceJob;

use crate::out::Out;
use crate::shown::{Json, Shown, Write};
use crate::{Answer, Object, Spoken, Wants};

/// A job as it is shown.
#[derive(Clone, Debug)]
pub struct JobShown {
    /// The job.
    pub job: ComplianceJob,
    /// Where it stands, in a word.
    pub status: &'static str,
    /// Where its ids go.
    pub upload_url: String,
    /// Where its result comes from.
    pub download_url: String,
}

/// Jobs in their order.
pub fn compliance_jobs(jobs: &[JobShown], wants: &Wants, spoken: Spoken) -> Answer {
    let mask = wants.of_included(Object::ComplianceJob);
    let mut out = Out::new(spoken, jobs.len() * 512);
    if !jobs.is_empty() {
        out.array(jobs, |out, shown| {
            out.record(COMPLIANCE_JOB_FIELDS, mask, |out, write| {
                if let Write::Job(write) = write {
                    write(out, shown);
                }
            });
        });
    }
    Answer {
        data: out.finish(),
        count: jobs.len(),
        ..Answer::default()
    }
}

/// One job; `data` is an object.
pub fn compliance_job(shown: &JobShown, wants: &Wants, spoken: Spoken) -> Answer {
    compliance_jobs(std::slice::from_ref(shown), wants, spoken).single()
}

const STATUSES: &[&str] = &["created", "in_progress", "failed", "complete", "expired"];

pub(crate) const COMPLIANCE_JOB_FIELDS: &[Shown] = &[
    Shown::always("id", Json::Id, "Id of the job.").job(|out, shown| out.id(shown.job.id)),
    Shown::always("name", Json::Text, "Its name.").job(|out, shown| {
        if !shown.job.name.is_empty() {
            out.text(&shown.job.name);
        }
    }),
    Shown::always(
        "type",
        Json::OneOf(&["tweets", "users"]),
        "What it is about.",
    )
    .job(|out, shown| out.text(&shown.job.kind)),
    Shown::always("status", Json::OneOf(STATUSES), "How far it is.")
        .job(|out, shown| out.text(shown.status)),
    Shown::always(
        "resumable",
        Json::Bool,
        "Whether the upload can be resumed.",
    )
    .job(|out, shown| out.bool(shown.job.resumable)),
    Shown::always("created_at", Json::Time, "When it was made.")
        .job(|out, shown| out.time(shown.job.created_at)),
    Shown::always("upload_url", Json::Text, "Where the ids go.")
        .job(|out, shown| out.text(&shown.upload_url)),
    Shown::always("upload_expires_at", Json::Time, "Until when.")
        .job(|out, shown| out.time(shown.job.upload_expires_at)),
    Shown::always("download_url", Json::Text, "Where the result comes from.")
        .job(|out, shown| out.text(&shown.download_url)),
    Shown::always("download_expires_at", Json::Time, "Until when.")
        .job(|out, shown| out.time(shown.job.download_expires_at)),
];
