//! A folder for temporary files, removed when dropped.

use std::fs;
use std::path::{Path, PathBuf};

use base::Fault;

use crate::create_private_folder;

pub struct ScratchFolder(PathBuf);

impl ScratchFolder {
    /// Removes what a killed process left.
    pub fn create(path: PathBuf) -> Result<Self, Fault> {
        let _left = fs::remove_dir_all(&path);
        create_private_folder(&path)?;
        Ok(Self(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let _left = fs::remove_dir_all(&self.0);
    }
}
