//! Compliance jobs, with upload and download addresses whose token is the only credential.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use base::refusal::ResourceRef;
use base::{Error, Id, Refusal};
use edge::BodyError;
use futures_util::stream;
use http::header::{CONTENT_ENCODING, HeaderValue};
use network::compliance::{self, NewComplianceJob};
use serde_json::{Map, json};
use store::compliance::ComplianceJob;
use view::{ComplianceJobSummary, ObjectKind};
use web::body;
use web::reply::HttpReply;
use web::request_context::RequestContext;

use super::edge_pages::refusal_answer;

const TYPE: &str = "type";
const NAME: &str = "name";
const RESUMABLE: &str = "resumable";
/// About eight hundred thousand ids.
const MAX_IDS_BYTES: usize = 16 * 1024 * 1024;
const IDS_TIMEOUT: Duration = Duration::from_mins(2);
const NDJSON: HeaderValue = HeaderValue::from_static("application/x-ndjson; charset=utf-8");

pub(crate) async fn create(call: RequestContext) -> Result<HttpReply, Error> {
    let (app, body) = (call.require_caller()?.app_id, call.body());
    let new = NewComplianceJob {
        kind: body.required_text(TYPE)?.to_owned(),
        name: body.optional_text(NAME).unwrap_or_default().to_owned(),
        resumable: body.optional_bool(RESUMABLE).unwrap_or(false),
    };
    let job = call.write(move |tx| compliance::create(tx, app, &new)).await?;
    respond_job(&call, job)
}

pub(crate) async fn list(call: RequestContext) -> Result<HttpReply, Error> {
    let app = call.require_caller()?.app_id;
    let kind = call.query_text("type").unwrap_or_default().to_owned();
    let status = call.query_text("status").map(str::to_owned);
    let found = call.read(move |tx| Ok(compliance::list(tx, app, &kind, status.as_deref())?)).await?;
    let jobs: Vec<ComplianceJobSummary> = found.into_iter().map(|job| job_view(&call, job)).collect();
    let request = call.render_request(ObjectKind::COMPLIANCE_JOB);
    let answer = view::render_compliance_jobs(&request, &jobs);
    let mut meta = Map::new();
    meta.insert("result_count".to_owned(), json!(answer.count));
    call.respond_with_meta(&answer, Some(meta))
}

pub(crate) async fn get(call: RequestContext) -> Result<HttpReply, Error> {
    let app = call.require_caller()?.app_id;
    let id = call.path_id::<()>("id")?.get();
    let found = call.read(move |tx| Ok(compliance::find(tx, app, id)?)).await?;
    match found {
        Some(job) => respond_job(&call, job),
        None => call.respond(&refusal_answer(Refusal::NotFound(ResourceRef::new("compliance_job", "id", id)))),
    }
}

fn respond_job(call: &RequestContext, job: ComplianceJob) -> Result<HttpReply, Error> {
    let request = call.render_request(ObjectKind::COMPLIANCE_JOB);
    call.respond(&view::render_compliance_job(&request, &job_view(call, job)))
}

fn job_view(call: &RequestContext, job: ComplianceJob) -> ComplianceJobSummary {
    let site = call.site().files_url;
    ComplianceJobSummary {
        status: compliance::status(&job, call.now()),
        upload_url: format!("{site}/compliance/uploads/{}", job.upload_token),
        download_url: format!("{site}/compliance/results/{}", job.download_token),
        job,
    }
}

/// `PUT /compliance/uploads/{token}`: one id per line, stored all or none, so that a failed upload can be repeated.
pub(crate) async fn upload_ids(mut call: RequestContext) -> Result<HttpReply, Error> {
    let token = call.path_text("token")?.to_owned();
    let upload_token = token.clone();
    call.read(move |tx| compliance::find_upload_job(tx, &upload_token)).await?;
    let encoding = call.head().headers.get(CONTENT_ENCODING);
    if encoding.is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        let expected = "without a Content-Encoding";
        return Err(Refusal::UnsupportedMediaType { expected }.into());
    }
    let text = call.take_body().collect_bytes(MAX_IDS_BYTES, IDS_TIMEOUT).await;
    let text = text.map_err(|error| match error {
        BodyError::TooLarge => Refusal::BodyTooLarge { limit: MAX_IDS_BYTES },
        BodyError::TimedOut => Refusal::BodyTimeout,
        BodyError::NoRoom => Refusal::Unavailable,
        BodyError::Broken => body::invalid_body("The request body broke off."),
    })?;
    let ids = Arc::new(parse_ids(&text)?);
    call.write(move |tx| compliance::store_uploaded_ids(tx, &token, &ids)).await?;
    Ok(HttpReply::empty(200))
}

fn parse_ids(text: &[u8]) -> Result<Vec<i64>, Refusal> {
    let text = std::str::from_utf8(text);
    let text = text.map_err(|_| body::invalid_body("The request body is no text."))?;
    let (mut ids, mut known) = (Vec::new(), HashSet::new());
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let id = Id::<()>::parse(line).map(Id::get);
        let bad = || {
            let shown: String = line.chars().take(40).collect();
            body::invalid_body(format!("Line {number} is not an id: [{shown}]"))
        };
        let id = id.ok_or_else(bad)?;
        if known.insert(id) {
            ids.push(id);
        }
    }
    if ids.is_empty() {
        return Err(body::invalid_body("The request body must have one id a line."));
    }
    Ok(ids)
}

/// `GET /compliance/results/{token}`: one JSON object per line.
pub(crate) async fn download_results(call: RequestContext) -> Result<HttpReply, Error> {
    let token = call.path_text("token")?.to_owned();
    let job = call.read(move |tx| compliance::find_download_job(tx, &token)).await?;
    let store = Arc::clone(call.store());
    let parts = stream::unfold((store, job.id, 0), async |(store, job, after)| {
        let read = store.read(move |tx| Ok(compliance::list_results(tx, job, after)?));
        match read.await {
            Ok(batch) => {
                let last = batch.last()?.0;
                let text: String = batch.into_iter().map(|(_, lines)| lines).collect();
                Some((Ok(text.into()), (store, job, last)))
            }
            Err(error) => Some((Err(error), (store, job, i64::MAX))),
        }
    });
    Ok(call.respond_parts(NDJSON, parts))
}
