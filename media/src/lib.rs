//! Media files: what they are, how large and how long, and where they are kept.
//!
//! What a file is called or said to be counts for nothing here: its bytes decide.

mod bare;
mod bucket;
mod files;
mod format;
mod gif;
mod jpeg;
mod mp4;
mod png;
mod sizes;
mod still;
mod unfit;
mod webp;

pub use bucket::Bucket;
pub use files::{Broken, Files, Piece, Writing};
pub use format::Format;
pub use mp4::{Video, measure_video};
pub use object_store::GetRange;
pub use sizes::{SIZES, Size};
pub use still::{Smaller, Still, measure_still};
pub use unfit::Unfit;

/// Bytes of a still picture.
pub const IMAGE_BYTES: u64 = 5 * 1024 * 1024;
/// Bytes of an animated GIF.
pub const GIF_BYTES: u64 = 15 * 1024 * 1024;
/// Bytes of a video.
pub const VIDEO_BYTES: u64 = 512 * 1024 * 1024;
/// Bytes of subtitles.
pub const SUBTITLE_BYTES: u64 = 1024 * 1024;
