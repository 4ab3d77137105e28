//! Where files are kept: a folder, behind the one interface that other stores have too.

use std::fmt;
use std::fs::File;
use std::ops::Range;
use std::path::{Path as Folder, PathBuf};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    Error, GetOptions, GetRange, GetResultPayload, MultipartUpload, ObjectStore, ObjectStoreExt,
};

use crate::Format;

/// Bytes that are gathered before they are written.
const PART: usize = 1024 * 1024;

/// The store of files failed.
#[derive(Debug, thiserror::Error)]
#[error("the store of files: {0}")]
pub struct Broken(#[from] Error);

/// Files by name. Copies share one store.
#[derive(Clone)]
pub struct Files {
    store: Arc<dyn ObjectStore>,
    folder: PathBuf,
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Files({})", self.store)
    }
}

/// A part of a file, its bytes to come.
pub struct Piece {
    /// Bytes of the whole file.
    pub size: u64,
    /// Which of them come.
    pub range: Range<u64>,
    /// The bytes.
    pub bytes: BoxStream<'static, Result<Bytes, Broken>>,
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Piece({:?} of {})", self.range, self.size)
    }
}

impl Files {
    /// Files in a folder, which is made when it is not there. What was written is on the disk.
    pub fn local(folder: &Folder) -> Result<Self, Broken> {
        std::fs::create_dir_all(folder).map_err(|source| Error::Generic {
            store: "folder",
            source: source.into(),
        })?;
        let store = LocalFileSystem::new_with_prefix(folder)?;
        let store = store.with_automatic_cleanup(true).with_fsync(true);
        Ok(Self {
            store: Arc::new(store),
            folder: folder.to_owned(),
        })
    }

    /// Stores a small file whole, in the place of one of the same name.
    pub async fn put(&self, name: &str, bytes: impl Into<Bytes>) -> Result<(), Broken> {
        self.store.put(&path(name)?, bytes.into().into()).await?;
        Ok(())
    }

    /// Begins a file that is there, whole, once it is finished.
    pub async fn write(&self, name: &str) -> Result<Writing, Broken> {
        Ok(Writing {
            upload: self.store.put_multipart(&path(name)?).await?,
            held: BytesMut::new(),
            written: 0,
        })
    }

    /// A part of a file, or all of it; none when there is no such file or no such part.
    pub async fn read(&self, name: &str, range: Option<GetRange>) -> Result<Option<Piece>, Broken> {
        let options = GetOptions {
            range,
            ..GetOptions::default()
        };
        let Some(found) = there(self.store.get_opts(&path(name)?, options).await)? else {
            return Ok(None);
        };
        Ok(Some(Piece {
            size: found.meta.size,
            range: found.range.clone(),
            bytes: found.into_stream().map_err(Broken).boxed(),
        }))
    }

    /// Bytes of a file; none when it is not there.
    pub async fn size(&self, name: &str) -> Result<Option<u64>, Broken> {
        let found = there(self.store.head(&path(name)?).await)?;
        Ok(found.map(|meta| meta.size))
    }

    /// The first bytes of a file, as many as tell its format.
    pub async fn head(&self, name: &str) -> Result<Bytes, Broken> {
        let end = u64::try_from(Format::HEAD).unwrap_or(0);
        let range = GetRange::Bounded(0..end);
        match self.read(name, Some(range)).await? {
            Some(piece) => gather(piece).await,
            None => Ok(Bytes::new()),
        }
    }

    /// A whole file that is known to be small; none when it is not there.
    pub async fn whole(&self, name: &str) -> Result<Option<Bytes>, Broken> {
        match self.read(name, None).await? {
            Some(piece) => Ok(Some(gather(piece).await?)),
            None => Ok(None),
        }
    }

    /// A file to seek in; none when it is not there.
    pub async fn open(&self, name: &str) -> Result<Option<File>, Broken> {
        let Some(found) = there(self.store.get(&path(name)?).await)? else {
            return Ok(None);
        };
        match found.payload {
            GetResultPayload::File(file, _) => Ok(Some(file)),
            GetResultPayload::Stream(_) => Err(Broken(Error::NotImplemented {
                operation: "seeking".to_owned(),
                implementer: self.store.to_string(),
            })),
        }
    }

