//! `locum log`: the journal of requests.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use base::Time;
use base::clock::wall_time;
use clap::{ArgGroup, Args};
use http::Method;
use serde_json::{Value, json};

use super::{call_control_api, find_server, refused_request, segment, text_of, write_query};
use instance::arguments::GlobalArgs;
use instance::command::send_request;
use instance::command_error::CommandError;
use instance::output::{exit_with_reader, print_line};

/// Seconds that one request of `--follow` waits. A reset of the world waits for it.
const FOLLOW_WAIT: u32 = 1;
const FOLLOW_PAGE: u32 = 200;
/// Of a failed assertion: that match, and that nearly do.
const SHOWN_REQUESTS: usize = 5;

#[derive(Args, Clone, Debug)]
#[command(group = ArgGroup::new("filters").multiple(true), after_help = "Assertions:
  A route comes first, terms follow:
    locum log --assert 'POST /2/tweets status=201 count>=3'
    locum log --assert 'label=ci response.errors missing request.text=\"hello world\" count=1'
  Terms: status, operation, app, user, label, fault, text (=VALUE), count (=, !=, >=, <=, >, <),
  request.PATH and response.PATH (=VALUE, !=VALUE, exists, missing). Without a count, at least one
  request must match.")]
pub(crate) struct LogArgs {
    /// Show one request with headers, bodies and what it caused
    #[arg(conflicts_with_all = ["follow", "curl", "har", "assertions", "clear"])]
    pub(crate) id: Option<String>,
    /// Print requests as they arrive
    #[arg(short, long, conflicts_with_all = ["har", "assertions", "curl", "clear"])]
    pub(crate) follow: bool,
    /// Only with this status: 404, 4xx or failed
    #[arg(long, group = "filters")]
    pub(crate) status: Option<String>,
    /// Only this route: "GET /2/users/me", a path, a template, a prefix that ends in *, or an operation's id
    #[arg(long, group = "filters")]
    pub(crate) route: Option<String>,
    /// Only of this app, by id or name
    #[arg(long, group = "filters")]
    pub(crate) app: Option<String>,
    /// Only of this user, by id or name
    #[arg(long, group = "filters")]
    pub(crate) user: Option<String>,
    /// Only with this label (`locum run --label`, or the header X-Locum-Run)
    #[arg(long, group = "filters")]
    pub(crate) label: Option<String>,
    /// Only since a time (2026-10-01T12:00:00Z) or for a duration (10m, 2h)
    #[arg(long, group = "filters")]
    pub(crate) since: Option<String>,
    /// Only with this text in path, query or a body
    #[arg(long, group = "filters")]
    pub(crate) text: Option<String>,
    /// How many requests, at most
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) limit: u32,
    /// Print a command that repeats this request
    #[arg(long, value_name = "ID", conflicts_with_all = ["har", "assertions", "clear"])]
    pub(crate) curl: Option<String>,
    /// Write the requests to a file as an HTTP archive (HAR 1.2)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["assertions", "clear"])]
    pub(crate) har: Option<PathBuf>,
    /// Fail (exit code 1) unless this holds; may be repeated
    #[arg(long = "assert", value_name = "EXPR", conflicts_with_all = ["clear", "filters"])]
    pub(crate) assertions: Vec<String>,
    /// Empty the journal
    #[arg(long, conflicts_with = "filters")]
    pub(crate) clear: bool,
}

