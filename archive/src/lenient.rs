//! Field types that accept the various ways in which archives write a value.

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use crate::raw::ElementError;

/// An integer, written as a number or as text; `None` for null and the empty text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LenientNumber(pub(crate) Option<i64>);

impl LenientNumber {
    pub(crate) fn require(self, problem: &str) -> Result<i64, ElementError> {
        self.0.ok_or_else(|| ElementError::unreadable(problem))
    }
}

impl<'de> Deserialize<'de> for LenientNumber {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = LenientNumber;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<LenientNumber, E> {
        Ok(LenientNumber(Some(value)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<LenientNumber, E> {
        let value = i64::try_from(value).map_err(E::custom)?;
        Ok(LenientNumber(Some(value)))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<LenientNumber, E> {
        format!("{value:.0}").parse().map(|value| LenientNumber(Some(value))).map_err(E::custom)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<LenientNumber, E> {
        if text.is_empty() {
            return Ok(LenientNumber(None));
        }
        match text.parse() {
            Ok(value) => Ok(LenientNumber(Some(value))),
            Err(_) => Err(E::custom(format_args!("{text:?} is not an integer"))),
        }
    }

    fn visit_unit<E: Error>(self) -> Result<LenientNumber, E> {
        Ok(LenientNumber(None))
    }
}

/// Text, borrowed if it has no escapes; empty for null.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LenientText<'a>(Cow<'a, str>);

impl Deref for LenientText<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl LenientText<'_> {
    pub(crate) fn to_text(&self) -> String {
        self.0.clone().into_owned()
    }

    /// `None` for the empty text.
    pub(crate) fn non_empty(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.to_text())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for LenientText<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(TextVisitor(PhantomData))
    }
}

struct TextVisitor<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for TextVisitor<'a> {
    type Value = LenientText<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<LenientText<'a>, E> {
        Ok(LenientText(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<LenientText<'a>, E> {
        Ok(LenientText(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<LenientText<'a>, E> {
        Ok(LenientText(Cow::Owned(text)))
    }

    fn visit_unit<E: Error>(self) -> Result<LenientText<'a>, E> {
        Ok(LenientText::default())
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LenientFlag(pub(crate) bool);

impl<'de> Deserialize<'de> for LenientFlag {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(FlagVisitor)
    }
}

struct FlagVisitor;

impl Visitor<'_> for FlagVisitor {
    type Value = LenientFlag;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true or false")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<LenientFlag, E> {
        Ok(LenientFlag(value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<LenientFlag, E> {
        Ok(LenientFlag(text == "true"))
    }

    fn visit_unit<E: Error>(self) -> Result<LenientFlag, E> {
        Ok(LenientFlag(false))
    }
}

/// A list; empty for null.
#[derive(Debug, Clone)]
pub(crate) struct LenientList<T>(pub(crate) Vec<T>);

impl<T> Default for LenientList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Deref for LenientList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for LenientList<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ItemsVisitor(PhantomData))
    }
}

struct ItemsVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ItemsVisitor<T> {
    type Value = LenientList<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<LenientList<T>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element()? {
            items.push(item);
        }
        Ok(LenientList(items))
    }

    fn visit_unit<E: Error>(self) -> Result<LenientList<T>, E> {
        Ok(LenientList::default())
    }
}
