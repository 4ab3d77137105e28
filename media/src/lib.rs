//! Media files: detection, measuring and storage. Only a file's bytes count, not its name or
//! declared type.
//!
//! Functions return boxed futures, so that these are compiled here and not in each crate that awaits them.

mod bucket;
mod crop;
mod file_listing;
mod file_store;
mod file_writer;
mod format;
mod gif;
mod jpeg;
mod mp4;
mod picture;
mod png;
mod rejection;
mod scratch_file;
mod sizes;
mod still_card;
mod strip_metadata;
mod subtitles;
mod transcoding;
mod webp;

pub use bucket::Bucket;
pub use crop::{CropPosition, crop_image};
pub use file_listing::{ListedFile, ListedFiles, NETWORK_FILE};
pub use file_store::{FileRange, FileStore, FileStoreError, SEARCH_INDEX_FOLDER};
pub use file_writer::FileWriter;
pub use format::MediaFormat;
pub use mp4::{VideoProperties, measure_video};
pub use object_store::GetRange;
pub use picture::{ImageProperties, ResizedImage, measure_image, read_image_dimensions};
pub use rejection::MediaRejection;
pub use scratch_file::ScratchFile;
pub use sizes::{ImageSize, SIZES};
pub use still_card::draw_still_card;
pub use subtitles::convert_to_web_vtt;
pub use transcoding::{TranscodeControl, TranscodeError, TranscodeOutput, TranscodeSource, Transcoder};

pub const IMAGE_BYTES: u64 = 5 * 1024 * 1024;
pub const GIF_BYTES: u64 = 15 * 1024 * 1024;
pub const VIDEO_BYTES: u64 = 512 * 1024 * 1024;
pub const SUBTITLE_BYTES: u64 = 1024 * 1024;
