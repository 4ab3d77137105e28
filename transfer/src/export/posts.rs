//! Posts as lines.

use std::collections::HashMap;

use archive::{ArchiveRecord, ArchivedMention, ArchivedPost, ArchivedRepost};
use base::{AppId, Error, Fault, PostId, UserId, sorted_distinct};
use store::media::{self, Media};
use store::polls::{self, Poll};
use store::posts::{self, Post, PostState};
use store::users::{self, User};
use store::{Tx, exports};

use super::lines::attachment_from_media;
use super::{ExportPage, PAGE_SIZE, build_page};

struct PostLineContext {
    users: HashMap<UserId, User>,
    sources: HashMap<PostId, Post>,
    mentions: HashMap<PostId, Vec<ArchivedMention>>,
    media: HashMap<String, Media>,
    versions: HashMap<PostId, Vec<i64>>,
    links: HashMap<PostId, String>,
}

pub(super) fn load_posts(tx: &mut Tx<'_>, after: i64) -> Result<ExportPage<i64>, Error> {
    let posts = posts::list(tx, PostId::new(after), PAGE_SIZE)?;
    let context = PostLineContext::load(tx, &posts)?;
    let exported = posts.iter().filter(|post| context.is_exported(post));
    let records = exported.map(|post| ArchiveRecord::Post(Box::new(context.post_to_line(post))));
    Ok(build_page(&posts, |post| post.id.get(), records))
}

pub(crate) struct OwnPost {
    pub(crate) post: ArchivedPost,
    /// As stored (JSON), or empty.
    pub(crate) entities: String,
    pub(crate) poll: Option<Poll>,
}

/// An account's live posts below an id, newest first, without those for promotion only. Reposts contain the text of what
/// they repost, as far as everyone sees it.
pub(crate) fn load_own_posts(tx: &mut Tx<'_>, author: UserId, below: i64, limit: i64) -> Result<Vec<OwnPost>, Fault> {
    let posts = posts::list_own_posts(tx, (author, false, true), below, limit)?;
    let context = PostLineContext::load(tx, &posts)?;
    let poll_ids: Vec<i64> = posts.iter().filter_map(|post| post.poll_id).collect();
    let polls = polls::find_by_ids(tx, &sorted_distinct(poll_ids))?;
    let own_posts = posts.into_iter().map(|post| {
        let mut line = context.post_to_line(&post);
        if let Some(repost) = &mut line.repost_of {
            repost.text = context.visible_source_text(&post).unwrap_or_default();
        }
        let poll = polls.iter().find(|poll| post.poll_id == Some(poll.id)).cloned();
        OwnPost { post: line, entities: post.entities, poll }
    });
    Ok(own_posts.collect())
}

impl PostLineContext {
    fn visible_source_text(&self, repost: &Post) -> Option<String> {
        let source = self.sources.get(&repost.repost_of_id?)?;
        let author = self.users.get(&source.author_id)?;
        let is_visible = source.state == PostState::Placeholder || self.is_exported(source) && !author.protected;
        is_visible.then(|| source.text.clone())
    }

