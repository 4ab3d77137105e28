//! Walks through the files of an archive.

use crate::catalogue::DataFile;
use crate::clean::clean;
use crate::container::{Bytes, Container};
use crate::elements::{Cut, CutError, Elements};
use crate::kinds::{Handling, Kind};
use crate::notes::Notes;
use crate::queue::Queue;
use crate::raw::{Around, Fault, convert, read_note};
use crate::{Archive, ArchiveError, Place, Position, Record, Skipped, Why};
use std::io::BufReader;

type Opened = Elements<BufReader<Bytes>>;
type Item = Result<(Position, Record), ArchiveError>;

/// The records of an [`Archive`].
pub struct Records<'a> {
    archive: &'a Archive,
    at: Position,
    opened: Option<Opened>,
    buffer: Vec<u8>,
    queue: Queue,
    notes: Option<Notes>,
}

impl<'a> Records<'a> {
    pub(crate) fn new(archive: &'a Archive, from: Position) -> Self {
        Self {
            archive,
            at: from,
            opened: None,
            buffer: Vec::new(),
            queue: Queue::default(),
            notes: None,
        }
    }

    fn next_file(&mut self) {
        self.opened = None;
        self.at = Position {
            file: self.at.file + 1,
            ..Position::START
        };
    }

    fn step(&mut self, file: &'a DataFile) -> Option<ArchiveError> {
        let kind = match (&file.handling, file.present) {
            (Handling::Read(kind), true) => *kind,
            (Handling::Skip(why), true) => {
                let count = file
                    .count
                    .unwrap_or_else(|| count(&self.archive.container, &file.name));
                self.skip_file(file, count, why.clone());
                return None;
            }
            (_, false) => {
                self.skip_file(file, file.count.unwrap_or(0), Why::Absent);
                return None;
            }
        };
        match self.read_element(file, kind) {
            Ok(()) => None,
            Err(error) => {
                match error {
                    ArchiveError::Refused { .. } => self.at = behind(self.at),
                    _ => self.next_file(),
                }
                Some(error)
            }
        }
    }

    fn skip_file(&mut self, file: &DataFile, count: u64, why: Why) {
        let at = self.at;
        self.next_file();
        let skipped = Skipped {
            element: None,
            ..skipped(file, at, count, why)
        };
        self.queue.fill(vec![Record::Skipped(skipped)], at, self.at);
    }

    fn read_element(&mut self, file: &DataFile, kind: Kind) -> Result<(), ArchiveError> {
        let place = || Place {
            file: file.name.clone(),
            element: self.at.element,
        };
        let broken = |error: CutError| ArchiveError::Broken {
            at: place(),
            why: error.why(),
        };
        if kind == Kind::Post && self.notes.is_none() {
            self.notes = Some(notes(self.archive));
        }
        if self.opened.is_none() {
            let mut elements = open(&self.archive.container, &file.name)?;
            for _ in 0..self.at.element {
                if elements.pass().map_err(broken)? == Cut::End {
                    break;
                }
            }
            self.opened = Some(elements);
        }
        let Some(elements) = &mut self.opened else {
            return Ok(());
        };
        match elements.cut(&mut self.buffer).map_err(broken)? {
            Cut::Whole => {}
            Cut::Refused(why) => return Err(ArchiveError::Refused { at: place(), why }),
            Cut::End => {
                elements.drain().map_err(broken)?;
                self.next_file();
                return Ok(());
            }
        }
        let mut records = Vec::with_capacity(1);
        let none = Notes::default();
        let around = Around {
            author: self.archive.catalogue.owner.as_ref().map(|owner| owner.id),
            notes: self.notes.as_ref().unwrap_or(&none),
            reposts_by_text: true,
        };
        match convert(kind, &clean(&self.buffer), around, &mut records) {
            Ok(()) => {}
            Err(Fault::Refused(why)) => return Err(ArchiveError::Refused { at: place(), why }),
            Err(Fault::Bad(why)) => {
                let skipped = skipped(file, self.at, 1, Why::Bad(why));
                records.push(Record::Skipped(skipped));
            }
        }
        let next = behind(self.at);
        self.queue.fill(records, self.at, next);
        self.at = next;
        Ok(())
    }
}

impl Iterator for Records<'_> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(ready) = self.queue.next() {
                return Some(Ok(ready));
            }
            let file = self.archive.catalogue.files.get(self.at.file)?;
            if let Some(error) = self.step(file) {
                return Some(Err(error));
            }
        }
    }
}

fn behind(at: Position) -> Position {
    Position {
        element: at.element + 1,
        part: 0,
        ..at
    }
}

fn skipped(file: &DataFile, at: Position, count: u64, why: Why) -> Skipped {
    Skipped {
        kind: file.kind.clone(),
        file: file.name.clone(),
        element: Some(at.element),
        count,
        why,
    }
}

fn open(container: &Container, name: &str) -> Result<Opened, ArchiveError> {
    let (bytes, _) = container.read(name)?;
    Ok(Elements::new(BufReader::with_capacity(1 << 16, bytes)))
}

/// Elements of a file that nobody promised a number for, as far as it can be read.
fn count(container: &Container, name: &str) -> u64 {
    let Ok(mut elements) = open(container, name) else {
        return 0;
    };
    let mut count = 0;
    while let Ok(Cut::Whole | Cut::Refused(_)) = elements.pass() {
        count += 1;
    }
    count
}

/// All notes of the archive. What cannot be read among them shows when its file has its turn.
fn notes(archive: &Archive) -> Notes {
    let mut notes = Notes::default();
    let mut buffer = Vec::new();
    let is_note = |file: &&DataFile| file.handling == Handling::Read(Kind::Note) && file.present;
    for file in archive.catalogue.files.iter().filter(is_note) {
        let Ok(mut elements) = open(&archive.container, &file.name) else {
            continue;
        };
        while let Ok(cut @ (Cut::Whole | Cut::Refused(_))) = elements.cut(&mut buffer) {
            if cut != Cut::Whole {
                continue;
            }
            if let Ok((note, plain)) = read_note(&clean(&buffer)) {
                notes.keep(note, &plain);
            }
        }
    }
    notes
}
