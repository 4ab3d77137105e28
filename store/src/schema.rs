//! Tables and columns according to the migrations, for completeness tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where statements are: in this crate and the one below.
pub(crate) fn source_folders() -> [PathBuf; 2] {
    ["src", "../database/src"].map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))
}

pub(crate) fn declared_tables() -> BTreeMap<String, Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../database/migrations");
    let mut scripts: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    scripts.sort();
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for script in scripts {
        let text = std::fs::read_to_string(script).unwrap();
        let mut table: Option<String> = None;
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["CREATE", "TABLE", name, ..] | ["CREATE", "VOLATILE", "TABLE", name, ..] => {
                    found.entry((*name).to_owned()).or_default();
                    table = Some((*name).to_owned());
                }
                ["ALTER", "TABLE", name, "ADD", "COLUMN", column, ..] => {
                    found.entry((*name).to_owned()).or_default().push((*column).to_owned());
                }
                ["DROP", "TABLE", name, ..] => {
                    found.remove(name.trim_end_matches(';'));
                }
                [first, ..] if first.starts_with(')') => table = None,
                ["--" | "PRIMARY" | "UNIQUE" | "COMMIT_ORDER", ..] | [] => {}
                [column, _, ..] => {
                    if let Some(columns) = table.as_ref().and_then(|table| found.get_mut(table)) {
                        columns.push((*column).to_owned());
                    }
                }
                _ => {}
            }
        }
    }
    found
}
