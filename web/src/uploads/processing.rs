//! Turns the segments of an upload into media, or records why it failed.

use std::time::Duration;

use base::{Error, Fault, Refusal, UserId};
use futures_util::future::BoxFuture;
use media::{
    CropPosition, FileStoreError, ImageProperties, MediaFormat, MediaRejection, ResizedImage, SUBTITLE_BYTES,
    crop_image, draw_still_card, measure_image, measure_video,
};
use network::uploads::{self as rules, LEASE_MS, NewUpload, ProcessedUpload, UploadKind};
use store::media::Media;
use store::uploads::{self as stored, MediaUpload, UploadSegment, UploadState};

use super::variants::{MadeVariants, needs_variants};
use super::{IncomingFile, SCRATCH, UploadProcessor, segment_path, storage_unavailable, upload_folder};

/// Bytes of the random part of the name of a file that is being processed.
const ATTEMPT_TOKEN_LENGTH: usize = 8;
/// Failure reason if the file store is unavailable.
const STORE_FAILURE: &str = "The file could not be stored.";

/// Well below the length of a lease.
pub(super) const LEASE_RENEWAL_INTERVAL: Duration = Duration::from_secs(20);

/// Progress when the file is measured and when its variants are made, in percent.
const JOINED_PERCENT: i64 = 25;
const MEASURED_PERCENT: i64 = 50;
const STORING_PERCENT: i64 = 75;

type MeasuredUpload = Result<(ProcessedUpload, Vec<StoredImage>), MediaRejection>;

/// An image that is stored next to the file.
pub(super) struct StoredImage {
    /// `small.jpg`.
    suffix: String,
    bytes: Vec<u8>,
}

/// When the variants of a video or animated GIF are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VariantTime {
    BeforePublishing,
    /// Nobody waits for them.
    AfterPublishing,
}

impl UploadProcessor {
    pub(super) async fn process_upload(&self, upload: &MediaUpload) -> Result<(), Error> {
        let is_full = self.store.read(|tx| Ok(rules::is_queue_full(tx)?)).await?;
        let time = if is_full { VariantTime::AfterPublishing } else { VariantTime::BeforePublishing };
        if let Err(rejection) = self.publish_upload(upload, time, false).await? {
            tracing::info!(upload = %upload.id, error = %rejection, "rejected an upload");
        }
        Ok(())
    }

