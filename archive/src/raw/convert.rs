//! Converts the JSON of an element to records.

use super::{
    ConversionContext, ElementError, RawAccount, RawConversation, RawDeletedHeader, RawLike, RawListInfo, RawNote,
    RawProfile, RawRelation, WrappedPost,
};
use crate::data_types::ReadableDataType;
use crate::{ArchiveRecord, ArchivedDeletion, ArchivedNote, UserRelation};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::marker::PhantomData;

/// `{"account": {...}}`: the only value, whatever its key.
struct SingleEntry<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for SingleEntry<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct SingleEntryVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> serde::de::Visitor<'de> for SingleEntryVisitor<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with one entry")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut from: A) -> Result<T, A::Error> {
                let entry = from.next_entry::<serde::de::IgnoredAny, T>()?;
                while from.next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?.is_some() {}
                let missing = || serde::de::Error::custom("an empty object");
                entry.map(|(_, value)| value).ok_or_else(missing)
            }
        }
        from.deserialize_map(SingleEntryVisitor(PhantomData)).map(SingleEntry)
    }
}

fn parse_single_entry<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, ElementError> {
    Ok(serde_json::from_str::<SingleEntry<T>>(json)?.0)
}

/// The note of an element, and its text before links were expanded.
pub(crate) fn parse_note(json: &str) -> Result<(ArchivedNote, String), ElementError> {
    parse_single_entry::<RawNote<'_>>(json)?.to_note()
}

pub(crate) fn convert_element(
    kind: ReadableDataType,
    json: &str,
    context: ConversionContext<'_>,
    records: &mut Vec<ArchiveRecord>,
) -> Result<(), ElementError> {
    let parse_relation = || parse_single_entry::<RawRelation>(json)?.parse_id();
    let to = |to| UserRelation { to: Some(to), ..UserRelation::default() };
    records.push(match kind {
        ReadableDataType::Account => ArchiveRecord::Account(parse_single_entry::<RawAccount<'_>>(json)?.to_account()?),
        ReadableDataType::Profile => ArchiveRecord::Profile(parse_single_entry::<RawProfile<'_>>(json)?.to_profile()),
        ReadableDataType::Note => ArchiveRecord::NoteTweet(parse_note(json)?.0),
        ReadableDataType::Post => ArchiveRecord::Post(Box::new(WrappedPost::parse_post(json)?.to_post(context)?)),
        ReadableDataType::DeletedPost => ArchiveRecord::DeletedPost(convert_deleted_post(json, context)?),
        ReadableDataType::DeletedHeader => {
            ArchiveRecord::DeletedPost(parse_single_entry::<RawDeletedHeader<'_>>(json)?.to_deleted_post()?)
        }
        ReadableDataType::Follower => {
            ArchiveRecord::Follow(UserRelation { from: Some(parse_relation()?), ..UserRelation::default() })
        }
        ReadableDataType::Following => ArchiveRecord::Follow(to(parse_relation()?)),
        ReadableDataType::Block => ArchiveRecord::Block(to(parse_relation()?)),
        ReadableDataType::Mute => ArchiveRecord::Mute(to(parse_relation()?)),
        ReadableDataType::Like => ArchiveRecord::Like(parse_single_entry::<RawLike<'_>>(json)?.to_like()?),
        ReadableDataType::Conversation => {
            return parse_single_entry::<RawConversation<'_>>(json)?.append_events(records);
        }
        ReadableDataType::List(role) => {
            let lists = parse_single_entry::<RawListInfo<'_>>(json)?.to_lists(role);
            records.extend(lists.into_iter().map(ArchiveRecord::List));
            return Ok(());
        }
    });
    Ok(())
}

fn convert_deleted_post(json: &str, context: ConversionContext<'_>) -> Result<ArchivedDeletion, ElementError> {
    let raw = WrappedPost::parse_post(json)?;
    Ok(ArchivedDeletion {
        id: raw.id().ok_or_else(|| ElementError::unreadable("a deleted post without an id"))?,
        deleted_at_ms: raw.deleted_at_ms(),
        post: raw.to_post(context).ok().map(Box::new),
    })
}
