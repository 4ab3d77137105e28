//! Runs ffmpeg on uploaded videos and animated GIFs, whose bytes nobody has vouched for.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::sizes::SMALL;
use crate::{MediaFormat, VIDEO_BYTES, measure_image};

/// The shorter sides of the versions of a video, in pixels.
const LINES: [u32; 2] = [320, 720];
/// The longest side of the video of an animated GIF, in pixels.
const MAX_ANIMATION_SIDE: u32 = 1280;
/// Address space of the process; two threads of ffmpeg with its libraries need about a third.
const MEMORY_BYTES: u64 = 1024 * 1024 * 1024;
const MIN_FILE_BYTES: u64 = 16 * 1024 * 1024;
/// What a decoder may be told to allocate a picture for.
const MAX_VIDEO_PIXELS: u32 = 1280 * 1280 * 2;
const MAX_GIF_PIXELS: u32 = 16 * 1024 * 1024;
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Of the messages of a failed process.
const MAX_MESSAGE_BYTES: usize = 1024;

/// Where ffmpeg is and how long it may run.
#[derive(Clone, Debug)]
pub struct Transcoder {
    pub ffmpeg: PathBuf,
    /// Of one process.
    pub timeout: Duration,
}

#[derive(Clone, Debug)]
pub struct TranscodeSource {
    /// Absolute.
    pub path: PathBuf,
    /// MP4 or GIF: what ffmpeg reads the file as, whatever is in it.
    pub format: MediaFormat,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    pub duration_ms: u64,
    /// Bytes.
    pub size: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscodeOutput {
    /// A frame of a video as JPEG, in the smallest of the sizes of photos.
    Still,
    /// An animated GIF as MP4.
    Animation,
    /// A video as MP4 (H.264 and AAC) whose shorter side has this many pixels.
    Lines(u32),
}

#[derive(Debug, thiserror::Error)]
pub enum TranscodeError {
    #[error("ffmpeg cannot be run: {0}")]
    Io(#[from] io::Error),
    #[error("ffmpeg did not end in time")]
    TimedOut,
    #[error("the transcoding was cancelled")]
    Cancelled,
    /// With the first messages of ffmpeg.
    #[error("ffmpeg failed ({0}): {1}")]
    Failed(ExitStatus, String),
    #[error("ffmpeg wrote no usable file")]
    Unusable,
}

/// Shared by the thread that runs ffmpeg and those that watch it.
#[derive(Debug, Default)]
pub struct TranscodeControl {
    is_cancelled: AtomicBool,
    percent: AtomicU32,
}

impl TranscodeControl {
    /// Ends the process within a moment.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// How much of the running output is written: 0 to 100.
    pub fn percent(&self) -> u32 {
        self.percent.load(Ordering::Relaxed)
    }
}

impl TranscodeSource {
    /// What is made of the file, the still first.
    pub fn outputs(&self) -> Vec<TranscodeOutput> {
        if self.format == MediaFormat::Gif {
            return vec![TranscodeOutput::Animation];
        }
        let shorter = self.width.min(self.height);
        let versions = LINES.into_iter().filter(|lines| *lines <= shorter).map(TranscodeOutput::Lines);
        std::iter::once(TranscodeOutput::Still).chain(versions).collect()
    }
}

impl TranscodeOutput {
    /// What the name of the file ends in, after the stem of the original's name.
    pub fn suffix(self) -> String {
        match self {
            Self::Still => format!("{}.jpg", SMALL.name),
            Self::Animation => "mp4".to_owned(),
            Self::Lines(lines) => format!("{lines}p.mp4"),
        }
    }
}

impl Transcoder {
    /// Writes one file into a folder and returns its size in bytes. Blocks until the process has ended; `started` is
    /// when its time began.
    pub fn run(
        &self,
        source: &TranscodeSource,
        output: TranscodeOutput,
        folder: &Path,
        (control, started): (&TranscodeControl, Instant),
    ) -> Result<u64, TranscodeError> {
        control.percent.store(0, Ordering::Relaxed);
        let child = self.limited_command(source)?.args(arguments(source, output)).current_dir(folder).spawn()?;
        let mut process = RunningProcess { child, progress: String::new(), messages: Vec::new() };
        let status = process.wait(self.timeout, source.duration_ms, control, started)?;
        if !status.success() {
            let message = String::from_utf8_lossy(&process.messages).trim().replace(char::is_control, " ");
            return Err(TranscodeError::Failed(status, message));
        }
        check_output(&folder.join(output.suffix()), output)
    }

