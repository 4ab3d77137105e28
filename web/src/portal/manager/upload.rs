//! Forms that send a file: media for the library, and lists of people. A list never touches a disk;
//! media take the way of all uploads.

use base::refusal::AdsProblem;
use base::{Error, Refusal, UserId};
use bytes::BytesMut;
use edge::BodyError;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use media::{MediaFormat, MediaRejection};
use multer::{Constraints, Multipart, SizeLimit};
use network::uploads::{self as rules, NewUpload, UploadKind};
use store::media::Media;
use store::uploads::UploadSegment;

use super::ask::Desk;
use super::stand::{Sent, Stand};
use super::{again, creatives, every, heard};
use crate::body;
use crate::call::Call;
use crate::pages::forms::{comes_from_us, confirmed};
use crate::pages::{Turn, Visit, see};
use crate::reply::Reply;
use crate::uploads::{Incoming, Uploads, broken, receive, segment};

/// Bytes of a list, and of what stands beside it.
const LIST: u64 = 5 * 1024 * 1024;
const BESIDE: u64 = 64 * 1024;
/// Parts of a form.
const PARTS: usize = 16;

/// Takes a form with a file. Nothing of it is read before it is known that it may come.
pub(super) async fn take(mut call: Call, visit: Visit, stand: Stand) -> Result<Reply, Turn> {
    comes_from_us(&call, &visit)?;
    let there = stand.clone();
    let open = call.read(move |tx| there.takes(tx)).await;
    heard(&call, &visit, open)?;
    let place = &stand.place;
    match (place.part.as_str(), place.id.as_str(), place.act.as_str()) {
        ("media", "upload", "") => media(call, visit, stand).await,
        ("audiences", _, "people") => people(&mut call, &visit, stand).await,
        _ => Err(body::whole("This form sends no file.").into()),
    }
}

