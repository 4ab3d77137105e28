//! Members of custom audiences: hashed identifiers uploaded by advertisers (contract ads §4.14,
//! §8.3). Errors never quote the input, which may be personal data.

use crate::audience_schedule;
use ads_engine::field_kind::parse_time;
use ads_engine::{AccountContext, AdsRecord, OperationOutput, ParsedParams};
use base::refusal::{AdsProblem, AdsRefusal};
use base::secret::digest;
use base::{AccountTimeZone, Error, Refusal, Time, sorted_distinct};
use data_encoding::HEXLOWER_PERMISSIVE;
use serde_json::{Map, Value, json};
use store::ads::audiences::{self, AudienceKey, AudienceKeyKind};
use store::records;

use crate::audience_members::MemberChangeSet;
use crate::resources::accounts::ACCOUNT;
use crate::resources::custom_audiences::{AudienceAccess, FLEXIBLE, action_not_allowed, require_audience};

pub const MAX_BODY_BYTES: usize = 5_000_000;
/// How long members stay, unless stated otherwise.
const MEMBERSHIP_MONTHS: i32 = 13;
const MAX_OPERATIONS: usize = 2_500;
/// Problems reported per operation.
const MAX_PROBLEMS: usize = 10;

/// Identifier types, under the names of either vocabulary.
const KEY_NAMES: [(&str, AudienceKeyKind); 7] = [
    ("email", AudienceKeyKind::Email),
    ("device_id", AudienceKeyKind::Device),
    ("handle", AudienceKeyKind::Handle),
    ("svc_id", AudienceKeyKind::User),
    ("twitter_id", AudienceKeyKind::User),
    ("phone_number", AudienceKeyKind::Phone),
    ("partner_user_id", AudienceKeyKind::Partner),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptedKeys {
    /// All identifier types, with validity periods.
    All,
    /// Email addresses and phone numbers, with the default validity.
    Contacts,
}

impl AcceptedKeys {
    fn accepts(self, kind: AudienceKeyKind) -> bool {
        self == Self::All || matches!(kind, AudienceKeyKind::Email | AudienceKeyKind::Phone)
    }
}

struct MembershipOperation {
    is_delete: bool,
    validity: (Time, Time),
    users: Vec<Vec<AudienceKey>>,
}

/// Changes members; all operations succeed, or none is applied.
pub fn change_members(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let (audience, hold) = require_audience(ctx, params)?;
    if hold == AudienceAccess::Read {
        return Err(action_not_allowed("The account may read this audience only"));
    }
    match audience.text("audience_type") {
        FLEXIBLE => return Err(action_not_allowed("Its members are those of other audiences")),
        "WEB" | "MOBILE" => return Err(action_not_allowed("Its members come from the events of a tag")),
        _ => {}
    }
    let count = write_members(ctx, &audience, params, AcceptedKeys::All)?;
    Ok(OperationOutput::from_value(json!({ "success_count": count, "total_count": count })))
}

/// Changes the members of a list; returns the number of users named.
pub fn write_members(
    ctx: &mut AccountContext<'_, '_>,
    list: &AdsRecord,
    params: &ParsedParams,
    accepted: AcceptedKeys,
) -> Result<usize, Error> {
    let operations = parse_operations(params.json.as_ref(), ctx.now(), accepted)?;
    // Serializes writers of other accounts that share the list.
    records::lock(ctx.tx, ACCOUNT.name, list.account_id)?;
    let users = operations.iter().flat_map(|operation| &operation.users);
    let keys = sorted_distinct(users.clone().flatten().copied());
    let count = users.count();
    let mut members = MemberChangeSet::from_stored(audiences::find_key_members(ctx.tx, list.id, &keys)?);
    for operation in &operations {
        for keys in &operation.users {
            if operation.is_delete {
                members.delete(keys);
            } else {
                members.update(keys, operation.validity, ctx.tx.next_id::<()>().get());
            }
        }
    }
    audiences::apply_changes(ctx.tx, list.id, &members.to_changes())?;
    audience_schedule::mark_audience_changed(ctx.tx, list.id)?;
    Ok(count)
}

fn parse_operations(
    json: Option<&Value>,
    now: Time,
    accepted: AcceptedKeys,
) -> Result<Vec<MembershipOperation>, Error> {
    let wrong = |message: String| Error::from(AdsProblem::new("INVALID_PARAMETER", message));
    let Some(Value::Array(items)) = json else {
        return Err(wrong("The request body must be a JSON array".to_owned()));
    };
    if items.is_empty() || items.len() > MAX_OPERATIONS {
        let count = items.len();
        let message = format!("Expected 1 to {MAX_OPERATIONS} operations, got {count}");
        return Err(wrong(message));
    }
    let mut all = Vec::with_capacity(items.len());
    let mut problems: Vec<Vec<AdsProblem>> = Vec::with_capacity(items.len());
    for item in items {
        match parse_operation(item, now, accepted) {
            Ok(operation) => {
                all.push(operation);
                problems.push(Vec::new());
            }
            Err(mut several) => {
                several.truncate(MAX_PROBLEMS);
                problems.push(several);
            }
        }
    }
    if all.len() == items.len() {
        return Ok(all);
    }
    let refusal = AdsRefusal { items: problems, ..AdsRefusal::default() };
    Err(Refusal::Ads(Box::new(refusal)).into())
}

/// An error that does not quote the input.
fn invalid_value(name: &'static str, expected: &str) -> AdsProblem {
    AdsProblem::at_parameter(name, "INVALID_PARAMETER", format!("Expected {expected} for {name}"))
}

fn parse_operation(item: &Value, now: Time, accepted: AcceptedKeys) -> Result<MembershipOperation, Vec<AdsProblem>> {
    let mut problems = Vec::new();
    let kind = item.get("operation_type").unwrap_or(&Value::Null);
    let deletes = match kind.as_str().map(str::to_ascii_lowercase).as_deref() {
        Some("update") => false,
        Some("delete") => true,
        _ => {
            problems.push(match kind {
                Value::Null => AdsProblem::missing_parameter("operation_type"),
                _ => invalid_value("operation_type", "Update or Delete"),
            });
            false
        }
    };
    let params = match item.get("params") {
        Some(Value::Object(params)) => params,
        None | Some(Value::Null) => {
            problems.push(AdsProblem::missing_parameter("params"));
            return Err(problems);
        }
        Some(_) => {
            problems.push(invalid_value("params", "an object"));
            return Err(problems);
        }
    };
    let times = parse_validity(params, now, accepted).unwrap_or_else(|several| {
        problems.extend(several);
        (now, now)
    });
    let users = parse_users(params, accepted, &mut problems);
    if problems.is_empty() {
        return Ok(MembershipOperation { is_delete: deletes, validity: times, users });
    }
    Err(problems)
}

fn parse_validity(
    params: &Map<String, Value>,
    now: Time,
    accepted: AcceptedKeys,
) -> Result<(Time, Time), Vec<AdsProblem>> {
    let mut problems = Vec::new();
    let mut read = |name: &'static str, usual: Time| match params.get(name) {
        None | Some(Value::Null) => usual,
        Some(value) => value.as_str().and_then(parse_time).unwrap_or_else(|| {
            problems.push(invalid_value(name, "a time in ISO 8601"));
            usual
        }),
    };
    let (from, usual) = (read("effective_at", now), AccountTimeZone::default().plus_months(now, MEMBERSHIP_MONTHS));
    let until = read("expires_at", usual);
    if accepted == AcceptedKeys::Contacts {
        if params.get("effective_at").is_some_and(|at| !at.is_null()) {
            problems.push(invalid_value("effective_at", "nothing"));
        }
        if until > usual {
            problems.push(invalid_value("expires_at", "a time within thirteen months"));
        }
    }
    if problems.is_empty() && until <= from {
        problems.push(invalid_value("expires_at", "a time after effective_at"));
    }
    if problems.is_empty() {
        return Ok((from, until));
    }
    Err(problems)
}

