//! Reasons for rejecting a media file.

use crate::MediaFormat;

/// Displays as the message that the uploader reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MediaRejection {
    #[error("The media type is not supported: a JPEG, PNG, WebP, GIF or MP4 file is expected.")]
    Unknown,
    #[error("A part of the file is missing: upload it again.")]
    MissingSegment,
    #[error("The {} file is incomplete.", .0.name())]
    Truncated(MediaFormat),
    #[error("The {} file is damaged.", .0.name())]
    Damaged(MediaFormat),
    /// There are bytes after the end: the file may be of another format as well.
    #[error("The {} file has bytes behind its end.", .0.name())]
    Trailing(MediaFormat),
    #[error("The file is not of the announced `media_category`.")]
    CategoryMismatch,
    /// The maximum in bytes.
    #[error("The file is larger than {} MB.", .0 / (1024 * 1024))]
    TooLarge(u64),
    #[error("The picture of {width}x{height} pixels has too many of them.")]
    TooManyPixels { width: u32, height: u32 },
    #[error("The animated picture of {width}x{height} pixels has too many frames: {frames}.")]
    TooManyFrames { width: u32, height: u32, frames: u32 },
    #[error("The video of {width}x{height} pixels is not between 32x32 and 1280x1024.")]
    Dimensions { width: u32, height: u32 },
    /// In milliseconds.
    #[error("The video of {0} ms is not between 500 ms and 140000 ms.")]
    Duration(u64),
    #[error("The video has more than 60 frames a second.")]
    FrameRate,
    #[error("The file has no video track.")]
    NoVideo,
}
