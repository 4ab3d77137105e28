//! Lines: our own export, and posts, accounts and lists of the v1.1 shape with all that they embed.

use super::{Around, Fault, RawList, RawPost, RawUser};
use crate::lenient::{Items, Text};
use crate::notes::Notes;
use crate::{MediaFile, Record, Row};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};

/// What tells the kinds of lines apart.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Signs<'a> {
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    screen_name: Text<'a>,
    slug: Option<IgnoredAny>,
    statuses: Option<IgnoredAny>,
    users: Option<IgnoredAny>,
    lists: Option<IgnoredAny>,
}

/// A page of search results, of accounts or of lists.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Page<'a> {
    #[serde(borrow)]
    statuses: Items<RawPost<'a>>,
    #[serde(borrow)]
    users: Items<RawUser<'a>>,
    #[serde(borrow)]
    lists: Items<RawList<'a>>,
}

impl Signs<'_> {
    fn is_page(&self) -> bool {
        self.statuses.is_some() || self.users.is_some() || self.lists.is_some()
    }
}

/// Appends the records of one line, embedded ones first.
pub(crate) fn from_line(json: &str, records: &mut Vec<Record>) -> Result<(), Fault> {
    let signs: Signs<'_> = serde_json::from_str(json)?;
    if !signs.kind.is_empty() {
        records.push(own(&signs.kind, json)?);
    } else if !signs.screen_name.is_empty() {
        add_user(&serde_json::from_str(json)?, records)?;
    } else if signs.is_page() {
        add_page(&serde_json::from_str(json)?, records)?;
    } else if signs.slug.is_some() {
        add_list(&serde_json::from_str(json)?, records)?;
    } else {
        let post: RawPost<'_> = serde_json::from_str(json)?;
        if !post.has_text() {
            return Err(Fault::bad(
                "neither a post nor an account nor a line of ours",
            ));
        }
        add_post(&post, None, records)?;
    }
    Ok(())
}

fn add_page(page: &Page<'_>, records: &mut Vec<Record>) -> Result<(), Fault> {
    for post in page.statuses.iter() {
        add_post(post, None, records)?;
    }
    for user in page.users.iter() {
        add_user(user, records)?;
    }
    page.lists
        .iter()
        .try_for_each(|list| add_list(list, records))
}

fn own(kind: &str, json: &str) -> Result<Record, Fault> {
    fn read<T: DeserializeOwned>(json: &str) -> Result<T, Fault> {
        Ok(serde_json::from_str(json)?)
    }
    Ok(match kind {
        "account" => Record::Account(read(json)?),
        "profile" => Record::Profile(read(json)?),
        "user" => Record::User(Box::new(with_id(read(json)?, |user: &crate::User| {
            user.id
        })?)),
        "post" => Record::Post(Box::new(with_id(read(json)?, |post: &crate::Post| {
            post.id
        })?)),
        "note_tweet" => Record::NoteTweet(read(json)?),
        "follow" => Record::Follow(read(json)?),
        "block" => Record::Block(read(json)?),
        "mute" => Record::Mute(read(json)?),
        "follow_request" => Record::FollowRequest(read(json)?),
        "dm_block" => Record::DmBlock(read(json)?),
        "like" => Record::Like(with_id(read(json)?, |like: &crate::Like| like.post)?),
        "list" => Record::List(read(json)?),
        "list_member" => Record::ListMember(with_id(read(json)?, |member: &crate::ListMember| {
            member.list.min(member.user)
        })?),
        "deleted_post" => Record::DeletedPost(read(json)?),
        "media" => Record::Media(safe_media(read(json)?)?),
        "message" => Record::Message(read(json)?),
        _ => Record::Row(row(kind, json)?),
    })
}

fn row(kind: &str, json: &str) -> Result<Row, Fault> {
    let cells: Map<String, Value> = serde_json::from_str(json)?;
    let cells = cells.into_iter().filter(|(name, _)| name != "kind");
    Ok(Row {
        kind: kind.to_owned(),
        cells: cells.collect(),
    })
}

fn with_id<T>(value: T, id: impl Fn(&T) -> i64) -> Result<T, Fault> {
    if id(&value) > 0 {
        Ok(value)
    } else {
        Err(Fault::bad("an id is missing"))
    }
}

fn safe_media(file: MediaFile) -> Result<MediaFile, Fault> {
    let safe = |name: &String| crate::text::base_name(name) == Some(name);
    if file.media.files.iter().all(safe) {
        Ok(file)
    } else {
        Err(Fault::Refused("a media name leads out of its folder"))
    }
}

fn add_post(
    raw: &RawPost<'_>,
    author: Option<i64>,
    records: &mut Vec<Record>,
) -> Result<(), Fault> {
    for embedded in [&raw.retweeted_status, &raw.quoted_status]
        .into_iter()
        .flatten()
    {
        add_post(embedded, None, records)?;
    }
    let around = Around {
        author,
        notes: &Notes::default(),
        reposts_by_text: false,
    };
    records.push(Record::Post(Box::new(raw.post(around)?)));
    Ok(())
}

fn add_user(raw: &RawUser<'_>, records: &mut Vec<Record>) -> Result<(), Fault> {
    records.push(Record::User(Box::new(raw.user()?)));
    if let Some(status) = &raw.status {
        add_post(status, raw.id(), records)?;
    }
    Ok(())
}

fn add_list(raw: &RawList<'_>, records: &mut Vec<Record>) -> Result<(), Fault> {
    if let Some(owner) = &raw.user {
        add_user(owner, records)?;
    }
    records.push(Record::List(raw.list()?));
    Ok(())
}
