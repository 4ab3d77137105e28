//! Prepares records for storage, as far as this needs no transaction.

use archive::{
    ArchiveRecord, ArchivedAccount, ArchivedAttachment, ArchivedList, ArchivedListMember, ArchivedMedia,
    ArchivedMessage, ArchivedProfile, ArchivedUser, UserRelation,
};
use base::Time;
use base::id::first_snowflake_at;
use network::compose::PostTextDraft;
use store::imports::EdgeKind;

use super::media_folder::MediaFolder;
use crate::portable_rows::{self, PortableRow};
use crate::report::ImportReport;

/// No valid text is longer.
const MAX_TEXT_BYTES: usize = 100_000;
const MAX_LIST_LENGTH: usize = 200;

pub(crate) enum PreparedRecord {
    Profile(ArchivedProfile),
    User(Box<ArchivedUser>),
    Post(Box<PreparedPost>),
    Edge(EdgeKind, UserRelation),
    Like(Box<PreparedLike>),
    List(ArchivedList),
    Member(ArchivedListMember),
    Media(Box<(ArchivedAttachment, String)>),
    Row(Box<PortableRow>),
    Message(Box<PreparedMessage>),
}

pub(crate) struct PreparedMessage {
    pub(crate) message: ArchivedMessage,
    pub(crate) draft: PostTextDraft,
}

pub(crate) struct PreparedPost {
    pub(crate) post: archive::ArchivedPost,
    pub(crate) draft: PostTextDraft,
    pub(crate) lang: String,
    pub(crate) paths: Vec<String>,
    /// The text of the reposted post, if only this repost contains it.
    pub(crate) source: Option<PostTextDraft>,
}

pub(crate) struct PreparedLike {
    pub(crate) like: archive::ArchivedLike,
    pub(crate) draft: Option<PostTextDraft>,
}

impl PreparedRecord {
    /// Approximate memory in bytes.
    pub(crate) fn estimated_size(&self) -> usize {
        match self {
            Self::Post(post) => 500 + post.post.text.len() * 3,
            Self::Like(like) => 200 + like.like.text.len() * 3,
            Self::User(user) => 300 + user.bio.len(),
            Self::Row(row) => row.estimated_size(),
            Self::Message(prepared) => 300 + prepared.message.text.len() * 3,
            _ => 200,
        }
    }
}

/// `None` if nothing is to be stored.
pub(crate) fn prepare_record(
    record: ArchiveRecord,
    media_folder: &MediaFolder<'_>,
    max_id: i64,
    report: &mut ImportReport,
) -> Option<PreparedRecord> {
    let is_valid_id = |id: i64| id > 0 && id <= max_id;
    Some(match record {
        ArchiveRecord::Account(account) => {
            report.count_stored("account");
            // The account of an archive was resolved before the first chunk.
            return (!media_folder.is_archive()).then(|| PreparedRecord::User(Box::new(user_from_account(account))));
        }
        ArchiveRecord::Profile(profile) => PreparedRecord::Profile(profile),
        ArchiveRecord::User(user) => {
            if !is_valid_id(user.id) {
                return skip_invalid_id("user", user.id, report);
            }
            PreparedRecord::User(user)
        }
        ArchiveRecord::Post(post) => PreparedRecord::Post(Box::new(prepare_post(*post, media_folder, max_id, report)?)),
        ArchiveRecord::Follow(relation) => prepare_edge(EdgeKind::Follow, relation, max_id, report)?,
        ArchiveRecord::Block(relation) => prepare_edge(EdgeKind::Block, relation, max_id, report)?,
        ArchiveRecord::Mute(relation) => prepare_edge(EdgeKind::Mute, relation, max_id, report)?,
        ArchiveRecord::FollowRequest(relation) => prepare_edge(EdgeKind::Request, relation, max_id, report)?,
        ArchiveRecord::DmBlock(relation) => prepare_edge(EdgeKind::DmBlock, relation, max_id, report)?,
        ArchiveRecord::Like(like) => prepare_like(like, max_id, report)?,
        ArchiveRecord::List(list) => {
            if list.id.is_some_and(|id| !is_valid_id(id)) {
                return skip_invalid_id("list", list.id.unwrap_or(0), report);
            }
            PreparedRecord::List(list)
        }
        ArchiveRecord::ListMember(member) => {
            if !is_valid_id(member.user) {
                return skip_invalid_id("list_member", member.user, report);
            }
            let id = member.id.filter(|id| is_valid_id(*id));
            PreparedRecord::Member(ArchivedListMember { id, ..member })
        }
        ArchiveRecord::Media(file) => {
            if !is_valid_id(file.media.id) {
                return skip_invalid_id("media", file.media.id, report);
            }
            let path = media_folder.store_file(file.post, &file.media, report);
            PreparedRecord::Media(Box::new((file, path)))
        }
        ArchiveRecord::DeletedPost(deleted) => {
            let reason = "its author deleted it";
            report.skip("deleted_post", reason, || format!("post {}", deleted.id));
            return None;
        }
        // Its text is already in its post.
        ArchiveRecord::NoteTweet(_) => {
            report.count_stored("note_tweet");
            return None;
        }
        ArchiveRecord::Message(message) => prepare_message(*message, max_id, report)?,
        ArchiveRecord::Row(line) => prepare_row(&line, max_id, report)?,
        ArchiveRecord::Skipped(_) => return None,
    })
}

