//! Forms with files: media and lists of people. A list is never written to disk.

use base::refusal::AdsProblem;
use base::{Error, Refusal, UserId};
use bytes::BytesMut;
use edge::BodyError;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use multer::{Constraints, Multipart, SizeLimit};
use network::uploads::UploadKind;
use web::body;
use web::reply::HttpReply;
use web::request_context::RequestContext;
use web::uploads::{IncomingFile, UploadProcessor, receive};

use super::forms::{FormOutcome, SubmittedFields};
use super::request::ManagerAccount;
use super::route::ManagerRoute;
use super::{all_problems, found_or_page, refused_form_page, submit_once};
use crate::site::forms::{check_csrf_token, check_same_origin};
use crate::site::{BrowserVisit, MemberVisit, PageExit, redirect_to};

const MAX_LIST_BYTES: u64 = 5 * 1024 * 1024;
const MAX_OTHER_BYTES: u64 = 64 * 1024;
const MAX_PARTS: usize = 16;

/// Checks origin and permission before the body is read.
pub(super) async fn receive_form(
    mut call: RequestContext,
    visit: MemberVisit,
    route: ManagerRoute,
) -> Result<HttpReply, PageExit> {
    check_same_origin(&call, &visit)?;
    let there = route.clone();
    let open = call.read(move |tx| there.check_form(tx)).await;
    found_or_page(&call, &visit, open)?;
    let place = &route.path;
    match (place.section.as_str(), place.id.as_str(), place.action.as_str()) {
        ("media", "upload", "") => receive_media(call, visit, route).await,
        ("audiences" | "do-not-reach", _, "people") => receive_people(&mut call, &visit, route).await,
        _ => Err(body::invalid_body("This form does not accept files.").into()),
    }
}

async fn form_reply(
    call: &RequestContext,
    visit: &BrowserVisit,
    route: ManagerRoute,
    sent: SubmittedFields,
    done: Result<Option<FormOutcome>, Error>,
) -> Result<HttpReply, PageExit> {
    let declined = match done {
        Err(Error::Refused(Refusal::Ads(declined))) => all_problems(*declined),
        done => {
            return Ok(redirect_to(&found_or_page(call, visit, done)?.redirect_path(None)));
        }
    };
    refused_form_page(call, visit, route, sent, declined).await
}

/// Keeps the list in memory only.
async fn receive_people(
    call: &mut RequestContext,
    visit: &BrowserVisit,
    route: ManagerRoute,
) -> Result<HttpReply, PageExit> {
    let pairs = read_parts(call).await?;
    let csrf = pairs.iter().find(|(name, _)| name == "csrf");
    let csrf = csrf.map(|(_, text)| text.clone()).unwrap_or_default();
    check_csrf_token(call, visit, &csrf).await?;
    let sent = SubmittedFields::from_pairs(pairs.into_iter().filter(|(name, _)| name != "csrf"));
    let (there, typed) = (route.clone(), sent.clone());
    let done = submit_once(call, &route, &sent, move |tx| there.submit_form(tx, &typed)).await;
    form_reply(call, visit, route, sent, done).await
}

async fn read_parts(call: &mut RequestContext) -> Result<Vec<(String, String)>, Error> {
    let head = call.head();
    let expected = "multipart/form-data";
    if head.headers.contains_key(CONTENT_ENCODING) {
        return Err(Refusal::UnsupportedMediaType { expected }.into());
    }
    let kind = head.headers.get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let boundary = multer::parse_boundary(kind);
    let boundary = boundary.map_err(|_| Refusal::UnsupportedMediaType { expected })?;
    let mut body = call.take_body();
    body.set_kept_in_memory(true);
    let stream = futures_util::stream::unfold(body, |mut body| async {
        let next = body.next_chunk().await.transpose()?;
        Some((next, body))
    });
    let limits = SizeLimit::new().whole_stream(MAX_LIST_BYTES + MAX_OTHER_BYTES);
    let limits = Constraints::new().size_limit(limits);
    let mut form = Multipart::with_constraints(stream, boundary, limits);
    let mut all: Vec<(String, String)> = Vec::new();
    while let Some(mut field) = form.next_field().await.map_err(multipart_refusal)? {
        let name = field.name().unwrap_or_default().to_owned();
        if all.len() >= MAX_PARTS || all.iter().any(|(known, _)| *known == name) {
            return Err(body::invalid_body("The form has duplicate or too many parts.").into());
        }
        let mut bytes = BytesMut::new();
        while let Some(chunk) = field.chunk().await.map_err(multipart_refusal)? {
            bytes.extend_from_slice(&chunk);
        }
        let text = String::from_utf8(bytes.into());
        let text = text.map_err(|_| body::invalid_body("The list is not valid UTF-8 text."))?;
        if text.contains('\0') {
            return Err(body::invalid_body("The list is not valid UTF-8 text.").into());
        }
        all.push((name, text));
    }
    Ok(all)
}

