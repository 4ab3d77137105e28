//! Why a file is not taken.

use crate::MediaFormat;

/// Why a file is not taken; each displays as the sentence that its sender reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MediaRejection {
    /// It is none of the formats that are taken.
    #[error("The media type is not supported: a JPEG, PNG, WebP, GIF or MP4 file is expected.")]
    Unknown,
    /// It ends before its end.
    #[error("The {} file is incomplete.", .0.name())]
    Truncated(MediaFormat),
    /// Something that its format does not allow.
    #[error("The {} file is damaged.", .0.name())]
    Damaged(MediaFormat),
    /// Bytes behind its end: it may be something else as well.
    #[error("The {} file has bytes behind its end.", .0.name())]
    Trailing(MediaFormat),
    /// Something else than was announced.
    #[error("The file is not of the announced `media_category`.")]
    CategoryMismatch,
    /// More bytes than its kind may have.
    #[error("The file is larger than {0} bytes.")]
    TooLarge(u64),
    /// More pixels than are decoded.
    #[error("The picture of {width}x{height} pixels has too many of them.")]
    TooManyPixels {
        /// How wide it says it is.
        width: u32,
        /// How high it says it is.
        height: u32,
    },
    /// A video of a size that is not played.
    #[error("The video of {width}x{height} pixels is not between 32x32 and 1280x1024.")]
    Dimensions {
        /// How wide it is.
        width: u32,
        /// How high it is.
        height: u32,
    },
    /// A video too short or too long.
    #[error("The video of {0} ms is not between 500 ms and 140000 ms.")]
    Duration(u64),
    /// A video with too many frames in a second.
    #[error("The video has more than 60 frames a second.")]
    FrameRate,
    /// A container without pictures that move.
    #[error("The file has no video track.")]
    NoVideo,
}
