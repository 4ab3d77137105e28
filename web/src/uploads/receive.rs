//! Reads upload requests: text fields, and a file that is streamed to storage.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{Error, Fault, Refusal};
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::{Bytes, BytesMut};
use edge::BodyError;
use futures_util::future::BoxFuture;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use media::{FileStore, MediaFormat, ScratchFile, VIDEO_BYTES};
use multer::{Constraints, Field, Multipart, SizeLimit};
use serde_json::Value;

use super::storage_unavailable;
use crate::body::{self, BodyContentType};
use crate::endpoint::{BodySpec, ErrorFormat};
use crate::request_context::RequestContext;

/// Bytes of a part that is not a file.
pub(super) const MAX_TEXT_BYTES: usize = 128 * 1024;
/// Bytes of a base64 file, encoded or decoded.
const MAX_ENCODED_BYTES: usize = 16 * 1024 * 1024;
const MAX_PARTS: usize = 32;
/// The only part that may be sent more than once.
const REPEATABLE: &str = "additional_owners";
const EXPECTED_TYPES: &str = "multipart/form-data, application/json or application/x-www-form-urlencoded";

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What is received is deleted with the last clone, unless it was moved.
#[derive(Clone, Debug)]
pub struct IncomingFile {
    scratch: Arc<ScratchFile>,
    pub size: u64,
    /// The first bytes, to detect the format.
    pub head: Bytes,
}

impl IncomingFile {
    fn new(scratch: ScratchFile, bytes: &[u8]) -> Self {
        Self { scratch: Arc::new(scratch), size: byte_length(bytes), head: head_bytes(bytes) }
    }

    /// Path in the file store.
    pub fn name(&self) -> &str {
        self.scratch.name()
    }

    /// To be called before the file gets other contents.
    pub(super) fn set_contents(&mut self, bytes: &[u8]) {
        (self.size, self.head) = (byte_length(bytes), head_bytes(bytes));
    }
}

#[derive(Debug, Default)]
pub struct UploadForm {
    texts: Vec<(String, String)>,
    pub media: Option<IncomingFile>,
}

impl UploadForm {
    /// From the body, else the query; none if empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.texts(name).next()
    }

    /// As [`Self::text`], of a part that may be repeated.
    pub fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        let found = self.texts.iter().filter(move |(known, _)| known == name);
        found.map(|(_, text)| text.as_str()).filter(|text| !text.is_empty())
    }
}

pub fn receive<'a>(call: &'a mut RequestContext, files: &'a FileStore) -> BoxFuture<'a, Result<UploadForm, Error>> {
    Box::pin(async move {
        let mut form = UploadForm::default();
        if BodyContentType::from_headers(&call.head().headers) == BodyContentType::Other {
            read_parts(call, files, &mut form).await?;
        } else {
            read_json_members(call, files, &mut form).await?;
        }
        for param in call.endpoint().parameters() {
            let (name, raw) = (param.name.post, call.raw_param(param.name.post));
            if !raw.is_empty() && form.text(name).is_none() {
                form.texts.push((name.to_owned(), raw.to_owned()));
            }
        }
        Ok(form)
    })
}

/// JSON or a form, already parsed and checked.
async fn read_json_members(call: &RequestContext, files: &FileStore, form: &mut UploadForm) -> Result<(), Error> {
    let body = call.body();
    for (name, value) in body.as_map() {
        if name == "media" || name == "media_data" {
            continue;
        }
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Array(items) => {
                let items = items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned));
                items.collect::<Vec<String>>().join(",")
            }
            other => other.to_string(),
        };
        form.texts.push((name.clone(), text));
    }
    let mut names = ["media", "media_data"].into_iter();
    let file = names.find_map(|name| Some((name, body.get(name)?)));
    if let Some((name, value)) = file {
        let Value::String(text) = value else {
            return Err(
                Refusal::invalid_parameter(name, "", format!("$.{name}: a string in base64 is expected")).into()
            );
        };
        form.media = Some(store_base64(call, files, name, text.as_bytes()).await?);
    }
    Ok(())
}

