//! JSON Lines: our own export, and v1.1 objects one a line or in an array.

use crate::clean::clean;
use crate::elements::{self, Cut, CutError, Elements};
use crate::queue::Queue;
use crate::raw::{Fault, from_line};
use crate::{ArchiveError, Place, Position, Record, Skipped, Why};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// A file of JSON Lines or one JSON array, plain or packed with gzip (by its ending `.gz`).
#[derive(Debug, Clone)]
pub struct JsonLines {
    path: PathBuf,
}

impl JsonLines {
    /// Asks for the file without reading it.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        File::open(path).map_err(|source| ArchiveError::io(&path.display().to_string(), source))?;
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// The records from `from` on, each with the position behind it.
    pub fn records(&self, from: Position) -> Result<Lines<Box<dyn BufRead + Send>>, ArchiveError> {
        let name = self
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let file = File::open(&self.path).map_err(|source| ArchiveError::io(&name, source))?;
        let is_packed = self.path.extension().is_some_and(|ending| ending == "gz");
        let bytes: Box<dyn Read + Send> = if is_packed {
            Box::new(flate2::read::MultiGzDecoder::new(file))
        } else {
            Box::new(file)
        };
        let reader: Box<dyn BufRead + Send> = Box::new(BufReader::with_capacity(1 << 16, bytes));
        Ok(Lines::new(&name, reader, from))
    }
}

enum Source<R> {
    Unknown(R),
    Array(Elements<R>),
    Lines(R),
    Done,
}

/// The records of JSON Lines from any reader.
pub struct Lines<R> {
    source: Source<R>,
    name: String,
    from: u64,
    at: Position,
    buffer: Vec<u8>,
    queue: Queue,
}

impl<R: BufRead> Lines<R> {
    /// `name` stands in errors; `reader` begins at the file's start wherever `from` is.
    pub fn new(name: &str, reader: R, from: Position) -> Self {
        Self {
            source: Source::Unknown(reader),
            name: name.to_owned(),
            from: from.element,
            at: from,
            buffer: Vec::new(),
            queue: Queue::default(),
        }
    }

    /// Finds out what the file is and passes over what was read before.
    fn begin(&mut self) -> Result<(), CutError> {
        if !matches!(self.source, Source::Unknown(_)) {
            return Ok(());
        }
        if let Source::Unknown(mut reader) = std::mem::replace(&mut self.source, Source::Done) {
            self.source = if begins_with_array(&mut reader)? {
                Source::Array(Elements::new(reader))
            } else {
                Source::Lines(reader)
            };
            for _ in 0..self.from {
                if self.cut()? == Cut::End {
                    break;
                }
            }
        }
        Ok(())
    }

    fn cut(&mut self) -> Result<Cut, CutError> {
        match &mut self.source {
            Source::Array(elements) => elements.cut(&mut self.buffer),
            Source::Lines(reader) => elements::line(reader, &mut self.buffer),
            Source::Unknown(_) | Source::Done => Ok(Cut::End),
        }
    }

    /// False at the end.
    fn step(&mut self) -> Result<bool, ArchiveError> {
        let place = Place {
            file: self.name.clone(),
            element: self.at.element,
        };
        let cut = match self.begin().and_then(|()| self.cut()) {
            Ok(cut) => cut,
            Err(error) => {
                self.source = Source::Done;
                return Err(ArchiveError::Broken {
                    at: place,
                    why: error.why(),
                });
            }
        };
        let at = self.at;
        let next = Position {
            element: at.element + 1,
            part: 0,
            ..at
        };
        let mut records = Vec::with_capacity(1);
        let outcome = match cut {
            Cut::End => return Ok(false),
            Cut::Refused(why) => Err(Fault::Refused(why)),
            Cut::Whole if self.buffer.is_empty() => Ok(()),
            Cut::Whole => from_line(&clean(&self.buffer), &mut records),
        };
        self.at = next;
        match outcome {
            Ok(()) => {}
            Err(Fault::Refused(why)) => return Err(ArchiveError::Refused { at: place, why }),
            Err(Fault::Bad(why)) => records.push(Record::Skipped(Skipped {
                kind: "line".to_owned(),
                file: place.file,
                element: Some(place.element),
                count: 1,
                why: Why::Bad(why),
            })),
        }
        self.queue.fill(records, at, next);
        Ok(true)
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Result<(Position, Record), ArchiveError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(ready) = self.queue.next() {
                return Some(Ok(ready));
            }
            match self.step() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

fn begins_with_array(reader: &mut impl BufRead) -> Result<bool, CutError> {
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
