//! Media uploads: the v2 endpoints, their older `command` form, and v1.1.

use base::{Error, Id, MediaId, Refusal, UserId};
use media::{MediaFormat, MediaRejection};
use network::uploads::{self as rules, NewUpload, UploadKind};
use serde_json::{Map, Value, json};
use store::media::Media;
use store::uploads::{MediaUpload, UploadSegment, UploadState};
use web::error_formats;
use web::reply::HttpReply;
use web::request_context::RequestContext;
use web::uploads::{UploadForm, UploadProcessor, is_legacy, receive, segment_path, storage_unavailable};

pub(crate) async fn initialize(call: RequestContext) -> Result<HttpReply, Error> {
    let body = call.body();
    let text = |name| body.optional_text(name).filter(|text| !text.is_empty());
    let kind = announced_kind(text("media_category"), text("media_type"))?;
    let new = NewUpload {
        kind,
        total_bytes: body.optional_int("total_bytes"),
        limit: size_limit(kind),
        shared_with: body.id_array("additional_owners"),
    };
    let upload = start_upload(&call, new).await?;
    respond_started(&call, &upload)
}

pub(crate) async fn append(mut call: RequestContext) -> Result<HttpReply, Error> {
    let id = call.path_id("id")?;
    let user = call.require_user()?;
    // Check access before receiving any bytes.
    call.read(move |tx| rules::find_open_upload(tx, user, id)).await?;
    let uploads = call.uploads()?;
    let form = receive(&mut call, uploads.files()).await?;
    let upload = add_segment(&call, &uploads, id, &form).await?;
    call.respond_data(json!({ "expires_at": upload.expires_at.seconds() }))
}

pub(crate) async fn finalize(call: RequestContext) -> Result<HttpReply, Error> {
    let id = call.path_id("id")?;
    finish_upload(&call, &call.uploads()?, id).await
}

/// `GET /2/media/upload` and `GET /1.1/media/upload.json`.
pub(crate) async fn status(call: RequestContext) -> Result<HttpReply, Error> {
    let user = call.require_user()?;
    let id = call.query_id("media_id").ok_or_else(|| Refusal::missing_parameter("media_id"))?;
    let (upload, media) = call
        .read(move |tx| {
            let upload = rules::find_owned_upload(tx, user, id, "media_id")?;
            Ok((upload, store::media::find_by_id(tx, id)?))
        })
        .await?;
    respond_finished(&call, &upload, media.as_ref())
}

/// `POST /2/media/upload` and `POST /1.1/media/upload.json`.
pub(crate) async fn upload(mut call: RequestContext) -> Result<HttpReply, Error> {
    let uploads = call.uploads()?;
    let form = receive(&mut call, uploads.files()).await?;
    run_command(&call, &uploads, &form).await
}

async fn run_command(call: &RequestContext, uploads: &UploadProcessor, form: &UploadForm) -> Result<HttpReply, Error> {
    match form.text("command") {
        None => upload_whole(call, uploads, form).await,
        Some("INIT") => {
            let kind = announced_kind(form.text("media_category"), form.text("media_type"))?;
            let total_bytes = parse_number(form, "total_bytes")?;
            if is_legacy(call) && total_bytes.is_none() {
                return Err(Refusal::missing_parameter("total_bytes").into());
            }
            let new = NewUpload { kind, total_bytes, limit: size_limit(kind), shared_with: parse_owners(form)? };
            let upload = start_upload(call, new).await?;
            respond_started(call, &upload)
        }
        Some("APPEND") => {
            add_segment(call, uploads, parse_media_id(form)?, form).await?;
            Ok(HttpReply::empty(204))
        }
        Some("FINALIZE") => finish_upload(call, uploads, parse_media_id(form)?).await,
        Some(other) => Err(Refusal::invalid_value("command", other).into()),
    }
}

