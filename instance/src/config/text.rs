//! Deserializes values from text: every source of the configuration delivers text.

use serde::de::value::{Error, MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

pub fn from_text<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    T::deserialize(TextValue(Some(text)))
}

/// Pairs of a section and its keys.
pub(super) fn from_sections<'a, T: DeserializeOwned>(
    sections: impl Iterator<Item = (&'static str, Vec<(&'static str, TextValue<'a>)>)>,
) -> Result<T, Error> {
    T::deserialize(MapDeserializer::new(
        sections.map(|(section, keys)| (section, MapDeserializer::new(keys.into_iter()))),
    ))
}

/// `None` is an option without a value or an empty list.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextValue<'a>(pub(super) Option<&'a str>);

impl<'a> TextValue<'a> {
    fn text(self) -> Result<&'a str, Error> {
        self.0.filter(|text| !text.is_empty()).ok_or_else(|| Error::custom("no value"))
    }
}

impl IntoDeserializer<'_> for TextValue<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! parse_integers {
    ($($method:ident)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.visit_u64(self.text()?.parse().map_err(Error::custom)?)
        })+
    };
}

impl<'de> Deserializer<'de> for TextValue<'_> {
    type Error = Error;

    parse_integers! { deserialize_u16 deserialize_u64 deserialize_i64 }

    /// Also accepts `1`/`0`, `yes`/`no` and `on`/`off`.
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.text()? {
            "true" | "1" | "yes" | "on" => visitor.visit_bool(true),
            "false" | "0" | "no" | "off" => visitor.visit_bool(false),
            other => Err(Error::custom(other)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_some() { visitor.visit_some(self) } else { visitor.visit_none() }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    /// Items are separated by commas.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let items = self.0.unwrap_or_default().split(',').map(str::trim).filter(|item| !item.is_empty());
        visitor.visit_seq(SeqDeserializer::new(items.map(|item| TextValue(Some(item)))))
    }

    /// The error lists the words that the enum has.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.text() {
            Ok(text) if words.contains(&text) => visitor.visit_enum(StrDeserializer::new(text)),
            _ => Err(Error::custom(format!("`{}`", words.join("`, `")))),
        }
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.text()?)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u32 u128 f32 f64 char str string bytes byte_buf unit unit_struct tuple tuple_struct map struct
        identifier ignored_any
    }
}
