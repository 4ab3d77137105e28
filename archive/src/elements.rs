//! Splits a JSON array into its elements, buffering one at a time.

use std::io::{self, BufRead};

pub(crate) const MAX_ELEMENT_BYTES: usize = 4 << 20;
/// Counted from the element itself.
pub(crate) const MAX_ELEMENT_DEPTH: usize = 64;
const TOO_LONG: &str = "longer than 4 MiB";
const TOO_DEEP: &str = "nested deeper than 64 levels";
/// How far into a file its first bracket is searched, in bytes.
const MAX_PREFIX_BYTES: usize = 1 << 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ElementOutcome {
    Whole,
    /// The element exceeded a limit and was skipped.
    Refused(&'static str),
    End,
}

#[derive(Debug)]
pub(crate) enum ElementReadError {
    Io(io::Error),
    Unclosed,
    NoArray,
}

impl From<io::Error> for ElementReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl ElementReadError {
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Io(error) => error.to_string(),
            Self::Unclosed => "the file ends inside its array".to_owned(),
            Self::NoArray => "the file contains no array".to_owned(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JsonShape {
    Unknown,
    Array,
    /// A single object without an array around it.
    Object,
    Done,
}

pub(crate) struct ElementReader<R> {
    reader: R,
    shape: JsonShape,
}

impl<R: BufRead> ElementReader<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, shape: JsonShape::Unknown }
    }

    pub(crate) fn read_element(&mut self, buffer: &mut Vec<u8>) -> Result<ElementOutcome, ElementReadError> {
        buffer.clear();
        self.next_element(Some(buffer))
    }

    pub(crate) fn skip_element(&mut self) -> Result<ElementOutcome, ElementReadError> {
        self.next_element(None)
    }

    /// Reads to the end of the file, where a zip reader verifies the checksum.
    pub(crate) fn drain(&mut self) -> Result<(), ElementReadError> {
        io::copy(&mut self.reader, &mut io::sink())?;
        Ok(())
    }

    fn next_element(&mut self, buffer: Option<&mut Vec<u8>>) -> Result<ElementOutcome, ElementReadError> {
        if self.shape == JsonShape::Unknown {
            self.shape = self.find_shape()?;
        }
        match self.shape {
            JsonShape::Array => {
                if self.is_closed()? {
                    self.shape = JsonShape::Done;
                    return Ok(ElementOutcome::End);
                }
            }
            JsonShape::Object => self.shape = JsonShape::Done,
            JsonShape::Done | JsonShape::Unknown => return Ok(ElementOutcome::End),
        }
        self.scan_element(buffer)
    }

    fn find_shape(&mut self) -> Result<JsonShape, ElementReadError> {
        let mut scanned = 0;
        loop {
            let chunk = self.reader.fill_buf()?;
            if chunk.is_empty() {
                return Ok(JsonShape::Done);
            }
            if let Some(at) = chunk.iter().position(|byte| matches!(byte, b'[' | b'{')) {
                let is_array = chunk.get(at) == Some(&b'[');
                self.reader.consume(at + usize::from(is_array));
                return Ok(if is_array { JsonShape::Array } else { JsonShape::Object });
            }
            let length = chunk.len();
            self.reader.consume(length);
            scanned += length;
            if scanned > MAX_PREFIX_BYTES {
                return Err(ElementReadError::NoArray);
            }
        }
    }

    fn is_closed(&mut self) -> Result<bool, ElementReadError> {
        loop {
            let chunk = self.reader.fill_buf()?;
            if chunk.is_empty() {
                return Err(ElementReadError::Unclosed);
            }
            let blank = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | 0);
            let padding = chunk.iter().take_while(|byte| blank(byte)).count();
            if let Some(byte) = chunk.get(padding) {
                let closes = *byte == b']';
                self.reader.consume(padding + usize::from(closes));
                return Ok(closes);
            }
            self.reader.consume(padding);
        }
    }

    fn scan_element(&mut self, mut buffer: Option<&mut Vec<u8>>) -> Result<ElementOutcome, ElementReadError> {
        let mut scan = NestingScan::default();
        let mut length = 0_usize;
        loop {
            let chunk = self.reader.fill_buf()?;
            if chunk.is_empty() {
                return Err(ElementReadError::Unclosed);
            }
            let (taken, ended) = scan.advance(chunk);
            length = length.saturating_add(taken);
            let fits = length <= MAX_ELEMENT_BYTES && !scan.too_deep;
            if let (true, Some(buffer)) = (fits, buffer.as_deref_mut()) {
                buffer.extend_from_slice(chunk.get(..taken).unwrap_or_default());
            }
            self.reader.consume(taken);
            if ended {
                return Ok(match (scan.too_deep, fits) {
                    (true, _) => ElementOutcome::Refused(TOO_DEEP),
                    (_, false) => ElementOutcome::Refused(TOO_LONG),
                    _ => ElementOutcome::Whole,
                });
            }
        }
    }
}

