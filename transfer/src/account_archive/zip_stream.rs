//! A zip file that is sent in chunks while it is written.

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use base::Fault;
use bytes::Bytes;
use tokio::sync::mpsc;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipWriter};

use crate::error::TransferError;

const CHUNK_BYTES: usize = 64 << 10;

/// What was written and not sent yet.
#[derive(Clone, Default)]
struct ChunkBuffer(Arc<Mutex<Vec<u8>>>);

impl ChunkBuffer {
    fn take_if_longer(&self, length: usize) -> Option<Vec<u8>> {
        let mut bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (bytes.len() > length).then(|| mem::take(&mut *bytes))
    }
}

impl Write for ChunkBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) struct ZipStream {
    zip: ZipWriter<StreamWriter<ChunkBuffer>>,
    buffer: ChunkBuffer,
    out: mpsc::Sender<Result<Bytes, TransferError>>,
}

impl ZipStream {
    pub(super) fn new(out: mpsc::Sender<Result<Bytes, TransferError>>) -> Self {
        let buffer = ChunkBuffer::default();
        Self { zip: ZipWriter::new_stream(buffer.clone()), buffer, out }
    }

    /// Ends the file before it.
    pub(super) fn start_file(&mut self, name: &str) -> Result<(), TransferError> {
        self.start(name, CompressionMethod::Deflated)
    }

    /// As [`Self::start_file`], without compression.
    pub(super) fn start_stored_file(&mut self, name: &str) -> Result<(), TransferError> {
        self.start(name, CompressionMethod::Stored)
    }

    fn start(&mut self, name: &str, method: CompressionMethod) -> Result<(), TransferError> {
        let options = SimpleFileOptions::default().compression_method(method);
        Ok(self.zip.start_file(name, options).map_err(Fault::context("writing an archive"))?)
    }

    /// Waits while the reader is slower. Fails once it has left.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> Result<(), TransferError> {
        self.zip.write_all(bytes).map_err(Fault::context("writing an archive"))?;
        send_longer(&self.buffer, &self.out, CHUNK_BYTES).await
    }

    pub(super) async fn finish(self) -> Result<(), TransferError> {
        let Self { zip, buffer, out } = self;
        zip.finish().map_err(Fault::context("writing an archive"))?;
        send_longer(&buffer, &out, 0).await
    }
}

async fn send_longer(
    buffer: &ChunkBuffer,
    out: &mpsc::Sender<Result<Bytes, TransferError>>,
    length: usize,
) -> Result<(), TransferError> {
    let Some(chunk) = buffer.take_if_longer(length) else {
        return Ok(());
    };
    let sent = out.send(Ok(chunk.into())).await;
    sent.map_err(|_| TransferError::Store(Fault::new("the reader of an archive has left")))
}
