//! Video properties, read from the tables of an MP4 file without decoding a frame.

use std::io::{Read, Seek, SeekFrom};

use mp4_atom::{
    Atom, Co64, Decode, Elst, FourCC, Hdlr, Header, Mdhd, Moof, Mvhd, ReadFrom, Stco, Stsz, StszSamples, Stts, Tkhd,
    Trex,
};

use crate::{MediaFormat, MediaRejection, VIDEO_BYTES};

/// Of one box of tables, which is read into memory.
const MAX_TABLE_BYTES: u64 = 8 * 1024 * 1024;
/// Of all boxes of tables in a file.
const MAX_ALL_TABLES_BYTES: u64 = 32 * 1024 * 1024;
/// Boxes on the outermost level.
const MAX_BOXES: u32 = 20_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VideoProperties {
    /// As it is shown, which may be turned.
    pub width: u32,
    pub height: u32,
    /// As it is shown, without what an edit list leaves out.
    pub duration_ms: u64,
    /// Bits per second, over all tracks.
    pub bit_rate: u64,
}

#[derive(Clone, Debug, Default)]
struct VideoTrack {
    id: u32,
    width: u32,
    height: u32,
    timescale: u64,
    /// In units of `timescale`.
    ticks: u64,
    samples: u64,
    /// What the edit list shows, in units of the movie's time scale; 0 without one.
    shown_ticks: u64,
    shown_ms: Option<u64>,
    /// The highest chunk offset in the tables.
    last_chunk: u64,
    default_ticks: u64,
}

/// Measures a video of `size` bytes and checks it against the limits for shared videos.
pub fn measure_video(mut file: impl Read + Seek, size: u64) -> Result<VideoProperties, MediaRejection> {
    if size > VIDEO_BYTES {
        return Err(MediaRejection::TooLarge(VIDEO_BYTES));
    }
    let track = read_video_track(&mut file, size)?;
    if track.last_chunk >= size {
        return Err(truncated_error());
    }
    if track.timescale == 0 || track.samples == 0 {
        return Err(damaged_error());
    }
    let media_ms = track.ticks.saturating_mul(1000) / track.timescale;
    let duration_ms = track.shown_ms.map_or(media_ms, |shown| shown.min(media_ms));
    let (width, height) = (track.width, track.height);
    let landscape = (32..=1280).contains(&width) && (32..=1024).contains(&height);
    let portrait = (32..=1024).contains(&width) && (32..=1280).contains(&height);
    if !landscape && !portrait {
        return Err(MediaRejection::Dimensions { width, height });
    }
    if !(500..=140_000).contains(&duration_ms) {
        return Err(MediaRejection::Duration(duration_ms));
    }
    // Rounded times may make 60 frames look like slightly more.
    if track.samples.saturating_mul(100_000) / media_ms > 60_50 {
        return Err(MediaRejection::FrameRate);
    }
    Ok(VideoProperties { width, height, duration_ms, bit_rate: size.saturating_mul(8000) / media_ms })
}

/// Walks the outermost boxes, which must fill the file exactly.
fn read_video_track(file: &mut (impl Read + Seek), size: u64) -> Result<VideoTrack, MediaRejection> {
    let (mut position, mut boxes, mut table_bytes) = (0, 0, 0_u64);
    let (mut track, mut has_file_type, mut has_data) = (None::<VideoTrack>, false, false);
    while position < size {
        file.seek(SeekFrom::Start(position)).map_err(|_| truncated_error())?;
        let header =
            Header::read_from(file).map_err(|_| if boxes == 0 { damaged_error() } else { truncated_error() })?;
        let start = file.stream_position().map_err(|_| truncated_error())?;
        let length = header.size.map_or(size.saturating_sub(start), to_u64);
        let end = start.checked_add(length).ok_or_else(damaged_error)?;
        boxes += 1;
        if !is_printable_type(header.kind) {
            return Err(if has_file_type { MediaRejection::Trailing(MediaFormat::Mp4) } else { damaged_error() });
        }
        if end > size {
            return Err(truncated_error());
        }
        if boxes > MAX_BOXES {
            return Err(damaged_error());
        }
        let kind = <[u8; 4]>::from(header.kind);
        if matches!(&kind, b"moov" | b"moof") {
            table_bytes = table_bytes.saturating_add(length);
        }
        if table_bytes > MAX_ALL_TABLES_BYTES {
            return Err(damaged_error());
        }
        match kind.as_slice() {
            b"ftyp" => has_file_type = true,
            b"moov" if track.is_some() => return Err(damaged_error()),
            b"moov" => track = Some(parse_movie(&read_box_body(file, length)?)?),
            b"moof" => {
                let bytes = read_box_body(file, length)?;
                add_fragment(track.as_mut().ok_or_else(damaged_error)?, &bytes)?;
            }
            b"mdat" => has_data = true,
            _ => {}
        }
        position = end;
    }
    let track = track.ok_or_else(truncated_error)?;
    if !has_file_type {
        return Err(damaged_error());
    }
    if !has_data {
        return Err(truncated_error());
    }
    Ok(track)
}

