//! Browsers with certificate authorities of their own trust those that a policy of the machine names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base::Fault;
use serde_json::json;

use crate::launcher::trust_files::TrustFiles;

/// Settings of a machine are a few small files.
const MAX_DEPTH: usize = 4;

/// A copy of the settings, with a policy more. It stays, because a folder that is removed is empty wherever it is
/// mounted.
pub(super) fn write_settings(original: &Path, trust: &TrustFiles) -> Result<PathBuf, Fault> {
    let name = original.to_string_lossy().replace('/', "-");
    let copy = trust.authority.with_file_name(format!("settings{name}"));
    let policies = copy.join("policies").join("managed");
    let policy = json!({"CACertificates": [trust.authority_base64()?]});
    let written = copy_files(original, &copy, MAX_DEPTH)
        .and_then(|()| fs::create_dir_all(&policies))
        .and_then(|()| fs::write(policies.join("locum.json"), policy.to_string()));
    written.map_err(Fault::context("writing the policy of browsers"))?;
    Ok(copy)
}

/// Files that cannot be read are left out.
fn copy_files(from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if !source.is_dir() {
            let _left_out = fs::copy(&source, &target);
        } else if depth > 0 {
            copy_files(&source, &target, depth - 1)?;
        }
    }
    Ok(())
}
