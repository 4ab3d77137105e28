//! Pictures and videos of direct messages.

use std::collections::HashMap;

use base::{Fault, MediaId, Refusal};
use network::messages;
use pages::members::{MESSAGE_FILES_PATH, MessageMedia, MessageMediaKind, PostMedia};
use portal::{BrowserVisit, PageExit};
use store::Tx;
use store::media::{self, Media};
use store::messages::MessageEvent;
use view::{ShownMedia, show_stored_media};
use web::media_files::{MediaFileReaders, send_media_file};
use web::request_context::{HttpReply, RequestContext};

/// `GET /messages/files/{message}/{file}`; whoever may not read the message learns nothing of it.
pub(crate) async fn show_file(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let user = visit.person.as_ref().ok_or(Refusal::RouteNotFound)?.user.id;
    let message = call.path_id::<()>("message")?.get();
    let media = call.read(move |tx| Ok(messages::find_attached_media(tx, user, message)?)).await?;
    let media = media.ok_or(Refusal::RouteNotFound)?;
    let path = media.find_path(call.path_text("file")?).ok_or(Refusal::RouteNotFound)?;
    let sent = send_media_file(&call, &media, &path, MediaFileReaders::SignedInPerson, None).await?;
    Ok(sent.ok_or(Refusal::RouteNotFound)?)
}

/// With the languages and names of its subtitles.
pub(crate) type SubtitledMedia = (Media, Vec<(String, String)>);

/// The media of some messages by their ids.
pub(crate) fn load_media_of<'a>(
    tx: &mut Tx<'_>,
    events: impl IntoIterator<Item = &'a MessageEvent>,
) -> Result<HashMap<MediaId, SubtitledMedia>, Fault> {
    let ids: Vec<i64> = events.into_iter().filter_map(|event| event.media_id).map(MediaId::get).collect();
    let found = if ids.is_empty() { Vec::new() } else { media::find_by_ids(tx, &ids)? };
    let mut subtitles = media::list_subtitles(tx, &found)?;
    let found = found.into_iter().map(|media| {
        let own = subtitles.remove(&media.id).unwrap_or_default();
        (media.id, (media, own))
    });
    Ok(found.collect())
}

/// What stands for the text of a message without one.
pub(crate) fn describe_media(media: Option<&Media>) -> &'static str {
    media.map_or(MessageMediaKind::Photo, media_kind).label()
}

pub(crate) fn build_message_media(message: i64, media: Option<&SubtitledMedia>) -> MessageMedia {
    let url = |path: &str| file_path(message, path);
    let shown = media.filter(|(media, _)| !media.path.is_empty());
    MessageMedia {
        shown: shown.map(|(media, subtitles)| post_media(show_stored_media(media, subtitles.clone(), url))),
        path: shown.and_then(|(media, _)| url(&media.path)).unwrap_or_default(),
        kind: media.map_or(MessageMediaKind::Photo, |(media, _)| media_kind(media)),
    }
}

fn post_media(shown: ShownMedia) -> PostMedia {
    let ShownMedia { picture, video, description, subtitles } = shown;
    PostMedia { picture, video, description, subtitles }
}

fn media_kind(media: &Media) -> MessageMediaKind {
    match media.kind.as_str() {
        "animated_gif" => MessageMediaKind::Gif,
        "video" => MessageMediaKind::Video,
        _ => MessageMediaKind::Photo,
    }
}

fn file_path(message: i64, path: &str) -> Option<String> {
    let name = path.rsplit('/').next().filter(|name| !name.is_empty())?;
    Some(format!("{MESSAGE_FILES_PATH}/{message}/{name}"))
}
