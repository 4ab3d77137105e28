//! Holds an unpacked file to what the zip's directory says of it.

use super::Bytes;
use flate2::Crc;
use std::io::{self, Read};

/// Bytes that end in an error unless their number and checksum are as declared.
pub(super) struct Unpacked {
    bytes: Bytes,
    left: u64,
    crc: Crc,
    want: u32,
}

impl Unpacked {
    pub(super) fn new(bytes: Bytes, size: u64, want: u32) -> Self {
        Self {
            bytes,
            left: size,
            crc: Crc::new(),
            want,
        }
    }
}

impl Read for Unpacked {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        let count = self.bytes.read(into)?;
        if count == 0 {
            return match (self.left, self.crc.sum() == self.want) {
                (0, true) => Ok(0),
                (0, false) => Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "the checksum is wrong",
                )),
                _ => Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "shorter than declared",
                )),
            };
        }
        let taken = u64::try_from(count).unwrap_or(u64::MAX);
        let Some(left) = self.left.checked_sub(taken) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "longer than declared",
            ));
        };
        self.left = left;
        self.crc.update(into.get(..count).unwrap_or_default());
        Ok(count)
    }
}
