//! User groups: parts of all people, each with the entities that only its people see.

use std::collections::HashSet;

use ads_engine::{AdsRecord, IdFormat, JsonShape, parse_record_id};
use base::refusal::AdsProblem;
use serde_json::{Map, Value, json};

use super::USER_GROUPS;
use crate::resources::hash_key;

/// The size of all groups together, in hundredths of a percent.
pub const EVERYONE: i64 = 10_000;
const SIZES: std::ops::RangeInclusive<i64> = 100..=9_900;
const GROUPS: std::ops::RangeInclusive<usize> = 2..=30;
/// Of all groups of a test.
const MAX_ENTITIES: usize = 200;
const MAX_NAME_LENGTH: usize = 255;
const MAX_DESCRIPTION_LENGTH: usize = 1000;

pub(super) static USER_GROUPS_SHAPE: JsonShape = JsonShape::new(parse_user_groups).with_schema(|| {
    let text = |max: usize| json!({ "type": ["string", "null"], "minLength": 1, "maxLength": max });
    let entities = json!({ "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": MAX_ENTITIES });
    let group = json!({
        "type": "object",
        "properties": {
            "id": { "type": "string" },
            "name": text(MAX_NAME_LENGTH),
            "description": text(MAX_DESCRIPTION_LENGTH),
            "size": { "type": "string", "description": "Percent, with at most two decimals." },
            "entity_ids": entities,
        },
        "required": ["size", "entity_ids"],
    });
    json!({ "type": "array", "items": group, "minItems": GROUPS.start(), "maxItems": GROUPS.end() })
});

#[derive(Clone, Debug)]
pub struct UserGroup {
    /// 0 if the request has none.
    pub id: i64,
    pub name: Option<String>,
    pub description: Option<String>,
    /// In hundredths of a percent.
    pub size: i64,
    pub entity_ids: Vec<i64>,
}

/// A part of all people, by a hash of the test and the person: the same on every node, and independent of other tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AudienceShare {
    test_id: i64,
    /// Included, in hundredths of a percent.
    from: i64,
    /// Excluded.
    until: i64,
}

impl AudienceShare {
    /// Whether a viewer, by their id in the ledger, belongs to it.
    pub fn includes(&self, viewer: i64) -> bool {
        let place = hash_key(&["ab_test", &self.test_id.to_string(), &viewer.to_string()]) % EVERYONE;
        (self.from..self.until).contains(&place)
    }
}

impl UserGroup {
    /// Those of a test, in order.
    pub fn list(test: &AdsRecord) -> Vec<Self> {
        // What is stored was read from a request.
        test.items(USER_GROUPS).iter().filter_map(|group| Self::parse(group).ok()).collect()
    }

    /// Each group's entities and share.
    pub fn list_shares(test: &AdsRecord) -> Vec<(Vec<i64>, AudienceShare)> {
        let mut from = 0;
        let share = |group: Self| {
            let share = AudienceShare { test_id: test.id, from, until: from + group.size };
            from = share.until;
            (group.entity_ids, share)
        };
        Self::list(test).into_iter().map(share).collect()
    }

    fn parse(value: &Value) -> Result<Self, AdsProblem> {
        let members = value.as_object().ok_or_else(|| wrong(value, "an object for each user group"))?;
        let id = members.get("id").filter(|id| !id.is_null());
        Ok(Self {
            id: id.map_or(Ok(0), parse_id)?,
            name: parse_text(members, "name", MAX_NAME_LENGTH)?,
            description: parse_text(members, "description", MAX_DESCRIPTION_LENGTH)?,
            size: parse_size(require(members, "size")?)?,
            entity_ids: parse_entities(require(members, "entity_ids")?)?,
        })
    }

