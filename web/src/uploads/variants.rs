//! Makes videos and stills of uploaded videos and animated GIFs, one at a time.

use std::sync::Arc;

use base::clock::monotonic_now;
use base::{Error, Fault, MediaId};
use media::{
    FileStoreError, MediaFormat, TranscodeControl, TranscodeError, TranscodeOutput, TranscodeSource, Transcoder,
};
use network::uploads::{self as rules, LEASE_MS, ProcessedUpload, UploadKind};
use store::media::Media;
use store::uploads::{self as stored, MediaUpload};

use super::processing::{LEASE_RENEWAL_INTERVAL, path_with_suffix};
use super::{SCRATCH, UploadProcessor, storage_unavailable};

/// Of the progress that clients are told.
const PROGRESS_INTERVAL: std::time::Duration = std::time::Duration::from_secs(1);

/// Files in a folder of this process.
#[derive(Debug, Default)]
pub(super) struct MadeVariants {
    /// None if nothing was tried.
    pub(super) folder: Option<String>,
    has_still: bool,
    /// Suffixes and bits per second.
    videos: Vec<(String, i64)>,
}

impl MadeVariants {
    fn suffixes(&self) -> impl Iterator<Item = String> {
        let still = self.has_still.then(|| TranscodeOutput::Still.suffix());
        still.into_iter().chain(self.videos.iter().map(|(suffix, _)| suffix.clone()))
    }

    /// The paths next to a file.
    pub(super) fn paths(&self, original: &str) -> Vec<String> {
        self.suffixes().map(|suffix| path_with_suffix(original, &suffix)).collect()
    }

    fn sizes(&self, before: &str) -> String {
        // The still has the name of the card or of the first frame.
        if before.is_empty() && self.has_still { TranscodeOutput::Still.suffix() } else { before.to_owned() }
    }

    fn variant_files(&self) -> String {
        let videos = self.videos.iter().map(|(suffix, bit_rate)| format!("{suffix}:{bit_rate}"));
        videos.collect::<Vec<_>>().join(",")
    }

    pub(super) fn add_to(&self, found: &mut ProcessedUpload) {
        found.sizes = self.sizes(&found.sizes);
        found.variant_files = self.variant_files();
    }
}

pub(super) const fn needs_variants(kind: UploadKind) -> bool {
    matches!(kind, UploadKind::AnimatedGif | UploadKind::Video | UploadKind::AmplifyVideo)
}