const fn damaged_error() -> MediaRejection {
    MediaRejection::Damaged(MediaFormat::Mp4)
}

const fn truncated_error() -> MediaRejection {
    MediaRejection::Truncated(MediaFormat::Mp4)
}

fn to_u64(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

fn is_printable_type(kind: FourCC) -> bool {
    let name: [u8; 4] = kind.into();
    name.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ')
}

fn read_box_body(file: &mut impl Read, length: u64) -> Result<Vec<u8>, MediaRejection> {
    if length > MAX_TABLE_BYTES {
        return Err(damaged_error());
    }
    let mut bytes = Vec::new();
    let read = file.take(length).read_to_end(&mut bytes);
    match read {
        Ok(read) if to_u64(read) == length => Ok(bytes),
        _ => Err(truncated_error()),
    }
}

fn child_boxes(mut bytes: &[u8]) -> Result<Vec<(FourCC, &[u8])>, MediaRejection> {
    let mut all = Vec::new();
    while bytes.len() >= 8 {
        let header = Header::decode(&mut bytes).map_err(|_| damaged_error())?;
        let size = header.size.unwrap_or(bytes.len());
        let (content, rest) = bytes.split_at_checked(size).ok_or_else(damaged_error)?;
        all.push((header.kind, content));
        bytes = rest;
    }
    Ok(all)
}

fn find_child<'b>(all: &[(FourCC, &'b [u8])], kind: [u8; 4]) -> Option<&'b [u8]> {
    let kind = FourCC::new(&kind);
    all.iter().find(|(name, _)| *name == kind).map(|(_, content)| *content)
}

fn decode_atom<A: Atom>(bytes: Option<&[u8]>) -> Result<A, MediaRejection> {
    A::decode_body(&mut bytes.ok_or_else(damaged_error)?).map_err(|_| damaged_error())
}

fn parse_movie(bytes: &[u8]) -> Result<VideoTrack, MediaRejection> {
    let movie = child_boxes(bytes)?;
    let video = movie.iter().filter(|(name, _)| *name == FourCC::new(b"trak"));
    let mut found = None;
    for (_, content) in video {
        found = parse_track(content)?;
        if found.is_some() {
            break;
        }
    }
    let mut track = found.ok_or(MediaRejection::NoVideo)?;
    if let Ok(head) = decode_atom::<Mvhd>(find_child(&movie, *b"mvhd"))
        && track.shown_ticks > 0
    {
        track.shown_ms = track.shown_ticks.saturating_mul(1000).checked_div(u64::from(head.timescale));
    }
    if let Some(extends) = find_child(&movie, *b"mvex") {
        // The edit list does not know the fragments.
        track.shown_ms = None;
        for (name, content) in child_boxes(extends)? {
            if name == Trex::KIND {
                let trex: Trex = decode_atom(Some(content))?;
                if trex.track_id == track.id {
                    track.default_ticks = u64::from(trex.default_sample_duration);
                }
            }
        }
    }
    Ok(track)
}

