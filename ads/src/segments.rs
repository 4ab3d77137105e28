//! Flexible audiences: unions, intersections and exclusions of other audiences (contract ads
//! §4.14).
//!
//! A segment names an audience, a frequency, and a window in days. Lists of members know no visits: each
//! member occurred once, when the membership began. So `NUM_GTE 1` selects the members, `NUM_LT 1` everyone
//! else, and `NUM_GTE 2` nobody.

use std::borrow::Cow;

use ads_engine::{IdFormat, Kind, RawParam, parse_record_id, parse_value};
use base::refusal::AdsProblem;
use base::{Error, sorted_distinct};
use serde_json::{Map, Value, json};

pub const AUDIENCE_ID_FORMAT: IdFormat = IdFormat::Short;
/// Audiences in one definition.
const MAX_LEAVES: usize = 10;
/// Nesting depth of segments.
const MAX_DEPTH: usize = 10;
const COMPARATORS: &[&str] = &["NUM_GTE", "NUM_GT", "NUM_EQ", "NUM_LTE", "NUM_LT"];
const WINDOWS: &[&str] = &["1", "7", "14", "30"];

/// A set of users or its complement; sorted ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentUsers {
    pub ids: Vec<i64>,
    /// Whether everyone but these is meant.
    pub negated: bool,
}

impl SegmentUsers {
    fn combine(self, other: &Self, any: bool) -> Self {
        let both = |one: bool, two: bool| if any { one || two } else { one && two };
        let others = both(self.negated, other.negated);
        let ids = merge_sorted_ids(&self.ids, &other.ids, |one, two| {
            both(one != self.negated, two != other.negated) != others
        });
        Self { ids, negated: others }
    }
}

/// Merges two sorted lists, keeping ids for which `holds(in_one, in_other)` is true.
fn merge_sorted_ids(one: &[i64], other: &[i64], holds: impl Fn(bool, bool) -> bool) -> Vec<i64> {
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

/// Looks up the users of an audience, optionally of members since this many days.
pub type AudienceLookup<'f> = &'f mut dyn FnMut(i64, Option<i64>) -> Result<Vec<i64>, Error>;

pub fn resolve_segment(segment: &Value, find: AudienceLookup<'_>) -> Result<SegmentUsers, Error> {
    let mut people = if let Some(id) = leaf_audience_id(segment) {
        resolve_leaf(segment, id, find)?
    } else {
        let any = segment.get("boolean_operator").is_some_and(|word| word == "OR");
        let mut all = SegmentUsers { ids: Vec::new(), negated: !any };
        for child in child_segments(segment) {
            all = all.combine(&resolve_segment(child, find)?, any);
        }
        all
    };
    people.negated ^= segment.get("negate").is_some_and(|negate| *negate == true);
    Ok(people)
}

fn resolve_leaf(segment: &Value, id: i64, find: AudienceLookup<'_>) -> Result<SegmentUsers, Error> {
    let frequency = segment.get("frequency").and_then(Value::as_i64).unwrap_or(1);
    let comparator = segment.get("frequency_comparator").and_then(Value::as_str);
    let holds = |times: i64| match comparator.unwrap_or_default() {
        "NUM_GT" => times > frequency,
        "NUM_EQ" => times == frequency,
        "NUM_LTE" => times <= frequency,
        "NUM_LT" => times < frequency,
        _ => times >= frequency,
    };
    let (members, others) = (holds(1), holds(0));
    let ids =
        if members == others { Vec::new() } else { find(id, segment.get("lookback_window").and_then(Value::as_i64))? };
    Ok(SegmentUsers { ids, negated: others })
}

fn child_segments(segment: &Value) -> &[Value] {
    let children = segment.get("child_segments").and_then(Value::as_array);
    children.map(Vec::as_slice).unwrap_or_default()
}

/// The audience of a segment; `None` if it combines others.
fn leaf_audience_id(segment: &Value) -> Option<i64> {
    let id = segment.get("custom_audience_id")?.as_str()?;
    AUDIENCE_ID_FORMAT.parse(id)
}

/// The audiences in a definition, each once.
pub fn audience_ids(segment: &Value) -> Vec<i64> {
    let mut all: Vec<i64> = child_segments(segment).iter().flat_map(audience_ids).collect();
    all.extend(leaf_audience_id(segment));
    sorted_distinct(all)
}

/// Whether the result is a set of users rather than a complement.
pub fn is_bounded(segment: &Value) -> bool {
    let empty = resolve_segment(segment, &mut |_, _| Ok(Vec::new()));
    empty.is_ok_and(|people| !people.negated)
}

/// Parses segments into the form in which they are stored and rendered.
pub fn parse_segments(value: &Value) -> Result<Value, AdsProblem> {
    let mut leaves = 0;
    let root = parse_segment("segments", value, 1, &mut leaves)?;
    if root.get("custom_audience_id").is_some() {
        return Err(AdsProblem::missing_parameter("boolean_operator"));
    }
    if leaves > MAX_LEAVES {
        let message = format!("Expected at most {MAX_LEAVES} audiences, got {leaves} for segments");
        return Err(AdsProblem::invalid_parameter("segments", leaves.to_string(), message));
    }
    Ok(root)
}

fn parse_segment(name: &'static str, value: &Value, depth: usize, leaves: &mut usize) -> Result<Value, AdsProblem> {
    let wrong = |name: &'static str, value: &Value, expected: &str| {
        let shown = RawParam::Json(value).display_text();
        let message = format!("Expected {expected}, got \"{shown}\" for {name}");
        AdsProblem::invalid_parameter(Cow::Borrowed(name), shown, message)
    };
    let Value::Object(members) = value else {
        return Err(wrong(name, value, "an object"));
    };
    if depth > MAX_DEPTH {
        let message = format!("Segments can be nested at most {MAX_DEPTH} levels deep");
        return Err(AdsProblem::new("REQUEST_TOO_COMPLEX", message));
    }
    let get = |name: &str| members.get(name).filter(|value| !value.is_null());
    let below = get("child_segments");
    let is_empty = below.and_then(Value::as_array).is_some_and(Vec::is_empty);
    let negate = parse_member(members, "negate", Kind::BOOL, 0)? == 1;
    let id = get("custom_audience_id").or_else(|| get("tailored_audience_id"));
    match (below, id) {
        (Some(below), None) => {
            let Some(below) = below.as_array().filter(|below| !below.is_empty()) else {
                return Err(wrong("child_segments", below, "an array of segments"));
            };
            if get("boolean_operator").is_none() {
                return Err(AdsProblem::missing_parameter("boolean_operator"));
            }
            let operator = parse_member(members, "boolean_operator", Kind::one_of(&["AND", "OR"]), "")?;
            let below: Result<Vec<Value>, AdsProblem> =
                below.iter().map(|child| parse_segment("child_segments", child, depth + 1, leaves)).collect();
            Ok(json!({ "boolean_operator": operator, "negate": negate, "child_segments": below? }))
        }
        (Some(_), Some(_)) if !is_empty => {
            let message = "A segment names an audience or holds other segments, and not both";
            Err(AdsProblem::at_parameter("child_segments", "EXCLUSIVE_PARAMETERS", message))
        }
        (_, Some(id)) => {
            *leaves += 1;
            parse_leaf(members, id, negate)
        }
        (None, None) if depth == 1 => Err(AdsProblem::missing_parameter("child_segments")),
        (None, None) => Err(AdsProblem::missing_parameter("custom_audience_id")),
    }
}