fn parse_media_id(form: &UploadForm) -> Result<MediaId, Refusal> {
    let text = form.text("media_id").ok_or_else(|| Refusal::missing_parameter("media_id"))?;
    Id::parse(text).ok_or_else(|| Refusal::invalid_value("media_id", text))
}

fn parse_number(form: &UploadForm, name: &'static str) -> Result<Option<i64>, Refusal> {
    let Some(text) = form.text(name) else {
        return Ok(None);
    };
    let number = text.parse().ok().filter(|number| *number >= 0);
    let number: i64 = number.ok_or_else(|| Refusal::invalid_value(name, text))?;
    Ok(Some(number))
}

const MAX_OWNERS: usize = 100;

fn parse_owners(form: &UploadForm) -> Result<Vec<UserId>, Refusal> {
    let all = form.texts("additional_owners").flat_map(|text| text.split(','));
    let all: Vec<&str> = all.map(str::trim).filter(|id| !id.is_empty()).collect();
    if all.len() > MAX_OWNERS {
        let message = format!("additional_owners: at most {MAX_OWNERS} users are expected");
        return Err(Refusal::invalid_parameter("additional_owners", all.len(), message));
    }
    let parse = |id: &&str| Id::parse(id).ok_or_else(|| Refusal::invalid_value("additional_owners", id));
    all.iter().map(parse).collect()
}

/// The kind that the category or the media type announces.
fn announced_kind(category: Option<&str>, media_type: Option<&str>) -> Result<Option<UploadKind>, Refusal> {
    let announced = category.map(|category| {
        let message = format!("The media category [{category}] is not supported.");
        let kind = UploadKind::from_category(category);
        kind.ok_or_else(|| Refusal::invalid_parameter("media_category", category, message))
    });
    let announced = announced.transpose()?;
    let Some(media_type) = media_type else {
        return Ok(announced);
    };
    let kind = match media_type.to_ascii_lowercase().as_str() {
        "image/jpeg" | "image/jpg" | "image/pjpeg" | "image/png" | "image/webp" => UploadKind::Photo,
        "image/gif" => UploadKind::AnimatedGif,
        "video/mp4" | "video/quicktime" => UploadKind::Video,
        "text/srt" | "text/vtt" | "text/plain" | "application/x-subrip" => UploadKind::Subtitles,
        // The bytes decide.
        "application/octet-stream" => return Ok(announced),
        _ => {
            let message = format!("The media type [{media_type}] is not supported.");
            return Err(Refusal::invalid_parameter("media_type", media_type, message));
        }
    };
    Ok(announced.or(Some(kind)))
}

fn size_limit(kind: Option<UploadKind>) -> i64 {
    let limit = match kind {
        Some(UploadKind::Photo) => media::IMAGE_BYTES,
        Some(UploadKind::AnimatedGif) => media::GIF_BYTES,
        Some(UploadKind::Subtitles) => media::SUBTITLE_BYTES,
        Some(UploadKind::Video | UploadKind::AmplifyVideo) | None => media::VIDEO_BYTES,
    };
    i64::try_from(limit).unwrap_or(i64::MAX)
}

async fn start_upload(call: &RequestContext, new: NewUpload) -> Result<MediaUpload, Error> {
    let user = call.require_user()?;
    call.write(move |tx| rules::initialize(tx, user, &new)).await
}

/// Stores the bytes, then records the segment, then acknowledges it.
async fn add_segment(
    call: &RequestContext,
    uploads: &UploadProcessor,
    id: MediaId,
    form: &UploadForm,
) -> Result<MediaUpload, Error> {
    let incoming = form.media.as_ref().ok_or_else(|| Refusal::missing_parameter("media"))?;
    let index = parse_number(form, "segment_index")?;
    let index = index.ok_or_else(|| Refusal::missing_parameter("segment_index"))?;
    if index > 999 {
        let message = format!("The `segment_index` query parameter value [{index}] is not between 0 and 999");
        return Err(Refusal::invalid_parameter("segment_index", index, message).into());
    }
    let (user, limit) = (call.require_user()?, size_limit(None));
    let size = i64::try_from(incoming.size).unwrap_or(i64::MAX);
    let segment = UploadSegment { index, size };
    call.read(move |tx| rules::check_segment(tx, user, id, segment, limit)).await?;
    let to = segment_path(id, index);
    let moved = uploads.files().rename(incoming.name(), &to).await;
    moved.map_err(storage_unavailable)?;
    call.write(move |tx| rules::add_segment(tx, user, id, segment, limit)).await
}