fn prepare_message(mut message: ArchivedMessage, max_id: i64, report: &mut ImportReport) -> Option<PreparedRecord> {
    let is_valid_id = |id: i64| id > 0 && id <= max_id;
    let id = message.id.unwrap_or(1);
    let at = first_snowflake_at(Time::from_ms(message.at_ms));
    let mut pair = message.conversation.split('-');
    let is_valid_pair = pair.all(|id| id.parse().is_ok_and(is_valid_id));
    let is_valid = is_valid_id(id) && message.sender.is_some_and(is_valid_id) && at <= max_id;
    if !is_valid || !is_valid_pair {
        return skip_invalid_id("message", id, report);
    }
    if message.text.len() > MAX_TEXT_BYTES {
        let reason = "its text is too long";
        report.skip("message", reason, || format!("message {id}"));
        return None;
    }
    message.people.retain(|id| is_valid_id(*id));
    message.people.truncate(MAX_LIST_LENGTH);
    let draft = PostTextDraft::parse(&message.text);
    Some(PreparedRecord::Message(Box::new(PreparedMessage { message, draft })))
}

fn prepare_row(line: &archive::ExportRow, max_id: i64, report: &mut ImportReport) -> Option<PreparedRecord> {
    match portable_rows::from_line(line, max_id) {
        Ok(row) => Some(PreparedRecord::Row(Box::new(row))),
        Err(reason) => {
            let id = line.cells.iter().find(|(name, _)| name == "id");
            let id = id.map_or_else(String::new, |(_, id)| format!(" {id}"));
            report.skip(&line.kind, &reason, || format!("{}{id}", line.kind));
            None
        }
    }
}

fn user_from_account(account: ArchivedAccount) -> ArchivedUser {
    ArchivedUser {
        id: account.id,
        handle: account.handle,
        name: account.name,
        created_at_ms: account.created_at_ms,
        ..ArchivedUser::default()
    }
}

fn skip_invalid_id(kind: &str, id: i64, report: &mut ImportReport) -> Option<PreparedRecord> {
    report.skip(kind, "its id is invalid or from the future", || format!("{kind} {id}"));
    None
}

