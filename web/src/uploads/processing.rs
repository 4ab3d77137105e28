//! Turns the segments of an upload into media, or records why it failed.

use std::time::Duration;

use base::{Error, Fault, Refusal};
use media::{
    FileStoreError, ImageProperties, MediaFormat, MediaRejection, ResizedImage, SUBTITLE_BYTES, measure_image,
    measure_video,
};
use network::uploads::{self as rules, LEASE_MS, ProcessedUpload, UploadKind};
use store::media::Media;
use store::uploads::{self as stored, MediaUpload, UploadState};

use super::{SCRATCH, UploadProcessor, segment_path, storage_unavailable, upload_folder};

/// Failure reason if the file store is unavailable.
const STORE_FAILURE: &str = "The file could not be stored.";

/// Well below the length of a lease.
const LEASE_RENEWAL_INTERVAL: Duration = Duration::from_secs(20);

type MeasuredUpload = Result<(ProcessedUpload, Vec<ResizedImage>), MediaRejection>;

impl UploadProcessor {
    /// Returns false if no upload is waiting.
    pub(super) async fn process_next(&self) -> Result<bool, Error> {
        let claimed = self.store.write(|tx| {
            let until = tx.now().plus_ms(LEASE_MS);
            Ok(stored::claim_next(tx, until)?)
        });
        let Some(upload) = claimed.await? else {
            return Ok(false);
        };
        if let Err(rejection) = self.finish_upload(&upload).await? {
            tracing::info!(upload = %upload.id, %rejection, "rejected an upload");
        }
        Ok(true)
    }

    /// Creates media from an upload whose segments are complete.
    pub async fn finish_upload(&self, upload: &MediaUpload) -> Result<Result<Media, MediaRejection>, Error> {
        let joined = format!("{SCRATCH}/{}-{}", upload.id, self.store.context().node.incarnation());
        let size = self.join_segments(upload, &joined).await?;
        self.renew_lease(upload, 50).await?;
        let outcome = match self.measure_upload(upload, &joined, size).await? {
            Ok((found, sizes)) => Ok(self.publish_or_clean_up(upload, &joined, found, &sizes).await?),
            Err(rejection) => {
                self.mark_failed(upload, rejection.to_string()).await?;
                Err(rejection)
            }
        };
        self.discard_files(upload, &joined).await;
        Ok(outcome)
    }

    /// Stores the progress and extends the lease.
    async fn renew_lease(&self, upload: &MediaUpload, percent: i64) -> Result<(), Error> {
        if upload.state != UploadState::Processing {
            return Ok(());
        }
        let id = upload.id;
        let renewed = self.store.write(move |tx| {
            let until = tx.now().plus_ms(LEASE_MS);
            Ok(stored::set_progress(tx, id, percent, until)?)
        });
        renewed.await
    }

    /// Renews the lease while files are copied.
    async fn copy_files<T>(
        &self,
        upload: &MediaUpload,
        percent: i64,
        mut copying: impl Future<Output = Result<T, FileStoreError>> + Unpin,
    ) -> Result<T, Error> {
        loop {
            tokio::select! {
                result = &mut copying => return result.map_err(storage_unavailable),
                () = tokio::time::sleep(LEASE_RENEWAL_INTERVAL) => self.renew_lease(upload, percent).await?,
            }
        }
    }

    async fn mark_failed(&self, upload: &MediaUpload, failure: String) -> Result<(), Error> {
        let id = upload.id;
        let failed = self.store.write(move |tx| Ok(stored::mark_failed(tx, id, &failure)?));
        failed.await
    }