/// Replaces the contents of `buffer` with the next line, without surrounding white space.
pub(crate) fn read_line(reader: &mut impl BufRead, buffer: &mut Vec<u8>) -> Result<ElementOutcome, ElementReadError> {
    buffer.clear();
    let mut scan = NestingScan::default();
    let mut length = 0_usize;
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            break;
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(chunk.len(), |at| at + 1);
        let part = chunk.get(..taken).unwrap_or_default();
        length = length.saturating_add(taken);
        if length <= MAX_ELEMENT_BYTES {
            scan.advance_over(part);
            buffer.extend_from_slice(part);
        }
        reader.consume(taken);
        if end.is_some() {
            break;
        }
    }
    let trimmed = buffer.trim_ascii_end().len();
    buffer.truncate(trimmed);
    Ok(match length {
        0 => ElementOutcome::End,
        _ if length > MAX_ELEMENT_BYTES => ElementOutcome::Refused(TOO_LONG),
        _ if scan.too_deep => ElementOutcome::Refused(TOO_DEEP),
        _ => ElementOutcome::Whole,
    })
}

#[derive(Default)]
struct NestingScan {
    depth: usize,
    in_string: bool,
    after_backslash: bool,
    too_deep: bool,
}

impl NestingScan {
    /// The length of the part of `chunk` that belongs to the element, and whether the element ends
    /// there.
    fn advance(&mut self, chunk: &[u8]) -> (usize, bool) {
        let mut taken = 0;
        let mut rest = chunk;
        while !rest.is_empty() {
            let (used, ended) = if self.in_string { self.scan_string(rest) } else { self.scan_structure(rest) };
            taken += used;
            if ended {
                return (taken, true);
            }
            rest = rest.get(used..).unwrap_or_default();
        }
        (taken, false)
    }

    /// Consumes all of `bytes`, across the ends of elements.
    fn advance_over(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (taken, _) = self.advance(rest);
            rest = rest.get(taken.max(1)..).unwrap_or_default();
        }
    }

    fn scan_string(&mut self, bytes: &[u8]) -> (usize, bool) {
        if self.after_backslash {
            self.after_backslash = false;
            return (1, false);
        }
        let special = |byte: &u8| matches!(byte, b'"' | b'\\');
        let Some(at) = bytes.iter().position(special) else {
            return (bytes.len(), false);
        };
        if bytes.get(at) == Some(&b'\\') {
            self.after_backslash = true;
            return (at + 1, false);
        }
        self.in_string = false;
        (at + 1, self.depth == 0)
    }

    fn scan_structure(&mut self, bytes: &[u8]) -> (usize, bool) {
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'"' => {
                    self.in_string = true;
                    return (at + 1, false);
                }
                b'{' | b'[' => {
                    self.depth += 1;
                    self.too_deep |= self.depth > MAX_ELEMENT_DEPTH;
                }
                b']' | b',' if self.depth == 0 => return (at, true),
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return (at + 1, true);
                    }
                }
                _ => {}
            }
        }
        (bytes.len(), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn cuts(text: &str, chunk: usize) -> (Vec<String>, Option<String>) {
        let mut elements = ElementReader::new(BufReader::with_capacity(chunk, text.as_bytes()));
        let mut buffer = Vec::new();
        let mut found = Vec::new();
        loop {
            match elements.read_element(&mut buffer) {
                Ok(ElementOutcome::Whole) => found.push(String::from_utf8(buffer.clone()).unwrap()),
                Ok(ElementOutcome::Refused(why)) => found.push(why.to_owned()),
                Ok(ElementOutcome::End) => return (found, None),
                Err(error) => return (found, Some(error.message())),
            }
        }
    }

    #[test]
    fn elements_are_cut_at_every_chunk_size() {
        let table: &[(&str, &[&str], bool)] = &[
            ("window.YTD.tweets.part0 = [ ]", &[], true),
            ("", &[], true),
            ("x = [{\"a\":\"]}\"},{}]", &[r#"{"a":"]}"}"#, "{}"], true),
            (r#"[ "a,\"]" , 12,null ]"#, &[r#""a,\"]""#, "12", "null "], true),
            (r#"[["\\"],[1,[2]]];"#, &[r#"["\\"]"#, "[1,[2]]"], true),
            (r#"v = {"a":[1]} "#, &[r#"{"a":[1]}"#], true),
            ("[{},{\"a\":", &["{}"], false),
            ("[{},", &["{}"], false),
            ("[}, {}]", &["}", "{}"], true),
        ];
        for (text, want, closed) in table {
            for chunk in [1, 2, 3, 7, 4096] {
                let (found, error) = cuts(text, chunk);
                assert_eq!(&found, want, "{text} by {chunk}");
                assert_eq!(error.is_none(), *closed, "{text} by {chunk}");
            }
        }
    }

    #[test]
    fn an_element_that_breaks_a_bound_does_not_hide_the_next() {
        let long = "a".repeat(MAX_ELEMENT_BYTES);
        let (found, error) = cuts(&format!("[\"{long}\",{{}}]"), 8192);
        assert_eq!(found, ["longer than 4 MiB", "{}"]);
        assert!(error.is_none());
        let deep = format!("[{}{},1]", "[".repeat(65), "]".repeat(65));
        assert_eq!(cuts(&deep, 16).0, ["nested deeper than 64 levels", "1"]);
        let just = format!("[{}{}]", "[".repeat(64), "]".repeat(64));
        assert_eq!(cuts(&just, 16).0.first().unwrap().len(), 128);
    }

    #[test]
    fn a_file_without_brackets_is_given_up_early() {
        let (_, error) = cuts(&"x".repeat(MAX_PREFIX_BYTES * 2), 8192);
        assert_eq!(error.unwrap(), "the file contains no array");
    }
}