/// Ends ffmpeg when the future that waits for it is dropped.
struct CancelOnDrop(Arc<TranscodeControl>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl UploadProcessor {
    pub(super) const fn has_transcoder(&self) -> bool {
        self.transcoder.is_some()
    }

    /// Makes the variants of published media.
    pub(super) async fn make_missing_variants(&self, upload: &MediaUpload) -> Result<(), Error> {
        let id = upload.id;
        match self.store.read(move |tx| Ok(store::media::find_by_id(tx, id)?)).await? {
            Some(media) => self.add_variants(upload, &media).await,
            None => self.store.write(move |tx| rules::publish_variants(tx, id, None)).await.map(|_| ()),
        }
    }

    async fn add_variants(&self, upload: &MediaUpload, media: &Media) -> Result<(), Error> {
        let id = media.id;
        let extend_lease = |_percent| {
            self.store.write(move |tx| {
                let until = tx.now().plus_ms(LEASE_MS);
                Ok(stored::extend_variants_lease(tx, id, until)?)
            })
        };
        let source = format!("{SCRATCH}/{}-{}.source", upload.id, self.store.context().node.incarnation());
        let copied = self.files.concatenate(std::slice::from_ref(&media.path), &source).await;
        copied.map_err(storage_unavailable)?;
        let found = properties(media);
        let made = self.make_variants(&found, id, &source, extend_lease).await?;
        let outcome = self.publish_variants(media, &made).await;
        let _left = self.files.delete(&source).await;
        self.discard_scratch_folder(made.folder.as_deref()).await;
        outcome
    }

    async fn publish_variants(&self, media: &Media, made: &MadeVariants) -> Result<(), Error> {
        self.store_variants(made, &media.path).await.map_err(storage_unavailable)?;
        let (id, sizes, videos) = (media.id, made.sizes(&media.sizes), made.variant_files());
        let published = self.store.write(move |tx| {
            let published = rules::publish_variants(tx, id, Some((&sizes, &videos)))?;
            Ok((published, store::media::find_by_id(tx, id)?))
        });
        let (is_published, current) = published.await?;
        if is_published {
            return Ok(());
        }
        let kept = current.map(|media| media.file_paths()).unwrap_or_default();
        for path in made.paths(&media.path).into_iter().filter(|path| !kept.contains(path)) {
            self.files.delete(&path).await.map_err(storage_unavailable)?;
        }
        Ok(())
    }

    /// Copies variants to their place next to the original.
    pub(super) async fn store_variants(&self, made: &MadeVariants, original: &str) -> Result<(), FileStoreError> {
        let Some(folder) = &made.folder else {
            return Ok(());
        };
        for suffix in made.suffixes() {
            self.files.rename(&format!("{folder}/{suffix}"), &path_with_suffix(original, &suffix)).await?;
        }
        Ok(())
    }

    /// What cannot be removed now is removed like other leftovers.
    pub(super) async fn discard_scratch_folder(&self, folder: Option<&str>) {
        if let Some(folder) = folder {
            let _left = self.files.remove_folder(folder).await;
        }
    }

    /// Makes all variants of a file of the local folder. After a failure, those are left out that were not made; the
    /// original can be played in any case.
    pub(super) async fn make_variants<F: Future<Output = Result<(), Error>>>(
        &self,
        found: &ProcessedUpload,
        id: MediaId,
        source: &str,
        on_progress: impl Fn(i64) -> F,
    ) -> Result<MadeVariants, Error> {
        let folder = format!("{SCRATCH}/{id}-{}.variants", self.store.context().node.incarnation());
        let mut made = MadeVariants { folder: Some(folder.clone()), ..MadeVariants::default() };
        let Some((transcoder, source)) = self.transcoder.clone().zip(self.transcode_source(found, source)) else {
            return Ok(made);
        };
        let target = self.files.local_path(&folder);
        std::fs::create_dir_all(&target).map_err(Fault::context("creating a folder for variants"))?;
        let outputs = source.outputs();
        let count = i64::try_from(outputs.len()).unwrap_or(1);
        for (place, output) in (0_i64..).zip(outputs) {
            let report = |percent: i64| on_progress((place * 100 + percent) / count);
            let job = (Arc::clone(&transcoder), source.clone(), output, target.clone());
            match self.run_transcoder(job, report).await? {
                Ok(_) if output == TranscodeOutput::Still => made.has_still = true,
                Ok(size) => made.videos.extend(kept_video(&source, output, size)),
                Err(error) => {
                    tracing::warn!(media = %id, %error, "failed to transcode; the original is shown instead");
                    break;
                }
            }
        }
        Ok(made)
    }

    fn transcode_source(&self, found: &ProcessedUpload, source: &str) -> Option<TranscodeSource> {
        Some(TranscodeSource {
            path: std::path::absolute(self.files.local_path(source)).ok()?,
            format: MediaFormat::from_extension(found.extension)?,
            width: u32::try_from(found.width).ok()?,
            height: u32::try_from(found.height).ok()?,
            duration_ms: u64::try_from(found.duration_ms).ok()?,
            size: u64::try_from(found.size).ok()?,
        })
    }

    /// The size of the written file in bytes. Reports progress while it runs, which also extends the lease.
    async fn run_transcoder<F: Future<Output = Result<(), Error>>>(
        &self,
        (transcoder, source, output, folder): (Arc<Transcoder>, TranscodeSource, TranscodeOutput, std::path::PathBuf),
        report: impl Fn(i64) -> F,
    ) -> Result<Result<u64, TranscodeError>, Error> {
        let control = Arc::new(TranscodeControl::default());
        let _guard = CancelOnDrop(Arc::clone(&control));
        let (watched, started) = (Arc::clone(&control), monotonic_now());
        let mut running =
            tokio::task::spawn_blocking(move || transcoder.run(&source, output, &folder, (&watched, started)));
        report(0).await?;
        let (mut reported, mut reported_at) = (0, started);
        loop {
            tokio::select! {
                ended = &mut running => return Ok(ended.map_err(Fault::context("running ffmpeg"))?),
                () = tokio::time::sleep(PROGRESS_INTERVAL) => {}
            }
            let percent = i64::from(control.percent());
            if percent != reported || reported_at.elapsed() >= LEASE_RENEWAL_INTERVAL {
                (reported, reported_at) = (percent, monotonic_now());
                report(percent).await?;
            }
        }
    }
}

/// None for a version that would need more than the original.
fn kept_video(source: &TranscodeSource, output: TranscodeOutput, size: u64) -> Option<(String, i64)> {
    if output == TranscodeOutput::Animation {
        return Some((output.suffix(), 0));
    }
    let bit_rate = size.saturating_mul(8000).checked_div(source.duration_ms)?;
    (size < source.size).then(|| Some((output.suffix(), i64::try_from(bit_rate).ok()?)))?
}

/// Those of a published file that matter for its variants.
fn properties(media: &Media) -> ProcessedUpload {
    let format = media.path.rsplit('.').next().and_then(MediaFormat::from_extension);
    let format = format.unwrap_or(MediaFormat::Mp4);
    ProcessedUpload {
        kind: if media.kind == "animated_gif" { UploadKind::AnimatedGif } else { UploadKind::Video },
        content_type: format.content_type(),
        extension: format.extension(),
        size: media.size,
        width: media.width,
        height: media.height,
        duration_ms: media.duration_ms,
        bit_rate: media.bit_rate,
        sizes: media.sizes.clone(),
        variant_files: String::new(),
    }
}
