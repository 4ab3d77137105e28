//! Declared rows compared with the tables of the migrations.

use std::path::Path;

use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::schema::source_folders;
use crate::test_stores::options;
use crate::{DatabaseLocation, Store};

/// The statements that select each declared row, by the name of its struct.
fn declarations(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            declarations(&path, found);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for part in text.split("\nrow! {\n").flat_map(|part| part.split("\ntable! {\n")).skip(1) {
            let body = part.split("\n}\n").next().unwrap().split("transient {").next().unwrap();
            let head = body.lines().find(|line| line.contains("struct ")).unwrap();
            let Some(table) = head.split('"').nth(1) else {
                continue;
            };
            let columns: Vec<&str> = body.lines().filter_map(column).collect();
            found.push((head.trim().to_owned(), format!("SELECT {} FROM {table}", columns.join(", "))));
        }
    }
}

/// The column of `pub field: Type,` or `pub field: Type as "column",`.
fn column(line: &str) -> Option<&str> {
    let line = line.trim_start().strip_suffix(',').filter(|line| !line.starts_with("//"))?;
    let (field, rest) = line.split_once(": ")?;
    let named = rest.split_once(" as \"").map(|(_, column)| column.trim_end_matches('"'));
    Some(named.unwrap_or_else(|| field.trim_start_matches("pub ")))
}

#[test]
fn declared_columns_are_columns_of_their_tables() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("locum.db");
    let location = DatabaseLocation::File(path.clone());
    Runtime::new().unwrap().block_on(Store::open(options(location, &folder))).unwrap().close();
    let conn = rusqlite::Connection::open(&path).unwrap();
    let mut found = Vec::new();
    for folder in source_folders() {
        declarations(&folder, &mut found);
    }
    assert!(found.len() > 50, "{}", found.len());
    for (name, sql) in found {
        conn.prepare(&sql).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
