//! Iterates over the records of an archive's files.

use crate::catalog::ArchiveDataFile;
use crate::container::{ArchiveContainer, ByteStream};
use crate::data_types::{DataTypeHandling, ReadableDataType};
use crate::elements::{ElementOutcome, ElementReadError, ElementReader};
use crate::notes::NoteIndex;
use crate::raw::{ConversionContext, ElementError, convert_element, parse_note};
use crate::record_queue::RecordQueue;
use crate::sanitize::sanitize_json;
use crate::{
    Archive, ArchiveError, ArchiveRecord, ElementLocation, ElementPlace, ReadPosition, SkipReason, SkippedItem,
};
use std::io::BufReader;

type OpenedElements = ElementReader<BufReader<ByteStream>>;
type RecordResult = Result<(ReadPosition, ArchiveRecord), ArchiveError>;

pub struct ArchiveRecords<'a> {
    archive: &'a Archive,
    at: ReadPosition,
    open_file: Option<OpenedElements>,
    buffer: Vec<u8>,
    queue: RecordQueue,
    notes: Option<NoteIndex>,
}

impl<'a> ArchiveRecords<'a> {
    pub(crate) fn new(archive: &'a Archive, from: ReadPosition) -> Self {
        Self { archive, at: from, open_file: None, buffer: Vec::new(), queue: RecordQueue::default(), notes: None }
    }

    fn advance_file(&mut self) {
        self.open_file = None;
        self.at = ReadPosition { file: self.at.file + 1, ..ReadPosition::START };
    }

    fn advance(&mut self, file: &'a ArchiveDataFile) -> Option<ArchiveError> {
        let kind = match (&file.handling, file.present) {
            (DataTypeHandling::Read(kind), true) => *kind,
            (DataTypeHandling::Skip(why), true) => {
                let count = file.count.unwrap_or_else(|| count_elements(&self.archive.container, &file.name));
                self.skip_file(file, count, why.clone());
                return None;
            }
            (_, false) => {
                self.skip_file(file, file.count.unwrap_or(0), SkipReason::Absent);
                return None;
            }
        };
        match self.read_element(file, kind) {
            Ok(()) => None,
            Err(error) => {
                match error {
                    ArchiveError::Refused { .. } => self.at = self.at.next_element(),
                    _ => self.advance_file(),
                }
                Some(error)
            }
        }
    }

    fn skip_file(&mut self, file: &ArchiveDataFile, count: u64, why: SkipReason) {
        let at = self.at;
        self.advance_file();
        let skipped = SkippedItem { element: None, ..skipped_item(file, at, count, why) };
        self.queue.push_element(vec![ArchiveRecord::Skipped(skipped)], at, self.at);
    }

    fn read_element(&mut self, file: &ArchiveDataFile, kind: ReadableDataType) -> Result<(), ArchiveError> {
        let location = || ElementLocation { file: file.name.clone(), place: ElementPlace::Element(self.at.element) };
        let broken_error = |error: ElementReadError| ArchiveError::Broken { at: location(), why: error.message() };
        if kind == ReadableDataType::Post && self.notes.is_none() {
            self.notes = Some(collect_notes(self.archive));
        }
        if self.open_file.is_none() {
            let mut elements = open_elements(&self.archive.container, &file.name)?;
            for _ in 0..self.at.element {
                if elements.skip_element().map_err(broken_error)? == ElementOutcome::End {
                    break;
                }
            }
            self.open_file = Some(elements);
        }
        let Some(elements) = &mut self.open_file else {
            return Ok(());
        };
        match elements.read_element(&mut self.buffer).map_err(broken_error)? {
            ElementOutcome::Whole => {}
            ElementOutcome::Refused(why) => return Err(ArchiveError::Refused { at: location(), why }),
            ElementOutcome::End => {
                elements.drain().map_err(broken_error)?;
                self.advance_file();
                return Ok(());
            }
        }
        let mut records = Vec::with_capacity(1);
        let no_notes = NoteIndex::default();
        let context = ConversionContext {
            author: self.archive.catalog.owner.as_ref().map(|owner| owner.id),
            notes: self.notes.as_ref().unwrap_or(&no_notes),
            reposts_by_text: true,
        };
        match convert_element(kind, &sanitize_json(&self.buffer), context, &mut records) {
            Ok(()) => {}
            Err(ElementError::Refused(why)) => {
                return Err(ArchiveError::Refused { at: location(), why });
            }
            Err(ElementError::Unreadable(why)) => {
                let skipped = skipped_item(file, self.at, 1, SkipReason::Bad(why));
                records.push(ArchiveRecord::Skipped(skipped));
            }
        }
        let next = self.at.next_element();
        self.queue.push_element(records, self.at, next);
        self.at = next;
        Ok(())
    }
}

impl Iterator for ArchiveRecords<'_> {
    type Item = RecordResult;

    fn next(&mut self) -> Option<RecordResult> {
        loop {
            if let Some(ready) = self.queue.next() {
                return Some(Ok(ready));
            }
            let file = self.archive.catalog.files.get(self.at.file)?;
            if let Some(error) = self.advance(file) {
                return Some(Err(error));
            }
        }
    }
}

fn skipped_item(file: &ArchiveDataFile, at: ReadPosition, count: u64, why: SkipReason) -> SkippedItem {
    SkippedItem { kind: file.data_type.clone(), file: file.name.clone(), element: Some(at.element), count, why }
}

fn open_elements(container: &ArchiveContainer, name: &str) -> Result<OpenedElements, ArchiveError> {
    let (bytes, _) = container.open_file(name)?;
    Ok(ElementReader::new(BufReader::with_capacity(1 << 16, bytes)))
}

/// Counts the elements of a file that is not in the manifest, as far as it is readable.
fn count_elements(container: &ArchiveContainer, name: &str) -> u64 {
    let Ok(mut elements) = open_elements(container, name) else {
        return 0;
    };
    let mut count = 0;
    while let Ok(ElementOutcome::Whole | ElementOutcome::Refused(_)) = elements.skip_element() {
        count += 1;
    }
    count
}

/// All notes of the archive. Unreadable ones are reported when their file is read.
fn collect_notes(archive: &Archive) -> NoteIndex {
    let mut notes = NoteIndex::default();
    let mut buffer = Vec::new();
    let is_note =
        |file: &&ArchiveDataFile| file.handling == DataTypeHandling::Read(ReadableDataType::Note) && file.present;
    for file in archive.catalog.files.iter().filter(is_note) {
        let Ok(mut elements) = open_elements(&archive.container, &file.name) else {
            continue;
        };
        while let Ok(outcome @ (ElementOutcome::Whole | ElementOutcome::Refused(_))) =
            elements.read_element(&mut buffer)
        {
            if outcome != ElementOutcome::Whole {
                continue;
            }
            if let Ok((note, plain)) = parse_note(&sanitize_json(&buffer)) {
                notes.insert(note, &plain);
            }
        }
    }
    notes
}
