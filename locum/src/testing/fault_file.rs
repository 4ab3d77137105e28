//! `locum fault run`: files of fault rules.

use std::fmt::Display;
use std::path::Path;

use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use toml::Spanned;

use super::{exchange, read_data, refused_request, text_of};
use instance::arguments::GlobalArgs;
use instance::command_error::CommandError;

/// A file with more is no list of rules.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

struct FileRule {
    /// From 1.
    line: usize,
    rule: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TomlRules {
    #[serde(default)]
    rules: Vec<Spanned<Value>>,
}

/// Adds all rules of a file or none. What is wrong with one is said with its line.
pub(super) fn add_file(common: &GlobalArgs, file: &Path) -> Result<Value, CommandError> {
    let rules = read_rules(file)?;
    let values: Vec<&Value> = rules.iter().map(|rule| &rule.rule).collect();
    let (status, bytes) = exchange(common, Method::POST, "/faults", Some(&json!({ "rules": values })))?;
    read_data(status, &bytes).ok_or_else(|| {
        let Some((number, rule)) = find_refused_rule(&bytes, &rules) else {
            return refused_request(status, &bytes);
        };
        let named = |text: &str| format!("{}:{}: rule {number}: {text}", file.display(), rule.line);
        match refused_request(status, &bytes) {
            CommandError::Usage(text) => CommandError::Usage(named(&text)),
            CommandError::Failed(text) => CommandError::Failed(named(&text)),
            other => other,
        }
    })
}

/// With its number, from 1. The refusal names its place in the list, or the id that is taken.
fn find_refused_rule<'r>(answer: &[u8], rules: &'r [FileRule]) -> Option<(usize, &'r FileRule)> {
    let answer: Value = serde_json::from_slice(answer).ok()?;
    let error = answer.pointer("/errors/0")?;
    let place =
        text_of(error, "parameter").strip_prefix("rules[").and_then(|rest| rest.split(']').next()?.parse().ok());
    let index = match place {
        Some(index) => index,
        None => rules.iter().rposition(|one| one.rule.get("id").is_some_and(|id| error.get("value") == Some(id)))?,
    };
    Some((index + 1, rules.get(index)?))
}

fn read_rules(file: &Path) -> Result<Vec<FileRule>, CommandError> {
    let shown = file.display();
    let failed = |error: &dyn Display| CommandError::Failed(format!("{shown}: {error}"));
    let size = std::fs::metadata(file).map_err(|error| failed(&error))?.len();
    if size > MAX_FILE_BYTES {
        return Err(CommandError::Usage(format!("{shown}: a file of rules has at most {MAX_FILE_BYTES} bytes")));
    }
    let text = std::fs::read_to_string(file).map_err(|error| failed(&error))?;
    let rules = match file.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => read_toml_rules(&text),
        Some("jsonl" | "json") => read_json_lines(&text),
        _ => return Err(CommandError::Usage(format!("{shown}: expected a file that ends in .toml, .jsonl or .json"))),
    };
    let rules = rules.map_err(|(line, problem)| CommandError::Usage(format!("{shown}:{line}: {problem}")))?;
    if rules.is_empty() {
        return Err(CommandError::Usage(format!("{shown}: the file has no rules")));
    }
    Ok(rules)
}

type LineError = (usize, String);

fn read_toml_rules(text: &str) -> Result<Vec<FileRule>, LineError> {
    let line_of = |position: usize| text.get(..position).unwrap_or_default().matches('\n').count() + 1;
    let file: TomlRules = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(span.start));
        (line, format!("{}; expected [[rules]] with match and effect, and nothing else", error.message()))
    })?;
    let located = |rule: Spanned<Value>| FileRule { line: line_of(rule.span().start), rule: rule.into_inner() };
    Ok(file.rules.into_iter().map(located).collect())
}

fn read_json_lines(text: &str) -> Result<Vec<FileRule>, LineError> {
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let read = |(text, line): (&str, usize)| match serde_json::from_str(text) {
        Ok(rule) => Ok(FileRule { line, rule }),
        Err(error) => Err((line, format!("{error}; each line is one rule"))),
    };
    lines.map(read).collect()
}
