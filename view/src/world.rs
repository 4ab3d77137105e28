//! Everything that an answer is made from, loaded at once: one query a kind and level.

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

use crate::media::id_of;
use crate::posts::{PostFacts, card_of, media_keys, short_part};
use crate::shown::Reach;
use crate::users::UserFacts;
use crate::wants::bit_of;
use crate::{Object, Wants};

/// What an expansion leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target<'a> {
    User(UserId),
    Post(PostId),
    /// By its media key.
    Media(&'a str),
    Topic(i64),
    Poll(i64),
    /// By its id as it is spoken.
    Place(&'a str),
}

/// Records in the order in which they came, found by key.
#[derive(Debug)]
pub(crate) struct Shelf<K, V> {
    items: Vec<V>,
    places: HashMap<K, usize>,
}

/// The viewer's ties to the users that are shown.
#[derive(Debug, Default)]
pub(crate) struct Kin {
    pub(crate) request_received: HashSet<UserId>,
    pub(crate) request_sent: HashSet<UserId>,
    pub(crate) following: HashSet<UserId>,
    pub(crate) followed_by: HashSet<UserId>,
    pub(crate) blocking: HashSet<UserId>,
    pub(crate) blocked_by: HashSet<UserId>,
    pub(crate) dm_blocked_by: HashSet<UserId>,
    pub(crate) muting: HashSet<UserId>,
    /// Who subscribes to the viewer.
    pub(crate) subscribers: HashSet<UserId>,
}

/// The records of an answer and what is known about their viewer.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) viewer: Viewer,
    pub(crate) now: Time,
    /// How many of the first posts, or users, are what was asked for.
    pub(crate) roots: usize,
    /// Whether a user's own email address may be shown.
    pub(crate) email: bool,
    /// The address that the platform's own files are at.
    pub(crate) site: &'static str,
    pub(crate) users: Shelf<UserId, User>,
    pub(crate) posts: Shelf<PostId, Post>,
    pub(crate) media: Shelf<i64, Media>,
    pub(crate) topics: Shelf<i64, SpaceTopic>,
    pub(crate) polls: Shelf<i64, Poll>,
    pub(crate) places: Shelf<i64, Place>,
    /// The message events that the answer shows media by, by the media.
    pub(crate) carriers: HashMap<i64, i64>,
    pub(crate) kin: Kin,
    /// Of edited posts, by the first of them.
    pub(crate) versions: HashMap<PostId, Vec<PostId>>,
    /// The first parts of long posts.
    pub(crate) shorts: HashMap<PostId, String>,
    /// Where cards lead, by the card, in its order.
    pub(crate) links: HashMap<i64, Vec<CardLink>>,
    /// Posts that may not be seen.
    pub(crate) hidden: HashMap<PostId, Visibility>,
    /// What the viewer's own promoted posts came to by their promotion, where that is asked for.
    pub(crate) promoted: HashMap<PostId, MetricSums>,
}

impl<K, V> Default for Shelf<K, V> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            places: HashMap::new(),
        }
    }
}

impl<K: Copy + Eq + Hash, V> Shelf<K, V> {
    pub(crate) fn fill(&mut self, records: Vec<V>, key: impl Fn(&V) -> K) {
        self.items.reserve(records.len());
        self.places.reserve(records.len());
        for record in records {
            let place = self.items.len();
            if let std::collections::hash_map::Entry::Vacant(entry) =
                self.places.entry(key(&record))
            {
                entry.insert(place);
                self.items.push(record);
            }
        }
    }

    pub(crate) fn get(&self, key: K) -> Option<&V> {
        self.items.get(*self.places.get(&key)?)
    }

    pub(crate) fn items(&self) -> &[V] {
        &self.items
    }

    /// Which of some keys are not here, each once.
    fn lacks(&self, keys: impl IntoIterator<Item = K>) -> Vec<K> {
        let mut new = HashSet::new();
        let keys = keys.into_iter();
        keys.filter(|key| !self.places.contains_key(key) && new.insert(*key))
            .collect()
    }
}

/// What a level of expansions asks to be loaded.
#[derive(Default)]
struct Needs {
    users: Vec<UserId>,
    posts: Vec<PostId>,
    media: Vec<i64>,
    topics: Vec<i64>,
    polls: Vec<i64>,
    places: Vec<i64>,
}

