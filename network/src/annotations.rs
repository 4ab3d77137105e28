//! Entities and domains that posts are annotated with, from a catalogue: a built-in one, and what operators add.

use std::collections::HashSet;
use std::sync::Arc;

use base::text::{Entities, FoundName, NameMatcher};
use base::{Error, Fault, Refusal, sorted_distinct};
use query::{OperatorKind, ParsedQuery, QueryNode, QueryTerm, TermValue, WordField};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::Tx;
use store::annotations::{self, AnnotationCatalogue, AnnotationEntity};

const BUILT_IN: &str = include_str!("annotations/builtin.jsonl");
/// Of operators, in all domains together. With two aliases each, they take 93 MB and two seconds to compile.
pub const MAX_ENTITIES: i64 = 100_000;
const MAX_ALIASES: usize = 10;
/// In characters; names, aliases and names of domains.
const NAME_LENGTH: usize = 100;
/// In characters.
const DESCRIPTION_LENGTH: usize = 300;
/// Context annotations of a post; the names in its text have their own maximum.
const MAX_CONTEXTS: usize = 20;
const KINDS: &[&str] = &["Person", "Place", "Product", "Organization", "Other"];
/// Entities per query.
const BATCH_SIZE: i64 = 5_000;

/// An entity as operators write it: a line of an import.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewAnnotationEntity {
    pub domain_id: String,
    pub domain_name: String,
    #[serde(default)]
    pub domain_description: String,
    pub id: String,
    /// `Other` if empty.
    #[serde(default, rename = "type")]
    pub kind: String,
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub aliases: Vec<String>,
}

impl NewAnnotationEntity {
    pub fn parse_line(line: &str) -> Result<AnnotationEntity, Refusal> {
        let new: Self = serde_json::from_str(line).map_err(|error| {
            let start: String = line.chars().take(NAME_LENGTH).collect();
            Refusal::invalid_parameter("line", start, format!("the line is no entity: {error}"))
        })?;
        new.validate()
    }

    pub fn validate(self) -> Result<AnnotationEntity, Refusal> {
        let kind = if self.kind.is_empty() { "Other".to_owned() } else { self.kind };
        if !KINDS.contains(&kind.as_str()) {
            return Err(Refusal::invalid_parameter("type", kind, format!("the type is one of {}", KINDS.join(", "))));
        }
        if self.aliases.len() > MAX_ALIASES {
            let message = format!("an entity has at most {MAX_ALIASES} aliases");
            return Err(Refusal::invalid_parameter("aliases", self.aliases.len(), message));
        }
        self.aliases.iter().try_for_each(|alias| check_name("aliases", alias))?;
        check_name("name", &self.name)?;
        check_name("domain_name", &self.domain_name)?;
        check_description("description", &self.description)?;
        check_description("domain_description", &self.domain_description)?;
        Ok(AnnotationEntity {
            domain_id: parse_id("domain_id", &self.domain_id)?,
            id: parse_id("id", &self.id)?,
            domain_name: self.domain_name,
            domain_description: self.domain_description,
            kind,
            name: self.name,
            description: self.description,
            aliases: self.aliases.join("\n"),
        })
    }
}

fn parse_id(name: &'static str, text: &str) -> Result<i64, Refusal> {
    let id = text.parse().ok().filter(|id| *id > 0);
    id.ok_or_else(|| Refusal::invalid_parameter(name, text, "an id is a positive number"))
}

fn check_name(parameter: &'static str, name: &str) -> Result<(), Refusal> {
    let length = name.chars().count();
    let is_valid = (1..=NAME_LENGTH).contains(&length) && name.trim() == name && !name.contains(char::is_control);
    if is_valid && name.contains(char::is_alphanumeric) {
        return Ok(());
    }
    let message = format!("a name has 1 to {NAME_LENGTH} characters, no control characters, and a letter or digit");
    Err(Refusal::invalid_parameter(parameter, name, message))
}

fn check_description(parameter: &'static str, description: &str) -> Result<(), Refusal> {
    if description.chars().count() <= DESCRIPTION_LENGTH {
        return Ok(());
    }
    let message = format!("a description has at most {DESCRIPTION_LENGTH} characters");
    Err(Refusal::invalid_parameter(parameter, description, message))
}

