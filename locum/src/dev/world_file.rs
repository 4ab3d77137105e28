//! World files: users, follows, apps, posts and ads accounts of a world, as JSON Lines or TOML.

mod ads;
mod builder;
mod entries;
mod moments;

use std::path::{Path, PathBuf};

use base::refusal::InvalidParameter;
use base::{Error, Refusal};
use store::Tx;

use self::builder::FileWorldBuilder;
use self::entries::{WorldEntry, parse_lines, parse_toml};
use super::env_file::EnvFile;
use instance::command_error::CommandError;

const MAX_FILE_BYTES: u64 = 16 << 20;
const MAX_ENTRIES: usize = 50_000;

#[derive(Clone, Debug)]
pub(crate) struct WorldFile {
    path: PathBuf,
    /// Each with its line, from 1.
    entries: Vec<(usize, WorldEntry)>,
}

impl WorldFile {
    /// Checks the form of every entry; what they refer to is checked when they are created.
    pub(crate) fn read(path: &Path) -> Result<Self, CommandError> {
        let failed = |error: &dyn std::fmt::Display| CommandError::Usage(format!("{}: {error}", path.display()));
        let size = std::fs::metadata(path).map_err(|error| failed(&error))?.len();
        if size > MAX_FILE_BYTES {
            return Err(failed(&format!("the file has {size} bytes; a world file has at most {MAX_FILE_BYTES}")));
        }
        let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
        let is_toml = path.extension().is_some_and(|ending| ending == "toml");
        let entries = if is_toml { parse_toml(&text) } else { parse_lines(&text) };
        let entries =
            entries.map_err(|(line, message)| CommandError::Usage(format!("{}:{line}: {message}", path.display())))?;
        if entries.len() > MAX_ENTRIES {
            return Err(failed(&format!("{} entries; a world file has at most {MAX_ENTRIES}", entries.len())));
        }
        Ok(Self { path: path.to_owned(), entries })
    }

    /// Creates everything or, with a refusal that names the line, nothing. Returns the lines of `dev.env`.
    pub(super) fn create(&self, tx: &mut Tx<'_>, password_hash: &str) -> Result<EnvFile, Error> {
        let mut builder = FileWorldBuilder::new(password_hash);
        for (line, entry) in &self.entries {
            builder.create(tx, entry).map_err(|error| self.at_line(*line, error))?;
        }
        Ok(builder.env_lines())
    }

    fn at_line(&self, line: usize, error: Error) -> Error {
        let place = format!("{}:{line}", self.path.display());
        match error {
            Error::Refused(Refusal::InvalidParameters(wrong)) => {
                let named = wrong
                    .into_iter()
                    .map(|wrong| InvalidParameter { message: format!("{place}: {}", wrong.message), ..wrong });
                Refusal::InvalidParameters(named.collect()).into()
            }
            Error::Refused(refusal) => {
                Refusal::invalid_parameter("world", &place, format!("{place}: {refusal}")).into()
            }
            failed @ Error::Failed(_) => failed,
        }
    }
}