fn parse_users(
    params: &Map<String, Value>,
    accepted: AcceptedKeys,
    problems: &mut Vec<AdsProblem>,
) -> Vec<Vec<AudienceKey>> {
    let items = match params.get("users") {
        None | Some(Value::Null) => {
            problems.push(AdsProblem::missing_parameter("users"));
            return Vec::new();
        }
        Some(Value::Array(items)) if !items.is_empty() => items,
        Some(_) => {
            problems.push(invalid_value("users", "an array of users"));
            return Vec::new();
        }
    };
    let mut all = Vec::with_capacity(items.len());
    for item in items {
        match parse_user_keys(item, accepted) {
            Ok(keys) => all.push(keys),
            Err(problem) => problems.push(problem),
        }
        if problems.len() >= MAX_PROBLEMS {
            break;
        }
    }
    all
}

/// Parses a user's keys; at least one is required.
fn parse_user_keys(item: &Value, accepted: AcceptedKeys) -> Result<Vec<AudienceKey>, AdsProblem> {
    let Value::Object(members) = item else {
        return Err(invalid_value("users", "objects"));
    };
    let mut keys = Vec::new();
    for (name, kind) in KEY_NAMES {
        let values = match members.get(name) {
            None | Some(Value::Null) => continue,
            Some(Value::Array(values)) => values,
            Some(_) => return Err(invalid_value(name, "an array of strings")),
        };
        if !values.is_empty() && !accepted.accepts(kind) {
            return Err(invalid_value(name, "no values (email and phone_number only)"));
        }
        for value in values {
            let text = value.as_str().unwrap_or_default();
            let digest = match kind {
                AudienceKeyKind::Partner if (1..=1000).contains(&text.len()) => digest(text),
                AudienceKeyKind::Partner => {
                    return Err(invalid_value(name, "strings of 1 to 1000 bytes"));
                }
                _ => parse_digest(text).ok_or_else(|| invalid_value(name, "SHA-256 digests in hexadecimal"))?,
            };
            keys.push(kind.to_key(&digest));
        }
    }
    if keys.is_empty() {
        return Err(invalid_value("users", "at least one identifier of each user"));
    }
    Ok(keys)
}

/// A SHA-256 digest in hexadecimal, in either case.
pub fn parse_digest(text: &str) -> Option<[u8; 32]> {
    HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{AcceptedKeys, parse_digest, parse_user_keys};

    #[test]
    fn digests_are_read_in_either_case_and_nothing_else_is() {
        let digest = "da017b829391311062b1abdbcdd5f4f7b6c24e8074af53f1b0df0f3e91119138";
        assert_eq!(parse_digest(digest), parse_digest(&digest.to_uppercase()));
        assert!(parse_digest(digest).is_some());
        for text in ["", "ana.reis@bikes.example", &digest.replacen('d', "", 1), &format!("{digest}0")] {
            assert_eq!(parse_digest(text), None, "{text}");
        }
        assert_eq!(parse_digest(&digest.replace('d', "g")), None);
        assert_eq!(parse_digest(&digest.replace("da", "é")), None);
        let same = |name: &str| parse_user_keys(&json!({ name: [digest] }), AcceptedKeys::All).unwrap();
        assert_eq!(same("svc_id"), same("twitter_id"));
        assert_ne!(same("email"), same("phone_number"));
    }
}