fn prepare_edge(
    kind: EdgeKind,
    relation: UserRelation,
    max_id: i64,
    report: &mut ImportReport,
) -> Option<PreparedRecord> {
    let invalid_id = [relation.from, relation.to].into_iter().flatten().find(|id| *id <= 0 || *id > max_id);
    if let Some(id) = invalid_id {
        return skip_invalid_id(edge_name(kind), id, report);
    }
    let id = relation.id.filter(|id| *id > 0 && *id <= max_id);
    Some(PreparedRecord::Edge(kind, UserRelation { id, ..relation }))
}

pub(crate) const fn edge_name(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Follow => "follow",
        EdgeKind::Block => "block",
        EdgeKind::Mute => "mute",
        EdgeKind::Request => "follow_request",
        EdgeKind::DmBlock => "dm_block",
    }
}

fn prepare_like(mut like: archive::ArchivedLike, max_id: i64, report: &mut ImportReport) -> Option<PreparedRecord> {
    let user = like.user.unwrap_or(1);
    if like.post <= 0 || like.post > max_id || user <= 0 || user > max_id {
        return skip_invalid_id("like", like.post, report);
    }
    if like.text.len() > MAX_TEXT_BYTES {
        like.text.clear();
    }
    let draft = (!like.text.is_empty()).then(|| PostTextDraft::parse(&like.text));
    Some(PreparedRecord::Like(Box::new(PreparedLike { like, draft })))
}

fn prepare_post(
    mut post: archive::ArchivedPost,
    media_folder: &MediaFolder<'_>,
    max_id: i64,
    report: &mut ImportReport,
) -> Option<PreparedPost> {
    let is_valid_id = |id: &i64| *id > 0 && *id <= max_id;
    if !is_valid_id(&post.id) {
        skip_invalid_id("post", post.id, report);
        return None;
    }
    if post.text.len() > MAX_TEXT_BYTES {
        let reason = "its text is too long";
        report.skip("post", reason, || format!("post {}", post.id));
        return None;
    }
    post.author = post.author.filter(is_valid_id);
    for text in [&mut post.card, &mut post.message_link] {
        if text.len() > MAX_LIST_LENGTH * 10 || text.contains('\0') {
            text.clear();
        }
    }
    post.app = post.app.filter(is_valid_id);
    post.community_id = post.community_id.filter(is_valid_id);
    post.in_reply_to_post = post.in_reply_to_post.filter(is_valid_id);
    post.in_reply_to_user = post.in_reply_to_user.filter(is_valid_id);
    post.quoted_post = post.quoted_post.filter(is_valid_id);
    post.edit_history.retain(is_valid_id);
    post.edit_history.truncate(MAX_LIST_LENGTH);
    post.mentions.truncate(MAX_LIST_LENGTH);
    post.media.truncate(MAX_LIST_LENGTH);
    post.media.retain(|media: &ArchivedMedia| is_valid_id(&media.id));
    for mention in &mut post.mentions {
        mention.id = mention.id.filter(is_valid_id);
    }
    if let Some(repost) = &mut post.repost_of {
        repost.id = repost.id.filter(is_valid_id);
        repost.author = repost.author.filter(is_valid_id);
        if repost.text.len() > MAX_TEXT_BYTES {
            repost.text.clear();
        }
    }
    post.user = post.user.filter(|user| is_valid_id(&user.id));
    let paths = post.media.iter();
    let paths = paths.map(|media| media_folder.store_file(Some(post.id), media, report));
    let paths = paths.collect();
    let draft = PostTextDraft::parse(&post.text);
    let lang = post.lang.as_deref().filter(|lang| is_language_tag(lang));
    Some(PreparedPost {
        lang: lang.unwrap_or_else(|| draft.language()).to_owned(),
        source: post.repost_of.as_ref().map(|repost| PostTextDraft::parse(&repost.text)),
        draft,
        paths,
        post,
    })
}

fn is_language_tag(lang: &str) -> bool {
    let plain = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'-';
    (2..=12).contains(&lang.len()) && lang.bytes().all(plain)
}
