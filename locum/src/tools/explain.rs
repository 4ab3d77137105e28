//! Text output of `locum sign explain`.

use std::fmt::Write;

use serde_json::Value;

use instance::arguments::GlobalArgs;
use instance::command::{AdminCommand, SignCommand, run_command};
use instance::command_error::CommandError;
use instance::output::OutputOptions;

pub(crate) fn explain_signature(
    common: &GlobalArgs,
    verb: SignCommand,
    output: OutputOptions,
) -> Result<(), CommandError> {
    let SignCommand::Explain(request) = &verb;
    let theirs = request.base_string.clone();
    let found = run_command(common, AdminCommand::Sign(verb), output)?;
    output.print_value_or_text(&found, || render_explanation(&found, theirs.as_deref()));
    Ok(())
}

fn text_field<'v>(found: &'v Value, name: &str) -> &'v str {
    found.get(name).and_then(Value::as_str).unwrap_or("—")
}

fn list_field<'v>(found: &'v Value, name: &str) -> &'v [Value] {
    let list = found.get(name).and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

fn render_explanation(found: &Value, theirs: Option<&str>) -> String {
    let mut all = String::new();
    let mut line = |text: &str| {
        // Writing to a String does not fail.
        let _written = writeln!(all, "{text}");
    };
    match list_field(found, "failures") {
        [] => line("The signature is valid."),
        failures => {
            for failure in failures {
                let (check, message) = (text_field(failure, "check"), text_field(failure, "message"));
                line(&format!("Failed check: {check}. {message}"));
            }
        }
    }
    for hint in list_field(found, "hints").iter().filter_map(Value::as_str) {
        line(&format!("Hint: {hint}"));
    }
    let ours = text_field(found, "base_string");
    line(&format!("\nBase string\n{ours}"));
    if let Some(theirs) = theirs {
        line(&format!("Yours\n{theirs}"));
        line(&render_difference(ours, theirs, found.get("differs_at")));
    }
    line(&format!("\nExpected signature   {}", text_field(found, "expected_signature")));
    line(&format!("Presented signature  {}", text_field(found, "presented_signature")));
    all
}

fn render_difference(ours: &str, theirs: &str, at: Option<&Value>) -> String {
    let at = at.and_then(Value::as_u64).map(usize::try_from);
    let Some(Ok(at)) = at else {
        return "They are identical.".to_owned();
    };
    let from = |text: &str| {
        let rest = text.as_bytes().get(at..).unwrap_or_default();
        match rest.get(..rest.len().min(24)).unwrap_or_default() {
            [] => "the end".to_owned(),
            piece => format!("{:?}", String::from_utf8_lossy(piece)),
        }
    };
    let byte = at.saturating_add(1);
    let (ours, theirs) = (from(ours), from(theirs));
    format!("They differ at byte {byte}: the server's has {ours}, yours has {theirs}.")
}

#[cfg(test)]
mod tests {
    use super::render_difference;
    use serde_json::json;

    #[test]
    fn the_place_is_shown_where_base_strings_part() {
        let at = json!(4);
        let said = render_difference("GET&http", "GET+http", Some(&json!(3)));
        assert!(said.contains("byte 4") && said.contains("\"+http\""), "{said}");
        assert!(render_difference("GET&", "GET&x", Some(&at)).contains("the end"));
        assert_eq!(render_difference("a", "a", None), "They are identical.");
    }
}
