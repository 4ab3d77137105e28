//! `locum export`: writes JSON Lines that `locum import jsonl` reads.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use base::{Error, Fault};
use clap::Args;
use serde_json::{Value, json};

use super::import::transfer_error;
use super::output_file::ensure_new_file;
use crate::Instance;

#[derive(Args, Clone, Debug)]
pub struct ExportArgs {
    /// Export as JSON Lines, the only format
    #[arg(long, default_value_t = true)]
    jsonl: bool,
    /// The output file
    #[arg(required = true)]
    pub(super) file: Option<PathBuf>,
}

pub(super) async fn execute(instance: &Instance, export: &ExportArgs) -> Result<Value, Error> {
    let file = export.file.as_ref().ok_or_else(|| Fault::new("no file was given"))?;
    export_to_file(instance, file).await
}

pub(super) async fn export_to_file(instance: &Instance, path: &Path) -> Result<Value, Error> {
    ensure_new_file(path)?;
    let part = PartialFile(path.with_added_extension("part"));
    let file = File::create(&part.0).map_err(Fault::context("creating the file"))?;
    let mut out = BufWriter::new(file);
    let mut progress = |at: transfer::TransferProgress| instance.progress.report_progress(at.records, at.total);
    let exported = transfer::export_json_lines(&instance.store, &mut out, &mut progress).await;
    let exported = exported.map_err(|error| transfer_error(path, error))?;
    let file = out.into_inner();
    let file = file.map_err(|error| Fault::from_cause("writing the file", error.into_error()))?;
    file.sync_all().map_err(Fault::context("writing the file"))?;
    fs::rename(&part.0, path).map_err(Fault::context("naming the file"))?;
    Ok(json!({"file": path, "lines": exported.lines, "left_out": exported.omitted}))
}

/// Removed when it is dropped, unless it was renamed.
struct PartialFile(PathBuf);

impl Drop for PartialFile {
    fn drop(&mut self) {
        // The first error is reported already.
        let _gone = fs::remove_file(&self.0);
    }
}