    fn load(tx: &mut Tx<'_>, all: &[Post]) -> Result<Self, Fault> {
        let ids: Vec<i64> = all.iter().map(|post| post.id.get()).collect();
        let sources = all.iter().filter_map(|post| post.repost_of_id);
        let sources = posts::find_by_ids(tx, &sorted_distinct(sources))?;
        let authors = all.iter().chain(&sources).map(|post| post.author_id);
        let users = users::find_by_ids(tx, &sorted_distinct(authors))?;
        let keys = all.iter().flat_map(|post| post.media_keys.split(','));
        let numbers = keys.filter_map(|key| key.split_once('_')?.1.parse::<i64>().ok());
        let media = media::find_by_ids(tx, &sorted_distinct(numbers))?;
        let mut mentions: HashMap<PostId, Vec<ArchivedMention>> = HashMap::new();
        for mention in exports::list_mentioned_users(tx, &ids)? {
            mentions.entry(mention.post_id).or_default().push(ArchivedMention {
                id: Some(mention.user_id.get()),
                handle: mention.username,
                name: mention.name,
            });
        }
        for list in mentions.values_mut() {
            list.sort_by_key(|mention| mention.id);
        }
        let mut versions = HashMap::new();
        for root in sorted_distinct(all.iter().filter_map(|post| post.edit_root_id)) {
            let ids = posts::list_versions(tx, root)?;
            versions.insert(root, ids.iter().map(|id| id.get()).collect());
        }
        Ok(Self {
            users: users.into_iter().map(|user| (user.id, user)).collect(),
            sources: sources.into_iter().map(|post| (post.id, post)).collect(),
            mentions,
            media: media.into_iter().map(|medium| (medium.media_key.clone(), medium)).collect(),
            versions,
            links: exports::message_links(tx, &ids)?.into_iter().collect(),
        })
    }

    fn is_exported(&self, post: &Post) -> bool {
        let author = self.users.get(&post.author_id).map(|user| user.state);
        let is_hidden = matches!(author, Some(users::UserState::Deleted | users::UserState::Suspended));
        // Reposts of a deleted post may be left for a while.
        let source = post.repost_of_id.and_then(|id| self.sources.get(&id));
        let is_left = source.is_some_and(|source| source.state == PostState::Deleted);
        matches!(post.state, PostState::Live | PostState::Superseded) && !is_hidden && !is_left
    }

    fn post_to_line(&self, post: &Post) -> ArchivedPost {
        let keys = post.media_keys.split(',');
        let media = keys.filter_map(|key| self.media.get(key).map(attachment_from_media));
        let root = post.edit_root_id.and_then(|root| self.versions.get(&root));
        let settings = &post.reply_settings;
        ArchivedPost {
            id: post.id.get(),
            author: Some(post.author_id.get()).filter(|author| *author != 0),
            text: post.text.clone(),
            created_at_ms: post.created_at.ms(),
            lang: Some(post.lang.clone()),
            in_reply_to_post: post.in_reply_to_post_id.map(PostId::get),
            in_reply_to_user: post.in_reply_to_user_id.map(UserId::get),
            quoted_post: post.quoted_post_id.map(PostId::get),
            repost_of: post.repost_of_id.map(|source| self.repost_reference(source)),
            media: media.collect(),
            mentions: self.mentions.get(&post.id).cloned().unwrap_or_default(),
            edit_history: root.cloned().unwrap_or_default(),
            possibly_sensitive: post.possibly_sensitive,
            like_count: post.like_count,
            repost_count: post.repost_count,
            community_id: post.community_id,
            reply_settings: Some(settings.clone()).filter(|settings| settings != "everyone"),
            nullcast: post.nullcast,
            followers_only: post.followers_only,
            made_with_ai: post.made_with_ai,
            paid_partnership: post.paid_partnership,
            place: post.place_id.clone(),
            geo: post.geo.clone(),
            card: post.card_uri.clone(),
            message_link: self.links.get(&post.id).cloned().unwrap_or_default(),
            withheld: post.withheld.clone(),
            app: post.app_id.map(AppId::get),
            unshared: post.unshared,
            members_only: post.members_only,
            ..ArchivedPost::default()
        }
    }

    fn repost_reference(&self, id: PostId) -> ArchivedRepost {
        let source = self.sources.get(&id);
        let author = source.map(|post| post.author_id);
        let handle = author.and_then(|author| self.users.get(&author));
        let known = author.filter(|author| author.get() != 0);
        let placeholder = source.filter(|post| post.state == PostState::Placeholder);
        ArchivedRepost {
            handle: handle.filter(|_| known.is_some()).map_or_else(String::new, |user| user.username.clone()),
            text: placeholder.map_or_else(String::new, |post| post.text.clone()),
            id: Some(id.get()),
            author: known.map(UserId::get),
        }
    }
}
