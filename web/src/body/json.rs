//! Strict JSON: no duplicate names, no number beyond 64 bits.

use std::fmt;

use base::Refusal;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

const MAX_DEPTH: usize = 64;
/// Characters of a member name that a refusal repeats.
const MAX_SHOWN_NAME: usize = 64;

/// Parses one value; trailing input is an error.
pub fn parse_json(bytes: &[u8]) -> serde_json::Result<Value> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = StrictJson { depth: 0 }.deserialize(&mut reader)?;
    reader.end().map(|()| value)
}

pub(super) fn parse_object(bytes: &[u8]) -> Result<Map<String, Value>, Refusal> {
    match parse_json(bytes) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(super::invalid_body("Request body must be a JSON object.")),
        Err(error) if error.is_data() => Err(super::invalid_body(format!("Request body is not valid: {error}."))),
        Err(error) => Err(super::invalid_body(format!("Request body is not valid JSON: {error}."))),
    }
}

struct StrictJson {
    depth: usize,
}

impl StrictJson {
    fn next_depth<E: Error>(&self) -> Result<usize, E> {
        if self.depth >= MAX_DEPTH {
            return Err(E::custom(format_args!("it is nested deeper than {MAX_DEPTH} levels")));
        }
        Ok(self.depth + 1)
    }
}

impl<'de> DeserializeSeed<'de> for StrictJson {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictJson {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        let value = i64::try_from(value);
        value.map_or_else(|_| Err(number_too_large()), |value| self.visit_i64(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        // Integers beyond 64 bits arrive here as well, already rounded.
        let fits = value.abs() < 9.0e18;
        let number = Number::from_f64(value).filter(|_| fits);
        number.map(Value::Number).ok_or_else(number_too_large)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.visit_string(value.to_owned())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        if value.contains('\0') {
            return Err(E::custom("a text holds the character U+0000"));
        }
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let depth = self.next_depth()?;
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(Self { depth })? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let depth = self.next_depth()?;
        let mut values = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value_seed(Self { depth })?;
            if values.contains_key(&name) {
                let name: String = name.chars().take(MAX_SHOWN_NAME).collect();
                return Err(A::Error::custom(format_args!("the member `{name}` stands twice")));
            }
            values.insert(name, value);
        }
        Ok(Value::Object(values))
    }
}

fn number_too_large<E: Error>() -> E {
    E::custom("a number is larger than 64 bits hold")
}
