//! Flexible audiences: whom other audiences come to, joined, met and left out (contract §4.14).
//!
//! A segment names an audience, how often somebody must have come up in it, and within how many
//! days. Lists of members tell nothing of visits: who is a member came up once, when the membership
//! began. So `NUM_GTE 1` means the members, `NUM_LT 1` everyone else, `NUM_GTE 2` nobody.

use std::borrow::Cow;

use base::Error;
use base::refusal::AdsProblem;
use serde_json::{Map, Value, json};

use crate::kind::{Kind, Raw};
use crate::resources::custom_audiences::CUSTOM_AUDIENCE;

/// Audiences that one is made of at most.
const LEAVES: usize = 10;
/// How deep segments may lie within each other.
const DEPTH: usize = 10;
const COMPARATORS: &[&str] = &["NUM_GTE", "NUM_GT", "NUM_EQ", "NUM_LTE", "NUM_LT"];
const WINDOWS: &[&str] = &["1", "7", "14", "30"];

/// Some users, or all others: ids in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct People {
    /// These.
    pub ids: Vec<i64>,
    /// Whether everyone but these is meant.
    pub others: bool,
}

impl People {
    fn joined(self, other: &Self, any: bool) -> Self {
        let both = |one: bool, two: bool| if any { one || two } else { one && two };
        let others = both(self.others, other.others);
        let ids = merged(&self.ids, &other.ids, |one, two| {
            both(one != self.others, two != other.others) != others
        });
        Self { ids, others }
    }
}

/// Those of two lists of which it holds that they are in the one and in the other.
fn merged(one: &[i64], other: &[i64], holds: impl Fn(bool, bool) -> bool) -> Vec<i64> {
    let (mut ones, mut others) = (one.iter().peekable(), other.iter().peekable());
    let mut all = Vec::new();
    loop {
        let (id, here, there) = match (ones.peek(), others.peek()) {
            (None, None) => return all,
            (Some(one), Some(other)) if one == other => (**one, true, true),
            (Some(one), Some(other)) if one > other => (**other, false, true),
            (Some(one), _) => (**one, true, false),
            (None, Some(other)) => (**other, false, true),
        };
        if here {
            ones.next();
        }
        if there {
            others.next();
        }
        if holds(here, there) {
            all.push(id);
        }
    }
}

/// Whom the audience with an id comes to, of the last so many days.
pub type Find<'f> = &'f mut dyn FnMut(i64, Option<i64>) -> Result<Vec<i64>, Error>;

/// Whom segments come to.
pub fn people(segment: &Value, find: Find<'_>) -> Result<People, Error> {
    let mut people = if let Some(id) = leaf(segment) {
        members(segment, id, find)?
    } else {
        let any = segment
            .get("boolean_operator")
            .is_some_and(|word| word == "OR");
        let mut all = People {
            ids: Vec::new(),
            others: !any,
        };
        for child in children(segment) {
            all = all.joined(&people(child, find)?, any);
        }
        all
    };
    people.others ^= segment.get("negate").is_some_and(|negate| *negate == true);
    Ok(people)
}

/// Who came up in an audience as often as is asked.
fn members(segment: &Value, id: i64, find: Find<'_>) -> Result<People, Error> {
    let frequency = segment
        .get("frequency")
        .and_then(Value::as_i64)
        .unwrap_or(1);
    let comparator = segment.get("frequency_comparator").and_then(Value::as_str);
    let holds = |times: i64| match comparator.unwrap_or_default() {
        "NUM_GT" => times > frequency,
        "NUM_EQ" => times == frequency,
        "NUM_LTE" => times <= frequency,
        "NUM_LT" => times < frequency,
        _ => times >= frequency,
    };
    let (members, others) = (holds(1), holds(0));
    let ids = if members == others {
        Vec::new()
    } else {
        find(id, segment.get("lookback_window").and_then(Value::as_i64))?
    };
    Ok(People { ids, others })
}

fn children(segment: &Value) -> &[Value] {
    let children = segment.get("child_segments").and_then(Value::as_array);
    children.map(Vec::as_slice).unwrap_or_default()
}

/// The audience that a segment names; none of one that joins others.
fn leaf(segment: &Value) -> Option<i64> {
    let id = segment.get("custom_audience_id")?.as_str()?;
    CUSTOM_AUDIENCE.ids.read("custom_audience_id", id).ok()
}

/// The audiences that segments name, each once.
pub fn parts(segment: &Value) -> Vec<i64> {
    let mut all: Vec<i64> = children(segment).iter().flat_map(parts).collect();
    all.extend(leaf(segment));
    all.sort_unstable();
    all.dedup();
    all
}

/// Whether segments say whom they come to, and not only whom they do not.
pub fn is_bounded(segment: &Value) -> bool {
    let empty = people(segment, &mut |_, _| Ok(Vec::new()));
    empty.is_ok_and(|people| !people.others)
}