/// Adds entities to the catalogue, or replaces those with the same ids. Later posts are annotated with them. Returns the
/// catalogue's version.
pub fn put_entities(tx: &mut Tx<'_>, entities: &[AnnotationEntity]) -> Result<i64, Error> {
    for entity in entities {
        annotations::upsert(tx, entity)?;
    }
    if annotations::count(tx)? > MAX_ENTITIES {
        let message = format!("the catalogue contains at most {MAX_ENTITIES} entities");
        return Err(Refusal::invalid_parameter("entities", entities.len(), message).into());
    }
    Ok(annotations::change_version(tx)?)
}

/// Posts keep their annotations. Returns the catalogue's version, or `None` if there is no such entity.
pub fn remove_entity(tx: &mut Tx<'_>, domain: i64, id: i64) -> Result<Option<i64>, Error> {
    let removed = annotations::delete(tx, domain, id)?;
    Ok(if removed { Some(annotations::change_version(tx)?) } else { None })
}

/// As of a few seconds ago.
pub fn catalogue(tx: &mut Tx<'_>) -> Result<Arc<AnnotationCatalogue>, Fault> {
    annotations::cached_catalogue(tx, compile_catalogue)
}

/// The stored entities first: the built-in ones that have the same ids are replaced.
fn compile_catalogue(tx: &mut Tx<'_>) -> Result<AnnotationCatalogue, Fault> {
    let key = |entity: &AnnotationEntity| (entity.domain_id, entity.id);
    let mut entities: Vec<AnnotationEntity> = Vec::new();
    loop {
        let batch = annotations::list(tx, entities.last().map_or((0, 0), key), BATCH_SIZE)?;
        if batch.is_empty() {
            break;
        }
        entities.extend(batch);
    }
    let stored: HashSet<(i64, i64)> = entities.iter().map(key).collect();
    for line in BUILT_IN.lines() {
        let entity = NewAnnotationEntity::parse_line(line).map_err(|refusal| Fault::new(refusal.to_string()))?;
        if !stored.contains(&key(&entity)) {
            entities.push(entity);
        }
    }
    let names = (0..).zip(&entities).flat_map(|(number, entity)| entity_names(entity).map(move |name| (name, number)));
    let matcher = NameMatcher::build(names)?;
    Ok(AnnotationCatalogue { matcher, entities })
}

fn entity_names(entity: &AnnotationEntity) -> impl Iterator<Item = &str> {
    std::iter::once(entity.name.as_str()).chain(entity.aliases.lines())
}

/// What a text is annotated with, in the API's format.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextAnnotations {
    /// Of the field `entities.annotations`.
    pub(crate) names: Vec<Value>,
    /// Of the field `context_annotations`: a JSON array, or empty.
    pub(crate) contexts: String,
}

pub(crate) fn annotate_text(tx: &mut Tx<'_>, text: &str, entities: &Entities) -> Result<TextAnnotations, Fault> {
    let catalogue = catalogue(tx)?;
    let found = catalogue.matcher.find_names(text, entities);
    if found.is_empty() {
        return Ok(TextAnnotations::default());
    }
    let names = found.iter().filter_map(|name| name_annotation(&catalogue, name)).collect();
    let mut annotated: Vec<&AnnotationEntity> = Vec::new();
    for entity in found.iter().flat_map(|name| owners(&catalogue, name)) {
        if annotated.len() < MAX_CONTEXTS && !annotated.contains(&entity) {
            annotated.push(entity);
        }
    }
    let contexts: Value = annotated.into_iter().map(context_annotation).collect();
    Ok(TextAnnotations { names, contexts: contexts.to_string() })
}

fn owners<'a>(catalogue: &'a AnnotationCatalogue, name: &FoundName<'a>) -> impl Iterator<Item = &'a AnnotationEntity> {
    let numbers = name.entities.iter();
    numbers.filter_map(|number| catalogue.entities.get(usize::try_from(*number).ok()?))
}