    /// Creates media from an image or a video of a kind. Other users may post it, too.
    pub fn create_media<'a>(
        &'a self,
        owner: UserId,
        file: &'a IncomingFile,
        video: UploadKind,
        shared_with: Vec<UserId>,
    ) -> BoxFuture<'a, Result<Result<Media, MediaRejection>, Error>> {
        Box::pin(async move {
            let kind = match MediaFormat::sniff(&file.head) {
                Some(MediaFormat::Srt | MediaFormat::Vtt) => return Ok(Err(MediaRejection::CategoryMismatch)),
                format => format.filter(|format| *format == MediaFormat::Mp4).map(|_| video),
            };
            let new = NewUpload { kind, shared_with, ..NewUpload::default() };
            match self.store_file(owner, file, new, false).await? {
                Ok(upload) => self.finish_upload(&upload).await,
                Err(rejection) => Ok(Err(rejection)),
            }
        })
    }

    /// Stores a file as an upload with all its segments, whose limit is that of the file's format. It is processed in
    /// the background if `later`, else by [`UploadProcessor::finish_upload`].
    pub async fn store_file(
        &self,
        owner: UserId,
        file: &IncomingFile,
        new: NewUpload,
        later: bool,
    ) -> Result<Result<MediaUpload, MediaRejection>, Error> {
        let Some(limit) = MediaFormat::sniff(&file.head).map(MediaFormat::byte_limit) else {
            return Ok(Err(MediaRejection::Unknown));
        };
        if file.size > limit {
            return Ok(Err(MediaRejection::TooLarge(limit)));
        }
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let new = NewUpload { limit, ..new };
        let id = self.store.write(move |tx| rules::initialize(tx, owner, &new)).await?.id;
        let segment = UploadSegment { index: 0, size: i64::try_from(file.size).unwrap_or(i64::MAX) };
        self.files.rename(file.name(), &segment_path(id, 0)).await.map_err(storage_unavailable)?;
        let stored = self.store.write(move |tx| {
            let mut upload = rules::add_segment(tx, owner, id, segment, limit)?;
            rules::finalize(tx, &mut upload, later)?;
            Ok(upload)
        });
        Ok(Ok(stored.await?))
    }

    /// Creates media from an upload whose segments are complete. Variants are made later.
    pub fn finish_upload<'a>(
        &'a self,
        upload: &'a MediaUpload,
    ) -> BoxFuture<'a, Result<Result<Media, MediaRejection>, Error>> {
        Box::pin(async move {
            let outcome = Box::pin(self.publish_upload(upload, VariantTime::AfterPublishing, true)).await;
            self.wake();
            outcome
        })
    }

    /// `is_requested` tells whether a request waits for it.
    async fn publish_upload(
        &self,
        upload: &MediaUpload,
        time: VariantTime,
        is_requested: bool,
    ) -> Result<Result<Media, MediaRejection>, Error> {
        // Another worker may take over an upload whose lease has ended.
        let attempt = self.store.context().rng.random_token(ATTEMPT_TOKEN_LENGTH)?;
        let joined = format!("{SCRATCH}/{}-{attempt}", upload.id);
        let Some(size) = self.join_segments(upload, &joined).await? else {
            self.mark_failed(upload, MediaRejection::MissingSegment.to_string()).await?;
            return Ok(Err(MediaRejection::MissingSegment));
        };
        self.renew_lease(upload, MEASURED_PERCENT).await?;
        let measured = self.measure_upload(upload, (&joined, size), is_requested).await;
        if measured.is_err() {
            let _left = self.files.delete(&joined).await;
        }
        let outcome = match measured? {
            Ok((found, images)) => {
                let mut new = NewMedia { found, images, made: MadeVariants::default(), needs_variants: false };
                new.needs_variants = self.has_transcoder() && needs_variants(new.found.kind);
                if new.needs_variants && time == VariantTime::BeforePublishing {
                    let on_progress = |percent: i64| {
                        let share = STORING_PERCENT - MEASURED_PERCENT;
                        self.renew_lease(upload, MEASURED_PERCENT + percent * share / 100)
                    };
                    new.made = self.make_variants(&new.found, upload.id, &joined, on_progress).await?;
                    new.made.add_to(&mut new.found);
                    new.needs_variants = false;
                }
                Ok(self.publish_or_clean_up(upload, &joined, new).await?)
            }
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

    /// Renews the lease while something is awaited.
    async fn renew_lease_during<T>(
        &self,
        upload: &MediaUpload,
        percent: i64,
        mut work: impl Future<Output = T> + Unpin,
    ) -> Result<T, Error> {
        loop {
            tokio::select! {
                result = &mut work => return Ok(result),
                () = tokio::time::sleep(LEASE_RENEWAL_INTERVAL) => self.renew_lease(upload, percent).await?,
            }
        }
    }

    async fn copy_files<T>(
        &self,
        upload: &MediaUpload,
        percent: i64,
        copying: impl Future<Output = Result<T, FileStoreError>> + Unpin,
    ) -> Result<T, Error> {
        self.renew_lease_during(upload, percent, copying).await?.map_err(storage_unavailable)
    }

    async fn mark_failed(&self, upload: &MediaUpload, failure: String) -> Result<(), Error> {
        let id = upload.id;
        let failed = self.store.write(move |tx| Ok(stored::mark_failed(tx, id, &failure)?));
        failed.await
    }

    /// Publishes the media, or removes its files if the store fails or the upload is gone.
    async fn publish_or_clean_up(&self, upload: &MediaUpload, joined: &str, new: NewMedia) -> Result<Media, Error> {
        let path = new.found.file_path(upload);
        let images = new.images.iter().map(|image| path_with_suffix(&path, &image.suffix));
        let names: Vec<String> = images.chain(new.made.paths(&path)).chain([path.clone()]).collect();
        let folder = new.made.folder.clone();
        let published = self.publish_media(upload, joined, &path, new).await;
        self.discard_scratch_folder(folder.as_deref()).await;
        let is_lost = match &published {
            Err(Error::Failed(fault)) => fault.is_caused_by::<FileStoreError>(),
            Err(Error::Refused(refusal)) => matches!(refusal, Refusal::NotFound(_)),
            Ok(_) => false,
        };
        if is_lost {
            for name in names {
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

    /// `None` if one is missing, as after the restore of a backup.
    async fn join_segments(&self, upload: &MediaUpload, joined: &str) -> Result<Option<u64>, Error> {
        let id = upload.id;
        let segments = self.store.read(move |tx| Ok(stored::list_segments(tx, id)?)).await?;
        let names: Vec<String> = segments.iter().map(|segment| segment_path(id, segment.index)).collect();
        let joining = Box::pin(self.files.concatenate(&names, joined));
        match self.renew_lease_during(upload, JOINED_PERCENT, joining).await? {
            Ok(size) => Ok(Some(size)),
            Err(error) if error.is_missing_file() => Ok(None),
            Err(error) => Err(storage_unavailable(error)),
        }
    }

    async fn measure_upload(
        &self,
        upload: &MediaUpload,
        (joined, size): (&str, u64),
        is_requested: bool,
    ) -> Result<MeasuredUpload, Error> {
        let permit = Box::pin(self.acquire_decode_permit(is_requested));
        let _permit = self.renew_lease_during(upload, JOINED_PERCENT, permit).await??;
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
            let images: Vec<StoredImage> = image.sizes.into_iter().map(StoredImage::from).collect();
            let found = ProcessedUpload {
                kind: if image.animated { UploadKind::AnimatedGif } else { UploadKind::Photo },
                content_type: image.format.content_type(),
                extension: image.format.extension(),
                size: stripped_size,
                width: image.width.into(),
                height: image.height.into(),
                duration_ms: i64::try_from(image.duration_ms).unwrap_or(0),
                bit_rate: bit_rate(size, image.duration_ms),
                sizes: images.iter().map(|image| &*image.suffix).collect::<Vec<_>>().join(","),
                variant_files: String::new(),
            };
            (found, images)
        }))
    }

    /// Cuts a picture that was received to `width` : `height`, in place.
    pub fn crop_picture<'a>(
        &'a self,
        file: &'a mut IncomingFile,
        shape: (u32, u32),
        position: CropPosition,
    ) -> BoxFuture<'a, Result<Result<(), MediaRejection>, Error>> {
        Box::pin(async move {
            if file.size > media::IMAGE_BYTES {
                return Ok(Err(MediaRejection::TooLarge(media::IMAGE_BYTES)));
            }
            let _permit = self.acquire_decode_permit(true).await?;
            let bytes = self.files.read_whole(file.name()).await.map_err(storage_unavailable)?;
            let bytes = bytes.ok_or_else(|| Fault::new("the file of a form is missing"))?;
            let task = tokio::task::spawn_blocking(move || crop_image(&bytes, shape, position));
            // A decoder that panics has not recognized the format.
            match task.await.unwrap_or(Err(MediaRejection::Unknown)) {
                Ok(None) => Ok(Ok(())),
                Ok(Some(cropped)) => {
                    file.set_contents(&cropped);
                    self.files.put(file.name(), cropped).await.map_err(storage_unavailable)?;
                    Ok(Ok(()))
                }
                Err(rejection) => Ok(Err(rejection)),
            }
        })
    }

    async fn measure_video_file(&self, joined: &str, size: u64) -> Result<MeasuredUpload, Error> {
        let file = self.files.open_local(joined).await.map_err(storage_unavailable)?;
        let file = file.ok_or_else(|| Fault::new("the file of an upload is missing"))?;
        let task = tokio::task::spawn_blocking(move || measure_video(file, size));
        let video = task.await.unwrap_or(Err(MediaRejection::Unknown));
        Ok(video.map(|video| {
            // A frame replaces it, if one can be decoded.
            let card = draw_still_card(video.width, video.height, video.duration_ms).ok();
            let images: Vec<StoredImage> =
                card.map(|bytes| StoredImage { suffix: STILL_CARD.to_owned(), bytes }).into_iter().collect();
            let found = ProcessedUpload {
                kind: UploadKind::Video,
                content_type: MediaFormat::Mp4.content_type(),
                extension: MediaFormat::Mp4.extension(),
                size: 0,
                width: video.width.into(),
                height: video.height.into(),
                duration_ms: i64::try_from(video.duration_ms).unwrap_or(0),
                bit_rate: i64::try_from(video.bit_rate).unwrap_or(0),
                sizes: images.iter().map(|image| &*image.suffix).collect(),
                variant_files: String::new(),
            };
            (found, images)
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
            ..ProcessedUpload::default()
        };
        Ok(Ok((found, Vec::new())))
    }

    /// Moves the files first, so that no record names a missing file.
    async fn publish_media(
        &self,
        upload: &MediaUpload,
        joined: &str,
        path: &str,
        new: NewMedia,
    ) -> Result<Media, Error> {
        for image in new.images {
            let stored_file = self.files.put(&path_with_suffix(path, &image.suffix), image.bytes).await;
            stored_file.map_err(storage_unavailable)?;
        }
        let copying = Box::pin(async {
            self.store_variants(&new.made, path).await?;
            self.files.rename(joined, path).await
        });
        self.copy_files(upload, STORING_PERCENT, copying).await?;
        let (upload, found, needs_variants) = (upload.clone(), new.found, new.needs_variants);
        self.store.write(move |tx| rules::publish_media(tx, &upload, &found, needs_variants)).await
    }
}

/// What is stored of an upload.
struct NewMedia {
    found: ProcessedUpload,
    images: Vec<StoredImage>,
    made: MadeVariants,
    /// Whether variants are made after publishing.
    needs_variants: bool,
}

const STILL_CARD: &str = "small.jpg";

impl From<ResizedImage> for StoredImage {
    fn from(resized: ResizedImage) -> Self {
        Self { suffix: format!("{}.{}", resized.size.name, resized.format.extension()), bytes: resized.bytes }
    }
}

/// The path of a file next to the original.
pub(super) fn path_with_suffix(path: &str, suffix: &str) -> String {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    format!("{stem}.{suffix}")
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