    fn to_json(&self) -> Value {
        let id = (self.id > 0).then(|| IdFormat::Short.format(self.id));
        let entities: Vec<String> = self.entity_ids.iter().map(|id| IdFormat::Short.format((*id).max(0))).collect();
        json!({
            "id": id,
            "name": self.name,
            "description": self.description,
            "size": format_size(self.size),
            "entity_ids": entities,
        })
    }

    /// Removes the group of this id, or without an id one with the same name and entities, and returns its id.
    pub(super) fn take_known_id(&self, known: &mut Vec<Self>) -> Option<i64> {
        let is_same = |other: &Self| match self.id {
            0 => (&self.name, &self.entity_ids) == (&other.name, &other.entity_ids),
            id => id == other.id,
        };
        let place = known.iter().position(is_same)?;
        Some(known.remove(place).id)
    }

    pub(super) fn not_found(&self) -> AdsProblem {
        let id = IdFormat::Short.format(self.id.max(0));
        let message = format!("The user group {id} was not found");
        AdsProblem::invalid_parameter(USER_GROUPS, id, message).with_code("NOT_FOUND")
    }
}

pub(super) fn to_json(groups: &[UserGroup]) -> Value {
    groups.iter().map(UserGroup::to_json).collect()
}

/// Checks what does not depend on the test.
fn parse_user_groups(value: &Value) -> Result<Value, AdsProblem> {
    let expected = || format!("{} to {} user groups", GROUPS.start(), GROUPS.end());
    let groups = value.as_array().filter(|groups| GROUPS.contains(&groups.len()));
    let groups = groups.ok_or_else(|| wrong(value, &expected()))?;
    let groups = groups.iter().map(UserGroup::parse).collect::<Result<Vec<_>, _>>()?;
    let sum: i64 = groups.iter().map(|group| group.size).sum();
    if sum != EVERYONE {
        let message = format!("The sizes of user groups add up to 100.00, not {}", format_size(sum));
        return Err(AdsProblem::invalid_parameter(USER_GROUPS, format_size(sum), message));
    }
    let mut entities = HashSet::new();
    for id in groups.iter().flat_map(|group| &group.entity_ids) {
        if !entities.insert(id) {
            let id = IdFormat::Short.format((*id).max(0));
            let message = format!("{id} occurs more than once in user_groups");
            return Err(AdsProblem::invalid_parameter(USER_GROUPS, id, message));
        }
    }
    if entities.len() > MAX_ENTITIES {
        return Err(wrong(value, &format!("at most {MAX_ENTITIES} entity_ids in all user groups")));
    }
    Ok(to_json(&groups))
}

fn wrong(value: &Value, expected: &str) -> AdsProblem {
    let shown: String = value.to_string().chars().take(100).collect();
    let message = format!("Expected {expected}, got {shown} for {USER_GROUPS}");
    AdsProblem::invalid_parameter(USER_GROUPS, shown, message)
}

fn require<'v>(members: &'v Map<String, Value>, name: &str) -> Result<&'v Value, AdsProblem> {
    let message = || format!("{name} is required in each of {USER_GROUPS}");
    let found = members.get(name).filter(|value| !value.is_null());
    found.ok_or_else(|| AdsProblem::at_parameter(USER_GROUPS, "MISSING_PARAMETER", message()))
}

fn parse_text(members: &Map<String, Value>, name: &str, max: usize) -> Result<Option<String>, AdsProblem> {
    let Some(value) = members.get(name).filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let text = value.as_str().filter(|text| (1..=max).contains(&text.chars().count()) && !text.contains('\0'));
    text.map(|text| Some(text.to_owned())).ok_or_else(|| wrong(value, &format!("{name} of length 1..{max}")))
}

fn parse_entities(value: &Value) -> Result<Vec<i64>, AdsProblem> {
    let ids = value.as_array().filter(|ids| (1..=MAX_ENTITIES).contains(&ids.len()));
    let ids = ids.ok_or_else(|| wrong(value, &format!("1 to {MAX_ENTITIES} entity_ids")))?;
    ids.iter().map(parse_id).collect()
}