fn parse_leaf(members: &Map<String, Value>, id: &Value, negate: bool) -> Result<Value, AdsProblem> {
    let text = RawParam::Json(id).display_text();
    let id = parse_record_id(AUDIENCE_ID_FORMAT, "custom_audience_id", &text)?;
    if id == IdFormat::UNKNOWN {
        let message = format!("The custom audience {text} was not found");
        let problem = AdsProblem::invalid_parameter("custom_audience_id", text, message);
        return Err(problem.with_code("TAILORED_AUDIENCE_NOT_FOUND"));
    }
    let comparators = Kind::one_of(COMPARATORS);
    let windows = Kind::one_of(WINDOWS);
    let window = parse_member(members, "lookback_window", windows, Value::Null)?;
    let days = window.as_str().and_then(|days| days.parse::<i64>().ok());
    Ok(json!({
        "custom_audience_id": AUDIENCE_ID_FORMAT.format(id),
        "frequency": parse_member(members, "frequency", Kind::int(1, 1_000_000), 1)?,
        "frequency_comparator": parse_member(members, "frequency_comparator", comparators, "NUM_GTE")?,
        "lookback_window": days,
        "negate": negate,
    }))
}

/// Parses one member of a segment, or returns the default.
fn parse_member(
    members: &Map<String, Value>,
    name: &'static str,
    kind: Kind,
    default: impl Into<Value>,
) -> Result<Value, AdsProblem> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(default.into()),
        Some(value) => parse_value(kind, name, RawParam::Json(value)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{SegmentUsers, audience_ids, is_bounded, parse_segments, resolve_segment};

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

    /// Audience 1 is 1, 2, 3; audience 2 is 2, 3, 4; others are empty.
    fn found(segment: &Value) -> SegmentUsers {
        resolve_segment(&parse_segments(segment).unwrap(), &mut |id, days| {
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
            (all(&[any(&[of("1"), of("2")]), not(all(&[of("1"), of("2")]))]), vec![1, 4], false),
        ] {
            assert_eq!(found(&segment), SegmentUsers { ids, negated: others }, "{segment}");
            assert_eq!(is_bounded(&parse_segments(&segment).unwrap()), !others, "{segment}");
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
            assert_eq!(found(&segment), SegmentUsers { ids, negated: others }, "{segment}");
        }
        let mut leaf = of("1");
        leaf["lookback_window"] = 7.into();
        assert_eq!(found(&any(&[leaf])).ids, [3]);
    }

    #[test]
    fn segments_are_read_as_they_are_shown() {
        let read = parse_segments(&any(&[of("1A"), all(&[of("2"), of("1a")])])).unwrap();
        assert_eq!(parse_segments(&read).unwrap(), read);
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
        assert_eq!(audience_ids(&read), [2, 46]);
    }

    #[test]
    fn what_is_no_tree_of_so_many_audiences_is_refused() {
        let ten: Vec<Value> = (0..10).map(|_| of("1")).collect();
        parse_segments(&any(&ten)).unwrap();
        let eleven = any(&[any(&ten), of("1")]);
        let nested = |times| (1..times).fold(any(&[of("1")]), |inner, _| any(&[inner]));
        parse_segments(&nested(9)).unwrap();
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
            (with("child_segments", json!([of("1")])), "EXCLUSIVE_PARAMETERS"),
            (with("custom_audience_id", json!("a-b")), "INVALID_ID_ILLEGAL_CHARACTERS"),
            (with("frequency", json!(0)), "INVALID_PARAMETER"),
            (with("frequency", json!(1.5)), "INVALID_PARAMETER"),
            (with("frequency_comparator", json!("GTE")), "INVALID_PARAMETER"),
            (with("lookback_window", json!(2)), "INVALID_PARAMETER"),
            (with("negate", json!("perhaps")), "INVALID_PARAMETER"),
        ] {
            assert_eq!(parse_segments(&segment).unwrap_err().code, code, "{segment}");
        }
    }
}