    /// Publishes the media, or removes its files if the store fails.
    async fn publish_or_clean_up(
        &self,
        upload: &MediaUpload,
        joined: &str,
        found: ProcessedUpload,
        sizes: &[ResizedImage],
    ) -> Result<Media, Error> {
        let path = found.file_path(upload);
        let published = self.publish_media(upload, joined, found, sizes).await;
        if let Err(Error::Refused(Refusal::Unavailable)) = published {
            let names = sizes.iter().map(|resized| smaller_path(&path, resized));
            for name in names.chain([path.clone()]) {
                // A store that fails to write may fail to delete as well.
                if self.files.delete(&name).await.is_err() {
                    break;
                }
            }
            self.mark_failed(upload, STORE_FAILURE.to_owned()).await?;
            self.discard_files(upload, joined).await;
        }
        published
    }

    /// What cannot be removed now is removed when the upload expires.
    async fn discard_files(&self, upload: &MediaUpload, joined: &str) {
        let _left = self.files.delete(joined).await;
        let _left = self.files.remove_folder(&upload_folder(upload.id)).await;
    }

    async fn join_segments(&self, upload: &MediaUpload, joined: &str) -> Result<u64, Error> {
        let id = upload.id;
        let segments = self.store.read(move |tx| Ok(stored::list_segments(tx, id)?)).await?;
        let names: Vec<String> = segments.iter().map(|segment| segment_path(id, segment.index)).collect();
        self.copy_files(upload, 25, Box::pin(self.files.concatenate(&names, joined))).await
    }

    async fn measure_upload(&self, upload: &MediaUpload, joined: &str, size: u64) -> Result<MeasuredUpload, Error> {
        let _permit = self.decode_permits.acquire().await.map_err(Fault::context("waiting for a decode permit"))?;
        let head = self.files.read_head(joined).await.map_err(storage_unavailable)?;
        let Some(format) = MediaFormat::sniff(&head) else {
            return Ok(Err(MediaRejection::Unknown));
        };
        let length = i64::try_from(size).unwrap_or(i64::MAX);
        let measured = match format {
            MediaFormat::Mp4 => self.measure_video_file(joined, size).await?,
            MediaFormat::Vtt | MediaFormat::Srt => self.measure_subtitles(joined, size, format).await?,
            _ => self.measure_picture(joined, size).await?,
        };
        Ok(measured.and_then(|(mut found, sizes)| {
            found.kind = resolve_kind(upload, found.kind, format)?;
            if found.size == 0 {
                found.size = length;
            }
            Ok((found, sizes))
        }))
    }

    async fn measure_picture(&self, joined: &str, size: u64) -> Result<MeasuredUpload, Error> {
        if size > media::GIF_BYTES {
            return Ok(Err(MediaRejection::TooLarge(media::GIF_BYTES)));
        }
        let bytes = self.files.read_whole(joined).await.map_err(storage_unavailable)?;
        let bytes = bytes.ok_or_else(|| Fault::new("the file of an upload is missing"))?;
        let task = tokio::task::spawn_blocking(move || measure_image(&bytes));
        // A decoder that panics has not recognized the format.
        let image = task.await.unwrap_or(Err(MediaRejection::Unknown));
        let mut stripped_size = 0;
        if let Ok(ImageProperties { stripped: Some(stripped), .. }) = &image {
            stripped_size = i64::try_from(stripped.len()).unwrap_or(i64::MAX);
            let stored_file = self.files.put(joined, stripped.clone()).await;
            stored_file.map_err(storage_unavailable)?;
        }
        Ok(image.map(|image| {
            let suffixes = image.sizes.iter();
            let suffixes = suffixes.map(|resized| format!("{}.{}", resized.size.name, resized.format.extension()));
            let found = ProcessedUpload {
                kind: if image.animated { UploadKind::AnimatedGif } else { UploadKind::Photo },
                content_type: image.format.content_type(),
                extension: image.format.extension(),
                size: stripped_size,
                width: image.width.into(),
                height: image.height.into(),
                duration_ms: i64::try_from(image.duration_ms).unwrap_or(0),
                bit_rate: bit_rate(size, image.duration_ms),
                sizes: suffixes.collect::<Vec<_>>().join(","),
            };
            (found, image.sizes)
        }))
    }

