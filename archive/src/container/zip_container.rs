//! A zip file. Every file is read through its own handle, so concurrent reads do not interfere.

use super::verified_reader::VerifiedReader;
use super::{ByteStream, validate_name};
use crate::ArchiveError;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use zip::{CompressionMethod, ZipArchive};

const MAX_UNPACKED_BYTES: u64 = 16 << 30;
/// The compression ratio is limited for files larger than this.
const RATIO_CHECK_BYTES: u64 = 1 << 20;
const MAX_RATIO: u64 = 200;
const LOCAL_HEADER: u64 = 30;

#[derive(Debug)]
pub(crate) struct ZipContainer {
    path: PathBuf,
    pub(super) files: BTreeMap<String, ZipEntry>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ZipEntry {
    header_at: u64,
    length: u64,
    size: u64,
    crc: u32,
    compression: ZipCompression,
}

#[derive(Debug, Clone, Copy)]
enum ZipCompression {
    Stored,
    Deflated,
    Unsupported(&'static str),
}

impl ZipContainer {
    pub(super) fn open(path: &Path) -> Result<Self, ArchiveError> {
        let shown = path.display().to_string();
        let file = File::open(path).map_err(|source| ArchiveError::from_io(&shown, source))?;
        let zip_error =
            |error: zip::result::ZipError| ArchiveError::BrokenZip { file: shown.clone(), why: error.to_string() };
        let zip = ZipArchive::new(BufReader::new(file)).map_err(zip_error)?;
        let mut files = BTreeMap::new();
        for index in 0..zip.len() {
            let entry = zip.by_index_data(index).map_err(zip_error)?;
            let name = entry.name().map_err(zip_error)?;
            if entry.is_dir() || entry.is_symlink() {
                continue;
            }
            if let Some(name) = validate_name(&name)? {
                let zip_entry = ZipEntry {
                    header_at: entry.header_start(),
                    length: entry.compressed_size(),
                    size: entry.size(),
                    crc: entry.crc32(),
                    compression: zip_compression(entry.encrypted(), entry.compression()),
                };
                files.insert(name.to_owned(), zip_entry);
            }
        }
        Ok(Self { path: path.to_owned(), files })
    }

    pub(super) fn open_file(&self, name: &str) -> Result<(ByteStream, u64), ArchiveError> {
        let entry = self.files.get(name);
        let entry = *entry.ok_or_else(|| ArchiveError::Missing(name.to_owned()))?;
        entry.check_size(name)?;
        let failed = |source| ArchiveError::from_io(name, source);
        let mut file = File::open(&self.path).map_err(failed)?;
        seek_to_data(&mut file, entry.header_at).map_err(failed)?;
        let bytes = BufReader::with_capacity(1 << 16, file).take(entry.length);
        let plain: ByteStream = match entry.compression {
            ZipCompression::Stored => Box::new(bytes),
            ZipCompression::Deflated => Box::new(flate2::bufread::DeflateDecoder::new(bytes)),
            ZipCompression::Unsupported(why) => {
                let file = name.to_owned();
                return Err(ArchiveError::Packing { file, why });
            }
        };
        let unpacked = VerifiedReader::new(plain, entry.size, entry.crc);
        Ok((Box::new(unpacked), entry.size))
    }
}

impl ZipEntry {
    fn check_size(&self, name: &str) -> Result<(), ArchiveError> {
        let why = if self.size > MAX_UNPACKED_BYTES {
            "it unpacks to more than 16 GiB"
        } else if self.size > RATIO_CHECK_BYTES && self.size / self.length.max(1) > MAX_RATIO {
            "it unpacks to more than 200 times its size"
        } else {
            return Ok(());
        };
        let file = name.to_owned();
        Err(ArchiveError::Bomb { file, why })
    }
}

fn zip_compression(encrypted: bool, method: CompressionMethod) -> ZipCompression {
    match method {
        _ if encrypted => ZipCompression::Unsupported("it is encrypted"),
        CompressionMethod::Stored => ZipCompression::Stored,
        CompressionMethod::Deflated => ZipCompression::Deflated,
        _ => ZipCompression::Unsupported("it is neither stored nor deflated"),
    }
}

/// The local header may be longer than the directory declares, so it is parsed.
fn seek_to_data(file: &mut File, header_at: u64) -> std::io::Result<()> {
    file.seek(SeekFrom::Start(header_at))?;
    let mut header = [0; 30];
    file.read_exact(&mut header)?;
    let [.., n0, n1, e0, e1] = header;
    if !header.starts_with(b"PK\x03\x04") {
        return Err(std::io::Error::other("there is no file at the offset in the zip directory"));
    }
    let names = u64::from(u16::from_le_bytes([n0, n1])) + u64::from(u16::from_le_bytes([e0, e1]));
    file.seek(SeekFrom::Start(header_at + LOCAL_HEADER + names))?;
    Ok(())
}
