//! What responses are rendered from.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use base::{MediaId, PostId, SiteLinks, Time, UserId, sorted_distinct};
use network::link_facts::KnownLinks;
use network::media::MediaCaption;
use network::visibility::{Viewer, Visibility};
use store::ads::card_links::CardLink;
use store::communities::Community;
use store::ledger::MetricSums;
use store::media::Media;
use store::places::Place;
use store::playbacks::PlaybackCounts;
use store::polls::Poll;
use store::posts::Post;
use store::spaces::SpaceTopic;
use store::users::User;

use crate::FieldSelection;
use crate::posts::RenderedText;

/// Records in insertion order, indexed by key.
#[derive(Debug)]
pub(crate) struct IndexedVec<K, V> {
    items: Vec<V>,
    positions: HashMap<K, usize>,
}

#[derive(Debug, Default)]
pub(crate) struct ViewerRelations {
    pub(crate) request_received: HashSet<UserId>,
    pub(crate) request_sent: HashSet<UserId>,
    pub(crate) following: HashSet<UserId>,
    pub(crate) followed_by: HashSet<UserId>,
    pub(crate) blocking: HashSet<UserId>,
    pub(crate) blocked_by: HashSet<UserId>,
    pub(crate) dm_blocked_by: HashSet<UserId>,
    /// Users who have written to the viewer.
    pub(crate) correspondents: HashSet<UserId>,
    pub(crate) muting: HashSet<UserId>,
    /// Users who subscribe to the viewer.
    pub(crate) subscribers: HashSet<UserId>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PostClicks {
    pub(crate) links: i64,
    pub(crate) profiles: i64,
}

/// The records of a response, and what is known about the viewer.
#[derive(Debug, Default)]
pub(crate) struct LoadedObjects {
    pub(crate) viewer: Viewer,
    pub(crate) now: Time,
    /// How many of the first posts or users are primary objects.
    pub(crate) root_count: usize,
    /// Whether the user's own email address may be rendered.
    pub(crate) email_allowed: bool,
    pub(crate) site: SiteLinks,
    pub(crate) users: IndexedVec<UserId, User>,
    pub(crate) posts: IndexedVec<PostId, Post>,
    pub(crate) media: IndexedVec<i64, Media>,
    pub(crate) topics: IndexedVec<i64, SpaceTopic>,
    pub(crate) polls: IndexedVec<i64, Poll>,
    pub(crate) places: IndexedVec<i64, Place>,
    /// Of posts that pages show.
    pub(crate) communities: IndexedVec<i64, Community>,
    /// The message event through which each media file is accessible, by media id.
    pub(crate) message_by_media: HashMap<i64, i64>,
    /// If the metadata of media is requested.
    pub(crate) media_captions: HashMap<MediaId, MediaCaption>,
    /// Languages and names of the subtitles of videos that pages show.
    pub(crate) subtitles: HashMap<MediaId, Vec<(String, String)>>,
    pub(crate) relations: ViewerRelations,
    /// By the id of the first version.
    pub(crate) edit_versions: HashMap<PostId, Vec<PostId>>,
    /// What is known about the links of posts, if their entities are requested.
    pub(crate) known_links: KnownLinks,
    /// Full texts of posts with short links.
    pub(crate) full_texts: HashMap<PostId, RenderedText>,
    /// Truncated texts of long posts.
    pub(crate) short_texts: HashMap<PostId, RenderedText>,
    /// By card, in order.
    pub(crate) card_links: HashMap<i64, Vec<CardLink>>,
    /// Posts that are not visible.
    pub(crate) hidden_posts: HashMap<PostId, Visibility>,
    /// Totals of the viewer's own promoted posts, if requested.
    pub(crate) promoted_totals: HashMap<PostId, MetricSums>,
    /// The part of them that was simulated.
    pub(crate) simulated_totals: HashMap<PostId, MetricSums>,
    /// Of the viewer's own posts, if requested.
    pub(crate) organic_clicks: HashMap<PostId, PostClicks>,
    /// By media id, if requested.
    pub(crate) playbacks: HashMap<i64, PlaybackCounts>,
}

impl<K, V> Default for IndexedVec<K, V> {
    fn default() -> Self {
        Self { items: Vec::new(), positions: HashMap::new() }
    }
}

impl<K: Copy + Hash + Ord, V> IndexedVec<K, V> {
    pub(crate) fn extend_distinct(&mut self, records: Vec<V>, key: impl Fn(&V) -> K) {
        self.items.reserve(records.len());
        self.positions.reserve(records.len());
        for record in records {
            let index = self.items.len();
            if let std::collections::hash_map::Entry::Vacant(entry) = self.positions.entry(key(&record)) {
                entry.insert(index);
                self.items.push(record);
            }
        }
    }

    pub(crate) fn get(&self, key: K) -> Option<&V> {
        self.items.get(*self.positions.get(&key)?)
    }

    pub(crate) fn items(&self) -> &[V] {
        &self.items
    }

    /// The keys that have no record, each once, sorted.
    pub(crate) fn missing_keys(&self, keys: impl IntoIterator<Item = K>) -> Vec<K> {
        let keys = keys.into_iter();
        sorted_distinct(keys.filter(|key| !self.positions.contains_key(key)))
    }
}

impl LoadedObjects {
    pub(crate) fn new(viewer: Viewer, now: Time, selection: &FieldSelection) -> Self {
        Self { viewer, now, email_allowed: selection.is_email_allowed(), site: selection.site(), ..Self::default() }
    }

    pub(crate) fn post_visibility(&self, post: &Post) -> Visibility {
        self.hidden_posts.get(&post.id).copied().unwrap_or(Visibility::Visible)
    }

    /// All versions of an edited post, oldest first.
    pub(crate) fn post_versions(&self, post: &Post) -> Option<&[PostId]> {
        let versions = self.edit_versions.get(&post.edit_root_id?)?;
        (!versions.is_empty()).then_some(versions)
    }
}