/// Reads segments into the form in which they are kept and shown.
pub fn shape(value: &Value) -> Result<Value, AdsProblem> {
    let mut leaves = 0;
    let root = read("segments", value, 1, &mut leaves)?;
    if root.get("custom_audience_id").is_some() {
        return Err(AdsProblem::missing_parameter("boolean_operator"));
    }
    if leaves > LEAVES {
        let message = format!("Expected at most {LEAVES} audiences, got {leaves} for segments");
        return Err(AdsProblem::invalid_parameter(
            "segments",
            leaves.to_string(),
            message,
        ));
    }
    Ok(root)
}

fn read(
    name: &'static str,
    value: &Value,
    depth: usize,
    leaves: &mut usize,
) -> Result<Value, AdsProblem> {
    let wrong = |name: &'static str, value: &Value, expected: &str| {
        let shown = Raw::Json(value).shown();
        let message = format!("Expected {expected}, got \"{shown}\" for {name}");
        AdsProblem::invalid_parameter(Cow::Borrowed(name), shown, message)
    };
    let Value::Object(members) = value else {
        return Err(wrong(name, value, "an object"));
    };
    if depth > DEPTH {
        let message = format!("Segments lie within each other at most {DEPTH} deep");
        return Err(AdsProblem::new("REQUEST_TOO_COMPLEX", message));
    }
    let get = |name: &str| members.get(name).filter(|value| !value.is_null());
    let below = get("child_segments");
    let is_empty = below.and_then(Value::as_array).is_some_and(Vec::is_empty);
    let negate = one(members, "negate", Kind::Bool, 0)? == 1;
    let id = get("custom_audience_id").or_else(|| get("tailored_audience_id"));
    match (below, id) {
        (Some(below), None) => {
            let Some(below) = below.as_array().filter(|below| !below.is_empty()) else {
                return Err(wrong("child_segments", below, "an array of segments"));
            };
            if get("boolean_operator").is_none() {
                return Err(AdsProblem::missing_parameter("boolean_operator"));
            }
            let operator = one(members, "boolean_operator", Kind::OneOf(&["AND", "OR"]), "")?;
            let below: Result<Vec<Value>, AdsProblem> = below
                .iter()
                .map(|child| read("child_segments", child, depth + 1, leaves))
                .collect();
            Ok(json!({ "boolean_operator": operator, "negate": negate, "child_segments": below? }))
        }
        (Some(_), Some(_)) if !is_empty => {
            let message = "A segment names an audience or holds other segments, and not both";
            Err(AdsProblem {
                location: base::refusal::ProblemLocation::Parameter("child_segments".into()),
                ..AdsProblem::new("EXCLUSIVE_PARAMETERS", message)
            })
        }
        (_, Some(id)) => {
            *leaves += 1;
            named(members, id, negate)
        }
        (None, None) if depth == 1 => Err(AdsProblem::missing_parameter("child_segments")),
        (None, None) => Err(AdsProblem::missing_parameter("custom_audience_id")),
    }
}

/// A segment that names an audience.
fn named(members: &Map<String, Value>, id: &Value, negate: bool) -> Result<Value, AdsProblem> {
    let text = Raw::Json(id).shown();
    let id = CUSTOM_AUDIENCE.ids.read("custom_audience_id", &text)?;
    let comparators = Kind::OneOf(COMPARATORS);
    let windows = Kind::OneOf(WINDOWS);
    let window = one(members, "lookback_window", windows, Value::Null)?;
    let days = window.as_str().and_then(|days| days.parse::<i64>().ok());
    Ok(json!({
        "custom_audience_id": CUSTOM_AUDIENCE.ids.write(id.max(0)),
        "frequency": one(members, "frequency", Kind::Int(1, 1_000_000), 1)?,
        "frequency_comparator": one(members, "frequency_comparator", comparators, "NUM_GTE")?,
        "lookback_window": days,
        "negate": negate,
    }))
}

