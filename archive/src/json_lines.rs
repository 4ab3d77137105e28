//! JSON Lines: our own export, and v1.1 objects, one per line or in an array.

use crate::elements::{self, ElementOutcome, ElementReadError, ElementReader};
use crate::raw::{ElementError, convert_line};
use crate::record_queue::RecordQueue;
use crate::sanitize::sanitize_json;
use crate::{ArchiveError, ArchiveRecord, ElementLocation, ElementPlace, ReadPosition, SkipReason, SkippedItem};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// A file of JSON Lines or one JSON array, plain or compressed with gzip (extension `.gz`).
#[derive(Debug, Clone)]
pub struct JsonLines {
    path: PathBuf,
}

impl JsonLines {
    /// Checks that the file can be opened, without reading it.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        File::open(path).map_err(|source| ArchiveError::from_io(&path.display().to_string(), source))?;
        Ok(Self { path: path.to_owned() })
    }

    /// The records from a position on, each with the position after it.
    pub fn records(&self, from: ReadPosition) -> Result<JsonLinesRecords<Box<dyn BufRead + Send>>, ArchiveError> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let file = File::open(&self.path).map_err(|source| ArchiveError::from_io(&name, source))?;
        let is_compressed = self.path.extension().is_some_and(|extension| extension == "gz");
        let bytes: Box<dyn Read + Send> =
            if is_compressed { Box::new(flate2::read::MultiGzDecoder::new(file)) } else { Box::new(file) };
        let reader: Box<dyn BufRead + Send> = Box::new(BufReader::with_capacity(1 << 16, bytes));
        Ok(JsonLinesRecords::new(&name, reader, from))
    }
}

enum LineSource<R> {
    Unknown(R),
    Array(ElementReader<R>),
    Lines(R),
    Done,
}

pub struct JsonLinesRecords<R> {
    source: LineSource<R>,
    name: String,
    from: u64,
    at: ReadPosition,
    buffer: Vec<u8>,
    queue: RecordQueue,
}

impl<R: BufRead> JsonLinesRecords<R> {
    /// `name` appears in errors; `reader` starts at the beginning of the file whatever `from` is.
    pub fn new(name: &str, reader: R, from: ReadPosition) -> Self {
        Self {
            source: LineSource::Unknown(reader),
            name: name.to_owned(),
            from: from.element,
            at: from,
            buffer: Vec::new(),
            queue: RecordQueue::default(),
        }
    }

    /// Detects the format and skips to the start position.
    fn detect_format(&mut self) -> Result<(), ElementReadError> {
        if !matches!(self.source, LineSource::Unknown(_)) {
            return Ok(());
        }
        if let LineSource::Unknown(mut reader) = std::mem::replace(&mut self.source, LineSource::Done) {
            self.source = if begins_with_array(&mut reader)? {
                LineSource::Array(ElementReader::new(reader))
            } else {
                LineSource::Lines(reader)
            };
            for _ in 0..self.from {
                if self.read_next()? == ElementOutcome::End {
                    break;
                }
            }
        }
        Ok(())
    }

    fn read_next(&mut self) -> Result<ElementOutcome, ElementReadError> {
        match &mut self.source {
            LineSource::Array(elements) => elements.read_element(&mut self.buffer),
            LineSource::Lines(reader) => elements::read_line(reader, &mut self.buffer),
            LineSource::Unknown(_) | LineSource::Done => Ok(ElementOutcome::End),
        }
    }

    /// Of what was read last.
    fn place(&self) -> ElementPlace {
        match self.source {
            LineSource::Array(_) => ElementPlace::Element(self.at.element),
            _ => ElementPlace::Line(self.at.element + 1),
        }
    }

    /// False at the end.
    fn advance(&mut self) -> Result<bool, ArchiveError> {
        let read = self.detect_format().and_then(|()| self.read_next());
        let location = ElementLocation { file: self.name.clone(), place: self.place() };
        let element = match read {
            Ok(element) => element,
            Err(error) => {
                self.source = LineSource::Done;
                return Err(ArchiveError::Broken { at: location, why: error.message() });
            }
        };
        let at = self.at;
        let next = at.next_element();
        let mut records = Vec::with_capacity(1);
        let outcome = match element {
            ElementOutcome::End => return Ok(false),
            ElementOutcome::Refused(why) => Err(ElementError::Refused(why)),
            ElementOutcome::Whole if self.buffer.is_empty() => Ok(()),
            ElementOutcome::Whole => convert_line(&sanitize_json(&self.buffer), &mut records),
        };
        self.at = next;
        match outcome {
            Ok(()) => {}
            Err(ElementError::Refused(why)) => {
                return Err(ArchiveError::Refused { at: location, why });
            }
            Err(ElementError::Unreadable(why)) => records.push(ArchiveRecord::Skipped(SkippedItem {
                kind: "line".to_owned(),
                file: location.file,
                element: Some(location.place.number()),
                count: 1,
                why: SkipReason::Bad(why),
            })),
        }
        self.queue.push_element(records, at, next);
        Ok(true)
    }
}

impl<R: BufRead> Iterator for JsonLinesRecords<R> {
    type Item = Result<(ReadPosition, ArchiveRecord), ArchiveError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(ready) = self.queue.next() {
                return Some(Ok(ready));
            }
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

fn begins_with_array(reader: &mut impl BufRead) -> Result<bool, ElementReadError> {
    loop {
        let chunk = reader.fill_buf()?;
        let blank = |byte: &&u8| byte.is_ascii_whitespace() || b"\xef\xbb\xbf".contains(byte);
        let filling = chunk.iter().take_while(blank).count();
        let first = chunk.get(filling).copied();
        let is_end = chunk.is_empty();
        reader.consume(filling);
        if first.is_some() || is_end {
            return Ok(first == Some(b'['));
        }
    }
}