fn multipart_refusal(error: multer::Error) -> Refusal {
    if let multer::Error::StreamSizeExceeded { .. } = error {
        let limit = usize::try_from(MAX_LIST_BYTES).unwrap_or(usize::MAX);
        return Refusal::BodyTooLarge { limit };
    }
    if let multer::Error::StreamReadFailed(inner) = &error {
        match inner.downcast_ref::<BodyError>() {
            Some(BodyError::TimedOut) => return Refusal::BodyTimeout,
            Some(BodyError::NoRoom) => return Refusal::Unavailable,
            _ => {}
        }
    }
    body::invalid_body("The form is not complete multipart/form-data.")
}

async fn receive_media(
    mut call: RequestContext,
    visit: MemberVisit,
    route: ManagerRoute,
) -> Result<HttpReply, PageExit> {
    let uploads = call.uploads()?;
    let came = match receive(&mut call, uploads.files()).await {
        Ok(came) => came,
        Err(Error::Refused(Refusal::InvalidParameters(wrong)))
            if wrong.iter().any(|wrong| wrong.parameter == "media") =>
        {
            let declined = vec![media_problem("Choose a file")];
            return refused_form_page(&call, &visit, route, SubmittedFields::default(), declined).await;
        }
        Err(stop) => return Err(stop.into()),
    };
    let text = |name: &str| came.text(name).unwrap_or_default().to_owned();
    let names = ["form", "name", "media_category"];
    let sent = SubmittedFields::from_pairs(names.iter().map(|name| ((*name).to_owned(), text(name))));
    let csrf = text("csrf");
    check_csrf_token(&call, &visit, &csrf).await?;
    let outcome = store_media(&call, &uploads, &route, &sent, came.media.as_ref()).await?;
    form_reply(&call, &visit, route, sent, outcome).await
}

fn media_problem(message: &str) -> AdsProblem {
    AdsProblem::invalid_parameter("media", "", message)
}

async fn store_media(
    call: &RequestContext,
    uploads: &UploadProcessor,
    route: &ManagerRoute,
    sent: &SubmittedFields,
    came: Option<&IncomingFile>,
) -> Result<Result<Option<FormOutcome>, Error>, PageExit> {
    let Some(incoming) = came else {
        return Ok(Err(media_problem("Choose a file").into()));
    };
    let there = route.clone();
    let shared_with = call.read(move |tx| there.shared_user(tx)).await?.into_iter().collect();
    let is_amplify = sent.text("media_category") == "amplify_video";
    let video = if is_amplify { UploadKind::AmplifyVideo } else { UploadKind::Video };
    let made = match uploads.create_media(route.request.user, incoming, video, shared_with).await? {
        Ok(made) => made,
        Err(unread) => return Ok(Err(media_problem(&unread.to_string()).into())),
    };
    let (there, typed) = (route.clone(), sent.clone());
    Ok(submit_once(call, route, sent, move |tx| there.add_medium(tx, &typed, &made.media_key)).await)
}

impl ManagerRoute {
    /// The account's own user, who also gets access to the upload.
    fn shared_user(&self, tx: &mut store::Tx<'_>) -> Result<Option<UserId>, Error> {
        let Some(ctx) = ManagerAccount::open(tx, &self.request, &self.path.account)? else {
            return Ok(None);
        };
        let own = ctx.own_user(tx)?;
        Ok(own.filter(|own| *own != self.request.user))
    }

    fn add_medium(
        &self,
        tx: &mut store::Tx<'_>,
        sent: &SubmittedFields,
        key: &str,
    ) -> Result<Option<FormOutcome>, Error> {
        let Some(ctx) = ManagerAccount::open(tx, &self.request, &self.path.account)? else {
            return Ok(None);
        };
        let plan = super::media::upload_form(&ctx);
        let mut params = plan.changed_params(sent)?;
        params.insert("media_key".to_owned(), key.into());
        let answer = plan.send_params(tx, &ctx, params.into())?;
        Ok(Some(plan.into_outcome(&answer, sent)))
    }
}