impl Needs {
    fn add(&mut self, targets: &mut Vec<Target<'_>>) {
        for target in targets.drain(..) {
            match target {
                Target::User(id) => self.users.push(id),
                Target::Post(id) => self.posts.push(id),
                Target::Media(key) => self.media.extend(id_of(key)),
                Target::Topic(id) => self.topics.push(id),
                Target::Poll(id) => self.polls.push(id),
                Target::Place(id) => self.places.extend(network::places::parse_place_id(id)),
            }
        }
    }
}

impl World {
    pub(crate) fn new(viewer: Viewer, now: Time, wants: &Wants) -> Self {
        Self {
            viewer,
            now,
            roots: 0,
            email: wants.email(),
            site: wants.site(),
            users: Shelf::default(),
            posts: Shelf::default(),
            media: Shelf::default(),
            topics: Shelf::default(),
            polls: Shelf::default(),
            places: Shelf::default(),
            carriers: HashMap::new(),
            kin: Kin::default(),
            versions: HashMap::new(),
            shorts: HashMap::new(),
            links: HashMap::new(),
            hidden: HashMap::new(),
            promoted: HashMap::new(),
        }
    }

    /// All that showing these posts takes.
    pub(crate) fn of_posts(
        tx: &mut Tx<'_>,
        viewer: Viewer,
        page: Vec<Post>,
        wants: &Wants,
    ) -> Result<Self, Fault> {
        let mut world = Self::new(viewer, tx.now(), wants);
        world.posts.fill(page, |post| post.id);
        world.roots = world.posts.items().len();
        world.load_reposted(tx)?;
        world.load_versions(tx)?;
        let needs = world.needs_of_posts(wants, false);
        world.load_rest(tx, wants, needs)?;
        Ok(world)
    }

    /// All that showing these users takes.
    pub(crate) fn of_users(
        tx: &mut Tx<'_>,
        viewer: Viewer,
        page: Vec<User>,
        wants: &Wants,
    ) -> Result<Self, Fault> {
        let mut world = Self::new(viewer, tx.now(), wants);
        world.users.fill(page, |user| user.id);
        world.roots = world.users.items().len();
        let (mut needs, mut targets) = (Needs::default(), Vec::new());
        for expansion in wants.expansions() {
            if let Reach::User(reach) = expansion.reach {
                for user in world.users.items() {
                    reach(
                        UserFacts {
                            user,
                            world: &world,
                        },
                        &mut targets,
                    );
                }
                needs.add(&mut targets);
            }
        }
        world.load_rest(tx, wants, needs)?;
        Ok(world)
    }

    /// All that showing these users and what else things lead to takes.
    pub(crate) fn of_targets(
        tx: &mut Tx<'_>,
        viewer: Viewer,
        users: Vec<User>,
        mut targets: Vec<Target<'_>>,
        wants: &Wants,
    ) -> Result<Self, Fault> {
        let mut world = Self::new(viewer, tx.now(), wants);
        world.users.fill(users, |user| user.id);
        let mut needs = Needs::default();
        needs.add(&mut targets);
        let missing = world.topics.lacks(needs.topics.iter().copied());
        if !missing.is_empty() {
            let topics = spaces::find_topics(tx, &missing)?;
            world.topics.fill(topics, |topic| topic.id);
        }
        world.load_rest(tx, wants, needs)?;
        Ok(world)
    }

    /// All that showing these media takes.
    pub(crate) fn of_media(
        tx: &mut Tx<'_>,
        viewer: Viewer,
        found: Vec<Media>,
        wants: &Wants,
    ) -> Result<Self, Fault> {
        let mut world = Self::new(viewer, tx.now(), wants);
        let owners: HashSet<_> = found.iter().map(|media| media.owner_id).collect();
        let owners: Vec<_> = owners.into_iter().collect();
        world.media.fill(found, |media| media.id.get());
        world
            .users
            .fill(users::find_by_ids(tx, &owners)?, |user| user.id);
        Ok(world)
    }

    /// What expansions ask for that start at the posts of the answer, or at all that are here.
    fn needs_of_posts(&self, wants: &Wants, nested: bool) -> Needs {
        let (mut needs, mut targets) = (Needs::default(), Vec::new());
        for expansion in wants
            .expansions()
            .filter(|expansion| expansion.nested == nested)
        {
            if let Reach::Post(reach) = expansion.reach {
                let roots = if nested { usize::MAX } else { self.roots };
                for post in self.posts.items().iter().take(roots) {
                    reach(PostFacts { post, world: self }, &mut targets);
                }
                needs.add(&mut targets);
            }
        }
        needs
    }

