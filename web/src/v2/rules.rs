//! Rules of streams as they are read and shown, whichever stream they are for.

use base::{Error, Refusal, VocabularyWord};
use network::apps::AccessLevel;
use network::rules::NewStreamRule;
use query::{AccessTier, QueryDialect, QueryError, QueryProduct};
use serde_json::{Value, json};
use store::rules::StreamRule;

use crate::accents;
use crate::body::Members;
use crate::call::Call;

const VALUE: VocabularyWord = VocabularyWord::same_in_both("value");
const TAG: VocabularyWord = VocabularyWord::same_in_both("tag");

/// Whether the calling app has a contract.
pub(super) fn is_enterprise(call: &Call) -> Result<bool, Error> {
    Ok(call.caller()?.app.access_level == AccessLevel::Enterprise.name())
}

/// The language as the calling app may use it.
pub(super) fn dialect(call: &Call, product: QueryProduct) -> Result<QueryDialect, Error> {
    let level = if is_enterprise(call)? {
        AccessTier::Enterprise
    } else {
        AccessTier::SelfServe
    };
    Ok(QueryDialect::new(product, level))
}

/// The rules of a body that can be read, and why the others cannot.
pub(super) fn read<'b>(
    members: impl Iterator<Item = Members<'b>>,
    dialect: QueryDialect,
) -> Result<(Vec<NewStreamRule>, Vec<Refusal>), Error> {
    let (mut new, mut refused) = (Vec::new(), Vec::new());
    for member in members {
        let value = member.text(VALUE)?;
        match canonical(value, dialect) {
            Ok(canonical) => new.push(NewStreamRule {
                canonical,
                tag: member.text_if(TAG).unwrap_or_default().to_owned(),
                value: value.to_owned(),
            }),
            Err(refusal) => refused.push(refusal),
        }
    }
    Ok((new, refused))
}

/// What is the same for all rules that mean the same by their words.
pub(super) fn canonical(value: &str, dialect: QueryDialect) -> Result<String, Refusal> {
    let parsed = query::parse(value, dialect);
    parsed
        .map(|query| query.to_string())
        .map_err(|problems| Refusal::InvalidRule {
            value: value.to_owned(),
            details: problems.details(),
            too_long: matches!(problems, QueryError::TooLong { .. }),
        })
}

/// What is said of rules that were not added.
pub(super) fn errors(call: &Call, refused: &[Refusal]) -> Value {
    let base = &call.home.problem_base;
    refused
        .iter()
        .map(|one| accents::partial(one, base))
        .collect()
}

/// A rule as an answer has it.
pub(super) fn shown(rule: &StreamRule) -> Value {
    let mut shown = json!({ "id": rule.id.to_string(), "value": rule.value });
    if !rule.tag.is_empty()
        && let Some(members) = shown.as_object_mut()
    {
        members.insert("tag".to_owned(), json!(rule.tag));
    }
    shown
}