/// Photos and subtitles are processed at once, other media in the background.
async fn finish_upload(call: &RequestContext, uploads: &UploadProcessor, id: MediaId) -> Result<HttpReply, Error> {
    let user = call.require_user()?;
    let upload = call.read(move |tx| rules::find_owned_upload(tx, user, id, "id")).await?;
    let later = match upload.kind.as_str() {
        "photo" | "subtitles" => false,
        "" => {
            let head = uploads.files().read_head(&segment_path(id, 0)).await;
            MediaFormat::sniff(&head.map_err(storage_unavailable)?) == Some(MediaFormat::Mp4)
        }
        _ => true,
    };
    let (upload, is_first) = call
        .write(move |tx| {
            let mut upload = rules::find_owned_upload(tx, user, id, "id")?;
            let before = upload.state;
            rules::finalize(tx, &mut upload, later)?;
            Ok((upload, before == UploadState::Receiving))
        })
        .await?;
    process_upload(call, uploads, &upload, is_first).await
}

/// Processes an upload that waits for no background work, if this request is the first to finalize it.
async fn process_upload(
    call: &RequestContext,
    uploads: &UploadProcessor,
    upload: &MediaUpload,
    is_first: bool,
) -> Result<HttpReply, Error> {
    if is_first && upload.state == UploadState::Processing {
        return match uploads.finish_upload(upload).await? {
            Ok(media) => respond_finished(call, upload, Some(&media)),
            Err(rejection) => Err(unfit_refusal(call, &rejection).into()),
        };
    }
    uploads.wake();
    let id = upload.id;
    let media = call.read(move |tx| Ok(store::media::find_by_id(tx, id)?)).await?;
    respond_finished(call, upload, media.as_ref())
}

async fn upload_whole(call: &RequestContext, uploads: &UploadProcessor, form: &UploadForm) -> Result<HttpReply, Error> {
    let incoming = form.media.as_ref().ok_or_else(|| Refusal::missing_parameter("media"))?;
    let category = announced_kind(form.text("media_category"), None)?;
    let format = MediaFormat::sniff(&incoming.head);
    let format = format.ok_or_else(|| unfit_refusal(call, &MediaRejection::Unknown))?;
    let fits = match category {
        None => true,
        Some(UploadKind::Photo | UploadKind::AnimatedGif) => format.is_image(),
        Some(UploadKind::Video | UploadKind::AmplifyVideo) => format == MediaFormat::Mp4,
        Some(UploadKind::Subtitles) => matches!(format, MediaFormat::Srt | MediaFormat::Vtt),
    };
    if !fits {
        return Err(unfit_refusal(call, &MediaRejection::CategoryMismatch).into());
    }
    let is_video = format == MediaFormat::Mp4;
    let kind = is_video.then_some(category.unwrap_or(UploadKind::Video));
    let new = NewUpload { kind, shared_with: parse_owners(form)?, ..NewUpload::default() };
    match uploads.store_file(call.require_user()?, incoming, new, is_video).await? {
        Ok(upload) => process_upload(call, uploads, &upload, true).await,
        Err(rejection) => Err(unfit_refusal(call, &rejection).into()),
    }
}

fn unfit_refusal(call: &RequestContext, rejection: &MediaRejection) -> Refusal {
    if is_legacy(call) {
        return Refusal::Legacy { code: 324, message: rejection.to_string().into() };
    }
    Refusal::invalid_parameter("media", "", rejection.to_string())
}