    async fn measure_video_file(&self, joined: &str, size: u64) -> Result<MeasuredUpload, Error> {
        let file = self.files.open_local(joined).await.map_err(storage_unavailable)?;
        let file = file.ok_or_else(|| Fault::new("the file of an upload is missing"))?;
        let task = tokio::task::spawn_blocking(move || measure_video(file, size));
        let video = task.await.unwrap_or(Err(MediaRejection::Unknown));
        Ok(video.map(|video| {
            let found = ProcessedUpload {
                kind: UploadKind::Video,
                content_type: MediaFormat::Mp4.content_type(),
                extension: MediaFormat::Mp4.extension(),
                size: 0,
                width: video.width.into(),
                height: video.height.into(),
                duration_ms: i64::try_from(video.duration_ms).unwrap_or(0),
                bit_rate: i64::try_from(video.bit_rate).unwrap_or(0),
                sizes: String::new(),
            };
            (found, Vec::new())
        }))
    }

    async fn measure_subtitles(&self, joined: &str, size: u64, format: MediaFormat) -> Result<MeasuredUpload, Error> {
        if size > SUBTITLE_BYTES {
            return Ok(Err(MediaRejection::TooLarge(SUBTITLE_BYTES)));
        }
        let bytes = self.files.read_whole(joined).await.map_err(storage_unavailable)?;
        let bytes = bytes.ok_or_else(|| Fault::new("the file of an upload is missing"))?;
        if std::str::from_utf8(&bytes).is_err() {
            return Ok(Err(MediaRejection::Damaged(format)));
        }
        let found = ProcessedUpload {
            kind: UploadKind::Subtitles,
            content_type: format.content_type(),
            extension: format.extension(),
            size: 0,
            width: 0,
            height: 0,
            duration_ms: 0,
            bit_rate: 0,
            sizes: String::new(),
        };
        Ok(Ok((found, Vec::new())))
    }

    /// Moves the files first, so that no record names a missing file.
    async fn publish_media(
        &self,
        upload: &MediaUpload,
        joined: &str,
        found: ProcessedUpload,
        sizes: &[ResizedImage],
    ) -> Result<Media, Error> {
        let path = found.file_path(upload);
        for resized in sizes {
            let name = smaller_path(&path, resized);
            let stored_file = self.files.put(&name, resized.bytes.clone()).await;
            stored_file.map_err(storage_unavailable)?;
        }
        self.copy_files(upload, 75, Box::pin(self.files.rename(joined, &path))).await?;
        let upload = upload.clone();
        self.store.write(move |tx| rules::publish_media(tx, &upload, &found)).await
    }
}

/// The path of a resized image, next to the original.
fn smaller_path(path: &str, resized: &ResizedImage) -> String {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    format!("{stem}.{}.{}", resized.size.name, resized.format.extension())
}

/// The kind of the bytes, if it matches the announced one.
fn resolve_kind(upload: &MediaUpload, found: UploadKind, format: MediaFormat) -> Result<UploadKind, MediaRejection> {
    let key_issued = !upload.media_key.is_empty();
    match (upload.kind.as_str(), found) {
        ("", found) => Ok(found),
        (announced, found) if announced == found.name() => Ok(found),
        // A GIF of one frame, whose key was issued before that was known.
        ("animated_gif", UploadKind::Photo) if key_issued && format == MediaFormat::Gif => Ok(UploadKind::AnimatedGif),
        ("animated_gif", UploadKind::Photo) | ("photo", UploadKind::AnimatedGif) if !key_issued => Ok(found),
        _ => Err(MediaRejection::CategoryMismatch),
    }
}

fn bit_rate(size: u64, duration_ms: u64) -> i64 {
    let rate = size.saturating_mul(8000).checked_div(duration_ms);
    rate.and_then(|rate| i64::try_from(rate).ok()).unwrap_or(0)
}
