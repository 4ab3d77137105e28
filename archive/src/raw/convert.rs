//! From the text of one element to its records.

use super::{
    Around, Fault, RawAccount, RawDeletedHeader, RawLike, RawListInfo, RawNote, RawProfile,
    RawTalk, RawTie, Wrapped,
};
use crate::kinds::Kind;
use crate::{DeletedPost, NoteTweet, Record, Tie};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::marker::PhantomData;

/// `{"account": {...}}`: the one value within, whatever it is called.
struct Inner<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Inner<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> serde::de::Visitor<'de> for Visitor<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with one entry")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut from: A) -> Result<T, A::Error> {
                let entry = from.next_entry::<serde::de::IgnoredAny, T>()?;
                while from
                    .next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?
                    .is_some()
                {}
                let missing = || serde::de::Error::custom("an empty object");
                entry.map(|(_, value)| value).ok_or_else(missing)
            }
        }
        from.deserialize_map(Visitor(PhantomData)).map(Inner)
    }
}

fn inner<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, Fault> {
    Ok(serde_json::from_str::<Inner<T>>(json)?.0)
}

/// The note of one element, and its text before links were expanded.
pub(crate) fn read_note(json: &str) -> Result<(NoteTweet, String), Fault> {
    inner::<RawNote<'_>>(json)?.note()
}

/// Appends the records of one element of a file of this kind.
pub(crate) fn convert(
    kind: Kind,
    json: &str,
    around: Around<'_>,
    records: &mut Vec<Record>,
) -> Result<(), Fault> {
    let tie = || inner::<RawTie>(json)?.id();
    let to = |to| Tie {
        to: Some(to),
        ..Tie::default()
    };
    records.push(match kind {
        Kind::Account => Record::Account(inner::<RawAccount<'_>>(json)?.account()?),
        Kind::Profile => Record::Profile(inner::<RawProfile<'_>>(json)?.profile()),
        Kind::Note => Record::NoteTweet(read_note(json)?.0),
        Kind::Post => Record::Post(Box::new(Wrapped::read(json)?.post(around)?)),
        Kind::DeletedPost => Record::DeletedPost(deleted(json, around)?),
        Kind::DeletedHeader => Record::DeletedPost(inner::<RawDeletedHeader<'_>>(json)?.deleted()?),
        Kind::Follower => Record::Follow(Tie {
            from: Some(tie()?),
            ..Tie::default()
        }),
        Kind::Following => Record::Follow(to(tie()?)),
        Kind::Block => Record::Block(to(tie()?)),
        Kind::Mute => Record::Mute(to(tie()?)),
        Kind::Like => Record::Like(inner::<RawLike<'_>>(json)?.like()?),
        Kind::Talk => return inner::<RawTalk<'_>>(json)?.events(records),
        Kind::List(role) => {
            let lists = inner::<RawListInfo<'_>>(json)?.lists(role);
            records.extend(lists.into_iter().map(Record::List));
            return Ok(());
        }
    });
    Ok(())
}

fn deleted(json: &str, around: Around<'_>) -> Result<DeletedPost, Fault> {
    let raw = Wrapped::read(json)?;
    Ok(DeletedPost {
        id: raw
            .id()
            .ok_or_else(|| Fault::bad("a deleted post without an id"))?,
        deleted_at_ms: raw.deleted_at_ms(),
        post: raw.post(around).ok().map(Box::new),
    })
}
