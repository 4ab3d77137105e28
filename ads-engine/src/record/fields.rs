//! The fields of a record, kept as stored until they are read: most fields of a list are rendered as they are stored.

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use base::Fault;
use serde_json::Value;

use crate::declaration::{FieldSpec, Resource};

#[derive(Clone)]
pub(super) struct RecordFields {
    declared: &'static [FieldSpec],
    /// The JSON object that was read.
    text: String,
    /// As many as are declared, in the same order.
    fields: Vec<RecordField>,
}

#[derive(Clone, Default)]
struct RecordField {
    /// The position of its JSON in the text; empty if the field is absent there or was changed.
    stored: Range<usize>,
    /// Empty until it is read.
    value: OnceLock<Value>,
}

impl RecordFields {
    pub(super) fn new(resource: &'static Resource) -> Self {
        let declared = resource.fields;
        let fields = std::iter::repeat_with(RecordField::default).take(declared.len());
        Self { declared, text: String::new(), fields: fields.collect() }
    }

    /// Reads what [`Self::to_json`] wrote. Fields no longer declared are dropped.
    pub(super) fn parse(resource: &'static Resource, text: String) -> Result<Self, Fault> {
        let mut parsed = Self::new(resource);
        let mut read = |name: &str, json: Range<usize>| {
            let position = parsed.position(name);
            if let Some(field) = position.and_then(|position| parsed.fields.get_mut(position)) {
                field.stored = json;
            }
        };
        let read = split_object(&text, &mut read);
        read.ok_or_else(|| Fault::new(format!("the fields of a {} are no JSON object", resource.label)))?;
        Ok(Self { text, ..parsed })
    }

    /// Without white space, in the order of names.
    pub(super) fn to_json(&self) -> String {
        let fields = self.iter();
        let fields = fields.map(|(name, value)| (name.to_owned(), value.clone()));
        Value::Object(fields.collect()).to_string()
    }

    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.declared.iter().position(|field| field.name.post == name)
    }

    /// Of a field that was not changed.
    pub(super) fn stored_json(&self, position: usize) -> Option<&str> {
        let range = self.fields.get(position)?.stored.clone();
        self.text.get(range).filter(|json| !json.is_empty())
    }

    pub(super) fn value(&self, position: usize) -> Option<&Value> {
        let field = self.fields.get(position)?;
        match self.stored_json(position) {
            // What was stored is JSON.
            Some(json) => Some(field.value.get_or_init(|| serde_json::from_str(json).unwrap_or_default())),
            None => field.value.get(),
        }
    }

    pub(super) fn set(&mut self, name: &'static str, value: Value) {
        let position = self.position(name);
        if let Some(field) = position.and_then(|position| self.fields.get_mut(position)) {
            *field = RecordField { stored: 0..0, value: value.into() };
        }
    }

    /// In the order of their declarations.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        let declared = self.declared.iter().enumerate();
        declared.filter_map(|(position, field)| Some((field.name.post, self.value(position)?)))
    }
}

/// As JSON.
impl fmt::Debug for RecordFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json())
    }
}

/// Calls `read` with the name of each member and the position of its value. The object has no white space. `None` if the
/// text is no object; a value may still be invalid.
fn split_object(text: &str, read: &mut dyn FnMut(&str, Range<usize>)) -> Option<()> {
    let bytes = text.as_bytes();
    let members = bytes.strip_prefix(b"{")?;
    if members == b"}" {
        return Some(());
    }
    let mut at = 1;
    loop {
        let name_end = string_end(bytes, at)?;
        let name = text.get(at + 1..name_end - 1)?;
        let start = name_end + 1;
        let end = value_end(bytes, start)?;
        if bytes.get(name_end) != Some(&b':') || end == start {
            return None;
        }
        read(name, start..end);
        match bytes.get(end)? {
            b',' => at = end + 1,
            b'}' if end + 1 == bytes.len() => return Some(()),
            _ => return None,
        }
    }
}

