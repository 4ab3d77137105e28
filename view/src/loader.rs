//! Loads everything a response is rendered from: one query per object kind and expansion level.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use base::{Fault, PostId, Time, UserId};
use network::visibility::{AuthorVisibilities, Viewer, Visibility};
use store::ads::card_links::{self, CardLink};
use store::graph::{self, RelationKind};
use store::ledger::{self, AdEntity, MetricSums};
use store::media::Media;
use store::places::Place;
use store::polls::Poll;
use store::posts::{Post, PostState};
use store::spaces::SpaceTopic;
use store::users::User;
use store::{Tx, follows, media, places, polls, posts, records, spaces, subscriptions, users};

use crate::field_schema::ExpansionResolver;
use crate::field_selection::field_bit;
use crate::media::id_from_media_key;
use crate::posts::{PostRenderContext, card_id, media_keys, short_text};
use crate::users::UserRenderContext;
use crate::{FieldSelection, ObjectKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ExpansionTarget<'a> {
    User(UserId),
    Post(PostId),
    /// A media key.
    Media(&'a str),
    Topic(i64),
    Poll(i64),
    /// A place id in its API form.
    Place(&'a str),
}

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
    pub(crate) muting: HashSet<UserId>,
    /// Users who subscribe to the viewer.
    pub(crate) subscribers: HashSet<UserId>,
}

/// The records of a response, and what is known about the viewer.
#[derive(Debug)]
pub(crate) struct LoadedObjects {
    pub(crate) viewer: Viewer,
    pub(crate) now: Time,
    /// How many of the first posts or users are primary objects.
    pub(crate) root_count: usize,
    /// Whether the user's own email address may be rendered.
    pub(crate) email_allowed: bool,
    /// The base URL of the platform's own files.
    pub(crate) site: &'static str,
    pub(crate) users: IndexedVec<UserId, User>,
    pub(crate) posts: IndexedVec<PostId, Post>,
    pub(crate) media: IndexedVec<i64, Media>,
    pub(crate) topics: IndexedVec<i64, SpaceTopic>,
    pub(crate) polls: IndexedVec<i64, Poll>,
    pub(crate) places: IndexedVec<i64, Place>,
    /// The message event through which each media file is accessible, by media id.
    pub(crate) message_by_media: HashMap<i64, i64>,
    pub(crate) relations: ViewerRelations,
    /// By the id of the first version.
    pub(crate) edit_versions: HashMap<PostId, Vec<PostId>>,
    /// Truncated texts of long posts.
    pub(crate) short_texts: HashMap<PostId, String>,
    /// By card, in order.
    pub(crate) card_links: HashMap<i64, Vec<CardLink>>,
    /// Posts that are not visible.
    pub(crate) hidden_posts: HashMap<PostId, Visibility>,
    /// Totals of the viewer's own promoted posts, if requested.
    pub(crate) promoted_totals: HashMap<PostId, MetricSums>,
}

impl<K, V> Default for IndexedVec<K, V> {
    fn default() -> Self {
        Self { items: Vec::new(), positions: HashMap::new() }
    }
}

impl<K: Copy + Eq + Hash, V> IndexedVec<K, V> {
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

    /// The keys that have no record, each once.
    fn missing_keys(&self, keys: impl IntoIterator<Item = K>) -> Vec<K> {
        let mut new = HashSet::new();
        let keys = keys.into_iter();
        keys.filter(|key| !self.positions.contains_key(key) && new.insert(*key)).collect()
    }
}

/// The keys that one level of expansions requires.
#[derive(Default)]
struct LoadPlan {
    users: Vec<UserId>,
    posts: Vec<PostId>,
    media: Vec<i64>,
    topics: Vec<i64>,
    polls: Vec<i64>,
    places: Vec<i64>,
}

impl LoadPlan {
    fn add_targets(&mut self, targets: &mut Vec<ExpansionTarget<'_>>) {
        for target in targets.drain(..) {
            match target {
                ExpansionTarget::User(id) => self.users.push(id),
                ExpansionTarget::Post(id) => self.posts.push(id),
                ExpansionTarget::Media(key) => self.media.extend(id_from_media_key(key)),
                ExpansionTarget::Topic(id) => self.topics.push(id),
                ExpansionTarget::Poll(id) => self.polls.push(id),
                ExpansionTarget::Place(id) => self.places.extend(network::places::parse_place_id(id)),
            }
        }
    }
}

impl LoadedObjects {
    pub(crate) fn new(viewer: Viewer, now: Time, selection: &FieldSelection) -> Self {
        Self {
            viewer,
            now,
            root_count: 0,
            email_allowed: selection.is_email_allowed(),
            site: selection.site(),
            users: IndexedVec::default(),
            posts: IndexedVec::default(),
            media: IndexedVec::default(),
            topics: IndexedVec::default(),
            polls: IndexedVec::default(),
            places: IndexedVec::default(),
            message_by_media: HashMap::new(),
            relations: ViewerRelations::default(),
            edit_versions: HashMap::new(),
            short_texts: HashMap::new(),
            card_links: HashMap::new(),
            hidden_posts: HashMap::new(),
            promoted_totals: HashMap::new(),
        }
    }

    pub(crate) fn load_for_posts(
        tx: &mut Tx<'_>,
        viewer: Viewer,
        page: Vec<Post>,
        selection: &FieldSelection,
    ) -> Result<Self, Fault> {
        let mut objects = Self::new(viewer, tx.now(), selection);
        objects.posts.extend_distinct(page, |post| post.id);
        objects.root_count = objects.posts.items().len();
        objects.load_reposted_posts(tx)?;
        objects.load_edit_versions(tx)?;
        let needs = objects.plan_post_expansions(selection, false);
        objects.load_planned(tx, selection, needs)?;
        Ok(objects)
    }

    pub(crate) fn load_for_users(
        tx: &mut Tx<'_>,
        viewer: Viewer,
        page: Vec<User>,
        selection: &FieldSelection,
    ) -> Result<Self, Fault> {
        let mut objects = Self::new(viewer, tx.now(), selection);
        objects.users.extend_distinct(page, |user| user.id);
        objects.root_count = objects.users.items().len();
        let (mut needs, mut targets) = (LoadPlan::default(), Vec::new());
        for expansion in selection.requested_expansions() {
            if let ExpansionResolver::User(resolve) = expansion.resolver {
                for user in objects.users.items() {
                    resolve(UserRenderContext { user, objects: &objects }, &mut targets);
                }
                needs.add_targets(&mut targets);
            }
        }
        objects.load_planned(tx, selection, needs)?;
        Ok(objects)
    }

    /// Loads users and the targets of expansions.
    pub(crate) fn load_for_targets(
        tx: &mut Tx<'_>,
        viewer: Viewer,
        users: Vec<User>,
        mut targets: Vec<ExpansionTarget<'_>>,
        selection: &FieldSelection,
    ) -> Result<Self, Fault> {
        let mut objects = Self::new(viewer, tx.now(), selection);
        objects.users.extend_distinct(users, |user| user.id);
        let mut needs = LoadPlan::default();
        needs.add_targets(&mut targets);
        let missing = objects.topics.missing_keys(needs.topics.iter().copied());
        if !missing.is_empty() {
            let topics = spaces::find_topics(tx, &missing)?;
            objects.topics.extend_distinct(topics, |topic| topic.id);
        }
        objects.load_planned(tx, selection, needs)?;
        Ok(objects)
    }

    pub(crate) fn load_for_media(
        tx: &mut Tx<'_>,
        viewer: Viewer,
        found: Vec<Media>,
        selection: &FieldSelection,
    ) -> Result<Self, Fault> {
        let mut objects = Self::new(viewer, tx.now(), selection);
        let owners: HashSet<_> = found.iter().map(|media| media.owner_id).collect();
        let owners: Vec<_> = owners.into_iter().collect();
        objects.media.extend_distinct(found, |media| media.id.get());
        objects.users.extend_distinct(users::find_by_ids(tx, &owners)?, |user| user.id);
        Ok(objects)
    }

    /// Collects the keys for expansions of the primary posts, or of all posts loaded so far.
    fn plan_post_expansions(&self, selection: &FieldSelection, nested: bool) -> LoadPlan {
        let (mut needs, mut targets) = (LoadPlan::default(), Vec::new());
        for expansion in selection.requested_expansions().filter(|expansion| expansion.nested == nested) {
            if let ExpansionResolver::Post(resolve) = expansion.resolver {
                let roots = if nested { usize::MAX } else { self.root_count };
                for post in self.posts.items().iter().take(roots) {
                    resolve(PostRenderContext { post, objects: self }, &mut targets);
                }
                needs.add_targets(&mut targets);
            }
        }
        needs
    }

    fn load_planned(&mut self, tx: &mut Tx<'_>, selection: &FieldSelection, mut needs: LoadPlan) -> Result<(), Fault> {
        self.load_posts(tx, &needs.posts)?;
        self.load_reposted_posts(tx)?;
        self.load_edit_versions(tx)?;
        self.compute_short_texts();
        let nested = self.plan_post_expansions(selection, true);
        needs.users.extend(nested.users);
        needs.media.extend(nested.media);
        needs.users.extend(self.posts.items().iter().map(|post| post.author_id));
        self.load_card_links(tx)?;
        let shown = self.card_links.values().flatten();
        needs.media.extend(shown.filter_map(|link| id_from_media_key(&link.media_key)));
        // The text of a post with media ends with a link to them.
        let keys = self.posts.items().iter().flat_map(media_keys);
        needs.media.extend(keys.filter_map(id_from_media_key));
        let missing = self.users.missing_keys(needs.users);
        if !missing.is_empty() {
            self.users.extend_distinct(users::find_by_ids(tx, &missing)?, |user| user.id);
        }
        let missing = self.media.missing_keys(needs.media);
        if !missing.is_empty() {
            self.media.extend_distinct(media::find_by_ids(tx, &missing)?, |media| media.id.get());
        }
        self.load_polls_and_places(tx, needs.polls, needs.places)?;
        self.compute_hidden_posts(tx)?;
        self.load_promoted_totals(tx, selection)?;
        self.load_viewer_relations(tx, selection)
    }

    /// The text of a post with a card ends with the card's link.
    fn load_card_links(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let cards: HashSet<i64> = self.posts.items().iter().filter_map(card_id).collect();
        if cards.is_empty() {
            return Ok(());
        }
        let cards: Vec<i64> = cards.into_iter().collect();
        for link in card_links::list_by_cards(tx, &cards)? {
            self.card_links.entry(link.card_id).or_default().push(link);
        }
        Ok(())
    }

    fn load_polls_and_places(&mut self, tx: &mut Tx<'_>, polls: Vec<i64>, places: Vec<i64>) -> Result<(), Fault> {
        let missing = self.polls.missing_keys(polls);
        if !missing.is_empty() {
            self.polls.extend_distinct(polls::find_by_ids(tx, &missing)?, |poll| poll.id);
        }
        let missing = self.places.missing_keys(places);
        if !missing.is_empty() {
            self.places.extend_distinct(places::find_by_ids(tx, &missing)?, |index| index.id);
        }
        Ok(())
    }

    fn load_posts(&mut self, tx: &mut Tx<'_>, ids: &[PostId]) -> Result<(), Fault> {
        let missing = self.posts.missing_keys(ids.iter().copied());
        if !missing.is_empty() {
            self.posts.extend_distinct(posts::find_by_ids(tx, &missing)?, |post| post.id);
        }
        Ok(())
    }

    /// A repost is rendered from its original.
    fn load_reposted_posts(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let posts = self.posts.items().iter();
        let reposted: Vec<_> = posts.filter_map(|post| post.repost_of_id).collect();
        self.load_posts(tx, &reposted)
    }

    fn load_edit_versions(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        for root in self.posts.items().iter().filter_map(|post| post.edit_root_id) {
            if let std::collections::hash_map::Entry::Vacant(entry) = self.edit_versions.entry(root) {
                entry.insert(posts::list_versions(tx, root)?);
            }
        }
        Ok(())
    }

    fn load_promoted_totals(&mut self, tx: &mut Tx<'_>, selection: &FieldSelection) -> Result<(), Fault> {
        let is_requested = ["promoted_metrics", "organic_metrics", "non_public_metrics"]
            .into_iter()
            .any(|field| selects_field(selection, ObjectKind::Post, field));
        let Some(viewer) = self.viewer.user.filter(|_| is_requested) else {
            return Ok(());
        };
        let own_posts = self.posts.items().iter();
        let own_posts = own_posts.filter(|post| post.author_id == viewer);
        let own_posts: Vec<i64> = own_posts.map(|post| post.id.get()).collect();
        for (id, sums, _) in ledger::total_sums_by_entity(tx, AdEntity::Post, &own_posts)? {
            self.promoted_totals.insert(PostId::new(id), sums);
        }
        for id in own_posts {
            // Promoted, but without impressions.
            if !self.promoted_totals.contains_key(&PostId::new(id))
                && !records::list_in_all_accounts(tx, "promoted_post", ("post_id", id))?.is_empty()
            {
                self.promoted_totals.insert(PostId::new(id), MetricSums::default());
            }
        }
        Ok(())
    }

    pub(crate) fn compute_short_texts(&mut self) {
        let posts = self.posts.items().iter();
        let shorts = posts.filter_map(|post| Some((post.id, short_text(post)?)));
        self.short_texts.extend(shorts);
    }

    fn compute_hidden_posts(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        if self.posts.items().is_empty() {
            return Ok(());
        }
        let authors: HashSet<_> = self.posts.items().iter().map(|post| post.author_id).collect();
        let authors = self.users.items().iter().filter(|user| authors.contains(&user.id));
        let mut sights = AuthorVisibilities::load(tx, self.viewer, authors)?;
        sights.admit_posts(tx, self.posts.items())?;
        let judge = |post: &Post| match post.state {
            // Only the id is known.
            PostState::Placeholder => Visibility::Missing,
            _ => sights.post_visibility(post),
        };
        for post in self.posts.items() {
            let sight = match (judge(post), post.repost_of_id) {
                (Visibility::Visible, Some(id)) => match self.posts.get(id).map(judge) {
                    Some(Visibility::Visible) => Visibility::Visible,
                    // Imports contain the texts of reposts whose originals they lack.
                    None | Some(Visibility::Missing) if !post.text.is_empty() => Visibility::Visible,
                    original => original.unwrap_or(Visibility::Missing),
                },
                (sight, _) => sight,
            };
            if sight != Visibility::Visible {
                self.hidden_posts.insert(post.id, sight);
            }
        }
        Ok(())
    }

    /// Does nothing unless a requested field depends on the viewer's relation to a user.
    fn load_viewer_relations(&mut self, tx: &mut Tx<'_>, selection: &FieldSelection) -> Result<(), Fault> {
        let ties = selects_field(selection, ObjectKind::User, "connection_status");
        let messages = selects_field(selection, ObjectKind::User, "receives_your_dm");
        let subscribes =
            ["subscription", "subscribes_to_you"].iter().any(|field| selects_field(selection, ObjectKind::User, field));
        let is_requested = ties || messages || subscribes;
        let Some(viewer) = self.viewer.user.filter(|_| is_requested) else {
            return Ok(());
        };
        let others = self.users.items().iter().map(|user| user.id);
        let others: Vec<_> = others.filter(|user| *user != viewer).collect();
        if ties || messages {
            self.relations.followed_by.extend(follows::filter_followers(tx, &others, viewer)?);
        }
        if subscribes {
            self.relations.subscribers.extend(subscriptions::filter_subscribers(tx, &others, viewer)?);
        }
        if messages {
            self.relations.blocked_by.extend(graph::filter_blockers(tx, &others, viewer)?);
            let closed = graph::filter_sources(tx, RelationKind::DmBlock, &others, viewer)?;
            self.relations.dm_blocked_by.extend(closed);
        }
        if ties {
            let received = graph::filter_sources(tx, RelationKind::Request, &others, viewer)?;
            self.relations.request_received.extend(received);
            let sent = graph::filter_targets(tx, RelationKind::Request, viewer, &others)?;
            self.relations.request_sent.extend(sent);
            self.relations.following.extend(follows::filter_followed(tx, viewer, &others)?);
            self.relations.blocking.extend(graph::filter_blocked(tx, viewer, &others)?);
            self.relations.muting.extend(graph::filter_muted(tx, viewer, &others)?);
        }
        Ok(())
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

fn selects_field(selection: &FieldSelection, object: ObjectKind, field: &str) -> bool {
    let is_requested = if selection.root() == object { selection.root_mask() } else { 0 };
    (is_requested | selection.included_mask(object)) & field_bit(object, field) != 0
}
