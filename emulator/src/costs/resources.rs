//! Which resources a response contains.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// Bodies above are counted by their size alone: as one resource.
const MAX_PARSED_BYTES: usize = 4 * 1024 * 1024;

#[derive(Deserialize)]
struct AnswerIds<'a> {
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ResourceId<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    media_key: Option<Cow<'a, str>>,
}

/// The ids of `data`; a resource without an id is an empty text.
pub(super) fn resource_ids(body: &[u8]) -> Vec<String> {
    if body.len() > MAX_PARSED_BYTES {
        return vec![String::new()];
    }
    let Ok(AnswerIds { data: Some(data) }) = serde_json::from_slice::<AnswerIds<'_>>(body) else {
        return Vec::new();
    };
    let id = |resource: ResourceId<'_>| resource.id.or(resource.media_key).unwrap_or_default().into_owned();
    let data = data.get();
    if data.starts_with('[') {
        let all: Vec<ResourceId<'_>> = serde_json::from_str(data).unwrap_or_default();
        return all.into_iter().map(id).collect();
    }
    serde_json::from_str(data).map(id).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::resource_ids;

    #[test]
    fn resources_are_those_of_data() {
        assert_eq!(
            resource_ids(br#"{"data":[{"id":"1","text":"a"},{"id":"2"}],"includes":{"users":[{"id":"9"}]}}"#),
            ["1", "2"]
        );
        assert_eq!(resource_ids(br#"{"data":{"id":"7"}}"#), ["7"]);
        assert_eq!(resource_ids(br#"{"data":[{"media_key":"3_1"}]}"#), ["3_1"]);
        assert!(resource_ids(br#"{"meta":{"result_count":0}}"#).is_empty());
        assert!(resource_ids(br#"{"data":"text"}"#).is_empty());
        assert!(resource_ids(br#"{"data":[1,2]}"#).is_empty());
        assert!(resource_ids(b"not JSON").is_empty());
    }
}