fn parse_id(value: &Value) -> Result<i64, AdsProblem> {
    let text = value.as_str().ok_or_else(|| wrong(value, "an id as a string"))?;
    parse_record_id(IdFormat::Short, USER_GROUPS, text)
}

/// Reads a percentage with at most two decimals, as a text or a number, into hundredths.
fn parse_size(value: &Value) -> Result<i64, AdsProblem> {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let is_plain = |digits: &str| digits.len() <= 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let hundredths = (!whole.is_empty() && is_plain(whole) && is_plain(fraction))
        .then(|| format!("{whole}{fraction:0<2}").parse().ok())
        .flatten();
    let size = hundredths.filter(|size| SIZES.contains(size));
    size.ok_or_else(|| wrong(value, "a size of 1.00 to 99.00 percent"))
}

/// With one decimal, or two if needed.
fn format_size(hundredths: i64) -> String {
    let (whole, fraction) = (hundredths / 100, hundredths % 100);
    if fraction % 10 == 0 { format!("{whole}.{}", fraction / 10) } else { format!("{whole}.{fraction:02}") }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{AudienceShare, EVERYONE, parse_user_groups};

    fn groups(sizes: &[Value]) -> Value {
        let group = |(place, size): (usize, &Value)| json!({ "size": size, "entity_ids": [format!("c{place}")] });
        sizes.iter().enumerate().map(group).collect()
    }

    #[test]
    fn sizes_are_texts_or_numbers_with_two_decimals_that_add_up_to_a_hundred() {
        for (sizes, written) in [
            (vec![json!("50.0"), json!(50)], vec!["50.0", "50.0"]),
            (vec![json!("33.33"), json!(33.33), json!("33.34")], vec!["33.33", "33.33", "33.34"]),
            (vec![json!("1.00"), json!("99")], vec!["1.0", "99.0"]),
            (vec![json!("10.50"), json!(89.5)], vec!["10.5", "89.5"]),
        ] {
            let read = parse_user_groups(&groups(&sizes)).unwrap();
            let sizes: Vec<&str> = read.as_array().unwrap().iter().map(|one| one["size"].as_str().unwrap()).collect();
            assert_eq!(sizes, written);
        }
        for sizes in [
            vec![json!("100.0")],
            vec![json!("50.0"), json!("49.99")],
            vec![json!("0.99"), json!("99.01")],
            vec![json!("33.333"), json!("66.667")],
            vec![json!("-50"), json!("150")],
            vec![json!("5e1"), json!("50")],
            vec![json!(""), json!(".5")],
            vec![json!(true), json!([])],
        ] {
            assert_eq!(parse_user_groups(&groups(&sizes)).unwrap_err().code, "INVALID_PARAMETER", "{sizes:?}");
        }
    }

    #[test]
    fn people_are_in_one_group_each_in_proportion_to_the_sizes() {
        let share = |test_id, from, until| AudienceShare { test_id, from, until };
        let all = [share(7, 0, 1_000), share(7, 1_000, 4_000), share(7, 4_000, EVERYONE)];
        let mut counts = [0, 0, 0];
        let mut elsewhere = 0;
        for viewer in -10_000..10_000 {
            let own: Vec<usize> = (0..3).filter(|place| all[*place].includes(viewer)).collect();
            let [group] = own[..] else { panic!("{viewer} is in {own:?}") };
            counts[group] += 1;
            elsewhere += i32::from(group == 2 && share(8, 4_000, EVERYONE).includes(viewer));
        }
        for (count, expected) in counts.into_iter().zip([2_000, 6_000, 12_000]) {
            let difference: i32 = count - expected;
            assert!(difference.abs() < 300, "{counts:?}");
        }
        // Groups of different tests do not depend on each other.
        assert!((elsewhere - 7_200).abs() < 300, "{elsewhere}");
    }
}
