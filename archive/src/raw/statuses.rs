//! Lines: our own export, and posts, users and lists in the v1.1 format, including embedded
//! objects.

use super::{ConversionContext, ElementError, RawList, RawPost, RawUser};
use crate::lenient::{LenientList, LenientText};
use crate::notes::NoteIndex;
use crate::{ArchiveRecord, ArchivedAttachment, ExportRow};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};

#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "a JSON object")]
struct LineShape<'a> {
    #[serde(borrow)]
    kind: LenientText<'a>,
    screen_name: LenientText<'a>,
    slug: Option<IgnoredAny>,
    statuses: Option<IgnoredAny>,
    users: Option<IgnoredAny>,
    lists: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawObjectsPage<'a> {
    #[serde(borrow)]
    statuses: LenientList<RawPost<'a>>,
    users: LenientList<RawUser<'a>>,
    lists: LenientList<RawList<'a>>,
}

impl LineShape<'_> {
    fn is_page(&self) -> bool {
        self.statuses.is_some() || self.users.is_some() || self.lists.is_some()
    }
}

/// Appends the records of a line, embedded objects first.
pub(crate) fn convert_line(json: &str, records: &mut Vec<ArchiveRecord>) -> Result<(), ElementError> {
    let shape: LineShape<'_> = serde_json::from_str(json)?;
    if !shape.kind.is_empty() {
        records.push(parse_own_line(&shape.kind, json)?);
    } else if !shape.screen_name.is_empty() {
        add_user(&serde_json::from_str(json)?, records)?;
    } else if shape.is_page() {
        add_page(&serde_json::from_str(json)?, records)?;
    } else if shape.slug.is_some() {
        add_list(&serde_json::from_str(json)?, records)?;
    } else {
        let post: RawPost<'_> = serde_json::from_str(json)?;
        if !post.has_text() {
            return Err(ElementError::unreadable("not a post, a user or a line of an export"));
        }
        add_post(&post, None, records)?;
    }
    Ok(())
}

fn add_page(page: &RawObjectsPage<'_>, records: &mut Vec<ArchiveRecord>) -> Result<(), ElementError> {
    for post in page.statuses.iter() {
        add_post(post, None, records)?;
    }
    for user in page.users.iter() {
        add_user(user, records)?;
    }
    page.lists.iter().try_for_each(|list| add_list(list, records))
}

fn parse_own_line(kind: &str, json: &str) -> Result<ArchiveRecord, ElementError> {
    fn parse_json<T: DeserializeOwned>(json: &str) -> Result<T, ElementError> {
        Ok(serde_json::from_str(json)?)
    }
    Ok(match kind {
        "account" => ArchiveRecord::Account(parse_json(json)?),
        "profile" => ArchiveRecord::Profile(parse_json(json)?),
        "user" => ArchiveRecord::User(Box::new(require_id(parse_json(json)?, |user: &crate::ArchivedUser| user.id)?)),
        "post" => ArchiveRecord::Post(Box::new(require_id(parse_json(json)?, |post: &crate::ArchivedPost| post.id)?)),
        "note_tweet" => ArchiveRecord::NoteTweet(parse_json(json)?),
        "follow" => ArchiveRecord::Follow(parse_json(json)?),
        "block" => ArchiveRecord::Block(parse_json(json)?),
        "mute" => ArchiveRecord::Mute(parse_json(json)?),
        "follow_request" => ArchiveRecord::FollowRequest(parse_json(json)?),
        "dm_block" => ArchiveRecord::DmBlock(parse_json(json)?),
        "like" => ArchiveRecord::Like(require_id(parse_json(json)?, |like: &crate::ArchivedLike| like.post)?),
        "list" => ArchiveRecord::List(parse_json(json)?),
        "list_member" => {
            ArchiveRecord::ListMember(require_id(parse_json(json)?, |member: &crate::ArchivedListMember| {
                member.list.min(member.user)
            })?)
        }
        "deleted_post" => ArchiveRecord::DeletedPost(parse_json(json)?),
        "media" => ArchiveRecord::Media(validate_media_names(parse_json(json)?)?),
        "message" => ArchiveRecord::Message(parse_json(json)?),
        _ => ArchiveRecord::Row(parse_row(kind, json)?),
    })
}

fn parse_row(kind: &str, json: &str) -> Result<ExportRow, ElementError> {
    let cells: Map<String, Value> = serde_json::from_str(json)?;
    let cells = cells.into_iter().filter(|(name, _)| name != "kind");
    Ok(ExportRow { kind: kind.to_owned(), cells: cells.collect() })
}

fn require_id<T>(value: T, id: impl Fn(&T) -> i64) -> Result<T, ElementError> {
    if id(&value) > 0 { Ok(value) } else { Err(ElementError::unreadable("an id is missing")) }
}

fn validate_media_names(file: ArchivedAttachment) -> Result<ArchivedAttachment, ElementError> {
    let safe = |name: &String| crate::text::base_name(name) == Some(name);
    if file.media.files.iter().all(safe) {
        Ok(file)
    } else {
        Err(ElementError::Refused("a media name leads out of its folder"))
    }
}

fn add_post(raw: &RawPost<'_>, author: Option<i64>, records: &mut Vec<ArchiveRecord>) -> Result<(), ElementError> {
    for embedded in [&raw.retweeted_status, &raw.quoted_status].into_iter().flatten() {
        add_post(embedded, None, records)?;
    }
    let context = ConversionContext { author, notes: &NoteIndex::default(), reposts_by_text: false };
    records.push(ArchiveRecord::Post(Box::new(raw.to_post(context)?)));
    Ok(())
}

fn add_user(raw: &RawUser<'_>, records: &mut Vec<ArchiveRecord>) -> Result<(), ElementError> {
    records.push(ArchiveRecord::User(Box::new(raw.to_user()?)));
    if let Some(status) = &raw.status {
        add_post(status, raw.id(), records)?;
    }
    Ok(())
}

fn add_list(raw: &RawList<'_>, records: &mut Vec<ArchiveRecord>) -> Result<(), ElementError> {
    if let Some(owner) = &raw.user {
        add_user(owner, records)?;
    }
    records.push(ArchiveRecord::List(raw.to_list()?));
    Ok(())
}
