//! Paths to values of a JSON document: `data[0].text`, `$.errors[0].code`, `data[*].id`.

use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath {
    steps: Vec<PathStep>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PathStep {
    Member(String),
    Item(usize),
    AnyItem,
}

const MAX_STEPS: usize = 32;

impl JsonPath {
    /// Reports the position of what is wrong, in bytes, and what is accepted there.
    pub fn parse(text: &str) -> Result<Self, (usize, &'static str)> {
        let mut steps = Vec::new();
        let body = text.strip_prefix('$').unwrap_or(text);
        let mut at = text.len().saturating_sub(body.len());
        let mut rest = body;
        while !rest.is_empty() {
            if steps.len() >= MAX_STEPS {
                return Err((at, "at most 32 steps"));
            }
            let (step, length) = parse_step(rest, at == 0).map_err(|expected| (at, expected))?;
            steps.push(step);
            at = at.saturating_add(length);
            rest = rest.get(length..).unwrap_or_default();
        }
        Ok(Self { steps })
    }

    /// In the document's order; several where an item is `*`.
    pub fn select<'v>(&self, document: &'v Value) -> Vec<&'v Value> {
        let mut found = vec![document];
        for step in &self.steps {
            found = found.into_iter().flat_map(|value| step.apply(value)).collect();
        }
        found
    }
}

/// The step and its length in bytes.
fn parse_step(rest: &str, is_first: bool) -> Result<(PathStep, usize), &'static str> {
    if let Some(inner) = rest.strip_prefix('[') {
        let (index, _) = inner.split_once(']').ok_or("a closing bracket: `[0]` or `[*]`")?;
        let length = index.len().saturating_add(2);
        if index == "*" {
            return Ok((PathStep::AnyItem, length));
        }
        return index.parse().map(|index| (PathStep::Item(index), length)).map_err(|_| "an index: `[0]` or `[*]`");
    }
    let (dot, name) = match rest.strip_prefix('.') {
        Some(name) => (1, name),
        None if is_first => (0, rest),
        None => return Err("`.name`, `[0]` or the end"),
    };
    let end = name.find(['.', '[']).unwrap_or(name.len());
    match name.get(..end) {
        Some(name) if !name.is_empty() => Ok((PathStep::Member(name.to_owned()), end.saturating_add(dot))),
        _ => Err("a member's name"),
    }
}

impl PathStep {
    fn apply<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        match self {
            Self::Member(name) => value.get(name).into_iter().collect(),
            Self::Item(index) => value.get(index).into_iter().collect(),
            Self::AnyItem => value.as_array().into_iter().flatten().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn path_selects_values() {
        let document = json!({"data": [{"id": "1", "tags": ["a", "b"]}, {"id": "2"}], "meta": {"count": 2}});
        let select = |path: &str| {
            let path = JsonPath::parse(path).unwrap();
            path.select(&document).into_iter().cloned().collect::<Vec<_>>()
        };
        assert_eq!(select("data[0].id"), [json!("1")]);
        assert_eq!(select("$.data[*].id"), [json!("1"), json!("2")]);
        assert_eq!(select("meta.count"), [json!(2)]);
        assert_eq!(select("data[0].tags[1]"), [json!("b")]);
        assert!(select("data[7]").is_empty() && select("meta[0]").is_empty());
        assert_eq!(select("$"), std::slice::from_ref(&document));
    }

    #[test]
    fn wrong_path_says_where() {
        for (path, at) in [("data[x]", 4), ("data[0", 4), ("a..b", 1), ("a[0]b", 4), (".", 0)] {
            assert_eq!(JsonPath::parse(path).map_err(|(position, _)| position), Err(at), "{path}");
        }
    }
}
