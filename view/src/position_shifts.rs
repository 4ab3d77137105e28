//! Positions in a text after parts of it were replaced by longer or shorter ones, in code points.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// How much longer the text is from `end` on, a position in the text before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PositionShift {
    pub(crate) end: usize,
    pub(crate) growth: isize,
}

/// `shifts` are in text order.
pub(crate) fn shift_position(shifts: &[PositionShift], position: usize) -> usize {
    let passed = shifts.partition_point(|shift| shift.end <= position);
    let last = passed.checked_sub(1).and_then(|last| shifts.get(last));
    last.map_or(position, |shift| position.saturating_add_signed(shift.growth))
}

/// As [`shift_position`], of a position as stored.
pub(crate) fn shift_stored_position(shifts: &[PositionShift], position: i64) -> i64 {
    let shifted = usize::try_from(position).map(|position| shift_position(shifts, position));
    shifted.ok().and_then(|shifted| i64::try_from(shifted).ok()).unwrap_or(position)
}

/// The shifts in a text returned with `&`, `<` and `>` escaped; none if it has no such character.
pub(crate) fn escape_shifts(text: &str) -> Vec<PositionShift> {
    // All bytes without a branch, so that the compiler compares many at once.
    let special = text.bytes().fold(0, |found, byte| found | u8::from(matches!(byte, b'&' | b'<' | b'>')));
    if special == 0 {
        return Vec::new();
    }
    let mut growth = 0;
    let letters = text.chars().enumerate();
    let escaped = letters.filter_map(|(position, letter)| {
        growth += match letter {
            '&' => 4,
            '<' | '>' => 3,
            _ => return None,
        };
        Some(PositionShift { end: position + 1, growth })
    });
    escaped.collect()
}

/// The entities (JSON) of a text that is returned escaped.
pub(crate) fn escape_entities<'a>(entities: impl Into<Cow<'a, str>>, text: &str) -> Cow<'a, str> {
    let entities = entities.into();
    let shifts = if entities.is_empty() { Vec::new() } else { escape_shifts(text) };
    if shifts.is_empty() {
        return entities;
    }
    let Ok(mut all) = serde_json::from_str::<Map<String, Value>>(&entities) else {
        return entities;
    };
    for (name, list) in &mut all {
        // The ends of annotations are inclusive.
        let beyond = usize::from(name == "annotations");
        for entity in list.as_array_mut().into_iter().flatten() {
            for (member, beyond) in [("start", 0), ("end", beyond)] {
                if let Some(position) = entity.get_mut(member) {
                    shift_value(position, beyond, &shifts);
                }
            }
        }
    }
    Cow::Owned(Value::Object(all).to_string())
}

/// As [`escape_entities`], in the legacy format.
pub(crate) fn escape_legacy_entities(all: &mut Map<String, Value>, text: &str) {
    let shifts = escape_shifts(text);
    if shifts.is_empty() {
        return;
    }
    let entities = all.values_mut().filter_map(Value::as_array_mut).flatten();
    let indices = entities.filter_map(|entity| entity.get_mut("indices")?.as_array_mut());
    for position in indices.flatten() {
        shift_value(position, 0, &shifts);
    }
}

/// `beyond` is how far before the boundary of the part the position lies.
fn shift_value(value: &mut Value, beyond: usize, shifts: &[PositionShift]) {
    if let Some(position) = value.as_u64().and_then(|position| usize::try_from(position).ok()) {
        *value = shift_position(shifts, position.saturating_add(beyond)).saturating_sub(beyond).into();
    }
}

#[cfg(test)]
mod tests {
    use super::{escape_entities, escape_shifts, shift_position};

    #[test]
    fn positions_count_in_the_escaped_text() {
        let text = "é<b> & #x";
        let shifts = escape_shifts(text);
        let escaped: Vec<char> = base::text::escape_html(text).chars().collect();
        for (position, letter) in text.chars().enumerate() {
            let first = base::text::escape_html(&letter.to_string()).chars().next();
            assert_eq!(escaped.get(shift_position(&shifts, position)).copied(), first, "{position}");
        }
        assert_eq!(shift_position(&shifts, text.chars().count()), escaped.len());
        assert!(escape_shifts("plain é").is_empty());
    }

    #[test]
    fn ends_of_annotations_are_inclusive() {
        let stored = r#"{"annotations":[{"start":0,"end":2}],"hashtags":[{"start":0,"end":3}]}"#;
        assert_eq!(escape_entities(stored, "A B"), stored);
        let shifted = escape_entities(stored, "A&B");
        assert_eq!(shifted, r#"{"annotations":[{"end":6,"start":0}],"hashtags":[{"end":7,"start":0}]}"#);
        assert_eq!(escape_entities("odd", "&"), "odd");
    }
}
