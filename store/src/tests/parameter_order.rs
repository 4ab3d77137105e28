//! SQLite numbers the parameters of a statement in the order in which they first appear, whatever they are called, so that
//! `$2` before `$1` gets the value that was meant for `$1`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::schema::source_folders;

/// Files and beginnings of statements that only PostgreSQL executes.
const POSTGRES_FILES: [&str; 2] = ["/database/src/postgres/", "/event_log/sequencer_sql.rs"];
const POSTGRES_STATEMENT: &str = "WITH source AS (UPDATE users SET following_count";
pub(super) const KEYWORDS: [&str; 5] = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH "];

pub(super) fn source_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            source_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The contents of string literals, roughly: what is between quotes is taken for one.
pub(super) fn literals(source: &str) -> Vec<String> {
    let (mut all, mut open, mut letters) = (Vec::new(), None::<String>, source.chars());
    while let Some(letter) = letters.next() {
        match (letter, open.as_mut()) {
            ('\\', Some(_)) => drop(letters.next()),
            ('"', Some(_)) => all.extend(open.take()),
            ('"', None) => open = Some(String::new()),
            (letter, Some(text)) => text.push(letter),
            (_, None) => {}
        }
    }
    all
}

/// Whether `$1`, `$2`, … first appear in this order.
fn are_parameters_in_order(text: &str) -> bool {
    let mut highest = 0;
    let mut numbers = text.split('$').skip(1).filter_map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    });
    let mut first = None;
    numbers.all(|number| {
        let lowest = *first.get_or_insert(number);
        let in_order = number >= lowest && number <= highest.max(lowest) + 1;
        highest = highest.max(number);
        in_order
    })
}

#[test]
fn parameters_of_statements_first_appear_in_their_order() {
    assert!(are_parameters_in_order("a = $1 AND b > $2 AND c < $1 AND d = $3"));
    assert!(!are_parameters_in_order("a = $2 AND b > $1") && !are_parameters_in_order("a = $1 AND b = $3 AND c = $2"));
    let mut files = Vec::new();
    for folder in source_folders() {
        source_files(&folder, &mut files);
    }
    let wrong: Vec<String> = files
        .iter()
        .filter(|path| !POSTGRES_FILES.iter().any(|part| path.to_string_lossy().contains(part)))
        .flat_map(|path| literals(&fs::read_to_string(path).unwrap()))
        .filter(|text| KEYWORDS.iter().any(|word| text.starts_with(word)) && !text.starts_with(POSTGRES_STATEMENT))
        .filter(|text| !are_parameters_in_order(text))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