/// What was done, or the form again.
async fn answer(
    call: &Call,
    visit: &Visit,
    stand: Stand,
    sent: Sent,
    done: Result<Option<(String, &'static str)>, Error>,
) -> Result<Reply, Turn> {
    let declined = match done {
        Err(Error::Refused(Refusal::Ads(declined))) => every(*declined),
        done => {
            let (path, what) = heard(call, visit, done)?;
            return Ok(see(&format!("{path}?done={what}")));
        }
    };
    again(call, visit, stand, sent, declined).await
}

/// A list of people, in memory alone.
async fn people(call: &mut Call, visit: &Visit, stand: Stand) -> Result<Reply, Turn> {
    let pairs = parts(call).await?;
    let csrf = pairs.iter().find(|(name, _)| name == "csrf");
    let csrf = csrf.map(|(_, text)| text.clone()).unwrap_or_default();
    confirmed(call, visit, &csrf).await?;
    let sent = Sent::pairs(pairs.into_iter().filter(|(name, _)| name != "csrf"));
    let (there, typed) = (stand.clone(), sent.clone());
    let done = call.write(move |tx| there.send(tx, &typed)).await;
    answer(call, visit, stand, sent, done).await
}

/// The parts of a form, none of which is large.
async fn parts(call: &mut Call) -> Result<Vec<(String, String)>, Error> {
    let head = call.head();
    let expected = "multipart/form-data";
    if head.headers.contains_key(CONTENT_ENCODING) {
        return Err(Refusal::UnsupportedMediaType { expected }.into());
    }
    let kind = head.headers.get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let boundary = multer::parse_boundary(kind);
    let boundary = boundary.map_err(|_| Refusal::UnsupportedMediaType { expected })?;
    let stream = futures_util::stream::unfold(call.take_body(), |mut body| async {
        let next = body.next_chunk().await.transpose()?;
        Some((next, body))
    });
    let limits = SizeLimit::new().whole_stream(LIST + BESIDE);
    let limits = Constraints::new().size_limit(limits);
    let mut form = Multipart::with_constraints(stream, boundary, limits);
    let mut all: Vec<(String, String)> = Vec::new();
    while let Some(mut field) = form.next_field().await.map_err(unread)? {
        let name = field.name().unwrap_or_default().to_owned();
        if all.len() >= PARTS || all.iter().any(|(known, _)| *known == name) {
            return Err(body::whole("The form has a part twice, or too many.").into());
        }
        let mut bytes = BytesMut::new();
        while let Some(chunk) = field.chunk().await.map_err(unread)? {
            bytes.extend_from_slice(&chunk);
        }
        let text = String::from_utf8(bytes.into());
        let text = text.map_err(|_| body::whole("The list is no text in UTF-8."))?;
        if text.contains('\0') {
            return Err(body::whole("The list is no text in UTF-8.").into());
        }
        all.push((name, text));
    }
    Ok(all)
}

fn unread(error: multer::Error) -> Refusal {
    if let multer::Error::StreamSizeExceeded { .. } = error {
        let limit = usize::try_from(LIST).unwrap_or(usize::MAX);
        return Refusal::BodyTooLarge { limit };
    }
    if let multer::Error::StreamReadFailed(inner) = &error
        && let Some(BodyError::TimedOut) = inner.downcast_ref::<BodyError>()
    {
        return Refusal::BodyTimeout;
    }
    body::whole("The form is not complete multipart/form-data.")
}

/// A medium for the library.
async fn media(mut call: Call, visit: Visit, stand: Stand) -> Result<Reply, Turn> {
    let uploads = call.uploads()?;
    let came = match receive(&mut call, uploads.files()).await {
        Ok(came) => came,
        Err(Error::Refused(Refusal::InvalidParameters(wrong)))
            if wrong.iter().any(|wrong| wrong.parameter == "media") =>
        {
            let declined = vec![unfit("Choose a file")];
            return again(&call, &visit, stand, Sent::default(), declined).await;
        }
        Err(stop) => return Err(stop.into()),
    };
    let text = |name: &str| came.text(name).unwrap_or_default().to_owned();
    let names = ["name", "media_category"];
    let sent = Sent::pairs(names.iter().map(|name| ((*name).to_owned(), text(name))));
    let csrf = text("csrf");
    let outcome = match confirmed(&call, &visit, &csrf).await {
        Ok(()) => stored(&call, &uploads, &stand, &sent, came.media.as_ref()).await,
        Err(turn) => Err(turn),
    };
    if let Some(incoming) = &came.media {
        // What cannot be removed now is when the process starts again.
        let _left = uploads.files().delete(&incoming.name).await;
    }
    answer(&call, &visit, stand, sent, outcome?).await
}

fn unfit(message: &str) -> AdsProblem {
    AdsProblem::invalid_parameter("media", "", message)
}

/// What becomes of a form: where one is led then, or why not.
type Outcome = Result<Option<(String, &'static str)>, Error>;

/// From the bytes that came to a medium of the library.
async fn stored(
    call: &Call,
    uploads: &Uploads,
    stand: &Stand,
    sent: &Sent,
    came: Option<&Incoming>,
) -> Result<Outcome, Turn> {
    let Some(incoming) = came else {
        return Ok(Err(unfit("Choose a file").into()));
    };
    let made = match made(call, uploads, stand, sent, incoming).await? {
        Ok(made) => made,
        Err(unread) => return Ok(Err(unfit(&unread.to_string()).into())),
    };
    let (there, typed) = (stand.clone(), sent.clone());
    let added = call.write(move |tx| there.add_medium(tx, &typed, &made.media_key));
    Ok(added.await)
}

async fn made(
    call: &Call,
    uploads: &Uploads,
    stand: &Stand,
    sent: &Sent,
    incoming: &Incoming,
) -> Result<Result<Media, MediaRejection>, Error> {
    let Some(format) = MediaFormat::sniff(&incoming.head) else {
        return Ok(Err(MediaRejection::Unknown));
    };
    let (kind, limit) = match format {
        MediaFormat::Mp4 if sent.text("media_category") == "amplify_video" => {
            (Some(UploadKind::AmplifyVideo), media::VIDEO_BYTES)
        }
        MediaFormat::Mp4 => (Some(UploadKind::Video), media::VIDEO_BYTES),
        MediaFormat::Gif => (None, media::GIF_BYTES),
        MediaFormat::Srt | MediaFormat::Vtt => return Ok(Err(MediaRejection::CategoryMismatch)),
        _ => (None, media::IMAGE_BYTES),
    };
    if incoming.size > limit {
        return Ok(Err(MediaRejection::TooLarge(limit)));
    }
    let (user, there) = (stand.asking.user, stand.clone());
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let upload = call.write(move |tx| {
        let shared_with = there.shares_with(tx)?;
        let new = NewUpload {
            kind,
            total_bytes: None,
            limit,
            shared_with: shared_with.into_iter().collect(),
        };
        rules::initialize(tx, user, &new)
    });
    let upload = upload.await?;
    let size = i64::try_from(incoming.size).unwrap_or(i64::MAX);
    let (id, one) = (upload.id, UploadSegment { index: 0, size });
    let moved = uploads
        .files()
        .rename(&incoming.name, &segment(id, 0))
        .await;
    moved.map_err(broken)?;
    let upload = call.write(move |tx| {
        let mut upload = rules::add_segment(tx, user, id, one, limit)?;
        rules::finalize(tx, &mut upload, false)?;
        Ok(upload)
    });
    uploads.finish(&upload.await?).await
}

impl Stand {
    /// Whoever else is to have what is uploaded here: the account's own user.
    fn shares_with(&self, tx: &mut store::Tx<'_>) -> Result<Option<UserId>, Error> {
        let Some(desk) = Desk::open(tx, &self.asking, &self.place.account)? else {
            return Ok(None);
        };
        let own = creatives::own_user(tx, &desk)?;
        Ok(own.filter(|own| *own != self.asking.user))
    }

    /// Takes a medium into the library, with what is said of it.
    fn add_medium(&self, tx: &mut store::Tx<'_>, sent: &Sent, key: &str) -> Outcome {
        let Some(desk) = Desk::open(tx, &self.asking, &self.place.account)? else {
            return Ok(None);
        };
        let plan = super::media::upload(&desk);
        let mut pairs = plan.pairs(sent)?;
        pairs.push(("media_key", key.to_owned()));
        let answer = desk.ask(tx, plan.method, plan.path, &[], &pairs)?;
        Ok(Some((plan.then.path(&answer), plan.done)))
    }
}
