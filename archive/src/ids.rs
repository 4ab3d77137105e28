//! Ids are 64-bit numbers in Rust and strings of digits in JSON, whose numbers would lose
//! precision.

use crate::lenient::LenientNumber;
use serde::{Deserialize, Deserializer, Serializer};

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference to the field")]
pub(crate) fn serialize<S: Serializer>(id: &i64, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(id)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    option::deserialize(from)?.ok_or_else(|| serde::de::Error::custom("an id is missing"))
}

pub(crate) mod option {
    use super::{Deserialize, Deserializer, LenientNumber, Serializer};

    #[expect(clippy::ref_option, reason = "serde asks with a reference to the field")]
    pub(crate) fn serialize<S: Serializer>(id: &Option<i64>, to: S) -> Result<S::Ok, S::Error> {
        match id {
            Some(id) => to.collect_str(id),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
        Ok(LenientNumber::deserialize(from)?.0)
    }
}

pub(crate) mod list {
    use super::{Deserialize, Deserializer, LenientNumber, Serializer};

    pub(crate) fn serialize<S: Serializer>(ids: &[i64], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(ids.iter().map(i64::to_string))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<i64>, D::Error> {
        let numbers = Vec::<LenientNumber>::deserialize(from)?;
        Ok(numbers.into_iter().filter_map(|number| number.0).collect())
    }
}
