//! The form that migrations must have, so that programs of two versions can use one database.

mod existing_rows;
mod versions;

use super::script::{FIRST_COMPATIBLE, MigrationScript, all_scripts, compatible_after, index_name};

/// What another version could not use, or could not be served during.
fn problems(script: &MigrationScript) -> Vec<String> {
    // One program has an SQLite database to itself.
    let lines = script.text.lines().filter(|line| !line.starts_with("--") && !line.starts_with("SQLITE "));
    let text: Vec<String> = lines.map(|line| line.trim_start_matches("POSTGRES ").to_owned()).collect();
    let text = text.join("\n");
    let statements: Vec<String> = text
        .split(';')
        .map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|part| !part.is_empty())
        .collect();
    let created: Vec<&str> = statements.iter().filter_map(|statement| created_table(statement)).collect();
    let is_contraction = script.compatible_from().unwrap().is_some();
    let mut found = Vec::new();
    for statement in &statements {
        let index = index_name(statement);
        if script.builds_indexes() && index.is_none() {
            found.push(format!("{statement}: only indexes may be built concurrently"));
        }
        if indexed_table(statement).is_some_and(|table| !created.contains(&table)) && index.is_none() {
            found.push(format!("{statement}: the table is not new, so the index must be built concurrently"));
        }
        if !is_contraction && breaks_earlier_programs(statement, &created) {
            found.push(format!("{statement}: only a contraction may do this"));
        }
    }
    found
}

fn created_table(statement: &str) -> Option<&str> {
    let rest = ["CREATE TABLE ", "CREATE VOLATILE TABLE "].iter().find_map(|start| statement.strip_prefix(start))?;
    rest.split([' ', '(']).next()
}

fn indexed_table(statement: &str) -> Option<&str> {
    let is_index = statement.starts_with("CREATE INDEX ") || statement.starts_with("CREATE UNIQUE INDEX ");
    let (_, rest) = statement.split_once(" ON ").filter(|_| is_index)?;
    rest.split([' ', '(']).next()
}

fn breaks_earlier_programs(statement: &str, created: &[&str]) -> bool {
    let words = format!(" {statement} ");
    let removes = ["DROP", "RENAME", "TRUNCATE"].iter().any(|word| words.contains(&format!(" {word} ")));
    let is_unique = statement.starts_with("CREATE UNIQUE INDEX")
        && indexed_table(statement).is_some_and(|table| !created.contains(&table));
    let is_alteration = statement.starts_with("ALTER TABLE ");
    let demands = words.contains(" NOT NULL") && !words.contains(" DEFAULT ");
    let restricts = words.contains(" ADD CONSTRAINT ") || words.contains(" SET NOT NULL") || words.contains(" TYPE ");
    removes || is_unique || is_alteration && (demands || restricts)
}

#[test]
fn migrations_let_the_version_before_go_on() {
    let all = all_scripts();
    let first = all.iter().position(|script| script.name == FIRST_COMPATIBLE).unwrap();
    for (position, script) in all.iter().enumerate().skip(first) {
        let found = problems(script);
        assert!(found.is_empty(), "{}: {found:?}", script.name);
        let from = compatible_after(&all[..=position]).unwrap().unwrap();
        assert!((all[first].version..=script.version).contains(&from), "{}", script.name);
    }
    assert_eq!(compatible_after(&all[..first]).unwrap(), None);
}

#[test]
fn form_of_a_migration_decides_whether_it_is_accepted() {
    let count = |text| problems(&MigrationScript { version: 99, name: "example", text }).len();
    for fine in [
        "CREATE TABLE place (id BIGINT NOT NULL PRIMARY KEY);\nCREATE UNIQUE INDEX place_id ON place (id);",
        "ALTER TABLE post ADD COLUMN mark BIGINT NOT NULL DEFAULT 0;",
        "ALTER TABLE post ADD COLUMN mark BIGINT;",
        "-- Why.\nCREATE INDEX CONCURRENTLY IF NOT EXISTS post_mark ON post (mark);",
        "-- contraction, compatible from 98\nALTER TABLE post DROP COLUMN mark;\nDROP TABLE place;",
        "SQLITE DROP TABLE place;",
    ] {
        assert_eq!(count(fine), 0, "{fine}");
    }
    for wrong in [
        "DROP TABLE place;",
        "ALTER TABLE post RENAME COLUMN mark TO sign;",
        "POSTGRES ALTER TABLE post DROP COLUMN mark;",
        "ALTER TABLE post ADD COLUMN mark BIGINT NOT NULL;",
        "ALTER TABLE post ALTER COLUMN mark SET NOT NULL;",
        "CREATE INDEX post_mark ON post (mark);",
        "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS post_mark ON post (mark);",
        "CREATE INDEX CONCURRENTLY IF NOT EXISTS post_mark ON post (mark);\nDELETE FROM post;",
    ] {
        assert_eq!(count(wrong), 1, "{wrong}");
    }
}
