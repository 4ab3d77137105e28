//! Verifies an unpacked file against the zip directory.

use super::ByteStream;
use flate2::Crc;
use std::io::{self, Read};

/// A reader that ends in an error unless length and CRC are as declared.
pub(super) struct VerifiedReader {
    bytes: ByteStream,
    remaining: u64,
    crc: Crc,
    expected_crc: u32,
}

impl VerifiedReader {
    pub(super) fn new(bytes: ByteStream, size: u64, expected_crc: u32) -> Self {
        Self { bytes, remaining: size, crc: Crc::new(), expected_crc }
    }
}

impl Read for VerifiedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let count = self.bytes.read(buffer)?;
        if count == 0 {
            return match (self.remaining, self.crc.sum() == self.expected_crc) {
                (0, true) => Ok(0),
                (0, false) => Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum is wrong")),
                _ => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "shorter than declared")),
            };
        }
        let length = u64::try_from(count).unwrap_or(u64::MAX);
        let Some(remaining) = self.remaining.checked_sub(length) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "longer than declared"));
        };
        self.remaining = remaining;
        self.crc.update(buffer.get(..count).unwrap_or_default());
        Ok(count)
    }
}