fn parse_track(bytes: &[u8]) -> Result<Option<VideoTrack>, MediaRejection> {
    let track = child_boxes(bytes)?;
    let media = child_boxes(find_child(&track, *b"mdia").ok_or_else(damaged_error)?)?;
    let handler: Hdlr = decode_atom(find_child(&media, *b"hdlr"))?;
    if handler.handler != FourCC::new(b"vide") {
        return Ok(None);
    }
    let head: Tkhd = decode_atom(find_child(&track, *b"tkhd"))?;
    let time: Mdhd = decode_atom(find_child(&media, *b"mdhd"))?;
    let content = child_boxes(find_child(&media, *b"minf").ok_or_else(damaged_error)?)?;
    let tables = child_boxes(find_child(&content, *b"stbl").ok_or_else(damaged_error)?)?;
    let times: Stts = decode_atom(find_child(&tables, *b"stts"))?;
    let sizes: Stsz = decode_atom(find_child(&tables, *b"stsz"))?;
    let (width, height) = visual_dimensions(find_child(&tables, *b"stsd").ok_or_else(damaged_error)?)
        .unwrap_or((u32::from(head.width.integer()), u32::from(head.height.integer())));
    let is_turned = head.matrix.a == 0 && head.matrix.d == 0 && head.matrix.b != 0;
    let (width, height) = if is_turned { (height, width) } else { (width, height) };
    let samples = match &sizes.samples {
        StszSamples::Identical { count, .. } => u64::from(*count),
        StszSamples::Different { sizes } => to_u64(sizes.len()),
    };
    let ticks = times
        .entries
        .iter()
        .fold(0_u64, |sum, entry| sum.saturating_add(u64::from(entry.sample_count) * u64::from(entry.sample_delta)));
    let last_chunk = match (find_child(&tables, *b"stco"), find_child(&tables, *b"co64")) {
        (Some(bytes), _) => {
            let places: Stco = decode_atom(Some(bytes))?;
            places.entries.iter().copied().map(u64::from).max()
        }
        (None, bytes) => decode_atom::<Co64>(bytes)?.entries.iter().copied().max(),
    };
    // One that cannot be read changes nothing: it only refines the duration.
    let edits = child_boxes(find_child(&track, *b"edts").unwrap_or_default()).unwrap_or_default();
    let edits = decode_atom::<Elst>(find_child(&edits, *b"elst")).map(|list| list.entries).unwrap_or_default();
    let shown = edits.iter().filter(|entry| entry.media_time.is_some());
    let shown_ticks = shown.fold(0_u64, |sum, entry| sum.saturating_add(entry.segment_duration));
    Ok(Some(VideoTrack {
        id: head.track_id,
        shown_ticks,
        shown_ms: None,
        width,
        height,
        timescale: u64::from(time.timescale),
        ticks,
        samples,
        last_chunk: last_chunk.unwrap_or(0),
        default_ticks: 0,
    }))
}

/// Width and height of the first sample description.
fn visual_dimensions(bytes: &[u8]) -> Option<(u32, u32)> {
    // Skips a version, a count, a box header and the common fields of visual sample entries.
    let [a, b, c, d] = *bytes.get(40..)?.first_chunk::<4>()?;
    let size = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    (size.0 > 0 && size.1 > 0).then(|| (u32::from(size.0), u32::from(size.1)))
}

fn add_fragment(track: &mut VideoTrack, bytes: &[u8]) -> Result<(), MediaRejection> {
    let moof: Moof = decode_atom(Some(bytes))?;
    for part in moof.traf.iter().filter(|part| part.tfhd.track_id == track.id) {
        let default_ticks = part.tfhd.default_sample_duration.map(u64::from);
        let default_ticks = default_ticks.unwrap_or(track.default_ticks);
        for run in &part.trun {
            let count = to_u64(run.samples.len());
            let ticks = match &run.samples {
                mp4_atom::TrunSamples::Inherited { .. } => default_ticks.saturating_mul(count),
                mp4_atom::TrunSamples::Explicit(entries) => entries
                    .iter()
                    .fold(0, |sum, entry| entry.duration.map_or(default_ticks, u64::from).saturating_add(sum)),
            };
            track.samples = track.samples.saturating_add(count);
            track.ticks = track.ticks.saturating_add(ticks);
        }
    }
    Ok(())
}