/// One member of a segment, as its kind reads it; or what is usual.
fn one(
    members: &Map<String, Value>,
    name: &'static str,
    kind: Kind,
    usual: impl Into<Value>,
) -> Result<Value, AdsProblem> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(usual.into()),
        Some(value) => kind.read(name, Raw::Json(value)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{People, is_bounded, parts, people, shape};

    fn of(id: &str) -> Value {
        json!({ "custom_audience_id": id })
    }

    fn not(mut segment: Value) -> Value {
        segment["negate"] = true.into();
        segment
    }

    fn all(children: &[Value]) -> Value {
        json!({ "boolean_operator": "AND", "child_segments": children })
    }

    fn any(children: &[Value]) -> Value {
        json!({ "boolean_operator": "or", "child_segments": children })
    }

    /// Audience 1 comes to 1, 2, 3; audience 2 to 2, 3, 4; others to nobody.
    fn found(segment: &Value) -> People {
        people(&shape(segment).unwrap(), &mut |id, days| {
            Ok(match (id, days) {
                (1, None) => vec![1, 2, 3],
                (1, Some(_)) => vec![3],
                (2, _) => vec![2, 3, 4],
                _ => Vec::new(),
            })
        })
        .unwrap()
    }

    #[test]
    fn segments_are_joined_met_and_left_out() {
        for (segment, ids, others) in [
            (all(&[of("1"), of("2")]), vec![2, 3], false),
            (any(&[of("1"), of("2")]), vec![1, 2, 3, 4], false),
            (all(&[of("1"), not(of("2"))]), vec![1], false),
            (any(&[of("1"), not(of("2"))]), vec![4], true),
            (all(&[of("1"), not(of("9"))]), vec![1, 2, 3], false),
            (all(&[of("1"), of("9")]), vec![], false),
            (not(any(&[not(of("1")), of("2")])), vec![1], false),
            (all(&[not(of("1")), not(of("2"))]), vec![1, 2, 3, 4], true),
            (
                all(&[any(&[of("1"), of("2")]), not(all(&[of("1"), of("2")]))]),
                vec![1, 4],
                false,
            ),
        ] {
            assert_eq!(found(&segment), People { ids, others }, "{segment}");
            assert_eq!(is_bounded(&shape(&segment).unwrap()), !others, "{segment}");
        }
    }

    #[test]
    fn a_member_has_come_up_once_since_the_membership_began() {
        for (comparator, frequency, ids, others) in [
            ("NUM_GTE", 1, vec![1, 2, 3], false),
            ("NUM_GTE", 2, vec![], false),
            ("NUM_GT", 1, vec![], false),
            ("NUM_EQ", 1, vec![1, 2, 3], false),
            ("NUM_LTE", 1, vec![], true),
            ("NUM_LT", 1, vec![1, 2, 3], true),
            ("NUM_LT", 2, vec![], true),
        ] {
            let mut leaf = of("1");
            leaf["frequency_comparator"] = comparator.into();
            leaf["frequency"] = frequency.into();
            let segment = any(&[leaf]);
            assert_eq!(found(&segment), People { ids, others }, "{segment}");
        }
        let mut leaf = of("1");
        leaf["lookback_window"] = 7.into();
        assert_eq!(found(&any(&[leaf])).ids, [3]);
    }

    #[test]
    fn segments_are_read_as_they_are_shown() {
        let read = shape(&any(&[of("1A"), all(&[of("2"), of("1a")])])).unwrap();
        assert_eq!(shape(&read).unwrap(), read);
        assert_eq!(
            read["child_segments"][0],
            json!({
                "custom_audience_id": "1a",
                "frequency": 1,
                "frequency_comparator": "NUM_GTE",
                "lookback_window": null,
                "negate": false,
            })
        );
        assert_eq!(parts(&read), [2, 46]);
    }

    #[test]
    fn what_is_no_tree_of_so_many_audiences_is_refused() {
        let ten: Vec<Value> = (0..10).map(|_| of("1")).collect();
        shape(&any(&ten)).unwrap();
        let eleven = any(&[any(&ten), of("1")]);
        let nested = |times| (1..times).fold(any(&[of("1")]), |inner, _| any(&[inner]));
        shape(&nested(9)).unwrap();
        let with = |name: &str, value: Value| {
            let mut leaf = of("1");
            leaf[name] = value;
            any(&[leaf])
        };
        for (segment, code) in [
            (eleven, "INVALID_PARAMETER"),
            (nested(10), "REQUEST_TOO_COMPLEX"),
            (json!([]), "INVALID_PARAMETER"),
            (json!({}), "MISSING_PARAMETER"),
            (of("1"), "MISSING_PARAMETER"),
            (json!({ "child_segments": [of("1")] }), "MISSING_PARAMETER"),
            (any(&[]), "INVALID_PARAMETER"),
            (any(&[json!({})]), "MISSING_PARAMETER"),
            (any(&[json!(7)]), "INVALID_PARAMETER"),
            (
                with("child_segments", json!([of("1")])),
                "EXCLUSIVE_PARAMETERS",
            ),
            (
                with("custom_audience_id", json!("a-b")),
                "INVALID_ID_ILLEGAL_CHARACTERS",
            ),
            (with("frequency", json!(0)), "INVALID_PARAMETER"),
            (with("frequency", json!(1.5)), "INVALID_PARAMETER"),
            (
                with("frequency_comparator", json!("GTE")),
                "INVALID_PARAMETER",
            ),
            (with("lookback_window", json!(2)), "INVALID_PARAMETER"),
            (with("negate", json!("perhaps")), "INVALID_PARAMETER"),
        ] {
            assert_eq!(shape(&segment).unwrap_err().code, code, "{segment}");
        }
    }
}