    fn load_rest(&mut self, tx: &mut Tx<'_>, wants: &Wants, mut needs: Needs) -> Result<(), Fault> {
        self.load_posts(tx, &needs.posts)?;
        self.load_reposted(tx)?;
        self.load_versions(tx)?;
        self.shorten();
        let nested = self.needs_of_posts(wants, true);
        needs.users.extend(nested.users);
        needs.media.extend(nested.media);
        needs
            .users
            .extend(self.posts.items().iter().map(|post| post.author_id));
        self.load_links(tx)?;
        let shown = self.links.values().flatten();
        needs
            .media
            .extend(shown.filter_map(|link| id_of(&link.media_key)));
        // The text of a post that carries media ends in a link to them.
        let keys = self.posts.items().iter().flat_map(media_keys);
        needs.media.extend(keys.filter_map(id_of));
        let missing = self.users.lacks(needs.users);
        if !missing.is_empty() {
            self.users
                .fill(users::find_by_ids(tx, &missing)?, |user| user.id);
        }
        let missing = self.media.lacks(needs.media);
        if !missing.is_empty() {
            self.media
                .fill(media::find_by_ids(tx, &missing)?, |media| media.id.get());
        }
        self.load_carried(tx, needs.polls, needs.places)?;
        self.judge(tx)?;
        self.load_promoted(tx, wants)?;
        self.load_kin(tx, wants)
    }

    /// The text of a post with a card ends in the link that the card leads by.
    fn load_links(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let cards: HashSet<i64> = self.posts.items().iter().filter_map(card_of).collect();
        if cards.is_empty() {
            return Ok(());
        }
        let cards: Vec<i64> = cards.into_iter().collect();
        for link in card_links::list_by_cards(tx, &cards)? {
            self.links.entry(link.card_id).or_default().push(link);
        }
        Ok(())
    }

    fn load_carried(
        &mut self,
        tx: &mut Tx<'_>,
        polls: Vec<i64>,
        places: Vec<i64>,
    ) -> Result<(), Fault> {
        let missing = self.polls.lacks(polls);
        if !missing.is_empty() {
            self.polls
                .fill(polls::find_by_ids(tx, &missing)?, |poll| poll.id);
        }
        let missing = self.places.lacks(places);
        if !missing.is_empty() {
            self.places
                .fill(places::find_by_ids(tx, &missing)?, |place| place.id);
        }
        Ok(())
    }

    fn load_posts(&mut self, tx: &mut Tx<'_>, ids: &[PostId]) -> Result<(), Fault> {
        let missing = self.posts.lacks(ids.iter().copied());
        if !missing.is_empty() {
            self.posts
                .fill(posts::find_by_ids(tx, &missing)?, |post| post.id);
        }
        Ok(())
    }

    /// A repost is shown by what it reposts.
    fn load_reposted(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let posts = self.posts.items().iter();
        let reposted: Vec<_> = posts.filter_map(|post| post.repost_of_id).collect();
        self.load_posts(tx, &reposted)
    }

    fn load_versions(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        for root in self
            .posts
            .items()
            .iter()
            .filter_map(|post| post.edit_root_id)
        {
            if let std::collections::hash_map::Entry::Vacant(entry) = self.versions.entry(root) {
                entry.insert(posts::list_versions(tx, root)?);
            }
        }
        Ok(())
    }

    /// Finds out what the viewer's own posts came to by their promotion.
    fn load_promoted(&mut self, tx: &mut Tx<'_>, wants: &Wants) -> Result<(), Fault> {
        let asked = ["promoted_metrics", "organic_metrics", "non_public_metrics"]
            .into_iter()
            .any(|field| shows(wants, Object::Post, field));
        let Some(viewer) = self.viewer.user.filter(|_| asked) else {
            return Ok(());
        };
        let own = self.posts.items().iter();
        let own = own.filter(|post| post.author_id == viewer);
        let own: Vec<i64> = own.map(|post| post.id.get()).collect();
        for (id, sums, _) in ledger::total_sums_by_entity(tx, AdEntity::Post, &own)? {
            self.promoted.insert(PostId::new(id), sums);
        }
        for id in own {
            // Promoted, and not shown to anybody yet.
            if !self.promoted.contains_key(&PostId::new(id))
                && !records::list_in_all_accounts(tx, "promoted_post", ("post_id", id))?.is_empty()
            {
                self.promoted.insert(PostId::new(id), MetricSums::default());
            }
        }
        Ok(())
    }

