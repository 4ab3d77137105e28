//! The position at which reading resumes after an interruption.

use crate::ArchiveError;
use std::fmt;
use std::str::FromStr;

/// The next record to read, formatted as `file:element` or `file:element:part`.
///
/// Valid for one archive only: files are counted in reading order, elements within their file, and
/// parts within an element that yields several records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReadPosition {
    pub(crate) file: usize,
    pub(crate) element: u64,
    pub(crate) part: usize,
}

impl ReadPosition {
    pub const START: Self = Self { file: 0, element: 0, part: 0 };

    pub(crate) const fn next_element(self) -> Self {
        Self { element: self.element + 1, part: 0, ..self }
    }
}

impl fmt::Display for ReadPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.element)?;
        match self.part {
            0 => Ok(()),
            part => write!(f, ":{part}"),
        }
    }
}

impl FromStr for ReadPosition {
    type Err = ArchiveError;

    fn from_str(text: &str) -> Result<Self, ArchiveError> {
        let invalid = || ArchiveError::Position(text.to_owned());
        let mut parts = text.splitn(3, ':');
        let mut next = || parts.next().map(str::parse::<u64>);
        let (Some(Ok(file)), Some(Ok(element)), part) = (next(), next(), next().unwrap_or(Ok(0))) else {
            return Err(invalid());
        };
        let part = part.map_err(|_| invalid())?;
        Ok(Self {
            file: usize::try_from(file).map_err(|_| invalid())?,
            element,
            part: usize::try_from(part).map_err(|_| invalid())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_survives_its_text() {
        for text in ["0:0", "3:120", "3:120:2"] {
            assert_eq!(text.parse::<ReadPosition>().unwrap().to_string(), text);
        }
        for text in ["", "1", "1:", "a:b", "1:2:x", "-1:0"] {
            assert!(text.parse::<ReadPosition>().is_err(), "{text}");
        }
    }
}
