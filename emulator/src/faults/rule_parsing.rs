//! Reads rules, from JSON and from texts: `{"match": {…}, "effect": {"name": …, …}}`.

use std::fmt;

use base::Time;
use serde_json::{Map, Value, json};

use super::declarations::{
    EFFECTS, EffectDeclaration, FaultField, FaultFieldKind, FaultScope, MATCH_FIELDS, effect_fields,
};
use super::effect::{FaultEffect, unknown_effect};
use super::matching::{FaultMatch, RoutePattern, parse_method};

const MAX_TEXT: usize = 200;
const MAX_ID: usize = 40;
const RULE_MEMBERS: [&str; 3] = ["id", "match", "effect"];

/// A rule that is not added yet.
#[derive(Clone, Debug)]
pub struct FaultRuleRequest {
    pub id: Option<String>,
    pub matcher: FaultMatch,
    pub effect: FaultEffect,
    pub(super) declaration: &'static EffectDeclaration,
    pub(super) match_fields: Map<String, Value>,
    pub(super) effect_fields: Map<String, Value>,
}

/// What is wrong with a rule, and what would be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultRuleProblem {
    /// `match.nth`
    pub path: String,
    pub value: String,
    pub message: String,
}

impl fmt::Display for FaultRuleProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl FaultRuleProblem {
    pub fn new(path: impl Into<String>, value: impl ToString, message: impl Into<String>) -> Self {
        let value: String = value.to_string().chars().take(MAX_TEXT).collect();
        Self { path: path.into(), value, message: message.into() }
    }

    /// Names the rule in a list, from 0.
    #[must_use]
    pub fn of_rule(self, index: usize) -> Self {
        Self { path: format!("rules[{index}].{}", self.path), ..self }
    }
}

impl FaultRuleRequest {
    /// A condition as it was given; empty if it is no text.
    pub fn match_text(&self, name: &str) -> &str {
        self.match_fields.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether it is looked at for requests.
    pub fn concerns_requests(&self) -> bool {
        self.declaration.scope == FaultScope::Request
    }

    /// Whether requests to the documented path may meet the effect, whoever sends them.
    pub fn may_apply_to(&self, method: &str, path: &str) -> bool {
        let is_met = |route: &RoutePattern| route.matches_method(method) && route.may_match_path(path);
        let mut effect_routes = self.declaration.routes.iter().filter_map(|route| RoutePattern::parse(route).ok());
        self.matcher.method.as_deref().is_none_or(|own| own == method)
            && self.matcher.route.as_ref().is_none_or(is_met)
            && (self.declaration.routes.is_empty() || effect_routes.any(|route| is_met(&route)))
    }

    /// Refuses a rule that has ended by now, the world's time.
    pub fn check_end(&self, now: Time) -> Result<(), FaultRuleProblem> {
        match self.matcher.until {
            Some(until) if until <= now => {
                let message = format!("until is over: the world's time is {now}");
                Err(FaultRuleProblem::new("match.until", until, message))
            }
            _ => Ok(()),
        }
    }

    pub fn from_json(rule: &Value) -> Result<Self, FaultRuleProblem> {
        let rule = require_object("", rule)?;
        if let Some(name) = rule.keys().find(|name| !RULE_MEMBERS.contains(&name.as_str())) {
            let message = format!("a rule has no member {name:?}; its members are: {}", RULE_MEMBERS.join(", "));
            return Err(FaultRuleProblem::new(name, "", message));
        }
        let empty = json!({});
        let match_fields = require_object("match", rule.get("match").unwrap_or(&empty))?;
        let (declaration, fields) = read_effect(rule.get("effect").unwrap_or(&Value::Null))?;
        check_fields("effect", &fields, &declaration.fields().collect::<Vec<_>>(), |name| {
            let message = format!("the effect {} has no parameter {name:?}", declaration.name);
            list_fields(message, declaration.fields())
        })?;
        require_fields(declaration, &fields)?;
        check_conditions(declaration, match_fields)?;
        let matcher = build_match(match_fields)?;
        check_numbers(&matcher)?;
        check_route(declaration, &matcher, match_fields)?;
        Ok(Self {
            id: rule.get("id").map(read_id).transpose()?,
            matcher,
            effect: FaultEffect::build(declaration, &fields)?,
            declaration,
            match_fields: match_fields.clone(),
            effect_fields: fields,
        })
    }
}

/// The effect's name and its other members; a text is an effect without parameters.
fn read_effect(effect: &Value) -> Result<(&'static EffectDeclaration, Map<String, Value>), FaultRuleProblem> {
    let (name, fields) = match effect {
        Value::String(name) => (name.clone(), Map::new()),
        Value::Object(members) => {
            let mut fields = members.clone();
            let name = fields.remove("name").and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
            (name, fields)
        }
        _ => (String::new(), Map::new()),
    };
    if name.is_empty() {
        let names: Vec<&str> = EFFECTS.iter().map(|effect| effect.name).collect();
        let message = format!("a rule needs an effect; the effects are: {}", names.join(", "));
        return Err(FaultRuleProblem::new("effect", "", message));
    }
    match EffectDeclaration::find(&name) {
        Some(declaration) => Ok((declaration, fields)),
        None => Err(FaultRuleProblem::new("effect.name", &name, unknown_effect(&name))),
    }
}

fn require_object<'v>(path: &str, value: &'v Value) -> Result<&'v Map<String, Value>, FaultRuleProblem> {
    value.as_object().ok_or_else(|| {
        let what = if path.is_empty() { "a rule" } else { path };
        FaultRuleProblem::new(path, value, format!("{what} must be a JSON object"))
    })
}

