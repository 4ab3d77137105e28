//! Where files are kept: in a folder, or in a bucket with a folder beside it for what is not whole yet.

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

use crate::{Bucket, Format};

/// Bytes that are gathered before they are written.
const PART: usize = 1024 * 1024;
/// The same for a bucket, where 5 MiB is the least and all but the last are of one size.
const BUCKET_PART: usize = 8 * 1024 * 1024;
/// Below this is what is on its way: it stays in the folder.
const PASSING: &str = "uploads/";
/// What is written to see whether a bucket takes it.
const CHECK: &str = "locum-check";

/// The store of files failed.
#[derive(Debug, thiserror::Error)]
#[error("the store of files: {0}")]
pub struct Broken(#[from] Error);

/// Files by name. Copies share one store.
#[derive(Clone)]
pub struct Files {
    local: Arc<dyn ObjectStore>,
    bucket: Option<Arc<dyn ObjectStore>>,
    folder: PathBuf,
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.bucket {
            Some(bucket) => write!(f, "Files({bucket}, {})", self.local),
            None => write!(f, "Files({})", self.local),
        }
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
            local: Arc::new(store),
            bucket: None,
            folder: folder.to_owned(),
        })
    }

    /// With a bucket for whatever is whole. What lies in the folder already is still found there.
    pub fn with_bucket(self, bucket: &Bucket) -> Result<Self, Broken> {
        Ok(Self {
            bucket: Some(bucket.open()?),
            ..self
        })
    }

    /// Moves whole files that lie in the folder to the bucket, if there is one: what an import copied,
    /// or what was kept before there was a bucket. How many they were.
    pub async fn settle(&self) -> Result<u64, Broken> {
        let Some(bucket) = &self.bucket else {
            return Ok(0);
        };
        let mut found = self.local.list(None);
        let mut moved = 0;
        while let Some(file) = found.try_next().await? {
            let name = file.location.as_ref();
            if name.starts_with(PASSING) {
                continue;
            }
            // One of the same name and size is what an earlier move left, or an import made again.
            let there = there(bucket.head(&file.location).await)?;
            if there.is_none_or(|kept| kept.size != file.size) {
                self.join(&[name.to_owned()], name).await?;
            }
            self.local.delete(&file.location).await?;
            moved += 1;
        }
        Ok(moved)
    }

    /// Whether the bucket, if there is one, lets files be written and deleted.
    pub async fn check(&self) -> Result<(), Broken> {
        let Some(bucket) = &self.bucket else {
            return Ok(());
        };
        let name = path(CHECK)?;
        bucket
            .put(&name, Bytes::from_static(b"locum").into())
            .await?;
        Ok(bucket.delete(&name).await?)
    }

    /// Where a file of this name is written.
    fn target(&self, name: &str) -> &Arc<dyn ObjectStore> {
        let bucket = self.bucket.as_ref();
        bucket
            .filter(|_| !name.starts_with(PASSING))
            .unwrap_or(&self.local)
    }

    /// Where it may be found: the folder is looked at first, which costs next to nothing.
    fn places(&self, name: &str) -> impl Iterator<Item = &Arc<dyn ObjectStore>> {
        let bucket = self.bucket.as_ref();
        let bucket = bucket.filter(|_| !name.starts_with(PASSING));
        std::iter::once(&self.local).chain(bucket)
    }

    /// Stores a small file whole, in the place of one of the same name.
    pub async fn put(&self, name: &str, bytes: impl Into<Bytes>) -> Result<(), Broken> {
        let target = self.target(name);
        target.put(&path(name)?, bytes.into().into()).await?;
        Ok(())
    }

    /// Begins a file that is there, whole, once it is finished.
    pub async fn write(&self, name: &str) -> Result<Writing, Broken> {
        let target = self.target(name);
        let local = Arc::ptr_eq(target, &self.local);
        Ok(Writing {
            upload: target.put_multipart(&path(name)?).await?,
            part: if local { PART } else { BUCKET_PART },
            held: BytesMut::new(),
            written: 0,
        })
    }

    /// A part of a file, or all of it; none when there is no such file or no such part.
    pub async fn read(&self, name: &str, range: Option<GetRange>) -> Result<Option<Piece>, Broken> {
        let (path, options) = (
            path(name)?,
            GetOptions {
                range,
                ..GetOptions::default()
            },
        );
        for place in self.places(name) {
            if let Some(found) = there(place.get_opts(&path, options.clone()).await)? {
                return Ok(Some(Piece {
                    size: found.meta.size,
                    range: found.range.clone(),
                    bytes: found.into_stream().map_err(Broken).boxed(),
                }));
            }
        }
        Ok(None)
    }

    /// Bytes of a file; none when it is not there.
    pub async fn size(&self, name: &str) -> Result<Option<u64>, Broken> {
        let path = path(name)?;
        for place in self.places(name) {
            if let Some(meta) = there(place.head(&path).await)? {
                return Ok(Some(meta.size));
            }
        }
        Ok(None)
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

    /// A file of the folder to seek in; none when it is not there.
    pub async fn open(&self, name: &str) -> Result<Option<File>, Broken> {
        let Some(found) = there(self.local.get(&path(name)?).await)? else {
            return Ok(None);
        };
        match found.payload {
            GetResultPayload::File(file, _) => Ok(Some(file)),
            GetResultPayload::Stream(_) => Err(Broken(Error::NotImplemented {
                operation: "seeking".to_owned(),
                implementer: self.local.to_string(),
            })),
        }
    }

    /// Puts files one behind the other into one. Only a little of them is in memory at a time.
    pub async fn join(&self, names: &[String], to: &str) -> Result<u64, Broken> {
        let mut writing = self.write(to).await?;
        for name in names {
            if let Err(error) = self.append(name, &mut writing).await {
                writing.abort().await;
                return Err(error);
            }
        }
        writing.finish().await
    }

    async fn append(&self, name: &str, writing: &mut Writing) -> Result<(), Broken> {
        let Some(mut piece) = self.read(name, None).await? else {
            let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(Broken(Error::NotFound {
                path: name.to_owned(),
                source: missing.into(),
            }));
        };
        while let Some(bytes) = piece.bytes.next().await {
            writing.push(&bytes?).await?;
        }
        Ok(())
    }

    /// Gives a file another name, in the place of one that has it.
    pub async fn rename(&self, from: &str, to: &str) -> Result<(), Broken> {
        let target = self.target(to);
        if Arc::ptr_eq(target, self.target(from)) {
            return Ok(target.rename(&path(from)?, &path(to)?).await?);
        }
        self.join(&[from.to_owned()], to).await?;
        self.delete(from).await
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
        let path = path(name)?;
        for place in self.places(name) {
            there(place.delete(&path).await)?;
        }
        Ok(())
    }
}

/// A file while it is written. Dropped before it is finished, it never was.
pub struct Writing {
    upload: Box<dyn MultipartUpload>,
    part: usize,
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
        while self.held.len() >= self.part {
            self.flush().await?;
        }
        Ok(())
    }

    /// Bytes so far.
    pub const fn written(&self) -> u64 {
        self.written
    }

    async fn flush(&mut self) -> Result<(), Broken> {
        let length = self.held.len().min(self.part);
        let part = self.held.split_to(length).freeze();
        Ok(self.upload.put_part(part.into()).await?)
    }

    /// Ends it; how many bytes it has.
    pub async fn finish(mut self) -> Result<u64, Broken> {
        match self.complete().await {
            Ok(()) => Ok(self.written),
            Err(error) => {
                self.abort().await;
                Err(error)
            }
        }
    }

    async fn complete(&mut self) -> Result<(), Broken> {
        if !self.held.is_empty() {
            self.flush().await?;
        }
        self.upload.complete().await?;
        Ok(())
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