async fn store_base64(
    call: &RequestContext,
    files: &FileStore,
    name: &'static str,
    text: &[u8],
) -> Result<IncomingFile, Error> {
    let text: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let bytes =
        BASE64.decode(text).map_err(|_| Refusal::invalid_parameter(name, "", format!("`{name}` is not in base64")))?;
    if bytes.is_empty() {
        return Err(Refusal::missing_parameter(name).into());
    }
    let incoming = IncomingFile::new(new_scratch_file(call, files)?, &bytes);
    let stored = files.put(incoming.name(), bytes).await;
    stored.map_err(storage_unavailable)?;
    Ok(incoming)
}

fn byte_length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

fn head_bytes(bytes: &[u8]) -> Bytes {
    let head = bytes.get(..MediaFormat::HEAD_BYTES).unwrap_or(bytes);
    Bytes::copy_from_slice(head)
}

fn new_scratch_file(call: &RequestContext, files: &FileStore) -> Result<ScratchFile, Fault> {
    Ok(files.scratch_file(&call.store_context().rng.random_token(24)?))
}

/// A file as base64.
const ENCODED_FILE: &str = "media_data";

/// Bytes beyond the limit are an error. The flag says whether what is read next stays in memory.
pub(super) fn open_parts(
    call: &mut RequestContext,
    limit: u64,
) -> Result<(Multipart<'static>, Arc<AtomicBool>), Refusal> {
    let head = call.head();
    let unsupported = |expected| Refusal::UnsupportedMediaType { expected };
    if head.headers.contains_key(CONTENT_ENCODING) {
        return Err(unsupported("without a Content-Encoding"));
    }
    let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let boundary = multer::parse_boundary(kind.unwrap_or_default());
    let boundary = boundary.map_err(|_| unsupported(EXPECTED_TYPES))?;
    let is_in_memory = Arc::new(AtomicBool::new(false));
    let start = (call.take_body(), Arc::clone(&is_in_memory));
    let stream = futures_util::stream::unfold(start, |(mut body, is_in_memory)| async {
        body.set_kept_in_memory(is_in_memory.load(Ordering::Relaxed));
        let next = body.next_chunk().await.transpose()?;
        Some((next, (body, is_in_memory)))
    });
    let limits = Constraints::new().size_limit(SizeLimit::new().whole_stream(limit));
    Ok((Multipart::with_constraints(stream, boundary, limits), is_in_memory))
}

async fn read_parts(call: &mut RequestContext, files: &FileStore, form: &mut UploadForm) -> Result<(), Error> {
    let (mut multipart, is_in_memory) = open_parts(call, VIDEO_BYTES.saturating_add(1024 * 1024))?;
    let mut count = 0;
    while let Some(field) = multipart.next_field().await.map_err(multipart_refusal)? {
        count += 1;
        if count > MAX_PARTS {
            return Err(body::invalid_body("The request body has too many parts.").into());
        }
        // Files are written as they arrive.
        is_in_memory.store(field.name() == Some(ENCODED_FILE), Ordering::Relaxed);
        read_part(call, files, form, field).await?;
    }
    Ok(())
}