fn list_fields(message: String, fields: impl Iterator<Item = &'static FaultField>) -> String {
    let names: Vec<&str> = fields.map(|field| field.name).collect();
    if names.is_empty() {
        format!("{message}: it has none")
    } else {
        format!("{message}; it has: {}", names.join(", "))
    }
}

fn check_fields(
    parent: &str,
    fields: &Map<String, Value>,
    known: &[&FaultField],
    unknown: impl Fn(&str) -> String,
) -> Result<(), FaultRuleProblem> {
    for (name, value) in fields {
        let path = format!("{parent}.{name}");
        let Some(field) = known.iter().find(|field| field.name == name) else {
            return Err(FaultRuleProblem::new(path, value, unknown(name)));
        };
        if !is_valid(field, value) {
            let message = format!("{name} must be {}", field.describe_expected());
            return Err(FaultRuleProblem::new(path, value, message));
        }
    }
    Ok(())
}

fn is_valid(field: &FaultField, value: &Value) -> bool {
    match field.kind {
        FaultFieldKind::Text => value.as_str().is_some_and(|text| (1..=MAX_TEXT).contains(&text.len())),
        FaultFieldKind::Number(min, max) => {
            value.as_u64().is_some_and(|number| (u64::from(min)..=u64::from(max)).contains(&number))
        }
        FaultFieldKind::Probability => value.as_f64().is_some_and(|share| share > 0.0 && share <= 1.0),
        FaultFieldKind::Time => value.as_str().and_then(Time::parse).is_some(),
    }
}

fn require_fields(
    declaration: &'static EffectDeclaration,
    fields: &Map<String, Value>,
) -> Result<(), FaultRuleProblem> {
    let Some(missing) = declaration.required.iter().find(|field| !fields.contains_key(field.name)) else {
        return Ok(());
    };
    let (name, expected) = (missing.name, missing.describe_expected());
    let message = format!("the effect {} needs {name}: {expected}", declaration.name);
    Err(FaultRuleProblem::new(format!("effect.{name}"), "", message))
}

/// Refuses conditions that can never hold for the effect.
fn check_conditions(
    declaration: &'static EffectDeclaration,
    fields: &Map<String, Value>,
) -> Result<(), FaultRuleProblem> {
    let all: Vec<&FaultField> = MATCH_FIELDS.iter().collect();
    check_fields("match", fields, &all, |name| {
        list_fields(format!("there is no condition {name:?}"), MATCH_FIELDS.iter()).replace("it has", "there are")
    })?;
    let is_known = |name: &str| declaration.conditions().any(|field| field.name == name);
    let Some((name, value)) = fields.iter().find(|(name, _)| !is_known(name)) else {
        return Ok(());
    };
    let (effect, scope) = (declaration.name, declaration.scope.name());
    let message = format!("the effect {effect} applies to {scope}, which have no {name}");
    Err(FaultRuleProblem::new(format!("match.{name}"), value, list_fields(message, declaration.conditions())))
}

fn build_match(fields: &Map<String, Value>) -> Result<FaultMatch, FaultRuleProblem> {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let number = |name: &str| fields.get(name).and_then(Value::as_u64);
    let wrong = |name: &'static str| {
        move |message: String| FaultRuleProblem::new(format!("match.{name}"), text(name).unwrap_or_default(), message)
    };
    let account = text("account").map(|text| i64::from_str_radix(text, 36).map_err(|_| ()));
    let webhook = text("webhook").map(|text| text.parse().map_err(|_| ()));
    Ok(FaultMatch {
        method: text("method").map(parse_method).transpose().map_err(wrong("method"))?,
        route: text("route").map(RoutePattern::parse).transpose().map_err(wrong("route"))?,
        app: text("app").map(str::to_owned),
        app_id: None,
        user: text("user").map(str::to_owned),
        user_id: None,
        account: account
            .transpose()
            .map_err(|()| wrong("account")("account must be the id of an ads account".into()))?,
        stream: text("stream").map(str::to_owned),
        webhook: webhook.transpose().map_err(|()| wrong("webhook")("webhook must be the id of a webhook".into()))?,
        nth: number("nth"),
        after: number("after"),
        every: number("every"),
        probability: fields.get("probability").and_then(Value::as_f64),
        times: number("times"),
        until: text("until").and_then(Time::parse),
    })
}