/// The position after the value that begins at `start`.
fn value_end(bytes: &[u8], start: usize) -> Option<usize> {
    match bytes.get(start)? {
        b'"' => string_end(bytes, start),
        b'{' | b'[' => {
            let (mut at, mut depth) = (start, 0_usize);
            loop {
                match bytes.get(at)? {
                    b'"' => at = string_end(bytes, at)? - 1,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' if depth == 1 => return Some(at + 1),
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
            }
        }
        _ => Some(start + bytes.get(start..)?.iter().position(|byte| matches!(byte, b',' | b'}'))?),
    }
}

/// The position after the text whose first quotation mark is at `start`.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    bytes.get(start).filter(|byte| **byte == b'"')?;
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at + 1);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use base::{Time, Vocabulary, VocabularyWord};
    use schema::Kind;
    use serde_json::{Value, json};
    use store::records::{RecordRow, RecordVisibility};

    use crate::{AdsRecord, FieldSpec, Resource};

    static WORDS: [VocabularyWord; 1] = [VocabularyWord { post: "POST", tweet: "TWEET" }];

    static THING: Resource = Resource {
        name: "thing",
        fields: &[
            FieldSpec::text("name", 1, 80),
            FieldSpec::new("type", Kind::word(&WORDS)),
            FieldSpec::new("on", Kind::BOOL),
            FieldSpec::new("start", Kind::TIME),
            FieldSpec::new("parts", Kind::JSON),
            FieldSpec::new("ids", Kind::ID.list(1, 9)),
        ],
        ..Resource::DEFAULT
    };

    fn stored(body: &str) -> Result<AdsRecord, base::Fault> {
        let row = RecordRow {
            id: 7,
            account_id: 1,
            level: RecordVisibility::Listed,
            deleted: false,
            created_at: Time::from_ms(0),
            updated_at: Time::from_ms(0),
            body: body.to_owned(),
        };
        AdsRecord::from_stored(&THING, row)
    }

    fn rendered(record: &AdsRecord, vocabulary: Vocabulary) -> Value {
        let mut text = String::new();
        record.write_json(&mut text, vocabulary, &[]);
        serde_json::from_str(&text).unwrap()
    }

    const BODY: &str = r#"{"gone":[{"a":1}],"ids":[1,2],"name":"\"é\\\u0007","on":1,"parts":{"a":[1,"}]\""]},"start":0,"type":"POST"}"#;

    #[test]
    fn stored_fields_are_rendered_by_their_kinds() {
        let record = stored(BODY).unwrap();
        let expected = json!({
            "id": "7", "name": "\"é\\\u{7}", "type": "POST", "on": true, "start": "1970-01-01T00:00:00Z",
            "parts": { "a": [1, "}]\"" ] }, "ids": ["1", "2"], "created_at": "1970-01-01T00:00:00Z",
            "updated_at": "1970-01-01T00:00:00Z", "deleted": false,
        });
        assert_eq!(rendered(&record, Vocabulary::Post), expected);
        assert_eq!(rendered(&record, Vocabulary::Tweet)["type"], "TWEET");
        assert_eq!(record.text("name"), "\"é\\\u{7}");
        assert_eq!(record.int("start"), Some(0));
    }

    #[test]
    fn a_changed_field_replaces_the_stored_one() {
        let mut record = stored(BODY).unwrap();
        record.set("name", "B");
        record.set("parts", Value::Null);
        assert_eq!(rendered(&record, Vocabulary::Post)["name"], "B");
        assert_eq!(record.get("parts"), None);
        let body = r#"{"ids":[1,2],"name":"B","on":1,"parts":null,"start":0,"type":"POST"}"#;
        assert_eq!(record.to_stored().body, body, "names in order, without what is no longer declared");
    }

    #[test]
    fn fields_that_were_never_stored_are_null() {
        let record = stored("{}").unwrap();
        assert_eq!(rendered(&record, Vocabulary::Post)["type"], Value::Null);
        assert_eq!(record.to_stored().body, "{}");
    }

    #[test]
    fn a_body_that_is_no_object_is_a_fault() {
        for body in [
            "",
            "[]",
            "{",
            r#"{"name":"#,
            r#"{"name":}"#,
            r#"{"name":"A"#,
            r#"{"name":"A",}"#,
            r#"{"parts":[1}"#,
            "{}{}",
        ] {
            stored(body).unwrap_err();
        }
    }
}