async fn read_part(
    call: &RequestContext,
    files: &FileStore,
    form: &mut UploadForm,
    field: Field<'_>,
) -> Result<(), Error> {
    let name = field.name().unwrap_or_default().to_owned();
    let is_duplicate = name != REPEATABLE && form.text(&name).is_some();
    let is_second_file = form.media.is_some() && (name == "media" || name == ENCODED_FILE);
    if is_duplicate || is_second_file {
        let shown = schema::truncate_for_echo(&name);
        return Err(body::invalid_body(format!("The part [{shown}] must not be included twice.")).into());
    }
    match name.as_str() {
        "media" => form.media = store_file_part(call, files, field).await?,
        ENCODED_FILE => {
            let text = read_text_part(field, MAX_ENCODED_BYTES).await?;
            form.media = Some(store_base64(call, files, ENCODED_FILE, &text).await?);
        }
        _ if is_declared(call, &name) => {
            let bytes = read_text_part(field, MAX_TEXT_BYTES).await?;
            let text = String::from_utf8(bytes.to_vec()).ok().filter(|text| !text.contains('\0'));
            let text = text.ok_or_else(|| Refusal::invalid_value(name.clone(), ""))?;
            form.texts.push((name, text));
        }
        // v1.1 ignores unknown parts.
        _ if is_legacy(call) => drop(read_text_part(field, MAX_TEXT_BYTES).await?),
        _ => {
            let shown = schema::truncate_for_echo(&name).into_owned();
            let message = format!(
                "$.{shown}: is not defined in the schema and the schema does not allow additional \
                 properties"
            );
            return Err(Refusal::invalid_parameter(shown, "", message).into());
        }
    }
    Ok(())
}

pub(super) fn is_declared(call: &RequestContext, name: &str) -> bool {
    let BodySpec::Multipart(members) = call.endpoint().body else {
        return false;
    };
    members.iter().any(|member| member.name.matches(name))
}

/// Writes the file as it arrives. None if no file was chosen on a page, for which browsers send an empty one.
async fn store_file_part(
    call: &RequestContext,
    files: &FileStore,
    mut field: Field<'_>,
) -> Result<Option<IncomingFile>, Error> {
    let may_be_empty = call.endpoint().error_format == ErrorFormat::Page && field.file_name() == Some("");
    let scratch = new_scratch_file(call, files)?;
    let mut writer = files.start_write(scratch.name()).map_err(storage_unavailable)?;
    let mut head = BytesMut::new();
    loop {
        let chunk = match field.chunk().await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => break,
            Err(error) => {
                writer.abort().await;
                return Err(multipart_refusal(error).into());
            }
        };
        let missing = MediaFormat::HEAD_BYTES.saturating_sub(head.len());
        head.extend_from_slice(chunk.get(..missing).unwrap_or(&chunk));
        writer.append(&chunk).await.map_err(storage_unavailable)?;
    }
    if writer.bytes_written() == 0 {
        writer.abort().await;
        return if may_be_empty { Ok(None) } else { Err(Refusal::missing_parameter("media").into()) };
    }
    let size = writer.finish().await.map_err(storage_unavailable)?;
    Ok(Some(IncomingFile { scratch: Arc::new(scratch), size, head: head.freeze() }))
}

pub(super) async fn read_text_part(mut field: Field<'_>, limit: usize) -> Result<Bytes, Error> {
    let mut all = BytesMut::new();
    while let Some(chunk) = field.chunk().await.map_err(multipart_refusal)? {
        if all.len().saturating_add(chunk.len()) > limit {
            return Err(Refusal::BodyTooLarge { limit }.into());
        }
        all.extend_from_slice(&chunk);
    }
    Ok(all.freeze())
}

fn multipart_refusal(error: multer::Error) -> Refusal {
    if let multer::Error::StreamSizeExceeded { .. } = error {
        let limit = usize::try_from(VIDEO_BYTES).unwrap_or(usize::MAX);
        return Refusal::BodyTooLarge { limit };
    }
    if let multer::Error::StreamReadFailed(inner) = &error {
        match inner.downcast_ref::<BodyError>() {
            Some(BodyError::TimedOut) => return Refusal::BodyTimeout,
            Some(BodyError::NoRoom) => return Refusal::Unavailable,
            _ => {}
        }
    }
    body::invalid_body("The request body is not complete multipart/form-data.")
}

/// Whether the operation uses the v1.1 error format.
pub fn is_legacy(call: &RequestContext) -> bool {
    call.endpoint().error_format == ErrorFormat::Legacy
}
