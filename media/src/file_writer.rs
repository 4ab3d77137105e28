//! Files that are written in parts.

use std::fmt;
use std::sync::Arc;

use bytes::BytesMut;
use futures_util::future::BoxFuture;
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt};

use crate::FileStoreError;

/// Bytes buffered before they are written.
const PART_BYTES: usize = 1024 * 1024;
/// The same for a bucket, where 5 MiB is the minimum and all parts but the last have the same size.
const BUCKET_PART_BYTES: usize = 8 * 1024 * 1024;

/// A file being written. It does not appear when dropped before [`finish`](Self::finish).
pub struct FileWriter {
    target: Arc<dyn ObjectStore>,
    path: Path,
    /// None for a file of less than a part.
    upload: Option<Box<dyn MultipartUpload>>,
    part_bytes: usize,
    buffer: BytesMut,
    written: u64,
}

impl fmt::Debug for FileWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileWriter({})", self.written)
    }
}

impl FileWriter {
    pub(crate) fn new(target: Arc<dyn ObjectStore>, path: Path, is_local: bool) -> Self {
        let part_bytes = if is_local { PART_BYTES } else { BUCKET_PART_BYTES };
        Self { target, path, upload: None, part_bytes, buffer: BytesMut::new(), written: 0 }
    }

    pub async fn append(&mut self, bytes: &[u8]) -> Result<(), FileStoreError> {
        self.written = self.written.saturating_add(byte_length(bytes));
        self.buffer.extend_from_slice(bytes);
        while self.buffer.len() >= self.part_bytes {
            self.flush_part().await?;
        }
        Ok(())
    }

    pub const fn bytes_written(&self) -> u64 {
        self.written
    }

    fn flush_part(&mut self) -> BoxFuture<'_, Result<(), FileStoreError>> {
        Box::pin(async move {
            let length = self.buffer.len().min(self.part_bytes);
            let part = self.buffer.split_to(length).freeze();
            let upload = match &mut self.upload {
                Some(upload) => upload,
                none => none.insert(self.target.put_multipart(&self.path).await?),
            };
            Ok(upload.put_part(part.into()).await?)
        })
    }

    /// Returns the number of bytes written.
    pub fn finish(mut self) -> BoxFuture<'static, Result<u64, FileStoreError>> {
        Box::pin(async move {
            match self.complete_upload().await {
                Ok(()) => Ok(self.written),
                Err(error) => {
                    self.abort().await;
                    Err(error)
                }
            }
        })
    }

    async fn complete_upload(&mut self) -> Result<(), FileStoreError> {
        if self.upload.is_none() {
            let whole = std::mem::take(&mut self.buffer).freeze();
            self.target.put(&self.path, whole.into()).await?;
            return Ok(());
        }
        if !self.buffer.is_empty() {
            self.flush_part().await?;
        }
        if let Some(upload) = &mut self.upload {
            upload.complete().await?;
        }
        Ok(())
    }

    pub fn abort(mut self) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            // What cannot be removed now is cleaned up later.
            if let Some(mut upload) = self.upload.take() {
                let _leftover = upload.abort().await;
            }
        })
    }
}

fn byte_length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
