//! Reports of checks and transfers as sentences and tables.

use std::fmt::Write;

use serde_json::Value;

use super::render::align_columns;

/// Ids and names listed of each kind of problem.
const MAX_LISTED: usize = 10;

fn count(report: &Value, name: &str) -> u64 {
    report.get(name).and_then(Value::as_u64).unwrap_or(0)
}

fn list<'r>(report: &'r Value, name: &str) -> &'r [Value] {
    report.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

fn is_true(report: &Value, name: &str) -> bool {
    report.get(name).and_then(Value::as_bool) == Some(true)
}

fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn length(items: &[Value]) -> u64 {
    u64::try_from(items.len()).unwrap_or(u64::MAX)
}

/// The first items, separated by commas.
fn join_first(items: &[Value]) -> String {
    let mut shown: Vec<String> = items.iter().take(MAX_LISTED).map(|item| text(Some(item))).collect();
    if items.len() > MAX_LISTED {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

/// A table whose columns are fields of the rows.
fn table(rows: &[Value], columns: &[&str]) -> String {
    let heads = columns.iter().map(|name| name.to_uppercase().replace('_', " ")).collect();
    let cells = rows.iter().map(|row| columns.iter().map(|name| text(row.get(name))).collect());
    align_columns(&std::iter::once(heads).chain(cells).collect::<Vec<_>>())
}

/// A table of counts by kind, without kinds of which there are none.
fn count_table(report: &Value, columns: &[(&str, &str)]) -> String {
    let counts = |name: &str| report.get(name).and_then(Value::as_object);
    let mut kinds: Vec<&String> =
        columns.iter().filter_map(|(name, _)| counts(name)).flat_map(|map| map.keys()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let number = |name: &str, kind: &str| counts(name).and_then(|map| map.get(kind)?.as_u64()).unwrap_or(0);
    kinds.retain(|kind| columns.iter().any(|(name, _)| number(name, kind) > 0));
    let heads = std::iter::once("KIND").chain(columns.iter().map(|(_, head)| *head)).map(str::to_owned).collect();
    let rows = kinds.iter().map(|kind| {
        let numbers = columns.iter().map(|(name, _)| number(name, kind).to_string());
        std::iter::once(kind.replace('_', " ")).chain(numbers).collect()
    });
    align_columns(&std::iter::once(heads).chain(rows).collect::<Vec<_>>())
}

/// Of `locum fsck`.
pub fn describe_fsck(report: &Value) -> String {
    let mut out = describe_database(report);
    if let Some(index) = report.get("index") {
        describe_index(&mut out, index);
    }
    out.push_str(if is_true(report, "sound") { "No problems were found." } else { "Problems were found." });
    out
}

/// What a check of the database found.
fn describe_database(report: &Value) -> String {
    let mut out = String::new();
    for line in list(report, "damage") {
        let _infallible = writeln!(out, "Damage: {}", text(Some(line)));
    }
    let differences = list(report, "differences");
    if differences.is_empty() {
        out.push_str("All compared counters are right.\n");
    } else {
        let wrong = plural(length(differences), "counter is wrong", "counters are wrong");
        let rows = table(differences, &["counter", "id", "stored", "counted"]);
        let _infallible = write!(out, "{wrong}:\n\n{rows}\n\n");
    }
    out
}

fn describe_index(out: &mut String, index: &Value) {
    if let Some(state) = index.get("state") {
        let _infallible = writeln!(out, "The search index is {}.", text(Some(state)));
        return;
    }
    let kinds = [
        ("missing", "lacks"),
        ("surplus", "has, and the database has not,"),
        ("repeated", "has more than once"),
        ("outdated", "has outdated"),
    ];
    let mut is_right = true;
    for (kind, verb) in kinds {
        let ids = list(index, kind);
        if !ids.is_empty() {
            is_right = false;
            let posts = plural(length(ids), "post", "posts");
            let _infallible = writeln!(out, "The search index {verb} {posts}: {}", join_first(ids));
        }
    }
    let files = list(index, "damaged_files");
    if !files.is_empty() {
        is_right = false;
        let _infallible = writeln!(out, "Damaged files of the search index: {}", join_first(files));
    }
    let days = list(index, "days");
    if !days.is_empty() {
        let _infallible = write!(out, "\nPosts by day:\n{}\n\n", table(days, &["day", "stored", "indexed"]));
    }
    match index.get("repaired") {
        Some(how) => {
            let _infallible = writeln!(out, "The search index was repaired: {}.", text(Some(how)));
        }
        None if is_right => {
            let posts = plural(count(index, "posts"), "post", "posts");
            let _infallible = writeln!(out, "The search index agrees with the database: {posts}.");
        }
        None => out.push_str("`locum fsck --repair` repairs the search index.\n"),
    }
}

/// Of `locum restore`, with or without `--verify`.
pub fn describe_restore(report: &Value) -> String {
    let backup = format!("Backup {} (version {})", text(report.get("backup")), text(report.get("version")));
    let mut out = match (report.get("verified"), is_true(report, "verified"), is_true(report, "restored")) {
        (Some(_), true, _) => format!("{backup} is complete and undamaged. Nothing was restored.\n"),
        (Some(_), false, _) => format!("{backup} is incomplete or damaged.\n"),
        (None, _, true) => format!("{backup} was restored.\n"),
        (None, _, false) => format!("{backup} was not restored: it is incomplete or damaged.\n"),
    };
    match report.get("check").filter(|check| !check.is_null()) {
        None => out.push_str("\nIt contains no database.\n"),
        Some(check) => {
            out.push_str("\nDatabase: ");
            out.push_str(&describe_database(check));
            let unlisted = list(check, "unlisted_media");
            if !unlisted.is_empty() {
                let _infallible =
                    writeln!(out, "The database names media files that are not in it: {}", join_first(unlisted));
            }
        }
    }
    if let Some(media) = report.get("media") {
        describe_media(&mut out, media);
    }
    if let Some(aside) = report.get("aside").filter(|aside| !aside.is_null()) {
        let _infallible = writeln!(out, "The database that was there is now {}", text(Some(aside)));
    }
    out
}

fn describe_media(out: &mut String, media: &Value) {
    let files = plural(count(media, "files"), "file", "files");
    let bytes = plural(count(media, "bytes"), "byte", "bytes");
    let _infallible = writeln!(out, "Media: {files} of {bytes} in all.");
    for (kind, names) in [("missing", "missing_files"), ("damaged", "damaged_files")] {
        if count(media, kind) > 0 {
            let _infallible = writeln!(out, "{} {kind}: {}", count(media, kind), join_first(list(media, names)));
        }
    }
    let absent = count(media, "absent_since_backup");
    if absent > 0 {
        let files = plural(absent, "file was", "files were");
        let _infallible = writeln!(out, "{files} missing already when the backup was made.");
    }
}

/// Of `locum export`.
pub fn describe_export(report: &Value) -> String {
    let rows = count_table(report, &[("lines", "EXPORTED"), ("left_out", "LEFT OUT")]);
    format!("Exported to {}\n\n{rows}", text(report.get("file")))
}

/// Of `locum import`.
pub fn describe_import(report: &Value) -> String {
    let records = plural(count(report, "records"), "record", "records");
    let rows = count_table(report, &[("taken", "IMPORTED"), ("known", "WERE THERE")]);
    let mut out = format!("Read {records}.\n\n{rows}\n");
    let skipped = list(report, "skipped");
    if !skipped.is_empty() {
        let _infallible = write!(out, "\nSkipped:\n{}\n", table(skipped, &["kind", "count", "why", "example"]));
    }
    let nested = |part: &str, name: &str| report.get(part).map_or(0, |part| count(part, name));
    let (users, posts) = (nested("placeholders", "users"), nested("placeholders", "posts"));
    if users + posts > 0 {
        let (users, posts) = (plural(users, "user", "users"), plural(posts, "post", "posts"));
        let _infallible = writeln!(out, "\nPlaceholders for what the source only refers to: {users}, {posts}.");
    }
    let (copied, missing) = (nested("media", "copied"), nested("media", "missing"));
    if copied + missing > 0 {
        let _infallible = writeln!(out, "\nMedia files: {copied} copied, {missing} missing from the source.");
    }
    for remark in list(report, "remarks") {
        let _infallible = writeln!(out, "\nNote: {}", text(Some(remark)));
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{describe_fsck, describe_import, describe_restore};

    #[test]
    fn differences_of_counters_and_index_are_listed_with_what_repairs_them() {
        let report = json!({
            "sound": false,
            "damage": ["table bookmark: page 3 is damaged"],
            "differences": [{ "counter": "users.post_count", "id": "7", "stored": 2, "counted": 1 }],
            "index": {
                "sound": false, "posts": 9, "missing": ["1", "2"], "surplus": [], "repeated": [], "outdated": ["3"],
                "days": [], "damaged_files": [],
            },
        });
        let expected = "Damage: table bookmark: page 3 is damaged
1 counter is wrong:

COUNTER           ID  STORED  COUNTED
users.post_count  7   2       1

The search index lacks 2 posts: 1, 2
The search index has outdated 1 post: 3
`locum fsck --repair` repairs the search index.
Problems were found.";
        assert_eq!(describe_fsck(&report), expected);
    }

    #[test]
    fn restore_says_what_was_done_and_what_is_missing() {
        let check = json!({ "sound": true, "damage": [], "differences": [], "unlisted_media": [] });
        let mut report = json!({
            "backup": "20261129T161024237Z", "version": "0.1.0", "verified": true, "check": check, "aside": null,
            "media": {
                "files": 2, "bytes": 851, "missing": 0, "missing_files": [], "damaged": 0, "damaged_files": [],
                "absent_since_backup": 1,
            },
        });
        let expected = "Backup 20261129T161024237Z (version 0.1.0) is complete and undamaged. Nothing was restored.

Database: All compared counters are right.
Media: 2 files of 851 bytes in all.
1 file was missing already when the backup was made.
";
        assert_eq!(describe_restore(&report), expected);
        report["verified"] = false.into();
        report["check"] = serde_json::Value::Null;
        report["media"]["missing"] = 1.into();
        report["media"]["missing_files"] = json!(["a.jpg"]);
        let broken = describe_restore(&report);
        assert!(broken.contains("is incomplete or damaged.\n"), "{broken}");
        assert!(broken.contains("It contains no database.\n") && broken.contains("1 missing: a.jpg\n"), "{broken}");
    }

    #[test]
    fn import_is_a_table_of_the_kinds_that_there_were() {
        let report = json!({
            "records": 4, "taken": { "post": 2, "note_tweet": 0 }, "known": { "like": 1 }, "remarks": ["Renamed."],
            "skipped": [{ "kind": "poll_vote", "count": 1, "why": "it is not known who voted", "example": "post 5" }],
            "placeholders": { "users": 1, "posts": 0 }, "media": { "copied": 1, "missing": 0 },
        });
        let expected = "Read 4 records.

KIND  IMPORTED  WERE THERE
like  0         1
post  2         0

Skipped:
KIND       COUNT  WHY                        EXAMPLE
poll_vote  1      it is not known who voted  post 5

Placeholders for what the source only refers to: 1 user, 0 posts.

Media files: 1 copied, 0 missing from the source.

Note: Renamed.
";
        assert_eq!(describe_import(&report), expected);
    }
}
