//! `locum clock`.

use std::fmt::Write as _;

use clap::Subcommand;
use http::Method;
use serde_json::{Value, json};

use super::{call_control_api, text_of};
use instance::arguments::GlobalArgs;
use instance::command_error::CommandError;

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ClockCommand {
    /// Show the world's time, and what is due next
    Show,
    /// Stop the clock, after moving it to a time if one is given
    Freeze {
        /// RFC 3339, or `now` for the machine's time
        time: Option<String>,
    },
    /// Move the clock forward to a time, through everything that is due before it
    Set {
        /// RFC 3339, or `now` for the machine's time
        time: String,
    },
    /// Move the clock forward by a span of time, through everything that is due before its end
    Advance {
        /// Such as 8d, 90s, 2h, 1d12h or 500ms; 0s runs what is due and waits for it
        #[arg(value_name = "DURATION")]
        by: String,
    },
    /// Make the clock run faster or slower than the machine's
    Scale {
        /// How many times as fast: from 0.001 to 100000
        factor: String,
    },
    /// Make the clock run with the machine's, or as fast if it is ahead
    Live,
}

pub(crate) fn run_clock_command(common: &GlobalArgs, command: &ClockCommand) -> Result<(), CommandError> {
    let (method, path, body) = match command {
        ClockCommand::Show => (Method::GET, "/clock", None),
        ClockCommand::Freeze { time: None } => (Method::POST, "/clock/freeze", Some(json!({}))),
        ClockCommand::Freeze { time: Some(time) } => (Method::POST, "/clock/freeze", Some(json!({ "time": time }))),
        ClockCommand::Set { time } => (Method::POST, "/clock/set", Some(json!({ "time": time }))),
        ClockCommand::Advance { by } => (Method::POST, "/clock/advance", Some(json!({ "by": by }))),
        ClockCommand::Scale { factor } => (Method::POST, "/clock/scale", Some(json!({ "factor": factor }))),
        ClockCommand::Live => (Method::POST, "/clock/live", Some(json!({}))),
    };
    let value = call_control_api(common, method, path, body.as_ref())?;
    common.output_options().print_value_or_text(&value, || describe_answer(&value));
    Ok(())
}

fn describe_answer(answer: &Value) -> String {
    let mut lines = format!("{}  (clock {})\n", text_of(answer, "now"), text_of(answer, "description"));
    if let Some(report) = answer.get("report").filter(|report| report.get("from") != report.get("to")) {
        let number = |name: &str| report.get(name).and_then(Value::as_i64).unwrap_or(0);
        let (from, steps, events, ms) =
            (text_of(report, "from"), number("steps"), number("events"), number("duration_ms"));
        let _infallible = writeln!(lines, "from {from} with {steps} stops, {events} events, in {ms} ms");
    }
    if let Some(report) = answer.get("report") {
        for (job, count) in report.get("jobs").and_then(Value::as_object).into_iter().flatten() {
            let _infallible = writeln!(lines, "  {job}: {count}");
        }
        for note in report.get("notes").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            let _infallible = writeln!(lines, "note: {note}");
        }
    }
    if let Some(due) = answer.get("due").and_then(Value::as_array).filter(|due| !due.is_empty()) {
        lines.push_str("due next:\n");
        for one in due {
            let _infallible = writeln!(lines, "  {}  {}", text_of(one, "at"), text_of(one, "what"));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::describe_answer;

    #[test]
    fn report_is_printed_in_lines() {
        let answer = json!({
            "now": "2027-01-15T08:00:00.000Z",
            "description": "frozen at 2027-01-15T08:00:00.000Z",
            "report": {
                "from": "2027-01-14T08:00:00.000Z", "to": "2027-01-15T08:00:00.000Z", "steps": 2, "events": 3,
                "jobs": {"polls": 1}, "notes": ["something is late"], "duration_ms": 12
            },
        });
        let expected = "2027-01-15T08:00:00.000Z  (clock frozen at 2027-01-15T08:00:00.000Z)\n\
                        from 2027-01-14T08:00:00.000Z with 2 stops, 3 events, in 12 ms\n  polls: 1\nnote: something is late\n";
        assert_eq!(describe_answer(&answer), expected);
    }
}