    /// Finds out which posts are too long to be sent whole.
    pub(crate) fn shorten(&mut self) {
        let posts = self.posts.items().iter();
        let shorts = posts.filter_map(|post| Some((post.id, short_part(post)?)));
        self.shorts.extend(shorts);
    }

    /// Finds out which posts the viewer may not see.
    fn judge(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        if self.posts.items().is_empty() {
            return Ok(());
        }
        let authors: HashSet<_> = self
            .posts
            .items()
            .iter()
            .map(|post| post.author_id)
            .collect();
        let authors = self
            .users
            .items()
            .iter()
            .filter(|user| authors.contains(&user.id));
        let mut sights = AuthorVisibilities::load(tx, self.viewer, authors)?;
        sights.admit_posts(tx, self.posts.items())?;
        let judge = |post: &Post| match post.state {
            // Nothing is known of it but its id.
            PostState::Placeholder => Visibility::Missing,
            _ => sights.post_visibility(post),
        };
        for post in self.posts.items() {
            let sight = match (judge(post), post.repost_of_id) {
                (Visibility::Visible, Some(id)) => match self.posts.get(id).map(judge) {
                    Some(Visibility::Visible) => Visibility::Visible,
                    // An import knows the texts of reposts whose originals it lacks.
                    None | Some(Visibility::Missing) if !post.text.is_empty() => {
                        Visibility::Visible
                    }
                    original => original.unwrap_or(Visibility::Missing),
                },
                (sight, _) => sight,
            };
            if sight != Visibility::Visible {
                self.hidden.insert(post.id, sight);
            }
        }
        Ok(())
    }

    /// Only when a field says something about the viewer and the user shown.
    fn load_kin(&mut self, tx: &mut Tx<'_>, wants: &Wants) -> Result<(), Fault> {
        let ties = shows(wants, Object::User, "connection_status");
        let messages = shows(wants, Object::User, "receives_your_dm");
        let subscribes = ["subscription", "subscribes_to_you"]
            .iter()
            .any(|field| shows(wants, Object::User, field));
        let asked = ties || messages || subscribes;
        let Some(viewer) = self.viewer.user.filter(|_| asked) else {
            return Ok(());
        };
        let others = self.users.items().iter().map(|user| user.id);
        let others: Vec<_> = others.filter(|user| *user != viewer).collect();
        if ties || messages {
            self.kin
                .followed_by
                .extend(follows::filter_followers(tx, &others, viewer)?);
        }
        if subscribes {
            self.kin
                .subscribers
                .extend(subscriptions::filter_subscribers(tx, &others, viewer)?);
        }
        if messages {
            self.kin
                .blocked_by
                .extend(graph::filter_blockers(tx, &others, viewer)?);
            let closed = graph::filter_sources(tx, RelationKind::DmBlock, &others, viewer)?;
            self.kin.dm_blocked_by.extend(closed);
        }
        if ties {
            let received = graph::filter_sources(tx, RelationKind::Request, &others, viewer)?;
            self.kin.request_received.extend(received);
            let sent = graph::filter_targets(tx, RelationKind::Request, viewer, &others)?;
            self.kin.request_sent.extend(sent);
            self.kin
                .following
                .extend(follows::filter_followed(tx, viewer, &others)?);
            self.kin
                .blocking
                .extend(graph::filter_blocked(tx, viewer, &others)?);
            self.kin
                .muting
                .extend(graph::filter_muted(tx, viewer, &others)?);
        }
        Ok(())
    }

    /// Whether the viewer may see a post that is here.
    pub(crate) fn sight(&self, post: &Post) -> Visibility {
        self.hidden
            .get(&post.id)
            .copied()
            .unwrap_or(Visibility::Visible)
    }

    /// Every version of an edited post, oldest first.
    pub(crate) fn versions_of(&self, post: &Post) -> Option<&[PostId]> {
        let versions = self.versions.get(&post.edit_root_id?)?;
        (!versions.is_empty()).then_some(versions)
    }
}

fn shows(wants: &Wants, object: Object, field: &str) -> bool {
    let asked = if wants.root() == object {
        wants.of_root()
    } else {
        0
    };
    (asked | wants.of_included(object)) & bit_of(object, field) != 0
}