pub(crate) fn run_log_command(common: &GlobalArgs, args: &LogArgs) -> Result<ExitCode, CommandError> {
    if !args.assertions.is_empty() {
        return check_assertions(common, &args.assertions);
    }
    if let Some(id) = &args.id {
        show_request(common, id)?;
    } else if let Some(id) = &args.curl {
        print_curl(common, id)?;
    } else if let Some(path) = &args.har {
        write_archive(common, args, path)?;
    } else if args.clear {
        let removed = call_control_api(common, Method::DELETE, "/requests", None)?;
        common.output_options().print_value(&removed);
    } else if args.follow {
        follow_requests(common, args)?;
    } else {
        list_requests(common, args)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn query(args: &LogArgs, more: &[(&str, String)]) -> Result<String, CommandError> {
    let since = args.since.as_deref().map(parse_since).transpose()?;
    let filters = [
        ("status", args.status.as_deref()),
        ("route", args.route.as_deref()),
        ("app", args.app.as_deref()),
        ("user", args.user.as_deref()),
        ("label", args.label.as_deref()),
        ("since", since.as_deref()),
        ("text", args.text.as_deref()),
    ];
    let more = more.iter().map(|(name, value)| (*name, Some(value.as_str())));
    Ok(write_query(&filters.into_iter().chain(more).collect::<Vec<_>>()))
}

/// A duration is until now, by the system's clock.
fn parse_since(text: &str) -> Result<String, CommandError> {
    if let Some(span) = instance::config::parse_duration(text) {
        let ms = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        return Ok(wall_time().plus_ms(ms.saturating_neg()).to_string());
    }
    let time = Time::parse(text).map(|time| time.to_string());
    time.ok_or_else(|| {
        let accepted = "a time such as 2026-10-01T12:00:00Z or a duration such as 10m is accepted";
        CommandError::Usage(format!("--since {text}: {accepted}"))
    })
}

fn list_requests(common: &GlobalArgs, args: &LogArgs) -> Result<(), CommandError> {
    let path = format!("/requests{}", query(args, &[("limit", args.limit.to_string())])?);
    let found = call_control_api(common, Method::GET, &path, None)?;
    let output = common.output_options();
    if output.json {
        output.print_value(&found);
        return Ok(());
    }
    let requests = found.as_array().map(Vec::as_slice).unwrap_or_default();
    if requests.is_empty() {
        output.print_text("no requests: call the API, or change the filters");
        return Ok(());
    }
    // The newest last, as in other logs.
    for request in requests.iter().rev() {
        output.print_text(&request_line(request));
    }
    let cost = costs_text(common, args.label.as_deref())?;
    output.print_text(&format!("{} requests. {cost}", requests.len()));
    Ok(())
}

fn costs_text(common: &GlobalArgs, label: Option<&str>) -> Result<String, CommandError> {
    let costs = call_control_api(common, Method::GET, "/costs", None)?;
    let runs = costs.get("runs").and_then(Value::as_array);
    let run = runs.into_iter().flatten().find(|run| label.is_some() && run["label"].as_str() == label);
    Ok(match run {
        Some(run) => format!("This run would have cost ${}.", text_of(run, "total_usd")),
        None => format!("Today's calls would have cost ${}.", text_of(&costs, "today_usd")),
    })
}

fn request_line(request: &Value) -> String {
    let time = text_of(request, "received_at");
    let clock = time.split_once('T').map_or(time, |(_, clock)| clock.trim_end_matches('Z'));
    let mut line = format!(
        "{} {} {} {:>6} {} {}",
        text_of(request, "id"),
        clock,
        request["status"],
        text_of(request, "method"),
        text_of(request, "path"),
        request["duration_ms"].as_f64().map_or_else(String::new, |ms| format!("{ms:.1}ms")),
    );
    let user = request["username"].as_str().map(|name| format!("@{name}"));
    let app = request["app"]["name"].as_str().map(|name| format!("[{name}]"));
    let label = request["label"].as_str().map(|label| format!("#{label}"));
    let fault = request["injected_fault"].as_str().map(|rule| format!("fault {rule}"));
    for part in [user, app, label, fault].into_iter().flatten() {
        line.push(' ');
        line.push_str(&part);
    }
    line
}

fn follow_requests(common: &GlobalArgs, args: &LogArgs) -> Result<(), CommandError> {
    exit_with_reader()?;
    let output = common.output_options();
    let newest = call_control_api(common, Method::GET, "/requests?limit=1", None)?;
    let mut after = newest.pointer("/0/number").and_then(Value::as_u64).unwrap_or(0);
    loop {
        let page =
            [("after", after.to_string()), ("wait", FOLLOW_WAIT.to_string()), ("limit", FOLLOW_PAGE.to_string())];
        let found = call_control_api(common, Method::GET, &format!("/requests{}", query(args, &page)?), None)?;
        for request in found.as_array().into_iter().flatten() {
            after = request["number"].as_u64().unwrap_or(after);
            if output.json {
                print_line(&request.to_string());
            } else {
                output.print_text(&request_line(request));
            }
        }
    }
}

fn show_request(common: &GlobalArgs, id: &str) -> Result<(), CommandError> {
    let request = load_request(common, id)?;
    common.output_options().print_value_or_text(&request, || render_request(&request));
    Ok(())
}

fn render_request(request: &Value) -> String {
    let mut lines =
        vec![request_line(request), format!("{} {}", text_of(request, "operation"), text_of(request, "url"))];
    lines.push(format!("credentials {}, cost ${}", text_of(request, "credential"), text_of(request, "cost_usd")));
    for (name, title) in [("request", "Request"), ("response", "Response")] {
        lines.push(format!("\n{title}"));
        lines.extend(message_lines(&request[name]));
    }
    let events = request["events"].as_array().map(Vec::as_slice).unwrap_or_default();
    let deliveries = request["deliveries"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !events.is_empty() {
        lines.push("\nCaused".to_owned());
    }
    lines.extend(events.iter().map(|event| {
        format!(
            "event {} by {} on {}",
            text_of(event, "kind"),
            text_of(event, "actor_id"),
            text_of(event, "subject_id")
        )
    }));
    lines.extend(deliveries.iter().map(|delivery| {
        let attempts = delivery["attempts"].as_array().map_or(0, Vec::len);
        format!("delivery to {}: {}, {attempts} attempts", text_of(delivery, "webhook_url"), text_of(delivery, "state"))
    }));
    lines.join("\n")
}

fn message_lines(message: &Value) -> Vec<String> {
    let headers = message["headers"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut lines: Vec<String> =
        headers.iter().map(|header| format!("{}: {}", text_of(header, "name"), text_of(header, "value"))).collect();
    match &message["body"] {
        Value::Null => {}
        Value::String(body) => lines.extend([String::new(), body.clone()]),
        body => lines.extend([String::new(), serde_json::to_string_pretty(body).unwrap_or_default()]),
    }
    if let Some(reason) = message["body_not_stored"].as_str() {
        lines.push(format!("({} bytes, not stored: {reason})", message["body_size"]));
    }
    lines
}

fn load_request(common: &GlobalArgs, id: &str) -> Result<Value, CommandError> {
    call_control_api(common, Method::GET, &format!("/requests/{}", segment(id)), None)
}

fn print_curl(common: &GlobalArgs, id: &str) -> Result<(), CommandError> {
    let request = load_request(common, id)?;
    let command = text_of(&request, "curl");
    common.output_options().print_value_or_text(&json!({ "curl": command }), || command.to_owned());
    Ok(())
}

fn write_archive(common: &GlobalArgs, args: &LogArgs, path: &Path) -> Result<(), CommandError> {
    let endpoint = find_server(common)?;
    let target = format!("/control/v1/requests.har{}", query(args, &[])?);
    let (status, bytes) = send_request(&endpoint, Method::GET, &target, Vec::new())?;
    if status != 200 {
        return Err(refused_request(status, &bytes));
    }
    let archive: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    std::fs::write(path, &bytes).map_err(|error| CommandError::Failed(format!("{}: {error}", path.display())))?;
    let count = archive.pointer("/log/entries").and_then(Value::as_array).map_or(0, Vec::len);
    common.output_options().print_value(&json!({"file": path.display().to_string(), "requests": count}));
    Ok(())
}

fn check_assertions(common: &GlobalArgs, assertions: &[String]) -> Result<ExitCode, CommandError> {
    let body = json!({ "checks": assertions });
    let outcome = call_control_api(common, Method::POST, "/assert", Some(&body))?;
    common.output_options().print_value_or_text(&outcome, || {
        let results = outcome["results"].as_array().into_iter().flatten();
        results.map(result_text).collect::<Vec<_>>().join("\n")
    });
    Ok(if outcome["passed"] == true { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn result_text(result: &Value) -> String {
    let passed = result["passed"] == true;
    let verdict = if passed { "passed" } else { "FAILED" };
    let mut lines = vec![format!("{verdict}: {} ({} requests match)", text_of(result, "check"), result["count"])];
    if !passed {
        for (list, title) in [("matches", "match"), ("near_misses", "other")] {
            let requests = result[list].as_array().into_iter().flatten().filter_map(Value::as_str);
            lines.extend(requests.take(SHOWN_REQUESTS).map(|request| format!("  {title}: {request}")));
        }
    }
    lines.join("\n")
}
