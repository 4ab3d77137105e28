//! What is known while a chunk is stored. It lives as long as the transaction, no longer.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use base::{Fault, PostId, UserId};
use store::Tx;
use store::imports::{self, ImportedPostSummary, PostCounterDeltas, UserCounterDeltas};
use store::posts::Post;

use crate::report::Report;

/// Somebody about whom nothing is known, not even the id.
pub(crate) const NOBODY: UserId = UserId::new(0);

/// The state of a chunk under way.
pub(crate) struct Desk {
    pub(crate) owner: Option<UserId>,
    /// Who an id of the source is here.
    pub(crate) people: HashMap<i64, UserId>,
    /// Who has a handle, asked once.
    pub(crate) handles: HashMap<String, Option<UserId>>,
    /// Posts that are there.
    pub(crate) posts: HashMap<i64, ImportedPostSummary>,
    users: BTreeMap<UserId, UserCounterDeltas>,
    counts: BTreeMap<i64, PostCounterDeltas>,
    authors: BTreeSet<UserId>,
    /// Who is verified of those who follow.
    pub(crate) verified: BTreeSet<UserId>,
    pub(crate) report: Report,
    /// The highest id that came.
    pub(crate) highest: i64,
    /// First and last post that came.
    pub(crate) range: Option<(i64, i64)>,
}

impl Desk {
    pub(crate) fn new(owner: Option<UserId>) -> Self {
        Self {
            owner,
            people: HashMap::new(),
            handles: HashMap::new(),
            posts: HashMap::new(),
            users: BTreeMap::new(),
            counts: BTreeMap::new(),
            authors: BTreeSet::new(),
            verified: BTreeSet::new(),
            report: Report::default(),
            highest: 0,
            range: None,
        }
    }

    /// Who an id of the source is here; the owner where the source gives none.
    pub(crate) fn person(&self, id: Option<i64>) -> Option<UserId> {
        match id {
            Some(id) => self.people.get(&id).copied(),
            None => self.owner,
        }
    }

    pub(crate) fn shift_user(&mut self, user: UserId) -> &mut UserCounterDeltas {
        self.users.entry(user).or_default()
    }

    pub(crate) fn shift_post(&mut self, post: PostId) -> &mut PostCounterDeltas {
        self.counts.entry(post.get()).or_default()
    }

    pub(crate) fn came(&mut self, id: i64) {
        self.highest = self.highest.max(id);
    }

    /// Counts a live post for its author and for the posts that it has to do with.
    pub(crate) fn count(&mut self, post: &Post, by: i64) {
        let shift = self.shift_user(post.author_id);
        shift.posts += by;
        if !post.media_keys.is_empty() {
            shift.media += by;
        }
        if by > 0 && !post.nullcast {
            shift.newest = shift.newest.max(post.id.get());
        }
        if let Some(parent) = post.in_reply_to_post_id {
            self.shift_post(parent).replies += by;
        }
        if let Some(quoted) = post.quoted_post_id {
            self.shift_post(quoted).quotes += by;
        }
        if let Some(source) = post.repost_of_id.filter(|_| !post.nullcast) {
            self.shift_post(source).reposts += by;
        }
        self.authors.insert(post.author_id);
    }

    /// Says that a post came.
    pub(crate) fn post_came(&mut self, id: i64) {
        self.came(id);
        let (first, last) = self.range.unwrap_or((id, id));
        self.range = Some((first.min(id), last.max(id)));
    }

    /// Moves all counters, once each and in order.
    pub(crate) fn settle(&mut self, tx: &mut Tx<'_>, key: &str) -> Result<(), Fault> {
        for (user, by) in &self.users {
            imports::apply_user_deltas(tx, *user, by)?;
        }
        for (post, by) in &self.counts {
            imports::apply_post_deltas(tx, *post, by)?;
        }
        let authors: Vec<UserId> = self.authors.iter().copied().collect();
        imports::insert_authors(tx, key, &authors)
    }
}
