//! Serves media files under unguessable names.

use base::refusal::ResourceRef;
use base::{Error, Id, Refusal};
use web::media_files::{MediaFileReaders, PlaybackRecording, send_media_file};
use web::request_context::{HttpReply, RequestContext};

pub(crate) async fn serve_file(call: RequestContext) -> Result<HttpReply, Error> {
    let name = call.path_text("file")?.to_owned();
    let missing = || Error::from(Refusal::NotFound(ResourceRef::new("media", "file", &name)));
    let key = name.split('.').next().unwrap_or_default();
    let id = key.split_once('_').and_then(|(_, id)| Id::parse(id));
    let id = id.ok_or_else(missing)?;
    // Media of direct messages are served by `download_media`, to participants only; those of removed posts to nobody.
    let found = call.read(move |tx| {
        let (private, now) = (store::media::is_private(tx, id)?, tx.now());
        Ok(store::media::find_by_id(tx, id)?.filter(|media| !private && !media.has_expired(now)))
    });
    let found = found.await?;
    let media = found.ok_or_else(missing)?;
    let path = media.find_path(&name).ok_or_else(missing)?;
    let size = call.query_text("name").unwrap_or_default();
    let path = media.size_path(size).unwrap_or(path);
    let recording = PlaybackRecording::new(&call, &media, &path);
    send_media_file(&call, &media, &path, MediaFileReaders::Everyone, recording).await?.ok_or_else(missing)
}
