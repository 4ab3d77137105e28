//! `locum reset` and `locum snapshot`.

use std::fmt::Write as _;

use clap::Subcommand;
use http::Method;
use serde_json::{Value, json};

use super::{call_control_api, segment, text_of, write_query};
use instance::arguments::GlobalArgs;
use instance::command_error::CommandError;

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum SnapshotCommand {
    /// Save the world under a name
    Save {
        /// Letters, digits, `-`, `_` and `.`
        name: String,
    },
    /// Return the world to a snapshot
    Load {
        /// The snapshot
        name: String,
    },
    /// List the snapshots
    List,
    /// Show the rows that changed since a snapshot
    Diff {
        /// The snapshot
        name: String,
        /// The snapshot to compare it with, instead of the world as it is
        other: Option<String>,
    },
    /// Remove a snapshot
    Rm {
        /// The snapshot
        name: String,
    },
}

pub(crate) fn run_reset(common: &GlobalArgs) -> Result<(), CommandError> {
    let output = common.output_options();
    let value = call_control_api(common, Method::POST, "/reset", None)?;
    output.print_value_or_text(&value, || format!("returned to the seed in {}", duration(&value)));
    Ok(())
}

pub(crate) fn run_snapshot_command(common: &GlobalArgs, command: &SnapshotCommand) -> Result<(), CommandError> {
    let output = common.output_options();
    match command {
        SnapshotCommand::Save { name } => {
            let value = call_control_api(common, Method::POST, "/snapshots", Some(&json!({ "name": name })))?;
            output.print_value_or_text(&value, || format!("saved {}", describe(&value)));
        }
        SnapshotCommand::Load { name } => {
            let value = call_control_api(common, Method::POST, &format!("/snapshots/{}/load", segment(name)), None)?;
            output.print_value_or_text(&value, || format!("returned to {name} in {}", duration(&value)));
        }
        SnapshotCommand::List => {
            let value = call_control_api(common, Method::GET, "/snapshots", None)?;
            output.print_value_or_text(&value, || render_list(&value));
        }
        SnapshotCommand::Diff { name, other } => {
            let query = write_query(&[("with", other.as_deref())]);
            let path = format!("/snapshots/{}/diff{query}", segment(name));
            let value = call_control_api(common, Method::GET, &path, None)?;
            output.print_value_or_text(&value, || render_comparison(&value));
        }
        SnapshotCommand::Rm { name } => {
            let value = call_control_api(common, Method::DELETE, &format!("/snapshots/{}", segment(name)), None)?;
            output.print_value_or_text(&value, || format!("removed {name}"));
        }
    }
    Ok(())
}

fn duration(value: &Value) -> String {
    format!("{:.0} ms", value.get("milliseconds").and_then(Value::as_f64).unwrap_or_default())
}

fn describe(snapshot: &Value) -> String {
    let kib = snapshot.get("bytes").and_then(Value::as_u64).unwrap_or(0) / 1024;
    let files = snapshot.get("media_files").and_then(Value::as_u64).unwrap_or(0);
    let of = |key| text_of(snapshot, key);
    format!("{}  {}  world {}  {kib} KiB, {files} media files", of("name"), of("created_at"), of("world"))
}

fn render_list(value: &Value) -> String {
    let lines: Vec<_> = value.as_array().into_iter().flatten().map(describe).collect();
    if lines.is_empty() { "no snapshots: `locum snapshot save NAME` makes one".to_owned() } else { lines.join("\n") }
}

fn render_comparison(value: &Value) -> String {
    let tables = value.get("tables").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if tables.is_empty() {
        return "no differences".to_owned();
    }
    let mut text = String::new();
    for table in tables {
        let count = |key| table.get(key).and_then(Value::as_u64).unwrap_or(0);
        let (added, removed, changed) = (count("added"), count("removed"), count("changed"));
        let _whole = writeln!(text, "{}: {added} added, {removed} removed, {changed} changed", text_of(table, "table"));
        let rows = table.get("rows").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for row in rows {
            let _whole = writeln!(text, "  {}", render_row(row));
        }
        let shown = u64::try_from(rows.len()).unwrap_or(0);
        if added + removed + changed > shown {
            let _whole = writeln!(text, "  … {} more", added + removed + changed - shown);
        }
    }
    text.trim_end().to_owned()
}

fn render_row(row: &Value) -> String {
    let sign = match text_of(row, "kind") {
        "added" => '+',
        "removed" => '-',
        _ => '~',
    };
    let columns = row.get("columns").and_then(Value::as_array).into_iter().flatten();
    let columns = columns.map(|column| {
        let value = |key| column.get(key).and_then(Value::as_str);
        let shown = match (value("before"), value("after")) {
            (Some(before), Some(after)) if before != after => format!("{before} → {after}"),
            (before, after) => after.or(before).unwrap_or_default().to_owned(),
        };
        format!("{}={shown}", text_of(column, "column"))
    });
    format!("{sign} {}", columns.collect::<Vec<_>>().join(" "))
}
