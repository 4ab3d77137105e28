//! `locum fault`.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};
use emulator::faults::{
    EFFECTS, EffectDeclaration, FaultField, FaultFieldKind, FaultScope, MATCH_FIELDS, effect_fields, rule_from_texts,
};
use http::Method;
use serde_json::{Map, Value, json};

use super::fault_file::add_file;
use super::{call_control_api, segment, text_of};
use instance::arguments::GlobalArgs;
use instance::command_error::CommandError;

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum FaultCommand {
    /// Add a rule: what matches it meets the effect. The first rule that applies wins
    Add(FaultAddArgs),
    /// List the rules, with how often each matched and was applied
    List,
    /// Remove a rule
    Rm {
        /// The rule's id
        id: String,
    },
    /// Remove all rules
    Clear,
    /// Add all rules of a file or none: `[[rules]]` of TOML, or JSON Lines
    Run {
        /// Ends in .toml, .jsonl or .json
        file: PathBuf,
    },
    /// List the effects, with their parameters and conditions
    Effects,
}

/// Flags by name, as the rules declare them.
#[derive(Clone, Debug)]
pub(crate) struct FaultAddArgs(Vec<(&'static str, String)>);

impl FromArgMatches for FaultAddArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = flags().filter_map(|(name, ..)| Some((name, matches.get_one::<String>(name)?.clone())));
        Ok(Self(given.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for FaultAddArgs {
    fn augment_args(command: Command) -> Command {
        let args = flags().map(|(name, value_name, heading, help)| {
            let flag: &str = String::leak(name.replace('_', "-"));
            Arg::new(name).long(flag).value_name(value_name).help_heading(heading).help(help)
        });
        let names: Vec<&str> = EFFECTS.iter().map(|effect| effect.name).collect();
        command.args(args).after_help(format!("Effects: {}.\n`locum fault effects` explains them.", names.join(", ")))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// `(name, value name, heading, help)` of each flag.
fn flags() -> impl Iterator<Item = (&'static str, &'static str, &'static str, &'static str)> {
    let value_name = |field: &FaultField| match field.kind {
        FaultFieldKind::Text => "TEXT",
        FaultFieldKind::Number(..) => "N",
        FaultFieldKind::Probability => "SHARE",
        FaultFieldKind::Time => "TIME",
    };
    let rule = [
        ("effect", "EFFECT", "Rule", "What happens; may be left out if a parameter names it, as --status does"),
        ("id", "ID", "Rule", "The rule's id; f1, f2, … if absent"),
    ];
    let conditions = MATCH_FIELDS.iter().map(move |field| (field.name, value_name(field), "Match", field.summary));
    let parameters = effect_fields();
    let parameters = parameters.into_iter().map(move |field| (field.name, value_name(field), "Effect", field.summary));
    rule.into_iter().chain(conditions).chain(parameters)
}

pub(crate) fn run_fault_command(common: &GlobalArgs, command: &FaultCommand) -> Result<(), CommandError> {
    let call = |method, path: &str, body: Option<&Value>| call_control_api(common, method, path, body);
    let (value, text) = match command {
        FaultCommand::Add(args) => {
            let texts = args.0.iter().map(|(name, text)| (*name, text.as_str()));
            let rule = rule_from_texts(texts).map_err(|problem| CommandError::Usage(problem.to_string()))?;
            let added = call(Method::POST, "/faults", Some(&json!({ "rules": [rule] })))?;
            let text = describe_added(&added);
            (added, text)
        }
        FaultCommand::Run { file } => {
            let added = add_file(common, file)?;
            let text = describe_added(&added);
            (added, text)
        }
        FaultCommand::List => {
            let rules = call(Method::GET, "/faults", None)?;
            let text = describe_rules(&rules);
            (rules, text)
        }
        FaultCommand::Rm { id } => {
            let path = format!("/faults/{}", segment(id));
            (call(Method::DELETE, &path, None)?, format!("removed {id}"))
        }
        FaultCommand::Clear => {
            let cleared = call(Method::DELETE, "/faults", None)?;
            let text = format!("removed {}", count_rules(cleared.get("removed").and_then(Value::as_u64)));
            (cleared, text)
        }
        FaultCommand::Effects => {
            let effects: Vec<Value> = EFFECTS.iter().map(EffectDeclaration::to_json).collect();
            (effects.into(), describe_effects())
        }
    };
    common.output_options().print_value_or_text(&value, || text);
    Ok(())
}

fn count_rules(count: Option<u64>) -> String {
    match count.unwrap_or_default() {
        1 => "1 rule".to_owned(),
        count => format!("{count} rules"),
    }
}

fn describe_added(added: &Value) -> String {
    let ids = added.get("ids").and_then(Value::as_array);
    let ids: Vec<&str> = ids.into_iter().flatten().filter_map(Value::as_str).collect();
    format!("added {}", ids.join(", "))
}

fn describe_rules(rules: &Value) -> String {
    let rules = rules.as_array().map(Vec::as_slice).unwrap_or_default();
    if rules.is_empty() {
        return "no rules: `locum fault add --route \"GET /2/users/me\" --status 503` adds one".to_owned();
    }
    let lines: Vec<String> = rules.iter().map(describe_rule).collect();
    lines.join("\n")
}

fn describe_rule(rule: &Value) -> String {
    let number = |name: &str| rule.get(name).and_then(Value::as_u64).unwrap_or_default();
    let effect = rule.pointer("/effect/name").and_then(Value::as_str).unwrap_or_default();
    let members = |name: &str| rule.get(name).and_then(Value::as_object).map(describe_members).unwrap_or_default();
    let ended = if rule.get("has_ended").and_then(Value::as_bool) == Some(true) { ", ended" } else { "" };
    let (matched, applied) = (number("matched"), number("applied"));
    let parts = [text_of(rule, "id").to_owned(), effect.to_owned(), members("effect"), members("match")];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{}  (matched {matched}, applied {applied}{ended})", parts.join("  "))
}

/// Without the effect's name.
fn describe_members(members: &Map<String, Value>) -> String {
    let pairs = members.iter().filter(|(name, _)| *name != "name").map(|(name, value)| match value {
        Value::String(text) if text.contains(' ') => format!("{name}={text:?}"),
        Value::String(text) => format!("{name}={text}"),
        value => format!("{name}={value}"),
    });
    pairs.collect::<Vec<_>>().join(" ")
}

fn describe_effects() -> String {
    FaultScope::ALL.map(describe_scope).join("\n")
}

fn describe_scope(scope: FaultScope) -> String {
    let name = scope.name();
    let effects = EFFECTS.iter().filter(|effect| effect.scope == scope).flat_map(describe_effect);
    let conditions = MATCH_FIELDS.iter().filter(|field| field.scopes.contains(&scope));
    let flags: Vec<String> = conditions.map(|field| format!("--{}", field.flag_name())).collect();
    let first = std::iter::once(format!("For {name}:"));
    let last = std::iter::once(format!("  match {name} by {}", flags.join(", ")));
    first.chain(effects).chain(last).collect::<Vec<_>>().join("\n")
}

fn describe_effect(effect: &EffectDeclaration) -> Vec<String> {
    let mut lines = vec![format!("  {:<24}{}", effect.name, effect.summary)];
    lines.extend(effect.fields().map(|field| {
        let needed = if effect.required.iter().any(|one| one.name == field.name) { ", required" } else { "" };
        let (flag, expected) = (field.flag_name(), field.describe_expected());
        format!("  {:<24}  --{flag}: {} ({expected}{needed})", "", field.summary)
    }));
    lines.extend(effect.routes.iter().map(|route| format!("  {:<24}  only {route}", "")));
    lines
}