fn respond_started(call: &RequestContext, upload: &MediaUpload) -> Result<HttpReply, Error> {
    let members = upload_members(call, upload, None);
    if is_legacy(call) {
        return Ok(HttpReply::json(202, &Value::Object(members)));
    }
    call.respond_data(Value::Object(members))
}

fn respond_finished(call: &RequestContext, upload: &MediaUpload, media: Option<&Media>) -> Result<HttpReply, Error> {
    let mut members = upload_members(call, upload, media);
    let kind = media.map_or(upload.kind.as_str(), |media| &media.kind);
    let is_playable = matches!(kind, "video" | "animated_gif");
    if is_playable || media.is_none() {
        let state = if media.is_some() { UploadState::Succeeded } else { upload.state };
        members.insert("processing_info".to_owned(), processing_info(call, upload, state));
        if upload.total_bytes > 0 && upload.state != UploadState::Receiving {
            members.entry("size").or_insert_with(|| json!(upload.total_bytes));
        }
    }
    if is_legacy(call) {
        return Ok(HttpReply::json(200, &Value::Object(members)));
    }
    let mut body = Map::new();
    body.insert("data".to_owned(), Value::Object(members));
    if !upload.failure_reason.is_empty() {
        // The reason of the failure.
        let why = Refusal::invalid_parameter("media", "", upload.failure_reason.clone());
        let why = error_formats::render_partial_error(&why, call.problem_base());
        let errors = json!([add_detail(why, &upload.failure_reason)]);
        body.insert("errors".to_owned(), errors);
    }
    call.respond_json(&Value::Object(body))
}

fn add_detail(mut problem: Value, detail: &str) -> Value {
    if let Some(members) = problem.as_object_mut() {
        members.insert("detail".to_owned(), json!(detail));
    }
    problem
}

fn upload_members(call: &RequestContext, upload: &MediaUpload, media: Option<&Media>) -> Map<String, Value> {
    let mut members = Map::new();
    let id = upload.id.to_string();
    if is_legacy(call) {
        members.insert("media_id".to_owned(), json!(upload.id.get()));
        members.insert("media_id_string".to_owned(), json!(id));
    } else {
        members.insert("id".to_owned(), json!(id));
    }
    let key = media.map_or(&upload.media_key, |media| &media.media_key);
    if !key.is_empty() {
        members.insert("media_key".to_owned(), json!(key));
    }
    members.insert("expires_after_secs".to_owned(), json!(call.now().seconds_until(upload.expires_at)));
    let Some(media) = media else { return members };
    members.insert("size".to_owned(), json!(media.size));
    match media.kind.as_str() {
        "video" => {
            let video = json!({ "video_type": media.content_type });
            members.insert("video".to_owned(), video);
        }
        "photo" | "animated_gif" => {
            let (w, h) = (media.width, media.height);
            let image = json!({ "image_type": media.content_type, "w": w, "h": h });
            members.insert("image".to_owned(), image);
        }
        _ => {}
    }
    members
}

fn processing_info(call: &RequestContext, upload: &MediaUpload, state: UploadState) -> Value {
    match state {
        UploadState::Receiving | UploadState::Pending => {
            json!({ "state": "pending", "check_after_secs": 1 })
        }
        UploadState::Processing => {
            let done = upload.progress_percent;
            json!({ "state": "in_progress", "check_after_secs": 1, "progress_percent": done })
        }
        UploadState::Succeeded => json!({ "state": "succeeded", "progress_percent": 100 }),
        UploadState::Failed if is_legacy(call) => {
            let error = json!({ "code": 1, "name": "InvalidMedia", "message": upload.failure_reason });
            json!({ "state": "failed", "progress_percent": upload.progress_percent, "error": error })
        }
        UploadState::Failed => {
            json!({ "state": "failed", "progress_percent": upload.progress_percent })
        }
    }
}
