//! The state of a chunk while it is stored; lives as long as the transaction.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use base::{Fault, PostId, UserId};
use store::Tx;
use store::imports::{self, ImportedPostSummary, PostCounterDeltas, UserCounterDeltas};
use store::posts::Post;

use crate::report::ImportReport;

/// The author of posts whose author is unknown.
pub(crate) const UNKNOWN_USER: UserId = UserId::new(0);

#[derive(Default)]
pub(crate) struct ImportBatchState {
    pub(crate) owner: Option<UserId>,
    /// Whether the source is a member's archive, which must do nothing for others who have an account here.
    pub(crate) is_archive: bool,
    /// The local user of each id in the source.
    pub(crate) users_by_source_id: HashMap<i64, UserId>,
    /// A cache, also of handles that nobody has.
    pub(crate) users_by_handle: HashMap<String, Option<UserId>>,
    pub(crate) known_posts: HashMap<i64, ImportedPostSummary>,
    /// The post, by whom, and whether the repost is nullcast. Only where the database is shared.
    pub(crate) known_reposts: HashSet<(PostId, UserId, bool)>,
    /// In lower case. Nobody had them when the chunk was begun.
    pub(crate) free_handles: HashSet<String>,
    user_deltas: BTreeMap<UserId, UserCounterDeltas>,
    post_deltas: BTreeMap<i64, PostCounterDeltas>,
    authors: BTreeSet<UserId>,
    pub(crate) verified_users: BTreeSet<UserId>,
    /// Those of an archive's follows who have an account here, and whether it is protected.
    pub(crate) accounts: HashMap<UserId, bool>,
    pub(crate) report: ImportReport,
    pub(crate) max_id: i64,
    pub(crate) post_id_range: Option<(i64, i64)>,
    stored_posts: HashSet<i64>,
    /// Posts of earlier transactions that search has to index again.
    pub(crate) changed_posts: BTreeSet<i64>,
    /// Users all of whose posts search has to index again.
    pub(crate) changed_users: Vec<i64>,
}

impl ImportBatchState {
    pub(crate) fn new(owner: Option<UserId>) -> Self {
        Self { owner, ..Self::default() }
    }

    /// The local user of an id in the source; the archive's owner for `None`.
    pub(crate) fn find_user(&self, id: Option<i64>) -> Option<UserId> {
        match id {
            Some(id) => self.users_by_source_id.get(&id).copied(),
            None => self.owner,
        }
    }

    pub(crate) fn user_delta(&mut self, user: UserId) -> &mut UserCounterDeltas {
        self.user_deltas.entry(user).or_default()
    }

    pub(crate) fn post_delta(&mut self, post: PostId) -> &mut PostCounterDeltas {
        self.post_deltas.entry(post.get()).or_default()
    }

    pub(crate) fn track_id(&mut self, id: i64) {
        self.max_id = self.max_id.max(id);
    }

    pub(crate) fn count_post(&mut self, post: &Post, change: i64) {
        let deltas = self.user_delta(post.author_id);
        deltas.posts += change;
        if !post.media_keys.is_empty() {
            deltas.media += change;
        }
        if change > 0 && !post.nullcast {
            deltas.newest = deltas.newest.max(post.id.get());
        }
        if let Some(parent) = post.in_reply_to_post_id {
            self.post_delta(parent).replies += change;
        }
        if let Some(quoted) = post.quoted_post_id {
            self.post_delta(quoted).quotes += change;
        }
        if let Some(source) = post.repost_of_id.filter(|_| !post.nullcast) {
            self.post_delta(source).reposts += change;
        }
        self.authors.insert(post.author_id);
    }

    pub(crate) fn track_post(&mut self, id: i64) {
        self.track_id(id);
        let (first, last) = self.post_id_range.unwrap_or((id, id));
        self.post_id_range = Some((first.min(id), last.max(id)));
        self.stored_posts.insert(id);
    }

    /// To be called after a change of what search finds a post by.
    pub(crate) fn track_changed_post(&mut self, id: i64) {
        if !self.stored_posts.contains(&id) {
            self.changed_posts.insert(id);
        }
    }

    pub(crate) fn flush_counters(&mut self, tx: &mut Tx<'_>, key: &str) -> Result<(), Fault> {
        for (user, deltas) in &self.user_deltas {
            imports::apply_user_deltas(tx, *user, deltas)?;
        }
        for (post, deltas) in &self.post_deltas {
            imports::apply_post_deltas(tx, *post, deltas)?;
        }
        let authors: Vec<UserId> = self.authors.iter().copied().collect();
        imports::insert_authors(tx, key, &authors)
    }
}