/// Refuses a match that the other conditions leave out.
fn check_numbers(matcher: &FaultMatch) -> Result<(), FaultRuleProblem> {
    let Some(nth) = matcher.nth else {
        return Ok(());
    };
    let after = matcher.after.unwrap_or(0);
    let problem = match matcher.every {
        _ if nth <= after => format!("after leaves out the first {after} matches, and so match {nth}"),
        Some(every) if !(nth - after).is_multiple_of(every) => format!("every leaves match {nth} out"),
        _ => return Ok(()),
    };
    Err(FaultRuleProblem::new("match.nth", nth, format!("the rule could never apply: {problem}")))
}

/// Refuses a route that the effect can never meet.
fn check_route(
    declaration: &'static EffectDeclaration,
    matcher: &FaultMatch,
    fields: &Map<String, Value>,
) -> Result<(), FaultRuleProblem> {
    let Some(route) = &matcher.route else {
        return Ok(());
    };
    let is_met = |one: &&str| {
        let (method, path) = one.split_once(' ').unwrap_or(("", one));
        let start = path.trim_end_matches('*');
        let given = fields.get("route").and_then(Value::as_str).unwrap_or_default();
        let given = given.split_whitespace().next_back().unwrap_or_default();
        route.matches_method(method) && (route.may_match_path(path) || given.starts_with(start))
    };
    if declaration.routes.is_empty() || declaration.routes.iter().any(is_met) {
        return Ok(());
    }
    let routes = declaration.routes.join(", ");
    let message = format!("the effect {} applies to {routes} only", declaration.name);
    let given = fields.get("route").and_then(Value::as_str).unwrap_or_default();
    Err(FaultRuleProblem::new("match.route", given, message))
}

fn read_id(id: &Value) -> Result<String, FaultRuleProblem> {
    let is_plain = |text: &&str| {
        let letters = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        letters && (1..=MAX_ID).contains(&text.len())
    };
    let text = id.as_str().filter(is_plain);
    text.map(str::to_owned).ok_or_else(|| {
        FaultRuleProblem::new("id", id, format!("an id has 1 to {MAX_ID} letters, digits, dashes and underscores"))
    })
}

/// The JSON of a rule whose fields are texts, as in the flags of a command or in a form: `effect`, `id`, conditions and
/// parameters of the effect, each by its name. Without an effect, it is the one whose parameters are given.
pub fn rule_from_texts<'t>(texts: impl Iterator<Item = (&'t str, &'t str)>) -> Result<Value, FaultRuleProblem> {
    let (mut rule, mut matched, mut effect) = (Map::new(), Map::new(), Map::new());
    let parameters = effect_fields();
    for (name, text) in texts {
        if name == "id" {
            rule.insert("id".to_owned(), text.into());
        } else if name == "effect" {
            effect.insert("name".to_owned(), text.into());
        } else if let Some(field) = MATCH_FIELDS.iter().find(|field| field.name == name) {
            matched.insert(name.to_owned(), read_text(field, text));
        } else if let Some(field) = parameters.iter().find(|field| field.name == name) {
            effect.insert(name.to_owned(), read_text(field, text));
        }
    }
    if !effect.contains_key("name")
        && let Some(found) = sole_effect_with(&effect)
    {
        effect.insert("name".to_owned(), found.name.into());
    }
    rule.insert("match".to_owned(), matched.into());
    rule.insert("effect".to_owned(), effect.into());
    Ok(rule.into())
}

fn sole_effect_with(parameters: &Map<String, Value>) -> Option<&'static EffectDeclaration> {
    let fits = |effect: &&EffectDeclaration| {
        let mut names = parameters.keys();
        names.all(|name| effect.required.iter().any(|field| field.name == name))
    };
    let mut fitting = EFFECTS.iter().filter(|effect| !effect.required.is_empty()).filter(fits);
    let first = fitting.next().filter(|_| !parameters.is_empty());
    first.filter(|_| fitting.next().is_none())
}

/// A text that is no number stays a text, which the check refuses.
fn read_text(field: &FaultField, text: &str) -> Value {
    let number = match field.kind {
        FaultFieldKind::Number(..) => text.parse::<u64>().ok().map(Value::from),
        FaultFieldKind::Probability => text.parse::<f64>().ok().map(Value::from),
        FaultFieldKind::Text | FaultFieldKind::Time => None,
    };
    number.unwrap_or_else(|| text.into())
}
