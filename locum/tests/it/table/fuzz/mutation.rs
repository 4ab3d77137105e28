//! Changes of valid requests.

use serde_json::{Value, json};

use super::case::{Caller, Case, CaseBody};
use super::values::ValueSource;

const METHODS: &[&str] = &["GET", "POST", "PUT", "DELETE", "PATCH"];
const CONTENT_TYPES: &[&str] = &[
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain",
    "application/json; charset=utf-16",
];
const HEADERS: [(&str, &str); 8] = [
    ("accept", "text/html"),
    ("accept-encoding", "gzip, br;q=nonsense"),
    ("range", "bytes=5-1,-0"),
    ("content-encoding", "gzip"),
    ("x-http-method-override", "DELETE"),
    ("cookie", "locum_session=%00; =; a"),
    ("origin", "https://evil.example"),
    ("x-forwarded-host", "evil.example:99999"),
];

pub(super) fn mutate(case: &mut Case, values: &mut ValueSource<'_>) {
    let count = *values.rng.pick(&[1, 1, 1, 2, 3]);
    for _ in 0..count {
        match values.below(12) {
            0 | 1 => mutate_path(case, values),
            2..=5 => mutate_query(case, values),
            11 => mutate_envelope(case, values),
            _ => mutate_body(case, values),
        }
    }
}

/// Replaces a part of the path; the names of operations mostly stay.
fn mutate_path(case: &mut Case, values: &mut ValueSource<'_>) {
    let mut parts: Vec<String> = case.path.split('/').map(str::to_owned).collect();
    let is_value = |part: &String| part.chars().any(|letter| letter.is_ascii_digit() || letter == '%');
    let mut places: Vec<usize> = (2..parts.len()).filter(|place| is_value(&parts[*place])).collect();
    if places.is_empty() {
        places = vec![parts.len() - 1];
    }
    let place = *values.rng.pick(&places);
    let text = values.text("id");
    // A path that does not start with a single slash names another host.
    parts[place] = text.replace('/', "%2F");
    case.path = parts.join("/").replace("//", "/%2F").replace('?', "%3F");
}

fn mutate_query(case: &mut Case, values: &mut ValueSource<'_>) {
    mutate_pairs(&mut case.query, values);
}

fn mutate_pairs(pairs: &mut Vec<(String, String)>, values: &mut ValueSource<'_>) {
    let place = if pairs.is_empty() { None } else { Some(values.below(pairs.len())) };
    match (place, values.below(10)) {
        (Some(place), 0) => drop(pairs.remove(place)),
        (Some(place), 1) => pairs.push(pairs[place].clone()),
        (Some(place), 2) => {
            let more = values.text(&pairs[place].0.clone());
            pairs[place].1 = format!("{},{more}", pairs[place].1);
        }
        (Some(place), 3..=7) => pairs[place].1 = values.text(&pairs[place].0.clone()),
        _ => {
            let names: Vec<&'static str> = values.kinds.keys().copied().collect();
            let name = *values.rng.pick(&names);
            pairs.push((name.to_owned(), values.text(name)));
        }
    }
}

fn mutate_body(case: &mut Case, values: &mut ValueSource<'_>) {
    if values.below(12) == 0 {
        return mutate_bytes(case, values);
    }
    match &mut case.body {
        CaseBody::Json(value) => mutate_json(value, "", values),
        CaseBody::Form(pairs) => mutate_pairs(pairs, values),
        CaseBody::Multipart(parts) => mutate_part(parts, values),
        CaseBody::Bytes(_, bytes) => flip_bytes(bytes, values),
        CaseBody::Empty => mutate_pairs(&mut case.query, values),
    }
}

/// Breaks the body as a whole, or sends it as something else.
fn mutate_bytes(case: &mut Case, values: &mut ValueSource<'_>) {
    let mut bytes = case.to_request().body;
    match values.below(4) {
        0 => bytes.truncate(values.below(bytes.len() + 1)),
        1 => flip_bytes(&mut bytes, values),
        2 => bytes.extend_from_slice(b"\xff\x00}]"),
        _ => {}
    }
    let content_type = *values.rng.pick(CONTENT_TYPES);
    case.body = CaseBody::Bytes(content_type, bytes);
}

fn flip_bytes(bytes: &mut [u8], values: &mut ValueSource<'_>) {
    for _ in 0..=values.below(8) {
        let place = values.below(bytes.len().max(1));
        if let Some(byte) = bytes.get_mut(place) {
            *byte = u8::try_from(values.below(256)).unwrap();
        }
    }
}

fn mutate_part(parts: &mut Vec<(String, Vec<u8>)>, values: &mut ValueSource<'_>) {
    let place = values.below(parts.len().max(1));
    let Some((name, value)) = parts.get_mut(place) else { return };
    match values.below(5) {
        0 => flip_bytes(value, values),
        1 => value.truncate(value.len() / 2),
        2 => drop(parts.remove(place)),
        3 => parts.push(parts[place].clone()),
        _ => *value = values.text(&name.clone()).into_bytes(),
    }
}

/// Changes the value or one inside it.
fn mutate_json(value: &mut Value, name: &str, values: &mut ValueSource<'_>) {
    match value {
        Value::Object(members) if !members.is_empty() && values.below(8) != 0 => {
            let names: Vec<String> = members.keys().cloned().collect();
            let name = values.rng.pick(&names).clone();
            match values.below(12) {
                0 => drop(members.remove(&name)),
                1 => {
                    let known: Vec<&'static str> = values.kinds.keys().copied().collect();
                    let other = *values.rng.pick(&known);
                    members.insert(other.to_owned(), values.json(other, &json!("1")));
                }
                _ => mutate_json(members.get_mut(&name).unwrap(), &name, values),
            }
        }
        Value::Array(items) if !items.is_empty() && values.below(5) != 0 => {
            let place = values.below(items.len());
            mutate_json(&mut items[place], name, values);
        }
        _ => *value = values.json(name, value),
    }
}

fn mutate_envelope(case: &mut Case, values: &mut ValueSource<'_>) {
    match values.below(4) {
        0 => case.method = *values.rng.pick(METHODS),
        1 => {
            let (name, value) = values.rng.pick(&HEADERS);
            case.headers.push((name, (*value).to_owned()));
        }
        _ => case.caller = *values.rng.pick(&Caller::ALL),
    }
}