    /// A command of this program that limits itself before it becomes ffmpeg.
    fn limited_command(&self, source: &TranscodeSource) -> io::Result<Command> {
        let file_bytes = source.size.clamp(MIN_FILE_BYTES, VIDEO_BYTES);
        // The running program, also after an upgrade has replaced its file.
        let own = if cfg!(target_os = "linux") { PathBuf::from("/proc/self/exe") } else { std::env::current_exe()? };
        let mut command = Command::new(own);
        command
            .arg("limit-process")
            .args(["--parent", &std::process::id().to_string()])
            .args(["--cpu-seconds", &self.timeout.as_secs().saturating_add(1).to_string()])
            .args(["--memory-bytes", &MEMORY_BYTES.to_string()])
            .args(["--file-bytes", &file_bytes.to_string()])
            .arg(&self.ffmpeg)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        Ok(command)
    }
}

/// The demuxer is given, so that no file is read as a playlist or script that names others.
fn arguments(source: &TranscodeSource, output: TranscodeOutput) -> Vec<String> {
    let (demuxer, pixels): (&[&str], u32) = match source.format {
        MediaFormat::Gif => (&["-f", "gif", "-ignore_loop", "1"], MAX_GIF_PIXELS),
        _ => (&["-f", "mov", "-enable_drefs", "0", "-use_absolute_path", "0"], MAX_VIDEO_PIXELS),
    };
    let mut all: Vec<String> = words("-hide_banner -nostdin -loglevel error -nostats -stats_period 1 -progress pipe:1");
    all.extend(words("-threads 1 -filter_threads 1 -protocol_whitelist file,pipe"));
    all.extend(["-max_pixels".to_owned(), pixels.to_string()]);
    all.extend(demuxer.iter().map(ToString::to_string));
    all.extend(["-i".to_owned(), format!("file:{}", source.path.display())]);
    all.extend(words("-map 0:v:0 -sn -dn -map_metadata -1 -map_chapters -1 -threads 1 -y"));
    let h264 = "-c:v libx264 -preset veryfast -pix_fmt yuv420p -movflags +faststart -f mp4";
    let filter = match output {
        TranscodeOutput::Still => {
            all.extend(words("-an -frames:v 1 -c:v mjpeg -q:v 4 -f image2 -update 1"));
            format!("thumbnail=25,{}", fit_filter(SMALL.max_side, 1))
        }
        TranscodeOutput::Animation => {
            all.extend(words(&format!("-an -crf 23 {h264}")));
            fit_filter(MAX_ANIMATION_SIDE, 2)
        }
        TranscodeOutput::Lines(lines) => {
            let rate = if lines > 320 { 2176 } else { 632 };
            let rate = format!("-crf 26 -maxrate {rate}k -bufsize {}k", rate * 2);
            all.extend(words(&format!("-map 0:a:0? -c:a aac -b:a 64k -ac 2 {rate} {h264}")));
            format!("scale=w='if(gt(iw,ih),-2,{lines})':h='if(gt(iw,ih),{lines},-2)'")
        }
    };
    all.extend(["-vf".to_owned(), filter, format!("file:{}", output.suffix())]);
    all
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// Makes a picture fit a square, with sides that are multiples of a number.
fn fit_filter(side: u32, multiple: u32) -> String {
    format!(
        "scale=w='min({side},iw)':h='min({side},ih)':force_original_aspect_ratio=decrease:\
         force_divisible_by={multiple}"
    )
}

fn check_output(path: &Path, output: TranscodeOutput) -> Result<u64, TranscodeError> {
    let size = fs::metadata(path)?.len();
    let is_usable = match output {
        TranscodeOutput::Still => measure_image(&fs::read(path)?).is_ok_and(|image| image.format == MediaFormat::Jpeg),
        TranscodeOutput::Animation | TranscodeOutput::Lines(_) => {
            let mut head = [0; MediaFormat::HEAD_BYTES];
            fs::File::open(path)?.read_exact(&mut head).is_ok() && MediaFormat::sniff(&head) == Some(MediaFormat::Mp4)
        }
    };
    if is_usable { Ok(size) } else { Err(TranscodeError::Unusable) }
}

struct RunningProcess {
    child: Child,
    /// The line that is not complete yet.
    progress: String,
    messages: Vec<u8>,
}

impl RunningProcess {
    /// The process and those that it started do not outlive this.
    fn wait(
        &mut self,
        timeout: Duration,
        duration_ms: u64,
        control: &TranscodeControl,
        started: Instant,
    ) -> Result<ExitStatus, TranscodeError> {
        let outcome = self.watch(timeout, duration_ms, control, started);
        let _ended = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        if outcome.is_err() {
            self.child.wait()?;
        }
        outcome
    }

    fn watch(
        &mut self,
        timeout: Duration,
        duration_ms: u64,
        control: &TranscodeControl,
        started: Instant,
    ) -> Result<ExitStatus, TranscodeError> {
        for pipe in [self.child.stdout.as_ref().map(AsFd::as_fd), self.child.stderr.as_ref().map(AsFd::as_fd)] {
            pipe.map_or(Ok(()), |pipe| fcntl_setfl(pipe, OFlags::NONBLOCK)).map_err(io::Error::from)?;
        }
        loop {
            let status = self.child.try_wait()?;
            self.read_messages()?;
            if let Some(percent) = self.read_progress(duration_ms)? {
                control.percent.store(percent, Ordering::Relaxed);
            }
            if let Some(status) = status {
                return Ok(status);
            }
            if control.is_cancelled.load(Ordering::Relaxed) {
                return Err(TranscodeError::Cancelled);
            }
            if started.elapsed() >= timeout {
                return Err(TranscodeError::TimedOut);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// What exceeds the bound is read and dropped, so that the process does not wait for it.
    fn read_messages(&mut self) -> io::Result<()> {
        let bytes = read_available(self.child.stderr.as_mut())?;
        let missing = MAX_MESSAGE_BYTES.saturating_sub(self.messages.len());
        self.messages.extend(bytes.into_iter().take(missing));
        Ok(())
    }

    fn read_progress(&mut self, duration_ms: u64) -> io::Result<Option<u32>> {
        let bytes = read_available(self.child.stdout.as_mut())?;
        self.progress.push_str(&String::from_utf8_lossy(&bytes));
        let Some((lines, rest)) = self.progress.rsplit_once('\n') else {
            return Ok(None);
        };
        let written = lines.lines().rev().find_map(|line| line.strip_prefix("out_time_us=")?.parse::<u64>().ok());
        let percent = written.and_then(|us| us.checked_div(duration_ms.saturating_mul(10)));
        let percent = percent.and_then(|percent| u32::try_from(percent.min(100)).ok());
        self.progress = rest.to_owned();
        Ok(percent)
    }
}

/// At most the size of a pipe, without waiting.
fn read_available(pipe: Option<&mut impl Read>) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 64 * 1024];
    let read = match pipe.map(|pipe| pipe.read(&mut bytes)) {
        Some(Ok(read)) => read,
        Some(Err(error)) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
            return Err(error);
        }
        _ => 0,
    };
    bytes.truncate(read);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{TranscodeOutput, TranscodeSource, arguments};
    use crate::MediaFormat;

    fn source(format: MediaFormat, width: u32, height: u32) -> TranscodeSource {
        TranscodeSource { path: "/media/a b.mp4".into(), format, width, height, duration_ms: 1000, size: 1 }
    }

    #[test]
    fn no_version_is_larger_than_the_video() {
        let suffixes = |format, width, height| {
            let outputs = source(format, width, height).outputs();
            outputs.into_iter().map(TranscodeOutput::suffix).collect::<Vec<_>>()
        };
        assert_eq!(suffixes(MediaFormat::Mp4, 1280, 720), ["small.jpg", "320p.mp4", "720p.mp4"]);
        assert_eq!(suffixes(MediaFormat::Mp4, 719, 1280), ["small.jpg", "320p.mp4"]);
        assert_eq!(suffixes(MediaFormat::Mp4, 300, 200), ["small.jpg"]);
        assert_eq!(suffixes(MediaFormat::Gif, 300, 200), ["mp4"]);
    }

    #[test]
    fn file_is_read_as_what_it_was_recognized_as_and_names_no_others() {
        for (format, demuxer) in [(MediaFormat::Mp4, "mov"), (MediaFormat::Gif, "gif")] {
            let source = source(format, 1280, 720);
            for output in source.outputs() {
                let all = arguments(&source, output);
                let input = all.iter().position(|word| word == "-i").unwrap();
                let after = |name: &str| {
                    let place = all.iter().position(|word| word == name).unwrap();
                    assert!(place < input, "{name}");
                    all[place + 1].as_str()
                };
                assert_eq!((after("-f"), after("-protocol_whitelist")), (demuxer, "file,pipe"));
                assert_eq!(all[input + 1], "file:/media/a b.mp4");
                assert_eq!(*all.last().unwrap(), format!("file:{}", output.suffix()));
            }
        }
    }
}