    /// Puts files one behind the other into one. Only a little of them is in memory at a time.
    pub async fn join(&self, names: &[String], to: &str) -> Result<u64, Broken> {
        let mut writing = self.write(to).await?;
        for name in names {
            let Some(mut piece) = self.read(name, None).await? else {
                writing.abort().await;
                let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
                return Err(Broken(Error::NotFound {
                    path: name.clone(),
                    source: missing.into(),
                }));
            };
            while let Some(bytes) = piece.bytes.next().await {
                writing.push(&bytes?).await?;
            }
        }
        writing.finish().await
    }

    /// Gives a file another name, in the place of one that has it.
    pub async fn rename(&self, from: &str, to: &str) -> Result<(), Broken> {
        Ok(self.store.rename(&path(from)?, &path(to)?).await?)
    }

    /// Removes all files below a name, what was begun and not ended among them.
    pub fn clear(&self, below: &str) -> Result<(), Broken> {
        let below = path(below)?;
        let removed = std::fs::remove_dir_all(self.folder.join(below.as_ref()));
        match removed {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Broken(Error::Generic {
                    store: "folder",
                    source: error.into(),
                }))
            }
            _ => Ok(()),
        }
    }

    /// Removes a file, if it is there.
    pub async fn delete(&self, name: &str) -> Result<(), Broken> {
        there(self.store.delete(&path(name)?).await).map(|_| ())
    }
}

/// A file while it is written. Dropped before it is finished, it never was.
pub struct Writing {
    upload: Box<dyn MultipartUpload>,
    held: BytesMut,
    written: u64,
}

impl fmt::Debug for Writing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Writing({})", self.written)
    }
}

impl Writing {
    /// Appends bytes.
    pub async fn push(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        self.written = self.written.saturating_add(length(bytes));
        self.held.extend_from_slice(bytes);
        if self.held.len() >= PART {
            self.flush().await?;
        }
        Ok(())
    }

    /// Bytes so far.
    pub const fn written(&self) -> u64 {
        self.written
    }

    async fn flush(&mut self) -> Result<(), Broken> {
        let part = self.held.split().freeze();
        Ok(self.upload.put_part(part.into()).await?)
    }

    /// Ends it; how many bytes it has.
    pub async fn finish(mut self) -> Result<u64, Broken> {
        if !self.held.is_empty() {
            self.flush().await?;
        }
        self.upload.complete().await?;
        Ok(self.written)
    }

    /// Leaves nothing of it.
    pub async fn abort(mut self) {
        // What cannot be removed is swept away later.
        let _left = self.upload.abort().await;
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

async fn gather(piece: Piece) -> Result<Bytes, Broken> {
    let whole = piece.bytes.try_fold(BytesMut::new(), |mut all, bytes| {
        all.extend_from_slice(&bytes);
        std::future::ready(Ok(all))
    });
    Ok(whole.await?.freeze())
}

fn path(name: &str) -> Result<Path, Broken> {
    Ok(Path::parse(name).map_err(Error::from)?)
}

fn there<T>(found: Result<T, Error>) -> Result<Option<T>, Broken> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(Broken(error)),
    }
}

#[cfg(test)]
mod tests {
    use object_store::GetRange;

    use super::Files;

    #[tokio::test]
    async fn files_are_joined_read_in_parts_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::local(&folder.path().join("media")).unwrap();
        files.put("uploads/7/1", "world").await.unwrap();
        files.put("uploads/7/0", "hello ").await.unwrap();
        let names = ["uploads/7/0".to_owned(), "uploads/7/1".to_owned()];
        assert_eq!(files.join(&names, "42/3_42.x.jpg").await.unwrap(), 11);
        let whole = files.whole("42/3_42.x.jpg").await.unwrap().unwrap();
        assert_eq!(whole, "hello world");
        let range = Some(GetRange::Suffix(5));
        let piece = files.read("42/3_42.x.jpg", range).await.unwrap().unwrap();
        assert_eq!((piece.size, piece.range), (11, 6..11));
        files.rename("uploads/7/0", "uploads/7/2").await.unwrap();
        files.delete("uploads/7/2").await.unwrap();
        files.delete("uploads/7/2").await.unwrap();
        assert_eq!(files.size("uploads/7/0").await.unwrap(), None);
        assert!(files.join(&names, "42/other").await.is_err());
        assert_eq!(files.size("42/other").await.unwrap(), None);
        files.clear("uploads/7").unwrap();
        files.clear("uploads/7").unwrap();
        assert_eq!(files.size("uploads/7/1").await.unwrap(), None);
        for name in ["../x", "a/../../b", "/etc/passwd\0"] {
            assert!(!matches!(files.whole(name).await, Ok(Some(_))), "{name}");
        }
    }
}
