//! Transactions reach the crates above, and with them the functions that run statements, which only this crate and
//! `database` may use.

use std::fs;
use std::path::Path;

use super::parameter_order::{KEYWORDS, literals, source_files};

/// Functions of transactions that take a statement, or change what only this crate knows of.
const CALLS: [&str; 7] = [
    ".execute_later(",
    ".query_rows(",
    ".query_row(",
    ".query_by_keys(",
    ".query_by_ids(",
    ".lock_row(",
    ".invalidate_credentials(",
];

#[test]
fn crates_above_contain_no_statements() {
    let mut files = Vec::new();
    for member in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap() {
        let member = member.unwrap();
        let folder = member.path().join("src");
        if !["store", "database"].contains(&member.file_name().to_str().unwrap()) && folder.is_dir() {
            source_files(&folder, &mut files);
        }
    }
    files.retain(|file| !file.to_string_lossy().contains("/tests"));
    assert!(files.len() > 1_000, "{}", files.len());
    let has_statement = |text: &String| KEYWORDS.iter().any(|word| text.starts_with(word));
    for file in files {
        let code = fs::read_to_string(&file).unwrap();
        let found = literals(&code).into_iter().find(has_statement);
        assert!(found.is_none(), "{}: {found:?}", file.display());
        let call = CALLS.iter().find(|call| code.contains(**call));
        assert!(call.is_none(), "{}: {call:?}", file.display());
    }
}