/// The probability is shared by all entities that have the name.
fn name_annotation(catalogue: &AnnotationCatalogue, name: &FoundName<'_>) -> Option<Value> {
    let first = owners(catalogue, name).next()?;
    let ids = sorted_distinct(owners(catalogue, name).map(|entity| entity.id));
    let probability = 1.0 / f64::from(u32::try_from(ids.len()).unwrap_or(u32::MAX));
    Some(json!({
        "start": name.start,
        "end": name.end.saturating_sub(1),
        "probability": (probability * 10_000.0).round() / 10_000.0,
        "type": first.kind,
        "normalized_text": first.name,
    }))
}

fn context_annotation(entity: &AnnotationEntity) -> Value {
    let part = |id: i64, name: &str, description: &str| {
        let mut part = Map::new();
        part.insert("id".to_owned(), Value::String(id.to_string()));
        part.insert("name".to_owned(), Value::String(name.to_owned()));
        if !description.is_empty() {
            part.insert("description".to_owned(), Value::String(description.to_owned()));
        }
        Value::Object(part)
    };
    json!({
        "domain": part(entity.domain_id, &entity.domain_name, &entity.domain_description),
        "entity": part(entity.id, &entity.name, &entity.description),
    })
}

/// The terms of a query that name a domain or an entity which the catalogue does not contain.
pub fn list_unknown_terms(tx: &mut Tx<'_>, query: &ParsedQuery) -> Result<Vec<String>, Fault> {
    let mut terms = Vec::new();
    collect_annotation_terms(query.root(), &mut terms);
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    let catalogue = catalogue(tx)?;
    let unknown = terms.into_iter().filter(|term| !is_known(&catalogue, term));
    Ok(unknown.map(ToString::to_string).collect())
}

fn collect_annotation_terms<'q>(node: &'q QueryNode, terms: &mut Vec<&'q QueryTerm>) {
    match node {
        QueryNode::All(parts) | QueryNode::Any(parts) => {
            for part in parts {
                collect_annotation_terms(part, terms);
            }
        }
        QueryNode::Is(term) | QueryNode::Not(term) => {
            if matches!(term.operator.kind, OperatorKind::Context | OperatorKind::Words(WordField::Entity)) {
                terms.push(term);
            }
        }
    }
}

fn is_known(catalogue: &AnnotationCatalogue, term: &QueryTerm) -> bool {
    let mut entities = catalogue.entities.iter();
    match &term.value {
        TermValue::Feature { text, .. } => {
            let (domain, id) = text.split_once('.').unwrap_or((text, "*"));
            let matches = |asked: &str, id: i64| asked == "*" || asked.parse() == Ok(id);
            entities.any(|entity| matches(domain, entity.domain_id) && matches(id, entity.id))
        }
        TermValue::Words { text, .. } => {
            let words = |text: &str| {
                let lower = text.to_lowercase();
                format!(" {} ", base::text::split_words(&lower).collect::<Vec<_>>().join(" "))
            };
            let asked = words(text);
            // Posts are found by the name, whichever alias they contain.
            entities.any(|entity| words(&entity.name).contains(&asked))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{BUILT_IN, NewAnnotationEntity};

    #[test]
    fn built_in_entities_are_valid() {
        let entities: Vec<_> = BUILT_IN.lines().map(|line| NewAnnotationEntity::parse_line(line).unwrap()).collect();
        let ids: BTreeSet<_> = entities.iter().map(|entity| (entity.domain_id, entity.id)).collect();
        let domains: BTreeSet<_> = entities.iter().map(|entity| entity.domain_id).collect();
        assert_eq!(ids.len(), entities.len());
        assert!(domains.len() >= 12 && entities.len() >= 36, "{} of {}", entities.len(), domains.len());
    }

    #[test]
    fn invalid_entities_are_refused() {
        let line = |more: &str| format!(r#"{{"domain_id":"11","domain_name":"Sport","id":"5","name":"Golf"{more}}}"#);
        assert!(NewAnnotationEntity::parse_line(&line("")).is_ok());
        let long = format!(r#","aliases":["{}"]"#, "a".repeat(101));
        let many = format!(r#","aliases":[{}]"#, ["\"a\""; 11].join(","));
        for more in [r#","type":"Animal""#, r#","aliases":["!"]"#, r#","color":"red""#, &long, &many] {
            assert!(NewAnnotationEntity::parse_line(&line(more)).is_err(), "{more}");
        }
        assert!(NewAnnotationEntity::parse_line(&line("").replace("\"5\"", "\"-5\"")).is_err());
    }
}
